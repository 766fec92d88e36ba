"Logistic regression at its worst pair of rows: the sensitivity is reached, and an audit finds the noise that was promised"
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from fastcore.basics import AttrDict

from dp_pmt.audit import audit
from dp_pmt.crossing import Run
from dp_pmt.glm import WeightedAnchor, dp_glm, glm_anchor, score_limit
from dp_pmt.losses import Logistic, Poisson
from dp_pmt.preconditioning import view
from dp_pmt.privacy import Budget, eps_to_rho
from dp_pmt.queries import JointMoments

AT = WeightedAnchor(np.eye(2), 1., np.array([0., -1000.]), loss=Logistic())
QUERY = JointMoments(AT, 2., 2.)
OTHERS = np.array([[.3, 0.], [-1., 1e-3], [.5, -1e-3]]), np.array([1., 0., 1.])
LONG = np.array([4., 0.]), 0.  # weighted row of norm 2, score of -2
SURE = np.array([2., .02]), 1. # a yes that was thought impossible: no weight, score of 2


def rows(row):
    "The others and one more"
    return np.vstack([OTHERS[0], row[0]]), np.r_[OTHERS[1], row[1]]


def test_the_sensitivity_is_reached():
    one, two = (QUERY.floats(view(*rows(r), AT))/QUERY.unit(2) for r in (LONG, SURE))
    moved = np.linalg.norm(one - two)
    assert .999*math.sqrt(5) < moved <= QUERY.sensitivity()


def test_an_audit_finds_the_noise():
    rho = .5
    def released(data, rng):
        run = Run(*data, rho, rng)
        (sums, _), = run.ask((QUERY, rho, 'moments'))
        return sums.ravel()
    found = audit(released, rows(LONG), rows(SURE), 6000, seed=1, n_jobs=1)
    assert .8*math.sqrt(2*rho) < found.mu <= math.sqrt(2*rho)


def people(n=2000, n_B=100, seed=4):
    "Rows with a probability of a yes, the public ones last"
    X = np.random.default_rng(seed).normal(size=(n + n_B, 3))
    p = 1/(1 + np.exp(2 - X @ [1., -.5, .3]))
    y = (np.random.default_rng(seed + 1).uniform(size=n + n_B) < p)*1.
    return X[n_B:], y[n_B:], X[:n_B], y[:n_B]


def test_weights_mind_the_row_and_not_the_response():
    A, y, B, y_B = people()
    at = replace(glm_anchor(B, y_B, Logistic(), True), limit=1.5)
    yes, no = (view(A, np.full(len(A), t), at) for t in (1., 0.))
    np.testing.assert_array_equal(yes.a, no.a)
    longest = max(np.sqrt(seen.q2)[i]*abs(seen.r[i]) for seen in (yes, no) for i in range(len(A)))
    assert 1.4 < longest <= 1.5*(1 + 1e-12)
    free = view(A, y, replace(at, limit=math.inf))
    assert (np.sqrt(free.q2)*np.abs(free.r)).max() > 3


