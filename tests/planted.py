"""Private data in every parameter of every public function: what a call says must hold nothing of it

Everything is found by itself: the modules, what they export, the methods of their classes, the parameters. `GOOD` has a value that
works for each name of a parameter, `ALSO` what a single function needs. A new function is tried as soon as it is exported; if the
values here don't make it run, `test_it_runs` (for the names that `dp_pmt` offers) or the skipped tests say what is missing."""
import io
import logging
import math
import pkgutil
import time
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from inspect import Parameter, isclass, isfunction, signature
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa

import dp_pmt
from dp_pmt.algorithms import SummedRows, dp_pmtolse
from dp_pmt.preconditioning import Coordinates, Moments, PublicMoment, view
from dp_pmt.privacy import Budget
from dp_pmt.queries import SecondMoment
from dp_pmt.release import release

# -------------------- what is planted

INCOME = 123456.789
PRIVATE = dict(
    array=np.array([INCOME, 2.]), number=np.array(INCOME), integers=np.array([123456789, 2]), matrix=np.full((2, 2), INCOME),
    text=f'name,income\nSmith,{INCOME}\n', short=f'{INCOME}', frame=pd.DataFrame({'income': [INCOME, 2.]}),
    header=pd.DataFrame({INCOME: [1., 2.]}), column=pd.Series([INCOME, 2.], name=f'{INCOME}'), list=[INCOME, 2.],
    masked=np.ma.array([INCOME, 2.], mask=[0, 1]), words=np.array([f'{INCOME}', 'x']), objects=np.array([f'{INCOME}', None]),
    mixed=pd.DataFrame({'income': [INCOME, 'x']}), labels=pd.Series([1., 2.], index=[f'{INCOME}', 'x']),
    nullable=pd.Series([123456789, None], dtype='Int64'), nested=[[INCOME, 'x'], [2.]], tuple=(INCOME,), set={INCOME},
    dict={'income': INCOME}, keys={INCOME: 'x'}, texts=[f'{INCOME}'], bytes=f'{INCOME}'.encode())
FEW = ('array', 'matrix', 'text', 'short', 'frame', 'header', 'list', 'dict') # for calls that take long
DIGITS = ('123456', '1.23456', '1.2e+05', '1.23e+05', 'Smith')
WRONGS = (-1, math.nan, 'x', None, 9.)


# -------------------- what works

def _rng(seed): return np.random.default_rng(seed)

A, B = _rng(0).normal(size=(60, 3)), _rng(1).normal(size=(30, 3))
y, y_B = A @ [1., 2, 3] + _rng(2).normal(size=60), B @ [1., 2, 3] + _rng(3).normal(size=30)
S = np.diag([1., 2, 3])
AT = Coordinates()
PUBLIC = PublicMoment(B, y_B)
FIT = dp_pmtolse(A, y, B, y_B, 1., rng=0)

GOOD = dict(
    A=A, y=y, B=B, y_B=y_B, X=A, rows=A, X0=A, X1=A + 1, D=0., D_prime=1., rho=1., rho_1=.5, rho_2=.5, eta=.05, rng=0, seed=0,
    ensemble='iid', split=.5, n=60, n_A=100, n_B=30, d=3, p=3, kappa=10., delta=.1, eps=1., level=.9, alpha=2., shift=1., sigma=1.,
    sigma1=1., sigma2=1., sensitivity=1., sens=1., value=[1.], r_A=2., r_y=3., R=2., C=3., r=1., name='x', whose='A', other='B',
    names=['a', 'b', 'c'], at=AT, public=PUBLIC, Sigma=S, Sigma_A=S, Psi=S, M=S, beta=np.ones(3), b=np.ones(3), v=np.ones(3),
    noise=.5, beta_norm=1., Sigma_norm=1., Sigma_B_inv_norm=1., sigma_yB=1., trace=1., b_norm=1., s=.5, t=.5, c=1., K=1.,
    lambda_min=.5, lambda_max=2., G=.1*S, target_error=.5, m=Moments.of(A, y), counts=np.arange(480), sd=1., fpr=.2, mu=1., fp=3,
    fn=4, a=.01, mechanism=lambda D, rng: D + rng.normal(), trials=100, n_jobs=1, conf=.9, kind='gaussian', rel=FIT.release,
    columns=None, lam=.1, f=lambda A, y: [np.array(len(y))], blocks=[(A, y)], query=SecondMoment(AT, 2.), seen=view(A, y, AT),
    queries=(SecondMoment(AT, 2.),), weight=1., radius=3., x=np.ones(3), z=np.ones(3), L=S, moment=False, weights=[1, 2], costs={'x': .1},
    what='x', releases=(), text='x', budget=None, path=None, source='snapshot', fit=FIT, residual_sd=None, steps=2, grid=2**16,
    cov=S, dof=50., hypotheses='x0 = 0', made='x.', block=A, ndim=2, least=1, below=9., g=np.ravel, replace=True, option=False,
    Sigma_B=S, start='public', clip=None, lr=None, warn=False, center=np.zeros(3), unit=1., offset=0., total=np.ones(3), layout='vector')

