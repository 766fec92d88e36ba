"""What every public estimator returned before the package was rebuilt, to compare new code with

    python tests/frozen.py write [names...]    saves all results, or these, in FILE
    python tests/frozen.py compare [names...]  compares, and prints what differs

A name is `group` or `group/case`. Only public names that stay are called.

Floats may differ by `RTOL` of the largest entry of their array: 1e-12, and 1e-9 for methods that
iterate (`dp_anchored`, `dope_gd`), where each step works on the rounding of the one before.
Integers, texts and kinds of errors must be equal; messages of errors are not compared.
`MEANT` lists what was changed on purpose, and why. `dp_anchored` became another estimator on
purpose (its second edition): its results were written again then, and are compared from there on.

Safe paths draw noise with OpenDP, which takes no seed. Here `recorded` puts a mechanism without
noise in its place, and keeps the integers to which noise is added, in their order, and the noise
sd of each. So it doesn't matter whether they come in one call or in several.

How much is rounding? Measured by running one code with the kernels of other processors
(OPENBLAS_CORETYPE): without steps about 1e-11 where public rows are ill-conditioned (`misled`),
else about 1e-12; `dope_gd` 1e-14; `dp_anchored` 1e-13, but for the cases in `FRAGILE`, whose
eigenvectors are not determined (equal eigenvalues, or none) and turn with the last bit, and the
noise with them. With safe noise a residual that is rounded the other way can move many integers.
So where the file was written with other kernels, `ELSEWHERE` is allowed, and `dp_anchored` is left
out; and with the same kernels a difference in a fragile case may be rounding.
"""
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

FILE = Path(__file__).parent/'data'/'frozen.json.gz'
RTOL = 1e-12
RTOL_STEPS = 1e-9
STEPS = ('anchored', 'safe', 'dope')              # names of cases with steps
FRAGILE = ('few public rows', 'two public rows', 'intercept d=1', 'flat public', 'collinear',
           'responses of zeros')                  # cases of `dp_anchored` that rounding can turn
ELSEWHERE = 1e-6                                  # on other kernels; integers too
ENTRYWISE = ('sd', 'ledger rho', 'errors', 'eps') # each entry has a scale of its own
OPTIONAL = 'release.'                             # leaves that new code may lack
MEANT = [ # what was changed on purpose: pattern of "case: leaf", how far it may differ, why
    (r'(dp_pmtolse|release)/no n: raises', math.inf, "a stream that can be read again is counted: it needs no n="),
    (r'.*release.*: (json\.)?(Sigma|cross|yy|solve.*)', 1e-4, "rows are whitened in fixed point, whatever their place"),
    (r'.*release.*: (json\.)?sigma\d', .01, "a hundredth of rho asks how many rows count"),
    (r'.*release.*: (json\.budget\.)?ledger.*', math.inf, "likewise"),
    (r'.*release.*: (integers|sd)', math.inf, "likewise; the sums without noise are compared as Sigma and cross"),
    (r'.*dp_ssp.*: release\.sigma\d', .03, "DP-SSP keeps a twentieth for the responses' mean square"),
    (r'.*dp_ssp.*: release\.(Sigma|cross)', .2, "likewise: the same noise, 1/sqrt(.95) times as large"),
    (r'.*dp_ssp.*: (beta|coef|predict|ledger.*|next draw)', math.inf, "likewise: compared as Sigma and cross"),
    (r'.*release.*: json\.(eps|noise|statement|format|budget.*)', math.inf, "noise on a fine grid is accounted by the Gaussian curve"),
]
GROUPS = {}


def group(f):
    "Register a function that yields pairs (case, function that computes it)"
    GROUPS[f.__name__] = f
    return f


# -------------------- data

class Sample(NamedTuple):
    "Private rows and responses, public rows and responses"
    A: np.ndarray
    y: np.ndarray
    B: np.ndarray
    y_B: np.ndarray


@cache
def sample(n=400, d=3, n_B=60, seed=0, away=0.):
    "Correlated columns of different size, `away` standard deviations from the origin"
    rng = np.random.default_rng([seed, n, d, n_B])
    X = rng.standard_normal((n + n_B, d))
    for j in range(1, d):
        X[:, j] += .6*X[:, j - 1]
    X += away
    X *= np.geomspace(.5, 20, d) if d > 1 else 2.
    y = .7*rng.standard_normal(n + n_B) + 10*away
    for j in range(d): # no products of matrices: the same rows on every machine
        y += X[:, j]*rng.normal()/X[:, j].std()
    return Sample(X[n_B:], y[n_B:], X[:n_B], y[:n_B])


def holes(s):
    "The sample with private rows that are missing, infinite, or too large"
    A, y = s.A.copy(), s.y.copy()
    A[3, 0] = A[17] = math.nan
    A[5, -1] = math.inf
    A[8, 0] = 1e200
    y[11] = math.nan
    y[12] = -math.inf
    y[13] = 1e200
    return s._replace(A=A, y=y)


def misled(s):
    "Public rows on other scales, and with other coefficients"
    factors = np.where(np.arange(s.B.shape[1]) % 2, .2, 3.)
    return s._replace(B=s.B*factors, y_B=s.y_B[::-1] + 3*s.B[:, 0])


def rescaled(s, factor):
    "Public rows and responses this many times larger"
    return s._replace(B=s.B*factor, y_B=s.y_B*factor)


def heavy(s):
    "Some private rows and responses far out"
    A, y = s.A.copy(), s.y.copy()
    A[::50] *= 200
    y[::33] *= 1000
    return s._replace(A=A, y=y)


