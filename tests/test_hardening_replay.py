"""Every question that a whole fit asks, replayed with extreme rows

The queries are those that the steps arrive at, with their own coordinates, radii and clips. What one row adds, in
integers, must stay within the claimed sensitivity, alone (add/remove) and against any other row (replace)."""
from itertools import product

import numpy as np
import pytest
from dp_pmt.crossing import Pass, Run
from dp_pmt.glm import dp_glm

SIZES = 0., 1., -1., 3., 700., -700., 1e6, -1e6, 1e40, -1e75, 1e149, 1e-150, 1e-300, np.nan
RESPONSES = 0., 1., .5, -1., 7., 1e9, -1e9, 1e149, 5e-324, np.inf


def rows_of(family, n, rng):
    "Rows, and responses of a family"
    A = np.c_[rng.normal(size=n), rng.exponential(size=n), rng.random(n) < .3]
    eta = A @ [.3, -.2, .4]
    y = {'gaussian': eta + rng.normal(size=n), 'binomial': rng.random(n) < 1/(1 + np.exp(-eta)),
         'poisson': rng.poisson(np.exp(eta))}[family]
    return A, y.astype(float)


def extreme_rows(rng, m=250):
    "Rows of odd sizes with odd responses; columns of one size and of several"
    same = [(a*np.array(signs), t) for a, t, signs in product(SIZES, RESPONSES, ([1, 1, 0], [1, -1, 1]))]
    mixed = [(rng.choice(SIZES, 3), t) for t in rng.choice(RESPONSES, m)]
    return same + mixed


@pytest.mark.parametrize('family', ['gaussian', 'binomial', 'poisson'])
def test_no_row_adds_more_than_a_fit_claims(family, monkeypatch):
    asked, inner = [], Run.ask
    def ask(self, *questions):
        asked.extend(query for query, *_ in questions)
        return inner(self, *questions)
    monkeypatch.setattr(Run, 'ask', ask)
    rng = np.random.default_rng(3)
    private, public = rows_of(family, 1500, rng), rows_of(family, 80, rng)
    dp_glm(*private, *public, 1., family=family, intercept=True, safe=True, warn=False)
    assert {'JointMoments', 'Influences'} <= {type(q).__name__ for q in asked}
    odd = extreme_rows(rng)
    for query in asked:
        one = Pass((query,), integers=True)
        with np.errstate(all='ignore'):
            adds = np.array([np.ravel(one(a[None], np.array([t]))[0]) for a, t in odd], float)
        of = type(query).__name__
        assert np.linalg.norm(adds, axis=1).max() <= query.sensitivity(True, 'add/remove'), of
        far = adds[np.argsort(-np.linalg.norm(adds, axis=1))[:60]] # the long ones, against each other and zero
        gaps = np.linalg.norm(far[:, None] - far, axis=2)
        assert gaps.max() <= query.sensitivity(True, 'replace'), of
