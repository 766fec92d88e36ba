"Hostile input at every exported function: a finite result, or a ValueError or TypeError that quotes no private value, spends nothing and changes nothing"
import json
import math
import os
import pickle
import pkgutil
import traceback
import warnings
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from importlib import import_module
from inspect import signature
from itertools import product
from numbers import Number
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from hostile import TRACES, Broken, both, choice, count, data, flag, fraction, mostly, number, rows, seeds, square
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dp_pmt
from dp_pmt import algorithms as al
from dp_pmt import anchored as an
from dp_pmt import audit as au
from dp_pmt import benchmark as bm
from dp_pmt import checks as ck
from dp_pmt import datasets as ds
from dp_pmt import experiments as ex
from dp_pmt import mismatch as mm
from dp_pmt import planner as pl
from dp_pmt import preconditioning as pc
from dp_pmt import privacy as pv
from dp_pmt import release as re
from dp_pmt import scale as sc
from dp_pmt import theory as th

HUGE = 10**400
EXAMPLES = 10_000 if os.environ.get('SLOW') else 1000
CASES, EXEMPT = {}, {} # name of an exported function: how it is tried; why it is not


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
    assert isinstance(out, al.Fit) and out.beta.ndim == 1 and out.beta.dtype == float
    finite(out.beta, kw); finite([p for p in (out.release, out.path) if p is not None], kw)
    assert out.names is None or len(out.names) == len(out.beta) and not any('\n' in k for k in out.names) # names, not data
    if 'rho' in kw: assert 0 <= out.rho <= float(kw['rho'])*(1 + 1e-9)
    assert repr(out) and out._repr_html_() and np.isfinite(list(out.coef.values())).all()
    finite(out.predict(np.ones((2, len(out.beta)))), kw)
    pickle.loads(pickle.dumps(out))


def released(out, kw):
    "A finite Release within its budget, that can be handed over and read again"
    finite([out.Sigma, out.cross, out.yy, out.solve(), out.ridge(1.)], kw)
    assert out.rho <= float(kw['rho'])*(1 + 1e-9) and not np.isnan(out.intervals().to_numpy()).any()
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

def shown(e):
    "What a user sees of an error: its text and that of the errors it is displayed with"
    while e is not None:
        yield ''.join(traceback.format_exception_only(e))
        e = e.__cause__ or (None if e.__suppress_context__ else e.__context__)

def attempt(f, check, kw):
    before, ledgers = frozen(kw), [(b, list(b.ledger)) for b in kw.values() if isinstance(b, pv.Budget)]
    with warnings.catch_warnings():
        warnings.simplefilter('error') # a RuntimeWarning is a bug
        for w in (ck.PrivacyLeakWarning, an.AnchorWarning, re.ShorteningWarning, re.InterceptWarning): warnings.simplefilter('ignore', w)
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

def exempt(why, *fs): EXEMPT.update({name_of(f): why for f in fs})

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
case(ck.check_finite, name=text, x=rows(plant=True))
case(ck.to_floats, anything, block=rows(plant=True), name=st.just('X'))
case(ck.shape_of, anything, X=rows(plant=True), name=st.just('X'), ndim=st.sampled_from([1, 2]))
case(ck.as_matrix, share=4, X=rows(plant=True), name=st.just('X'), ndim=st.sampled_from([1, 2]))

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
case(pc.as_matrix, share=4, X=rows(plant=True), name=st.just('X'), ndim=st.sampled_from([1, 2]))
case(pc.second_moment, X=rows(plant=True))
case(pc.geometry, bound, X=rows(plant=True), moment=flag())

def coordinates(B, y_B, A, y, beta, intercept):
    p = pc.PublicMoment(B, y_B, intercept); assert repr(p)
    return p, p.transform(A, y), p.map_back(np.array([beta]*p.d))
case(pc.PublicMoment, share=4, call=coordinates, also=data(streams=0), beta=number(.3, 2., -1.), intercept=flag())
case(pc.spectral_bounds, bound, n_B=count(), d=count(), eta=eta, C=positive)
case(pc.radius_A, n=count(), d=count(), eta=eta)
case(pc.radius_y, n=count(), eta=eta)
case(pc.clip_rows, X=rows(plant=True), r=positive)
case(pc.blocks_of, anything, 4, lambda A, y: list(pc.blocks_of(A, y)), data(public=False))
case(pc.check_pass, bound, r_A=positive, r_y=positive, nonfinite=nonfinite)
case(pc.whiten_block, call=lambda A, y, r, nonfinite: [pc.whiten_block(*b, None, *pc.check_pass(r, r, nonfinite), nonfinite) for b in pc.blocks_of(A, y)], also=data(public=False), r=positive, nonfinite=nonfinite)