def changed(s, column, B=None, A=None):
    "One column replaced, in the public rows, the private ones or both"
    out = s._replace(A=s.A.copy(), B=s.B.copy())
    if B is not None:
        out.B[:, column] = B(s.B)
    if A is not None:
        out.A[:, column] = A(s.A)
    return out


def blocks(A, y, k=10):
    "The rows in `k` blocks of different length"
    cuts = np.linspace(0, 1, k + 1)**1.3*len(y)
    cuts = cuts.astype(int)
    cuts[-1] = len(y)
    return [(A[i:j], y[i:j]) for i, j in zip(cuts, cuts[1:]) if j > i]


def names_for(d):
    return [f'col {chr(97 + j)}' for j in range(d)]


def framed(A, y=None):
    "A frame, with the responses among its columns if given"
    frame = pd.DataFrame(A, columns=names_for(A.shape[1]))
    if y is not None:
        frame.insert(1, 'response', y)
    return frame


@cache
def scratch():
    "A folder that goes when the process ends"
    return tempfile.TemporaryDirectory()


@cache
def files():
    "Paths of the default sample's private and public rows, as files"
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq
    folder, s = Path(scratch().name), sample()
    whole = pa.Table.from_pandas(framed(s.A, s.y), preserve_index=False)
    public = pa.Table.from_pandas(framed(s.B, s.y_B), preserve_index=False)
    pq.write_table(whole, folder/'whole.parquet', row_group_size=90)
    pq.write_table(whole.slice(0, 150), folder/'part1.parquet')
    pq.write_table(whole.slice(150), folder/'part2.parquet')
    pq.write_table(public, folder/'public.parquet')
    csv.write_csv(whole, folder/'whole.csv')
    return folder


def forms(s):
    "The rows of the default sample in every form: name, (A, y, B, y_B)"
    import pyarrow as pa
    A, y, B, y_B = s
    wide = np.repeat(A, 2, axis=1)
    series = pd.Series(y, name='response')
    frame, public = framed(A, y), framed(B, y_B)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    yield 'array', (A, y, B, y_B)
    yield 'fortran', (np.asfortranarray(A), y, np.asfortranarray(B), y_B)
    yield 'strided', (wide[:, ::2], y[::-1][::-1], B, y_B)
    yield 'float32', tuple(x.astype(np.float32) for x in s)
    yield 'integers', tuple(np.rint(10*x).astype(int) for x in s)
    yield 'lists', tuple(x.tolist() for x in s)
    yield 'responses in a column', (A, y[:, None], B, y_B[:, None])
    yield 'frame', (framed(A), series, framed(B), pd.Series(y_B))
    yield 'frame by name', (frame, 'response', public, 'response')
    yield 'nullable frame', (frame.convert_dtypes(), 'response', public, 'response')
    yield 'public frame', (A, y, public, 'response')
    yield 'blocks', (blocks(A, y), None, B, y_B)
    turned = [(np.asfortranarray(a), t) for a, t in blocks(A, y)]
    yield 'blocks in fortran order', (turned, None, B, y_B)
    named = [(framed(a), t) for a, t in blocks(A, y, 3)]
    yield 'blocks of frames', (named, None, public, 'response')
    yield 'generator', ((b for b in blocks(A, y)), None, B, y_B)
    yield 'parquet', (str(files()/'whole.parquet'), 'response', public, 'response')
    parts = [files()/'part1.parquet', files()/'part2.parquet']
    yield 'two parquet files', (parts, 'response', B, y_B)
    yield 'public parquet', (A, y, files()/'public.parquet', 'response')
    yield 'csv', (files()/'whole.csv', 'response', B, y_B)
    yield 'arrow', (table, 'response', public, 'response')
    yield 'arrow reader', (table.to_reader(), 'response', B, y_B)


# -------------------- reading results

def plain(x):
    "Arrays and numpy numbers as lists and Python numbers"
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, (np.ndarray, np.generic)):
        return plain(x.tolist())
    return x


def flat(x, at=''):
    "Nested dicts as one, with dotted keys"
    if not isinstance(x, dict):
        return {at: x}
    out = {}
    for k, v in x.items():
        out |= flat(v, f'{at}.{k}' if at else k)
    return out


def ledger(budget):
    "What was spent on what"
    if budget is None:
        return {}
    entries = list(budget.ledger)
    return {'ledger what': [e[0] for e in entries], 'ledger rho': [e[1] for e in entries]}


def of_fit(fit, X=None):
    "What a fit says, and predicts"
    out = dict(method=fit.method, rho=fit.rho, beta=fit.beta, intercept=fit.intercept)
    out |= dict(names=list(fit.coef), coef=list(fit.coef.values()))
    out |= ledger(fit.budget)
    if X is not None:
        out['predict'] = np.asarray(fit.predict(X))
    if fit.path is not None:
        out['path'] = fit.path
    if getattr(fit, 'release', None) is not None:
        rel = fit.release
        out['release'] = {k: getattr(rel, k) for k in ('Sigma', 'cross', 'sigma1', 'sigma2')}
    return out


def of_release(rel):
    "What a release says, and its file"
    from dp_pmt.release import Release
    keys = ('Sigma', 'cross', 'n', 'rho', 'sigma1', 'sigma2', 'yy')
    out = {k: getattr(rel, k) for k in keys} | ledger(rel.budget)
    out['solve'] = rel.solve()
    text = rel.to_json()
    content = json.loads(text)
    for k in ('sha256', 'versions', 'statement', 'format'):
        content.pop(k, None)
    entries = content['budget']['ledger']
    content['budget']['ledger'] = [e[0] for e in entries]
    content['budget']['ledger rho'] = [e[1] for e in entries]
    out['json'] = content
    out['solve again'] = Release.from_json(text).solve()
    return out


