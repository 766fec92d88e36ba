"""Attacks on the way from private rows to sums, through the estimators

One odd cell must not be noticed where nothing may be refused, on any road. A pass over other rows
than before must stop before it is paid for. A checkpoint must not give the sums of other rows.
"""
import math
import os
import warnings
from decimal import Decimal
from functools import partial

import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from dp_pmt.algorithms import dp_pmtolse, dp_ssp
from dp_pmt.anchored import dp_anchored
from dp_pmt.checks import PrivacyLeakWarning
from dp_pmt.clusters import Checkpoint, DaskRows, Sites, watched
from dp_pmt.crossing import Run
from dp_pmt.files import open_rows
from dp_pmt.formulas import EncodedRows, Encoding
from dp_pmt.front import fit
from dp_pmt.preconditioning import Moments
from dp_pmt.release import release
from dp_pmt.rows import ArrayRows, Rows, StreamRows, as_rows
from dp_pmt.sklearn_api import PrivateLinearRegression, PrivateLogisticRegression
from dp_pmt.units import as_units

class Broken(float):
    "A number that can't be read"
    def __float__(self): raise RuntimeError(SECRET)


AT = 17           # the row with an odd cell
SECRET = '7314159'
COLUMNS = ['age', 'rooms', 'area']
ODD = {
    'None': None, 'NA': pd.NA, 'NaN': math.nan, 'large integer': 10**400, 'text': f'x{SECRET}', '#REF!': '#REF!',
    'complex': 1j, 'date': pd.Timestamp('2020-01-05'), 'list': [1, 2], 'array': np.array([3.]),
    'decimal': Decimal('sNaN'), 'empty': '', 'long double': np.longdouble('1e3000'), 'object': object(),
    'duration': np.timedelta64(3, 'D'), 'no duration': np.timedelta64('NaT'), 'masked': np.ma.masked, 'broken': Broken(3)}
TEXTS = ['#REF!', f'x{SECRET}', '', 'NA', '1_000', '0x10', '2020-01-05', '1e400', 'é', '1,5', 'inf']


@pytest.fixture(scope='module')
def data():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 3)) + 1
    y = A @ [1., 2, 3] + rng.normal(size=300)
    return A[:250], y[:250], A[250:], y[250:]


def framed(A, y):
    "One table of numbers"
    return pd.DataFrame(A, columns=COLUMNS).assign(price=y)


def with_cell(A, y, cell):
    "A table of objects in which one cell was replaced"
    frame = framed(A, y).astype(object)
    frame['age'] = pd.Series([cell if i == AT else v for i, v in enumerate(frame['age'])], dtype=object)
    return frame


def as_text(A, y, cell):
    "A table whose first column is text, with this cell"
    frame = framed(A, y)
    frame['age'] = [cell if i == AT else repr(float(v)) for i, v in enumerate(frame['age'])]
    return frame


def without(A):
    "The rows as they should count: one of them is NaN"
    A = A.copy()
    A[AT, 0] = math.nan
    return A


def sums(A, y=None):
    "What private rows add, where nothing may be refused"
    m = Moments.of(A, y, nonfinite='zero')
    return np.r_[m.n, m.AA.ravel(), m.Ay, m.yy]


def silently(f, *args, **more):
    "The result; a warning is an error"
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        return f(*args, **more)


# -------------------- one odd cell

ROADS = {
    'objects': lambda f: (f[COLUMNS].to_numpy(), f['price'].to_numpy()),
    'masked objects': lambda f: (np.ma.array(f[COLUMNS].to_numpy(), mask=False), f['price'].to_numpy()),
    'lists': lambda f: (f[COLUMNS].to_numpy().tolist(), f['price'].tolist()),
    'frame': lambda f: (f, 'price'),
    'frame and column': lambda f: (f[COLUMNS], f['price']),
    'stream': lambda f: ([(f[COLUMNS][i:i + 40], f['price'][i:i + 40]) for i in range(0, len(f), 40)], None),
    'Dask': lambda f: (dd.from_delayed([dask.delayed(f[i:i + 50]) for i in range(0, len(f), 50)], meta=f[:0],
                                       verify_meta=False), 'price'),
}


@pytest.mark.parametrize('road', ROADS)
@pytest.mark.parametrize('odd', ODD)
def test_odd_cell_among_objects(data, road, odd):
    "A cell that is no number is a row that doesn't count, and other rows stay what they were"
    if road == 'lists' and odd in ('list', 'array'): pytest.skip('another shape: that is refused')
    if road == 'Dask' and odd in ('decimal', 'broken'): pytest.skip('Dask itself looks at the cells, and stops')
    A, y, _, _ = data
    want = sums(without(A), y)
    got = silently(sums, *ROADS[road](with_cell(A, y, ODD[odd])))
    np.testing.assert_allclose(got, want, rtol=1e-13)


TABLES = {
    'frame': lambda f: f,
    'Arrow': lambda f: pa.Table.from_pandas(f, preserve_index=False),
    'Polars': pl.DataFrame,
    'DuckDB': lambda f: duckdb.from_df(f),
    'Dask': lambda f: dd.from_pandas(f, npartitions=3),
}


@pytest.mark.parametrize('road', TABLES)
@pytest.mark.parametrize('text', TEXTS)
def test_odd_cell_among_texts(data, road, text):
    "The same for columns of text: numbers written as text are numbers"
    A, y, _, _ = data
    got = silently(sums, TABLES[road](as_text(A, y, text)), 'price')
    np.testing.assert_allclose(got, sums(without(A), y), rtol=1e-13)


@pytest.mark.parametrize('at', [1, AT + 1, 249])
@pytest.mark.parametrize('text', [t for t in TEXTS if ',' not in t])
def test_odd_cell_in_csv(data, tmp_path, at, text):
    "The same for files, from the first line on; the other rows are equal to the last bit"
    A, y, _, _ = data
    lines = framed(A, y).to_csv(index=False).split('\n')
    (tmp_path/'plain.csv').write_text('\n'.join(lines))
    lines[at] = text + ',' + lines[at].split(',', 1)[1]
    (tmp_path/'odd.csv').write_text('\n'.join(lines))
    plain, odd = (silently(as_rows, tmp_path/name, 'price', strict=False).load()[0] for name in ('plain.csv', 'odd.csv'))
    np.testing.assert_array_equal(plain, A)
    assert not np.isfinite(odd[at - 1, 0])
    np.testing.assert_array_equal(np.delete(odd, at - 1, 0), np.delete(plain, at - 1, 0))