def sums(A, y, B, y_B, r_A, r_y, nonfinite, whiten, intercept):
    p = pc.PublicMoment(B, y_B, intercept) if whiten else None
    m = pc.Moments.of(A, y, p, r_A, r_y, nonfinite)
    return m, m + m, m if p else m.whiten(pc.PublicMoment(B, y_B, intercept))
case(pc.Moments, share=8, call=sums, also=data(), r_A=positive, r_y=positive, nonfinite=nonfinite, whiten=flag(), intercept=flag())

# algorithms
options = dict(rho=rho, rng=seeds(), nonfinite=nonfinite)
split = fraction()
case(al.ols, fit, 8, also=data(public=False))
case(al.public_ols, fit, 4, also=both())
case(al.dp_pmtolse, fit, 30, also=data(n=True), **options, intercept=flag(), eta=eta, ensemble=ensemble, split=split)
case(al.dp_olse, fit, 15, also=data(public=False), **options, eta=eta, ensemble=ensemble, split=split, response_radius=choice('paper', 'scaled'))
case(al.dp_ssp, fit, 20, also=data(public=False), **options, split=split, r_A=number(None, None, 1., 10.), r_y=number(None, None, 1., 10.))
case(al.dope_gd, fit, 20, also=data(), **options, steps=number(1, 2, 5, wrong=[0, -1, 1.5, math.nan, 'x', None, [3]], odd=[True, np.int8(3), np.uint64(2)]), lr=number(None, None, .1), clip=number(None, None, 1.),
     clip_quantile=fraction(), start=mostly(choice('public', 'zero'), rows(1), rows(1)))
case(an.dp_anchored, fit, 30, lambda rng, safe, **kw: an.dp_anchored(**kw, rng=None if safe else rng, safe=safe), data(), **options, intercept=flag(), warn=flag(), safe=flag())
moments = st.builds(lambda A, y: pc.Moments.of(A, y), *[st.just(np.random.default_rng(0).normal(size=s)) for s in ((30, 3), 30)])
case(al.privatize, share=4, m=moments, sens_AA=positive, sens_Ay=positive, rho_1=rho, rho_2=rho, budget=st.builds(pv.Budget, st.sampled_from([.5, 1., 2., 100., 1e100])), rng=seeds(), ensemble=ensemble)
pair = st.integers(1, 4).flatmap(lambda d: st.tuples(square(d), square(d))).map(lambda t: dict(S=t[0], b=t[1][0]))
case(al.solve_symmetric, also=pair)
case(al.Release, call=lambda S, b: al.Release(S, b, 9, 1., 1., 1.).solve(), also=pair)
case(al.Fit, bound, 4, lambda beta, rho, X, delta: (f := al.Fit(beta, rho, 'x'), repr(f), f.privacy(delta), f.predict(X)) and f.coef, beta=rows(1, often=1), rho=number(0., math.inf, 1.), X=rows(), delta=fraction())
case(al.names_of, anything, X=rows())
case(al.check_names, anything, names=st.sampled_from([None, ['a'], ['0', '1']]), X=rows(plant=True), whose=st.just('A'), other=st.just('B'))
case(re.fitted_names, anything, also=data().map(lambda k: dict(A=k['A'], B=k['B'])), intercept=flag())
case(re.check_intercept, anything, also=both(), intercept=flag())
case(re.picked, anything, names=st.sampled_from([None, ['a'], ['0', '1']]), X=rows())
case(pc.with_intercept, anything, names=st.sampled_from([None, ['a'], ['(intercept)']]))
case(al.check_public, anything, also=data().map(lambda k: dict(A=k['A'], B=k['B'])))
case(al.n_rows, also=data(public=False, n=True))
case(al.twice, anything, also=data(public=False))
case(al.norm_histogram, share=4, also=data(public=False), nonfinite=nonfinite)
case(al.private_radius, counts=st.lists(st.integers(0, 1000), min_size=1, max_size=480).map(np.array), rho=rho, rng=seeds())
case(al.clipped_gradients, call=lambda X, beta, clip: al.clipped_gradients(X, X[0], beta[:1].repeat(len(X)), X[:, 0], ck.check_positive('clip', clip)), X=rows(often=0), beta=rows(1, often=0), clip=positive)
case(al.dope_start, call=lambda B, y_B, start: al.dope_start(pc.PublicMoment(B, y_B), B, y_B, start), also=both(1), start=st.one_of(choice('public', 'zero'), rows(1)))
case(al.gaussian_moments, n=count(5, 50, 1000), also=st.integers(1, 3).flatmap(lambda d: st.tuples(square(d), rows(1, sizes=(d,)))).map(lambda t: dict(Psi=t[0], beta=t[1])), noise=positive, rng=seeds())

