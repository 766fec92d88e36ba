"Strategies for bad input: values, types, shapes, containers, streams and numbers that a user may hand over"
import array
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

PLANT = 7314159.2   # stands in private rows; no error may quote it
TRACES = ('7314159', '7.314159', '7.31416e', '7.3e')


class Broken(Exception):
    "What a user's own generator raises"


# Numbers

WRONG = [0, -1, -.5, math.nan, math.inf, -math.inf, '1', '', None, [1.], (2,), {}, 1j, 10**400, -10**400, b'1', object(), pd.NA, pd.NaT,
         Decimal('.5'), np.array(1.), np.array([1., 2.]), np.ma.masked, np.datetime64('2020'), np.bool_(True), lambda: 1, range(3)]
ODD = [True, 1e-300, 5e-324, 1e-16, 1 - 2**-53, 1e16, 1e150, 1e300, 1.7e308, np.float16(.5), np.float32(.3), np.longdouble('.7'), np.int8(3), np.uint64(7), Fraction(1, 3)]

def mostly(good, *bad): # so that many calls get past the gates
    return st.integers(0, 19).flatmap(lambda i: bad[i] if i < len(bad) else good)

def number(*good, wrong=WRONG, odd=ODD): return mostly(st.sampled_from(good) if good else st.floats(1e-3, 1e3), st.sampled_from(odd), st.sampled_from(wrong))
def count(*good): return number(*(good or (1, 2, 3, 7, 50, 10_000)))
def fraction(): return mostly(st.floats(1e-3, .999), st.sampled_from(ODD), st.sampled_from(WRONG))
def choice(*good): return mostly(st.sampled_from(good), st.sampled_from(['', 'IID', None, 3, math.nan, b'iid', ['iid'], np.array(['iid', 'x'])]))
def seeds(): return mostly(st.integers(0, 2**32), st.builds(np.random.default_rng, st.integers(0, 9)), st.sampled_from([None, -1, 1.5, 'x', math.nan, [1, 2], object(), 10**30, True, np.random.RandomState, pd.NA]))
def flag(): return st.sampled_from([True, False, False, True, 0, 1])


# Rows: each spoiler maps a float array to something worse

def _put(v):
    def f(X): X = X.copy(); X.reshape(-1)[X.size//2 if X.size else 0:][:1] = v; return X
    return f

def _frame(f): return lambda X: f(pd.DataFrame(X) if np.ndim(X) == 2 else pd.Series(X))

def _nullable(kind, value=pd.NA):
    def f(D):
        D = D.round().clip(-100, 100).astype(kind)
        if value is not None: (D.iloc.__setitem__(0, value) if D.ndim == 1 else D.iloc.__setitem__((0, 0), value))
        return D
    return _frame(f)

def _relabel(labels):
    def f(D): D.index = labels(len(D)); return D
    return _frame(f)

def _columns(names):
    def f(D):
        if D.ndim == 2: D.columns = names(D.shape[1])
        return D
    return _frame(f)

def _mask(X): return np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) == X.size//2)

def _ragged(X): X = X.tolist(); X[-1:] = [[1.]]; return X

VALUES = [_put(v) for v in (math.nan, math.inf, -math.inf, 9e149, -1.1e150, 1e200, 1.7e308, 1e-200, 5e-324, -0.)] + [
    lambda X: X*0, lambda X: X*1e-170, lambda X: X*1e100, lambda X: X*1e140, lambda X: np.ones_like(X), lambda X: np.full_like(X, 1e145), lambda X: np.sign(X)*1e-320]
TYPES = [lambda X, t=t: np.clip(X, -90, 90).astype(t) for t in ('f2', 'f4', 'g', '>f8', 'i1', 'i8', '?', 'O', 'c16', 'U', 'S')] + [
    lambda X: np.abs(np.clip(X, -90, 90)).astype('u8'), lambda X: np.clip(X, -90, 90).astype('i8').astype('M8[s]'), lambda X: np.clip(X, -90, 90).astype('i8').astype('m8[s]'),
    lambda X: X.astype(str).astype(object), lambda X: X.astype('g')*np.longdouble('1e3000'), lambda X: X.astype([('a', 'f8')]), lambda X: np.clip(X*1e4, -6e4, 6e4).astype('f2')]
