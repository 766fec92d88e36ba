"One account, several processes, as a user runs them: nobody overdraws it, and a killed one leaves its spending on record"
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from dp_pmt.account import Account

pytest.importorskip('pyarrow')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    "Two files, and a place for what accounts remember"
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path/'state'))
    rng = np.random.default_rng(0)
    for name, n in dict(private=3000, public=60).items():
        x = rng.normal(size=(n, 2))
        table = pd.DataFrame(dict(a=x[:, 0], b=x[:, 1], y=x @ [1., 2] + rng.normal(size=n)))
        table.to_csv(tmp_path/f'{name}.csv', index=False)
    return tmp_path


def started(folder, *words):
    "A command that was started"
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen([sys.executable, *words], cwd=folder, **pipes)


def test_commands_at_once_never_overdraw(folder):
    "Three fits of epsilon 1 out of an account over 1.3: one at most is paid in full, whoever opens the account"
    words = ['-m', 'dp_pmt', 'fit', 'private.csv', 'public.csv', '--y', 'y', '--x', 'a,b', '--epsilon', '1', '--limit', '1.3']
    runs = [started(folder, *words) for _ in range(3)]
    said = [r.communicate() for r in runs]
    paid = [r.returncode == 0 for r in runs]
    assert sum(paid) <= 1, said
    for (out, err), ok in zip(said, paid): assert ok or not out and 'budget exhausted' in err
    account = Account(folder/'private.csv.account.json')
    assert 0 < account.spent <= account.rho*(1 + 1e-12)


KILLED = '''
import os, signal
from dp_pmt import Account, fit
from dp_pmt.crossing import Run
Run._noisy = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
account = Account('ledger.json', epsilon=2, about='killed')
print(fit(private='private.csv', public='public.csv', y='y', epsilon=1, budget=account).summary())
'''


@pytest.mark.skipif(not hasattr(signal, 'SIGKILL'), reason='no such signal here')
def test_a_killed_fit_leaves_its_spending(folder):
    "Killed after it paid and before it answered"
    run = started(folder, '-c', KILLED)
    out, _ = run.communicate()
    assert (run.returncode, out) == (-signal.SIGKILL, '')
    account = Account(folder/'ledger.json')
    assert account.spent > 0 and account.ledger and 'killed' in account.statement()
