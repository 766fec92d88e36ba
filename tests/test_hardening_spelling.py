"""One thing, spelled as each reader and writer of tables spells it: the same level, the same number, the same person on
every road. A level that is spelled otherwise counts as the reference, and nothing tells so."""
import datetime
import unicodedata
import re
import uuid
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

pa = pytest.importorskip('pyarrow')
pq = pytest.importorskip('pyarrow.parquet')
pytest.importorskip('formulaic')
from dp_pmt import fit
from dp_pmt.files import read_table
from dp_pmt.formulas import EncodedRows, Encoding
from dp_pmt.rows import as_rows
from dp_pmt.units import _id_keys

MOMENT = datetime.datetime(2021, 1, 1, 12)
CODE = 123456789012345670
SPELLED = { # two levels, and each as several roads spell it
    'booleans': [[True, 'TRUE', 'true', 'True', b'true'], [False, 'FALSE', 'false', 'False', b'FALSE']],
    'codes': [[CODE, str(CODE), Decimal(CODE), str(CODE).encode()], [CODE + 1, str(CODE + 1), Decimal(CODE + 1), str(CODE + 1).encode()]],
    'moments': [
        [MOMENT, pd.Timestamp(MOMENT), '2021-01-01 12:00:00', '2021-01-01T12:00', '2021-01-01 12:00:00.000000'],
        [MOMENT + datetime.timedelta(seconds=1.5), pd.Timestamp('2021-01-01 12:00:01.5'), '2021-01-01 12:00:01.5',
         '2021-01-01T12:00:01.500', '2021-01-01 12:00:01.500000']],
    'zoned': [
        [MOMENT.replace(tzinfo=datetime.timezone.utc), '2021-01-01 12:00:00+00', '2021-01-01T12:00:00Z', '2021-01-01T12:00:00.000+0000'],
        [pd.Timestamp('2021-01-02 00:00', tz='UTC'), '2021-01-02 00:00:00+00', '2021-01-02T00:00:00Z', '2021-01-02T00:00:00.000+0000']],
    'decimals': [[Decimal('1.00'), '1.00', 1., '1', b'1.0'], [Decimal('2.50'), '2.50', 2.5, '2.5', b'2.5']],
    'bytes': [[b'north', 'north', 'north     ', b'north  '], [b's\xc3\xbcd', 'süd', unicodedata.normalize('NFD', 'süd'), '  süd ']],
    'breaks': [['a\nb', 'a\r\nb', 'a\rb', b'a\r\n\rb'], ['c\n\nb', b'c\n\nb ']],
}


def encoded(levels, cells, **options):
    rows = pd.DataFrame({'g': pd.Series(cells, dtype=object), 'y': 1.})
    return Encoding.of('y ~ C(g)', levels={'g': levels}, **options).apply(rows)[0][:, 0]


@pytest.mark.parametrize('kind', SPELLED)
def test_a_level_is_one_level_however_it_is_spelled(kind):
    "Given, or shown by public rows, in the first spelling"
    first, second = SPELLED[kind]
    cells, expected = [*first, *second], [0.]*len(first) + [1.]*len(second)
    np.testing.assert_array_equal(encoded([first[0], second[0]], cells, other='missing'), expected)
    public = pd.DataFrame({'g': pd.Series([second[0], first[0]]*3, dtype=object), 'y': 1.})
    shown = Encoding.of('y ~ C(g)', public, other='missing')
    rows = pd.DataFrame({'g': pd.Series(cells, dtype=object), 'y': 1.})
    np.testing.assert_array_equal(abs(shown.apply(rows)[0][:, 0] - expected), float(kind == 'booleans')) # False is first
    again = EncodedRows(rows, shown).load()[0][:, 0]
    np.testing.assert_array_equal(again, shown.apply(rows)[0][:, 0])


