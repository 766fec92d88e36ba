"""A closed list of types. What is refused depends on the type of a column alone; of a type that is taken, any bits
may stand in a cell: nothing is raised or warned of, and the other rows are what they were."""
import enum
import re
import warnings

import numpy as np
import pandas as pd
import pytest

pa = pytest.importorskip('pyarrow')
dd = pytest.importorskip('dask.dataframe')
REAL = pytest.importorskip('pyarrow.dataset').CsvFileFormat
pytest.importorskip('pyarrow.feather')
duckdb = pytest.importorskip('duckdb')
pq = pytest.importorskip('pyarrow.parquet')
pl = pytest.importorskip('polars')
pytest.importorskip('formulaic')
pytest.importorskip('sklearn')
import dp_pmt
from dp_pmt.account import Budget
from dp_pmt.clusters import Sites, watched
from dp_pmt.formulas import EncodedRows, Encoding
from dp_pmt.rows import ArrayRows, as_rows
from dp_pmt.sklearn_api import PrivateLinearRegression
from dp_pmt.units import _id_keys, _may_hold_ids, as_units

N = 40
REST = dict(x=np.arange(N)/7, y=np.arange(N) % 5)
PUBLIC = pd.DataFrame({'x': np.arange(12.), 'y': np.arange(12.) % 5, 'g': ['a', 'b', 'c']*4})
ENCODINGS = dict(level=Encoding.of('y ~ x + g', PUBLIC), number=Encoding.of('y ~ x + g', PUBLIC.assign(g=PUBLIC.x)))


# -------------------- what is not on the list

def _of_arrow(cells, t): return lambda odd: pa.array([*cells[:1]*(N - 1), cells[odd]], t)


REFUSED = {
    'time': _of_arrow([5000, 7000], pa.time64('ns')), 'duration': _of_arrow([1, 2**62], pa.duration('s')),
    'list': _of_arrow([[1], None], pa.list_(pa.int64())), 'struct': _of_arrow([{'a': 1}, {'a': None}], pa.struct([('a', pa.int64())])),
    'coded time': lambda odd: REFUSED['time'](odd).dictionary_encode(),
}
TIMES = pd.Index(pd.array(pa.array([5000, 7000], pa.time64('ns')), dtype=pd.ArrowDtype(pa.time64('ns'))))
OF_PANDAS = {
    'sparse objects': lambda odd: pd.Series([0.]*(N - 1) + ['x' if odd else 0.], dtype=object).astype(pd.SparseDtype(object)),
    'coded times': lambda odd: pd.Series(pd.Categorical.from_codes([0]*(N - 1) + [odd], TIMES)),
}
OF_NUMPY = {
    'fields': lambda odd: np.array([(1, 2)]*(N - 1) + [(1, 2 + odd)], dtype=[('a', int), ('b', int)]),
    'picoseconds': lambda odd: np.array([5]*(N - 1) + [2**62 if odd else 5]).astype('M8[ps]'),
    'texts': lambda odd: np.array(['1']*(N - 1) + [None if odd else '1'], dtype=np.dtypes.StringDType(na_object=None)),
}


def tables(odd):
    "(name, table with a column g that is refused)"
    for kind, cells in REFUSED.items():
        table = pa.table({**REST, 'g': cells(odd)})
        yield kind, table
        yield f'{kind} of pandas', table.to_pandas(types_mapper=pd.ArrowDtype)
        yield f'{kind} at a site', Sites((table, 'y'))
        yield f'{kind} watched', watched(table, 'y')
        if kind not in ('coded time', 'duration'): yield f'{kind} of duckdb', duckdb.from_arrow(table)
        if kind != 'coded time': yield f'{kind} of polars', pl.from_arrow(table)
        if kind == 'time': yield 'time of Dask', dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=2)
    for kind, cells in OF_PANDAS.items():
        yield kind, pd.DataFrame({**REST, 'g': cells(odd)})
        yield f'{kind} at sites', Sites((pd.DataFrame({**REST, 'g': 1.}), 'y'), (pd.DataFrame({**REST, 'g': cells(odd)}), 'y'))


def said(call, *args, **options):
    "Its error, which must be a `ValueError` of ours"
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', FutureWarning) # of pandas, about its own options
        with pytest.raises(ValueError) as e: call(*args, **options)
    assert e.value.__cause__ is None and e.value.__context__ is None
    return str(e.value)


