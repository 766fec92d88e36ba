"Levels are those that public rows show; ids follow the labels of the rows"
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dp_pmt import fit
from dp_pmt.files import open_rows, read_table
from dp_pmt.formulas import EncodedRows, Encoding, _level, level_texts
from dp_pmt.sklearn_api import PrivateLinearRegression


def table(n=600):
    rng = np.random.default_rng(0)
    return pd.DataFrame(dict(y=rng.normal(size=n), x=rng.normal(size=n), region=rng.choice(['north', 'south'], n)))


@pytest.mark.parametrize('arrow', [False, True])
def test_slices_of_categories_show_their_own_levels(arrow):
    "A slice of a categorical column lists the levels of the whole table: a private one was a label"
    rows = table()
    rows.loc[599, 'region'] = 'clinic'
    rows['region'] = rows.region.astype('category')
    public, private = rows[:100], rows[100:]
    if arrow:
        pa = pytest.importorskip('pyarrow')
        public = pa.Table.from_pandas(public, preserve_index=False)
    made = fit('y ~ x + region', private, public, epsilon=3, seed=0)
    assert made.labels == ['x', 'region[T.south]', '(intercept)']
    assert 'clinic' not in made.to_json()


def test_ids_of_estimators_follow_labels():
    "By position ids of another order gave one person a weight of hundreds"
    rows = table()
    who = pd.Series(np.arange(600)//3, name='who')
    order = np.random.default_rng(1).permutation(600)
    mixed = rows.iloc[order]
    model = PrivateLinearRegression(epsilon=3, random_state=0)
    with pytest.raises(ValueError, match='labelled differently'): model.fit(mixed[['x']], mixed.y, unit=who)
    with pytest.raises(ValueError, match='labelled differently'): model.fit(rows[['x']].to_numpy(), rows.y, unit=who.iloc[order])
    model.fit(mixed[['x']], mixed.y, unit=who.iloc[order])
    model.fit(rows[['x']].to_numpy(), rows.y, unit=who)


def test_levels_in_another_case_are_asked_about():
    "Private a is not public A: the factor is never seen, and the advice spoke of rare levels only"
    rows = table(20_000)
    public = rows[:200].assign(region=rows.region[:200].str.upper())
    with pytest.warns(UserWarning, match='spelled alike in public and in private'):
        made = fit('y ~ x + region', rows[200:], public, rho=1., seed=0)
    assert made.labels[1] == 'region[T.SOUTH]'


# -------------------- the same level from every writer

def _levels_in(rows, encoding, **options):
    return EncodedRows(rows, encoding, **options).load()[0]


@pytest.mark.parametrize('t', ['>f8', '>i8', '>u8', '>f4', '<f8'])
def test_bytes_in_the_other_order_refuse_no_cell(t):
    "From 2^53 on a cell was picked, which pandas can't: the refusal told that it is there"
    encoding = Encoding.of('y ~ C(g)', levels={'g': [1, 2]}, other='missing')
    for far in (2, 2**60):
        g = np.array([1, 2, far], t)
        np.testing.assert_array_equal(_levels_in(pd.DataFrame({'g': g, 'y': 1.}), encoding)[:2, 0], [0, 1])
    assert Encoding.of('y ~ C(g)', pd.DataFrame({'g': np.array([1, 2]*3, t), 'y': np.arange(6.)})).plan['levels']['g']['levels'] == ['1', '2']


@pytest.mark.parametrize('levels', [['01', '02', '03'], ['1.10', '1.1', '1.20'], ['1e5', '2e5', '3e5'], ['1', '2', 'x']], ids=str)
def test_texts_that_are_levels_stay_text_in_public_csv(tmp_path, levels):
    "`01` became 1, which is no level: gaps were filled with the reference, and nothing said so"
    pd.DataFrame({'g': levels*20, 'y': np.arange(60.)}).to_csv(tmp_path/'public.csv', index=False)
    table = read_table(tmp_path/'public.csv', levels=level_texts({'g': levels}))
    made = Encoding.of('y ~ g', table, levels={'g': levels})
    for rows in (table, tmp_path/'public.csv'):
        np.testing.assert_array_equal(_levels_in(rows, made), np.tile(np.eye(3)[:, 1:], (20, 1)))
    numbers = read_table(tmp_path/'public.csv', levels=level_texts({'g': [1, 2, 3]}))
    assert pd.api.types.is_numeric_dtype(numbers.g) == (levels[-1] != 'x')


@pytest.mark.parametrize('cuts', [[-.5, 33.5, 66.5, 99], [0, 30, 65.5, 100], [-np.inf, 30, 60, np.inf],
                                  pd.to_datetime(['2020-01-01', '2020-02-01', '2020-03-01 12:00', '2021-01-01'], format='mixed')], ids=lambda c: str(c[0]))
def test_intervals_are_the_same_levels_in_csv(tmp_path, cuts):
    "`(0, 30]` was no `(0.0, 30.0]`, and a gap makes floats of all ends"
    g = pd.Categorical.from_codes([0, 1, 2]*4, pd.IntervalIndex.from_breaks(cuts))
    frame = pd.DataFrame({'g': g, 'y': np.arange(12.)})
    frame.to_csv(tmp_path/'rows.csv', index=False)
    text = frame.assign(g=frame.g.astype(str))
    for public in (frame, read_table(tmp_path/'rows.csv')):
        made = Encoding.of('y ~ g', public, other='missing')
        places = [made.plan['levels']['g']['levels'].index(level) for level in map(_level, g.categories)]
        for rows in (frame, text, tmp_path/'rows.csv', frame.assign(g=frame.g.astype(object))):
            A = _levels_in(rows, made)
            np.testing.assert_array_equal(np.c_[1 - A.sum(1), A][:, places], np.tile(np.eye(3), (4, 1)))


@pytest.mark.parametrize('levels, cells', [
    ([False, True], ['0.0', '1.0']), (['1', '2', 'refused'], ['1.0', '2.0']), (['1', '1.5', '2'], ['1.0', '1.5']), (['0', 'a'], ['0.0', 'a'])], ids=str)
def test_an_integer_beside_a_gap_is_the_level_that_it_was(levels, cells):
    "Where all levels were integers only; else one gap made the reference of every row"
    made = Encoding.of('y ~ C(g)', levels={'g': levels}, other='missing')
    A = _levels_in(pd.DataFrame({'g': [*cells, None, '01', '1.05'], 'y': 1.}), made)
    np.testing.assert_array_equal(A[:2, 0], [0, 1])
    assert np.isnan(A[2:]).all()


@pytest.mark.parametrize('t', [np.float16, np.float32])
def test_levels_in_short_floats_are_those_that_are_printed(t):
    cells, public = [.1, .2, .4], pd.DataFrame({'g': np.array([.1, .2, .4]*4, t), 'y': np.arange(12.)})
    for made in (Encoding.of('y ~ C(g)', public, other='missing'), Encoding.of('y ~ C(g)', levels={'g': cells}, other='missing')):
        assert made.plan['levels']['g']['levels'] == ['0.1', '0.2', '0.4']
        for g in (np.array(cells, t), cells, list(map(str, cells))):
            np.testing.assert_array_equal(_levels_in(pd.DataFrame({'g': g, 'y': 1.}), made), np.eye(3)[:, 1:])


def test_a_moment_is_the_same_in_every_zone():
    "DuckDB hands on those of the first meridian"
    moment = pd.Timestamp('2021-06-01 12:00:00.123456789', tz='Europe/Paris')
    assert {_level(v) for v in (moment, moment.tz_convert('UTC'), str(moment), moment.isoformat())} == {'2021-06-01T10:00:00.123456789+00:00'}
    assert _level('0001-01-01 00:30+01:00') == '0001-01-01T00:30:00+00:00' # Python has no day before


def test_a_file_keeps_its_decimal_commas(tmp_path):
    (tmp_path/'rows.csv').write_text('x;y\n1,5;2\n2,5;3\n')
    rows = EncodedRows(open_rows(tmp_path/'rows.csv', 'y', sep=';', decimal=','), Encoding.of('y ~ x'))
    np.testing.assert_array_equal(rows.load()[0][:, 0], [1.5, 2.5])


@pytest.mark.parametrize('cell', ['\xa012', '\x1c12', '12\u2003', '1\t2'])
def test_a_number_beside_an_odd_space_is_none_on_any_road(tmp_path, cell):
    frame = pd.DataFrame({'x': [cell, '7'], 'y': 1.})
    frame.to_csv(tmp_path/'rows.csv', index=False)
    for rows in (EncodedRows(frame, Encoding.of('y ~ x')), EncodedRows(tmp_path/'rows.csv', Encoding.of('y ~ x')), open_rows(tmp_path/'rows.csv', 'y')):
        np.testing.assert_array_equal(rows.load()[0][:, 0], [np.nan, 7])


def test_types_that_pandas_adds_to_arrow(tmp_path):
    "Their periods raised, in a folder even where nobody asks for the column"
    (tmp_path/'rows').mkdir()
    frame = pd.DataFrame({'p': pd.period_range('2020-01', periods=4, freq='M'), 'x': np.arange(4.), 'y': 1.})
    for name in 'ab': frame.to_parquet(tmp_path/'rows'/f'{name}.parquet')
    assert len(EncodedRows(tmp_path/'rows', Encoding.of('y ~ x')).load()[1]) == 8
    with pytest.raises(ValueError, match='must hold numbers, text'): EncodedRows(tmp_path/'rows', Encoding.of('y ~ p', levels={'p': ['2020-01', '2020-02']}))


@pytest.mark.parametrize('code, cells', [
    ([1, 2, 10], ['01', '02', '10']), ([.1, .2, .3], ['0.10', '0.20', '0.30']), ([0, 1], [False, True]), (np.array([.1, .2, .4], np.float32), [.1, .2, .4])], ids=str)
def test_an_earlier_fit_hands_on_levels_that_are_numbers(tmp_path, code, cells):
    "They became texts, and the next fit counted most rows for the reference"
    rng = np.random.default_rng(0)
    at = rng.integers(len(code), size=4000)
    rows = pd.DataFrame({'k': pd.Series(np.array(cells, object)[at]), 'y': 3.*at + rng.normal(size=4000)})
    public = pd.DataFrame({'k': np.array(code)[at[:90]], 'y': 3.*at[:90] + rng.normal(size=90)})
    first = fit('y ~ C(k)', rows, public, rho=2., seed=0)
    for earlier in (first, first.from_json(first.to_json())):
        again = fit('y ~ C(k)', rows, earlier, rho=2., seed=1)
        np.testing.assert_allclose(again.beta, 3.*np.arange(1, len(code)), atol=.2)
        assert abs(again.intercept) < .2


@pytest.mark.parametrize('levels', [['0.5', '1.0', '2.5'], ['0.50', '1.00', '2.50'], ['.5', '1', '2.5'], ['0.5', '1', '2.5']], ids=str)
def test_a_level_with_zeros_at_its_end_is_its_number(levels):
    "Public text of a column of floats matched no private number"
    made = Encoding.of('y ~ k', levels={'k': levels}, other='missing')
    for k in ([.5, 1., 2.5], ['0.5', '1.0', '2.5'], ['0.50', '1', '2.500'], [np.float32(.5), 1, 2.5]):
        if levels[0] != '.5': np.testing.assert_array_equal(_levels_in(pd.DataFrame({'k': pd.Series(k, dtype=object), 'y': 1.}), made), np.eye(3)[:, 1:])
    both = Encoding.of('y ~ k', levels={'k': ['1', '1.0', '1.10', '1.1']}, other='missing') # each is said
    np.testing.assert_array_equal(_levels_in(pd.DataFrame({'k': ['1', '1.0', '1.10', '1.1', '01'], 'y': 1.}), both)[:4], np.eye(4)[:, 1:])


@pytest.mark.parametrize('kind', ['float32', 'Float32', 'float[pyarrow]', 'halffloat[pyarrow]', 'Sparse[float32]', 'category'])
def test_short_floats_of_every_container_are_the_levels_that_they_print(kind):
    g = pd.Series(np.array([.1, .2, .4]*4, np.float16 if 'half' in kind else np.float32))
    g = g.astype('category') if kind == 'category' else g if kind == 'halffloat[pyarrow]' else g.astype(kind)
    if kind == 'halffloat[pyarrow]': g = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(g.to_numpy())))
    rows, want = pd.DataFrame({'g': g, 'y': np.arange(12.)}), np.tile(np.eye(3)[:, 1:], (4, 1))
    for made in (Encoding.of('y ~ C(g)', rows, other='missing'), *(Encoding.of('y ~ C(g)', levels={'g': levels}, other='missing') for levels in ([.1, .2, .4], ['0.1', '0.2', '0.4']))):
        np.testing.assert_array_equal(_levels_in(rows, made), want)


