"""What a row adds to the integers must not depend on where it stands, on its neighbours, or on the kernel.

Run by test_place.py in a process for each BLAS kernel; prints JSON. Matrix products compute the last rows
of a block by another kernel, so in floats a row can differ in its last bit by its place. Rows for which it
does are searched for here, moved to the edge of a bin, and then seen in fixed point."""
import hashlib
import json

import numpy as np
from threadpoolctl import threadpool_info

from dp_pmt.preconditioning import Coordinates, view
from dp_pmt.queries import (ClippedGradients, Count, CrossMoment, FineSizes, GramMatrix, JointMoments, ResidualSquares,
                            RowSizes, ScoreSizes, SecondMoment)


def coordinates(d, intercept=False):
    "A map, a start and a centre; made without a matrix product, so that every kernel has the same"
    rng = np.random.default_rng(d)
    p = d + intercept
    center = dict(center=rng.normal(size=d), offset=.3) if intercept else {}
    return Coordinates(rng.normal(size=(p, p))/p, 1.7, rng.normal(size=p), **center)


def queries(at):
    "One of each kind"
    p = at.size()
    return [RowSizes(at), ScoreSizes(at, 2.), FineSizes(at, 'rows'), FineSizes(at, 'responses'), Count(at),
            SecondMoment(at, 1.5), CrossMoment(at, 1.5, .7), GramMatrix(at, 1.5, 1.2), JointMoments(at, 2., .8, 2**20),
            ClippedGradients(at, np.full(p, .1), .8), ResidualSquares(at, .9)]


def edge_rows(at, d, count=120):
    "Rows whose norm lies within rounding of a power of 2, where one bit decides about the bin"
    rng = np.random.default_rng(7)
    A = rng.normal(size=(count, d))
    y = rng.normal(size=count)
    if at.intercept: return A, y
    for _ in range(3): # the scale that makes the norm 2 is found by repetition
        A *= (2/np.sqrt(view(A, y, at).q2))[:, None]
    return A, y


def at_places(A, y, i, places):
    "Row `i` at each of several places among the other rows, and alone"
    for j in places:
        order = np.r_[np.delete(np.arange(len(y)), i)[:j], i, np.delete(np.arange(len(y)), i)[j:]]
        yield np.ascontiguousarray(A[order]), y[order], j
        yield np.asfortranarray(A[order]), y[order], j
    yield A[i:i+1].copy(), y[i:i+1].copy(), 0


def moved(A, y, at, exact, rows=4, size=37):
    "How many of some rows are seen differently at different places of a block, to the last bit"
    found = 0
    for i in range(rows):
        near = np.r_[i:i + size]
        seen = set()
        for X, t, j in at_places(A[near], y[near], 0, range(size)):
            v = view(X, t, at, exact=exact)
            seen.add(v.a[:, j].tobytes() + v.q2[j].tobytes() + v.r[j].tobytes())
        found += len(seen) > 1
    return found


def integers(A, y, at):
    "What all queries give, as bytes"
    seen = view(A, y, at, exact=True)
    return b''.join(np.ascontiguousarray(q.integers(seen), dtype=np.int64).tobytes() for q in queries(at))


def summed(A, y, at):
    "The same, one row at a time"
    total = [0]*len(queries(at))
    for i in range(len(y)):
        seen = view(A[i:i+1], y[i:i+1], at, exact=True)
        total = [t + q.integers(seen) for t, q in zip(total, queries(at))]
    return b''.join(np.ascontiguousarray(t, dtype=np.int64).tobytes() for t in total)


def main():
    kernel = sorted({i['architecture'] for i in threadpool_info() if i.get('internal_api') == 'openblas'})
    out = dict(kernel=kernel, float_moved=0, exact_moved=0, orders=0, alone=0, digest={})
    rng = np.random.default_rng(3)
    for d in (8, 12, 24):
        for intercept in (False, True):
            at = coordinates(d, intercept)
            A, y = edge_rows(at, d)
            A[5], A[11, 0], y[13] = 1e160, np.nan, np.inf # rows that don't count
            with np.errstate(all='ignore'):
                out['float_moved'] += moved(A[20:], y[20:], at, exact=False)
                out['exact_moved'] += moved(A[20:], y[20:], at, exact=True)
                want = integers(A, y, at)
                for order in (rng.permutation(len(y)), np.argsort(y), np.argsort(A[:, 0])):
                    out['orders'] += integers(A[order], y[order], at) != want
                    out['orders'] += integers(np.asfortranarray(A[order]), y[order], at) != want
                out['alone'] += summed(A, y, at) != want
            out['digest'][f'{d} {intercept}'] = hashlib.sha256(want).hexdigest()
    print(json.dumps(out))


if __name__ == '__main__':
    main()