@pytest.mark.parametrize('road', ['level', 'number', 'id', 'fit'])
def test_a_type_is_refused_whatever_stands_in_a_cell(road):
    "Before anything is read or paid, in the same words; where no one asks for the column it is no matter"
    budget = Budget(1.)
    call = dict(
        level=lambda t: EncodedRows(t, ENCODINGS['level']), number=lambda t: EncodedRows(t, ENCODINGS['number']),
        id=lambda t: as_units(EncodedRows(t, Encoding.of('y ~ x', PUBLIC)), None, 'g'),
        fit=lambda t: dp_pmt.fit('y ~ x + g', t, PUBLIC, rho=.5, budget=budget))[road]
    for (kind, plain), (_, odd) in zip(tables(0), tables(1)):
        words = {said(call, plain), said(call, odd)}
        rule = '(g): make text of them beforehand' if road == 'id' else '(g): make one of these of it beforehand'
        assert len(words) == 1 and rule in words.pop(), kind
        EncodedRows(odd, Encoding.of('y ~ x', PUBLIC))
    assert budget.spent == 0


def test_a_type_is_refused_in_arrays_ids_and_scikit_learn():
    X, y, model = np.ones((N, 2)), np.arange(N) % 3, PrivateLinearRegression()
    for odd in (0, 1):
        for cells in (f(odd) for f in [*REFUSED.values(), *OF_PANDAS.values(), *OF_NUMPY.values()]):
            assert 'make text of them' in said(as_units, X, y, cells)
            if isinstance(cells, pa.Array): cells = pa.table({'y': cells})['y']
            assert 'make one of these' in said(model.fit, X, cells)
        for cells in (f(odd) for f in OF_NUMPY.values()):
            assert 'make one of these' in said(model.fit, cells[:, None], y)
            assert 'real numbers only' in said(as_rows, X, cells, strict=False)
        for f in REFUSED.values():
            table = pa.table({'g': f(odd)})
            assert 'make one of these' in said(model.fit, table, y)
            assert 'make one of these' in said(as_rows, table, y, strict=False)
    with pytest.raises(ValueError, match='make one of these'): Encoding.of('y ~ g', PUBLIC.assign(g=OF_PANDAS['coded times'](0)[:12]))


# -------------------- what is on it

ZONES = [None, 'UTC', '+05:30', 'Europe/Paris', 'Pacific/Apia', 'America/New_York']
OF_ARROW = [
    pa.int8(), pa.uint64(), pa.int64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(38, 3), pa.decimal256(70, -3),
    pa.date32(), pa.date64(), pa.binary(16), pa.string(), pa.large_string(), pa.binary(),
    *(pa.timestamp(unit, zone) for unit in ('s', 'ms', 'us', 'ns') for zone in ZONES)]
NUMPY = [*'bBhHiIlLqQefd?', 'F', 'D', 'S5', *(f'{kind}8[{unit}]' for kind in 'mM' for unit in ('Y', 'M', 'W', 'D', 'h', 'm', 's', 'ms', 'us', 'ns'))]


def _bits(rng, size):
    "Random bytes; now and then the ends of a range"
    at = rng.integers(6)
    ends = [b'\xff'*size, b'\x00'*(size - 1) + b'\x80', b'\xff'*(size - 1) + b'\x7f', b'\x00'*size]
    return ends[at] if at < 4 else rng.bytes(size)


def _arrow_cell(t, rng):
    "Three cells of a type, the second of any bits, the third missing"
    if pa.types.is_string(t) or pa.types.is_large_string(t) or t == pa.binary():
        wide = pa.large_binary() if pa.types.is_large_string(t) else pa.binary()
        return pa.Array.from_buffers(t, 3, pa.array([b'a', rng.bytes(int(rng.integers(9))), None], wide).buffers())
    size = t.bit_width//8
    cells = pa.py_buffer(b'\x00'*size + _bits(rng, size) + b'\x00'*size)
    return pa.Array.from_buffers(t, 3, [pa.py_buffer(b'\x03'), cells])


def _numpy_cell(t, rng):
    "Two cells of a type, the second of any bits"
    t = np.dtype(t)
    return np.frombuffer(np.ones(1, t).tobytes() + _bits(rng, t.itemsize), t)