def test_booleans_of_r_beside_those_of_a_database(tmp_path):
    "True had a coefficient of 0.12 where the truth is 3: TRUE was unknown"
    rng = np.random.default_rng(0)
    for name, n in (('public', 200), ('private', 20_000)):
        smoker, x = rng.random(n) < .4, rng.normal(size=n)
        words = np.where(smoker, 'TRUE', 'FALSE')
        pd.DataFrame(dict(smoker=words, x=x, y=3*smoker + x + rng.normal(size=n))).to_csv(tmp_path/f'{name}.csv', index=False)
    for more in ({}, dict(levels={'smoker': [False, True]}), dict(levels={'smoker': ['FALSE', 'TRUE']})):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            made = fit('y ~ C(smoker) + x', tmp_path/'private.csv', tmp_path/'public.csv', rho=1, seed=0, **more)
        assert abs(made.beta[0] - 3) < .2


def test_bits_are_booleans():
    np.testing.assert_array_equal(encoded([False, True], [0, 1, '1', 0., 7], other='missing'), [0, 1, 1, 0, np.nan])


@pytest.mark.parametrize('gap', [False, True])
def test_long_codes_of_a_public_csv(tmp_path, gap):
    "Beside a gap they were floats, and two neighbours one"
    codes = [CODE, CODE + 1, CODE + 2, '' if gap else CODE]
    (tmp_path/'public.csv').write_text('code,y\n' + ''.join(f'{c},1\n' for c in codes))
    made = Encoding.of('y ~ C(code)', read_table(tmp_path/'public.csv'), other='missing')
    pq.write_table(pa.table({'code': codes[:3], 'y': [1., 2, 3]}), tmp_path/'private.parquet')
    for path in (tmp_path/'private.parquet', tmp_path/'public.csv'):
        np.testing.assert_array_equal(EncodedRows(path, made).load()[0][:3], [[0, 0], [1, 0], [0, 1]])


