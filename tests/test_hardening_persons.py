"""Attacks by way of ids and text, through the estimators

Every id and every text is read, for a refusal would tell of it. Who a row belongs to depends on its
own id alone, not on the rows around it.
"""
import math
import sys
import uuid
import threading
import uuid
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dp_pmt import fit
from dp_pmt.algorithms import dope_gd, dp_pmtolse, dp_ssp
from dp_pmt.anchored import dp_anchored
from dp_pmt.clusters import Checkpoint, Sites
from dp_pmt.crossing import Pass, Run
from dp_pmt.formulas import EncodedRows, Encoding
from dp_pmt.noise import make_noise
from dp_pmt.preconditioning import Coordinates
from dp_pmt.privacy import Budget
from dp_pmt.queries import COUNT, Count, JointMoments
from dp_pmt.release import release
from dp_pmt.rows import as_rows
from dp_pmt.units import UnitRows, as_units

AT = 17 # the row with an odd cell
ODD = {
    'list': [1, 2], 'dict': {'a': 1}, 'set': {1}, 'array': np.array([1, 2]), 'number as an array': np.array(3.5),
    'huge': 10**5000, 'digits': '9'*5000, 'half a character': '\ud800', 'decimal': Decimal('sNaN'),
    'fraction': Fraction(10**400), 'complex': 1j, 'bytes': b'\xff', 'slice': slice(1), 'void': np.void(b'ab'),
    'masked': np.ma.masked, 'object': object(), 'none': None, 'frame': pd.DataFrame({'a': [1]})}


