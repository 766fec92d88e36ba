"""Attacks on every query of the package, also those that an estimator keeps to itself

In fixed point a row's numbers follow from that row alone; then so must its integers. A sum over columns
in floats would break that, because its rounding depends on the kernel, and the kernel on the place."""
import pkgutil
import warnings
from importlib import import_module

import dp_pmt
import numpy as np
import pandas as pd
import pytest
from dp_pmt.algorithms import dp_olse, ols, public_ols
from dp_pmt.anchored import ColumnSizes, Misfits, _columns, _ZeroScores, dp_anchored, public_anchor
from dp_pmt.checks import PrivacyLeakWarning
from dp_pmt.glm import Deviances, dp_glm, glm_anchor
from dp_pmt.inference import _SQUARES, Influences, PersonInfluences, ResidualSizes, mean_square
from dp_pmt.knowledge import ColumnBins, ColumnShapes, ColumnTails, Knowledge
from dp_pmt.losses import loss_of
from dp_pmt.preconditioning import Coordinates, view
from dp_pmt.privacy import Budget
from dp_pmt.queries import (ClippedGradients, Count, CrossMoment, FineSizes, GramMatrix, Histogram, JointMoments,
                            Query, ResidualSquares, RowSizes, ScoreSizes, SecondMoment)
from dp_pmt.release import release
from dp_pmt.results import Fit

ABSTRACT = {Query, Histogram}
FAMILIES = 'gaussian', 'binomial', 'poisson'


def kinds(kind=Query):
    "All kinds of queries that the package has"
    for sub in kind.__subclasses__(): yield from (sub, *kinds(sub))


def anchor(family, intercept, d=5):
    "Public coordinates of a family"
    rng = np.random.default_rng(d)
    B = rng.normal(size=(60, d)) + .5
    eta = B @ rng.normal(size=d)/3
    y = {'gaussian': eta + rng.normal(size=60), 'binomial': rng.random(60) < 1/(1 + np.exp(-eta)),
         'poisson': rng.poisson(np.exp(eta))}[family].astype(float)
    at = public_anchor(B, y, intercept) if family == 'gaussian' else glm_anchor(B, y, loss_of(family), intercept)
    return at.rounded()


def queries(at, family):
    "One of each kind"
    p, k = len(at.start), at.k
    curve = np.linspace(1, .1, 481)
    plain, which = Coordinates(), (0, 2, p - at.intercept)
    made = [RowSizes(at), ScoreSizes(at, 2.), _ZeroScores(at, 2.), FineSizes(at, 'rows'), FineSizes(at, 'responses'),
            ResidualSizes(at), Count(at), SecondMoment(at, 1.5), CrossMoment(at, 1.5, .7), GramMatrix(at, 1.5, 1.2),
            JointMoments(at, 2., .8, 2**20), ClippedGradients(at, np.full(k, .1), .8), ResidualSquares(at, .9),
            Influences(at, 1.3, curve, 4.), Influences(at, 1.3, None, 4.),
            ColumnSizes(_columns(at, np.arange(3))), Misfits(at.along(np.eye(p)[:2]), .9),
            ColumnShapes(plain, which), ColumnBins(plain, which, ((0., 1.), (-2., 2.), (-1., 3.))),
            ColumnTails(plain, which, (1., .5, 2.)), at.zero_scores(2.), at.misfits([0*at.start, at.start + 1], 2.)]
    if family != 'gaussian': made.append(Deviances(Coordinates(np.eye(p)[:2], center=at.center), loss_of(family), 16.))
    return made


class Guarded(np.ndarray):
    "Rows whose sums over columns must be sums of integers, which are exact in any order"
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [np.asarray(x) for x in inputs]
        if method == 'reduce' and ufunc is np.add or ufunc in (np.matmul, np.vecdot): check_whole(*plain)
        if out is not None: kwargs['out'] = tuple(np.asarray(x) for x in out)
        made = getattr(ufunc, method)(*plain, **kwargs)
        return made.view(Guarded) if isinstance(made, np.ndarray) else made

    def __array_function__(self, f, types, args, kwargs):
        if f in (np.dot, np.inner, np.einsum, np.tensordot, np.vdot):
            check_whole(*(np.asarray(x) for x in args if isinstance(x, np.ndarray)))
        made = super().__array_function__(f, types, args, kwargs)
        return made.view(Guarded) if type(made) is np.ndarray else made


def check_whole(*factors):
    "Sums of products of these are exact in any order, if they are integers"
    for x in factors: assert np.array_equal(x, np.rint(x)), 'floats are added over columns or rows'


def rows(d=5, m=64):
    "Rows, some far out and some that don't count"
    rng = np.random.default_rng(3)
    A, y = rng.normal(size=(m, d))*10.**rng.integers(-3, 4, (m, 1)), np.abs(rng.normal(size=m))
    A[5], A[11, 0], y[13], A[17], y[19] = 1e160, np.nan, np.inf, 0, -1e30
    return A, y