case(al.spent, anything, rho=number(0., math.inf, 1.), private=flag(), delta=fraction())
case(al.fit_statement, anything, call=lambda rho, delta, n: al.Fit(np.ones(2), rho, 'x', n=n).statement(delta), rho=number(0., math.inf, 1.), delta=fraction(), n=st.sampled_from([None, 7]))
case(pc.block_sum, share=4, call=lambda A, y, threads: pc.block_sum(lambda X, t: np.array([len(t)]), A, y, threads), also=data(public=False), threads=st.sampled_from([None, 1, 2]))
case(pc.rows_of, anything, 4, also=data(public=False), y=st.sampled_from(['0', 'x', '', None, 3]))
case(pc.load_rows, anything, 4, also=both())

# release: the safe one draws from the operating system, so its results differ from run to run, and the rules do not
case(re.release, released, 15, also=data(n=True), rho=number(1., .3, 20.), intercept=flag(), eta=eta, radius=number(None, None, 3.), weight=number(None, None, 1.), nonfinite=nonfinite)
def _releases():
    rng = np.random.default_rng(0); A, B, beta = rng.normal(size=(300, 3)), rng.normal(size=(20, 3)), np.ones(3)
    return [al.dp_pmtolse(A, A @ beta, B, B @ beta, r, rng=0).release for r in (1e-6, 1., 1e4)] + [al.dp_ssp(pd.DataFrame(A, columns=list('abc')), A @ beta, 1., rng=0, r_A=3., r_y=5.).release, al.dp_pmtolse(A, A @ beta + 5, B, B @ beta + 5, 1., rng=0, intercept=True).release]
rel = st.sampled_from(_releases()); sd = number(None, None, 1.)
case(re.ridge, rel=rel, lam=st.one_of(number(0., .1, 5.), rows(1)))
case(re.subset, anything, rel=rel, columns=st.one_of(st.sampled_from([[0, 2], 'a', ['a', 'c'], [], [5], [0, 0], None, -1, [-1], [False, True]]), rows(1)))
case(re.predict, rel=rel, X=rows(plant=True))
case(re.covariance, bound, rel=rel, residual_sd=sd)
case(re.residual_variance, rel=rel, residual_sd=sd)
case(re.intervals, bound, rel=rel, level=fraction(), residual_sd=sd)
case(re.eps, rel=rel, delta=fraction())
case(re.statement, anything, rel=rel, delta=fraction())
case(re.to_json, anything, rel=rel, delta=fraction())
case(re.noise_covariance, bound, v=rows(1, often=0, sizes=(3,)), sigma1=st.just(1.), sigma2=st.just(2.), ensemble=st.sampled_from(['iid', 'isometric']))

def _safe():
    "A release in whole numbers, where OpenDP is there to make it"
    rng = np.random.default_rng(0); A, B, beta = rng.normal(size=(300, 3)), rng.normal(size=(20, 3)), np.ones(3)
    try: return [re.release(A, A @ beta, B, B @ beta, 1., intercept=i) for i in (False, True)]
    except ImportError: return []

MAY = dict(names=[None], versions=[{}], statement=['x'], columns=[None, [1, 2], [1, 2, 3]], yy=[0, -1, .5, 7], cross=[[1, 2, 3]], delta=[.5], sens=[[1, 2]], public=[None], sigma1=[.5, 7], sigma2=[.5, 7])
def unseen(rel, was, key, value):
    "Is it a change that only a signature could show? Text, the columns to fit, the noisy numbers themselves, another true claim; of a release in floats also what is taken on trust, and more noise than promised"
    if value not in MAY.get(key, []): return False
    if key in ('sens', 'public', 'sigma1', 'sigma2') and len(rel.sens) == 1: return False
    return rel.eps(value) == was['eps'] if key == 'delta' else value > was[key] if key.startswith('sigma') else True

def tampered(rel, key, value, drop):
    "A file in which one entry was changed or left out, its checksum mended, is refused"
    was = json.loads(rel.to_json()); was.pop('sha256')
    c = {k: v for k, v in was.items() if k != key} if drop else {**was, key: value}
    text = json.dumps({**c, 'sha256': re._checksum(c) if value != math.inf else ''}) # infinity is no JSON
    try: re.from_json(text)
    except ValueError: return 0
    assert c == was or not drop and unseen(rel, was, key, value), f'a forged {key} was accepted: {value!r}'
    return 0