@pytest.mark.parametrize('road', ['csv', 'parquet'])
def test_odd_cell_in_files_through_an_estimator(data, tmp_path, road):
    A, y, B, y_B = data
    frame = as_text(A, y, f'x{SECRET}')
    path = tmp_path/f'rows.{road}'
    frame.to_csv(path, index=False) if road == 'csv' else frame.to_parquet(path)
    public = framed(B, y_B)
    fit = silently(dp_anchored, path, 'price', public, 'price', 1., rng=0, nonfinite='zero', warn=False)
    want = dp_anchored(framed(without(A), y), 'price', public, 'price', 1., rng=0, nonfinite='zero')
    np.testing.assert_allclose(fit.beta, want.beta, rtol=1e-7)


FITS = {
    'dp_pmtolse': lambda A, y, B, y_B, **k: dp_pmtolse(A, y, B, y_B, 1., **k),
    'dp_anchored': lambda A, y, B, y_B, **k: dp_anchored(A, y, B, y_B, 1., **k),
    'dp_ssp': lambda A, y, B, y_B, **k: dp_ssp(A, y, 1., **k),
}


@pytest.mark.parametrize('name', FITS)
def test_safe_fits_say_nothing(data, name):
    "Safe fits take any cell: no error, no warning that the fit without it hasn't"
    A, y, B, y_B = data
    said = []
    for cell in (1., *ODD.values()):
        frame = with_cell(A, y, cell)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter('always')
            FITS[name](frame[COLUMNS].to_numpy(), frame['price'].to_numpy(), B, y_B, safe=True)
        said.append(sorted({w.category.__name__ for w in seen if issubclass(w.category, (RuntimeWarning, DeprecationWarning))}))
    assert said == [[]]*len(said)


def test_safe_release_says_nothing(data):
    A, y, B, y_B = data
    for cell in ODD.values():
        frame = with_cell(A, y, cell)
        assert silently(release, frame[COLUMNS].to_numpy(), frame['price'].to_numpy(), B, y_B, 1.).n == len(y)


@pytest.mark.parametrize('name', FITS)
@pytest.mark.parametrize('odd', ['text', 'None', 'large integer', 'complex'])
def test_refusal_is_clear_and_quotes_nothing(data, name, odd):
    "Where rows may be refused they are, with a rule and without the cell"
    A, y, B, y_B = data
    frame = with_cell(A, y, ODD[odd])
    with pytest.raises(ValueError, match='real numbers only|must be finite') as e:
        FITS[name](frame[COLUMNS].to_numpy(), frame['price'].to_numpy(), B, y_B, rng=0, nonfinite='error')
    assert SECRET not in str(e.value) and e.value.__context__ is None


def test_masked_long_double_is_silent(data):
    A, y, _, _ = data
    wide = np.ma.array(A.astype('g'), mask=False)
    wide[AT, 0] = np.longdouble('1e3000')
    np.testing.assert_allclose(silently(sums, wide, y), sums(without(A), y), rtol=1e-13)
    hidden = np.ma.array(with_cell(A, y, 5.)[COLUMNS].to_numpy(), mask=np.isnan(without(A)))
    np.testing.assert_allclose(silently(sums, hidden, y), sums(without(A), y), rtol=1e-13)


def test_declared_types_are_refused(data):
    "Dates, categories and complex numbers, by their type alone: with no row, or any"
    A, y, _, _ = data
    frame = framed(A, y)
    for bad in (frame.assign(age=pd.Timestamp('2020')), frame.assign(age=frame.age.round().astype('category'))):
        for table in (bad, pa.Table.from_pandas(bad), dd.from_pandas(bad, npartitions=2)):
            with pytest.raises(ValueError, match='real numbers only'): as_rows(table, 'price', strict=False)
    with pytest.raises(ValueError, match='complex'): as_rows(A.astype(complex), y, strict=False)


# -------------------- blocks

def test_blocks_are_contiguous_floats(data, tmp_path):
    A, y, _, _ = data
    frame = framed(A, y)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path/'a.parquet', row_group_size=60)
    frame.to_csv(tmp_path/'a.csv', index=False)
    wide = np.repeat(A, 2, axis=1)
    sources = [
        (A, y), (np.asfortranarray(A), y), (wide[:, ::2], np.repeat(y, 2)[::2]), (A[::-1][::-1], y), (frame, 'price'),
        (A.astype('>f8'), y.astype('>f8')), ([(A[:99], y[:99]), (A[99:], y[99:])], None), (tmp_path/'a.parquet', 'price'),
        (tmp_path/'a.csv', 'price'), (table, 'price'), (pl.DataFrame(frame), 'price'), (duckdb.from_df(frame), 'price'),
        (dd.from_pandas(frame, npartitions=3), 'price'), (Sites((A[:99], y[:99]), (frame[99:], 'price')), None)]
    for source in sources:
        blocks = list(as_rows(*source))
        assert all(x.dtype == np.float64 and x.dtype.isnative and x.flags.forc for block in blocks for x in block)
        np.testing.assert_array_equal(np.concatenate([a for a, _ in blocks]), A)


# -------------------- every pass is counted

class Later:
    "Blocks that are others from some reading on"
    def __init__(self, now, later, good): self.now, self.later, self.good, self.reads = now, later, good, 0
    def __iter__(self):
        self.reads += 1
        return iter(self.now if self.reads <= self.good + 2 else self.later) # two iterators are asked for beforehand


@pytest.mark.parametrize('good', [1, 2, 3])
@pytest.mark.parametrize('change', ['thirty times', 'one more', 'shorter', 'nothing'])
def test_stream_that_changes(data, change, good):
    "The pass that sees other rows raises; what the passes before it cost stays the whole cost"
    A, y, B, y_B = data
    blocks = [(A[i:i + 50], y[i:i + 50]) for i in range(0, 250, 50)]
    later = {'thirty times': blocks*30, 'one more': blocks + [(A[:1], y[:1])], 'shorter': blocks[:1], 'nothing': []}[change]
    with pytest.raises(ValueError, match='another number of rows|no private rows'):
        dp_anchored(StreamRows(Later(blocks, later, good)), None, B, y_B, 1., rng=0)


def test_nothing_is_spent_on_a_changed_pass(data):
    A, y, B, y_B = data
    from dp_pmt.preconditioning import PublicMoment
    from dp_pmt.queries import SecondMoment
    blocks = [(A, y)]
    run = Run(StreamRows(Later(blocks, blocks*30, 1)), None, 1., 0, (B, y_B), passes=2)
    query = SecondMoment(PublicMoment(B, y_B), 3.)
    run.ask((query, .25, 'first'))
    with pytest.raises(ValueError, match='another number of rows'): run.ask((query, .25, 'second'))
    assert run.budget.spent == .25