SHAPES = [lambda X: X[:0], lambda X: X[..., :0], lambda X: X[None], lambda X: X[..., None], lambda X: X[0], lambda X: X.ravel(), lambda X: X[:-1], lambda X: X[:1], lambda X: X.T,
          lambda X: np.concatenate([X, X], axis=-1), lambda X: np.concatenate([X, X]), lambda X: np.array(X.sum()), lambda X: X.reshape(-1, 1), lambda X: X[::-1], lambda X: np.asfortranarray(X)]
BOXES = [lambda X: X.tolist(), _ragged, lambda X: tuple(X), lambda X: [str(v) for v in X], lambda X: X.astype(str).tolist(), lambda X: [[None]], _mask, lambda X: _mask(X).astype('O'), lambda X: _mask(X.astype('c16')),
         lambda X: np.matrix(X), lambda X: sparse.csr_matrix(np.atleast_2d(X)), lambda X: iter(X), lambda X: (x for x in X), lambda X: None, lambda X: 'rows', lambda X: {}, lambda X: {0: X}, lambda X: set(), lambda X: b'rows',
         lambda X: 3.5, lambda X: object(), lambda X: array.array('d', X.ravel()), lambda X: memoryview(np.ascontiguousarray(X)), lambda X: range(len(X)), lambda X: np.ndarray, lambda X: pd.NA]
FRAMES = [_frame(lambda D: D), _frame(lambda D: D.astype('f4')), _nullable('Float64'), _nullable('Int64'), _nullable('Int64', None), _nullable('boolean', None), _nullable('category', None), _nullable('string', None), _nullable('object', None),
          _nullable('double[pyarrow]'), _nullable('Sparse[float]', None), _frame(lambda D: D.astype('object')), _frame(lambda D: D.clip(0, 90).astype('datetime64[s]')),
          _relabel(lambda n: range(n, 0, -1)), _relabel(lambda n: [f'p{PLANT}-{i}' for i in range(n)]), _relabel(lambda n: pd.RangeIndex(5, 5 + n)), _relabel(lambda n: [0]*n), _relabel(lambda n: pd.MultiIndex.from_tuples([(i, 'a') for i in range(n)])),
          _columns(lambda d: ['x']*d), _columns(lambda d: [f'c{j}' for j in range(d)]), _columns(lambda d: [f'c{d - j}' for j in range(d)]), _columns(lambda d: [PLANT + j for j in range(d)]), _columns(lambda d: [str(PLANT + j) for j in range(d)]),
          _columns(lambda d: pd.MultiIndex.from_tuples([('a', j) for j in range(d)])), _columns(lambda d: [None]*d), _frame(lambda D: D.iloc[:0]), _frame(lambda D: D.iloc[:, :0] if D.ndim == 2 else D.iloc[:0]), _frame(lambda D: D.to_frame() if D.ndim == 1 else D.iloc[:, 0]),
          lambda X: pa.Table.from_pandas(pd.DataFrame(X)), lambda X: pa.array(X.ravel()), lambda X: pl.DataFrame(X), lambda X: pl.Series(X.ravel()), _frame(lambda D: D.T), _frame(lambda D: D.iloc[::-1]), _frame(lambda D: D.sample(frac=1, random_state=0))]
SPOILERS = VALUES + TYPES + SHAPES + BOXES + FRAMES

def _try(f, X): # some don't apply to every array
    with np.errstate(all='ignore'), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try: return f(X)
        except Exception: return X

def _spoil(draw, X, often): # in `often` of 20 draws
    return X if draw(st.integers(0, 19)) >= often else _try(draw(st.sampled_from(draw(st.sampled_from([VALUES, TYPES, SHAPES, BOXES, FRAMES])))), X)


# Streams: pairs (A, y) in blocks, and what can go wrong with them

class Again:
    "Re-iterable blocks; with `less`, the second time brings fewer"
    def __init__(self, blocks, less=False): self.blocks, self.less, self.reads = blocks, less, 0
    def __iter__(self):
        self.reads += 1
        return iter(self.blocks[:-1] if self.less and self.reads > 1 else self.blocks)

def _breaks(blocks):
    yield from blocks
    raise Broken('disk gone')

def _other_columns(blocks): return blocks + [(np.c_[blocks[0][0], blocks[0][0]], blocks[0][1])]
def _renamed(blocks): return [(pd.DataFrame(a, columns=[f'c{(j + i) % a.shape[1]}' for j in range(a.shape[1])]), t) for i, (a, t) in enumerate(blocks)]