def test_weights_are_the_same_along_other_directions():
    A, y, B, y_B = people()
    at = replace(glm_anchor(B, y_B, Logistic(), True), limit=1.5)
    exact = replace(at, P=None)
    turned = at.along(at.V[:2])
    for how in (False, True):
        mine, other = view(A, y, exact, exact=how), view(A, y, turned, exact=how)
        np.testing.assert_allclose(other.a, mine.a[:2], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(other.r, mine.r, rtol=1e-4, atol=1e-4)


def test_integers_of_weighted_rows_depend_on_the_row_alone():
    A, y, B, y_B = people(60)
    at = replace(glm_anchor(B, y_B, Logistic(), True).rounded(), limit=1.5)
    query = JointMoments(at, 2., 1.5, 2**16)
    alone = sum(query.integers(view(A[i:i+1], y[i:i+1], at, exact=True)) for i in range(60))
    np.testing.assert_array_equal(alone, query.integers(view(A, y, at, exact=True)))


def test_no_weight_where_noise_costs_nothing():
    reach, info = np.linspace(1, 5, 100), np.ones(100)
    few, many = (score_limit(info, .1, reach, per, 5.) for per in (10., 1e6))
    assert few < 4 and many > 5


ODD = dict(separated=lambda A, y: (A[:, 0] > 0)*1., constant=lambda A, y: 0*y + 1, zeros=lambda A, y: 0*y,
           rare=lambda A, y: np.full(len(y), 1e-6), huge=lambda A, y: 1e9*y, below=lambda A, y: -y)


@pytest.mark.parametrize('family', ['binomial', 'poisson'])
@pytest.mark.parametrize('name', ODD)
def test_odd_private_responses_give_a_finite_fit(name, family):
    A, y, B, y_B = people()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        made = dp_glm(A, ODD[name](A, y), B, y_B, 1., 0, family=family, intercept=True, warn=False)
    assert np.isfinite(made.all).all() and np.isfinite(made.cov).all()


@pytest.mark.parametrize('name', ['separated', 'constant', 'zeros', 'rare'])
def test_odd_public_responses_are_survived(name):
    A, y, B, y_B = people()
    made = dp_glm(A, y, B, ODD[name](B, y_B), 10., 0, intercept=True, warn=False)
    assert np.abs(made.all - [1., -.5, .3, -2.]).max() < .5


def test_public_responses_that_cannot_be_are_refused():
    A, y, B, y_B = people()
    for family, t in (('binomial', 1e9*y_B), ('binomial', -y_B), ('poisson', -y_B)):
        with pytest.raises(ValueError, match='public rows'):
            dp_glm(A, y, B, t, 1., 0, family=family, intercept=True)


def test_a_fit_says_where_it_is_not_sure():
    "A level with hardly a yes: noise leaves it open, and the fit says so"
    A, y, B, y_B = people(20_000)
    level = np.arange(len(y)) % 20 == 0
    y = np.where(level, 0., y)
    few = np.arange(100) % 20 == 0
    y_B = np.where(few, 0., y_B)
    made = dp_glm(np.c_[A, level], y, np.c_[B, few], y_B, .002, 0, intercept=True, warn=False)
    assert any('linear predictor' in text for text in made.advice)
    plain = dp_glm(A, np.where(level, 1., y), B, y_B, 5., 0, intercept=True, warn=False)
    assert not any('linear predictor' in text for text in plain.advice)


def long_tailed(seed, n=5000, n_B=100):
    "Counts whose means vary by a lognormal factor, the public ones last"
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_B, 3))
    y = rng.poisson(np.exp(.5 + X @ [.3, -.2, 0.])*rng.lognormal(-.72, 1.2, n + n_B))*1.
    return X[n_B:], y[n_B:], X[:n_B], y[:n_B]


def robust_errors(A, y):
    "Standard errors of maximum likelihood, HC0"
    Z = np.c_[A, np.ones(len(A))]
    return sm.GLM(y, Z, family=sm.families.Poisson()).fit(cov_type='HC0').bse


def test_a_tail_of_counts_is_in_the_standard_errors():
    "Noise hides it in the residuals, not in the scores: the sampling part was 0.6 of what it is without privacy"
    found = []
    for seed in range(8):
        A, y, B, y_B = long_tailed(seed)
        made = dp_glm(A, y, B, y_B, eps_to_rho(3., 1e-6), seed, family='poisson', intercept=True, warn=False)
        found.append(np.sqrt(np.diag(made.cov - made.cov_privacy))/robust_errors(A, y))
    assert (np.median(found, axis=0) > .72).all() and np.median(found) < 1.2


def test_what_clips_take_off_adds_up_over_the_steps():
    "Four equal steps that lose the same tail are as biased as each of them: averaging is no help"
    at = glm_anchor(*people()[2:], Poisson(), True)
    M = 50.*np.eye(at.k)
    def counted(steps):
        records = [AttrDict(noise=3., bias=.5)]*steps
        return at.biased(AttrDict(records=records, M=M))[0, 0]
    each = (.5*3/50)**2 # of one step, which the belief has as 1/steps of it
    np.testing.assert_allclose(counted(4), (.8**2 - 1/4)*each)
    np.testing.assert_allclose(counted(1), 0)
    assert counted(5) > counted(2) > 0


@pytest.mark.parametrize('high', [1e15, 1e18, 1e20])
def test_counts_that_floats_can_not_add_are_refused(high):
    "Newton's equations of public counts of 1e20 were singular, after the private rows were paid for"
    rng = np.random.default_rng(0)
    A, B, budget = rng.normal(size=(2000, 2)), rng.normal(size=(40, 2)), Budget(1.)
    call = lambda: dp_glm(A, rng.poisson(1., 2000), B, np.full(40, high), .5, 0, family='poisson', warn=False, budget=budget)
    if high <= 1e15: assert np.isfinite(call().beta).all()
    else:
        with pytest.raises(ValueError, match='1e15 at most'): call()
        assert budget.spent == 0