class Silent:
    "OpenDP's discrete Gaussian without its noise"
    def __init__(self, sd):
        self.sd = sd

    def map(self, sens):
        return sens**2/(2*self.sd**2)

    def __call__(self, x):
        return list(x)


@contextmanager
def recorded():
    "A list that fills with the integers to which discrete noise is added: pairs (sd, integers)"
    import opendp.prelude as dp
    from dp_pmt.noise import DiscreteNoise
    given, real, add = [], dp.m.make_gaussian, DiscreteNoise.add

    def listed(self, total, prepared, *args, **kwargs):
        given.append((prepared[1], [int(v) for v in np.ravel(total)]))
        return add(self, total, prepared, *args, **kwargs)
    dp.m.make_gaussian = lambda domain, metric, scale, *args, **kwargs: Silent(float(scale))
    DiscreteNoise.add = listed
    try:
        yield given
    finally:
        dp.m.make_gaussian, DiscreteNoise.add = real, add


def safely(f, read):
    "`read(f())` without noise, the integers that crossed, and their noise sd, one an integer"
    with recorded() as given:
        out = read(f())
    out['integers'] = [v for _, x in given for v in x]
    out['sd'] = [sd for sd, x in given for _ in x]
    return out


def three(X):
    "The first rows, for predictions; of a frame with its columns in another order"
    if isinstance(X, (str, Path)):
        return framed(sample().B[:3])
    if not hasattr(X, 'iloc'):
        return X[:3]
    return X.drop(columns='response', errors='ignore').iloc[:3, ::-1]


# -------------------- estimators, called in one way

def ols_(A, y, B=None, y_B=None):
    from dp_pmt.algorithms import ols
    return of_fit(ols(A, y), B if B is None else three(B))


def public_(A, y, B, y_B):
    from dp_pmt.algorithms import public_ols
    return of_fit(public_ols(B, y_B), three(B))


def olse_(A, y, B=None, y_B=None, rho=1., rng=0, **kw):
    from dp_pmt.algorithms import dp_olse
    return of_fit(dp_olse(A, y, rho, rng=rng, **kw), B if B is None else three(B))


def ssp_(A, y, B=None, y_B=None, rho=1., rng=0, **kw):
    from dp_pmt.algorithms import dp_ssp
    return of_fit(dp_ssp(A, y, rho, rng=rng, **kw), B if B is None else three(B))


def pmt_(A, y, B, y_B, rho=1., rng=0, **kw):
    from dp_pmt.algorithms import dp_pmtolse
    return of_fit(dp_pmtolse(A, y, B, y_B, rho, rng=rng, **kw), three(B))


def dope_(A, y, B, y_B, rho=1., rng=0, **kw):
    from dp_pmt.algorithms import dope_gd
    return of_fit(dope_gd(A, y, B, y_B, rho, rng, **kw), three(B))


def anchored_(A, y, B, y_B, rho=1., rng=0, **kw):
    from dp_pmt.anchored import dp_anchored
    return of_fit(dp_anchored(A, y, B, y_B, rho, rng, safe=False, **kw), three(B))


def safe_(A, y, B, y_B, rho=1., **kw):
    from dp_pmt.anchored import dp_anchored
    run = lambda: dp_anchored(A, y, B, y_B, rho, safe=True, **kw)
    return safely(run, lambda fit: of_fit(fit, three(B)))


def release_(A, y, B, y_B, rho=1., **kw):
    from dp_pmt.release import release
    return safely(lambda: release(A, y, B, y_B, rho, **kw), of_release)


def drawn(estimator, *args, **kw):
    "The same with a generator in place of a seed, and what it draws next"
    rng = np.random.default_rng(5)
    return estimator(*args, rng=rng, **kw) | {'next draw': rng.random()}


def each_form(estimator, n=False, **kw):
    "Cases of all forms; `n`: do streams need their number of rows?"
    for name, rows in forms(sample()):
        stream = rows[1] is None or 'reader' in name
        more = dict(n=len(sample().y)) if n and stream else {}
        yield name, lambda rows=rows, more=more: estimator(*rows, **more, **kw)


SIZES = [(50, 1, 20), (50, 3, 30), (300, 12, 40), (2000, 1, 10), (2000, 3, 50), (5000, 12, 100),
         (20000, 3, 60), (20000, 12, 200)] # n, d, n_B


def each_size(estimator, rhos=(.1, 10.), **kw):
    "Cases of all sizes and budgets"
    for n, d, n_B in SIZES:
        for rho in rhos:
            s = sample(n, d, n_B, seed=1)
            more = dict(rho=rho, rng=n + d, **kw)
            name = f'n={n} d={d} n_B={n_B} rho={rho:g}'
            yield name, lambda s=s, more=more: estimator(*s, **more)


# -------------------- groups: what the estimators stand on

def grid(leaf, f, *axes):
    "`f` at all combinations of its arguments"
    return {leaf: [f(*args) for args in product(*axes)]}