FRAME = pd.DataFrame(A, columns=['a', 'b', 'c']).assign(y=y)
ALSO = { # what a single function or method needs
    'checks.check_choice': dict(x='a', choices='a'), 'checks.check_positive': dict(x=1.), 'checks.check_fraction': dict(x=.5),
    'checks.check_integer': dict(x=3), 'cells.check_finite': dict(x=[1.]), 'checks.check_all': dict(named=dict(rho=1.)),
    'checks.shown': dict(x=1.), 'privacy.Budget.split': dict(weights=2.),
    'privacy.Budget.can_spend': dict(costs=.1), 'privacy.Budget.spend': dict(rho=.1), 'release.Release.fit': dict(columns=[0]),
    'release.Release.from_json': dict(source=FIT.release.to_json()), 'results.Fit.from_json': dict(source=FIT.to_json()),
    'release.combine': dict(releases=FIT.release), 'audit.audit': dict(score=None, trials=100, n_jobs=1), 'algorithms.dope_gd': dict(),
    'privacy.symmetric_noise': dict(sigma=1.), 'files.paths': dict(A='nowhere'), 'clusters.Sites': dict(sites=(A, y)),
    'rows.as_rows': dict(n=None), 'rows.StreamRows': dict(pairs=[(A, y)]), 'results.Fit': dict(rho=1., method='x', names=None, cov='none'),
    'files.open_rows': dict(A=pa.Table.from_pandas(FRAME), y='y'), 'algorithms.ols': dict(y=y), 'rows.check_names': dict(got=['a']),
    'glm.dp_glm': dict(y_B=(y_B > 0)*1.), 'clusters.watched': dict(y=y), 'preconditioning.public_rows': dict(y_B=y_B), 'preconditioning.PublicMoment': dict(y_B=y_B),
    'audit.eps_bound': dict(m=50), 'audit.mu_bound': dict(m=50), 'results.guarantee': dict(noise='gaussian'),
    'front.plan': dict(formula='y ~ a + b + c', public=FRAME[:20].copy(), n=2000, epsilon=1.),
    'front.fit': dict(formula='y ~ a + b + c', private=FRAME, public=FRAME[:20].copy(), epsilon=1., seed=0, safe=False), 'account.Account': dict(path='account.json', rho=1.),
    'planner.predict_error': dict(draws=5), 'planner.rho_for': dict(draws=5), 'planner.n_for': dict(draws=5)}

MADE = { # an instance of each class whose methods are tried
    'privacy.Budget': lambda: Budget(1.), 'preconditioning.PublicMoment': lambda: PublicMoment(B, y_B), 'results.Fit': lambda: FIT,
    'release.Release': lambda: release(A, y, B, y_B, 1.), 'preconditioning.Moments': lambda: Moments.of(A, y),
    'preconditioning.Coordinates': lambda: Coordinates(np.eye(3), 1., np.ones(3)), 'algorithms.SummedRows': lambda: SummedRows(Moments.of(A, y))}

LEFT_OUT = { # name or module: why
    'documents.agree': 'says the rule it is told',
    'checks.warn': 'says what it is told', 'checks.explain': 'edits docstrings', 'files.quietly': 'raises what its function raises',
    'figures': 'pictures of public numbers', 'comparison': 'public data sets, hours of runs', 'glm_comparison': 'public data sets, hours of runs',
    'costs.measure_costs': 'simulated rows, minutes of runs', 'benchmark': 'measures time', 'experiments': 'public data sets, hours of runs',
    'audit.plot_tradeoff': 'a picture', 'gallery': 'pictures of public data', 'tables.plot_coefficients': 'a picture', 'audit.run_pair': 'a part of audit', 'datasets': 'public data sets',
    'clusters.Checkpoint': 'writes files for hours; tried on its page', 'clusters.SparkRows': 'needs a cluster'}


