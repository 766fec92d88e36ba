"No road leads past a ledger, no file lies about one, and nothing is written over one"
import copy
import os
import io
import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dp_pmt import cli, fit
from dp_pmt.account import Account
from dp_pmt.algorithms import dp_pmtolse, dp_ssp
from dp_pmt.anchored import dp_anchored
from dp_pmt.checks import PrivacyLeakWarning
from dp_pmt.cli import main
from dp_pmt.documents import seal
from dp_pmt.glm import dp_glm
from dp_pmt.knowledge import Knowledge
from dp_pmt.privacy import Budget, no_less, zcdp_to_eps
from dp_pmt.release import Release, combine, release
from dp_pmt.results import AdviceWarning, Fit, who_from, who_to

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


# one ledger, one guarantee

def test_a_ledger_adds_up_for_the_same_neighbours_only(folder, capsys):
    "Fits for rows, for persons and with the other relation were added up, and the total held for none of them"
    kinds = dict(), dict(unit='who'), dict(neighbours='add/remove'), dict(unit='who', neighbours='add/remove')
    for k, first in enumerate(kinds):
        for ledger in (Budget(1.), Account(f'{k}.json', rho=1.)):
            fit('y ~ a + b', PRIVATE, PUBLIC, rho=.2, budget=ledger, **first)
            fit('y ~ a', PRIVATE, PUBLIC, rho=.2, budget=ledger, **first)
            before = ledger.ledger
            for other in kinds:
                if other == first: continue
                with pytest.raises(ValueError, match="such costs don't add up"):
                    fit('y ~ a + b', PRIVATE, PUBLIC, rho=.2, budget=ledger, **other)
            assert ledger.ledger == before
            assert ledger.copy().pair == pickle.loads(pickle.dumps(ledger)).pair == ledger.pair
        assert f'neighbours: {ledger.pair}' in Account(f'{k}.json').statement()
    ledger.spend(.1, 'something else') # by hand, of which nobody says for whom
    assert typed('private.csv', epsilon=1) == 0
    assert typed('private.csv', '--unit', 'who', epsilon=1) == 2 and "don't add up" in capsys.readouterr().err


def test_the_limit_of_an_account_stays(folder):
    Account('ledger.json', epsilon=1., delta=1e-6)
    with pytest.raises(ValueError, match='opened at delta = 1e-06'): Account('ledger.json', rho=Account('ledger.json').rho, delta=1e-12)
    assert Account('ledger.json').delta == Account('ledger.json', delta=1e-6).delta == 1e-6


def test_an_account_stays_where_it_is(folder, monkeypatch):
    "Under a relative path another folder's account of the same size was charged"
    for name in 'xy':
        (folder/name).mkdir()
        monkeypatch.chdir(folder/name)
        Account('ledger.json', rho=1.)
    monkeypatch.chdir(folder/'x')
    account = Account('ledger.json')
    monkeypatch.chdir(folder/'y')
    for living in (account, pickle.loads(pickle.dumps(account)), copy.deepcopy(account)): living.spend(.3, 'a fit')
    assert Account('ledger.json').left == 1. and Account('../x/ledger.json').left == pytest.approx(.1)


def test_a_folder_does_not_get_a_second_account(folder, capsys):
    assert typed('parts/0.csv', epsilon=1) == 0
    assert typed('parts', epsilon=1) == 2 and 'a file in this folder has an account' in capsys.readouterr().err
    assert typed('parts', '--account', 'parts/0.csv.account.json', epsilon=1) == 0


def test_a_result_that_cannot_be_written_costs_nothing(folder, capsys):
    (folder/'out.json').mkdir()
    assert typed('private.csv', '--out', 'fit.html', '--out', 'out.json', epsilon=1) == 2
    assert 'names a folder' in capsys.readouterr().err and not [*folder.glob('*account*')]