FORGED, ENTRIES = _releases() + _safe(), [k for k in json.loads(_releases()[0].to_json()) if k != 'sha256'] + ['x']
VALUES = [0, -1, .5, 7, 1e200, math.inf, HUGE, None, 'x', [], {}, [[1.]], True, [1, 2], [1, 2, 3], [[1, 2, 3]]*3]
case(re.from_json, finite, 6, call=tampered, rel=st.sampled_from(FORGED), key=st.sampled_from(ENTRIES), value=st.sampled_from(VALUES), drop=flag())
case(re.row_length, rel=st.sampled_from([*_releases(), replace(_releases()[1], radius=3., weight=1., yy=2., sigma3=1.)]))
case(re.check_header, anything, names=st.one_of(st.none(), st.lists(st.sampled_from(['a', '0', '1', '7314159.2', '7314159.2.1', 'Unnamed: 1', '', 'nan']))))
case(re.eps_of, rho=positive, delta=fraction(), noise=choice('gaussian', 'discrete gaussian'))
case(re.joint_weight, d=st.integers(1, 500))
case(re.discrete_gaussian, anything, sens=positive, rho=rho)
exempt('a part of release or from_json, tried with them', re.check_whole_sums, re.basis, re.labels, pc.uncentre, re.check_meaning, re.form_of, re.integer_rows, re.integer_gram)
case(re.guarantee, anything, rows=text.map(str), rho=positive, e=positive, delta=fraction(), noise=st.just('gaussian'), ledger=st.just([]))

# audit
def gappy(D, rng, kind):
    "Mechanisms that give numbers, NaN, infinities, overflow or an error"
    if kind == 'error' and rng.random() < .3: raise ValueError("no")
    return D + rng.normal(size=2), {'nan': rng.choice([math.nan, 1.]), 'inf': rng.choice([math.inf, -math.inf]), 'huge': rng.choice([1.7e308, -1.7e308])}.get(kind, 0.)
def audited(D, D_prime, kind, score, **kw):
    with np.errstate(invalid='ignore'): a = au.audit(lambda D, rng: gappy(D, rng, kind), D, D_prime, n_jobs=1, score=score, **kw)
    return [a.mu, a.eps, repr(a) and 0.]
def nothing_on_equal_data(out, kw):
    bound(out, kw)
    if kw['D'] == kw['D_prime'] and kw['conf'] == .999: assert max(out) <= .2, f'convicted on the same data: {out!r}'
case(au.audit, nothing_on_equal_data, 6, call=audited, D=st.sampled_from([0., 0., math.nan, 1e300]), D_prime=st.sampled_from([0., 0., 1., math.nan]), kind=st.sampled_from(['plain', 'nan', 'inf', 'huge', 'error']),
     score=mostly(st.sampled_from([None, lambda X: X[:, -1], lambda X: X[:, 0], lambda X: np.sqrt(X[:, 0]), lambda X: X[:, 0]*math.nan]), st.sampled_from([3, lambda X: X, lambda X: None, lambda X: X[1:, 0]])),
     trials=number(100, 120, 400), delta=fraction(), conf=mostly(st.sampled_from([.9, .999, .999]), fraction()), seed=number(0, 7))
case(au.gaussian_tradeoff, bound, fpr=st.floats(0, 1), mu=st.floats(0, 50))
case(au.eps_bound, fp=st.integers(0, 50), fn=st.integers(0, 50), m=st.just(50), delta=st.floats(1e-12, .5), a=st.floats(1e-9, .1))
case(au.mu_bound, fp=st.integers(0, 50), fn=st.integers(0, 50), m=st.just(50), a=st.floats(1e-9, .1), pooled=flag())
case(au.worst_rows, r_A=positive, r_y=positive, sigma1=positive, sigma2=positive, d=count(2, 3))
exempt('a part of audit, which checks for it', au.run_pair, au.Audit, au.worst_rows_joint, au.plot_tradeoff)

# scale
case(sc.source, anything, 8, also=data(public=False), y=st.sampled_from(['0', 'x', '', None, 3]), columns=st.sampled_from([None, ['0'], [], 'ab', ['0', '0']]))
case(sc.Sites, share=4, call=lambda A, y: sc.Sites((A, y), (A, y)).block_sum(lambda X, t: np.array([len(t)])), also=data(public=False, streams=0))
case(sc.combine, anything, call=lambda a, b: sc.combine(a, b), a=rel, b=rel)
case(sc.paths, anything, A=st.sampled_from(["", "x", "*", None, 3, [], [None], ["x", "x"], "\0", "~", [[1.0]], b"x"]))
exempt('made by source, and tried in its notebook on files, tables and clusters', sc.Source, sc.DaskRows, sc.SparkRows, sc.Checkpoint)
case(sc.watched, anything, 2, call=lambda A, y: list(sc.watched(A, y)), also=data(public=False))

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
exempt('takes a release and public rows, on its page', mm.moment_test)

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
exempt('a tuple', ds.Sample)
exempt('a path inside the package', ds.data_file)
exempt("needs data of an optional package", ds.load_regression, ds.load_further)

