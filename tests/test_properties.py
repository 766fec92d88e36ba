"Hostile input at the exported functions: a finite result, or a ValueError or TypeError that quotes no private value, spends nothing and changes nothing"
import json
import math
import os
import pickle
import warnings
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from importlib import import_module
from inspect import signature
from numbers import Number

import numpy as np
import pandas as pd
import pytest
from hostile import TRACES, Broken, both, choice, count, data, flag, fraction, mostly, number, rows, seeds, square
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import example, leaks, public, said, shown

import dp_pmt
from dp_pmt import algorithms as al
from dp_pmt import anchored as an
from dp_pmt import glm as gl
from dp_pmt import cells as cl
from dp_pmt import checks as ck
from dp_pmt import datasets as ds
from dp_pmt import documents as do
from dp_pmt import mismatch as mm
from dp_pmt import noise as no
from dp_pmt import planner as pl
from dp_pmt import preconditioning as pc
from dp_pmt import privacy as pv
from dp_pmt import results as rs
from dp_pmt import rows as ro
from dp_pmt import theory as th

au, re = (import_module(f'dp_pmt.{m}') for m in ('audit', 'release')) # functions of the same names hide them
HUGE = 10**400
EXAMPLES = 10_000 if os.environ.get('SLOW') else 1000
CASES = {} # name of an exported function: how it is tried


# Private data in a wrong place: nothing of it in any message, warning, log or output

@pytest.mark.parametrize('name', public())
def test_private_data_is_not_quoted(name, tmp_path, monkeypatch):
    "An array, a frame, a list or a text as any parameter of any public function"
    monkeypatch.chdir(tmp_path) # a text may be taken for the path of a file to write
    if name == 'cli.main': pytest.skip('argparse ends the process, and quotes the command that its user typed')
    _, found = leaks(name, public()[name])
    assert found == []

@pytest.mark.parametrize('name', dp_pmt.__all__)
def test_it_runs(name, tmp_path, monkeypatch):
    "The example of each function that the package offers works, so that the parameters beyond the first wrong one are tried too"
    monkeypatch.chdir(tmp_path)
    f = getattr(dp_pmt, name)
    full = f'{f.__module__}.{f.__qualname__}'.removeprefix('dp_pmt.')
    error, text = said(f, example(full, f))
    assert error is None, text

# What may come out

def parts(x):
    "The numbers in a result, wherever they sit"
    if isinstance(x, (str, bytes, type(None), np.random.Generator)): return
    if isinstance(x, Number): yield np.asarray(x)
    elif isinstance(x, np.ndarray): yield x
    elif isinstance(x, (pd.DataFrame, pd.Series)): yield x.to_numpy()
    elif isinstance(x, dict): yield from (p for v in x.values() for p in parts(v))
    elif isinstance(x, (tuple, list)): yield from (p for v in x for p in parts(v))
    elif is_dataclass(x): yield from (p for f in fields(x) for p in parts(getattr(x, f.name)))
    else: yield from (p for v in vars(x).values() for p in parts(v))

def finite(out, kw):
    for p in parts(out): assert p.dtype.kind in 'biuf' and np.isfinite(p).all(), f'not finite: {out!r}'

def bound(out, kw): # infinity says that nothing is promised
    for p in parts(out): assert p.dtype.kind in 'biuf' and not np.isnan(p).any(), f'NaN: {out!r}'

def anything(out, kw): pass

def fit(out, kw):
    "A finite Fit that claims no more than was given, and can be shown and used"
    assert isinstance(out, rs.Fit) and out.beta.ndim == 1 and out.beta.dtype == float
    finite(out.beta, kw); finite([p for p in (out.release, out.path) if p is not None], kw)
    assert out.names is None or len(out.names) == len(out.beta) and not any('\n' in k for k in out.names) # names, not data
    if 'rho' in kw and out.private: assert 0 <= out.rho <= float(kw['rho'])*(1 + 1e-9)
    assert repr(out) and out._repr_html_() and np.isfinite(list(out.coef.values())).all()
    finite(out.predict(np.ones((2, len(out.beta)))), kw)
    pickle.loads(pickle.dumps(out))


def released(out, kw):
    "A finite Release within its budget, that can be handed over and read again"
    finite([out.Sigma, out.cross, out.yy, out.solve(), out.fit(lam=1.).all], kw)
    assert out.rho <= float(kw['rho'])*(1 + 1e-9) and (isinstance(out.fit().cov, str) or not np.isnan(out.fit().intervals().to_numpy()).any())
    assert np.array_equal(re.Release.from_json(out.to_json()).Sigma, out.Sigma)