@pytest.fixture(scope='module')
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(240, 3)), columns=['a', 'b', 'y'])
    return frame.assign(town=['Bern', 'Uri', 'Zug']*80, who=np.arange(240)//3)


def with_cell(column, cell):
    "A column of objects in which one cell was replaced"
    cells = np.empty(len(column), object)
    cells[:] = list(column)
    cells[AT] = cell
    return pd.Series(cells, dtype=object)


def silently(f, *args, **more):
    "The result; a warning is an error"
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        return f(*args, **more)


@pytest.mark.parametrize('odd', ODD)
@pytest.mark.parametrize('road', ['column', 'array', 'list'])
def test_no_cell_is_refused_as_an_id(frame, odd, road):
    ids = with_cell(frame.who, ODD[odd])
    A, y = frame[['a', 'b']], frame.y
    if road == 'column': made = silently(dp_ssp, A.assign(who=ids), y, 1., safe=True, unit='who')
    else: made = silently(dp_ssp, A, y, 1., safe=True, unit=ids.to_numpy() if road == 'array' else list(ids))
    assert made.who.units == 80 + (odd == 'digits') # the row is nobody's, but where its id is a text


SPELLINGS = {
    'decimals': [Decimal('7777'), Decimal('7777.0'), Decimal('7777.00')],
    'numbers': [7777, 7777., '7777', '7777.0', Decimal('7777')]}

@pytest.mark.parametrize('kind', SPELLINGS)
def test_one_person_whatever_stands_around(frame, kind):
    "The same id, written in several ways at several sites, is one person; who comes first doesn't matter"
    spelled = SPELLINGS[kind]
    ids = [with_cell(frame.who + 1000*j, None).fillna(spelled[0]) for j in range(len(spelled))]
    for j, other in enumerate(spelled): ids[j][:9] = [*spelled, *[other]*9][:9]
    parts = [(frame[['a', 'b']].assign(who=who), frame.y) for who in ids]
    rows = as_units(Sites(*parts), None, 'who')
    known = {who for part in ids for who in part[9:] if isinstance(who, int)}
    assert rows.units == len(known - {7777}) + 1


@pytest.mark.parametrize('column', ['town', 'who', 'a', 'y'])
@pytest.mark.parametrize('road', ['csv', 'parquet', 'table'])
def test_text_that_is_no_unicode(frame, tmp_path, column, road):
    "A byte of Latin-1 among UTF-8 must not be noticed"
    path = tmp_path/f'rows.{road}'
    text = frame.astype(str)
    cells = [('Z\xfcrich' if i == AT else x).encode('latin-1') for i, x in enumerate(text[column])]
    if road == 'csv':
        text[column] = [x.decode('latin-1') for x in cells]
        path.write_bytes(text.to_csv(index=False).encode('latin-1'))
    else:
        buffers = pa.array(cells, pa.binary()).buffers()
        table = pa.Table.from_pandas(text if column in ('town', 'who') else frame, preserve_index=False)
        at = table.schema.get_field_index(column)
        table = table.set_column(at, column, pa.Array.from_buffers(pa.string(), len(cells), buffers))
        if road == 'parquet': pq.write_table(table, path)
    rows = table if road == 'table' else str(path)
    encoding = Encoding.of('y ~ a + b + town', levels={'town': ['Bern', 'Uri', 'Zug']})
    made = silently(dp_ssp, EncodedRows(rows, encoding), None, 1., safe=True, unit='who')
    assert made.who.units == (81 if column == 'who' else 80)


@pytest.mark.parametrize('cell', [[1, 2], (1, 2), np.array([1, 2]), {'a': 1}], ids=str)
def test_a_nested_cell_in_lists(frame, cell):
    A, y = frame[['a', 'b']].to_numpy().tolist(), frame.y.tolist()
    A[AT][0] = cell
    silently(dp_ssp, A, y, 1., safe=True)
    A[AT][0], y[AT] = 0., cell
    silently(dp_ssp, A, y, 1., safe=True)


def test_the_number_of_rows_is_not_asked_for_where_it_is_private(frame):
    "Else a wrong one would be refused, and a right one not"
    A, y = frame[['a', 'b']], frame.y
    for n in (239, 240):
        for private in (dict(neighbours='add/remove'), dict(unit=frame.who)):
            with pytest.raises(ValueError, match='leave n= out'): dp_ssp(A, y, 1., n=n, **private)


@pytest.mark.parametrize('persons', [60, 300, 2000])
@pytest.mark.parametrize('rho', [.3, 5.])
def test_noise_fits_for_few_persons(persons, rho):
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(2*persons, 2)), rng.normal(size=2*persons)
    run = Run(A, y, rho, safe=True, unit=np.arange(2*persons)//2)
    assert run._whole*run.grid**2 <= 2**46 # of one person
    assert run.n*run._whole*run.grid**2 <= 2**61 # of all
    run.check_ready(JointMoments(Coordinates(np.eye(2)), 1., 1., run.grid), .001*rho)


def test_a_checkpoint_of_persons(frame, tmp_path):
    "What is summed by person is not kept, and no reason to stop when all is paid"
    many = pd.concat([frame]*10, ignore_index=True).assign(who=np.arange(2400)//3)
    many.drop(columns='town').to_parquet(tmp_path/'rows.parquet')
    rng = np.random.default_rng(2)
    B, y_B = pd.DataFrame(rng.normal(size=(40, 2)), columns=['a', 'b']), rng.normal(size=40)
    for rows in ((tmp_path/'rows.parquet', 'y'), (many[['a', 'b', 'who']], many.y)):
        with Checkpoint(*rows, path=tmp_path/'pass.npz', every=0) as kept:
            made = dp_anchored(kept, None, B, y_B, 5., safe=True, unit='who', warn=False)
        assert made.cov_type == 'clustered' and made.who.units == 800


def test_threads_never_overdraw(frame):
    "Each run looks whether there is enough before it reads a row; only what is paid for is answered"
    A, y = frame[['a', 'b']].to_numpy(), frame.y.to_numpy()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30): _race(A, y)
    finally: sys.setswitchinterval(before)


def _race(A, y):
    "Four fits of .4 for a budget of 1"
    budget, start, made, refused = Budget(1.), threading.Barrier(4), [], []
    def one(seed):
        start.wait()
        try: made.append(dp_ssp(A, y, .4, seed, budget=budget))
        except ValueError as e: refused.append(str(e))
    threads = [threading.Thread(target=one, args=(seed,)) for seed in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert len(made) + len(refused) == 4 and len(made) <= 2
    assert all('budget exhausted' in text for text in refused)
    paid = sum(fit.rho for fit in made)
    assert paid <= budget.spent*(1 + 1e-12) and budget.spent <= 1 + 1e-12


@pytest.mark.parametrize('share', [-.5, -.001, .95, 2., math.nan, 'x', np.ones(3)])
def test_a_share_for_errors_is_checked_before_anything_is_spent(share):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(500, 2)), rng.normal(size=(30, 2))
    budget = Budget(1.)
    with pytest.raises(ValueError, match='inference_share'):
        dp_anchored(A, A @ [1., 2], B, B @ [1., 2], 1., 0, budget=budget, inference_share=share)
    assert budget.spent == 0


@pytest.mark.parametrize('other', ['reference', 'other', 'missing'])
@pytest.mark.parametrize('road', ['frame', 'table', 'csv'])
def test_persons_whose_ids_are_levels_too(frame, tmp_path, other, road):
    "Levels that nobody knows become one column, but not one person: who is removed would change the weights of others"
    towns = frame.assign(town=[f't{i}' for i in range(60)]*4)[['a', 'y', 'town']]
    encoding = Encoding.of('y ~ a + town', levels={'town': ['t0', 't1', 't2']}, other=other)
    towns.to_csv(tmp_path/'rows.csv', index=False)
    table = dict(frame=towns, table=pa.Table.from_pandas(towns), csv=tmp_path/'rows.csv')[road]
    rows = as_units(EncodedRows(table, encoding), None, 'town')
    assert rows.units == 60 and rows.names == encoding.names
    assert silently(rows.sum, lambda A, y, count, key: [np.unique(count)])[0].tolist() == [4]


def test_ids_as_they_are_where_numbers_have_decimal_commas(tmp_path):
    text = 'a;who;y\n' + ''.join(f'{i},5;{who};{i},25\n' for i, who in enumerate(['1.5', '2,5', 'x']*20))
    (tmp_path/'rows.csv').write_text(text)
    encoding = Encoding.of('y ~ a + who', levels=None)
    rows = as_units(EncodedRows(tmp_path/'rows.csv', encoding, ';', ','), None, 'who')
    assert rows.units == 3
    assert rows.sum(lambda A, y, count, key: [np.unique(count)])[0].tolist() == [20]


def test_hexadecimal_ids_are_no_numbers():
    "1234e567 and 99e99999 are both infinite as floats, but two persons"
    rng = np.random.default_rng(0)
    for form in ('{:08x}', '{:04x}-{:04x}'):
        numbers = rng.integers(2**16, size=(20_000, 2)) if '-' in form else rng.integers(2**32, size=(20_000, 1))
        ids = [form.format(*x) for x in numbers.tolist()]
        assert as_units(np.ones((20_000, 1)), np.ones(20_000), ids).units == len(set(ids))
    same = ['7', '7.0', '007', 7, 7., '7e+00', Decimal('7.0')]
    assert as_units(np.ones((7, 1)), np.ones(7), same).units == 1


def test_rows_without_an_id_count_for_nothing(frame):
    "Nobody knows whose they are: one of several persons may be removed, and another may have rows with an id as well"
    ids = frame.who.astype(object).where(frame.index >= 30)
    at, sums = Coordinates(np.eye(2)), []
    asked = Pass((Count(at), JointMoments(at, 1., 1.)), True, per_unit=3, whole=999)
    for value in (0., 1., 1e9):
        A, y = frame[['a', 'b']].copy(), frame.y.copy()
        A[:30], y[:30] = value, value
        sums.append(as_units(A, y, ids).sum(asked))
    for other in sums[1:]: assert all(np.array_equal(a, b) for a, b in zip(sums[0], other))
    assert sums[0][0][0] == 70*999*Count(at).steps # whoever has an id counts in full


@pytest.mark.parametrize('private', [dict(neighbours='add/remove'), dict(unit=np.arange(240)//3)], ids=['rows', 'persons'])
def test_no_error_counts_the_rows(frame, private):
    "Where their number is private a refusal doesn't quote it, and one row is enough"
    A, y = frame[['a', 'b']].to_numpy(), frame.y.to_numpy()
    for wrong in ((A, y[1:]), (A[:, :0], y), (A[1:], y)):
        with pytest.raises(ValueError, match='must have') as refused: dp_ssp(*wrong, 1., safe=True, **private)
        assert '240' not in str(refused.value) and '239' not in str(refused.value)
    from dp_pmt.sklearn_api import PrivateLinearRegression
    with pytest.raises(ValueError, match='equally many rows$'): PrivateLinearRegression(neighbours='add/remove').fit(A, y[1:])
    assert PrivateLinearRegression(neighbours='add/remove').fit(A[:1], y[:1]).n_features_in_ == 2


def test_too_many_persons_are_so_by_their_noisy_number(monkeypatch):
    "One person more was a reason to stop, after nearly all was spent"
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2001, 2)), rng.normal(size=(60, 2))
    y, y_B = A.sum(1) + rng.normal(size=2001), B.sum(1) + rng.normal(size=60)
    budget = Budget(20.)
    def made(n, rho=20.):
        monkeypatch.setattr(Run, '_counted', lambda run: n)
        return dp_anchored(A, y, B, y_B, rho, safe=True, unit=np.arange(2001), neighbours='add/remove', budget=budget)
    for module in ('units', 'crossing'): monkeypatch.setattr(f'dp_pmt.{module}.MOST_NUMBERS', 4*2000)
    with pytest.raises(ValueError, match='too many persons'): made(2001)
    assert not budget.spent
    assert made(2000).cov_type == 'clustered'


def test_persons_with_many_rows_are_counted():
    "Else the number of persons came out as about 1, and the guard of 64 bits, which relies on it, let sums overflow"
    rng = np.random.default_rng(0)
    A, ids = rng.normal(size=(60_000, 1)), np.repeat(np.arange(40), 1500)
    for per_unit in (1, 1100, 1500):
        run = Run(A, A[:, 0], 50., safe=True, unit=ids, per_unit=per_unit)
        assert abs(run.n - 40) <= 10
    assert 40*1500*(run._whole//1500) <= 2*run.n*run._whole
    budget = Budget(1.)
    for per_unit in (5000, 20_000):
        with pytest.raises(ValueError, match='per_unit must be at most 4096'):
            Run(A, A[:, 0], 1., safe=True, unit=ids, per_unit=per_unit, budget=budget)
    assert not budget.spent


def test_a_stream_that_is_read_once_is_refused_where_rows_are_counted(frame):
    "The noisy number of rows took the only pass: it was paid for, and then there were no private rows"
    A, y, budget = frame[['a', 'b']].to_numpy(), frame.y.to_numpy(), Budget(1.)
    for estimator in (dp_pmtolse, release):
        options = dict(safe=True) if estimator is dp_pmtolse else {}
        stream = ((A[i:i+80], y[i:i+80]) for i in (0, 80, 160))
        with pytest.raises(ValueError, match='more than once'):
            estimator(stream, None, A[:30].copy(), y[:30].copy(), 1., neighbours='add/remove', budget=budget, **options)
    assert not budget.spent


# -------------------- nobody is no person, and nobody gets rows between two passes

@pytest.mark.parametrize('lost', [None, np.nan, '', 'nan', 2.**60], ids=str)
def test_a_row_that_loses_its_id_leaves_the_number_of_persons(frame, lost):
    "It was published without noise, and nobody counted: one cell of one person showed"
    whole, less = frame.assign(who=frame.who.astype(object)), frame.assign(who=with_cell(frame.who.astype(object), lost))
    made = [silently(dp_ssp, t[['a', 'b', 'who']], t.y, 1., safe=True, unit='who') for t in (whole, less)]
    assert [m.who.units for m in made] == [80, 80]
    assert [m.statement().split(' persons')[0] for m in made] == ['The coefficients were computed (method: DP-SSP) from the confidential rows of 80']*2


class Growing:
    "Blocks that change once their ids were counted"
    def __init__(self, frame, change, steady): self.frame, self.change, self.steady, self.reads = frame, change, steady, 0

    def __iter__(self):
        self.reads += 1
        t = self.frame if self.reads <= self.steady else self.change(self.frame)
        yield t[['a', 'b']].to_numpy(), t.y.to_numpy()


@pytest.mark.parametrize('change', [lambda t: pd.concat([t, t[:50]]), lambda t: t[:-9]], ids=['more', 'fewer'])
@pytest.mark.parametrize('fitted,steady', [
    (dp_ssp, 2), (lambda *a, **k: dp_anchored(*a[:2], None, None, 9., **k), 3)], ids=['ssp', 'anchored'])
def test_rows_that_come_after_their_ids_were_counted(frame, change, fitted, steady):
    "Rows without a key had full weight, and numpy's words their number"
    budget = Budget(9.)
    with pytest.raises(ValueError, match='changed between two passes|another number of rows') as e:
        fitted(Growing(frame, change, steady), None, 1., safe=True, unit=frame.who.to_numpy(), budget=budget)
    assert not any(c.isdigit() for c in str(e.value)) and budget.spent <= .09


@pytest.mark.parametrize('kind', ['duckdb', 'dask', 'dataset'])
@pytest.mark.parametrize('fitted', ['fit', 'ssp'])
def test_ids_that_change_between_two_passes(frame, kind, fitted, tmp_path):
    "As many rows as before, but all of one person: it had a thousand times its weight"
    duckdb, dd = pytest.importorskip('duckdb'), pytest.importorskip('dask.dataframe')
    ds, pq = pytest.importorskip('pyarrow.dataset'), pytest.importorskip('pyarrow.parquet')
    changed = frame.assign(who=0)
    con, seen = duckdb.connect(), []
    con.execute('create table rows as select * from frame')

    def change():
        con.execute('create or replace table rows as select * from changed')
        changed.to_parquet(tmp_path/'rows.parquet')

    class Later(UnitRows):
        @property
        def table(self):
            known = super().table
            if not seen: seen.append(change())
            return known

    frame.to_parquet(tmp_path/'rows.parquet')
    source = dict(duckdb=lambda: con.table('rows'), dataset=lambda: ds.dataset(tmp_path/'rows.parquet'),
                  dask=lambda: dd.from_map(lambda k: (changed if seen else frame)[k::2], [0, 1], meta=frame[:0]))[kind]()
    encoding = Encoding.of('y ~ a + b')
    rows = EncodedRows(source, encoding) if fitted == 'fit' else as_rows(source, 'y', strict=False).without('who')
    units = Later(rows, 'who')
    units.units
    with pytest.raises(ValueError, match='the persons of the private rows changed'): units.sum(lambda A, y, m, keys: [y.sum()])
    assert UnitRows(rows, 'who').sum(lambda A, y, m, keys: [len(y)]) == [240]


class Shuffled(Growing):
    "The same rows at each reading, in another order"
    def __iter__(self):
        self.reads += 1
        t = self.frame.sample(frac=1, random_state=self.reads)
        yield t[['a', 'b']].to_numpy(), t.y.to_numpy()


@pytest.mark.parametrize('fitted', [dp_ssp, lambda *a, **k: dp_anchored(*a[:2], None, None, 9., **k)], ids=['ssp', 'anchored'])
def test_a_source_that_shuffles_beside_ids_by_position(frame, fitted):
    "Each pass gave the rows to other persons, and one moved the sums by all their weights"
    with pytest.raises(ValueError, match='changed between two passes'):
        fitted(Shuffled(frame, None, 0), None, 1., safe=True, unit=frame.who.to_numpy())
    steady = Growing(frame, None, 99)
    assert fitted(steady, None, 1., safe=True, unit=frame.who.to_numpy()).who.units == 80


# -------------------- sums that wrap, and ids that print as an address

def test_noise_wraps_with_the_sum():
    "A sum of 64 bits that wrapped, with noise that did not, went from one end to the other because of one row"
    noise = make_noise(safe=True)
    ready = noise.ready(1., 1e-6) # an sd of 707 steps
    most = 2**63 - 1
    ends = [noise.add(np.full(2000, x), ready, 'vector') for x in (most, -most - 1)] # neighbours, modulo 2^64
    share = [np.mean(e > 0) for e in ends]
    assert abs(share[0] - .5) < .06 > abs(share[1] - .5)
    assert abs(np.mean(noise.add(np.full(2000, 5), ready, 'vector')) - 5) < 70


def test_many_persons_who_count_for_little(monkeypatch):
    "With 524,289 of them and per_unit=100 their influences were beyond 64 bits, and one person turned the sum round"
    U, seen = 524_289, []
    A, ids = np.ones((U, 1)), np.arange(U)
    B = np.array([1., 2.]*30)[:, None]
    noisy = Run._noisy
    monkeypatch.setattr(Run, '_noisy', lambda self, query, total, ready: (seen.append((query.gathers, total)), noisy(self, query, total, ready))[1])
    y = np.where(ids % 2, 1e12, -1e12)
    dp_anchored(A, y, B, B[:, 0] + np.sin(np.arange(60)), 2., safe=True, unit=ids, per_unit=100, warn=False)
    totals = [total for gathers, total in seen if gathers]
    assert totals and all(0 <= total.min() and total.max() <= U*COUNT for total in totals)
    run = Run(A, np.r_[np.full(U - 9, np.nan), np.ones(9)], 1., safe=True, unit=ids)
    assert run._most == U and run._whole*U <= 2**29


def _of_polars(ids):
    pl = pytest.importorskip('polars')
    return pl.DataFrame({'a': np.arange(240.), 'y': np.arange(240.) % 7, 'who': ids})


@pytest.mark.parametrize('kind', ['memoryview', 'set', 'address', 'uuid'])
@pytest.mark.parametrize('road', ['column', 'array', 'list'])
def test_ids_of_python_objects(frame, kind, road):
    "A database's bytes print as an address, and were each row's own person; only UUIDs are taken for their text"
    made = {'memoryview': lambda i: memoryview(b'p%d' % i), 'address': lambda i: object(), 'uuid': lambda i: uuid.UUID(int=i),
            'set': lambda i: frozenset([f'{i}', 'a', 'b', 'c'])}[kind]
    ids = pd.Series([made(i//3) for i in range(240)], dtype=object)
    unit = dict(column='who', array=ids.to_numpy(), list=list(ids))[road]
    call = lambda: as_units(frame[['a']].assign(who=ids) if road == 'column' else frame[['a']], frame.y, unit, strict=False).units
    if kind == 'uuid': assert call() == 80
    else:
        with pytest.raises(ValueError, match='no row has an id'): call()


def test_objects_of_polars_are_refused_by_their_type():
    "Arrow has them as addresses: thirty persons were three hundred, or as many as there were objects"
    ids = [uuid.UUID(int=i//3 + 7) for i in range(240)]
    table = _of_polars(ids)
    for call in (lambda: as_units(table, 'y', 'who'), lambda: as_units(table.drop('y'), np.ones(240), 'who'), lambda: as_rows(table, 'y', strict=False)):
        with pytest.raises(ValueError, match='Object of Polars'): call()
    assert as_units(table[['a']], table['y'], table['who']).units == 80
    assert as_rows(table[['a', 'y']], 'y').n == 240


def test_names_of_ids_that_may_not_be_quoted_are_told_apart(frame):
    budget = Budget(1.)
    table = frame.assign(patient_2020=frame.who, doctor_2020=frame.who % 7)
    spend = lambda unit, column: dp_ssp(table[['a', 'b', unit]], table.y, .1, safe=True, unit=unit, budget=budget)
    for _ in range(2): spend('patient_2020', 'b')
    with pytest.raises(ValueError, match="don't add up") as e: spend('doctor_2020', 'b')
    assert '2020' not in str(e.value) and budget.spent == pytest.approx(.2)


def test_ids_that_a_formula_names_are_levels_too(frame):
    "The public rows lost the column, and were said to lack it"
    formulaic = pytest.importorskip('formulaic')
    table = frame.assign(ward=np.array(['u', 'v', 'w'])[np.arange(240) % 3])
    for words in (dict(formula='y ~ a + C(ward)'), dict(formula='y ~ a + ward'), dict(y='y', X=['a', 'ward'])):
        made = [fit(private=table[60:], public=table[:60], rho=50., unit=unit, per_unit=60, **words) for unit in ('ward', table.ward[60:])]
        assert made[0].names == made[1].names and len(made[0].names) == 3 and made[0].who.units == 3
    assert fit('y ~ a', table[60:], table[:60], rho=50., unit='ward', per_unit=60).names == ['a']


def test_scikit_learn_takes_ids_not_their_name(frame):
    sklearn = pytest.importorskip('sklearn')
    from dp_pmt.sklearn_api import PrivateLinearRegression
    budget = Budget(1.)
    with pytest.raises(ValueError, match='not the name of a column'):
        PrivateLinearRegression(budget=budget).fit(frame[['a', 'who']], frame.y, unit='who')
    assert budget.spent == 0


def _persons(n, columns=1, rows=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows*n, columns))
    table = pd.DataFrame(X, columns=list('abcde')[:columns])
    return table.assign(y=X.sum(1) + rng.normal(size=rows*n), id=np.arange(rows*n)//rows)


@pytest.mark.parametrize('n, columns, epsilon, of', [
    (20_000, 1, .2, 'replace'), (20_000, 5, .05, 'replace'), (10_000, 5, .1, 'add/remove'), (30_000, 5, .05, 'add/remove'), (9000, 1, .02, 'replace')])
@pytest.mark.filterwarnings('ignore')
def test_good_fits_of_persons_are_not_refused(n, columns, epsilon, of):
    "With the share of a histogram a joint release was too loud, which is never asked so, and the count was paid"
    table, known = _persons(n, columns), _persons(30, columns)
    made = fit('y ~ ' + ' + '.join('abcde'[:columns]), table, known, epsilon=epsilon, unit='id', neighbours=of, budget=Budget(1.))
    assert len(made.steps) and np.abs(made.beta - 1).max() < 1


BEFORE = { # what can't be asked is said before persons are counted
    'share': (lambda table, **to: fit('y ~ a', table, table[:60], epsilon=1, unit='id', inference_share=1e-15, **to), 'rho is too small'),
    'share of a look': (lambda table, **to: fit('y ~ a', table, dict(a=(-4, 4), y=(-9, 9)), epsilon=1, inference_share=1e-20, **to), 'rho is too small'),
    'share for yes and no': (lambda table, **to: fit('y ~ a', table.assign(y=table.y > 0), table[:60].assign(y=table.y > 0), epsilon=1,
                                                     unit='id', family='binomial', inference_share=1e-15, **to), 'rho is too small'),
    'moments': (lambda table, **to: dp_ssp(table[['a', 'id']], table.y, 1e-9, unit='id', per_unit=4000, safe=True, **to), 'rho is too small'),
    'steps': (lambda table, **to: dope_gd(table[['a', 'id']], table.y, table[['a']][:60], table.y[:60], 1e-12, unit='id', safe=True, **to), 'rho is too small')}


@pytest.mark.parametrize('name', BEFORE)
@pytest.mark.filterwarnings('ignore')
def test_what_can_not_be_asked_is_said_before_the_count(name):
    "A question for standard errors was too loud when all steps were paid"
    budget, (call, why) = Budget(1.), BEFORE[name]
    with pytest.raises(ValueError, match=why): call(_persons(3000), budget=budget)
    assert budget.spent == 0


@pytest.mark.parametrize('estimator', [dp_ssp, lambda A, y, rho, **to: dp_anchored(A, y, None, None, rho, **to)])
def test_too_many_persons_for_their_rows_are_refused_before_the_count(estimator):
    "The number of persons is public if one is replaced"
    budget, ids = Budget(1.), np.repeat(np.arange(70_000), 2)
    with pytest.raises(ValueError, match='lower per_unit'):
        estimator(np.ones((140_000, 1)), np.ones(140_000), .5, unit=ids, per_unit=2000, safe=True, budget=budget)
    assert budget.spent == 0
