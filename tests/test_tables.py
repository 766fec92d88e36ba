"No table without its writer: each is written at small size, and has the columns of the saved one"
import os

import pytest
from tables import GIVEN, TABLES, columns, data


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