# One call

def frozen(x):
    "Something to compare an argument with after the call"
    if isinstance(x, np.ma.MaskedArray): return frozen(np.ma.getdata(x)), frozen(np.ma.getmaskarray(x))
    if isinstance(x, np.ndarray): return x.dtype.str, x.shape, repr(x.tolist()) if x.dtype == object else x.tobytes()
    if isinstance(x, (pd.DataFrame, pd.Series)): return frozen(x.to_numpy()), repr(x.index), str(x.dtypes)
    if isinstance(x, (list, tuple)): return [frozen(v) for v in x]
    if isinstance(x, dict): return {k: frozen(v) for k, v in x.items() if isinstance(k, (str, int))}
    return None

def attempt(f, check, kw):
    before, ledgers = frozen(kw), [(b, list(b.ledger)) for b in kw.values() if isinstance(b, pv.Budget)]
    with warnings.catch_warnings():
        warnings.simplefilter('error') # a RuntimeWarning is a bug
        for w in (ck.PrivacyLeakWarning, rs.AdviceWarning): warnings.simplefilter('ignore', w)
        try: out = f(**kw)
        except (ValueError, TypeError, ImportError, Broken) as e:
            text = ''.join(shown(e))
            assert not any(t in text for t in TRACES), f'quotes a private value: {text}'
            assert all(b.ledger == was for b, was in ledgers), 'an error spent budget'
        else: check(out, kw)
    assert frozen(kw) == before, 'the input was modified'


# The registry: one line a function

def name_of(f): return f'{f.__module__}.{f.__qualname__}'.removeprefix('dp_pmt.')

def case(f, check=finite, share=1, call=None, also=None, **args):
    "Register `f`: strategies for its arguments, and `also` one for several at once; `call` stands for it where a plain call won't do"
    one = st.fixed_dictionaries(args)
    CASES[name_of(f)] = call or f, check, one if also is None else st.tuples(one, also).map(lambda t: t[0] | t[1]), share

rho, eta = number(1., .3, 20.), fraction()
ensemble, nonfinite = choice('iid', 'isometric'), choice('error', 'zero', 'zero')
positive = number(.3, 1., 2.5, 40.)

# checks
text = st.sampled_from(['x', '', 3, None])
case(ck.shown, anything, x=rows(plant=True), option=flag())
case(ck.label, anything, name=text, other=text)
case(ck.check_positive, name=text, x=number(), zero=flag())
case(ck.check_all, x=number(), y=number())
case(ck.check_fraction, name=text, x=fraction())
case(ck.check_integer, name=text, x=count(), least=st.integers(0, 5))
case(ck.check_choice, anything, call=lambda name, x: ck.check_choice(name, x, 'iid', 'isometric'), name=text, x=ensemble)
case(ck.check_rng, anything, rng=seeds())
case(cl.check_finite, name=text, x=rows(plant=True))
case(cl.to_floats, anything, block=rows(plant=True), name=st.just('X'))
case(cl.shape_of, anything, X=rows(plant=True), name=st.just('X'), ndim=st.sampled_from([1, 2]))
case(cl.as_matrix, share=4, X=rows(plant=True), name=st.just('X'), ndim=st.sampled_from([1, 2]))

# privacy
case(pv.largest_change, g=st.sampled_from([lambda r: np.outer(r, r), lambda r: r]), rows=rows(), replace=flag())
case(pv.renyi_gaussian, bound, alpha=number(1.5, 2, 64), shift=number(0, 1., 5.), sigma=positive)
case(pv.gaussian_sigma, sensitivity=positive, rho=rho)
case(pv.gaussian_mechanism, value=rows(1), sensitivity=positive, rho=rho, rng=seeds())
case(pv.symmetric_noise, d=count(1, 2, 5), sigma=positive, rng=seeds(), ensemble=ensemble)
case(pv.zcdp_to_eps, rho=number(1e-3, .1, 1, 40., 1e4), delta=number(1e-6, 1e-12, .1, 1e-300))
case(pv.gaussian_log_delta, bound, rho=number(1e-3, .1, 1, 40., 1e4), eps=number(0, .1, 3., 50.))
case(pv.gaussian_eps, rho=number(1e-3, .1, 1, 40., 1e4), delta=number(1e-6, 1e-12, .1, 1e-300))
case(pv.eps_to_rho, eps=number(0, .1, 3., 50.), delta=number(1e-6, 1e-12, .1, 1e-300), safe=flag())