@pytest.mark.parametrize('kind', ['parquet', 'csv'])
def test_file_that_shrinks(data, tmp_path, kind):
    A, y, B, y_B = data
    path = tmp_path/f'rows.{kind}'
    write = lambda frame: frame.to_csv(path, index=False) if kind == 'csv' else frame.to_parquet(path)
    write(framed(A, y))
    class Shrinking(type(open_rows(path, 'price'))):
        passes = 0
        def blocks(self, skip=0):
            self.passes += 1
            yield from super().blocks(skip)
            if self.passes == 2: write(framed(A, y)[:100])
    rows = open_rows(path, 'price')
    rows.__class__ = Shrinking
    with pytest.raises(ValueError, match='changed between two passes'):
        dp_anchored(rows, None, framed(B, y_B), 'price', 1., rng=0)
    assert rows.passes == 2


def test_dask_partitions_that_change(data):
    A, y, B, y_B = data
    calls = []
    def part(frame):
        if len(frame): calls.append(1)
        return pd.concat([frame]*30) if len(calls) > 7 and len(frame) else frame
    table = dd.from_pandas(framed(A, y), npartitions=2)
    rows = DaskRows(table.map_partitions(part, meta=framed(A, y)[:0]), 'price')
    with dask.config.set(scheduler='synchronous'), pytest.raises(ValueError, match='another number of rows'):
        dp_anchored(rows, None, framed(B, y_B), 'price', 1., rng=0)


def test_promised_number_must_be_right(data):
    A, y, B, y_B = data
    for n in (249, 251, 1):
        with pytest.raises(ValueError, match='number of rows'): dp_pmtolse(iter([(A, y)]), None, B, y_B, 1., n=n)


# -------------------- checkpoints

def kept(rows, path):
    return Checkpoint(rows, path=path).sum(products)[0]


def products(A, y):
    return A.T @ A, A.T @ y


def test_checkpoint_knows_its_rows(data, tmp_path):
    "Another number of blocks, other numbers anywhere, another function: the sum is made anew"
    A, y, _, _ = data
    path = tmp_path/'pass.npz'
    changed = A.copy()
    changed[125, 1] += 1e-9
    frame = framed(A, y)
    for first, second in (([(A, y)], [(A, y)]*2), ([(A, y)], [(A[:-1], y[:-1])]), ([(A, y)], [(changed, y)])):
        assert (kept(StreamRows(first), path) != kept(StreamRows(second), path)).any()
        np.testing.assert_array_equal(kept(StreamRows(second), path), as_rows(second).sum(products)[0])
    for first, second in (((A, y), (changed, y)), ((frame, 'price'), (frame.assign(age=changed[:, 1]), 'price'))):
        assert (kept(as_rows(*first), path) != kept(as_rows(*second), path)).any()


def test_checkpoint_that_grows(data, tmp_path):
    "A list that gets another block after a finished pass, read through the same checkpoint"
    A, y, _, _ = data
    blocks = [(A, y)]
    rows = Checkpoint(StreamRows(blocks), path=tmp_path/'pass.npz')
    rows.sum(products)
    blocks.append((A, y))
    with pytest.raises(ValueError, match='another number of rows'): rows.sum(products)


@pytest.mark.parametrize('kind', ['parquet', 'csv'])
def test_checkpoint_of_rewritten_files(data, tmp_path, kind):
    A, y, _, _ = data
    path = tmp_path/f'rows.{kind}'
    write = lambda frame: frame.to_csv(path, index=False) if kind == 'csv' else frame.to_parquet(path)
    write(framed(A, y))
    first = kept(open_rows(path, 'price'), tmp_path/'pass.npz')
    np.testing.assert_array_equal(first, kept(open_rows(path, 'price'), tmp_path/'pass.npz'))
    write(framed(2*A, y))
    np.testing.assert_allclose(kept(open_rows(path, 'price'), tmp_path/'pass.npz'), 4*first, rtol=1e-12)
    other = kept(open_rows(path, 'price', ['age', 'rooms']), tmp_path/'pass.npz')
    assert other.shape == (2, 2)


def test_checkpoint_refuses_what_is_read_once(data, tmp_path):
    A, y, _, _ = data
    table = pa.Table.from_pandas(framed(A, y), preserve_index=False)
    reader = pa.RecordBatchReader.from_stream(table)
    for bad in ((iter([(A, y)]), None), ((b for b in [(A, y)]), None), (map(tuple, [(A, y)]), None), (reader, 'price'),
                (watched(iter([(A, y)])), None), (Sites(StreamRows(iter([(A, y)]))), None)):
        with pytest.raises(ValueError, match='only once'): Checkpoint(*bad, path=tmp_path/'pass.npz')
    with pytest.raises(ValueError, match='same order'): Checkpoint(duckdb.from_df(framed(A, y)), 'price')
    assert reader.read_all().num_rows == 250 # nothing was taken from it


# -------------------- frames

def test_frames_for_every_source(tmp_path):
    "Text, dates, missing values and large numbers come as they are, and can be summed where they are"
    ids = [2**60 + 1, 5, None, 7, 9, 2**60 + 3]
    frame = pd.DataFrame({
        'region': ['north', None, 'so,uth', 'é', 'x\'"y', 'north'], 'id': pd.array(ids, 'Int64'),
        'since': pd.to_datetime(['2020-01-05', None, '2019-07-01', '2021-02-03', '2020-01-05', None]),
        'wage': [500., 620.5, None, 710, 1, 2]})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path/'a.parquet', row_group_size=2)
    frame.to_csv(tmp_path/'a.csv', index=False)
    frame.to_csv(tmp_path/'a.tsv.gz', index=False, sep='\t')
    pairs = [(frame[['region', 'id', 'since']][i:i + 2], frame.wage[i:i + 2]) for i in (0, 2, 4)]
    sources = dict(
        pandas=ArrayRows(frame.drop(columns='wage'), frame.wage), stream=StreamRows(pairs),
        Parquet=open_rows(tmp_path/'a.parquet', 'wage'), CSV=open_rows(tmp_path/'a.csv', 'wage'),
        tabs=open_rows(tmp_path/'a.tsv.gz', 'wage'), Arrow=open_rows(table, 'wage'),
        Polars=open_rows(pl.from_arrow(table), 'wage'), DuckDB=open_rows(duckdb.from_arrow(table), 'wage'),
        Dask=DaskRows(dd.from_pandas(frame, npartitions=2), 'wage'))
    sources['sites'] = Sites(sources['Arrow'], sources['Parquet'])
    sources['watched'] = watched(sources['CSV'])
    for name, rows in sources.items():
        asked = ['wage', 'region', 'id', 'since']
        got, times = pd.concat(rows.frames(asked)), 2 if name == 'sites' else 1
        assert list(got) == asked and len(got) == 6*times, name
        want = pd.concat([frame]*times)
        assert [None if pd.isna(x) else x for x in got.region] == [None if pd.isna(x) else x for x in want.region], name
        assert [None if pd.isna(x) else int(x) for x in got.id] == [None if pd.isna(x) else x for x in want.id], name
        assert [str(x)[:10] for x in pd.to_datetime(got.since)] == [str(x)[:10] for x in want.since], name
        assert [float(x) for x in got.wage if not pd.isna(x)] == [x for x in want.wage if not pd.isna(x)], name
        count, = rows.sum(north, ['region'])
        assert count == 2*times, name
        assert rows.n == 6*times
        with pytest.raises(ValueError, match='must have one column'): list(rows.frames(['income']))
        assert len(pd.concat(rows.frames(['id'], skip=4))) == 6*times - 4, name