def _typed_table(n=40):
    at = np.arange(n) % 2
    moments = [MOMENT, MOMENT + datetime.timedelta(seconds=1.5)]
    columns = dict(
        flag=pa.array([bool(k) for k in at]), code=pa.array([CODE + int(k) for k in at]),
        moment=pa.array([moments[k] for k in at], pa.timestamp('us')), day=pa.array([m.date() + datetime.timedelta(k) for m, k in zip(moments*(n//2), at.tolist())]),
        price=pa.array([[Decimal('1.00'), Decimal('2.50')][k] for k in at], pa.decimal128(9, 2)),
        place=pa.array([['north   ', 'süd     '][k] for k in at]), y=pa.array(np.arange(n)/3))
    return pa.table(columns)


def _roads(table, folder):
    "The table as each reader and writer has it"
    import pyarrow.csv as csv
    duckdb, pl = pytest.importorskip('duckdb'), pytest.importorskip('polars')
    pq.write_table(table, folder/'a.parquet')
    binary = table.set_column(table.schema.names.index('place'), 'place', table['place'].cast(pa.binary()))
    pq.write_table(binary, folder/'binary.parquet')
    csv.write_csv(table, folder/'arrow.csv')
    pl.from_arrow(table).write_csv(folder/'polars.csv')
    table.to_pandas().to_csv(folder/'pandas.csv', index=False)
    duckdb.from_arrow(table).write_csv(str(folder/'duckdb.csv'))
    r = table.to_pandas()
    r.assign(flag=np.where(r.flag, 'TRUE', 'FALSE')).to_csv(folder/'r.csv', index=False)
    names = 'a.parquet', 'binary.parquet', 'arrow.csv', 'polars.csv', 'pandas.csv', 'duckdb.csv', 'r.csv'
    memory = dict(arrow=table, polars=pl.from_arrow(table), duckdb=duckdb.from_arrow(table), pandas=table.to_pandas(),
                  mapped=table.to_pandas(types_mapper=pd.ArrowDtype), coded=table.to_pandas().astype({'place': 'category', 'moment': 'category'}))
    return {**{name: folder/name for name in names}, **memory}


def test_levels_agree_whoever_wrote_the_private_and_the_public_rows(tmp_path):
    roads = _roads(_typed_table(), tmp_path)
    formula = 'y ~ C(flag) + C(code) + C(moment) + C(day) + C(price) + C(place)'
    for name in ('a.parquet', 'r.csv', 'duckdb.csv', 'pandas', 'mapped'):
        public = roads[name] if isinstance(roads[name], pd.DataFrame) else read_table(roads[name])
        made = Encoding.of(formula, public, other='missing')
        for other, private in roads.items():
            A = np.concatenate([A for A, _ in EncodedRows(private, made).blocks()])
            np.testing.assert_array_equal(A, np.arange(40)[:, None] % 2*np.ones(6), err_msg=f'{name} {other}')


REGIONS = ['EU', 'NA', 'AS']


@pytest.mark.parametrize('road', ['csv', 'opened', 'frame', 'parquet'])
def test_na_is_a_level_where_levels_say_so(road, tmp_path):
    "North America and Namibia; any other word for a gap is one, and so is NA where no level says it"
    frame = pd.DataFrame({'region': ['EU', 'NA', 'AS', 'null', 'NULL', 'n/a', 'XX', ''], 'y': 1.})
    frame.to_csv(tmp_path/'rows.csv', index=False)
    frame.to_parquet(tmp_path/'rows.parquet')
    rows = dict(csv=tmp_path/'rows.csv', opened=as_rows(tmp_path/'rows.csv', 'y', strict=None), frame=frame, parquet=tmp_path/'rows.parquet')[road]
    gaps = [np.nan]*3
    for levels, first in ((REGIONS, [0, 1, 0, *gaps, 0, np.nan]), (['EU', 'AS'], [0, np.nan, 1, *gaps, 0, np.nan])):
        made = Encoding.of('y ~ region', levels={'region': levels})
        np.testing.assert_array_equal(EncodedRows(rows, made).load()[0][:, 0], first)


def test_na_in_public_csv(tmp_path):
    "A gap, unless levels= says it; numbers keep their gaps"
    (tmp_path/'public.csv').write_text('region,x,y\nEU,1,1\nNA,NA,1\nAS,3,1\n')
    plain = read_table(tmp_path/'public.csv')
    said = read_table(tmp_path/'public.csv', levels={'region': REGIONS})
    assert plain.region.isna().tolist() == [False, True, False] and said.region.tolist() == REGIONS
    assert plain.x.isna().tolist() == said.x.isna().tolist() == [False, True, False]
    rng = np.random.default_rng(0)
    for name, n in (('public', 300), ('private', 20_000)):
        region = rng.choice(REGIONS, n)
        pd.DataFrame(dict(region=region, y=2*(region == 'NA') + rng.normal(size=n))).to_csv(tmp_path/f'{name}.csv', index=False)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        made = fit('y ~ region', tmp_path/'private.csv', tmp_path/'public.csv', rho=1, seed=0, levels={'region': REGIONS})
    assert abs(made.beta[0] - 2) < .2 and abs(made.beta[1]) < .2


def str_of(x):
    "A name for a test that is the same in every process"
    return re.sub(r' at 0x\w+', '', repr(x))


@pytest.mark.parametrize('cell', ['1_000', '１２', '١٢', b'1_000', b'12', '12', ' 12 ', 'NA', b'true', memoryview(b'12')], ids=str_of)
def test_a_text_is_the_same_number_on_every_road(cell):
    "`fit` took 1_000 and digits of other scripts, and no bytes; `dp_anchored` the reverse"
    frame = pd.DataFrame({'x': pd.Series([cell, 1.5], dtype=object), 'y': 1.})
    formula = EncodedRows(frame, Encoding.of('y ~ x')).load()[0][0, 0]
    plain = next(as_rows(frame[['x']], frame.y, strict=False).blocks())[0][0, 0]
    np.testing.assert_array_equal(formula, plain)
    text = str(cell, 'utf8') if isinstance(cell, (bytes, memoryview)) else cell
    if isinstance(cell, str): np.testing.assert_array_equal(EncodedRows(frame.astype({'x': 'str'}), Encoding.of('y ~ x')).load()[0][0, 0], plain)
    assert np.isnan(plain) == (not text.strip().isascii() or text in ('1_000', 'NA'))


PERSON = uuid.UUID('12345678-9abc-def0-1234-56789abcdef0')


@pytest.mark.parametrize('ids', [
    ['A1', 'A1 ', ' A1', np.str_('A1')], ['Zoë', unicodedata.normalize('NFD', 'Zoë')], [PERSON, str(PERSON)],
    [7, '7', '007', '7.0', '7.', '+7', '7.00', '7e+00', 7., np.float32(7), np.uint8(7), Decimal('7.0')],
    [100_000, '1e+05', '1.0E5', '100000.0', 1e5], [0, '-0', '0.0', -0., '00'], [-12, '-12', '-012', '-12.0'],
    [2**53 + 1, str(2**53 + 1), Decimal(2**53 + 1)],
    [None, '', 'NA', 'null', 'nan', 'NULL', ' ', 7.5, 2.**53, '9.1e+15', '9007199254740993.0', True, b'NULL', MOMENT, pd.Timestamp(MOMENT)]], ids=str_of)
def test_an_id_is_one_person_however_it_is_spelled(ids):
    assert len(set(_id_keys(ids, '0'*16))) == 1
    for one in ids[1:]: assert len({*_id_keys([ids[0]], '0'*16), *_id_keys([one], '0'*16)}) == 1


@pytest.mark.parametrize('two', [
    ['\t1', '1'], ['1\t', '1'], ['a\n', 'a'], [uuid.UUID(int=7), 7], ['1.1', '1.10'], ['12e3', '12000'], ['true', '1'], ['A', 'a'],
    ['2021-01-01', '2021-01-01 00:00:00'], ['12:00', '12:00:00'], ['1,0', '1'], ['１', '1'], ['1_0', '10'], ['10E-1', '1'], ['5E-0', '5'], ['1e3', '1000'], ['', '0']], ids=str_of)
def test_two_ids_that_are_not_one_text_stay_two(two):
    "A time may be a code, a number with a point the tenth of its kind"
    assert len(set(_id_keys(two, '0'*16))) == 2


def test_text_levels_that_are_integers_beside_a_gap(tmp_path):
    "A writer made `1.0` of `1`, and every row was the reference; `01` is a code"
    levels, cells = ['1', '2'], ['1.0', '2.0', '2.00', '2,0', 2., '02', '2.5', '2,000']
    unknown = np.nan
    np.testing.assert_array_equal(encoded(levels, cells, other='missing'), [0, 1, 1, 1, 1, unknown, unknown, unknown])
    np.testing.assert_array_equal(encoded(['1', '2.00'], ['2.0', '2.00', '2', 2.], other='missing'), [1, 1, 1, 1])
    np.testing.assert_array_equal(encoded([1, 2], ['02', '2.0', '2'], other='missing'), [1, 1, 1]) # levels that are numbers
    frame = pd.DataFrame({'g': [1, 2, None, 2], 'y': 1.})
    for point, sep in (('.', ','), (',', ';')):
        frame.to_csv(tmp_path/'rows.csv', index=False, sep=sep, decimal=point)
        rows = EncodedRows(tmp_path/'rows.csv', Encoding.of('y ~ C(g)', levels={'g': levels}), sep, point)
        np.testing.assert_array_equal(rows.load()[0][:, 0], [0, 1, np.nan, 1])


def test_a_time_of_day_has_seconds_or_not():
    np.testing.assert_array_equal(encoded(['08:00', '16:00:00'], ['08:00:00', '16:00', '16:00:00.000', '16:00:01'], other='missing'), [0, 1, 1, np.nan])


def test_a_word_for_a_gap_is_nobody_in_csv_too(tmp_path):
    from dp_pmt.units import as_units
    (tmp_path/'rows.csv').write_text('who,x,y\na,1,1\nNA,2,1\nb,3,2\n,1,1\n')
    rows = EncodedRows(tmp_path/'rows.csv', Encoding.of('y ~ x'))
    assert as_units(rows, None, 'who').units == 2


def test_long_cells_take_no_time():
    "Composing accents and joining line breaks would take a time that grows with the square"
    import time
    start = time.perf_counter()
    cells = ['a' + '\u0316\u0300'*200_000, '\n'*400_000 + 'x\r', '1'*400_000 + 'x', ' '*400_000 + 'x', '2021-01-01 12:00:00.' + '0'*400_000 + 'x']
    encoded(['a', 'b'], cells)
    _id_keys(cells, '0'*16)
    assert time.perf_counter() - start < 10