STREAMS = [list, Again, iter, lambda b: (x for x in b), _breaks, lambda b: Again(b, True), lambda b: b[:1] + [(b[0][0][:0], b[0][1][:0])] + b[1:], _other_columns, _renamed, lambda b: [], lambda b: iter([]),
           lambda b: [(*x, 1) for x in b], lambda b: [x[0] for x in b], lambda b: b + [None], lambda b: b + [3.], lambda b: [list(x) for x in b], lambda b: [(a.tolist(), t.tolist()) for a, t in b], lambda b: [(a, t[:-1]) for a, t in b],
           lambda b: {0: b[0]}, lambda b: [(a*math.nan, t) for a, t in b], lambda b: [(a, None) for a, t in b], lambda b: [b], lambda b: [(a.astype('O'), t) for a, t in b], lambda b: zip(*b), lambda b: map(tuple, b)]


# Whole data sets

@st.composite
def rows(draw, ndim=2, often=5, plant=False, sizes=(1, 2, 3, 5, 30)):
    "One array, good or spoiled"
    n, d = draw(st.sampled_from(sizes)), draw(st.integers(1, 4))
    X = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, d)[:ndim])*10.**draw(st.sampled_from([0, 0, 0, -6, 6, 40, -40]))
    if plant: X.flat[0] = PLANT
    return _spoil(draw, X, often)

@st.composite
def data(draw, public=True, often=3, streams=3, n=False):
    "Keyword arguments A, y, B, y_B (and n): each spoiled with some chance, private rows perhaps a stream"
    rng, d = np.random.default_rng(draw(st.integers(0, 99))), draw(st.integers(1, 4))
    m, n_B, scale = draw(st.sampled_from([1, 2, 3, 5, 40, 300])), draw(st.sampled_from([1, 2, 4, 8, 50])), draw(st.sampled_from([0, 0, 0, 0, -5, 5, 30, -30, 80, -80]))
    A, B = (rng.normal(size=(k, d))*10.**scale for k in (m, n_B)); beta = rng.normal(size=d)*10.**draw(st.sampled_from([0, 0, 0, 9, -9]))
    y, y_B = (X @ beta + .1*rng.normal(size=len(X)) for X in (A, B))
    A[0, 0] = y[-1] = PLANT
    if draw(st.integers(0, 9)) < streams:
        cut = [slice(0, m//2), slice(m//2, m)] if m > 1 else [slice(0, m)]
        blocks = [(A[c], y[c]) for c in cut] if draw(st.integers(0, 9)) else [(_spoil(draw, A[c], 9), _spoil(draw, y[c], 9)) for c in cut]
        private = dict(A=_try(draw(st.sampled_from(STREAMS)), blocks), y=None)
    elif not draw(st.integers(0, 5)):
        box = draw(st.sampled_from(FRAMES)); private = dict(A=_try(box, A), y=_try(box, y)) # both in the same kind of frame
    else: private = dict(A=_spoil(draw, A, often), y=_spoil(draw, y, often))
    if n: private['n'] = m if private['y'] is None and draw(st.integers(0, 5)) else draw(number(None, None, None, m, m + 1))
    return private | (dict(B=_spoil(draw, B, often - 1), y_B=_spoil(draw, y_B, often - 1)) if public else {})

@st.composite
def both(draw, often=3, sizes=(1, 2, 5, 30, 30)):
    "Public rows and responses"
    rng, d, n = np.random.default_rng(draw(st.integers(0, 99))), draw(st.integers(1, 4)), draw(st.sampled_from(sizes))
    B = rng.normal(size=(n, d))*10.**draw(st.sampled_from([0, 0, 0, 5, -5, 40, -40])); y_B = B @ rng.normal(size=d) + 10.**draw(st.sampled_from([0, -3, 5]))*rng.normal(size=n)
    return dict(B=_spoil(draw, B, often), y_B=_spoil(draw, y_B, often))

@st.composite
def square(draw, d=None, scales=(0, 0, 3, -3, 40, -40)):
    "A symmetric matrix, well or badly conditioned, perhaps indefinite or spoiled"
    d, rng = d or draw(st.integers(1, 4)), np.random.default_rng(draw(st.integers(0, 99)))
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]; w = rng.uniform(.1, 2, d)*10.**draw(st.sampled_from(scales))
    w[0] *= draw(st.sampled_from([1, 1, 1, 1e-14, 0, -1]))
    return Q*w @ Q.T