def ledger(rho, weights, costs):
    "A budget under arbitrary use: what fails leaves no trace, and no more than rho is spent"
    b = pv.Budget(rho)
    for spend, xs in ((lambda x: b.split(*x), weights), (lambda x: b.spend(x, 'x'), costs), (b.spend_all, [dict(enumerate(costs))])):
        for x in xs:
            was = list(b.ledger)
            try: finite(spend(x) or 0, None)
            except (ValueError, TypeError): assert b.ledger == was
    assert b.spent <= b.rho*(1 + 1e-12) and b.left >= 0 and repr(b)
    return b
case(pv.Budget, share=4, call=ledger, rho=rho, weights=st.lists(st.lists(number(), max_size=3), max_size=2), costs=st.lists(number(.1, .2), max_size=4))

# preconditioning
case(pc.second_moment, X=rows(plant=True))
case(pc.geometry, bound, X=rows(plant=True), moment=flag())

def coordinates(B, y_B, A, y, beta, intercept):
    p = pc.PublicMoment(B, y_B, intercept)
    assert repr(p)
    return p.Sigma_B, p.inv_sqrt, p.transform(A, y), p.map_back(np.array([beta]*p.d))
case(pc.PublicMoment, share=4, call=coordinates, also=data(streams=0), beta=number(.3, 2., -1.), intercept=flag())
case(pc.public_rows, anything, 4, also=both())
case(pc.spectral_bounds, bound, n_B=count(), d=count(), eta=eta, C=positive)
case(pc.radius_A, n=count(), d=count(), eta=eta)
case(pc.radius_y, n=count(), eta=eta)
case(pc.clip_rows, X=rows(plant=True), r=positive)

def sums(A, y, B, y_B, r_A, r_y, nonfinite, whiten, intercept):
    p = pc.PublicMoment(B, y_B, intercept) if whiten else None
    m = pc.Moments.of(A, y, p, r_A, r_y, nonfinite)
    return m, m + m, m if p else m.whiten(pc.PublicMoment(B, y_B, intercept))
case(pc.Moments, share=8, call=sums, also=data(), r_A=positive, r_y=positive, nonfinite=nonfinite, whiten=flag(), intercept=flag())

# rows
case(ro.as_rows, anything, 4, also=data(public=False, n=True))
case(ro.names_of, anything, X=rows())
case(ro.check_header, anything, names=st.one_of(st.none(), st.lists(st.sampled_from(['a', '0', '1', '7314159.2', '7314159.2.1', 'Unnamed: 1', '', 'nan']))))

# algorithms
options = dict(rho=rho, rng=seeds(), nonfinite=nonfinite)
split = fraction()
ledgers = st.sampled_from([None, None, 'x', 1.]).flatmap(lambda x: st.builds(pv.Budget, st.sampled_from([.5, 100.])) if x == 1. else st.just(x))
case(al.ols, fit, 8, also=data(public=False), intercept=flag())
case(al.public_ols, fit, 4, also=both(), intercept=flag())
case(al.dp_pmtolse, fit, 30, also=data(n=True), **options, intercept=flag(), eta=eta, ensemble=ensemble, split=split, budget=ledgers)
case(al.dp_olse, fit, 15, also=data(public=False), **options, eta=eta, ensemble=ensemble, split=split, response_radius=choice('paper', 'scaled'))
case(al.dp_ssp, fit, 20, also=data(public=False), **options, intercept=flag(), split=split, r_A=number(None, None, 1., 10.), r_y=number(None, None, 1., 10.), budget=ledgers)
steps = number(1, 2, 5, wrong=[0, -1, 1.5, math.nan, 'x', None, [3]], odd=[True, np.int8(3), np.uint64(2)])
case(al.dope_gd, fit, 20, also=data(), **options, intercept=flag(), steps=steps, lr=number(None, None, .1), clip=number(None, None, 1.),
     clip_quantile=fraction(), start=mostly(choice('public', 'zero'), rows(1), rows(1)), budget=ledgers)
case(al.private_radius, counts=st.lists(st.integers(0, 1000), min_size=1, max_size=480).map(np.array), sd=st.sampled_from([.1, 1., 50.]))
case(al.gaussian_moments, n=count(5, 50, 1000), also=st.integers(1, 3).flatmap(lambda d: st.tuples(square(d), rows(1, sizes=(d,)))).map(lambda t: dict(Psi=t[0], beta=t[1])), noise=positive, rng=seeds())