@group
def privacy():
    from dp_pmt.privacy import (Budget, eps_to_rho, gaussian_eps, gaussian_sigma,
                                symmetric_noise, zcdp_to_eps)
    rhos = [1e-9, 1e-4, .01, .1, .5, 1., 3., 10., 100.]
    epss = [.01, .1, 1., 3., 10., 50.]
    deltas = [1e-12, 1e-6, 1e-3, .1]
    yield 'zcdp_to_eps', lambda: grid('eps', zcdp_to_eps, rhos, deltas)
    yield 'gaussian_eps', lambda: grid('eps', gaussian_eps, rhos, deltas)
    yield 'eps_to_rho', lambda: grid('eps', eps_to_rho, epss, deltas)
    yield 'gaussian_sigma', lambda: grid('sd', gaussian_sigma, (1e-6, .3, 2, 1e9), rhos)
    for e in ('iid', 'isometric'):
        for d in (1, 2, 3, 12):
            name = f'symmetric_noise {e} {d}'
            yield name, lambda d=d, e=e: dict(G=symmetric_noise(d, 1.7, d, e))
    rng = np.random.default_rng
    yield 'symmetric_noise default', lambda: dict(G=symmetric_noise(3, 2., rng(1)))

    def budget():
        b = Budget(2.5)
        shares = b.split(1, 2.5, 4)
        b.spend(shares[0], 'first')
        b.spend(.3, 'second')
        out = dict(shares=shares, spent=b.spent, left=b.left, rho=b.rho, rest=b.split(3, 1))
        return out | ledger(b)
    yield 'Budget', budget


@group
def preconditioning():
    from dp_pmt.preconditioning import (PublicMoment, clip_rows, geometry, radius_A, radius_y,
                                        second_moment, spectral_bounds)
    etas = (.001, .05, .5)
    ns = (1, 50, 20000)
    yield 'radius_A', lambda: grid('errors', radius_A, ns, (1, 3, 12), etas)
    yield 'radius_y', lambda: grid('errors', radius_y, ns, etas)
    bounds = [(30, 3, .05, 1.), (20, 12, .05, 1.), (500, 12, .01, .5)]
    yield 'spectral_bounds', lambda: dict(errors=[spectral_bounds(*b) for b in bounds])
    for d in (1, 3, 12):
        s = sample(d=d)
        yield f'second_moment d={d}', lambda s=s: dict(S=second_moment(s.A))
        yield f'geometry d={d}', lambda s=s: flat(dict(geometry(s.B)))
        yield f'clip_rows d={d}', lambda s=s: dict(X=clip_rows(s.A[:40], 3.))
        yield f'clip_rows of responses d={d}', lambda s=s: dict(y=clip_rows(s.y[:40], .8))
    yield 'second_moment frame', lambda: dict(S=second_moment(framed(sample().A)))
    far = np.array([[1e200, 1.], [0, 0], [3, 4], [1e-200, 0]])
    yield 'clip_rows far', lambda: dict(X=clip_rows(far, 2.))
    for d in (1, 3, 12):
        for intercept in (False, True):
            s = sample(d=d, away=3.*intercept)

            def moment(s=s, d=d, intercept=intercept):
                public = PublicMoment(s.B, s.y_B, intercept)
                Z, t = public.transform(s.A[:5], s.y[:5])
                keys = ('Sigma_B', 'inv_sqrt', 'sigma_yB', 'n', 'd')
                out = {k: getattr(public, k) for k in keys}
                back = public.map_back(np.arange(1., d + 1 + intercept))
                return out | dict(Z=Z, t=t, back=back)
            yield f'PublicMoment d={d} intercept={intercept}', moment


@group
def moments():
    from dp_pmt.preconditioning import Moments, PublicMoment

    def sums(A, y, *args, **kw):
        m = Moments.of(A, y, *args, **kw)
        return {k: getattr(m, k) for k in ('n', 'AA', 'Ay', 'yy')}

    def both(A, y, B, y_B):
        raw = sums(A, y)
        if iter(A) is A or hasattr(A, 'read_next_batch'):
            return raw
        return raw | dict(clipped=sums(A, y, None, 4., .9))
    yield from each_form(both)
    for n, d, n_B in SIZES:
        for intercept in (False, True):
            s = sample(n, d, n_B, away=2.*intercept)
            name = f'n={n} d={d} intercept={intercept}'
            public = PublicMoment(s.B, s.y_B, intercept)
            yield name, lambda s=s, public=public: sums(s.A, s.y, public, 2., 1.5)
    s = holes(sample())
    masked = np.ma.masked_invalid(s.A)
    yield 'holes', lambda: sums(s.A, s.y, None, 5., 2., nonfinite='zero')
    white = PublicMoment(s.B, s.y_B)
    yield 'holes whitened', lambda: sums(s.A, s.y, white, 5., 2., nonfinite='zero')
    yield 'masked', lambda: sums(masked, s.y, nonfinite='zero')
    yield 'holes refused', lambda: sums(s.A, s.y)
    t = sample()

    def merged():
        m = Moments.of(t.A[:100], t.y[:100]) + Moments.of(t.A[100:], t.y[100:])
        return {k: getattr(m, k) for k in ('n', 'AA', 'Ay', 'yy')}
    yield 'merged', merged


@group
def theory():
    from dp_pmt import theory as t
    S, P = np.diag([.1, 1., 2.5]) + .05, np.diag([.2, 1., 3.])
    etas = (.01, .2)
    ns = (200, 30000)
    more = (5, *ns)
    yield 'Gamma', lambda: grid('errors', t.Gamma, ns, etas)
    yield 'delta_A', lambda: grid('errors', t.delta_A, ns, (1, 12), etas, (.7, 1.))
    yield 'Lambda', lambda: grid('errors', t.Lambda, [S], ns, etas)
    yield 'noise_bounds', lambda: grid('errors', t.noise_bounds, ns, [3], [.4], [.7], etas)
    yield 'stability_pmt', lambda: grid('errors', t.stability_pmt, more, [60], [3], [.4], etas)
    yield 'stability_ssp', lambda: grid('errors', t.stability_ssp, [S], ns, [.4], etas)
    pmt = more, [60], [3], [.4], etas, [2.], [3.], [5.]
    yield 'error_bound_pmt', lambda: grid('errors', t.error_bound_pmt, *pmt)
    ssp = [S], [P], more, [.4], etas, [2.]
    yield 'error_bound_ssp', lambda: grid('errors', t.error_bound_ssp, *ssp)