def check_taken(column, table, coded=None):
    "Nothing is raised on any road, and the first row is the same as by itself"
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        warnings.simplefilter('ignore', FutureWarning)
        for encoding in ENCODINGS.values():
            (A, _), = EncodedRows(table, encoding).blocks()
            (alone, _), = EncodedRows(table[:1] if hasattr(table, 'iloc') else table.slice(0, 1), encoding).blocks()
            np.testing.assert_array_equal(A[:1], alone)
        rows = EncodedRows(table, Encoding.of('y ~ x', PUBLIC))
        for call in ((rows, None, 'g'), (np.ones((len(column), 1)), np.ones(len(column)), column)):
            bytes_ = getattr(column, 'dtype', None) == 'S5' # of pandas they are objects
            if bytes_: assert re.search('make text of them|no row has an id', said(lambda: as_units(*call).units))
            elif _may_hold_ids(rows.declared_types()['g']): assert as_units(*call, strict=None).table.keys.size <= len(column)
            else: assert 'make text of them' in said(as_units, *call)


@pytest.mark.parametrize('t', OF_ARROW, ids=str)
def test_any_bits_of_arrow(t):
    rng = np.random.default_rng(0)
    for k in range(24):
        cells = _arrow_cell(t, rng)
        if k % 3 == 2 and t != pa.float16(): cells = cells.dictionary_encode() # Arrow has no codes of half floats
        table = pa.table({'x': [1., 2, 3], 'y': [1., 2, 3], 'g': cells})
        check_taken(cells, table)
        if k % 3 == 1:
            frame = table.to_pandas(types_mapper=pd.ArrowDtype)
            check_taken(frame.g, frame)


@pytest.mark.parametrize('t', NUMPY)
def test_any_bits_of_numpy(t):
    rng = np.random.default_rng(0)
    for _ in range(24):
        cells = _numpy_cell(t, rng)
        try: frame = pd.DataFrame({'x': [1., 2], 'y': [1., 2], 'g': cells})
        except (ValueError, OverflowError): continue # pandas has no such cell, so no frame has
        check_taken(cells, frame)
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            if np.dtype(t).kind in 'biufS': as_rows(cells[:, None], cells, strict=False).load()
            if np.dtype(t).kind in 'biuf': PrivateLinearRegression()._private(cells[:, None], cells)


# -------------------- labels, codes, files, ids and levels of classes of their own

LABELS = {'missing': pd.NA, 'none': None, 'NaN': float('nan'), 'half a character': 'Zo\ud800e', 'long double': np.longdouble('1.5'), 'list': (1, 2)}


@pytest.mark.parametrize('kind', LABELS)
@pytest.mark.parametrize('road', ['fit', 'frame', 'stream', 'sites', 'shuffled'])
def test_a_label_of_a_row_is_no_reason_to_stop(kind, road):
    "pandas makes text of labels that are all text but one, and quoted the one"
    labels = [f'name{i}' for i in range(N)]
    labels[7] = LABELS[kind]
    frame = pd.DataFrame({**REST, 'who': np.arange(N)//2}, index=pd.Index(labels, dtype=object))
    A, y, ids = frame[['x']], frame.y, frame.who
    if road == 'fit': assert EncodedRows(frame, Encoding.of('y ~ x', PUBLIC)).labels() is frame.index
    made = dict(
        fit=lambda: EncodedRows(frame, Encoding.of('y ~ x', PUBLIC)), frame=lambda: ArrayRows(A, y),
        stream=lambda: as_rows([(A[i:i + 9], y[i:i + 9]) for i in range(0, N, 9)]), sites=lambda: Sites((A[:9], y[:9]), (A[9:], y[9:])),
        shuffled=lambda: ArrayRows(A, y))[road]()
    if road == 'shuffled': assert 'labelled differently' in said(as_units, made, None, ids[::-1])
    else: assert as_units(made, None, ids).units == N//2


@pytest.mark.parametrize('t', [pa.int64(), pa.float64(), pa.bool_(), pa.string()], ids=str)
def test_a_gap_in_a_coded_column_of_scikit_learn(t):
    "It fell on scikit-learn as a missing value of pandas, which it can't have"
    for last in (1, None):
        cells = pa.array([0, 1]*9, pa.int64()).cast(t).to_pylist()[:-1] + [None if last is None else pa.scalar(last).cast(t).as_py()]
        column = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(cells, t).dictionary_encode()])))
        X = pd.DataFrame({'z': np.arange(18.), 'g': column})
        made, _ = PrivateLinearRegression()._private(X, np.arange(18.))
        assert np.isnan(made.iloc[-1, 1]) == (last is None) and np.isfinite(made.iloc[:-1]).all(None)
        _, y = PrivateLinearRegression()._private(X[['z']], column)
        assert np.isnan(y[-1]) == (last is None)