# anchored: its steps see what dp_anchored let through, so their input is of the right kind, and extreme
@st.composite
def steps(draw, *names):
    "Anchor, private rows and released moments that fit each other"
    rng, d, scale = np.random.default_rng(draw(st.integers(0, 99))), draw(st.integers(1, 4)), 10.**draw(st.sampled_from([0, 0, 5, -5, 50, -50]))
    B, A = rng.normal(size=(draw(st.sampled_from([2, 3, 9, 40])), d))*scale, rng.normal(size=(draw(st.sampled_from([1, 5, 300])), d))*scale*draw(st.sampled_from([1, 1, 1e3, 1e-3, 1e80, 0]))
    y_B, y = (10.**draw(st.sampled_from([0, 3, 50, -50]))*rng.normal(size=len(X)) for X in (B, A))
    with warnings.catch_warnings(): warnings.simplefilter('ignore'); at = an.public_anchor(B, y_B)
    k, n, edge = at.W.shape[1], len(A), draw(st.sampled_from([1e-3, 1., 1e3])); M = draw(square(k, (0, 2, -2, 8)))
    got = dict(B=B, y_B=y_B, X=B/an.column_scale(B), at=at, rows=an.PrivateRows(A, y, nonfinite=draw(st.sampled_from(['error', 'zero']))), n=n, d=k, M=M, t=rng.normal(size=k)*edge, edge=edge, var_t=draw(st.sampled_from([1e-9, 1., 1e9])),
               R=draw(st.sampled_from([1., 1e-3, 1e9])), C=draw(st.sampled_from([1., 1e-3, 1e9])), z=rng.normal(size=k), S=M @ M.T, v=np.full(k, edge), noise=edge, var=edge, x=np.abs(A[:, 0]),
               counts=rng.normal(size=len(an.OCTAVES))*edge + rng.integers(0, draw(st.sampled_from([1, 9, 10**6])), len(an.OCTAVES)))
    return {key: got[key] for key in names}
for f, *names in ((an.column_scale, 'B'), (an.public_ridge, 'B', 'y_B'), (an.row_space, 'X'), (an.public_whitener, 'B'), (an.public_anchor, 'B', 'y_B'), (an.joint_moments, 'rows', 'at', 'R', 'C'), (an.whole_moments, 'rows', 'at', 'R', 'C'), (an.octaves, 'x'),
                  (an.size_histogram, 'rows', 'at'), (an.score_histogram, 'rows', 'at', 'R'), (an.clip_radius, 'counts', 'noise', 'var'), (an.observe, 'M', 't', 'edge'), (an.inflation, 'z', 'S', 'v'), (an.update, 'at', 'M', 't', 'edge', 'var_t'),
                  (an.rewhitening, 'M', 'n', 'edge'), (an.leaning, 'at'), (an.typical_size, 'counts', 'noise'), (an.outsized, 'counts', 'noise', 'R'), (an.least_norm, 'at')): case(f, also=steps(*names))
case(an.joint_release, also=steps('M', 't'), rho=rho, rng=seeds())
case(an.whole_release, also=st.integers(1, 4).map(lambda k: dict(S=np.arange(k*(k + 1)).reshape(k + 1, k))), rho=rho)
case(an.noisy_counts, counts=st.lists(st.integers(0, 2**40), min_size=1).map(np.array), rho=rho, rng=seeds(), safe=flag())
case(an.newton_step, share=4, also=steps('rows', 'n', 'at'), rho=number(.3, 1., 20., wrong=[0, -1, math.nan], odd=[1e-9, 31., 1e3]), budget=st.builds(pv.Budget, st.just(2e3)), rng=st.builds(np.random.default_rng, st.integers(0, 9)), safe=flag())
size, some_rho = st.integers(1, 10**12), st.sampled_from([1e-300, 1e-9, .3, 1., 40., 1e100, 1e150])
case(an.row_radius, n=size, d=size, rho=some_rho)
case(an.rho_see, n=size, d=size)
case(an.step_weights, n=size, d=size, rho=some_rho)
case(an.PrivateRows, share=4, call=lambda A, y, B, y_B, intercept, nonfinite: an.size_histogram(an.PrivateRows(A, y, intercept, nonfinite), an._public(B, y_B, intercept)), also=data(), intercept=flag(), nonfinite=nonfinite)
exempt('what dp_anchored holds and returns, tried with it', an.Anchor, an.AnchoredFit)

