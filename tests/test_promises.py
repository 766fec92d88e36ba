"""What holds for every estimator and for the package as a whole.

A table of estimators by promises: each cell works, or raises an error that says why it can't be. A new option is one
function in PROMISES, a new estimator one line in ESTIMATORS. `pytest -s tests/test_promises.py` prints the table.
Beside it, what only the syntax tree shows: who draws noise, and which functions open alike."""
import ast
import json
import warnings
from collections import defaultdict
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import dp_pmt
from dp_pmt import Budget, Fit
from dp_pmt.documents import schema
from dp_pmt.knowledge import Knowledge
from dp_pmt.privacy import no_less
from dp_pmt.rows import Rows

PACKAGE = Path(dp_pmt.__file__).parent
BETA = np.array([1., -2., .5])
RHO = 5.


# -------------------- rows

def draw(n, seed, level=0.):
    "Rows and responses; `level` is the intercept"
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 3)) + level/10
    return A, A @ BETA + level + rng.normal(size=n)


class Setting:
    "Private and public rows, and the options that go with them"
    def __init__(self, level=0.):
        self.level = level
        self.A, self.y = draw(4000, 0, level)
        self.B, self.y_B = draw(80, 1, level)


# -------------------- the rows of the table: (setting, options) -> Fit

def released(s, safe=True, **options):
    "A fit from a release, which is always safe"
    assert safe
    return dp_pmt.release(s.A, s.y, s.B, s.y_B, RHO, **options).fit()


def with_public(estimator):
    def fit(s, safe=False, **options):
        seed = {} if safe else dict(rng=0)
        return estimator(s.A, s.y, s.B, s.y_B, RHO, safe=safe, **seed, **options)
    return fit


def without_public(estimator):
    def fit(s, safe=False, **options):
        seed = {} if safe else dict(rng=0)
        return estimator(s.A, s.y, RHO, safe=safe, **seed, **options)
    return fit


NAMES = 'x0', 'x1', 'x2'


def moment(s):
    "Means and covariances of the public rows, as a table publishes them"
    both = np.cov(s.B.T, s.y_B, ddof=0)
    response = s.y_B.mean(), s.y_B.std()
    return Knowledge.of_moment(both[:3, :3], s.B.mean(0), response, both[:3, 3], len(s.B))


def earlier(s):
    "An earlier fit of other rows, with an intercept where there is one"
    level = 20. if abs(s.y_B.mean()) > 5 else 0.
    return dp_pmt.dp_anchored(*draw(3000, 2, level), s.B, s.y_B, 1., 0, intercept=bool(level), warn=False)


FORMS = {
    'nothing': lambda s: None,
    'rows': lambda s: s.B,
    'moment': moment,
    'table': lambda s: Knowledge.of_table(dict(zip(NAMES, BETA)), dict.fromkeys(NAMES, .1), 1.),
    'rows and table': lambda s: Knowledge.of_rows(s.B) + FORMS['table'](s),
    'earlier': earlier,
    'simulated': lambda s: Knowledge.of_rows(s.B, s.y_B, count=30),
    'ranges': lambda s: {'x0': (-4, 6), 'x1': (-4, 6), 'x2': 2., 'y': (-30, 50)},
}


def knowing(estimator, form):
    "An estimator with public knowledge of another form, or none"
    def fit(s, safe=False, **options):
        seed = {} if safe else dict(rng=0)
        return estimator(s.A, s.y, FORMS[form](s), None, RHO, safe=safe, **seed, **options)
    return fit


def logistic(s, safe=False, **options):
    "A logistic regression of whether responses are above the level, on rows that keep the coefficients"
    def yes(A, y):
        return A*1.7, (y > s.level)*1.
    A, y = s.A, s.y
    if isinstance(A, list):
        A = [yes(*pair) for pair in A]
    elif y is not None:
        A, y = yes(A, y)
    B, y_B = yes(s.B, s.y_B)
    seed = {} if safe else dict(rng=0)
    return dp_pmt.dp_glm(A, y, B, y_B, RHO, safe=safe, **seed, **options)


logistic.intercept = 0.

