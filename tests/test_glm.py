"Logistic regression at its worst pair of rows: the sensitivity is reached, and an audit finds the noise that was promised"
import math

import numpy as np

from dp_pmt.audit import audit
from dp_pmt.crossing import Run
from dp_pmt.glm import WeightedAnchor
from dp_pmt.losses import Logistic
from dp_pmt.preconditioning import view
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