# anchored
def _zero_or_one(y):
    "Numbers as responses of a logistic regression; what is none stays as it is"
    return (y > 0)*1. if isinstance(y, np.ndarray) and y.dtype.kind == 'f' else y

case(an.dp_anchored, fit, 30, lambda rng, safe, **kw: an.dp_anchored(**kw, rng=None if safe else rng, safe=safe), data(), **options, intercept=flag(), warn=flag(), safe=flag())

case(gl.dp_glm, fit, 20, lambda rng, safe, y_B, **kw: gl.dp_glm(**kw, y_B=_zero_or_one(y_B), rng=None if safe else rng, safe=safe), data(), **options, intercept=flag(), warn=flag(), safe=flag(), family=choice('binomial', 'poisson'))

# results and release: the safe one draws from the operating system, so its results differ from run to run, and the rules do not
pair = st.integers(1, 4).flatmap(lambda d: st.tuples(square(d), square(d))).map(lambda t: dict(S=t[0], b=t[1][0]))
case(re.solve_symmetric, also=pair)
case(rs.Fit, bound, 4, lambda beta, rho, X, delta: (f := rs.Fit(beta, rho, 'x'), repr(f), f.privacy(delta), f.predict(X)) and f.coef, beta=rows(1, often=1), rho=number(0., math.inf, 1.), X=rows(), delta=fraction())
case(re.release, released, 15, also=data(n=True), rho=number(1., .3, 20.), intercept=flag(), eta=eta, radius=number(None, None, 3.), weight=number(None, None, 1.), nonfinite=nonfinite)

def _releases():
    "Of two moments: hardly private, private, with names, with an intercept"
    rng = np.random.default_rng(0)
    A, B, beta = rng.normal(size=(300, 3)), rng.normal(size=(20, 3)), np.ones(3)
    named = pd.DataFrame(A, columns=list('abc'))
    return [al.dp_pmtolse(A, A @ beta, B, B @ beta, r, rng=0).release for r in (1e-6, 1., 1e4)] + [
        al.dp_ssp(named, A @ beta, 1., rng=0, r_A=3., r_y=5.).release,
        al.dp_pmtolse(A, A @ beta + 5, B, B @ beta + 5, 1., rng=0, intercept=True).release]

def _safe():
    "A release in integers, where OpenDP is there to make it"
    rng = np.random.default_rng(0)
    A, B, beta = rng.normal(size=(300, 3)), rng.normal(size=(20, 3)), np.ones(3)
    try: return [re.release(A, A @ beta, B, B @ beta, 1., intercept=i) for i in (False, True)]
    except ImportError: return []

FORGED = _releases() + _safe()
rel, sd = st.sampled_from(FORGED), number(None, None, 1.)
chosen = st.one_of(st.sampled_from([None, [0, 2], 'a', ['a', 'c'], [], [5], [0, 0], -1, [-1], [False, True]]), rows(1))
case(re.Release, bound, 8, lambda rel, columns, lam, residual_sd, level, X: (f := rel.fit(columns, lam, residual_sd), f.coef, f.predict(X), isinstance(f.cov, str) or f.intervals(level).to_numpy()) and f.all,
     rel=rel, columns=chosen, lam=st.one_of(number(0., .1, 5.), rows(1)), residual_sd=sd, level=fraction(), X=rows(plant=True))
case(re.combine, anything, call=lambda a, b: re.combine(a, b), a=rel, b=rel)
case(re.joint_weight, d=st.integers(1, 500))
case(rs.guarantee, anything, made=st.just('x'), rho=positive, delta=fraction(), noise=st.sampled_from([*no.NOISES, 'x']))
case(no.eps_of, rho=positive, delta=fraction(), kind=choice(*no.NOISES))

# audit
def gappy(D, rng, kind):
    "Mechanisms that give numbers, NaN, infinities, overflow or an error"
    if kind == 'error' and rng.random() < .3: raise ValueError("no")
    odd = {'nan': [math.nan, 1.], 'inf': [math.inf, -math.inf], 'huge': [1.7e308, -1.7e308]}.get(kind, [0.])
    return D + rng.normal(size=2), rng.choice(odd)
def audited(D, D_prime, kind, score, **kw):
    with np.errstate(invalid='ignore'): a = au.audit(lambda D, rng: gappy(D, rng, kind), D, D_prime, n_jobs=1, score=score, **kw)
    return [a.mu, a.eps, repr(a) and 0.]
def nothing_on_equal_data(out, kw):
    bound(out, kw)
    if kw['D'] == kw['D_prime'] and kw['conf'] == .999: assert max(out) <= .2, f'convicted on the same data: {out!r}'