@pytest.mark.parametrize('cell', [b'c', b'\xff', b'Z\xfcrich'])
@pytest.mark.parametrize('index', ['int8', 'int32'])
def test_a_categorical_in_parquet_that_is_no_unicode(tmp_path, cell, index):
    "Arrow checks the words of a type that is stored as codes, and of plain text it does not"
    words = pa.Array.from_buffers(pa.string(), 3, pa.array([b'a', b'b', cell], pa.binary()).buffers())
    g = pa.DictionaryArray.from_arrays(pa.array([0, 1]*19 + [2, 0], index), words)
    for k in range(2): pq.write_table(pa.table({**REST, 'g': g}), tmp_path/f'{k}.parquet')
    for source in (tmp_path/'0.parquet', tmp_path):
        A = np.concatenate([A for A, _ in EncodedRows(source, ENCODINGS['level']).blocks()])
        assert set(A[:38:2, 1]) == {0.} and set(A[1:38:2, 1]) == {1.}
        assert as_units(source, 'y', 'g', strict=False).units == 3
        assert 'not dictionary' in said(as_rows, source, 'y', strict=False) # by its type


def test_parquet_of_a_frame_with_a_named_index(tmp_path):
    "Its metadata make an index of the column, which a reader then looked for in vain"
    frame = pd.DataFrame({**REST, 'who': np.arange(N)//2})
    for index in ('who', 'x'):
        frame.set_index(index).to_parquet(tmp_path/'rows.parquet')
        rows = EncodedRows(tmp_path/'rows.parquet', Encoding.of('y ~ x', PUBLIC))
        np.testing.assert_array_equal(rows.load()[0][:, 0], frame.x)
        assert as_units(rows, None, 'who').units == N//2


def test_levels_that_are_numbers_with_decimal_commas(tmp_path):
    "Coded text was not read as numbers: all were gaps"
    encoding = Encoding.of('y ~ C(x)', levels={'x': [1.5, 2.5]})
    made = {}
    for point in '.,':
        (tmp_path/'rows.csv').write_text('x;y\n1.5;2.5\n2.5;3\n1.5;1\n'.replace('.', point))
        A, y = EncodedRows(tmp_path/'rows.csv', encoding, ';', point).load()
        made[point] = np.c_[A, y].tolist()
    assert made['.'] == made[','] == [[0., 2.5], [1., 3.], [0., 1.]]


class Named(str, enum.Enum):
    A = 'A'


class Loud(str):
    "A text that doesn't like to be compared"
    def __eq__(self, other): raise RuntimeError('loud')
    __hash__ = str.__hash__


@pytest.mark.parametrize('odd', [Named.A, Loud('A'), Loud('x'), np.int8(-128), np.int64(-2**63), pd.Interval(-2**63, 1)], ids=repr)
def test_a_cell_of_a_class_of_its_own(odd):
    "An Enum that equals a text prints another, and the smallest integer has no absolute value"
    for encoding in (Encoding.of('y ~ g', levels={'g': ['A', 'B']}), Encoding.of('y ~ g', levels={'g': [0, 1]}, other='other')):
        views = []
        for cell in ('B', odd):
            g = np.array(['A', 'B', 'A', cell, 'A', 'B'], object)
            frame = pd.DataFrame({'g': pd.Series(g, dtype=object), 'y': 1.})
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                A = encoding.apply(frame)[0]
                for _ in range(2): A = np.concatenate([A, EncodedRows(frame, encoding).load()[0]])
                keys = _id_keys(frame.g, '0'*16)
            others = [0, 1, 2, 4, 5]
            views.append((A.reshape(3, 6, -1)[:, others], keys[others]))
        for a, b in zip(*views): np.testing.assert_array_equal(a, b)


# -------------------- several files, sites without rows, line breaks in CSV, private data in the wrong place

@pytest.mark.parametrize('kind', ['parquet', 'feather'])
@pytest.mark.parametrize('odd', ['time', 'list', 'duration', 'struct'])
def test_a_later_file_may_not_have_what_the_first_may_not(tmp_path, kind, odd):
    "Only the first file's types were looked at; in the second one a cell decided"
    write = pq.write_table if kind == 'parquet' else pa.feather.write_feather
    words = []
    for cell in (0, 1):
        write(pa.table({**REST, 'g': ['a', 'b']*(N//2)}), tmp_path/f'0.{kind}')
        try: write(pa.table({**REST, 'g': REFUSED[odd](cell)}), tmp_path/f'1.{kind}')
        except pa.ArrowException: pytest.skip('not of this kind')
        source = [tmp_path/f'0.{kind}', tmp_path/f'1.{kind}']
        words += [said(EncodedRows, source, ENCODINGS['level']), said(as_units, as_rows(source, 'y', strict=None).without('g'), None, 'g')]
        assert as_rows(source, 'y', strict=None).without('g').load()[1].shape == (2*N,)
    assert words[:2] == words[2:] and 'make one of these' in words[0] and 'make text of them' in words[1]


@pytest.mark.parametrize('cell', [40., 40.5])
def test_a_dataset_that_casts_is_refused_by_its_types(tmp_path, cell):
    ds = pytest.importorskip('pyarrow.dataset')
    pq.write_table(pa.table({'x': [1, 2], 'y': [1., 2.]}), tmp_path/'0.parquet')
    pq.write_table(pa.table({'x': [1., cell], 'y': [1., 2.]}), tmp_path/'1.parquet')
    (tmp_path/'0.csv').write_text(f'x,y\n1,2\n{cell},3\n')
    for source in (ds.dataset([tmp_path/'0.parquet', tmp_path/'1.parquet']), ds.dataset(tmp_path/'0.csv', format='csv')):
        for made in (source, source.filter(ds.field('y') > 1)):
            assert 'give their paths' in said(as_rows, made, 'y')
    both = ds.dataset(tmp_path/'0.parquet'), ds.dataset([tmp_path/'0.parquet']).filter(ds.field('y') > 1)
    assert [as_rows(made, 'y').n for made in both] == [2, 1]


def test_line_breaks_in_csv(tmp_path):
    "Of two characters Arrow loses one where a megabyte ends between them, and it was another level, and another person"
    words = ['a\r\nb', 'a\r\n\nb', 'a\n\nb', 'a\rb', 'ab']
    encoding = Encoding.of('y ~ g', levels={'g': ['ab', 'a\r\nb', 'a\n\nb']})
    seen = []
    for length in range(1, 40):
        lines = [f'"{words[i % 5]}",{i % 7}\r\n' for i in range(60)]
        path = tmp_path/f'{length}.csv'
        path.write_bytes(('g,y\r\n' + f'"{"z"*length}",1\r\n' + ''.join(lines)).encode())
        with pytest.MonkeyPatch.context() as patch:
            import pyarrow.csv as csv
            import pyarrow.dataset as ds
            patch.setattr(ds, 'CsvFileFormat', lambda **k: REAL(**{**k, 'read_options': csv.ReadOptions(block_size=200)}))
            seen.append(np.concatenate([A for A, _ in EncodedRows(path, encoding).blocks()])[1:])
            assert as_units(path, 'y', 'g', strict=False).units == 4
    for other in seen[1:]: np.testing.assert_array_equal(other, seen[0])
    assert seen[0].sum(0).tolist() == [36., 12.]


def test_a_site_without_rows(tmp_path):
    "One row, replaced by one at another site, showed as a refusal"
    frame = pd.DataFrame({**REST, 'who': np.arange(N)//2})
    encoding = Encoding.of('y ~ x', PUBLIC)
    pq.write_table(pa.table(REST), tmp_path/'full.parquet')
    for k in (0, 1): pq.write_table(pa.table(REST).slice(0, 0), tmp_path/f'none{k}.parquet')
    in_files = [as_rows(tmp_path/f'none{k}.parquet', 'y') for k in (0, 1)]
    of_memory = (frame[:0], 'y'), (frame[['x']][:0], frame.y[:0]), (np.ones((0, 1)), np.ones(0))
    for empty, other in (*zip(of_memory, of_memory), in_files):
        for sites in ((empty, (frame[['x']], frame.y)), ((frame[['x']], frame.y), empty), (as_rows(tmp_path/'full.parquet', 'y'), empty, other)):
            made = Sites(*sites)
            assert made.n == N and made.d == 1 and made.sum(lambda A, y: [y.sum()]) == [frame.y.sum()]
            assert len(made.load()[0]) == N and sum(len(y) for _, y in made.blocks(N - 3)) == 3
            assert as_units(Sites(*sites), None, np.arange(N)//2).units == N//2
        with pytest.raises(ValueError, match='no private rows'): Sites(empty, other).n
    both = Sites((frame, 'y'), (frame[:0], 'y'))
    np.testing.assert_array_equal(EncodedRows(both, encoding).load()[0][:, 0], frame.x)
    assert dp_pmt.fit('y ~ x', both, PUBLIC, rho=1., neighbours='add/remove').rho == pytest.approx(1.)


SECRETS = ['Jane Doe, HIV+, 1971-03-04', 'name;wage\nJane Doe;7314159', '7314159.25']


def chain(call):
    "All that an error holds: its text, its attributes, and the errors behind it"
    with pytest.raises(Exception) as e: call()
    out, error = [], e.value
    while error is not None:
        out += [str(error), repr(vars(error)), repr(getattr(error, 'filename', ''))]
        error = error.__cause__ or error.__context__
    return ' '.join(out)


@pytest.mark.parametrize('secret', SECRETS)
def test_private_data_in_the_wrong_place(secret, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from dp_pmt.account import Account
    from dp_pmt.clusters import Checkpoint
    frame = pd.DataFrame({**REST})
    column = pd.Series([secret]*3)
    model = lambda state: PrivateLinearRegression(random_state=state).fit(np.ones((3, 1)), np.ones(3))
    calls = [
        lambda: dp_pmt.fit(None, frame, PUBLIC, 1., y='y', X=column), lambda: dp_pmt.fit(None, frame, PUBLIC, 1., y='y', X=list(column[:1])),
        lambda: dp_pmt.fit(None, frame, PUBLIC, 1., y=secret, X=['x']), lambda: dp_pmt.fit(secret, frame, PUBLIC, 1.),
        lambda: dp_pmt.fit(f'y ~ {secret}', frame[['y']], PUBLIC, 1., X=secret) if ';' in secret else model(secret),
        lambda: model(column), lambda: model(secret), lambda: model([secret]), lambda: model(np.array([7314159.25])),
        lambda: Account(secret*30, rho=1.), lambda: Checkpoint(np.ones((3, 1)), np.ones(3), path=secret*30)]
    for call in calls:
        said_all = chain(call)
        assert not any(word in said_all for word in ('Jane', '7314159', 'HIV')), said_all[:400]


PERSONS = ['Anna Schmidt', 'Berta Maier', 'Carla']


@pytest.mark.parametrize('call', [
    lambda t: dp_pmt.fit(None, t, PUBLIC, 1., y='y', X=PERSONS), lambda t: dp_pmt.fit(None, t, None, 1., y='y', X=PERSONS),
    lambda t: dp_pmt.fit('y ~ x', t, PUBLIC, 1., levels=dict(zip(PERSONS, ['HIV', 'flu', 'flu']))),
    lambda t: dp_pmt.fit('y ~ x', t, None, 1., levels={c: ['flu', 'flu'] for c in PERSONS}),
    lambda t: dp_pmt.fit('y ~ x', t, PUBLIC, 1., levels={c: ['flu', 'HIV'] for c in PERSONS}),
    lambda t: dp_pmt.fit('y ~ x', t, {c: (0, 1) for c in PERSONS}, 1.), lambda t: dp_pmt.files.open_rows(pa.table(REST), 'y', columns=PERSONS)])
def test_a_column_of_names_in_place_of_names_of_columns(call):
    "The first one was quoted; what is no name of a column, nor close to one, is told by its place"
    said_all = chain(lambda: call(pd.DataFrame(REST)))
    assert not any(word in said_all for word in ('Anna', 'Berta', 'Carla', 'HIV')) and 'number 1' in said_all


@pytest.mark.parametrize('formula', ['Anna Schmidt', 'y ~ Anna Schmidt', 'Anna Schmidt\nBerta Maier', 'y ~ (Anna'])
def test_a_formula_that_cant_be_read_is_not_quoted(formula):
    assert 'Anna' not in chain(lambda: dp_pmt.fit(formula, pd.DataFrame(REST), PUBLIC, 1.))


def test_a_misspelled_name_is_quoted():
    for call in (lambda: dp_pmt.fit(None, pd.DataFrame(REST), PUBLIC, 1., y='y', X=['xx']), lambda: dp_pmt.files.open_rows(pa.table(REST), 'y', columns=['xx']),
                 lambda: dp_pmt.fit('y ~ x + g', pd.DataFrame(REST), PUBLIC, 1., levels={'gg': ['a']})):
        assert re.search("'(xx|gg)'", chain(call))


def test_intervals_of_moments_in_a_zone_and_ids_that_are_intervals():
    ends = pd.to_datetime(['2020-01-01', '2021-01-01', '9999-12-31']).tz_localize('UTC').tz_convert('Europe/Paris')
    zoned = pd.Series(pd.arrays.IntervalArray.from_breaks(ends))
    assert 'make one of these' in said(EncodedRows, pd.DataFrame({'g': zoned, 'x': 1., 'y': 1.}), ENCODINGS['level'])
    ids = pd.Series([pd.Interval(0, 1), pd.Interval(1, 2)])
    assert 'must be text or integers, not interval' in said(as_units, np.ones((2, 1)), np.ones(2), ids)


def test_a_large_class_beside_a_gap():
    "The gap made floats of the others, and one of two neighbours beyond 2^53 the other"
    from dp_pmt.sklearn_api import PrivateLogisticRegression
    model = PrivateLogisticRegression(classes=(1, 2**53), random_state=0)
    for last in (1, None):
        y = pd.Series([1, 2**53, 2**53 + 1, last], dtype='Int64')
        _, t = model._private(np.ones((4, 1)), y)
        np.testing.assert_array_equal(t[:3], [0, 1, np.nan])


# -------------------- labels of other units, long lines, empty tables

def _index(days): return pd.DatetimeIndex(days)


@pytest.mark.parametrize('kind', ['days', 'zoned', 'integers', 'spans'])
def test_labels_of_several_types_are_no_reason_to_stop(kind):
    "Joined, they were cast to one unit, and the label that is too far was quoted"
    far = dict(days=pd.Index(np.array(['9999-12-31'], 'M8[us]')), zoned=pd.DatetimeIndex(np.array(['9999-12-01'], 'M8[us]')).tz_localize('UTC'),
               integers=pd.Index(pd.array([2**63 + 5], dtype=pd.ArrowDtype(pa.uint64()))), spans=pd.Index(np.array([2**55], 'm8[s]')))[kind]
    near = dict(days=pd.Index(np.array(['2020-01-01'], 'M8[ns]')), zoned=pd.DatetimeIndex(np.array(['2020-01-01'], 'M8[ns]')).tz_localize('UTC'),
                integers=pd.Index(pd.array([5], dtype=pd.ArrowDtype(pa.int64()))), spans=pd.Index(np.array([5], 'm8[ns]')))[kind]
    parts = [(pd.DataFrame({'x': [1.]}, index), pd.Series([2.], index)) for index in (far, near)]
    for made in (Sites(*parts), as_rows(parts)):
        assert as_units(made, None, np.arange(2)).units == 2
        with pytest.raises(ValueError, match='labelled differently'): as_units(made, None, pd.Series([0, 1]))


def test_a_long_line_of_csv(tmp_path):
    "A note of a megabyte, in a column that no one asks for, stopped the run where a block ended in it"
    for row in (0, 9_000, 13_000, 25_999):
        notes = ['short note of forty letters or a few more']*26_000
        notes[row] = 'z'*2_100_000
        path = tmp_path/f'{row}.csv'
        path.write_text('x,note,y\n' + ''.join(f'{i % 9},{note},{i % 7}\n' for i, note in enumerate(notes)))
        rows = as_rows(path, 'y', strict=False).without('note')
        assert rows.n == 26_000 and rows.sum(lambda A, y: [y.sum()])[0] == sum(i % 7 for i in range(26_000))
        assert EncodedRows(path, Encoding.of('y ~ x', PUBLIC)).n == 26_000


def test_empty_tables_of_all_kinds_at_a_site():
    full = np.ones((3, 1)), np.ones(3)
    table = pa.table({'x': [1.]}).slice(0, 0)
    for A in (table, pl.from_arrow(table), (), []):
        for y in ([], (), np.ones(0), pa.array([], pa.float64())): assert Sites(full, (A, y)).n == 3


def test_a_masked_cell_in_a_list_of_long_doubles():
    for other in (1., np.longdouble(1)):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            A, _ = as_rows([[np.ma.masked], [1.], [2.], [other]], np.ones(4), strict=False).load()
        np.testing.assert_array_equal(A[:, 0], [np.nan, 1, 2, 1])
