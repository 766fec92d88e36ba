"Different persons stay different whatever reader brings their ids, and whoever else has none"
import array
import copy
import time
import warnings

import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decimal import Decimal
from unittest import mock

import dp_pmt
from dp_pmt.clusters import Checkpoint, DaskRows, Sites, watched
from dp_pmt.crossing import Run
from dp_pmt.files import open_rows
from dp_pmt.formulas import Encoding, EncodedRows
from dp_pmt.rows import ArrayRows
from dp_pmt.units import _id_keys, as_units

LARGE = [2**53 + i for i in range(4)]
X, Y = np.ones((5, 1)), np.zeros(5)


def _tables(ids):
    table = pa.table({'id': pa.array(ids, pa.int64()), 'x': X[:, 0]})
    yield table, 'id'
    yield pl.from_arrow(table), 'id'
    yield X, table['id']
    yield X, table['id'].combine_chunks()
    yield X, pl.Series(ids)
    yield X, np.ma.array([i or 0 for i in ids], mask=[i is None for i in ids])


@pytest.mark.parametrize('last', [7, None])
def test_one_missing_id_merges_no_others(last):
    "Readers make floats of integers with a gap, and of two neighbours beyond 2^53 one number"
    counts = [as_units(A, Y, unit, strict=False).units for A, unit in _tables([*LARGE, last])]
    assert counts == [len(LARGE) + (last is not None)]*6


def _dask(path, ids, code):
    table = {'id': pa.array(ids, pa.int64()), 'code': pa.array(code, pa.int64()), 'y': np.arange(4.)}
    pq.write_table(pa.table(table), path)
    return dd.read_parquet(path)


def test_a_gap_in_a_partition_changes_no_other_row(tmp_path):
    "Dask has floats in a partition with a gap, integers in another"
    whole = _dask(tmp_path/'a', [*LARGE[:2], 1, 2], [10**15 + 1, LARGE[1], 1, 2])
    gap = _dask(tmp_path/'b', [*LARGE[:2], 1, None], [10**15 + 1, LARGE[1], 1, None])
    secret = '0123456789abcdef'
    frames = [next(DaskRows(f, 'y').frames(['id', 'code'])) for f in (whole, gap)]
    keys = [_id_keys(f['id'], secret)[:3] for f in frames]
    assert (keys[0] == keys[1]).all()
    nobody = _id_keys([None], secret)
    assert (keys[0][:2] == nobody).all() and keys[0][2] != nobody
    levels = {'code': ['1', '2', str(10**15 + 1), str(LARGE[1])]}
    encoding = Encoding.of('y ~ code', levels=levels)
    sums = [EncodedRows(f, encoding) for f in (whole, gap)]
    rows = [np.concatenate([A for A, _ in r.blocks()])[:3] for r in sums]
    assert np.array_equal(*rows)


def test_dask_says_why_nobody_has_an_id(tmp_path):
    frame = _dask(tmp_path/'a', LARGE, [1, 2, 3, 4])
    with pytest.raises(ValueError, match='give them as text'): as_units(frame, 'y', 'id').units
    exact = as_units(frame.astype({'id': 'Int64'}), 'y', 'id')
    assert exact.units == 4


@pytest.mark.parametrize('two', [
    ['1700000000.123456789', '1700000000.123456788'],
    [Decimal('123456789012345678.00'), Decimal('123456789012345679')],
    ['1.1', '1.10'],
], ids=['text', 'decimal', 'section'])
def test_ids_that_floats_would_make_one(two):
    keys = _id_keys(pd.Series(two, dtype=object), '0123456789abcdef')
    assert keys[0] != keys[1]


