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
    assert len(table) and set(table.columns) <= set(columns(file)) | {'errors', 'error', 'trial'}
    assert set(columns(file)) - set(table.columns) <= {'errors', 'machine', 'workers', 'python', 'cores'}