scores = mostly(st.sampled_from([None, lambda X: X[:, -1], lambda X: X[:, 0], lambda X: np.sqrt(X[:, 0]), lambda X: X[:, 0]*math.nan]),
                st.sampled_from([3, lambda X: X, lambda X: None, lambda X: X[1:, 0]]))
case(au.audit, nothing_on_equal_data, 6, call=audited, D=st.sampled_from([0., 0., math.nan, 1e300]), D_prime=st.sampled_from([0., 0., 1., math.nan]),
     kind=st.sampled_from(['plain', 'nan', 'inf', 'huge', 'error']), score=scores,
     trials=number(100, 120, 400), delta=fraction(), conf=mostly(st.sampled_from([.9, .999, .999]), fraction()), seed=number(0, 7))
case(au.gaussian_tradeoff, bound, fpr=st.floats(0, 1), mu=st.floats(0, 50))
case(au.eps_bound, fp=st.integers(0, 50), fn=st.integers(0, 50), m=st.just(50), delta=st.floats(1e-12, .5), a=st.floats(1e-9, .1))
case(au.mu_bound, fp=st.integers(0, 50), fn=st.integers(0, 50), m=st.just(50), a=st.floats(1e-9, .1), pooled=flag())
case(au.worst_rows, r_A=positive, r_y=positive, sigma1=positive, sigma2=positive, d=count(2, 3))

# theory
ns = dict(n_A=count(100, 10_000), d=count(1, 3, 10), eta=eta)
norms = dict(beta_norm=positive, Sigma_norm=positive, Sigma_B_inv_norm=positive)
case(th.Gamma, n_A=count(), eta=eta)
case(th.delta_A, bound, **ns, C=positive)
case(th.Lambda, bound, Sigma_A=st.one_of(square(), rows()), n_A=count(), eta=eta)
case(th.sensitivities, bound, **ns)
case(th.noise_bounds, bound, **ns, rho_1=rho, rho_2=rho, C1=positive, C2=positive)
case(th.stability_pmt, bound, **ns, n_B=count(), rho_1=rho, C=positive)
case(th.error_bound_pmt, bound, **ns, n_B=count(), rho_1=rho, C=positive, C0=positive, **norms)
case(th.error_bound_direct, bound, **ns, n_B=count(), rho_1=rho, rho_2=rho, sigma_yB=positive, Sigma_B_inv_norm=positive, R=positive, C=positive, C1=positive, C2=positive)
case(th.first_order_error, bound, trace=positive, b_norm=positive, d=count(), sigma1=positive, sigma2=positive, ensemble=ensemble)
case(th.stability_ssp, bound, Sigma_A=st.one_of(square(), rows()), n_A=count(), rho_1=rho, eta=eta)
case(th.error_bound_ssp, bound, Sigma_A=square(2), Sigma=st.one_of(square(2), rows()), n_A=count(), rho_1=rho, eta=eta, beta_norm=positive, C=positive, C1=positive)

# mismatch
mus = st.one_of(rows(1), st.just([.5, 1., 2.]))
case(mm.relative_spectrum, Sigma_A=st.one_of(square(3), rows()), Sigma_B=square(3))
case(mm.whitened_bounds, bound, mu=mus, n_B=count(), eta=eta, C=positive)
case(mm.clip_room, bound, mu=mus, n_A=count(), eta=eta)
case(mm.stability_mismatch, bound, mu=mus, n_A=count(), n_B=count(), rho_1=rho, eta=eta, C=positive)
case(mm.error_bound_mismatch, bound, mu=mus, n_A=count(), n_B=count(), rho_1=rho, eta=eta, C=positive, C0=positive, **norms)
case(mm.mismatch_cost, bound, mu=mus, R=number(0., .5, 1.), ensemble=ensemble)
case(mm.rows_worth, bound, n_B=count(), d=count(), mu_min=positive, eta=eta, C=positive)

# planner
few = count(1, 5, 20)
case(pl.public_signal, share=2, also=both())
case(pl.predict_error, bound, 4, also=both(2), n_A=count(), rho=rho, eta=eta, split=split, ensemble=ensemble, draws=few, rng=seeds())
case(pl.rho_for, share=2, also=both(2), target_error=positive, n_A=count(), eta=eta, split=split, ensemble=ensemble, draws=few, rng=seeds())
case(pl.n_for, share=2, also=both(2), target_error=positive, rho=rho, eta=eta, split=split, ensemble=ensemble, draws=few, rng=seeds())
case(pl.optimal_split, d=count(), R=positive, ensemble=ensemble)