ESTIMATORS = {
    'dp_anchored': with_public(dp_pmt.dp_anchored),
    **{f'dp_anchored({form})': knowing(dp_pmt.dp_anchored, form) for form in FORMS},
    'dp_pmtolse(moment)': knowing(dp_pmt.dp_pmtolse, 'moment'),
    'dp_glm(binomial)': logistic,
    'dp_pmtolse': with_public(dp_pmt.dp_pmtolse),
    'dp_ssp': without_public(dp_pmt.dp_ssp),
    'dope_gd': with_public(dp_pmt.dope_gd),
    'release().fit()': released,
    'dp_olse': without_public(dp_pmt.dp_olse),
    'ols': lambda s, **options: dp_pmt.ols(s.A, s.y, **options),
    'public_ols': lambda s, **options: dp_pmt.public_ols(s.B, s.y_B, **options),
}
READS_PUBLIC = ('dp_anchored', 'dp_glm(binomial)', 'dp_pmtolse', 'dope_gd', 'release().fit()', 'public_ols')


# -------------------- the columns: what a call must do

PROMISES = {}


def promise(name):
    "Register a promise: a function of an estimator that checks that it is kept"
    def register(f):
        PROMISES[name] = f
        return f
    return register


@promise('intercept')
def has_intercept(estimator):
    fit = estimator(Setting(level=20.), intercept=True)
    assert abs(fit.intercept - getattr(estimator, 'intercept', 20.)) < 3 and list(fit.coef)[-1] == '(intercept)'


@promise('safe noise')
def is_safe(estimator):
    assert 'discrete' in estimator(Setting(), safe=True).noise


@promise('intervals')
def has_intervals(estimator):
    table = estimator(Setting()).intervals()
    assert list(table.columns) == ['coef', 'se', 'low', 'high']
    assert (table.se > 0).all() and (table.low < table.high).all()


@promise('file')
def has_file(estimator):
    fit = estimator(Setting())
    back = Fit.from_json(fit.to_json())
    assert back.coef == fit.coef and back.statement() == fit.statement()


@promise('stream')
def takes_streams(estimator):
    "Blocks of rows, their number not told"
    s, t = Setting(), Setting()
    t.A, t.y = [(s.A[i:i+900], s.y[i:i+900]) for i in range(0, 4000, 900)], None
    t.B, t.y_B = (t.A[:1], None) if estimator is ESTIMATORS['public_ols'] else (s.B, s.y_B)
    np.testing.assert_allclose(estimator(t).beta, estimator(s).beta, atol=.3)


@promise('statement')
def has_statement(estimator):
    fit = estimator(Setting())
    text = fit.statement(1e-6)
    if not fit.private:
        assert 'NOT private' in text
    elif fit.rho:
        assert f'epsilon = {no_less(fit.eps(1e-6))} and delta = 1e-06' in text
    else:
        assert 'public rows only' in text


@promise('budget=')
def charges_a_ledger(estimator):
    ledger = Budget(1.5*RHO)
    fit = estimator(Setting(), budget=ledger)
    assert fit.budget.spent > 0 and ledger.spent == pytest.approx(fit.budget.spent)
    locked = Setting()
    locked.A, locked.y = Locked(), None
    with pytest.raises(ValueError, match='budget exhausted'):
        estimator(locked, budget=ledger)
    assert Locked.opened == 0 and ledger.spent == pytest.approx(fit.budget.spent)


class Locked(Rows):
    "Rows that nobody may read, and a count of those who tried"
    opened = 0
    _n = 4000

    def blocks(self, skip=0):
        Locked.opened += 1
        raise AssertionError("a row was read")


@promise("nonfinite='zero'")
def counts_as_zeros(estimator):
    s = Setting()
    s.A[7] = np.nan
    zero = Setting()
    zero.A[7] = zero.y[7] = 0
    fit, same = (estimator(x, nonfinite='zero') for x in (s, zero))
    np.testing.assert_allclose(fit.beta, same.beta, atol=0 if fit.noise == 'gaussian' else .3)


@promise('unit=')
def protects_persons(estimator):
    fit = estimator(Setting(), unit=np.repeat(np.arange(1000), 4))
    assert (fit.who.unit, fit.who.units, fit.who.per_unit) == ('person', 1000, 1)
    assert abs(fit.n - 1000) < 60 and np.abs(fit.beta - BETA).max() < .6
    assert 'Each person is protected' in fit.statement() and 'of 1,000 persons' in fit.statement()
    back = Fit.from_json(fit.to_json())
    assert back.who == fit.who and 'one person replaced' in repr(back)


@promise('neighbours=')
def adds_or_removes(estimator):
    fit = estimator(Setting(), neighbours='add/remove')
    assert fit.who.pair == 'one row added or removed' and fit.budget.spent <= RHO*(1 + 1e-9)
    assert 'number of rows' in dict(fit.budget.ledger) and abs(fit.n - 4000) < 60
    assert 'about' in fit.statement() and Fit.from_json(fit.to_json()).who == fit.who


