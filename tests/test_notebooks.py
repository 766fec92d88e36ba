"Every notebook is a test; slow cells run with SLOW=1"
import os

import pytest
from nb import notebooks, root
from nbdev.test import test_nb as run_notebook


@pytest.mark.parametrize('path', notebooks(), ids=lambda p: str(p.relative_to(root/'nbs')))
def test_notebook(path):
    ok, seconds = run_notebook(path, skip_flags=[] if os.environ.get('SLOW') else ['slow'], basepath=root)
    print(f'{path.name} {seconds:.1f} s')
    assert ok, f'{path.name} failed: the traceback is above'