def test_a_result_is_written_before_it_is_shown(folder, capsys, monkeypatch):
    "A folder that takes no file costs nothing; a level that the terminal can't show costs no result"
    for out in ('/proc/fit.json', '/proc/fit.html'):
        assert typed('private.csv', '--out', out, epsilon=1) == 2 and "can't be written" in capsys.readouterr().err
    assert not [*folder.glob('*account*')]
    g = np.array(['Zürich', 'Łódź', 'Bern'])
    PRIVATE.assign(a=g[np.arange(3000) % 3]).to_csv('private.csv', index=False)
    PUBLIC.assign(a=g[np.arange(60) % 3]).to_csv('public.csv', index=False)
    screen = io.TextIOWrapper(io.BytesIO(), encoding='cp1252')
    monkeypatch.setattr(sys, 'stdout', screen)
    assert typed('private.csv', '--out', 'fit.json', epsilon=1) == 0
    screen.flush()
    assert b'\\u0141' in screen.buffer.getvalue() and 'a[T.Łódź]' in Fit.from_json(folder/'fit.json').labels
    monkeypatch.setattr(cli, '_print', lambda *_: 1/0)
    assert typed('private.csv', '--out', 'again.json', epsilon=1) == 2 and (folder/'again.json').exists()


def test_a_second_private_file_does_not_become_the_public_one(folder, capsys):
    "A shell makes two names of `private_*.csv`, and the second was used without noise"
    PRIVATE[:2000].to_csv('private_a.csv', index=False)
    PRIVATE[2000:].to_csv('private_b.csv', index=False)
    words = '--y', 'y', '--x', 'a,b', '--epsilon', '1'
    assert main(['fit', 'private_b.csv', 'private_a.csv', *words]) == 2
    assert 'more than half' in (err := capsys.readouterr().err) and 'say --public' in err and '2000' not in err
    assert not [*folder.glob('*account*')]
    assert main(['fit', 'private_b.csv', '--public', 'private_a.csv', *words]) == 0
    assert 'public, used without noise: private_a.csv (2,000 rows)' in capsys.readouterr().err
    PRIVATE[:60].to_csv('private_c.csv', index=False)
    assert main(['fit', 'private.csv', 'private_c.csv', *words]) == 0, "few rows, nothing tells them from public ones"
    assert 'used without noise: private_c.csv (60 rows)' in capsys.readouterr().err
    for neighbours in ('replace', 'add/remove'):
        assert main(['fit', 'private_a.csv', 'private_b.csv', '--neighbours', neighbours, *words]) == 2
        assert 'an account beside it' in capsys.readouterr().err


def test_an_account_beside_a_folder_speaks_for_the_files_in_it(folder, capsys):
    (folder/'clinic').mkdir()
    PRIVATE[:2000].to_csv('clinic/a.csv', index=False)
    PRIVATE[2000:].to_csv('clinic/b.csv', index=False)
    assert typed('clinic', '--unit', 'who', epsilon=1) == 0, capsys.readouterr().err
    assert main(['fit', 'clinic/a.csv', 'clinic/b.csv', '--y', 'y', '--x', 'a,b', '--unit', 'who', '--epsilon', '1']) == 2
    assert 'folder around it' in capsys.readouterr().err


@pytest.mark.parametrize('how', ['packed', 'packed, the first gone', 'linked'])
def test_the_same_rows_under_another_name_are_charged_to_their_account(folder, capsys, how):
    "What was packed or linked opened an account of its own, so the limit held twice"
    assert typed('private.csv', epsilon=9) == 0, capsys.readouterr().err
    other = 'again.csv' if how == 'linked' else 'private.csv.gz'
    if how == 'linked': os.link('private.csv', other)
    else: pd.read_csv('private.csv').to_csv(other, index=False)
    if 'gone' in how: os.unlink('private.csv')
    assert typed(other, epsilon=9) == 2
    assert 'left' in capsys.readouterr().err
    assert [p.name for p in folder.glob('*.account.json')] == ['private.csv.account.json']
    pd.read_csv(other).to_csv('other.csv', index=False)
    assert typed('other.csv', epsilon=9) == 0 # a copy can't be told from other rows