# -------------------- cells that can't be, and what their error must say

REFUSED = {
    ('dope_gd', 'intervals'): 'no standard errors',
    ('dp_olse', 'intercept'): 'has no intercept',
    ('dp_olse', 'safe noise'): 'not private whatever its noise',
    ('dp_olse', 'intervals'): 'not private',
    ('dp_olse', 'file'): 'is not private',
    ('dp_olse', 'budget='): 'not private',
    ('ols', 'safe noise'): 'adds no noise',
    ('ols', 'intervals'): 'any regression package',
    ('ols', 'file'): 'is not private',
    ('ols', 'budget='): 'not private',
    ('public_ols', 'safe noise'): 'nothing to protect',
    ('dp_olse', 'unit='): 'not private whatever its noise',
    ('dp_olse', 'neighbours='): 'not private whatever its noise',
    ('ols', 'unit='): 'adds no noise',
    ('ols', 'neighbours='): 'adds no noise',
    ('public_ols', 'unit='): 'nothing to protect',
    ('public_ols', 'neighbours='): 'nothing to protect',
    ('public_ols', 'intervals'): 'any regression package',
    ('public_ols', 'stream'): 'give the public responses',
    ('public_ols', 'budget='): 'nothing to protect or to spend',
    ('public_ols', "nonfinite='zero'"): 'must be finite',
}


def cell(name, promised):
    "'yes', or the error's text; an error that is not a refusal is raised"
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            PROMISES[promised](ESTIMATORS[name])
        except ValueError as e:
            return str(e)
    return 'yes'


@pytest.fixture(scope='module')
def table():
    "Every cell, computed once"
    cells = {name: {p: cell(name, p) for p in PROMISES} for name in ESTIMATORS}
    short = {name: {p: 'yes' if x == 'yes' else 'why not' for p, x in row.items()} for name, row in cells.items()}
    with pd.option_context('display.width', 200, 'display.max_columns', None):
        print('', pd.DataFrame(short).T, sep='\n')
        for name, row in cells.items():
            for p, x in row.items():
                if x != 'yes':
                    print(f'{name}, {p}: {x}')
    return cells


def test_every_promise_is_kept_or_refused(table):
    "Each cell works, or raises an error that says why it can't be; one that works leaves REFUSED"
    wrong = {}
    for name, row in table.items():
        for p, x in row.items():
            why = REFUSED.get((name, p))
            if (x != 'yes') if why is None else (why not in x):
                wrong[name, p] = x
    assert not wrong


def test_every_estimator_is_in_the_table():
    "What the package offers as a fit has a row"
    fits = {k for k in dp_pmt.__all__ if k.startswith('dp_') or k in ('ols', 'public_ols', 'dope_gd', 'release')}
    assert fits == {name.partition('(')[0] for name in ESTIMATORS}


@pytest.mark.parametrize('name', READS_PUBLIC)
def test_public_rows_are_validated_once(name):
    load = Rows.load
    with patch.object(Rows, 'load', autospec=True, side_effect=load) as loaded, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        ESTIMATORS[name](Setting())
    assert loaded.call_count == 1


# -------------------- files

def test_files_have_the_published_form():
    "Real files of every estimator that has some, by the jsonschema package"
    forms = {kind: Draft202012Validator(schema(kind)) for kind in ('fit', 'release')}
    seen = 0
    for name, estimator in ESTIMATORS.items():
        for options in ({}, dict(intercept=True), dict(safe=True)):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                try:
                    fit = estimator(Setting(), **options)
                    text = fit.to_json(key='a key of sixteen or more')
                except ValueError:
                    continue
            forms['fit'].validate(json.loads(text))
            seen += 1
            if fit.release is not None:
                forms['release'].validate(json.loads(fit.release.to_json()))
                seen += 1
    assert seen > 15
    assert not forms['fit'].is_valid({**json.loads(text), 'rho': -1})


def test_fits_can_be_compared():
    a, b = (ESTIMATORS['dp_anchored'](Setting()) for _ in range(2))
    assert a == a and a != b and (a == 3) is False


# -------------------- the syntax tree

def modules():
    "Syntax trees by module"
    paths = (p for p in sorted(PACKAGE.glob('*.py')) if not p.name.startswith('_'))
    return {p.stem: ast.parse(p.read_text(encoding='utf-8')) for p in paths}