def test_intervals_of_durations_are_no_level():
    g = pd.Series([pd.Interval(pd.Timedelta(1), pd.Timedelta(2)), pd.Interval(pd.Timedelta(2), pd.Timedelta(3))], dtype=object)
    assert {*map(_level, g)} == {'\0'} and _level(pd.Period('2020-01-01 12:00', freq='h')) == _level('2020-01-01 12:00')


def test_a_float_of_a_long_code_is_no_level(tmp_path):
    "It may be any of several, and was a neighbour"
    code = 12345678901234567
    made = Encoding.of('y ~ C(g)', levels={'g': [code, code + 1, 5]}, other='missing')
    for cells in ([code, code + 1, 5], [str(code), str(code + 1), '5'], [float(code), float(code + 1), 5.]):
        A = _levels_in(pd.DataFrame({'g': pd.Series(cells, dtype=object), 'y': 1.}), made)
        np.testing.assert_array_equal(A, [[np.nan]*2, [np.nan]*2, [0, 1]] if isinstance(cells[0], float) else [[0, 0], [1, 0], [0, 1]])
    (tmp_path/'public.csv').write_text('g,x,y\n' + '123456789012345678901,1e20,1\n123456789012345678902,3,2\n5,0.5,3\n'*9)
    public = read_table(tmp_path/'public.csv')
    made = Encoding.of('y ~ C(g) + x', public, other='missing')
    np.testing.assert_array_equal(_levels_in(tmp_path/'public.csv', made)[:3, :2], [[0, 0], [1, 0], [0, 1]])
    assert public.x.dtype.kind == 'f'