# experiments: the harness of the paper's experiments on public data sets
case(ex.stream, call=lambda seed, what: ex.stream(seed, what).random(), seed=number(0, 7), what=text)

case(ex.run, anything, name=choice('nothing'), trials=count(), seed=count(), n_jobs=st.just(0))
case(ex.load_results, anything, name=choice('wine'))
exempt('a figure, drawn and looked at in its notebook', ex.figure_dope_convergence, import_module('dp_pmt.figures').demo)
exempt('takes the frame that run returned', ex.summarize, ex.quartiles, ex.compare, ex.geometry_table)
exempt('reruns trials of the saved run, on the pages', ex.recheck)
exempt('other people\'s estimators, on the data sets of the pages', *map(vars(import_module('dp_pmt.rivals')).get, import_module('dp_pmt.rivals').__all__))
exempt('measures and compares on the data sets of the pages', *[f for m in ('comparison', 'gallery') for n in import_module(f'dp_pmt.{m}').__all__ if callable(f := getattr(import_module(f'dp_pmt.{m}'), n))])
exempt('measures time', *[f for n in bm.__all__ if callable(f := getattr(bm, n))])
exempt('hours of runs and files; tests/test_reproduce.py tries it', ex.reproduce, ex.dp_pmt_reproduce)


# The tests

def exported():
    "Every function and class that a module exports, but constants and warnings"
    for m in pkgutil.iter_modules(dp_pmt.__path__):
        if m.name.startswith('_'): continue
        module = import_module(f'dp_pmt.{m.name}')
        for f in map(module.__dict__.get, module.__all__):
            if callable(f) and not (isinstance(f, type) and issubclass(f, Warning)): yield name_of(f)


def test_nothing_is_left_out():
    assert sorted(set(exported()) - set(CASES) - set(EXEMPT)) == [] # add a line to the registry above
    assert sorted((set(CASES) | set(EXEMPT)) - set(exported())) == [] and not set(CASES) & set(EXEMPT)


def examples(name):
    "Each function's part of EXAMPLES"
    return math.ceil(EXAMPLES*CASES[name][3]/sum(c[3] for c in CASES.values()))