@group
def planner():
    from dp_pmt.planner import predict_error
    for d in (1, 3, 12):
        s = sample(d=d, n_B=80)
        for ensemble, split in (('iid', .5), ('isometric', .3)):
            kw = dict(split=split, ensemble=ensemble, draws=100, rng=3)
            name = f'd={d} {ensemble}'
            yield name, lambda s=s, kw=kw: dict(predict_error(s.B, s.y_B, 5000, .5, **kw))


# -------------------- groups: estimators

@group
def ols():
    yield from each_form(ols_)
    for n, d, n_B in SIZES:
        yield f'n={n} d={d}', lambda s=sample(n, d, n_B): ols_(*s)
    s = sample()
    yield 'collinear', lambda: ols_(np.c_[s.A, s.A[:, 0] + s.A[:, 1]], s.y)
    yield 'a column of zeros', lambda: ols_(np.c_[s.A, 0*s.y], s.y)


@group
def public_ols():
    yield from each_form(public_)
    for d in (1, 3, 12):
        yield f'd={d}', lambda s=sample(d=d): public_(*s)


@group
def dp_olse():
    yield from each_form(olse_)
    yield from each_size(olse_)
    s = sample(d=12)
    yield 'scaled', lambda: olse_(*s, response_radius='scaled', rng=1)
    yield 'isometric', lambda: olse_(*s, ensemble='isometric', split=.3, eta=.01, rng=2)
    yield 'holes', lambda: olse_(*holes(s), nonfinite='zero')
    yield 'holes refused', lambda: olse_(*holes(s))
    yield 'generator of numbers', lambda: drawn(olse_, *s)


@group
def dp_ssp():
    yield from each_form(ssp_)
    yield from each_size(ssp_)
    s = sample(d=12)
    yield 'known radii', lambda: ssp_(*s, r_A=30., r_y=4., rng=1)
    yield 'one known radius', lambda: ssp_(*s, r_y=4., split=.3, rng=1)
    yield 'tiny budget', lambda: ssp_(*s, rho=1e-6)
    yield 'far rows', lambda: ssp_(*heavy(s), rho=5.)
    yield 'holes', lambda: ssp_(*holes(s), nonfinite='zero')
    yield 'holes refused', lambda: ssp_(*holes(s))
    yield 'generator of numbers', lambda: drawn(ssp_, *s)


def crossings(estimator):
    "Cases that `dp_pmtolse` and `release` share"
    s, off = sample(d=12, n=3000), sample(d=3, n=3000, away=3.)
    named = (framed(off.A, off.y), 'response', framed(off.B, off.y_B), 'response')
    yield 'intercept', lambda: estimator(*off, intercept=True)
    yield 'intercept d=1', lambda: estimator(*sample(d=1, away=3.), intercept=True)
    yield 'intercept d=12', lambda: estimator(*sample(2000, 12, away=3.), intercept=True)
    yield 'intercept frame', lambda: estimator(*named, intercept=True)
    stream = (blocks(off.A, off.y), None, off.B, off.y_B)
    yield 'intercept blocks', lambda: estimator(*stream, intercept=True, n=3000)
    yield 'intercept holes', lambda: estimator(*holes(off), intercept=True, nonfinite='zero')
    yield 'intercept missing', lambda: estimator(*off)
    yield 'holes', lambda: estimator(*holes(s), nonfinite='zero')
    yield 'holes refused', lambda: estimator(*holes(s), nonfinite='error')
    masked = s._replace(A=np.ma.masked_invalid(holes(s).A))
    yield 'masked', lambda: estimator(*masked, nonfinite='zero')
    yield 'misled', lambda: estimator(*misled(s), rho=2.)
    yield 'public rows larger', lambda: estimator(*rescaled(s, 100.))
    yield 'public rows smaller', lambda: estimator(*rescaled(s, .01))
    yield 'far rows', lambda: estimator(*heavy(s))
    yield 'tiny budget', lambda: estimator(*s, rho=1e-6)
    yield 'eta', lambda: estimator(*s, eta=.2)
    rows = (blocks(s.A, s.y), None, s.B, s.y_B)
    yield 'wrong n', lambda: estimator(*rows, n=3001)
    yield 'no n', lambda: estimator(*rows)
    yield 'few public rows', lambda: estimator(*sample(d=12, n_B=8))
    collinear = changed(s, 0, lambda B: B[:, 1] - B[:, 2])
    yield 'collinear public rows', lambda: estimator(*collinear)
    yield 'no budget', lambda: estimator(*s, rho=0.)


@group
def dp_pmtolse():
    yield from each_form(pmt_, n=True)
    yield from each_size(pmt_)
    yield from each_size(pmt_, (1.,), ensemble='isometric', split=.3)
    yield from crossings(pmt_)
    s = sample(d=12)
    kw = dict(ensemble='isometric', intercept=True, split=.3)
    yield 'isometric intercept', lambda: pmt_(*sample(away=2.), **kw)
    yield 'split', lambda: pmt_(*s, split=.3, rng=7)
    yield 'generator of numbers', lambda: drawn(pmt_, *s)
    yield 'split refused', lambda: pmt_(*s, split=1.)


