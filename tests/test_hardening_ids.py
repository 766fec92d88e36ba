"Different persons stay different whatever reader brings their ids, and whoever else has none"
import copy

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decimal import Decimal
from fractions import Fraction

import dp_pmt
from dp_pmt.clusters import DaskRows
from dp_pmt.formulas import Encoding, EncodedRows
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
    assert counts == [5]*6


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
    [Decimal('1700000000.123456789'), Decimal('1700000000.123456788')],
    [Fraction(1, 3), Fraction(10**20, 3*10**20 + 1)],
    ['123456789012345678901e+0', '123456789012345678902e+0'],
    [[1, '2, 3'], [1, 2, 3]],
], ids=['text', 'decimal', 'fraction', 'exponent', 'list'])
def test_ids_that_floats_would_make_one(two):
    keys = _id_keys(pd.Series(two, dtype=object), '0123456789abcdef')
    assert keys[0] != keys[1]


def test_ids_that_may_be_anybody_are_nobody():
    "A rounded integer, and what can't be printed"
    nobody, *keys = _id_keys(pd.Series([None, 2.**53, 1e300, -np.inf, 10**5000], dtype=object), '0'*16)
    assert (keys == nobody).all()


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
    'date32': pa.date32(), 'date64': pa.date64(), 'seconds': pa.timestamp('s'), 'duration': pa.duration('s'),
    'zone': pa.timestamp('us', 'Europe/Paris'), 'time': pa.time64('us')}


def _days(kind, far):
    "Three dates or times, the second far beyond Python's"
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
