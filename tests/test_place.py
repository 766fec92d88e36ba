"What a row adds to released integers is a function of the row alone, whatever the kernel, see place.py"
import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

KERNELS = ['', 'Haswell', 'Sandybridge', 'Nehalem'] if platform.machine() in ('x86_64', 'AMD64') else ['']


@cache
def run(kernel):
    "The report for one kernel; None where the processor can't run it"
    env = os.environ | {'OPENBLAS_NUM_THREADS': '1'} | ({'OPENBLAS_CORETYPE': kernel} if kernel else {})
    script = Path(__file__).with_name('place.py')
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True)
    if kernel and done.returncode < 0: # an instruction that this processor doesn't have
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize('kernel', KERNELS)
def test_place(kernel):
    got = run(kernel)
    if got is None: pytest.skip(f'{kernel} kernels do not run here')
    assert got['exact_moved'] == got['orders'] == got['alone'] == 0
    if got['kernel']: # the search finds rows that move in floats, so it would find them here
        assert got['float_moved'] > 0


def test_kernels_agree():
    "The same integers from every kernel (with edge rows of one's own for each, so without them here)"
    reports = [r for r in map(run, KERNELS) if r]
    digests = [{k: v for k, v in r['digest'].items() if k.endswith('True')} for r in reports]
    assert all(d == digests[0] for d in digests)