@pytest.mark.parametrize('intercept', [False, True])
@pytest.mark.parametrize('family', FAMILIES)
def test_only_integers_are_added(family, intercept):
    "Nothing that a query adds up, over columns or rows, is a sum of floats; and a row alone adds the same"
    at = anchor(family, intercept)
    A, y = rows()
    with np.errstate(all='ignore'):
        for query in queries(at, family):
            seen = view(A, y, query.at, exact=True)
            guarded = seen._replace(**{k: getattr(seen, k).view(Guarded) for k in ('a', 'q2', 'r')})
            total = np.asarray(query.integers(guarded))
            alone = sum(query.integers(view(A[i:i+1], y[i:i+1], query.at, exact=True)) for i in range(len(y)))
            assert np.array_equal(total, alone), type(query).__name__


def test_the_guard_finds_sums_of_floats():
    x = np.array([[.5, 1], [2, 3]]).view(Guarded)
    for f in (lambda: x @ x, lambda: np.ones(2) @ x, lambda: x.sum(0), lambda: np.einsum('ij,ij->j', x, x),
              lambda: np.dot(x, x)):
        with pytest.raises(AssertionError, match='floats'): f()
    assert np.array_equal(np.rint(x) @ np.rint(x), np.rint(np.asarray(x)) @ np.rint(np.asarray(x)))


@pytest.mark.parametrize('intercept', [False, True])
@pytest.mark.parametrize('family', FAMILIES)
def test_a_row_is_seen_alike_everywhere(family, intercept):
    "Also with the weights and means of other losses: alone, in a block, in either order of memory"
    at = anchor(family, intercept, 12)
    A, y = rows(12)
    with np.errstate(all='ignore'):
        block = view(A, y, at, exact=True)
        column = view(np.asfortranarray(A), y, at, exact=True)
        for i in range(len(y)):
            one = view(A[i:i+1].copy(), y[i:i+1].copy(), at, exact=True)
            for v in (block, column):
                assert np.array_equal(v.a[:, i], one.a[:, 0]) and v.r[i] == one.r[0] and v.q2[i] == one.q2[0]


def test_every_kind_of_query_is_here():
    for module in pkgutil.iter_modules(dp_pmt.__path__):
        if module.name != '__main__': import_module(f'dp_pmt.{module.name}')
    own = {kind for kind in kinds() if kind.__module__.startswith('dp_pmt')} - ABSTRACT
    here = {type(q) for family in FAMILIES for q in queries(anchor(family, True), family)}
    assert own - {PersonInfluences} == here


def test_a_fit_that_is_not_private_is_no_public_knowledge():
    "Else the next fit would state a guarantee that doesn't hold; nothing is spent"
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 2))
    y = A @ [1., 2] + rng.normal(size=300)
    budget = Budget(1.)
    with pytest.warns(PrivacyLeakWarning): leaks = dp_olse(A, y, 1., rng=0)
    for leak in (ols(A, y), leaks, leaks.release):
        with pytest.raises(ValueError, match='NOT private'): dp_anchored(A, y, leak, None, 1., rng=0, budget=budget)
        with pytest.raises(ValueError, match='NOT private'): Knowledge.of_fit(leak)
    assert budget.ledger == []
    Knowledge.of_fit(public_ols(A, y)) # rows that are public


@pytest.mark.parametrize('kind', [Influences, PersonInfluences])
@pytest.mark.parametrize('T', [6., 1e9])
def test_a_far_response_beside_a_row_of_zeros(kind, T):
    "Zero times infinity is no number, and as an integer it would be the smallest that there is"
    at = Coordinates(np.eye(2), 1., np.zeros(2))
    query = kind(at, 1e-5, np.ones(481), T)
    with np.errstate(all='ignore'):
        seen = view(np.zeros((1, 2)), np.array([9e149]), at, exact=True)
        got = query.gather(seen, np.ones(1))[0] if query.gathers else query.integers(seen)
    assert got.tolist() == [0]*4


def test_influences_of_tiny_rows_are_clipped():
    "Squares of squares underflow: a Poisson row with a mean of exp(-600) moved the sum by 6e9 bounds"
    from dp_pmt.inference import Influences
    from dp_pmt.preconditioning import Coordinates, View
    a = np.full((3, 1), 1e-125)
    query = Influences(Coordinates(), 1., np.ones(481), 5.)
    moved = query.integers(View(a, (a*a).sum(axis=0), np.array([1e149])))
    assert np.linalg.norm(moved.astype(float)) <= query.sensitivity(True, 'add/remove')


PERSONS = dict(unit=np.arange(4000)//2, neighbours='add/remove')

@pytest.mark.parametrize('private', [dict(), PERSONS], ids=['rows', 'persons'])
def test_a_fit_that_left_a_column_out_is_handed_over(private):
    "All was spent, then the file was refused: nobody knew the largest bias, in standard errors, of no coefficient"
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4000, 3)), rng.normal(size=(60, 3))
    A[:, 2] = B[:, 2] = 0
    made = dp_anchored(A, A.sum(1) + rng.normal(size=4000), B, B.sum(1), 3., safe=True, warn=False, **private)
    assert np.isinf(made.cov[2, 2]) and np.isfinite(made.clip_bias)
    assert 'nan' not in str(made.summary())
    assert Fit.from_json(made.to_json()).clip_bias == made.clip_bias


