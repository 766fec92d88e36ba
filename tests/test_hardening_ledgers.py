"No road leads past a ledger, no file lies about one, and nothing is written over one"
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from dp_pmt import fit
from dp_pmt.account import Account
from dp_pmt.checks import PrivacyLeakWarning
from dp_pmt.cli import main
from dp_pmt.documents import seal
from dp_pmt.knowledge import Knowledge
from dp_pmt.privacy import Budget
from dp_pmt.release import release
from dp_pmt.results import Fit

pytest.importorskip('pyarrow')


def rows(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return pd.DataFrame(dict(a=x[:, 0], b=x[:, 1], y=x @ [1., 2] + rng.normal(size=n), who=np.arange(n)//3))


PRIVATE, PUBLIC = rows(3000, 0), rows(60, 1)
MADE = fit('y ~ a + b', PRIVATE, PUBLIC, epsilon=1)


# the command

@pytest.fixture
def folder(tmp_path, monkeypatch):
    "Private rows as a file and as a folder, and public ones; the command runs there"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path/'state'))
    (tmp_path/'parts').mkdir()
    PRIVATE.to_csv('private.csv', index=False)
    PUBLIC.to_csv('public.csv', index=False)
    for k in range(2): PRIVATE[k::2].to_csv(f'parts/{k}.csv', index=False)
    return tmp_path


def typed(private, *words, epsilon=9):
    "A fit by the command; two of them are more than a new account pays for"
    return main([str(w) for w in ('fit', private, 'public.csv', '--y', 'y', '--x', 'a,b', '--epsilon', epsilon, *words)])


@pytest.mark.parametrize('name', ['link.csv', 'there/private.csv', 'privat?.csv', './parts/../private.csv'])
def test_a_file_has_one_account_whatever_it_is_called(folder, capsys, name):
    (folder/'link.csv').symlink_to('private.csv')
    (folder/'there').symlink_to('.')
    assert typed('private.csv') == 0
    assert typed(name) == 2 and 'budget exhausted' in capsys.readouterr().err
    assert [p.name for p in folder.rglob('*.account.json')] == ['private.csv.account.json']


def test_a_link_opens_the_account_of_the_file(folder, capsys):
    (folder/'elsewhere').mkdir()
    (folder/'elsewhere'/'link.csv').symlink_to(folder/'private.csv')
    assert typed('elsewhere/link.csv') == 0
    assert typed('private.csv') == 2 and 'budget exhausted' in capsys.readouterr().err


def test_a_folder_and_its_files_have_one_account(folder, capsys):
    (folder/'link').symlink_to('parts')
    assert typed('parts') == 0
    for name in ('link', 'parts/0.csv', 'parts/1*.csv'):
        assert typed(name) == 2 and 'budget exhausted' in capsys.readouterr().err, name
    assert [p.name for p in folder.rglob('*.account.json')] == ['parts.account.json']


def test_several_files_need_an_account_that_is_named(folder, capsys):
    (folder/'links').mkdir()
    (folder/'links'/'0.csv').symlink_to(folder/'private.csv')
    for name in ('parts/*.csv', 'links'):
        assert typed(name) == 2 and '--account names one' in capsys.readouterr().err
    assert typed('nothing*.csv') == 2 and 'no file' in capsys.readouterr().err
    assert not [*folder.rglob('*account*')]
    assert typed('parts/*.csv', '--account', 'ledger.json') == 0
    assert typed('parts/*.csv', '--no-account') == 0


def test_no_result_is_written_over_a_ledger_or_an_input(folder, capsys):
    assert typed('private.csv', '--out', 'fit.json', epsilon=1) == 0
    (folder/'ranges.json').write_text('{"a": [-4, 4]}')
    (folder/'link.json').symlink_to('private.csv.account.json')
    (folder/'data.json').symlink_to('private.csv')
    Account('other.json', rho=1.)
    before = {p: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    for out in ('private.csv.account.json', './private.csv.account.json', 'link.json', 'data.json', 'other.json'):
        for more in ((), ('--no-account',)): assert typed('private.csv', '--out', out, *more, epsilon=1) == 2, out
    words = '--y', 'y', '--x', 'a,b', '--epsilon', '1', '--no-account', '--out'
    assert main(['fit', 'private.csv', '--ranges', 'ranges.json', *words, 'ranges.json']) == 2
    assert main(['fit', 'private.csv', 'fit.json', *words, 'fit.json']) == 2
    assert typed('private.csv', '--account', 'new.json', '--out', 'new.json', epsilon=1) == 2
    assert 'wrote' not in capsys.readouterr().err.split('fit.json')[-1]
    assert {p: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before
    assert typed('private.csv', '--out', 'fit.json', epsilon=1) == 0, "an older result may be replaced"


# ledgers in memory and on the disk

def test_a_pickled_ledger_is_not_a_second_one():
    budget = Budget(1.)
    settings = pickle.loads(pickle.dumps(dict(budget=budget)))
    settings['budget'].spend(.8, 'a fit')
    assert budget.spent == .8
    with pytest.raises(ValueError, match='exhausted'): budget.spend(.8, 'another')
    kept = pickle.dumps(budget)
    del budget, settings
    late = pickle.loads(kept)
    assert late.ledger == [('a fit', .8)]
    with pytest.raises(ValueError, match='gone'): late.spend(.1, 'more')


def test_a_lost_account_has_nothing_left(folder, capsys):
    account = Account('ledger.json', rho=1.)
    account.spend(.9, 'nearly all')
    path = folder/'ledger.json'
    whole = path.read_bytes()
    path.unlink()
    for look in (lambda: account.left, lambda: account.spend(.1, 'more'), lambda: account.can_spend(.1) or account.left,
                 lambda: Account('ledger.json'), lambda: Account('ledger.json', rho=1.), lambda: Account(path, epsilon=9.)):
        with pytest.raises(ValueError, match='gone|no such account'): look()
        assert not path.exists(), "a look makes no file"
    first = whole.index(b'\n') + 1
    for less in (b'', whole[:9], whole[:first], whole[:-9]):
        path.write_bytes(less)
        for look in (lambda: account.left, lambda: Account(path), lambda: Account(path, rho=1.)):
            with pytest.raises(ValueError): look()
        assert path.read_bytes() == less
    path.unlink()
    assert typed('private.csv', '--account', 'ledger.json', epsilon=1) == 2
    assert 'gone' in capsys.readouterr().err


def test_an_account_that_paid_nothing_may_be_opened_again(folder):
    Account('ledger.json', rho=1.)
    (folder/'ledger.json').unlink()
    assert Account('ledger.json', rho=2.).left == 2.


def test_an_interrupted_payment_is_counted(folder, monkeypatch):
    "Somebody stops the process once the payment is on the disk; in a notebook the account lives on"
    account = Account('ledger.json', rho=1.)
    def stopped(*_): raise KeyboardInterrupt
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr('dp_pmt.account._remember', stopped)
        account.spend(.8, 'a fit')
    with pytest.raises(ValueError, match='exhausted'): account.spend(.8, 'another')
    assert account.ledger == Account('ledger.json').ledger == [('a fit', .8)]


def test_an_account_needs_no_home(folder, monkeypatch):
    "As in a container whose user has no name: then there is no witness"
    def nowhere(): raise RuntimeError('no home')
    monkeypatch.delenv('XDG_STATE_HOME')
    monkeypatch.setattr('pathlib.Path.home', nowhere)
    Account('ledger.json', rho=1.).spend(.4, 'a fit')
    assert Account('ledger.json').left == .6


# files that lie

def forged(made, **changes):
    "The file of a result with entries changed, and a fresh checksum"
    c = {**json.loads(made.to_json()), **changes}
    c.pop('sha256')
    return seal(c)


def refused(text, why, read=Fit.from_json):
    with pytest.raises(ValueError, match=why): read(text)


def test_a_file_that_spent_says_so():
    public = replace(MADE, rho=0., budget=None).statement()
    refused(forged(MADE, rho=0., eps=0., statement=public), 'add up')
    bare = replace(MADE, budget=Budget(MADE.rho))
    refused(forged(MADE, budget=dict(rho=MADE.rho, ledger=[]), statement=bare.statement()), 'add up')
    with pytest.raises(ValueError, match='add up'): bare.to_json()


def test_no_more_rows_count_than_there_are():
    refused(forged(MADE, used=3001., statement=replace(MADE, used=3001.).statement()), 'no more rows')
    known = PRIVATE[['a', 'b']], PRIVATE.y, PUBLIC[['a', 'b']], PUBLIC.y
    made = release(*known, .5)
    text = forged(made, used=3001., statement=replace(made, used=3001.).statement())
    refused(text, 'no more rows', type(made).from_json)


def test_what_privacy_leaves_of_a_covariance_is_one():
    sd = np.sqrt(np.diag(MADE.cov))
    part = .99*np.outer(sd, sd) + .01*np.diag(sd**2)
    assert np.linalg.eigvalsh(part)[0] > 0
    refused(forged(MADE, covariance_privacy=part.tolist()), 'no more than the covariance')


@pytest.mark.parametrize('options', [
    dict(), dict(unit='who'), dict(unit='who', neighbours='add/remove'), dict(neighbours='add/remove'), dict(method='pmtolse'),
    dict(method='ssp'), dict(epsilon=.01), dict(epsilon=50), dict(intercept=False), dict(public=None, formula='y ~ a')])
@pytest.mark.filterwarnings('ignore')
def test_honest_files_are_read(options):
    scaled = PRIVATE.assign(a=PRIVATE.a*1e4, b=np.where(np.arange(3000) % 3, PRIVATE.b*.01, np.nan))
    public = PUBLIC.assign(a=PUBLIC.a*1e4, b=PUBLIC.b*.01)
    given = dict(formula='y ~ a + b', private=scaled, public=public, epsilon=1) | options
    made = fit(**given)
    assert Fit.from_json(made.to_json()).rho == made.rho


# public tables

@pytest.mark.parametrize('coef, se', [
    (np.nan, .1), (np.inf, .1), (-np.inf, None), (1., np.nan), (1., np.inf), (1., 0.), (1., -.1), (1., 1e200), (1., 'x')])
def test_a_table_holds_numbers(coef, se):
    with pytest.raises(ValueError): Knowledge.of_table(dict(a=coef), None if se is None else dict(a=se))


def test_a_table_is_whole():
    with pytest.raises(ValueError, match='no standard error of b'): Knowledge.of_table(dict(a=1., b=2.), dict(a=.1))
    with pytest.raises(ValueError, match='means'): Knowledge.of_table(dict(a=1.), means=dict(a=np.nan), sds=dict(a=1.))
    made = Knowledge.of_table({'a': 1., 2: 3., 'const': np.nan}, {'a': .1, 2: .3})
    np.testing.assert_allclose(np.diag(made.cov), [.01, .09])


# scikit-learn

def _refitting():
    "What fits a model several times: pairs (name, estimator), and whether it is for classes"
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor, StackingRegressor, VotingRegressor
    from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
    from sklearn.linear_model import RANSACRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.multioutput import MultiOutputRegressor
    from sklearn.multiclass import OneVsRestClassifier
    from dp_pmt.sklearn_api import PrivateLinearRegression, PrivateLogisticRegression
    line = PrivateLinearRegression(random_state=0)
    yes = PrivateLogisticRegression(random_state=0, classes=(0, 1))
    two = [('one', line), ('other', line)]
    return {
        'bagging': (BaggingRegressor(line, 2), 'y'), 'boosting': (AdaBoostRegressor(line, n_estimators=2), 'y'),
        'stacking': (StackingRegressor(two, cv=2), 'y'), 'voting': (VotingRegressor(two), 'y'),
        'elimination': (RFE(line), 'y'), 'elimination in folds': (RFECV(line, cv=2), 'y'),
        'selection': (SequentialFeatureSelector(line, n_features_to_select=1, cv=2), 'y'),
        'consensus': (RANSACRegressor(line, max_trials=2, random_state=0, min_samples=9), 'y'),
        'search': (GridSearchCV(line, dict(epsilon=[1, 2]), cv=2), 'y'), 'responses': (MultiOutputRegressor(line), 'both'),
        'calibration': (CalibratedClassifierCV(yes, cv=2), 'yes'), 'classes': (OneVsRestClassifier(yes), 'yes')}


@pytest.mark.parametrize('name', ['bagging', 'boosting', 'stacking', 'voting', 'elimination', 'elimination in folds', 'selection',
                                  'consensus', 'search', 'responses', 'calibration', 'classes'])
@pytest.mark.filterwarnings('ignore')
def test_whatever_fits_several_times_is_warned_of(name):
    pytest.importorskip('sklearn')
    model, response = _refitting()[name]
    X, y = PRIVATE[['a', 'b']].to_numpy()[:300], PRIVATE.y.to_numpy()[:300]
    known = dict(y=y, both=np.c_[y, y], yes=(y > 0).astype(int))
    with pytest.warns(PrivacyLeakWarning, match='each fold, setting and member'): model.fit(X, known[response])
