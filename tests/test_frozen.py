"The estimators return what they returned before the package was rebuilt, see frozen.py"
import pytest
from frozen import GROUPS, compare


@pytest.mark.parametrize('name', GROUPS)
def test_frozen(name):
    lines, _ = compare([name])
    assert lines == []