@group
def dope_gd():
    yield from each_form(dope_, steps=20)
    for n, d, n_B in SIZES:
        s = sample(n, d, n_B, seed=1)
        yield f'n={n} d={d} n_B={n_B}', lambda s=s: dope_(*s, steps=40, rho=2.)
    s = sample(2000, 3)
    yield 'whole path', lambda: dope_(*s, rho=10.)
    yield 'whole path d=12', lambda: dope_(*sample(20000, 12), rho=1.)
    yield 'from zero', lambda: dope_(*s, steps=30, start='zero')
    yield 'from somewhere', lambda: dope_(*s, steps=30, start=[.1, -.2, .3])
    yield 'known clip', lambda: dope_(*s, steps=30, clip=20., lr=1e-4)
    yield 'quantile', lambda: dope_(*s, steps=30, clip_quantile=.5)
    yield 'holes', lambda: dope_(*holes(s), steps=30, nonfinite='zero')
    yield 'holes refused', lambda: dope_(*holes(s), steps=30)
    yield 'misled', lambda: dope_(*misled(s), steps=30)
    yield 'far rows', lambda: dope_(*heavy(s), steps=30)
    yield 'generator of numbers', lambda: drawn(dope_, *s, steps=10)
    yield 'diverged', lambda: dope_(*s, lr=1e3)


def anchorings(estimator):
    "Cases that `dp_anchored` has with noise in floats and with safe noise"
    for n, d, n_B in SIZES:
        for rho in (1e-6, .05, 1., 10.):
            s = sample(n, d, n_B, seed=2)
            name = f'n={n} d={d} n_B={n_B} rho={rho:g}'
            yield name, lambda s=s, rho=rho: estimator(*s, rho=rho)
    s, off = sample(5000, 12), sample(5000, 3, away=3.)
    named = (framed(off.A, off.y), 'response', framed(off.B, off.y_B), 'response')
    few, two = sample(20000, 12, 8), sample(20000, 3, 2)
    for rho in (.01, 1.):
        yield f'few public rows rho={rho:g}', lambda rho=rho: estimator(*few, rho=rho)
        yield f'two public rows rho={rho:g}', lambda rho=rho: estimator(*two, rho=rho)
        yield f'intercept rho={rho:g}', lambda rho=rho: estimator(*off, rho=rho, intercept=True)
        yield f'misled rho={rho:g}', lambda rho=rho: estimator(*misled(s), rho=rho)
    few_off = sample(5000, 12, 8, away=2.)
    yield 'intercept few public rows', lambda: estimator(*few_off, intercept=True)
    yield 'intercept d=1', lambda: estimator(*sample(2000, 1, away=2.), intercept=True)
    yield 'intercept frame', lambda: estimator(*named, intercept=True)
    yield 'intercept holes', lambda: estimator(*holes(off), intercept=True, nonfinite='zero')
    yield 'intercept missing', lambda: estimator(*off)
    yield 'intercept tiny budget', lambda: estimator(*off, rho=1e-7, intercept=True)
    flat_column = changed(off, 1, lambda B: .1)
    yield 'intercept flat public column', lambda: estimator(*flat_column, rho=3., intercept=True)
    flat_y = off._replace(y_B=0*off.y_B + .1)
    yield 'intercept flat public responses', lambda: estimator(*flat_y, intercept=True)
    yield 'holes', lambda: estimator(*holes(s), nonfinite='zero')
    yield 'holes refused', lambda: estimator(*holes(s), nonfinite='error')
    masked = s._replace(A=np.ma.masked_invalid(holes(s).A))
    yield 'masked', lambda: estimator(*masked, nonfinite='zero')
    yield 'public rows larger', lambda: estimator(*rescaled(s, 100.))
    yield 'public rows smaller', lambda: estimator(*rescaled(s, .01))
    yield 'far rows', lambda: estimator(*heavy(s))
    yield 'public column of zeros', lambda: estimator(*changed(s, 2, lambda B: 0.), rho=3.)
    collinear = changed(s, 0, lambda B: B[:, 1] - B[:, 2])
    yield 'collinear public rows', lambda: estimator(*collinear, rho=3.)
    both = changed(s, 0, lambda B: B[:, 1] - B[:, 2], lambda A: A[:, 1] - A[:, 2])
    yield 'collinear rows', lambda: estimator(*both, rho=3.)
    nudge = lambda X: X[:, 1] + 1e-5*X[:, 0]
    near = changed(s, 0, nudge, nudge)
    yield 'nearly collinear rows', lambda: estimator(*near, rho=3.)
    gap = changed(sample(20000, 12, 8), 2, lambda B: 0.)
    yield 'few public rows column of zeros', lambda: estimator(*gap)
    exact = s._replace(y_B=s.B[:, 0] - s.B[:, 3]/2)
    yield 'exact public line', lambda: estimator(*exact)
    empty = s._replace(A=np.where(np.arange(5000)[:, None] < 2500, 0, s.A))
    yield 'rows of zeros', lambda: estimator(*empty)
    yield 'responses of zeros', lambda: estimator(*s._replace(y=0*s.y, y_B=0*s.y_B))
    yield 'one public row', lambda: estimator(*s._replace(B=s.B[:1], y_B=s.y_B[:1]))
    yield 'no budget', lambda: estimator(*s, rho=0.)