def north(frame):
    return [int((frame.region == 'north').sum())]


def test_rows_without_frames_have_those_of_their_numbers():
    class Own(Rows):
        names = ['a', 'b']
        def blocks(self, skip=0): yield np.ones((5, 2))[skip:], np.arange(5.)[skip:]
    assert next(Own().frames(['y', 'a'], 3)).to_numpy().tolist() == [[3, 1], [4, 1]]


def test_a_pattern_is_expanded_once(data, tmp_path):
    "A file that appears between passes is not read"
    A, y, B, y_B = data
    framed(A, y).to_parquet(tmp_path/'a.parquet')
    rows = open_rows(str(tmp_path/'*.parquet'), 'price')
    rows.sum(products)
    framed(A, y).to_parquet(tmp_path/'b.parquet')
    rows.sum(products)
    assert rows.n == 250 and [os.path.basename(f) for f in rows.files] == ['a.parquet']


def placed(values, odd):
    "A list with an odd cell, the same as an array of objects, and as a column of a frame"
    cells = [odd if i == AT else v for i, v in enumerate(values)]
    return cells, np.fromiter(cells, object, len(cells)), pd.Series(cells, dtype=object)


@pytest.mark.parametrize('classes', [(0, 1), ('no', 'yes')])
@pytest.mark.parametrize('odd', ODD)
def test_odd_label_in_scikit_learn(data, classes, odd):
    "One odd response, in a list, an array or a column, is a row that doesn't count; the others stay"
    A, y, B, y_B = data
    model = PrivateLogisticRegression(classes=classes)
    for cells in placed([classes[int(v > 5)] for v in y], ODD[odd]):
        coded = model._private(A, cells)[1]
        assert np.flatnonzero(np.isnan(coded)).tolist() == [AT]
        assert np.array_equal(np.delete(coded, AT), np.delete(y > 5, AT))


@pytest.mark.parametrize('odd', [None, object()], ids=['gap', 'object'])
def test_labels_without_an_order_are_warned_of_and_refused(data, odd):
    "Labels that nobody named: first the warning, then one error in our own words"
    A, y, *_ = data
    labels = [odd if i == AT else ('no', 'yes')[int(v > 5)] for i, v in enumerate(y)]
    with pytest.warns(PrivacyLeakWarning, match='taken from the private rows'):
        with pytest.raises(ValueError, match='name them, classes=') as said: PrivateLogisticRegression().fit(A, labels)
    assert said.value.__context__ is None


@pytest.mark.parametrize('odd', ODD)
def test_odd_cell_of_a_list_in_scikit_learn(data, odd):
    "One odd cell in nested lists leaves the others what they are, to the last bit"
    A, y, *_ = data
    cells = [[np.float32(v) for v in row] for row in A]
    cells[AT][0] = ODD[odd]
    X, t = PrivateLinearRegression()._private(cells, placed(y, ODD[odd])[0])
    assert np.array_equal(np.delete(X, AT, 0), np.delete(A.astype(np.float32), AT, 0))
    assert not np.isfinite(X[AT, 0]) and not np.isfinite(t[AT])


@pytest.mark.parametrize('framed_too', [False, True])
def test_a_long_double_in_scikit_learn_is_silent(data, framed_too):
    A, y, *_ = data
    X = A.astype(np.longdouble)
    X[AT, 0] = np.longdouble('1e3000')
    X = silently(PrivateLinearRegression()._private, pd.DataFrame(X) if framed_too else X, y)[0]
    assert np.flatnonzero(~np.isfinite(X).all(1)).tolist() == [AT]


# -------------------- formulas

FORMULA = Encoding.of('y ~ x + g', levels={'g': ['a', 'b']})

@pytest.mark.parametrize('odd', [*ODD, 'late'])
def test_odd_cell_in_a_formula(odd):
    "A cell that is neither a number nor a level raises nothing and leaves the other rows as they are"
    cell = pd.Timestamp('2262-01-01', tz='UTC').as_unit('s') + pd.Timedelta(days=10**7) if odd == 'late' else ODD[odd]
    frame = pd.DataFrame(dict(x=np.arange(40.), g=['a', 'b']*20, y=np.arange(40.)))
    plain = EncodedRows(frame, FORMULA).load()[0]
    for column in 'xg':
        cells = pd.Series([cell if i == AT else v for i, v in enumerate(frame[column])], dtype=object)
        X = silently(EncodedRows(frame.assign(**{column: cells}), FORMULA).load)[0]
        np.testing.assert_array_equal(np.delete(X, AT, 0), np.delete(plain, AT, 0))


@pytest.mark.parametrize('kind', [pd.StringDtype('python'), pd.StringDtype('python', na_value=math.nan)], ids=['NA', 'NaN'])
def test_half_a_character_among_numbers_written_as_text(kind):
    "Arrow can't take it, and would name it"
    cells = pd.Series(['\ud800' if i == AT else repr(i/7) for i in range(40)], dtype=kind)
    frame = pd.DataFrame(dict(x=cells, g='a', y=1.))
    X = silently(EncodedRows(frame, FORMULA).load)[0]
    np.testing.assert_array_equal(np.delete(X[:, 0], AT), np.delete(np.arange(40)/7, AT))
    assert np.isnan(X[AT, 0])


def test_functions_of_a_column_do_not_mind_its_layout():
    """numpy has two logarithms, one for columns that run backwards in memory, and they differ in the last bit.
    A gap in such a column makes pandas copy it, forwards: so one cell would change the other rows"""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(dict(x=np.exp(rng.normal(size=400)), y=1.))
    functions = ['log(x)', 'log10(x)', 'log1p(x)', 'exp(x)', 'exp2(x)', 'expm1(x)', 'tan(x)', 'I(x**3)', 'I(2**x)']
    encoding = Encoding.of('y ~ ' + ' + '.join(functions), frame[:50])
    backwards = dict(meta=frame[:0])
    for odd in (math.nan, math.inf):
        seen = []
        for cell in (1., odd):
            table = dd.from_pandas(frame.assign(x=frame.x.where(frame.index != AT, cell)), npartitions=2)
            table = table.map_partitions(lambda part: part.iloc[::-1], **backwards)
            seen.append(EncodedRows(table, encoding).load()[0])
        assert (seen[0] != seen[1]).any(axis=1).sum() == 1