# -------------------- every public function

def left_out(name): return name in LEFT_OUT or name.partition('.')[0] in LEFT_OUT

def public():
    "Name -> callable, of all that the modules export, and of the methods of classes in `MADE`"
    found = {}
    for m in pkgutil.iter_modules(dp_pmt.__path__):
        if m.name.startswith('_'): continue
        module = import_module(f'dp_pmt.{m.name}')
        for f in map(module.__dict__.get, module.__all__):
            if not callable(f) or isclass(f) and issubclass(f, Warning): continue
            name = f'{f.__module__}.{f.__qualname__}'.removeprefix('dp_pmt.')
            found[name] = f
            if name in MADE: found.update(methods(name, f))
    return {name: f for name, f in found.items() if not left_out(name)}

def methods(name, cls):
    "The public methods of a class, each on a new instance"
    def on_new(k): return lambda *args, **kw: getattr(MADE[name](), k)(*args, **kw)
    for k in dir(cls):
        f = getattr(cls, k)
        if k[0] == '_' or not isfunction(f): continue
        call = on_new(k)
        parameters = [p for p in signature(f).parameters.values() if p.name != 'self']
        call.__signature__ = signature(f).replace(parameters=parameters)
        yield f'{name}.{k}', call

def parameters(f):
    try: return signature(f).parameters
    except (TypeError, ValueError): return {}

def example(name, f):
    "Arguments by parameter; what has a default that works keeps it"
    given = {}
    for k, p in parameters(f).items():
        if k in ALSO.get(name, {}): given[k] = ALSO[name][k]
        elif p.default is not Parameter.empty: given[k] = p.default
        elif k in GOOD: given[k] = GOOD[k]
        else: given[k] = None
    return given

def further(x):
    "What to pass as further keywords"
    if x is None: return {}
    return x if isinstance(x, dict) and all(isinstance(k, str) for k in x) else {'x': x}

def call(f, given):
    "The call, each argument in its place"
    args, kw = [], {}
    for k, p in parameters(f).items():
        if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL): args += [] if given[k] is None else [given[k]]
        elif p.kind is p.VAR_KEYWORD: kw.update(further(given[k]))
        else: kw[k] = given[k]
    if args: # what stands before them goes by place
        first = [k for k, p in parameters(f).items() if p.kind is p.POSITIONAL_OR_KEYWORD]
        args = [kw.pop(k) for k in first] + args
    out = f(*args, **kw)
    if hasattr(out, '__next__'): list(out)
    return out


# -------------------- what a call says

def shown(e):
    "What a user sees of an error: its text and that of the errors it is displayed with"
    while e is not None:
        yield ''.join(traceback.format_exception_only(e))
        e = e.__cause__ or (None if e.__suppress_context__ else e.__context__)

def said(f, given):
    "(error or None, all that a call says: error, warnings, log, output)"
    log, out, error = io.StringIO(), io.StringIO(), None
    handler, top = logging.StreamHandler(log), logging.getLogger()
    top.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as seen, redirect_stdout(out), redirect_stderr(out):
            warnings.simplefilter('always')
            try: call(f, given)
            except Exception as e: error = e
    finally: top.removeHandler(handler)
    texts = [str(w.message) for w in seen] + ([*shown(error)] if error else [])
    return error, '\n'.join([*texts, log.getvalue(), out.getvalue()])

def leaks(name, f):
    "What the calls with private data in one parameter say of it; (error of the plain call, list of leaks)"
    given = example(name, f)
    start = time.perf_counter()
    error, _ = said(f, given)
    long = time.perf_counter() - start > .1
    kinds = {k: PRIVATE[k] for k in (FEW if long else PRIVATE)}
    pairs = name.startswith(('cells.', 'checks.', 'privacy.')) # beside another wrong value too
    found = []
    for place, (kind, private) in product(given, kinds.items()):
        wrong = [{k: w} for k in given if k != place for w in WRONGS] if pairs else []
        for other in ({}, *wrong):
            _, text = said(f, {**given, **other, place: private})
            if any(t in text for t in DIGITS):
                found.append(f'{name} quotes {place}, {kind}: {text.strip()[:300]}')
                break
    return error, found
