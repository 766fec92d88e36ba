"No table without its writer: each is written at small size, and has the columns of the saved one"
import os

import numpy as np
import pandas as pd
import pytest
from tables import GIVEN, TABLES, columns, data

from dp_pmt import comparison, glm_comparison


def test_every_table_has_a_writer():
    saved = {p.name for p in data.iterdir() if not p.name.endswith('.schema.json')}
    assert saved == GIVEN | set(TABLES)


@pytest.mark.skipif(not os.environ.get('SLOW'), reason='slow: SLOW=1')
@pytest.mark.parametrize('file', TABLES)
def test_writer(file):
    table = TABLES[file](True)
    assert len(table)
    if file == 'results.csv.gz': return # loaded again: one row a trial, not one a setting
    assert set(table.columns) <= set(columns(file))
    if file != 'benchmark.csv.gz': assert set(table.columns) == set(columns(file)) # that one adds the machine


def rows(d):
    "A few rows; nothing is fitted"
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, d)), rng.normal(size=60), rng.normal(size=(20, d)), rng.normal(size=20)


def listed(file):
    "All labels that a writer lists"
    A, y, B, y_B = every = rows(3)
    if file == 'comparison_regressions.csv.gz':
        return {*comparison._regression_methods(*every, 1.), *comparison._public_only(B, y_B)}
    if file == 'glm_trials.csv.gz':
        answers = dict(binomial=(y > 0)*1., poisson=np.arange(60.) % 3)
        found = [glm_comparison._methods(A, t, B, t[:20], family, eps)
                 for family, t in answers.items() for eps in (1., 3., 10.)]
        return {label for methods in found for label in methods}
    methods = comparison._rival_methods(A, y, 1.) | comparison._leaky_methods(A, y, 1.)
    return {*methods, *comparison._public_methods(*every, 1.), *comparison._free_methods(*every)}


@pytest.mark.parametrize('file', ['comparison_main.csv.gz', 'comparison_further.csv.gz',
                                  'comparison_regressions.csv.gz', 'glm_trials.csv.gz'])
def test_saved_methods_are_those_that_run(file):
    saved = set(pd.read_csv(data/file, usecols=['method']).method)
    assert saved == listed(file)