# -------------------- files

def test_a_line_break_in_a_text_is_read_wherever_it_stands(tmp_path):
    "Arrow cuts a file into megabytes; at a line break within a text it would cut the text, and refuse the file"
    numbers = [repr(i/7) for i in range(26_000)]
    lengths = np.cumsum([len(f'{x},{x},{x},ok') + 1 for x in numbers])
    near = int(np.searchsorted(lengths, 2**20))
    for at in range(near - 3, near + 1):
        note = '"' + 'a\n'*60 + '"'
        lines = [f"{x},{x},{x},{note if i == at else 'ok'}" for i, x in enumerate(numbers)]
        (tmp_path/'rows.csv').write_text('a,b,y,note\n' + '\n'.join(lines) + '\n')
        rows = silently(open_rows, tmp_path/'rows.csv', 'y', columns=['a', 'b'])
        np.testing.assert_array_equal(rows.load()[1], np.array(numbers, float))


@pytest.mark.parametrize('words', [['a', None], ['a', 'a'], ['a', 'b']], ids=str)
def test_codes_of_one_piece_are_no_reason_to_stop(words):
    "Words of a coded column that stand twice, or are missing, in one piece of a table"
    coded = pa.DictionaryArray.from_arrays
    ids = pa.chunked_array([coded([0, 1], ['a', 'b']), coded(pa.array([0, 1]), pa.array(words))])
    table = pa.table(dict(x=[1., 2, 3, 4], y=[1., 2, 3, 4], who=ids))
    assert as_units(table, 'y', 'who').units == len({'a', 'b', *words} - {None})


@pytest.mark.parametrize('suffix', ['csv', 'parquet'])
def test_words_of_a_block_change_no_level(tmp_path, suffix):
    "Text comes coded from files: where its words happened to be the levels in order, 'other' was a level"
    encoding = Encoding.of('y ~ g', levels={'g': [1, 2]}, other='other')
    def read(first):
        frame = pd.DataFrame({'g': [first, '2', 'other', *['other']*5, '1'], 'y': 1.})
        path = tmp_path/f'{first}.{suffix}'
        getattr(frame, f'to_{suffix}')(path, index=False)
        coded, plain = EncodedRows(path, encoding), EncodedRows(frame.astype({'g': object}), encoding)
        found = [np.concatenate([A for A, _ in rows.blocks()])[1:] for rows in (coded, plain)]
        np.testing.assert_array_equal(*found)
        return found[0]
    np.testing.assert_array_equal(read('1'), read('2'))


def test_categories_are_read_one_by_one():
    "Whatever else is a category of the column, and in which order"
    encoding = Encoding.of('y ~ g', levels={'g': [1, 2]}, other='other')
    cells, found = ['1', 'other', '2', None], []
    for kinds in (['1', '2', 'other'], ['1', '2', 'other', 'x'], ['other', '2', '1']):
        g = pd.Categorical(cells, categories=kinds)
        found.append(encoding.apply(pd.DataFrame({'g': g, 'y': 1.}))[0])
    for rows in found[1:]: np.testing.assert_array_equal(rows, found[0])


@pytest.mark.parametrize('words', [[1., 2., np.nan], [1., 2., 0., -0.]], ids=['NaN', 'zeros'])
def test_odd_words_of_coded_floats_are_no_reason_to_stop(words):
    "pandas refuses categories that are missing, or equal"
    codes = pa.array([0, 1, len(words) - 1], pa.int32())
    table = pa.table({'g': pa.DictionaryArray.from_arrays(codes, pa.array(words)), 'y': [1., 2., 3.]})
    X, _ = next(EncodedRows(table, Encoding.of(y='y', X=['g'])).blocks())
    np.testing.assert_array_equal(X[:, 0], [1., 2., words[-1]])
    by_level = Encoding.of('y ~ C(g)', levels={'g': [1, 2]})
    X, _ = next(EncodedRows(table, by_level).blocks())
    np.testing.assert_array_equal(X[:2, 0], [0., 1.])
    assert as_units(table.append_column('x', table['y']), 'y', 'g').units == 3 - math.isnan(words[2])


def _coded(words, kind=pa.int8()):
    "A table with a column in narrow codes, as pandas writes categories"
    codes = pa.array(words).dictionary_encode().cast(pa.dictionary(kind, pa.string()))
    return pa.table({'g': codes, 'y': np.ones(len(words))})


@pytest.mark.parametrize('kind', ['table', 'parquet', 'feather'])
@pytest.mark.parametrize('last', ['v0', 'v999'])
def test_words_of_several_files_are_never_too_many(tmp_path, kind, last):
    "Each file has few words in codes of 8 bits; one word more in all of them was a reason to stop"
    parts = [_coded([f'w{i}' for i in range(100)]), _coded([*(f'v{i}' for i in range(26)), 'b', last])]
    if kind == 'table': rows = pa.concat_tables(parts)
    else:
        rows = [str(tmp_path/f'{i}.{kind}') for i in range(2)]
        write = pq.write_table if kind == 'parquet' else feather.write_feather
        for part, path in zip(parts, rows): write(part, path)
    encoding = Encoding.of('y ~ g', levels={'g': ['a', 'b']})
    found = np.concatenate([A[:, 0] for A, _ in EncodedRows(rows, encoding).blocks()])
    assert np.flatnonzero(found).tolist() == [126]


@pytest.mark.parametrize('missing', [False, True])
def test_a_gap_among_words_beside_plain_text(tmp_path, missing):
    "One file has text, another has codes; where a word is missing, codes become text"
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(['b', None if missing else 'a']))
    paths = [str(tmp_path/f'{i}.feather') for i in range(2)]
    for g, path in zip((pa.array(['a', 'b']), words), paths):
        feather.write_feather(pa.table({'g': g, 'y': [1., 2.]}), path)
    encoding = Encoding.of('y ~ g', levels={'g': ['a', 'b']})
    found = np.concatenate([A[:, 0] for A, _ in EncodedRows(paths, encoding).blocks()])
    np.testing.assert_array_equal(found[:3], [0., 1., 1.])


@pytest.mark.parametrize('frames', [False, True])
def test_a_block_without_rows_is_no_reason_to_stop(frames):
    "A stream cut by a private column has a block without rows where one row was replaced"
    A, y = np.arange(12.).reshape(6, 2), np.arange(6.)
    def cut(which):
        pairs = [(A[which == k], y[which == k]) for k in range(3)]
        return [(pd.DataFrame(a, columns=['u', 'v']), b) for a, b in pairs] if frames else pairs
    found = [StreamRows(cut(np.array([0, 0, 1, 1, 1, last]))).sum(_totals) for last in (2, 1)]
    for a, b in zip(*found): np.testing.assert_array_equal(a, b)