# datasets
case(ds.spectrum, d=count(1, 2, 5), kappa=number(1, 10., 1e6), shape=choice('geometric', 'linear'))
case(ds.gaussian_model, n_A=count(1, 20), n_B=count(1, 5), d=count(1, 3), kappa=number(1, 10.), rng=seeds(), shape=choice('geometric', 'linear'), beta=st.one_of(st.none(), rows(1)), noise=positive, design=choice('gaussian', 'uniform', 'rademacher', 'student'))
case(ds.standardize, X=rows())
case(ds.load_ccpp, source=choice('snapshot'), as_frame=flag())
case(ds.load_white_wine, source=choice('snapshot'), as_frame=flag())


# The tests

def examples(name):
    "Each function's part of EXAMPLES"
    return math.ceil(EXAMPLES*CASES[name][3]/sum(c[3] for c in CASES.values()))


@pytest.mark.parametrize('name', CASES)
def test_hostile_input(name):
    f, check, strategy, _ = CASES[name]
    @settings(max_examples=examples(name), derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def tried(kw): attempt(f, check, kw)
    tried()


@settings(max_examples=EXAMPLES//25, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 999), n=st.integers(3, 40), d=st.integers(1, 4), i=st.integers(0, 39), bad=st.sampled_from([math.nan, math.inf, -math.inf, 1e151, 1e200, -1.7e308]),
       where=st.sampled_from(['A', 'y', 'both']), size=st.sampled_from([0., 1., 1e6, 1e149]))
def test_a_poisoned_row_counts_as_a_replaced_one(seed, n, d, i, bad, where, size):
    "With nonfinite='zero' and the same noise, what is released moves by no more than the sensitivity, whatever stands in the row"
    rng = np.random.default_rng(seed); i %= n
    A, B = rng.normal(size=(n, d)), rng.normal(size=(d + 9, d)); y, y_B = rng.normal(size=n), rng.normal(size=d + 9)
    poisoned, replaced = (A.copy(), y.copy()), (A.copy(), y.copy())
    if where != 'y': poisoned[0][i, seed % d] = bad
    if where != 'A': poisoned[1][i] = bad
    replaced[0][i], replaced[1][i] = size*rng.normal(size=d), size
    run = lambda f, *args, **kw: [f(*data, *args, rho=1., rng=seed, nonfinite='zero', **kw) for data in (poisoned, replaced)]
    near = lambda a, b, most: np.linalg.norm(a - b) <= most*(1 + 1e-9) + 1e-12
    for r, s, fits in ((pc.radius_A(n, d, .05), pc.radius_y(n, .05), run(al.dp_pmtolse, B, y_B)), (2., 3., run(al.dp_ssp, r_A=2., r_y=3.))):
        a, b = (f.release for f in fits)
        assert near(a.Sigma, b.Sigma, r*r/n) and near(a.cross, b.cross, r*s/n) # zeros against a row on the sphere
    a, b = run(al.dope_gd, B, y_B, steps=1, clip=.7, lr=.1)
    assert near(a.path[1], b.path[1], .1*2*.7/n)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', rs.AdviceWarning); a, b = run(an.dp_anchored, B, y_B)
    assert np.isfinite([a.all, b.all]).all()


ESTIMATORS = [al.ols, al.public_ols, al.dp_pmtolse, al.dp_olse, al.dp_ssp, al.dope_gd, an.dp_anchored]

@pytest.mark.parametrize('f, which', [(f, k) for f in ESTIMATORS for k in 'AB' if k in signature(f).parameters], ids=lambda x: x if isinstance(x, str) else x.__name__)
def test_rows_must_be_labelled_alike(f, which):
    "A frame and a series whose labels differ, as after sorting one of them, are refused; the same labels in any order are fine"
    rng = np.random.default_rng(0)
    frames = {k: (pd.DataFrame(rng.normal(size=(30, 2))), pd.Series(rng.normal(size=30))) for k in 'AB'}
    def call(): return f(**{k: v for k, v in dict(A=frames['A'][0], y=frames['A'][1], B=frames['B'][0], y_B=frames['B'][1], rho=1., rng=0).items() if k in signature(f).parameters})
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        frames[which] = tuple(x[::-1] for x in frames[which]); call()
        frames[which] = frames[which][0], frames[which][1].sort_index()
        with pytest.raises(ValueError, match='labelled differently'): call()


def _public(n=9, d=2): rng = np.random.default_rng(1); return dict(B=rng.normal(size=(n, d)), y_B=rng.normal(size=n))
def _private(n=30, d=2): rng = np.random.default_rng(0); return dict(A=rng.normal(size=(n, d)), y=rng.normal(size=n))
def _moments(): return pc.Moments.of(**_private())

BROKE = { # what broke something on the way here, and what it did: function, arguments
    'NaN passed through the mechanism': (pv.gaussian_mechanism, dict(value=[math.nan], sensitivity=1., rho=1.)),
    'noise of sd 0 at a huge rho': (pv.gaussian_sigma, dict(sensitivity=1e-300, rho=1e150)),
    'noise overflowed': (pv.symmetric_noise, dict(d=2, sigma=1.7e308, rng=0)),
    'OverflowError from a huge int': (pv.renyi_gaussian, dict(alpha=2, shift=-HUGE, sigma=1.)),
    'ZeroDivisionError at rho 0': (pv.gaussian_log_delta, dict(rho=0, eps=0)),
    'NaN for NaN': (pv.gaussian_log_delta, dict(rho=1., eps=math.nan)),
    'infinite radius': (pc.radius_y, dict(n=1.7e308, eta=.5)),
    'NaN stayed NaN under the clip': (pc.clip_rows, dict(X=[[math.nan, 1.]], r=1.)),
    'complex lost its imaginary part': (pc.clip_rows, dict(X=np.array([[1 + 2j]]), r=1.)),
    'masked complex lost its imaginary part': (cl.as_matrix, dict(X=np.ma.array([[1 + 2j, 3]], mask=[[0, 1]]))),
    'longdouble overflowed with a warning': (cl.as_matrix, dict(X=np.array([['1e3000']], dtype='g'))),
    'bare Exception of pandas': (lambda b: pc.PublicMoment(**_public()).map_back(b), dict(b=pd.Series([1., 2, 3]))),
    'OverflowError from a huge radius': (pc.Moments.of, dict(**_private(), r_A=HUGE, r_y=1.)),
    'object sums from a Fraction as radius': (lambda **k: pc.Moments.of(**k, r_A=Fraction(1, 3), r_y=1.), _private()),
    'whitened sums overflowed to NaN': (lambda A, y: pc.Moments.of(A*1e149, y).whiten(pc.PublicMoment(A*1e-59, y)), _private()),
    'columns of a stream changed places': (al.ols, dict(A=[(pd.DataFrame({'a': [1., 2], 'b': [3., 5]}), [1., 2]), (pd.DataFrame({'b': [1., 2], 'a': [3., 5]}), [1., 2])])),
    'overflow warning from a huge bound': (al.dp_ssp, dict(**_private(), rho=1., r_A=1e150, rng=0)),
    'overflow warning in the descent': (al.dope_gd, dict(A=_private()['A']*1e80, y=_private()['y'], B=_public()['B']*1e80, y_B=_public()['y_B'], rho=1.)),
    'ZeroDivisionError at a huge rho': (an.dp_anchored, dict(**_private(), **_public(), rho=1.7e308)),
    'OverflowError in the privacy line': (lambda rho: rs.Fit(np.ones(2), rho, 'x').privacy(), dict(rho=HUGE)),
    'NaN coefficients in a Fit': (lambda beta: rs.Fit(beta, 1., 'x'), dict(beta=np.array([1., math.nan]))),
    'NaN moments from NaN coefficients': (al.gaussian_moments, dict(n=50, Psi=np.eye(2), beta=[1., math.nan], noise=1.)),
    'unknown ensemble taken for isometric': (th.first_order_error, dict(trace=1., b_norm=1., d=3, sigma1=1., sigma2=1., ensemble='IID')),
    'numpy overflow in float16': (th.noise_bounds, dict(n_A=np.float16(.5), d=1e100, rho_1=1., rho_2=1., eta=.1)),
    'singular population moment': (th.error_bound_ssp, dict(Sigma_A=np.eye(2), Sigma=np.zeros((2, 2)), n_A=100, rho_1=1., eta=.1, beta_norm=1.)),
    'plan at an underflowing rho': (pl.predict_error, dict(**_public(), n_A=100, rho=5e-324)),
    'constant columns became NaN': (ds.standardize, dict(X=np.ones((5, 2)))),
    'no rows became NaN': (ds.standardize, dict(X=np.empty((0, 2)))),
    'OverflowError from a huge kappa': (ds.spectrum, dict(d=3, kappa=HUGE)),
}

@pytest.mark.parametrize('what', BROKE)
def test_what_broke_once(what):
    f, kw = BROKE[what]
    attempt(f, bound, {k: pv.Budget(v.rho) if isinstance(v, pv.Budget) else v for k, v in kw.items()})


# Files

MAY = dict(names=[None], versions=[{}], statement=[], columns=[None, [1, 2], [1, 2, 3]], yy=[0, -1, .5, 7], cross=[[1, 2, 3]], delta=[.5],
           sens=[[1, 2]], public=[None], sigma1=[.5, 7], sigma2=[.5, 7], sigma3=[.5, 7])

def unseen(rel, was, key, value):
    "Is it a change that only a signature could show? The columns to fit, the noisy numbers themselves, more noise than promised, what floats take on trust"
    if value not in MAY.get(key, []): return False
    if key in ('sens', 'public', 'sigma1', 'sigma2', 'sigma3') and len(rel.sens) == 1: return False
    return rel.eps(value) == was['eps'] if key == 'delta' else value > was[key] if key.startswith('sigma') else True

def resealed(content):
    "The file with a checksum that fits"
    try: return do.seal(content)
    except ValueError: return json.dumps({**content, 'sha256': ''}) # infinity is no JSON

def tampered(rel, key, value, drop):
    "A file in which one entry was changed or left out, its checksum mended, is refused"
    was = json.loads(rel.to_json())
    was.pop('sha256')
    c = {k: v for k, v in was.items() if k != key} if drop else {**was, key: value}
    try: re.Release.from_json(resealed(c))
    except ValueError: return
    assert c == was or not drop and unseen(rel, was, key, value), f'a forged {key} was accepted: {value!r}'

ENTRIES = [k for k in json.loads(FORGED[0].to_json()) if k != 'sha256'] + ['x']
VALUES = [0, -1, .5, 7, 1e200, math.inf, HUGE, None, 'x', [], {}, [[1.]], True, [1, 2], [1, 2, 3], [[1, 2, 3]]*3]

@pytest.mark.parametrize('key', ENTRIES)
def test_a_forged_release_is_refused(key):
    "Every entry of every kind of release, by every value"
    for rel in FORGED:
        tampered(rel, key, None, True)
        for value in VALUES: tampered(rel, key, value, False)


def test_noise_made_small_is_refused():
    "All entries in agreement, but the noise a trillionth: the moments are too large for such a sensitivity"
    for rel in FORGED[1:]:
        c = json.loads(rel.to_json())
        c.pop('sha256')
        small = {k: c[k] and c[k]*1e-12 for k in ('sigma1', 'sigma2', 'sigma3') if k in c}
        for change in (dict(sens=None), dict(sens=[s*1e-12 for s in c['sens']], radius=c['radius'] and c['radius']*1e-6)):
            with pytest.raises(ValueError): re.Release.from_json(resealed({**c, **small, **change}))


SOURCES = ['', '[1, 2]', 'null', 'x'*5000, '\ufeff', 'a\nb', '\0', '.', 'nowhere', None, b'{}', {}, 3, '{"n": ' + '9'*9999 + '}']

@pytest.mark.parametrize('source', SOURCES, ids=lambda s: repr(s)[:12])
@pytest.mark.parametrize('kind', [re.Release, rs.Fit])
def test_what_is_no_file_of_ours_is_a_value_error(kind, source):
    with pytest.raises(ValueError) as e: kind.from_json(source)
    assert len(str(e.value)) < 300 # doesn't repeat the document


def test_a_headerless_release_warns():
    "A private row among the names is warned of, and not quoted"
    rel = replace(FORGED[1], names=['7314159.2', '1', '2.5'])
    with pytest.warns(ck.PrivacyLeakWarning) as seen: rel.to_json()
    assert not any(t in str(w.message) for w in seen for t in TRACES)


def test_a_release_warns_of_shortened_rows():
    "Matched public rows: silent; three times narrower: a warning"
    pytest.importorskip('opendp')
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5000, 3)), rng.normal(size=(60, 3))
    y, y_B = A @ np.ones(3) + rng.normal(size=5000), B @ np.ones(3) + rng.normal(size=60)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        re.release(A, y, B, y_B, 1.).fit().intervals()
    with pytest.warns(rs.AdviceWarning, match='clipped'): re.release(A, y, B/3, y_B/3, 1.).fit().intervals()


def test_a_table_of_arrow_gives_its_names_not_its_data():
    import pyarrow as pa
    table = pa.table({'age': [1., 2, 3], 'dose': [7314159.2, 1, 4]})
    assert al.ols(table, [1., 2, 4]).names == ['age', 'dose']