def test_charged_rows_are_not_public_ones_under_another_name(folder, capsys):
    "A packed copy was used without noise, and `plan` asked for no account at all"
    assert typed('private.csv', epsilon=1) == 0
    pd.read_csv('private.csv')[:300].to_csv('private.csv.gz', index=False)
    os.link('private.csv', 'linked.csv')
    PRIVATE.to_csv('new.csv', index=False)
    for name in ('private.csv', 'private.csv.gz', 'linked.csv'):
        assert main(['plan', name, '--y', 'y', '--x', 'a,b', '--rows', '3000', '--epsilon', '1']) == 2
        assert 'have an account' in capsys.readouterr().err
        assert main(['fit', 'new.csv', name, '--y', 'y', '--x', 'a,b', '--epsilon', '1']) == 2
        assert 'an account beside it' in capsys.readouterr().err
    assert main(['plan', 'public.csv', '--y', 'y', '--x', 'a,b', '--rows', '3000', '--epsilon', '1']) == 0


def test_a_result_is_not_written_among_the_rows(folder, capsys):
    "It was one of them at the next fit"
    (folder/'clinic').mkdir()
    PRIVATE.to_csv('clinic/a.csv', index=False)
    assert typed('clinic', '--out', 'clinic/fit.html', epsilon=1) == 2
    assert 'read as rows' in capsys.readouterr().err and not [*folder.glob('*account*')]