def _totals(A, y): return [A.sum(axis=0), y.sum()]


@pytest.mark.parametrize('box', [np.ravel, np.sum, lambda X: X.ravel().tolist(), lambda X: X.sum().item(), lambda X: X[None]])
def test_scikit_learn_quotes_no_row(data, box):
    "Its own words for rows that are no table hold the numbers"
    A, y, B, y_B = data
    model = PrivateLinearRegression(public=(B, y_B), random_state=0).fit(A, y)
    wrong = box(np.full((250, 3), float(SECRET)))
    for call in (lambda: model.fit(wrong, y), lambda: model.predict(wrong), lambda: model.score(wrong, y)):
        with pytest.raises(ValueError, match='2 dimensions') as refused: call()
        assert SECRET not in str(refused.value)
    for model in (PrivateLinearRegression(), PrivateLogisticRegression()):
        with pytest.raises(ValueError, match='Complex') as refused: model.fit(A, np.full(250, float(SECRET) + 1j))
        assert SECRET not in str(refused.value)


FAR = {
    'days': pa.array([0]*249 + [2**30], pa.int32()).cast(pa.date32()),
    'milliseconds': pa.array([0]*249 + [86_400_000*2**31]).cast(pa.date64()),
    'with a zone': pa.array([0]*249 + [2**55]).cast(pa.timestamp('s', 'Europe/Berlin')),
    'views': pa.array(['1']*249 + [None]).cast(pa.string_view())}


@pytest.mark.parametrize('kind', FAR)
def test_a_far_date_in_scikit_learn(data, kind):
    "Python has no such date, and would name it; a view with a gap is read too"
    A, y, *_ = data
    column = pd.Series(FAR[kind], dtype=pd.ArrowDtype(FAR[kind].type))
    table = pd.DataFrame(A, columns=COLUMNS).assign(area=column)
    for model in (PrivateLinearRegression(), PrivateLogisticRegression(classes=('0', '1'))):
        X, t = model._private(table, column)
        assert np.array_equal(X[['age', 'rooms']], A[:, :2])
        assert np.isnan(X.area.iloc[-1]) and np.isnan(t[-1])


# -------------------- files of several types, tables beside responses

KINDS = {
    'large integers beside floats': ([2**53 + 1, 2], [1., None]),
    'large unsigned integers': (pa.array([1, 2]), pa.array([1, 2**63 + 5], pa.uint64())),
    'far times beside nanoseconds': (
        pa.array([253402214400, 10], pa.timestamp('s')), pa.array([0, 10], pa.timestamp('ns'))),
    'integers beside text': ([1, 2], ['1', 'x']),
    'text beside bytes': (['a', 'b'], [b'a', b'b']),
}


@pytest.mark.parametrize('kind', KINDS)
def test_types_of_one_file_change_no_row_of_another(tmp_path, kind):
    "Where rows of two files met in a block, one type was made of both, and a cell that it lacks was refused"
    paths = [tmp_path/f'{i}.parquet' for i in range(2)]
    for g, path in zip(KINDS[kind], paths): pq.write_table(pa.table({'g': g, 'x': [1., 2.], 'y': [1., 2.]}), path)
    encoding = Encoding.of('y ~ g', levels={'g': ['1', 'a', 'b', '2', str(2**53 + 1)]})
    both, first = (EncodedRows(p, encoding).load()[0] for p in (paths, paths[0]))
    np.testing.assert_array_equal(both[:2], first)
    if 'times' in kind or 'bytes' in kind:
        with pytest.raises(ValueError, match='must be text or integers'): as_units(paths, 'y', 'g')
    else: assert as_units(paths, 'y', 'g').rows.n == 4 and as_units(paths, 'y', 'g').units >= 2


@pytest.mark.parametrize('last', [0, 2**31 - 1])
def test_a_far_date_beside_responses_is_refused_as_any_other(last):
    "It was quoted"
    days = pa.array([0, last], pa.int32()).cast(pa.date32())
    table = pa.table({'d': days, 'x': [1., 2.]})
    for made in (table, pl.from_arrow(table)):
        with pytest.raises(ValueError, match='must hold real numbers only'): as_rows(made, np.ones(2), strict=False)


@pytest.mark.parametrize('words', [['a', 'b'], ['a', None], ['a', 'a']], ids=str)
def test_codes_beside_responses_are_no_reason_to_stop(words):
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(words))
    table = pa.table({'x': [1., 2.], 'who': coded})
    coded_views = pl.DataFrame({'x': [1., 2.], 'who': pl.Series(words).cast(pl.Categorical)})
    for made in (table, coded_views): # Polars has words in views, which Arrow can't decode
        assert as_units(made, np.ones(2), 'who').units == len({*words} - {None})
        assert len(as_rows(made, np.ones(2), strict=False).load()[1]) == 2


def _not_unicode(cells):
    "Text whose bytes nobody checked, as readers bring it"
    return pa.Array.from_buffers(pa.string(), len(cells), pa.array(cells, pa.binary()).buffers())


def test_numbers_among_text_that_is_no_unicode():
    "It was quoted"
    cells = _not_unicode([b'1.5', b'x\xfc7314159', b'2', None])
    frame = pa.table({'x': cells, 'y': [1., 2., 3., 4.]}).to_pandas()
    want = [1.5, math.nan, 2, math.nan]
    encoding = Encoding.of('y ~ x')
    sources = as_rows(frame, 'y', strict=False), EncodedRows(frame, encoding), as_rows(frame[['x']], frame.y, strict=False)
    for rows in sources: np.testing.assert_array_equal(silently(rows.load)[0][:, 0], want)
    assert silently(sums, np.ones((4, 1)), cells)[0] == 4
    X, t = silently(PrivateLinearRegression()._private, frame[['x']], frame.x)
    np.testing.assert_array_equal(X.iloc[:, 0], want)
    np.testing.assert_array_equal(t, want)
    coded = PrivateLogisticRegression(classes=('1.5', '2'))._private(np.ones((4, 1)), frame.x)[1]
    np.testing.assert_array_equal(coded, [0, math.nan, 1, math.nan])


@pytest.mark.parametrize('odd', [*ODD, 'half a character'])
def test_a_checkpoint_takes_every_cell(tmp_path, odd):
    "What identifies the rows was made by pandas, which can't print a large integer"
    frame = pd.DataFrame({'x': np.arange(5.), 'y': np.arange(5.)})
    frame['x'] = pd.Series([*frame.x[1:], '\ud800' if odd == 'half a character' else ODD[odd]], dtype=object)
    rows = Checkpoint(EncodedRows(frame, Encoding.of('y ~ x')), path=tmp_path/'pass.npz')
    assert len(silently(rows.sum, _totals)) == 2


