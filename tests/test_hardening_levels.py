"Levels are those that public rows show; ids follow the labels of the rows"
import numpy as np
import pandas as pd
import pytest

from dp_pmt import fit
from dp_pmt.sklearn_api import PrivateLinearRegression


def table(n=600):
    rng = np.random.default_rng(0)
    return pd.DataFrame(dict(y=rng.normal(size=n), x=rng.normal(size=n), region=rng.choice(['north', 'south'], n)))


@pytest.mark.parametrize('arrow', [False, True])
def test_slices_of_categories_show_their_own_levels(arrow):
    "A slice of a categorical column lists the levels of the whole table: a private one was a label"
    rows = table()
    rows.loc[599, 'region'] = 'clinic'
    rows['region'] = rows.region.astype('category')
    public, private = rows[:100], rows[100:]
    if arrow:
        pa = pytest.importorskip('pyarrow')
        public = pa.Table.from_pandas(public, preserve_index=False)
    made = fit('y ~ x + region', private, public, epsilon=3, seed=0)
    assert made.labels == ['x', 'region[T.south]', '(intercept)']
    assert 'clinic' not in made.to_json()


def test_ids_of_estimators_follow_labels():
    "By position ids of another order gave one person a weight of hundreds"
    rows = table()
    who = pd.Series(np.arange(600)//3, name='who')
    order = np.random.default_rng(1).permutation(600)
    mixed = rows.iloc[order]
    model = PrivateLinearRegression(epsilon=3, random_state=0)
    with pytest.raises(ValueError, match='labelled differently'): model.fit(mixed[['x']], mixed.y, unit=who)
    with pytest.raises(ValueError, match='labelled differently'): model.fit(rows[['x']].to_numpy(), rows.y, unit=who.iloc[order])
    model.fit(mixed[['x']], mixed.y, unit=who.iloc[order])
    model.fit(rows[['x']].to_numpy(), rows.y, unit=who)


def test_levels_in_another_case_are_asked_about():
    "Private a is not public A: the factor is never seen, and the advice spoke of rare levels only"
    rows = table(20_000)
    public = rows[:200].assign(region=rows.region[:200].str.upper())
    with pytest.warns(UserWarning, match='spelled alike in public and in private'):
        made = fit('y ~ x + region', rows[200:], public, rho=1., seed=0)
    assert made.labels[1] == 'region[T.SOUTH]'