def test_coefficients_without_any_error_have_a_table(folder, capsys):
    "Public responses that are all 1 left coefficients of variance 0, and a test that could not be solved"
    rows = PRIVATE.assign(y=(PRIVATE.y > -3)*1., g=['u', 'v']*(len(PRIVATE)//2))
    rows[60:].to_csv('ones.csv', index=False)
    rows[:60].assign(y=1.).to_csv('all_ones.csv', index=False)
    words = '--formula', 'y ~ a + g - 1', '--epsilon', '1', '--out', 'ones.html'
    assert main(['fit', 'ones.csv', 'all_ones.csv', *words]) == 0, capsys.readouterr().err
    assert 'F-statistic' in capsys.readouterr().out and (folder/'ones.html').exists()


@pytest.mark.parametrize('more', [['--neighbours', 'add/remove'], ['--unit', 'who']], ids=str)
def test_public_rows_are_compared_with_no_number_that_is_private(folder, capsys, monkeypatch, more):
    monkeypatch.setattr(cli, 'number_of_rows', lambda *_: 1/0)
    assert typed('private.csv', *more, epsilon=1) == 0


def test_what_the_command_is_given(folder, capsys):
    "Accounts among the files of a pattern, a file without rows, blanks and numbers among levels"
    assert typed('private.csv', epsilon=1) == 0
    assert typed('privat*', epsilon=1) == 0, capsys.readouterr().err
    PRIVATE[:0].to_csv('empty.csv', index=False)
    capsys.readouterr()
    assert typed('empty.csv', epsilon=1) == 2 and 'there are no private rows' in capsys.readouterr().err
    levels = ('Bern, Zürich', ['Bern', 'Zürich']), ('01,02', ['01', '02']), ('1, 2.5', [1, 2.5]), ('1,x', ['1', 'x'])
    for text, want in levels: assert cli._levels(text) == want


ARRAYS = PRIVATE[['a', 'b']].to_numpy(), PRIVATE.y.to_numpy(), PUBLIC[['a', 'b']].to_numpy(), PUBLIC.y.to_numpy()
YES = ARRAYS[0], 1.*(ARRAYS[1] > 0), ARRAYS[2], 1.*(ARRAYS[3] > 0)
BAD = {
    'cov': lambda **k: fit('y ~ a + b', PRIVATE, epsilon=1, cov='bad', **k),
    'cov of nothing': lambda **k: dp_anchored(*ARRAYS[:2], None, None, 1., cov='bad', safe=True, **k),
    'share': lambda **k: dp_anchored(*ARRAYS[:2], None, None, 1., inference_share=.9, safe=True, **k),
    'cov of odds': lambda **k: dp_glm(*YES, 1., cov='bad', safe=True, neighbours='add/remove', **k),
    'share of odds': lambda **k: dp_glm(*YES, 1., inference_share=.9, safe=True, neighbours='add/remove', **k),
    'split': lambda **k: fit('y ~ a + b', PRIVATE, PUBLIC, epsilon=1, method='ssp', split=2, **k),
    'split of the paper': lambda **k: dp_pmtolse(*ARRAYS, 1., split=2, safe=True, neighbours='add/remove', **k),
    'eta': lambda **k: dp_pmtolse(*ARRAYS, 1., eta=2, safe=True, neighbours='add/remove', **k),
    'eta of a release': lambda **k: release(*ARRAYS, 1., eta=2, neighbours='add/remove', **k),
    'radius': lambda **k: release(*ARRAYS, 1., radius=1e7, neighbours='add/remove', **k),
    'a large radius': lambda **k: dp_ssp(*ARRAYS[:2], 1., r_A=1e120, safe=True, **k),
    'a small radius': lambda **k: dp_ssp(*ARRAYS[:2], 1., r_A=1e-120, safe=True, **k)}


@pytest.mark.parametrize('name', BAD)
@pytest.mark.filterwarnings('ignore')
def test_bad_options_are_refused_before_anything_is_spent(name):
    "Where rows are counted, or looked at, first"
    budget = Budget(1.)
    with pytest.raises(ValueError): BAD[name](budget=budget)
    assert budget.spent == 0


# what a fit started from

def test_a_fit_that_started_from_another_says_what_both_cost(folder):
    "At a small ε it hands on the earlier coefficients, and claimed the small ε alone"
    one = fit('y ~ a + b', PRIVATE, rho=2.)
    two = fit('y ~ a + b', PRIVATE, Knowledge.of_fit(one) + Knowledge.of_ranges(dict(a=(-4, 4), b=(-4, 4), y=(-9, 9))), rho=1e-9)
    three = fit('y ~ a + b', PRIVATE, two, rho=1.)
    assert two.beta == pytest.approx(one.beta, abs=.01)
    for made, total in ((two, 2 + 1e-9), (three, 3 + 1e-9)):
        for read in (made, Fit.from_json(made.to_json())):
            said = read.statement()
            assert sum(rho for rho, *_ in read.earlier) == pytest.approx(total - read.rho) and f'{no_less(total, 6)}-zCDP, epsilon = ' in said
            shown = float(said.split('epsilon = ')[-1].split(' at')[0])
            assert zcdp_to_eps(total, 1e-6) <= shown < 1.001*zcdp_to_eps(total, 1e-6)
            assert 'after a fit that cost' in read.privacy()
    assert 'public' not in ' '.join(two.advice)
    text = json.loads(three.to_json())
    refused(forged(three, earlier=[]), 'statement')
    assert 'earlier fit' not in fit('y ~ a + b', PRIVATE, PUBLIC, rho=1.).statement()
    assert [tuple(e.values()) for e in text['earlier']] == three.earlier == two.cost


def test_costs_for_different_neighbours_or_with_a_seed_are_not_added():
    "Somebody with twenty rows in a fit for rows pays four hundred times its cost, and a known seed is no noise"
    rows = fit('y ~ a + b', PRIVATE, PUBLIC, rho=.05)
    with pytest.warns(AdviceWarning, match='experiment'): seeded = fit('y ~ a + b', PRIVATE, PUBLIC, rho=.05, seed=0)
    for start, more in ((rows, dict(unit='who')), (rows, dict(neighbours='add/remove')), (seeded, {})):
        made = fit('y ~ a + b', PRIVATE, start, rho=.05, **more)
        for read in (made, Fit.from_json(made.to_json())):
            said = read.statement()
            assert "nothing is claimed for who is in both" in said and 'is in both is protected' not in said
            assert f'neighbours: {start.who.named_pair}, by ' in said and 'pays for both' in ' '.join(read.advice)
    assert 'floating point' in said and '0.05-zCDP, neighbours' in said


@pytest.mark.filterwarnings('ignore')
def test_costs_for_other_persons_are_not_added():
    "A fit that protects visits and one that protects patients: 'whoever is in both' was promised the sum"
    table = PRIVATE.assign(visit=np.arange(3000))
    refused_sum = "nothing is claimed for who is in both"
    visits = fit('y ~ a + b', table, PUBLIC, rho=.05, unit='visit')
    joint = release(table[['a', 'b', 'visit']], table.y, PUBLIC[['a', 'b']], PUBLIC.y, .05, unit='visit', intercept=True)
    for start in (visits, Fit.from_json(visits.to_json()), Release.from_json(joint.to_json())):
        for unit, adds in (('who', False), (table.who, False), ('visit', True), (table.visit.to_numpy(), True)):
            made = fit('y ~ a + b', table, start, rho=.05, unit=unit)
            for said in (made.statement(), Fit.from_json(made.to_json()).statement()):
                assert (refused_sum in said) != adds and 'one person replaced, unit visit, by' in said
            assert 'one person replaced, unit visit)' in ' '.join(made.advice)
    third = fit('y ~ a + b', table, fit('y ~ a + b', table, visits, rho=.05, unit=table.who.to_numpy()), rho=.05, unit='who')
    assert refused_sum in third.statement() # and so where one between them has no name
    older = {k: v for k, v in json.loads(visits.to_json()).items() if k not in ('ids', 'sha256')}
    older['statement'] = older['statement'].replace(', unit visit', '')
    assert Fit.from_json(seal(older)).who.ids == ''
    for lie in ('', 'a, b', 'patient 2020-01-01'):
        refused(forged(third, earlier=[dict(rho=.1, neighbours=f'one person replaced, unit {lie}', noise='gaussian')]), 'say whom')
    refused(forged(visits, ids='who'), 'statement')
    refused(forged(visits, ids='no, name'), 'plain name')
    both = [release(table[['a', 'b', u]], table.y, PUBLIC[['a', 'b']], PUBLIC.y, .05, unit=u) for u in ('who', 'visit')]
    assert combine(*both).who.ids == 'visit and who'


def test_what_a_person_is_belongs_to_a_ledger(folder):
    "Patients and their doctors: each was protected, the sum for neither"
    table = PRIVATE.assign(doctor=np.arange(3000) % 40)
    for ledger in (Budget(1.), Account('ledger.json', rho=1.)):
        spend = lambda unit: fit('y ~ a', table, PUBLIC, rho=.1, unit=unit, budget=ledger)
        spend(table.who.to_numpy()) # has no name
        spend('who')
        with pytest.raises(ValueError, match='unit who, and this would pay for one person replaced, unit doctor'): spend('doctor')
        with pytest.raises(ValueError, match="don't add up"): spend(table.doctor)
        spend(table.who)
        assert ledger.spent == pytest.approx(.3)


def test_entries_that_do_not_say_for_whom_stay_so(folder):
    "The next payment of an older account made its own of all that was paid"
    account = Account('ledger.json', rho=1.)
    account.spend(.3, 'by hand')
    fit('y ~ a', PRIVATE, PUBLIC, rho=.1, unit='who', budget=account)
    assert 'neighbours: one person replaced, unit who, where an entry says it, over' in Account('ledger.json').statement()


def test_files_with_costs_rounded_to_the_nearest_are_read():
    "As they were written before claims were rounded up"
    made = fit('y ~ a + b', PRIVATE, PUBLIC, epsilon=1.00049)
    said = made.statement()
    near = said.replace('1.001', '1')
    assert near != said and Fit.from_json(forged(made, statement=near)).rho == made.rho
    refused(forged(made, statement=said.replace('1.001', '0.9')), 'statement')
    refused(forged(made, statement=said.replace('3,000', '3,001')), 'statement')


def test_combined_releases_of_persons_can_be_written():
    "Noise of the cheap parts was more than the dear one allowed"
    for k in range(12):
        parts = [release(*(x[i::3] for x in ARRAYS[:2]), *ARRAYS[2:], rho, unit=np.arange(1000)) for i, rho in enumerate((1., .001, .001))]
        Release.from_json(combine(*parts).to_json())


def test_a_limit_is_meant_at_the_delta_of_the_account(folder):
    Account('ledger.json', epsilon=3., delta=1e-9)
    assert Account('ledger.json', epsilon=3.).delta == 1e-9


@pytest.mark.parametrize('eps', [1.00049, 2.34561, .312349])
def test_claims_are_rounded_up(eps):
    made = fit('y ~ a + b', PRIVATE, PUBLIC, epsilon=eps)
    assert made.rho
    for said in (made.statement(), made.privacy().replace('ε', 'epsilon')):
        shown = float(said.split('epsilon = ')[1].split(' ')[0])
        assert made.eps() <= shown < made.eps()*1.001


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


def lies(made, why, **changes):
    "A file with these entries, whose statement is that of its numbers, is refused"
    who = {k: changes.get(k, v) for k, v in who_to(made.who).items()}
    fields = {k: v for k, v in changes.items() if k not in who and k in vars(made)}
    claimed = replace(made, who=who_from({'format': 'dp_pmt fit 1', **who}), **fields)
    refused(forged(made, statement=claimed.statement(), **changes), why, type(made).from_json)


def test_a_file_can_not_change_whom_it_protects():
    "Where the number of rows is private, it was paid for"
    known = ARRAYS
    to_persons = dict(unit='person', neighbours='one person replaced', per_unit=1, units=3000)
    added = dict(neighbours='one row added or removed')
    for made in (MADE, release(*known, .5), release(*known, .5, unit=PRIVATE.who.to_numpy())):
        if made.who.unit == 'row':
            lies(made, 'paid for|the sensitivity must be', **to_persons)
            lies(made, 'paid for|the sensitivity must be', **added)
        else: lies(made, 'counts for more than one', units=2)
    persons = fit('y ~ a + b', PRIVATE, PUBLIC, epsilon=1, unit='who')
    lies(persons, 'paid for', unit='row', neighbours='one row replaced', per_unit=None, units=None, ids='')
    lies(persons, 'counts for more than one', units=2)


def test_entries_that_contradict_each_other():
    lies(MADE, 'wrong type, shape or range', r2=7.)
    lies(MADE, 'for lines', family='binomial')
    lies(MADE, 'the response of the fit', response='wage')
    lies(MADE, 'both have an intercept', intercept=None, covariance=[r[:-1] for r in MADE.cov[:-1].tolist()],
         covariance_privacy=None, assumed=[], collinear=[])
    bare = replace(MADE, cov='none was asked for', cov_privacy=None, cov_type=None)
    refused(forged(bare, cov_type='robust'), 'goes with a covariance')
    refused(json.dumps({**json.loads(MADE.to_json(key='0123456789abcdef')), 'signature': 'é'*64}), 'not signed with this key',
            lambda text: Fit.from_json(text, key='0123456789abcdef'))


@pytest.mark.parametrize('old, new', [
    ('exp(5.222)', 'exp(0.001)'), ('Each row', 'Each person'), ('epsilon = 5.222', 'epsilon = 0.1; epsilon = 5.222')])
def test_an_old_release_claims_one_thing(old, new):
    text = (Path(__file__).parent/'data'/'release_2.json').read_text(encoding='utf-8')
    Release.from_json(text)
    c = json.loads(text)
    c.pop('sha256')
    refused(seal(c | dict(statement=c['statement'].replace(old, new))), 'statement', Release.from_json)


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
