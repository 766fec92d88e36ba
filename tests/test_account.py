"One account, several processes, as a user runs them: nobody overdraws it, and a killed one leaves its spending on record"
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest
from dp_pmt.account import Account
from dp_pmt.privacy import Budget

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


FULL = '''
import os, resource, signal
from dp_pmt import Account
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = os.path.getsize('ledger.json') + 40
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
Account('ledger.json').spend(.5, 'a release')
'''


@pytest.mark.skipif(not hasattr(signal, 'SIGXFSZ'), reason='no such limit here')
def test_a_full_disk_is_no_payment(folder):
    "What can't be written as a whole is not paid: else it would be released, and the account would not know"
    Account(folder/'ledger.json', rho=1.).spend(.1, 'the first')
    run = started(folder, '-c', FULL)
    run.communicate()
    assert run.returncode == 1
    account = Account(folder/'ledger.json')
    assert account.spent == .1
    account.spend(.2, 'a later one')
    assert [what for what, _ in account.ledger] == ['the first', 'a later one']


def _spent(budget): return budget.spend(.4, 'in another process')


def test_a_ledger_in_memory_is_not_spent_elsewhere(folder):
    "A copy in another process would spend the same again, and the ledger of the user would say nothing"
    budget = Budget(1.)
    with ProcessPoolExecutor(1) as pool:
        with pytest.raises(ValueError, match='another process'): pool.submit(_spent, budget).result()
        account = Account(folder/'ledger.json', rho=1.)
        assert pool.submit(_spent, account).result() == .4
    assert budget.spent == 0 and account.spent == .4
    assert pickle.loads(pickle.dumps(budget)).rho == 1.


def test_what_is_no_account_stays_as_it_is(folder):
    "A file without a line break at its end is no account with half an entry"
    path = folder/'private.csv'
    path.write_text(path.read_text().rstrip('\n'))
    before = path.read_bytes()
    with pytest.raises(ValueError): Account(path)
    assert path.read_bytes() == before