@pytest.mark.parametrize('name', CASES)
def test_hostile_input(name):
    if name in ('release.release', 'release.discrete_gaussian'): pytest.importorskip('opendp')
    f, check, strategy, _ = CASES[name]
    @settings(max_examples=examples(name), derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def tried(kw): attempt(f, check, kw)
    tried()


# Private data in a wrong place: nothing of it in any message

INCOME = 123456.789
INCOMES = dict(
    array=np.array([INCOME, 2.]), number=np.array(INCOME), integers=np.array([123456789, 2]), matrix=np.full((2, 2), INCOME),
    masked=np.ma.array([INCOME, 2.], mask=[0, 1]), words=np.array([f'{INCOME}', 'x']), objects=np.array([f'{INCOME}', None]),
    frame=pd.DataFrame({'income': [INCOME, 2.]}), header=pd.DataFrame({INCOME: [1., 2.]}), mixed=pd.DataFrame({'income': [INCOME, 'x']}),
    column=pd.Series([INCOME, 2.], name=f'{INCOME}'), labels=pd.Series([1., 2.], index=[f'{INCOME}', 'x']), nullable=pd.Series([123456789, None], dtype='Int64'),
    list=[INCOME, 2.], nested=[[INCOME, 'x'], [2.]], tuple=(INCOME,), set={INCOME}, dict={'income': INCOME}, keys={INCOME: 'x'},
    text=f'name,income\nSmith,{INCOME}\n', short=f'{INCOME}', texts=[f'{INCOME}'], bytes=f'{INCOME}'.encode())
DIGITS = ('123456', '1.23456', '1.2e+05', '1.23e+05')
WRONGS = (-1, math.nan, 'x', None, 9.)

def budgeted(method):
    "A call of one method of a fresh budget"
    def call(**kw): return method(pv.Budget(1.), **kw)
    return call

GIVEN = { # every function of the two modules, with arguments that work
    'checks.shown': dict(x=1., option=False), 'checks.label': dict(name='x', other='y'),
    'checks.check_positive': dict(name='x', x=1., zero=False), 'checks.check_all': dict(zero=False, rho=1.),
    'checks.check_fraction': dict(name='x', x=.5), 'checks.check_integer': dict(name='x', x=3, least=1),
    'checks.check_choice': dict(name='x', x='a', choice='a'), 'checks.check_rng': dict(rng=0),
    'checks.check_finite': dict(name='x', x=[1.], below=9.), 'checks.to_floats': dict(block=[1.], name='x'),
    'checks.shape_of': dict(X=[[1.]], name='x', ndim=2), 'checks.as_matrix': dict(X=[[1.]], name='x', ndim=2),
    'privacy.largest_change': dict(g=np.ravel, rows=[[1.], [2.]], replace=True),
    'privacy.renyi_gaussian': dict(alpha=2, shift=1., sigma=1.), 'privacy.gaussian_sigma': dict(sensitivity=1., rho=1.),
    'privacy.gaussian_mechanism': dict(value=[1.], sensitivity=1., rho=1., rng=0),
    'privacy.symmetric_noise': dict(d=2, sigma=1., rng=0, ensemble='iid'),
    'privacy.zcdp_to_eps': dict(rho=1., delta=.1), 'privacy.gaussian_log_delta': dict(rho=1., eps=1.),
    'privacy.gaussian_eps': dict(rho=1., delta=.1), 'privacy.eps_to_rho': dict(eps=1., delta=.1, safe=False),
    'privacy.Budget': dict(rho=1.), 'privacy.Budget.split': dict(weight=1.), 'privacy.Budget.can_spend': dict(cost=.1),
    'privacy.Budget.check': dict(costs={'x': .1}), 'privacy.Budget.spend_all': dict(costs={'x': .1}),
    'privacy.Budget.check pair': dict(what='x', rho=.1), 'privacy.Budget.spend': dict(rho=.1, what='x')}
CALLS = {
    'checks.check_choice': lambda name, x, choice: ck.check_choice(name, x, choice, 'b'),
    'privacy.Budget.split': lambda weight: pv.Budget(1.).split(2., weight),
    'privacy.Budget.can_spend': lambda cost: pv.Budget(1.).can_spend(.1, cost),
    'privacy.Budget.check': budgeted(pv.Budget.check), 'privacy.Budget.spend_all': budgeted(pv.Budget.spend_all),
    'privacy.Budget.check pair': lambda what, rho: pv.Budget(1.).check([(what, rho)]), 'privacy.Budget.spend': budgeted(pv.Budget.spend)}

def said(f, kw):
    "All that a call says in an error and in warnings"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        try: f(**kw)
        except (ValueError, TypeError) as e: seen = [*seen, *shown(e)]
    return ''.join(getattr(w, 'message', w).__str__() for w in seen)

def test_private_data_is_tried_everywhere():
    names = {n for n in exported() if n.startswith(('checks.', 'privacy.'))}
    assert names == {n for n in GIVEN if n.count('.') == 1}
    methods = {f'privacy.Budget.{n}' for n, f in vars(pv.Budget).items() if callable(f) and not n.startswith('_')}
    assert methods - {'privacy.Budget.copy'} <= set(GIVEN)
    for name in names - set(CALLS):
        f = attrgetter(name)(dp_pmt)
        assert {p for p, v in signature(f).parameters.items() if v.kind != v.VAR_KEYWORD} <= set(GIVEN[name]), name

@pytest.mark.parametrize('name', GIVEN)
def test_private_data_in_a_wrong_place_is_not_quoted(name):
    "An array, a frame, a list or a text as any parameter, alone and beside another wrong one"
    f, given = CALLS.get(name) or attrgetter(name)(dp_pmt), GIVEN[name]
    f(**given)
    for place, (kind, private) in product(given, INCOMES.items()):
        others = [{}] + [{k: w} for k in given if k != place for w in WRONGS]
        for other in others:
            text = said(f, {**given, **other, place: private})
            assert not any(t in text for t in DIGITS), f'{name} quotes {place}, {kind}: {text}'


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
        warnings.simplefilter('ignore', an.AnchorWarning); a, b = run(an.dp_anchored, B, y_B)
    assert a.sizes is b.sizes is None or near(a.sizes[0], b.sizes[0], math.sqrt(2))


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
    'masked complex lost its imaginary part': (pc.as_matrix, dict(X=np.ma.array([[1 + 2j, 3]], mask=[[0, 1]]))),
    'longdouble overflowed with a warning': (pc.as_matrix, dict(X=np.array([['1e3000']], dtype='g'))),
    'bare Exception of pandas': (lambda b: pc.PublicMoment(**_public()).map_back(b), dict(b=pd.Series([1., 2, 3]))),
    'OverflowError from a huge radius': (pc.Moments.of, dict(**_private(), r_A=HUGE, r_y=1.)),
    'object sums from a Fraction as radius': (lambda **k: pc.Moments.of(**k, r_A=Fraction(1, 3), r_y=1.), _private()),
    'whitened sums overflowed to NaN': (lambda A, y: pc.Moments.of(A*1e149, y).whiten(pc.PublicMoment(A*1e-59, y)), _private()),
    'columns of a stream changed places': (al.ols, dict(A=[(pd.DataFrame({'a': [1., 2], 'b': [3., 5]}), [1., 2]), (pd.DataFrame({'b': [1., 2], 'a': [3., 5]}), [1., 2])])),
    'an unknown ensemble spent the budget': (al.privatize, dict(m=_moments(), sens_AA=1., sens_Ay=1., rho_1=.5, rho_2=.5, budget=pv.Budget(1.), ensemble='x')),
    'half a release was paid': (al.privatize, dict(m=_moments(), sens_AA=1., sens_Ay=1., rho_1=.5, rho_2=.6, budget=pv.Budget(1.))),
    'OverflowError from a huge sensitivity': (al.privatize, dict(m=_moments(), sens_AA=HUGE, sens_Ay=1., rho_1=.5, rho_2=.5, budget=pv.Budget(1.))),
    'overflow warning from a huge bound': (al.dp_ssp, dict(**_private(), rho=1., r_A=1e150, rng=0)),
    'overflow warning in the descent': (al.dope_gd, dict(A=_private()['A']*1e80, y=_private()['y'], B=_public()['B']*1e80, y_B=_public()['y_B'], rho=1.)),
    'ZeroDivisionError at a huge rho': (an.dp_anchored, dict(**_private(), **_public(), rho=1.7e308)),
    'OverflowError in the privacy line': (lambda rho: al.Fit(np.ones(2), rho, 'x').privacy(), dict(rho=HUGE)),
    'NaN coefficients in a Fit': (lambda beta: al.Fit(beta, 1., 'x'), dict(beta=np.array([1., math.nan]))),
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


@pytest.mark.parametrize('key', ENTRIES)
def test_a_forged_release_is_refused(key):
    "Every entry of every kind of release, by every value"
    for rel in FORGED:
        tampered(rel, key, None, True)
        for value in VALUES: tampered(rel, key, value, False)


def test_noise_made_small_is_refused():
    "All entries in agreement, but the noise a trillionth: the moments are too large for such a sensitivity"
    for rel in FORGED[1:]:
        c = json.loads(rel.to_json()); c.pop('sha256')
        for change in (dict(sens=None), dict(sens=[s*1e-12 for s in c['sens']], radius=c['radius'] and c['radius']*1e-6)):
            forged = {**c, **{k: c[k] and c[k]*1e-12 for k in ('sigma1', 'sigma2', 'sigma3')}, **change}; forged['sha256'] = re._checksum(forged)
            with pytest.raises(ValueError, match="'sens'" if change['sens'] is None else 'what the clip allows'): re.from_json(json.dumps(forged))


@pytest.mark.parametrize('source', ['', '[1, 2]', 'null', 'x'*5000, '\ufeff', 'a\nb', '\0', '.', 'nowhere', None, b'{}', {}, 3, '{"n": ' + '9'*9999 + '}'], ids=lambda s: repr(s)[:12])
def test_what_is_no_release_is_a_value_error(source):
    with pytest.raises(ValueError, match='not a release') as e: re.from_json(source)
    assert len(str(e.value)) < 200 # doesn't repeat the document


def test_a_headerless_release_warns():
    "A private row among the names is warned of, and not quoted"
    rel = replace(FORGED[1], names=['7314159.2', '1', '2.5'])
    with pytest.warns(ck.PrivacyLeakWarning) as seen: rel.to_json()
    assert not any(t in str(w.message) for w in seen for t in TRACES)


def test_a_release_warns_of_shortened_rows():
    "Matched public rows: silent; three times narrower: a warning"
    pytest.importorskip('opendp'); rng = np.random.default_rng(0); A, B = rng.normal(size=(5000, 3)), rng.normal(size=(60, 3))
    y, y_B = A @ np.ones(3) + rng.normal(size=5000), B @ np.ones(3) + rng.normal(size=60)
    with warnings.catch_warnings(): warnings.simplefilter('error'); re.release(A, y, B, y_B, 1.).intervals()
    with pytest.warns(re.ShorteningWarning): re.release(A, y, B/3, y_B/3, 1.).intervals()


def test_a_table_of_arrow_gives_its_names_not_its_data():
    import pyarrow as pa
    table = pa.table({'age': [1., 2, 3], 'dose': [7314159.2, 1, 4]})
    assert al.ols(table, [1., 2, 4]).names == ['age', 'dose']