@pytest.mark.parametrize('rows', ['one file', 'files', 'sites', 'sites with points', 'watched', 'checkpoint', 'opened'])
@pytest.mark.parametrize('odd', [None, '7', b'Z\xfcr'], ids=str)
def test_decimal_commas_of_a_file_whatever_stands_around_it(tmp_path, rows, odd):
    "A site, a checkpoint or a file with points beside it hid the commas: `7,0` was no 7, and 1,5 a gap"
    at, encoding = tmp_path/'a.csv', Encoding.of('y ~ x')
    at.write_bytes(b'id;x;y\n1,0;1,5;1\n2;1,5;1\n' + (odd.encode() if isinstance(odd, str) else odd or b'') + b';1,5;1\n')
    (tmp_path/'b.csv').write_text('id;x;y\n1;1,5;1\n')
    pd.DataFrame({'id': ['1.0'], 'x': 1.5, 'y': 1.}).to_csv(tmp_path/'c.csv', index=False)
    opened = [open_rows(p, 'y', sep=';', decimal=',') for p in (at, tmp_path/'b.csv')]
    both = [at, tmp_path/'b.csv']
    made = {'one file': lambda: EncodedRows(both[:1], encoding, ';', ','), 'files': lambda: EncodedRows(both, encoding, ';', ','),
            'sites': lambda: EncodedRows(Sites(*opened), encoding), 'watched': lambda: EncodedRows(watched(Sites(*opened)), encoding),
            'sites with points': lambda: EncodedRows(Sites(*opened, (tmp_path/'c.csv', 'y')), encoding),
            'checkpoint': lambda: EncodedRows(Checkpoint(opened[0], path=tmp_path/'pass.npz'), encoding),
            'opened': lambda: EncodedRows(open_rows(both, 'y', sep=';', decimal=','), encoding)}[rows]()
    made = as_units(made, None, 'id')
    n = {'one file': 3, 'checkpoint': 3, 'sites with points': 5}.get(rows, 4)
    assert made.units == 2 + (odd is not None) and made.rows.n == n
    assert made.sum(_seen) == [1.5*n, n - (odd is None)]


def _seen(A, y, count, key): return [A.sum(), (count < 9).sum()]


def test_decimal_commas_are_those_of_csv_alone(tmp_path):
    "Said for the public file, they split the persons of Parquet and of frames"
    frame = pd.DataFrame({'id': ['7', '7.0', '8'], 'x': ['1.5', '2.5', '3.5'], 'y': 1.})
    frame.to_parquet(tmp_path/'rows.parquet')
    for rows in (frame, tmp_path/'rows.parquet', pa.Table.from_pandas(frame)):
        made = as_units(EncodedRows(rows, Encoding.of('y ~ x'), decimal=','), None, 'id')
        assert made.units == 2 and made.sum(lambda A, y, count, key: [A.sum()]) == [7.5]


def test_ids_that_may_be_anybody_are_nobody():
    "A rounded integer, as a float or as a writer printed it, and what can't be printed"
    printed = ['1.1010519491231002e+17', '1.1010519491231002e17', '1.2E+20', '110105194912310020.0', '-9.1e+15']
    nobody, *keys = _id_keys(pd.Series([None, 2.**53, 1e300, -np.inf, 10**5000, *printed], dtype=object), '0'*16)
    assert (keys == nobody).all()
    kept = ['110105194912310021', '110105194912310022', '1105e17', '1.5e3', '9007199254740991.0']
    assert len({*_id_keys(kept, '0'*16).tolist(), nobody}) == 6


def test_long_ids_of_a_csv_with_a_gap_merge_nobody(tmp_path):
    "The writer rounded them: sixteen persons were two"
    ids = [110105194912310021 + i for i in range(16)]
    frame = pd.DataFrame(dict(id=[*ids, None, 7], x=1., y=1.))
    frame.to_csv(tmp_path/'rows.csv', index=False)
    rows = EncodedRows(tmp_path/'rows.csv', Encoding.of('y ~ x'))
    assert as_units(rows, None, 'id').table.values.tolist().count(1) == as_units(rows, None, 'id').units == 1


