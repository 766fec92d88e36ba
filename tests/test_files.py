"Files that earlier versions wrote are still read"
from pathlib import Path

from dp_pmt.release import Release

HERE = Path(__file__).parent/'data'


def test_release_of_format_2():
    rel = Release.from_json(HERE/'release_2.json')
    table = rel.fit().intervals()
    assert rel.used is None and rel.n == 3000 and abs(rel.rho - .5) < 1e-12
    assert list(table.index) == ['age', 'dose', 'weight', '(intercept)']
    assert ((table.low < [1, -2, 3, 50]) & (table.high > [1, -2, 3, 50])).sum() >= 3
    again = Release.from_json(rel.to_json())
    assert (again.Sigma == rel.Sigma).all()