def test_decimal_commas_beside_a_column_of_ids_are_refused(tmp_path):
    "They would be read as gaps, all of them"
    (tmp_path/'rows.csv').write_text('a;who;y\n1,5;7;2,5\n')
    rows = open_rows(tmp_path/'rows.csv', 'y', sep=';', decimal=',')
    with pytest.raises(ValueError, match='dp_pmt.fit'): as_units(rows, None, 'who')
    assert as_units(open_rows(tmp_path/'rows.csv', 'y', ['a'], ';', ','), None, [7]).units == 1


# -------------------- classes of pandas, numbers in boxes of their own, codes in a later file

class Located(pd.DataFrame):
    "A frame of another package, such as that of GeoPandas"
    _constructor = property(lambda self: Located)


@pytest.mark.parametrize('odd', ['#REF!', None, 10**30, '7'])
def test_a_class_of_frames_is_a_frame(odd):
    "It went through Arrow: one odd cell stopped the fit, and labels of rows were a covariate"
    frame = pd.DataFrame({'x': np.array([1., odd, 3.], object), 'y': [1., 2., 3.]}, index=[5, 6, 7])
    want, got = (as_rows(made, 'y', strict=False) for made in (frame, Located(frame)))
    assert got.names == ['x']
    np.testing.assert_array_equal(got.load()[0], want.load()[0])
    frame['who'] = np.array([1, '1', 'a'], object)
    assert as_units(Located(frame), 'y', 'who', strict=False).units == 2


BOXES = {'lists': lambda v: [v], 'arrays': lambda v: np.array([v]), 'bare arrays': np.array}


@pytest.mark.parametrize('last', [3., None, 'x', [3.], [None], ['x']], ids=str)
@pytest.mark.parametrize('box', BOXES)
def test_a_number_alone_in_a_box_is_that_number(box, last):
    "Beside a cell without a box all others were gaps"
    y = [BOXES[box](1.), BOXES[box](2.), last]
    if box == 'bare arrays' and isinstance(last, list): y[:2] = [1., 2.]
    t = silently(as_rows([[1.], [2.], [3.]], y, strict=False).load)[1]
    np.testing.assert_array_equal(t[:2], [1, 2])
    assert t[2] == 3 or math.isnan(t[2])


@pytest.mark.parametrize('words', [['1', '2'], ['1', 'x'], [b'1', b'\xff'], [None, '2']], ids=str)
def test_codes_in_a_later_file_are_read_cell_by_cell(tmp_path, words):
    "One word that is no number stopped the fit"
    coded = pa.array(words).dictionary_encode()
    for name, x in dict(a=pa.array([1., 2.]), b=coded).items():
        pq.write_table(pa.table({'x': x, 'y': [1., 2.]}), tmp_path/f'{name}.parquet')
    rows = as_rows([tmp_path/'a.parquet', tmp_path/'b.parquet'], 'y', strict=False)
    want = [float(w) if w in ('1', '2', b'1') else math.nan for w in words]
    np.testing.assert_array_equal(silently(rows.load)[0][2:, 0], want)


@pytest.mark.parametrize('public', ['rows', 'r*/*.csv', ['rows/a.csv'], ['rows']], ids=str)
def test_public_files_among_which_is_the_private_one(tmp_path, monkeypatch, public):
    "Only one and the same path was noticed, not its folder, a pattern or a list"
    monkeypatch.chdir(tmp_path)
    (tmp_path/'rows').mkdir()
    pd.DataFrame({'x': np.arange(9.), 'y': np.arange(9.)}).to_csv('rows/a.csv', index=False)
    for private in ('rows/a.csv', ['rows/a.csv'], 'rows'):
        with pytest.raises(ValueError, match='given as public rows too'): fit('y ~ x', private, public, epsilon=1)


class Chunks:
    "A stream that reads a file piece by piece, with a word late among the numbers"
    def __init__(self, path): self.path = path
    def __iter__(self): return ((c[['x']], c.y) for c in pd.read_csv(self.path, chunksize=10, dtype={'x': float}))


@pytest.mark.parametrize('road', {
    'anchored': lambda rows: dp_anchored(rows, None, None, None, 1., safe=True),
    'ssp': lambda rows: dp_ssp(rows, None, 1., safe=True),
    'release': lambda rows: release(rows, None, np.eye(4)[:, :1], np.eye(4)[0], 1.),
    'a site': lambda rows: dp_anchored(Sites(StreamRows(rows)), None, None, None, 1., safe=True)}.items(), ids=lambda r: r[0])
def test_a_stream_does_not_hand_on_the_words_of_its_reader(tmp_path, road):
    (tmp_path/'a.csv').write_text('x,y\n' + '1,2\n'*95 + 'Schmidt,2\n')
    with pytest.raises(ValueError, match="can't be read") as e: road[1](Chunks(tmp_path/'a.csv'))
    assert 'Schmidt' not in repr(e.value) and e.value.__context__ is None


@pytest.mark.parametrize('odd', [b'Schm\xffidt', 'Schmidt\ud800', Decimal('sNaN12345')], ids=ascii)
def test_dask_does_not_hand_on_a_cell(odd):
    "That can't be made text, which Dask does with objects of pandas unless it is told not to"
    g = pd.Series(['a', 'b']*49 + ['a', odd], dtype=object)
    table = pd.DataFrame(dict(x=np.arange(100.), y=np.arange(100.), g=g))
    ask = partial(fit, 'y ~ x + g', levels={'g': ['a', 'b']}, epsilon=60)
    with dask.config.set(scheduler='synchronous'):
        try: ask(private=dd.from_pandas(table, npartitions=2))
        except ValueError as e: assert 'Schmidt' not in str(e) and '12345' not in str(e) and e.__context__ is None
        with dask.config.set({'dataframe.convert-string': False}):
            ask(private=dd.from_pandas(table, npartitions=2))


def linked(path, other):
    "The same file under another name"
    os.link(path, other)


def packed(path, other):
    "What `gzip -k` leaves"
    pd.read_csv(path).to_csv(f'{path}.gz', index=False)


@pytest.mark.parametrize('again', [linked, packed])
def test_the_same_file_under_two_names(tmp_path, monkeypatch, again):
    "Its rows counted twice, and as public rows they were used without noise"
    monkeypatch.chdir(tmp_path)
    os.mkdir('rows')
    table = pd.DataFrame({'x': np.arange(9.), 'y': np.arange(9.)})
    table.to_csv('rows/a.csv', index=False)
    table.to_csv('rows/b.csv', index=False)
    assert len(as_rows('rows', 'y').load()[1]) == 18
    again('rows/a.csv', 'rows/c.csv')
    other, = {*os.listdir('rows')} - {'a.csv', 'b.csv'}
    for rows in ('rows', 'rows/*', ['rows/a.csv', f'rows/{other}']):
        with pytest.raises(ValueError, match='count twice'): as_rows(rows, 'y')
    with pytest.raises(ValueError, match='count twice'): Sites(('rows/a.csv', 'y'), (f'rows/{other}', 'y'))
    with pytest.raises(ValueError, match='given as public rows too'): fit('y ~ x', 'rows/a.csv', f'rows/{other}', epsilon=1)
    with pytest.warns(PrivacyLeakWarning, match='cut out of the private rows'):
        Run('rows/a.csv', 'y', 1., public=(f'rows/{other}', 'y'))