@pytest.mark.parametrize('kind', ['object', 'level'])
def test_ids_beside_a_gap_where_decimal_commas_are_said(tmp_path, kind):
    "`12,0` in one file and `12` in the other were two persons, when they were counted and when they were summed"
    for name, gap in (('a', False), ('b', True)):
        frame = pd.DataFrame(dict(id=np.arange(40)//2, x=np.arange(40)/4, y=1.5))
        if gap: frame['id'] = frame.id.astype(float).mask(frame.index == 0)
        frame.to_csv(tmp_path/f'{name}.csv', index=False, sep=';', decimal=',')
    formula, levels = ('y ~ x + C(id)', {'id': ['1', '2']}) if kind == 'level' else ('y ~ x', None)
    encoded = EncodedRows([tmp_path/'a.csv', tmp_path/'b.csv'], Encoding.of(formula, levels=levels), ';', ',')
    rows = as_units(encoded, None, 'id')
    assert rows.units == 20
    counts = rows.sum(lambda A, y, count, key: [np.bincount(count[count < 9], minlength=5)])[0]
    assert counts.tolist() == [0, 0, 0, 3, 76]
    if kind == 'level': assert rows.sum(lambda A, y, count, key: [np.nansum(A[:, 1])]) == [4]


@pytest.mark.parametrize('kind', [object, 'string[python]'])
def test_half_a_pair_of_surrogates_is_nobody_else(kind):
    "pandas takes it for its repr, and an escape sequence is an id of its own"
    half, secret = '\ud800', '0123456789abcdef'
    others = ["'\\ud800'", '\\ud800', 'b']
    alone = _id_keys(pd.Series(others, dtype=kind), secret)
    beside = _id_keys(pd.Series([half, *others], dtype=kind), secret)
    assert (beside[1:] == alone).all() and len(set(beside)) == 4


def test_half_a_pair_of_surrogates_changes_no_level():
    "In a column of text that Python stores"
    encoding = Encoding.of('y ~ g', levels={'g': ['b', "'\\ud800'"]})
    for first in ('b', '\ud800'):
        g = pd.Series([first, "'\\ud800'", 'b'], dtype='string[python]')
        X, _ = encoding.apply(pd.DataFrame({'g': g, 'y': 1.}))
        np.testing.assert_array_equal(X[1:, 0], [1., 0.])


def test_ids_with_other_labels_are_refused():
    "Taken by position they would count rows for the wrong persons: one moved the sums 469 times too far"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(dict(x=rng.normal(size=300)))
    frame['y'] = frame.x + rng.normal(size=300)
    ids = pd.Series(np.arange(300)//3)
    turned = frame[::-1]
    for call in (lambda t: dp_pmt.fit('y ~ x', t, frame[:40], rho=1., unit=ids),
                 lambda t: dp_pmt.dp_anchored(t[['x']], t['y'], frame[['x']][:40], frame['y'][:40], 1., unit=ids),
                 lambda t: dp_pmt.dp_anchored(t[['x']].to_numpy(), t['y'], frame[['x']][:40], frame['y'][:40], 1., unit=ids)):
        with pytest.raises(ValueError, match='labelled differently'): call(turned)
        call(frame)


def test_a_deep_copy_of_settings_pays_from_the_same_ledger():
    budget = dp_pmt.Budget(1.)
    copy.deepcopy(dict(rho=.4, budget=budget))['budget'].spend(.4, 'a fit')
    assert budget.spent == .4


FAR = {
    'date32': pa.date32(), 'date64': pa.date64(), 'seconds': pa.timestamp('s'),
    'zone': pa.timestamp('us', 'Europe/Paris')}


def _days(kind, far):
    "Three dates, the second far beyond Python's"
    t = FAR[kind]
    width = pa.int32() if t.bit_width == 32 else pa.int64()
    cells = pa.array([0, 2**(width.bit_width - 1) - 1 if far else 0, None], width)
    return pa.Array.from_buffers(t, 3, cells.buffers())


@pytest.mark.parametrize('road', ['arrow', 'pandas', 'coded'])
@pytest.mark.parametrize('kind', FAR)
def test_a_far_date_refuses_nothing(kind, road):
    "A date that Python doesn't have is no id and no level; other rows are what they were"
    enc = Encoding.of('y ~ C(g)', pd.DataFrame({'g': ['a', 'b']*4, 'y': np.arange(8.)}))
    seen = []
    for far in (False, True):
        days = _days(kind, far)
        if road == 'coded': days = days.dictionary_encode()
        table = pa.table({'g': days, 'y': [1., 2, 3]})
        if road != 'arrow': table = table.to_pandas(types_mapper=pd.ArrowDtype)
        (A, y), = EncodedRows(table, enc).blocks()
        seen.append(A[[0, 2]])
        if road == 'pandas': assert (_id_keys(table.g, '0'*16) == _id_keys(table.g, '0'*16)).all()
    np.testing.assert_equal(*seen)


@pytest.mark.parametrize('t', [pa.string_view(), pa.binary_view()])
def test_a_gap_among_views_refuses_nothing(t):
    "pandas can't take a gap out of Arrow's views"
    enc = Encoding.of('y ~ x', pd.DataFrame({'x': np.arange(8.), 'y': np.arange(8.)**2}))
    cells = pa.array([b'1.5', None], pa.binary()).cast(pa.string() if t == pa.string_view() else pa.binary())
    frame = pd.DataFrame({'x': pd.Series(cells.cast(t), dtype=pd.ArrowDtype(t)), 'y': [1., 2]})
    (A, y), = EncodedRows(frame, enc).blocks()
    assert np.isnan(A[1, 0])


@pytest.mark.parametrize('kind', ['datetime64[s]', 'date32[day][pyarrow]', 'object'])
def test_a_day_is_one_level_in_every_type(kind):
    "Public text and private dates are the same levels"
    words = pd.Series(['2020-01-01', '2020-02-01']*3)
    enc = Encoding.of('y ~ C(g)', pd.DataFrame({'g': words, 'y': np.arange(6.)}))
    days = pd.to_datetime(words)
    days = days.dt.date if kind == 'object' else days.astype(kind)
    (A, y), = EncodedRows(pd.DataFrame({'g': days, 'y': np.arange(6.)}), enc).blocks()
    np.testing.assert_equal(A[:, 0], [0, 1]*3)


# -------------------- types that Python, or pandas, can't hold

def _not_unicode(cells):
    "Text whose bytes nobody checked, as readers bring it"
    return pa.Array.from_buffers(pa.string(), len(cells), pa.array(cells, pa.binary()).buffers())


@pytest.mark.parametrize('kind', ['str', 'string[pyarrow]', 'dictionary', 'dask'])
def test_text_of_pandas_that_is_no_unicode(kind):
    "pandas reads it from Parquet as it stands, and stumbles over it when it is asked for the cell"
    encoding = Encoding.of('y ~ x + id', levels={'id': ['a', 'b']})
    rows = []
    for last in (b'Zurich', b'Z\xfcrich'):
        ids = _not_unicode([b'a', last, b'b', None])
        if kind == 'dictionary': ids = ids.dictionary_encode()
        table = pa.table({'id': ids, 'x': [1., 2, 3, 4], 'y': [1., 2, 3, 4]})
        mapped = None if kind in ('str', 'dask') else pd.ArrowDtype
        frame = table.to_pandas(types_mapper=mapped)
        if kind == 'dask': frame = dd.from_pandas(frame, npartitions=2)
        assert as_units(frame, 'y', 'id').units == 3
        rows.append(np.concatenate([A for A, _ in EncodedRows(frame, encoding).blocks()]))
    np.testing.assert_array_equal(*rows)


def test_half_a_pair_of_surrogates_in_a_column_of_text():
    "pandas makes text of objects that are all text, unless it is told not to"
    ids = ['a', '\ud800', 'b', 'a']
    frame = pd.DataFrame({'x': np.arange(4.), 'y': 1.})
    frame['id'] = pd.Series(ids, dtype=object)
    encoding = Encoding.of('y ~ x')
    sources = EncodedRows(frame, encoding), Sites((frame, 'y')), ArrayRows(frame[['x', 'id']], frame.y)
    assert [as_units(rows, None, 'id').units for rows in sources] == [2]*3 # half a pair is no id
    kept = EncodedRows(sources[2], Encoding.of('y ~ x + id', levels={'id': ['a', 'b']}))
    np.testing.assert_array_equal(kept.load()[0][:, 1], [0, 0, 1, 0])
    for unit in (ids, np.array(ids), np.array(ids, object), pd.Index(ids, dtype=object)):
        assert as_units(np.ones((4, 1)), np.ones(4), unit).units == 2


@pytest.mark.parametrize('far', [5, 2**62])
def test_far_dates_of_all_containers(far):
    "Days of numpy, categories and an index whose words are dates of Arrow"
    cells = np.array([1, far, np.iinfo(np.int64).min])
    encoding = Encoding.of('y ~ C(g)', levels={'g': ['1970-01-02', '1970-01-03']})
    words = pd.Index(pd.array(pa.array([1, far]).cast(pa.timestamp('s')), dtype=pd.ArrowDtype(pa.timestamp('s'))))
    coded = pd.Categorical.from_codes([0, 1, -1], words)
    index = words.append(pd.Index(pd.array([None], dtype=words.dtype)))
    for unit in (cells.astype('M8[D]'), cells.astype('m8[D]'), coded, pd.CategoricalIndex(coded), index):
        with pytest.raises(ValueError, match='must be text or integers'): as_units(X[:3], Y[:3], unit)
    for days in (coded, pd.CategoricalIndex(coded), index):
        A, _ = EncodedRows(pd.DataFrame({'g': days, 'y': 1.}), encoding).load()
        assert np.isnan(A[2, 0])


def test_coded_dates_are_levels():
    "pandas made floats of the codes where there was none, and refused them"
    words = pd.Index(pd.array(pa.array([1]).cast(pa.int32()).cast(pa.date32()), dtype=pd.ArrowDtype(pa.date32())))
    days = pd.Series(pd.Categorical.from_codes([-1, 0], words))
    encoding = Encoding.of('y ~ g', levels={'g': ['1970-01-01', '1970-01-02']})
    A, _ = EncodedRows(pd.DataFrame({'g': days, 'y': 1.}), encoding).load()
    np.testing.assert_array_equal(A[:, 0], [np.nan, 1])


# -------------------- the same id, whatever holds it

def test_floats_of_several_widths_are_seen_one_by_one():
    "To pandas they are equal; from 2^24 on a short one may be any of several, and made the long one so"
    ids = [float(2**24), 5., np.float32(2**24)]
    keys = [_id_keys(pd.Series(order, dtype=object), '0'*16) for order in (ids, ids[::-1])]
    assert (keys[0] == keys[1][::-1]).all() and len(set(keys[0])) == 3


def test_ids_in_bytes_are_refused_in_whatever_file_they_are(tmp_path):
    "A file has text, another bytes: whose rows would be missing, or another person's"
    parts = [['Zürich']*8, [b'Z\xc3\xbcrich', b'Bern']]
    paths = [tmp_path/f'{i}.parquet' for i in range(2)]
    for ids, path in zip(parts, paths):
        pq.write_table(pa.table({'id': ids, 'x': np.ones(len(ids)), 'y': np.ones(len(ids))}), path)
    for files in (paths, paths[::-1], paths[1:]):
        with pytest.raises(ValueError, match='must be text or integers, not binary'): as_units(files, 'y', 'id')
    assert as_units(paths[:1], 'y', 'id').units == 1


NO_IDS = {
    'dates': pa.array([1, 2, None]).cast(pa.timestamp('s')), 'days': pa.array([1, 2, None], pa.int32()).cast(pa.date32()),
    'short floats': pa.array([1, 2, None], pa.float32()), 'bytes': pa.array([b'a', b'b', None]), 'two bytes': pa.array([b'ab', b'cd', None], pa.binary(2)), 'truth values': pa.array([True, False, None])}


@pytest.mark.parametrize('kind', NO_IDS)
def test_ids_of_other_types_are_refused_on_every_road(kind, tmp_path):
    "By the type that is declared, whatever the cells; nobody would be one person in the spelling of every reader"
    table = pa.table({'id': NO_IDS[kind], 'x': [1., 2, 3], 'y': [1., 2, 3]})
    pq.write_table(table, tmp_path/'a.parquet')
    coded = table.set_column(0, 'id', table['id'].dictionary_encode())
    mapped = table.to_pandas(types_mapper=pd.ArrowDtype)
    encoding = Encoding.of('y ~ x')
    calls = [
        *(lambda t=t: as_units(t, 'y', 'id') for t in (table, coded, mapped, pl.from_arrow(table), tmp_path/'a.parquet', dd.from_pandas(mapped, npartitions=1))),
        *(lambda t=t: as_units(EncodedRows(t, encoding), None, 'id') for t in (table, coded, mapped, tmp_path/'a.parquet')),
        *(lambda ids=ids: as_units(X[:3], Y[:3], ids) for ids in (table['id'], coded['id'], mapped.id, mapped.id.array, pd.Index(mapped.id), pl.from_arrow(table)['id'])),
        lambda: dp_pmt.fit('y ~ x', mapped, mapped[['x', 'y']].mul(2), rho=1., unit='id')]
    for call in calls:
        with pytest.raises(ValueError, match='must be text or integers'): call()


@pytest.mark.parametrize('t', [np.float16, np.float32, np.longdouble])
def test_ids_of_floats_that_are_rounded_elsewhere(t):
    "From 2^24 on a short float may be any of several integers: one person had two keys, or two had one"
    with pytest.raises(ValueError, match='must be text or integers, not float'): as_units(X, Y, np.ones(5, t))
    far = t(2/np.finfo(t).eps)
    for ids in ([far, t(1), t(1)], pd.Series([far, t(1), t(1)], dtype=object)):
        assert as_units(X[:3], Y[:3], ids).units == 1
    nobody, one = _id_keys([None, 1], '0'*16)
    assert _id_keys(np.array([far, 1], t), '0'*16).tolist() == [nobody, one]


@pytest.mark.parametrize('odd', NO_IDS)
@pytest.mark.parametrize('first', [True, False])
def test_every_site_and_file_declares_a_type_of_ids(tmp_path, odd, first):
    "The last site's type was looked at, and all persons of the others were nobody"
    parts = [pa.table({'id': ids, 'x': [1., 2, 3], 'y': [1., 2, 3]}) for ids in (NO_IDS[odd], pa.array([1, 2, 3]))][::1 if first else -1]
    for i, part in enumerate(parts): pq.write_table(part, tmp_path/f'{i}.parquet')
    sites = Sites(*((p, 'y') for p in parts))
    frames = Sites(*((p.to_pandas(types_mapper=pd.ArrowDtype), 'y') for p in parts))
    for rows in (sites, Sites(sites), frames, EncodedRows(frames, Encoding.of('y ~ x')), open_rows(tmp_path, 'y')):
        with pytest.raises(ValueError, match='must be text or integers'): as_units(rows, None, 'id')


def test_the_name_of_ids_is_that_of_a_column():
    "A Dask array is called by a hash of its cells, which stood in the fit and in its statement"
    rng = np.random.default_rng(0)
    A, y, ids = rng.normal(size=(300, 1)), rng.normal(size=300), np.arange(300)//2
    for unit, name in ((da.from_array(ids), ''), (pl.Series(ids), ''), (pl.Series('who', ids), 'who'), (pd.Series(ids, name='who'), 'who'), (pd.Index(ids), '')):
        assert Run(A, y, 1., unit=unit).who.ids == name


def test_a_point_where_decimal_commas_are_said(tmp_path):
    "It parts thousands there: 1.000 was 1"
    cells = ['1', '1,0', '1.000', '1.000,0', '1,5', '1,50', 'a.b', '']
    (tmp_path/'rows.csv').write_text('id;x;y\n' + ''.join(f'{c};1,5;1\n' for c in cells))
    rows = as_units(EncodedRows(tmp_path/'rows.csv', Encoding.of('y ~ x'), ';', ','), None, 'id')
    assert rows.units == 6 and rows.sum(lambda A, y, count, key: [(count == 2).sum(), A.sum()]) == [2, 12.]


def test_large_numbers_of_duckdb_are_refused():
    "It hands those from 2^127 on on as negative ones: a person of a query was another in its CSV"
    made = duckdb.sql("select 340282366920938463463374607431768211455::UHUGEINT id, 1.0 x, 2.0 y")
    with pytest.raises(ValueError, match='cast these columns'): as_units(made, 'y', 'id')


@pytest.mark.parametrize('f', [dp_pmt.dp_pmtolse, dp_pmt.dp_anchored])
def test_rows_that_know_their_persons_are_no_rows(f):
    "Without unit= each person had the weight of a row, and one row moved two"
    A = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match='and unit='): f(as_units(A, A[:, 0], np.arange(40)//2), None, A[:20]*1., A[:20, 0] + A[:20, 1], 1.)


@pytest.mark.parametrize('more', [dict(unit=np.arange(400)//2), dict(neighbours='add/remove')], ids=str)
def test_public_columns_are_counted_before_rows_are(more):
    rng = np.random.default_rng(0)
    A, B, budget = rng.normal(size=(400, 3)), rng.normal(size=(50, 2)), dp_pmt.Budget(1.)
    y, y_B = A.sum(1), B.sum(1)
    calls = [lambda: dp_pmt.dp_pmtolse(A, y, B, y_B, .5, budget=budget, **more), lambda: dp_pmt.dp_anchored(A, y, B, y_B, .5, budget=budget, **more),
             lambda: dp_pmt.dp_anchored(A, y, B, None, .5, budget=budget, **more), lambda: dp_pmt.dp_glm(A, (y > 0)*1., B, (y_B > 0)*1., .5, budget=budget, **more),
             lambda: dp_pmt.release(A, y, B, y_B, .5, budget=budget, **more)]
    for call in calls:
        with pytest.raises(ValueError, match='equally many columns, got 3 and 2'): call()
    assert budget.spent == 0


def test_rows_labelled_columns():
    "A column of pandas has its labels for attributes"
    A = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=['a', 'b'], index=[f'r{i}' for i in range(39)] + ['columns'])
    dp_pmt.dp_ssp(A, A.a + A.b, 1., rng=0)
    from dp_pmt.sklearn_api import PrivateLinearRegression
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        PrivateLinearRegression(random_state=0).fit(A, A.a + A.b)
    rows = as_units(EncodedRows(A.assign(id='x', y=1.).set_index(pd.Index([np.nan, np.nan] + [1.]*38, dtype='double[pyarrow]')), Encoding.of('y ~ a')), None, 'id')
    assert rows.units == 1 and rows.sum(lambda A, y, count, key: [len(y)]) == [40]


def test_a_formula_stands_outermost(tmp_path):
    "Inside of sites it was left out where persons were named"
    frame = pd.DataFrame({'id': [1, 1, 2], 'x': [1., None, 3], 'y': 1.})
    inner = EncodedRows(frame, Encoding.of('y ~ x', frame.dropna(), missing='impute'))
    for rows in (Sites(inner), watched(inner)):
        with pytest.raises(ValueError, match='stand outermost'): as_units(rows, None, 'id')


def test_texts_and_integers_of_classes_of_their_own():
    class Alike(str):
        def __eq__(self, other): return str.lower(self) == str.lower(other)
        def __hash__(self): return hash(str.lower(self))
    ids = [Alike('ann'), Alike('Ann'), 'Ann']
    keys = _id_keys(ids, '0'*16)
    assert keys[0] != keys[1] == keys[2]
    assert _id_keys(np.fromiter(ids[:2], object), '0'*16).tolist() == keys[:2].tolist()
    with pytest.raises(ValueError, match='not float32'): as_units(X, Y, array.array('f', [1, 2, 3, 4, 5]))


def test_persons_are_the_same_after_a_crash(tmp_path):
    "Their keys had another secret, so no sum of the checkpoint was ever used again"
    rng = np.random.default_rng(0)
    pd.DataFrame(dict(x=rng.normal(size=900), y=rng.normal(size=900), id=np.arange(900)//3)).to_parquet(tmp_path/'rows.parquet')
    sizes, made = [], []
    for _ in range(2):
        kept = Checkpoint(tmp_path/'rows.parquet', 'y', tmp_path/'pass.npz', 0)
        with mock.patch.object(Checkpoint, '_from', autospec=True, side_effect=Checkpoint._from) as read:
            made.append(dp_pmt.dp_ssp(kept, None, 1., rng=1, unit='id').beta)
        sizes.append(read.call_count)
    assert sizes[0] > 0 == sizes[1] and np.array_equal(*made)


@pytest.mark.parametrize('cell', [pd.Timestamp('2020-01-01'), b'ann', True, 7.5, Decimal('7.5'), ('ann', 7), np.array(7), object(), 10**5000, 1j], ids=lambda x: type(x).__name__)
def test_a_cell_that_is_no_id_is_nobodys_and_moves_no_other(cell):
    "In a column of objects, where no type refuses it"
    for around in (['a', 7, '7.0', None], ['a', 'b'], [7, 8], [7., None]):
        for ids in (np.fromiter([cell, *around], object), pd.Series([cell, *around], dtype=object)):
            keys, alone = _id_keys(ids, '0'*16), np.concatenate([_id_keys([x], '0'*16) for x in [None, *around]])
            assert (keys == alone).all()


def test_many_digits_take_no_time():
    "Forty thousand digits before a letter took a minute, ten times as many an hour and a half"
    start = time.perf_counter()
    assert len(set(_id_keys(['1'*400_000 + last for last in 'xyz'], '0'*16))) == 3
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize('rows', ['rows', 'stream', 'sites', 'watched', 'formula'])
def test_ids_with_other_labels_are_refused_on_every_road(rows):
    frame = pd.DataFrame(dict(x=np.arange(12.), y=np.arange(12.)))
    ids = pd.Series(np.arange(12)//3)
    made = {
        'rows': lambda t: ArrayRows(t[['x']], t.y),
        'stream': lambda t: [(t[['x']][i:i + 5], t.y[i:i + 5]) for i in (0, 5, 10)],
        'sites': lambda t: Sites((t[:5], 'y'), (t[5:], 'y')),
        'watched': lambda t: watched(t, 'y'),
        'formula': lambda t: EncodedRows(watched(t, 'y'), Encoding.of('y ~ x'))}[rows]
    with pytest.raises(ValueError, match='labelled differently'): as_units(made(frame[::-1]), None, ids)
    assert as_units(made(frame[::-1]), None, ids[::-1]).units == 4
    assert as_units(made(frame[::-1]), None, ids.to_numpy()).units == 4


def test_a_long_double_that_is_too_large_is_read_in_silence():
    ids = np.arange(40, dtype=np.longdouble)//2
    ids[7] = np.finfo(np.longdouble).max
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        as_units(np.ones((40, 1)), np.ones(40), list(ids)).units


def test_text_of_polars_that_is_no_unicode():
    "Polars takes it from Arrow as it stands, and panics when it is asked for the cell"
    ids = pl.Series(_not_unicode([b'a', b'Z\xfcrich', b'b', None, b'a']))
    assert as_units(np.ones((5, 1)), np.ones(5), ids).units == 3


@pytest.mark.parametrize('more', [dict(decimal=','), dict(sep=';')], ids=str)
def test_opened_rows_are_not_opened_again(tmp_path, more):
    "What was said of the files came too late, and one person had two keys"
    for name, ids in (('a', '7,0'), ('b', '7')): (tmp_path/f'{name}.tsv').write_text(f'id\tx\ty\n{ids}\t1,5\t2\n')
    sites, budget = Sites((tmp_path/'a.tsv', 'y'), (tmp_path/'b.tsv', 'y')), dp_pmt.Budget(1.)
    for rows in (sites, open_rows(tmp_path/'a.tsv', 'y'), watched(sites)):
        with pytest.raises(ValueError, match='opened already'): dp_pmt.fit('y ~ x', rows, {'x': (0, 3), 'y': (0, 3)}, rho=.5, unit='id', budget=budget, **more)
    assert budget.spent == 0
    with pytest.raises(ValueError, match='know their persons'): as_units(as_units(X, Y, np.arange(5)), None, np.arange(5))


def test_a_checkpoint_of_another_reading_is_not_used(tmp_path):
    "Corrected, decimal commas had the sums of what was read before"
    (tmp_path/'rows.csv').write_text('x;y\n' + '1,5;2,5\n2,5;3,5\n'*40)
    sums = []
    for decimal in '.,':
        kept = Checkpoint(open_rows(tmp_path/'rows.csv', 'y', sep=';', decimal=decimal), path=tmp_path/'pass.npz', every=0)
        sums.append(np.nansum(kept.sum(_products)[0]))
    assert sums == [0, 160]


def _products(A, y): return [np.nan_to_num(A).sum(keepdims=True)]


@pytest.mark.parametrize('around', [lambda rows: rows, lambda rows: EncodedRows(rows, Encoding.of('y ~ x'))])
def test_a_formula_around_a_checkpoint_goes_on_from_it(tmp_path, around):
    rng = np.random.default_rng(0)
    pd.DataFrame(dict(x=rng.normal(size=900), y=rng.normal(size=900), id=np.arange(900)//3)).to_parquet(tmp_path/'rows.parquet')
    sizes = []
    for _ in range(2):
        dp_pmt.dp_ssp(around(Checkpoint(tmp_path/'rows.parquet', 'y', tmp_path/'pass.npz', 0)), None, 1., rng=1, unit='id')
        sizes.append((tmp_path/'pass.npz').stat().st_size)
    assert sizes[0] == sizes[1]