@group
def dp_anchored():
    yield from each_form(anchored_, rho=2.)
    yield from anchorings(anchored_)
    yield 'generator of numbers', lambda: drawn(anchored_, *sample(2000))
    yield 'default rows that are not finite', lambda: anchored_(*holes(sample()))


@group
def dp_anchored_safe():
    yield from each_form(safe_, rho=2.)
    yield from anchorings(safe_)
    yield 'default rows that are not finite', lambda: safe_(*holes(sample()))
    yield 'seed refused', lambda: safe_(*sample(), rng=0)


@group
def release():
    yield from each_form(release_, n=True)
    for n, d, n_B in SIZES:
        for rho in (.1, 10.):
            s = sample(n, d, n_B, seed=1)
            name = f'n={n} d={d} n_B={n_B} rho={rho:g}'
            yield name, lambda s=s, rho=rho: release_(*s, rho=rho)
    yield from crossings(release_)
    s = sample()
    yield 'radius and weight', lambda: release_(*s, radius=4., weight=.7)
    yield 'default rows that are not finite', lambda: release_(*holes(s))


# -------------------- groups: everything together

@group
def real():
    from dp_pmt.datasets import load_ccpp, load_white_wine
    for name, load in (('ccpp', load_ccpp), ('wine', load_white_wine)):
        X, y = load()
        frame, t = load(as_frame=True)
        s = Sample(X[60:], y[60:], X[:60], y[:60])
        named = (frame[60:], t[60:], frame[:60], t[:60])
        # away from their means, in other units: an intercept is needed
        off = Sample(*(x*3 + 7 for x in s))
        yield f'{name} data', lambda X=X, y=y: dict(X=X[::200], y=y[::200])
        yield f'{name} ols', lambda s=s: ols_(*s)
        yield f'{name} public_ols', lambda named=named: public_(*named)
        yield f'{name} dp_ssp', lambda named=named: ssp_(*named)
        yield f'{name} dp_olse', lambda named=named: olse_(*named)
        yield f'{name} dope_gd', lambda s=s: dope_(*s, steps=30)
        for rho in (.1, 1.):
            kw = dict(rho=rho)
            at = f'rho={rho:g}'
            yield f'{name} dp_pmtolse {at}', lambda s=s, kw=kw: pmt_(*s, **kw)
            yield f'{name} dp_anchored {at}', lambda s=s, kw=kw: anchored_(*s, **kw)
            yield f'{name} release {at}', lambda s=named, kw=kw: release_(*s, **kw)
            yield f'{name} safe {at}', lambda s=named, kw=kw: safe_(*s, **kw)
        shifted = dict(dp_pmtolse=pmt_, dp_anchored=anchored_, release=release_, safe=safe_)
        for label, f in shifted.items():
            yield f'{name} intercept {label}', lambda s=off, f=f: f(*s, intercept=True)


def many_blocks():
    "Cases with enough blocks that several threads add them up"
    s = sample(20000, 12)
    rows = (blocks(s.A, s.y, 16), None, s.B, s.y_B)
    yield 'ols', lambda: ols_(*rows)
    yield 'dp_ssp', lambda: ssp_(*rows)
    yield 'dp_pmtolse', lambda: pmt_(*rows, n=20000)
    yield 'dope_gd', lambda: dope_(*rows, steps=10)
    yield 'dp_anchored', lambda: anchored_(*rows)
    yield 'dp_anchored_safe', lambda: safe_(*rows)
    yield 'release', lambda: release_(*rows, n=20000)


@cache
def on_one_core():
    "Results of `many_blocks` from a process that has one core"
    env = {**os.environ, 'PYTHONPATH': os.pathsep.join(p or os.getcwd() for p in sys.path)}
    command = [sys.executable, __file__, 'one-core']
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@group
def threads():
    for name, f in many_blocks():
        yield f'all cores {name}', f
        yield f'one core {name}', lambda name=name: on_one_core()[name]


def ran(name, trials):
    "Errors of an experiment, by setting and method"
    from dp_pmt.experiments import run
    df = run(name, trials=trials, seed=0, n_jobs=1)
    out = {k: df[k].to_numpy() for k in ('method', 'n_A', 'rho')}
    return out | dict(errors=df.error.to_numpy())


@group
def experiment_wine():
    yield 'wine', lambda: ran('wine', 2)


@group
def experiment_dope():
    yield 'dope', lambda: ran('dope', 1)


# -------------------- computing and comparing

def compute(f):
    "The leaves of one result; an error is a result too, by its kind"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return flat(plain(f()))
    except Exception as e:
        return dict(raises=type(e).__name__, _message=str(e))


def results(wanted=()):
    "Pairs (name, leaves) of all groups, or of the wanted groups and cases"
    unknown = {w.partition('/')[0] for w in wanted} - set(GROUPS)
    if unknown:
        raise SystemExit(f"groups are {', '.join(GROUPS)}, got {', '.join(sorted(unknown))}")
    for name, cases in GROUPS.items():
        here = [w for w in wanted if w.partition('/')[0] == name]
        if wanted and not here:
            continue
        seen = set()
        for case, f in cases():
            key = f'{name}/{case}'
            assert key not in seen, f'{key} stands twice'
            seen.add(key)
            if not wanted or name in here or key in here:
                yield key, compute(f)


def kernels():
    "What decides how products of matrices are rounded"
    import scipy.linalg # it brings kernels of its own
    from threadpoolctl import threadpool_info
    keys = ('internal_api', 'version', 'architecture')
    blas = [i for i in threadpool_info() if i['user_api'] == 'blas']
    return [np.__version__, *sorted({' '.join(str(i.get(k)) for k in keys) for i in blas})]