def test_residuals_that_are_lost_in_noise_stop_no_fit():
    "Nearly all was spent, then a root of a negative number stopped it"
    noisy = np.random.default_rng(0).normal(size=(2000, len(_SQUARES)))
    found = [mean_square(counts, .2, 10.) for counts in noisy]
    assert any(x is None for x in found)
    assert all(x is None or x[0] > 0 for x in found)


@pytest.mark.parametrize('more, says, not_so', [
    ({}, 'counts all rows, also those with a gap.', 'is not released'),
    (dict(neighbours='add/remove'), 'a noisy number of the rows that count', 'all rows')], ids=['replace', 'add/remove'])
def test_the_summary_says_which_rows_are_counted(more, says, not_so):
    "It said that the number of gaps is not released, below a table that had it, and beside a count without them"
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({'x': rng.normal(size=4100)})
    frame['y'] = frame.x + rng.normal(size=4100)
    public, private = frame[:100], frame[100:].reset_index(drop=True)
    private.loc[::2, 'x'] = np.nan
    made = dp_pmt.fit('y ~ x', private, public, epsilon=4., **more)
    text = str(made.summary())
    assert says in text and not_so not in text
    assert (made.used or made.n) < 2500


# -------------------- public sides by name

@pytest.mark.parametrize('kind', ['linear', 'logistic'])
def test_public_columns_in_another_order_are_refused_by_estimators(kind):
    "They were taken by position: slopes of 2 and -3 became -3 and 2"
    from dp_pmt.sklearn_api import PrivateLinearRegression, PrivateLogisticRegression
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=['age', 'dose'])
    y = (X.age - X.dose > 0)*1
    make = PrivateLinearRegression if kind == 'linear' else lambda **o: PrivateLogisticRegression(classes=(0, 1), **o)
    for B in (X[['dose', 'age']], X.rename(columns={'age': 'a'})):
        budget = Budget(1.)
        with pytest.raises(ValueError, match='in the same order'): make(public=(B[:50]*1., y[:50]), epsilon=1., budget=budget).fit(X, y)
        assert budget.spent == 0
    for B, y_B in ((X[:50]*1., y[:50].to_frame()), (X[:50].to_numpy()*1., y[:50].tolist())):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            assert make(public=(B, y_B), epsilon=3., random_state=0).fit(X, y).coef_.shape[-1] == 2


def test_means_of_a_moment_go_by_their_names():
    S = pd.DataFrame(np.diag([1., 4.]), ['a', 'b'], ['a', 'b'])
    for means in ([10., 20.], pd.Series({'b': 20., 'a': 10.}), dict(b=20., a=10.)):
        np.testing.assert_array_equal(Knowledge.of_moment(S, means, (0., 1.)).moment.means, [10, 20])
    with pytest.raises(ValueError, match='names of the columns of S'): Knowledge.of_moment(S, dict(a=1., c=2.))


def test_public_rows_cut_out_of_private_ones_in_every_form():
    "Only the pair (B, y_B) was looked at"
    rng = np.random.default_rng(0)
    A = rng.normal(size=(400, 2))
    y = A[:, 0] + rng.normal(size=400)
    forms = [(A[:60], y[:60]), (A[:60], None), (A, None), (Knowledge.of_rows(A[:60], y[:60]), None), (Knowledge.of_rows(A[:60]), None)]
    for B, y_B in forms:
        with pytest.warns(PrivacyLeakWarning, match='cut out of the private rows'): dp_anchored(A, y, B, y_B, 1., 0, warn=False)
    pl = pytest.importorskip('polars')
    table = pl.DataFrame({'rows': A[:, 0], 'origin': A[:, 1], 'y': y})
    for B, y_B in ((table, 'y'), (Knowledge.of_rows(table, 'y'), None)):
        with pytest.warns(PrivacyLeakWarning, match='cut out of the private rows'): dp_anchored(table, 'y', B, y_B, 1., 0, warn=False)
    for B, y_B in ((A[:60].copy(), None), (Knowledge.of_rows(A[:60].copy()), None)):
        with warnings.catch_warnings():
            warnings.simplefilter('error', PrivacyLeakWarning)
            dp_anchored(A, y, B, y_B, 1., 0, warn=False)


def test_nothing_is_paid_for_sums_that_64_bits_cannot_hold():
    rng = np.random.default_rng(0)
    A, budget = rng.normal(size=(300, 2)), Budget(1.)
    with pytest.raises(ValueError, match='64-bit'):
        release(A, A[:, 0], A[:50]*1., A[:50, 0]*1. + rng.normal(size=50), 2e-8, unit=np.arange(300)//2, per_unit=1000, budget=budget)
    with pytest.raises((ValueError, TypeError)): dp_glm(A, (A[:, 0] > 0)*1., A[:50]*1., (A[:50, 0] > 0)*1., 1., warn=pd.NA, budget=budget)
    assert budget.spent == 0