@pytest.mark.parametrize('site', ['path', 'frame', 'array', 'rows'])
def test_a_site_that_is_there_twice(tmp_path, site):
    table = pd.DataFrame({'x': np.arange(9.), 'y': np.arange(9.)})
    table.to_csv(tmp_path/'a.csv', index=False)
    A, y = table[['x']].to_numpy(), table.y.to_numpy()
    make = dict(path=lambda: (str(tmp_path/'a.csv'), 'y'), frame=lambda: (table, 'y'), array=lambda: (A, y),
                rows=lambda: as_rows(A, y))[site]
    assert Sites(make(), (A.copy(), y)).n == 18
    with pytest.raises(ValueError, match='count twice'): Sites(make(), make())


def test_one_column_is_no_table(data):
    "A Series in place of private rows was an AttributeError, a frame in place of a public pair a KeyError"
    A, y, B, y_B = data
    with pytest.raises(ValueError, match='must be a table'): fit('y ~ x', pd.Series(y, name='y'), epsilon=1, levels={'x': ['a', 'b']})
    with pytest.raises(ValueError, match='must be a pair'): PrivateLinearRegression(public=pd.DataFrame(B)).fit(A, y)


def test_the_same_frame_for_both_sides_of_an_estimator(data):
    "Arrays were noticed, frames were not"
    _, _, B, y_B = data
    X = pd.DataFrame(B, columns=COLUMNS)
    with pytest.warns(PrivacyLeakWarning, match='cut out of the private rows'):
        PrivateLinearRegression(public=(X, y_B), random_state=0).fit(X, y_B)


# -------------------- columns that are no numbers, where rows must be counted first

@pytest.mark.parametrize('more', [{}, {'neighbours': 'add/remove'}], ids=['replace', 'add/remove'])
def test_levels_and_dates_on_a_cluster_are_no_reason_to_stop(more):
    "To count them, all columns were read as numbers, those that the formula doesn't use too"
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({'x': rng.normal(size=600), 'y': rng.normal(size=600)})
    frame['g'] = pd.Categorical(rng.choice(['a', 'b'], 600))
    frame['day'] = pd.date_range('2020', periods=600)
    public, private = frame[:50], dd.from_pandas(frame[50:], npartitions=3)
    with dask.config.set(scheduler='synchronous'):
        made = [fit(formula, private, public, epsilon=2., **more) for formula in ('y ~ x + g', 'y ~ x')]
        if not more: assert [f.n for f in made] == [550]*2


# -------------------- columns of Arrow and Polars, handed to estimators

COLUMNS_OF_ARROW = {
    'text that is no Unicode': lambda odd: _not_unicode([b'x\xff7314159' if odd else b'1']*2 + [b'2']*38),
    'far dates': lambda odd: pa.array([2**31 - 1 if odd else 1]*2 + [2]*38, pa.int32()).cast(pa.date32()),
    'gaps': lambda odd: pa.array([None if odd else 1]*2 + [2]*38),
    'codes': lambda odd: pa.array(['x' if odd else '1']*2 + ['2']*38).dictionary_encode(),
}


@pytest.mark.parametrize('box', ['arrow', 'chunks', 'polars'])
@pytest.mark.parametrize('kind', COLUMNS_OF_ARROW)
def test_estimators_take_every_cell_of_arrow_and_polars(kind, box):
    "numpy was asked for the cells, and Arrow quoted the one that it can't have"
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    public = rng.normal(size=(20, 2)), np.arange(20.) % 2 + 1
    for odd in (False, True):
        cells = COLUMNS_OF_ARROW[kind](odd)
        table = pa.table({'a': X[:, 0], 'b': cells})
        if box == 'polars': table = pl.from_arrow(table)
        y = cells if box == 'arrow' else table['b']
        for model in (PrivateLinearRegression, PrivateLogisticRegression):
            made = model(public=public)
            t = silently(made._private, X, y)[1]
            Z = silently(made._private, table, np.ones(40))[0]
            assert len(t) == len(Z) == 40
            if kind in ('gaps', 'codes'): np.testing.assert_array_equal(Z.iloc[:, 1], [math.nan if odd else 1]*2 + [2]*38)


# -------------------- intervals, the end of 64 bits, columns without labels

def test_an_interval_is_one_level_whatever_stands_beside_it():
    "A gap in another row made floats of its ends, and a level that nobody knew"
    encoding = Encoding.of('y ~ a', levels={'a': ['(0, 1]', '(1, 2]']})
    one, two = pd.Interval(0, 1), pd.Interval(1, 2)
    frames = [pd.DataFrame({'a': pd.Series([one, two, last]), 'y': 1.}) for last in (two, None)]
    first, other = (EncodedRows(frame, encoding).load()[0][:2, 0] for frame in frames)
    assert first.tolist() == other.tolist() == [0, 1]


def test_the_last_moment_of_64_bits():
    "`pd.Timestamp.max` as 'no end', in a zone east of UTC: no cell stops a fit, and none is quoted"
    last = pd.Series(np.array([1]*5 + [pd.Timestamp.max.value], 'M8[ns]')).dt.tz_localize('UTC')
    ends = last.dt.tz_convert('Europe/Amsterdam')
    X = pd.DataFrame({'a': ends, 'b': np.arange(6.)})
    encoding = Encoding.of('y ~ a + b', levels={'a': ['x', 'z']})
    for column in (ends, ends.astype('timestamp[ns, Europe/Amsterdam][pyarrow]')):
        rows = EncodedRows(X.assign(a=column, y=1.), encoding)
        assert len(silently(rows.load)[1]) == 6
        with pytest.raises(ValueError, match='must be text or integers'): as_units(rows, None, 'a', strict=None)
        assert np.isnan(silently(PrivateLinearRegression()._private, X.assign(a=column), X.b)[0].a.iloc[-1])


@pytest.mark.parametrize('box', [pd.Index, lambda s: s.array])
def test_responses_without_labels_are_read_as_a_column(box):
    days = pa.array([1]*5 + [2**31 - 1], pa.int32()).cast(pa.date32())
    s = pd.Series(pd.arrays.ArrowExtensionArray(days))
    assert np.isnan(silently(PrivateLinearRegression()._private, np.ones((6, 2)), box(s))[1][-1])