def functions(tree, above=''):
    "Pairs (qualified name, node) of all functions, nested ones too"
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = f'{above}.{node.name}' if above else node.name
            if isinstance(node, ast.FunctionDef):
                yield name, node
            yield from functions(node, name)
        else:
            yield from functions(node, above)


def own(node):
    "Nodes of a function without those of functions inside it"
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from own(child)


DRAWS = {'symmetric_noise', 'gaussian_mechanism', 'make_gaussian', 'make_laplace', 'make_noise', 'GaussianNoise',
         'DiscreteNoise', 'standard_normal', 'normal', 'laplace', 'multivariate_normal', 'wishart'}


def draws_noise(node):
    "The name of a noise function, if the node refers to one"
    if isinstance(node, ast.Name):
        return node.id if node.id in DRAWS else None
    if not isinstance(node, ast.Attribute):
        return None
    if node.attr in DRAWS:
        return node.attr
    if node.attr in ('add', 'ready'):
        holder = getattr(node.value, 'attr', getattr(node.value, 'id', ''))
        return f'noise.{node.attr}' if 'noise' in holder.lower() else None
    return None


CROSSING = { # the road of private sums, in order
    'privacy.gaussian_mechanism': "the mechanism, for pages and experiments",
    'privacy.symmetric_noise': "the ensembles",
    'noise.GaussianNoise.ready': "noise in floats",
    'noise.GaussianNoise._matrix': "noise in floats",
    'noise.DiscreteNoise.ready': "noise in integers",
    'noise.make_noise': "chooses between the two",
    'crossing.Run.__init__': "a run has one noise",
    'crossing.Run.check_ready': "makes it ready",
    'crossing.Run._noisy': "THE function that adds noise to private sums",
}
OTHERS = { # module or function: why it may draw
    'datasets': "simulated rows",
    'benchmark': "simulated rows to time",
    'planner': "simulated noise; no rows at all",
    'theory': "simulated noise; no rows at all",
    'algorithms.gaussian_moments': "moments of simulated rows",
    'mismatch': "simulated rows and noise",
    'costs': "simulated rows",
    'front._World.rows': "a rehearsal on rows drawn from public knowledge",
    'rivals': "other people's estimators, for comparison only",
    'glm_comparison._objective_perturbation': "likewise",
    'glm_comparison._gradient_descent': "likewise",
    'glm_comparison._double_noise': "likewise",
}


def found():
    "Functions that refer to a noise function: {module.function: names}"
    out = defaultdict(set)
    for module, tree in modules().items():
        everything = [*functions(tree), ('', tree)]
        for name, node in everything:
            nodes = own(node) if name else (n for stmt in tree.body for n in _outside(stmt))
            for n in nodes:
                drawn = draws_noise(n)
                if drawn:
                    out[f'{module}.{name}'.rstrip('.')].add(drawn)
    return dict(out)


def _outside(stmt):
    "Nodes of a statement that stand outside of functions; imports don't draw"
    if isinstance(stmt, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
        return
    yield stmt
    for child in ast.iter_child_nodes(stmt):
        yield from _outside(child)


def test_one_function_adds_noise_to_private_sums():
    known = {*CROSSING, *OTHERS}
    strangers = {where: names for where, names in found().items()
                 if where not in known and where.partition('.')[0] not in known}
    assert not strangers, f"noise is drawn outside of the crossing: {strangers}"


def test_the_crossing_is_where_it_was():
    "Each place on the road exists, and noise is added in one"
    places = found()
    assert set(CROSSING) - {'privacy.gaussian_mechanism', 'privacy.symmetric_noise'} <= set(places)
    assert [where for where, names in places.items() if 'noise.add' in names] == ['crossing.Run._noisy']


SHARED = 5 # calls


def opening(node):
    "Names of the first calls of a function, in the order in which they are written"
    calls = sorted((n for n in own(node) if isinstance(n, ast.Call)), key=lambda n: (n.lineno, n.col_offset))
    names = [getattr(n.func, 'attr', getattr(n.func, 'id', '')) for n in calls]
    return tuple(names[:SHARED]) if len(names) >= SHARED else None


def test_no_two_functions_open_alike():
    alike = defaultdict(list)
    for module, tree in modules().items():
        for name, node in functions(tree):
            alike[opening(node)].append(f'{module}.{name}')
    alike.pop(None)
    assert {k: v for k, v in alike.items() if len(v) > 1} == {}