def is_whole(x):
    "Integers only?"
    if isinstance(x, list):
        return all(map(is_whole, x))
    return type(x) in (int, bool)


def is_number(x):
    if isinstance(x, list):
        return all(map(is_number, x))
    return type(x) in (int, float, bool)


def distance(leaf, old, new):
    "Largest difference over the largest entry, or entry by entry; inf if the form differs"
    if not (is_number(old) and is_number(new)):
        return 0. if old == new else math.inf
    if is_whole(old) and old == new:
        return 0.
    try:
        a, b = np.array(old, float), np.array(new, float)
    except (ValueError, OverflowError):
        return math.inf
    if a.shape != b.shape:
        return math.inf
    fine = np.isfinite(a)
    if not np.array_equal(a[~fine], b[~fine], equal_nan=True):
        return math.inf
    if not np.isfinite(b[fine]).all():
        return math.inf
    a, b = a[fine], b[fine]
    if np.array_equal(a, b):
        return 0.
    scale = np.abs(a) if leaf.rpartition('.')[2] in ENTRYWISE else np.abs(a).max()
    with np.errstate(all='ignore'):
        return float(np.nan_to_num(np.abs(a - b)/scale, nan=0., posinf=math.inf).max())


def allowed(name, old, same_kernels):
    "Relative difference that may be rounding"
    if not same_kernels:
        return ELSEWHERE
    if is_whole(old):
        return 0.
    return RTOL_STEPS if any(word in name for word in STEPS) else RTOL


def is_turned(name):
    "Does the case depend on eigenvectors that other kernels may turn?"
    return 'anchored' in name or 'safe' in name


def explain(name, leaf, old, new):
    "In words how integers differ, and whether the case is fragile"
    fragile = '; fragile'*(is_turned(name) and any(word in name for word in FRAGILE))
    if leaf != 'integers' or not new:
        return fragile
    if len(old) != len(new):
        layout = ', the same values in another layout'*(set(old) == set(new))
        return f"; {len(old)} integers, now {len(new)}{layout}{fragile}"
    gaps = [abs(a - b) for a, b in zip(old, new) if a != b]
    return f"; {len(gaps)} of {len(old)} integers differ, by {max(gaps)} at most{fragile}"


def meant(what):
    "How far a leaf may differ because it was changed on purpose"
    return max((most for pattern, most, _ in MEANT if re.fullmatch(pattern, what)), default=0.)


def differences(name, old, new, same_kernels=True):
    "(largest distance, lines about what differs too much) of one result"
    if new is None:
        return math.inf, [f"{name}: not computed any more"]
    worst, lines = 0., []
    if new.get('raises') != old.get('raises'):
        if meant(f'{name}: raises'): return 0., []
        return math.inf, [f"{name}: raises {new.get('raises')} {new.get('_message', '')}"]
    for leaf, was in old.items():
        if leaf not in new:
            if not leaf.startswith(OPTIONAL):
                worst = math.inf
                lines.append(f"{name}: {leaf} is missing")
            continue
        rel = distance(leaf, was, new[leaf])
        rtol = max(allowed(name, was, same_kernels), meant(f'{name}: {leaf}'))
        worst = max(worst, rel)
        if rel > rtol:
            why = explain(name, leaf, was, new[leaf])
            lines.append(f"{name}: {leaf} differs by {rel:.2g}, allowed {rtol:g}{why}")
    return worst, lines


def load():
    "The saved results, and the kernels they were computed with"
    saved = json.loads(gzip.decompress(FILE.read_bytes()))
    return saved['results'], saved['kernels']


def write(wanted=()):
    "Save results; with names, the others stay as they are"
    if wanted and load()[1] != kernels():
        raise SystemExit("the file was written with other kernels: write all, or nothing")
    kept = load()[0] if wanted else {}
    kept = {k: v for k, v in kept.items() if k not in wanted and k.partition('/')[0] not in wanted}
    for name, leaves in results(wanted):
        leaves.pop('_message', None)
        kept[name] = leaves
    text = json.dumps(dict(kernels=kernels(), results=kept), separators=(',', ':'))
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(kept)} results, {FILE.stat().st_size} bytes")


def compare(wanted=()):
    "Lines about everything that differs; and (number of results, largest distance, where) by group"
    saved, theirs = load()
    same = theirs == kernels()
    now = dict(results(wanted))
    lines, summary = [], {}
    for name, old in saved.items():
        group_name = name.partition('/')[0]
        if wanted and name not in wanted and group_name not in wanted:
            continue
        if not same and is_turned(name):
            continue
        worst, found = differences(name, old, now.get(name), same)
        lines += found
        n, most, where = summary.get(group_name, (0, 0., ''))
        summary[group_name] = (n + 1, *((worst, name) if worst > most else (most, where)))
    lines += [f"{name}: not in the file" for name in now if name not in saved]
    return lines, summary


def main(verb='', *wanted):
    if verb == 'one-core':
        if hasattr(os, 'sched_setaffinity'): # before dp_pmt looks how many there are
            os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        print(json.dumps({name: compute(f) for name, f in many_blocks()}))
    elif verb == 'write':
        write(wanted)
    elif verb == 'compare':
        lines, summary = compare(wanted)
        print(*lines, sep='\n', end='\n'*bool(lines))
        for name, (n, most, where) in summary.items():
            where = f' in {where}'*(most > 0)
            print(f"{name}: {n} results, largest relative difference {most:.2g}{where}")
        print(f"{len(lines)} differences")
        return bool(lines)
    else:
        print(__doc__)
        return 2


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
