"""The command as a new user meets it: what its report shows, what it says of mistakes, and what it leaves on the disk."""
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

pytest.importorskip('formulaic')
pytest.importorskip('pyarrow')
from dp_pmt.cli import main, report
from dp_pmt.formulas import EncodedRows, Encoding
from dp_pmt.front import fit
from dp_pmt.results import Fit

FORMULA = 'wage ~ education + region'


def table(n, seed):
    "Wages by education and region, with gaps in education"
    rng = np.random.default_rng(seed)
    education, region = rng.integers(8, 18, n).astype(float), rng.choice(['north', 'south', 'west'], n)
    wage = 5 + education + 2*(region == 'south') + rng.normal(size=n)
    education[rng.random(n) < .3] = np.nan
    return pd.DataFrame(dict(wage=wage, education=education, region=region, insurance=np.where(wage > 17, 'yes', 'no')))


PUBLIC, PRIVATE = table(80, 0), table(3000, 1)


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    "A function that runs the command in a folder with two files: exit code, output, and what was said beside it"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path/'state'))
    PUBLIC.to_csv('public.csv', index=False)
    PRIVATE.to_csv('private.csv', index=False)
    return lambda *words: (main([str(w) for w in words]), *capsys.readouterr())


def fitted(typed, tmp_path, *words, formula=FORMULA, epsilon=3, public='public.csv'):
    "The report of a fit, its tags taken out"
    code, _, err = typed('fit', 'private.csv', *([public] if public else []), '--formula', formula, '--epsilon', epsilon,
                         '--out', 'report.html', *words)
    assert code == 0, err
    return (tmp_path/'report.html').read_text(encoding='utf-8')


def section(page, title):
    "The text below a heading"
    part = page.split(f'<h2>{title}</h2>')[1].split('<h2>')[0]
    return re.sub(r'\s+', ' ', unescape(re.sub('<[^>]+>', ' ', part)))


# the report

def test_the_header_has_two_columns_and_the_table_scrolls_alone(typed, tmp_path):
    page = fitted(typed, tmp_path)
    style = re.search('<style>(.*)</style>', page, re.S)[1]
    assert 'auto-fit' not in style, "three columns scramble the order"
    assert re.search(r'\.dp-facts tbody \{[^}]*grid-template-columns: 1fr 1fr', style)
    assert re.search(r'\.dp-coefficients \{[^}]*overflow-x: auto', style) # the bar is under the table
    assert 'class="scroll"' not in page, "notes would scroll with the table"


def test_the_caption_says_what_to_compare(typed, tmp_path):
    page = fitted(typed, tmp_path)
    assert 'Each interval is drawn to its own scale, so compare it with 0, not with the others.' in page
    assert 'far end' not in page


def test_a_fit_without_standard_errors_has_no_picture_and_no_empty_entries():
    with pytest.warns(UserWarning, match='budget'): made = fit(FORMULA, PRIVATE[:60], PUBLIC, epsilon=.01)
    assert isinstance(made.cov, str)
    page = report(made)
    assert '<svg' not in page and 'own scale' not in page
    assert '<td></td>' not in page
    for name in ('R-squared', 'Residual sd', 'P&gt;|t|', 'Covariance Type', 'Df Residuals'): assert name not in page, name
    assert 'There are no standard errors' in page and 'public fit' in page
    assert f'{made.coef["education"]:.4g}' in page


def test_advice_stands_once_in_a_report(typed, tmp_path):
    with pytest.warns(UserWarning, match='budget'): made = fit(FORMULA, PRIVATE[:60], PUBLIC, epsilon=.01)
    assert report(made).count(made.advice[0].split(':')[1]) == 1


def test_the_report_says_what_was_fitted(typed, tmp_path):
    page = fitted(typed, tmp_path)
    said = section(page, 'What was fitted')
    whole = PUBLIC.education.notna().sum()
    for text in (FORMULA, f'{whole} of 80 public rows', 'region: north', 'with a gap, or a word in place of a number, counts as nothing',
                 'names counts as the reference level'):
        assert text in said, (text, said)
    assert 'filled' not in page


@pytest.mark.parametrize('missing, how', [('impute', 'with the public means'), ('regress', 'by a regression')])
def test_the_report_says_how_gaps_were_filled(typed, tmp_path, missing, how):
    page = fitted(typed, tmp_path, '--missing', missing, '--other', 'other')
    said = section(page, 'What was fitted')
    assert how in said and '80 public rows' in said and "counts as other" in said
    assert "standard errors don't count" in section(page, 'What to distrust')
    assert 'counts as nothing' not in section(page, 'What to distrust')


def test_unknown_levels_may_be_gaps_and_contrasts_choose_the_reference(typed, tmp_path):
    page = fitted(typed, tmp_path, '--other', 'missing', formula='wage ~ education + C(region, contr.treatment("west"))')
    said = section(page, 'What was fitted')
    assert 'region: west' in said and 'names counts as a gap' in said
    page = fitted(typed, tmp_path, formula='wage ~ education + insurance + C(region, contr.treatment("west"))')
    assert 'names counts as insurance no, region north' in section(page, 'What was fitted')


def test_a_fit_that_used_no_private_row_has_no_sentence_on_them():
    with pytest.warns(UserWarning, match='budget'): made = fit(FORMULA, PRIVATE[:60], PUBLIC, epsilon=.01)
    page = report(made)
    said = section(page, 'What was fitted')
    assert 'region: north' in said and 'rivate' not in said
    assert 'gap' not in section(page, 'What to distrust') and 'further fit' not in page


def test_a_fit_without_categories_has_no_sentence_on_levels(typed, tmp_path):
    page = fitted(typed, tmp_path, formula='wage ~ education')
    assert 'level' not in section(page, 'What was fitted') + section(page, 'What to distrust')


def test_without_an_intercept_each_level_has_a_coefficient(typed, tmp_path):
    said = section(fitted(typed, tmp_path, '--no-intercept'), 'What was fitted')
    assert 'without an intercept' in said and 'region: none' in said


def test_the_report_says_that_nothing_was_public(typed, tmp_path):
    page = fitted(typed, tmp_path, '--levels', 'region=south,north,west', public=None)
    said = section(page, 'What was fitted')
    assert 'nothing' in said and 'region: south' in said


def test_the_report_names_ranges_and_earlier_fits(typed, tmp_path):
    (tmp_path/'ranges.json').write_text('{"education": [0, 20], "wage": [0, 50]}')
    page = fitted(typed, tmp_path, '--ranges', 'ranges.json', '--out', 'first.json', formula='wage ~ education', public=None)
    assert 'ranges of education, wage' in section(page, 'What was fitted')
    page = fitted(typed, tmp_path, formula='wage ~ education', public='first.json')
    assert 'an earlier fit, first.json' in section(page, 'What was fitted')


def test_a_report_of_a_file_says_what_the_file_knows(typed, tmp_path):
    fitted(typed, tmp_path, '--out', 'fit.json')
    assert typed('show', 'fit.json', '--out', 'again.html')[0] == 0
    said = section((tmp_path/'again.html').read_text(encoding='utf-8'), 'What was fitted')
    assert FORMULA in said and 'region: north' in said and 'public rows' not in said


def test_a_report_of_arrays_has_no_empty_section():
    page = report(Fit(np.ones(2), 1., 'some method', n=9))
    assert 'x0, x1' in section(page, 'What was fitted')
    assert 'gap' not in section(page, 'What was fitted') + section(page, 'What to distrust')


def test_doubts_are_those_of_the_family_and_of_persons(typed, tmp_path):
    yes = PRIVATE.assign(insurance=(PRIVATE.insurance == 'yes').astype(int), who=np.arange(len(PRIVATE))//2)
    yes.to_csv('private.csv', index=False)
    PUBLIC.assign(insurance=(PUBLIC.insurance == 'yes').astype(int)).to_csv('public.csv', index=False)
    said = section(fitted(typed, tmp_path, '--family', 'binomial', formula='insurance ~ education'), 'What to distrust')
    assert 'log odds' in said
    page = fitted(typed, tmp_path, '--unit', 'who', '--per-unit', 2, '--account', 'of_persons.json', formula='wage ~ education')
    assert "don't depend on each other" not in section(page, 'What to distrust')
    assert 'up to 2 rows' in section(page, 'What was fitted')


# the command

@pytest.mark.parametrize('words', [
    ('public.csv', '--formula', 'wage ~ educaton', '--epsilon', 1), ('public.csv', '--formula', FORMULA),
    ('nowhere.csv', '--formula', FORMULA, '--epsilon', 1), ('public.csv', '--formula', FORMULA, '--epsilon', 99),
    ('public.csv', '--formula', FORMULA, '--epsilon', 1, '--unit', 'pid'), ('public.csv', '--formula', FORMULA, '--rho', 99),
    ('public.csv', '--formula', FORMULA, '--epsilon', 1, '--per-unit', 2)])
def test_an_account_is_opened_by_the_first_payment(typed, tmp_path, words):
    code, _, err = typed('fit', 'private.csv', *words)
    assert code == 2
    assert not list(tmp_path.glob('*account*')), err
    assert typed('fit', 'private.csv', 'public.csv', '--formula', FORMULA, '--epsilon', 1)[0] == 0
    assert (tmp_path/'private.csv.account.json').exists()


def test_an_account_that_can_not_be_written_is_refused_at_once(typed):
    code, _, err = typed('fit', 'private.csv', 'public.csv', '--formula', FORMULA, '--epsilon', 1, '--account', 'nowhere/a.json')
    assert code == 2 and '--account' in err


def test_a_fit_that_pays_nothing_opens_no_account(typed, tmp_path):
    PRIVATE[:60].to_csv('private.csv', index=False)
    page = fitted(typed, tmp_path, '--public', 'public.csv', epsilon=.01, public=None)
    assert not list(tmp_path.glob('*account*')) and 'Nothing' in section(page, 'What was spent')


def test_a_note_is_said_once(typed):
    code, _, err = typed('plan', 'public.csv', '--formula', FORMULA, '--rows', 3000, '--width', 1)
    assert code == 0 and err.count('public rows have a gap') == 1, err


@pytest.mark.parametrize('words, name', [
    (('fit', 'privat_2024.csv', 'public.csv'), 'privat_2024.csv'), (('fit', 'private.csv', 'x/publik_2024.csv'), 'x/publik_2024.csv'),
    (('fit', 'private.csv', 'earlier.json'), 'earlier.json'), (('fit', 'private.csv', '--ranges', 'code.json'), 'code.json'),
    (('fit', 'privat.csv', 'public.csv', '--no-account'), 'privat.csv'), (('plan', 'publik.csv', '--rows', 99), 'publik.csv')])
def test_a_missing_file_is_named_as_it_was_typed(typed, words, name):
    code, _, err = typed(*words, '--formula', FORMULA, '--epsilon', 1)
    assert code == 2 and f"there is no file '{name}'" in err, err


def test_a_missing_fit_is_named(typed):
    code, _, err = typed('show', 'fitt.json')
    assert code == 2 and "there is no file 'fitt.json'" in err


def test_a_missing_file_is_named_by_the_library(tmp_path):
    with pytest.raises(ValueError, match='privat_2024.csv'): fit(FORMULA, str(tmp_path/'privat_2024.csv'), PUBLIC, epsilon=1)
    with pytest.raises(ValueError, match='publik.parquet'): fit(FORMULA, PRIVATE, tmp_path/'publik.parquet', epsilon=1)
    with pytest.raises(ValueError) as e: fit(FORMULA, 'wage,education\n41250,12\n', PUBLIC, epsilon=1)
    assert '41250' not in str(e.value), "a table in place of a path"


@pytest.mark.parametrize('words, said', [
    (('fit', 'private.csv', 'public.csv'), 'give --epsilon'), (('plan', 'public.csv', '--rows', 99), 'give --epsilon'),
    (('fit', 'private.csv', 'public.csv', '--epsilon', 1, '--rho', 1), 'one of them'),
    (('plan', 'public.csv', '--rows', 99, '--epsilon', 1, '--width', 1), 'one of them'),
    (('fit', 'private.csv', '--epsilon', 1), '--levels region=')])
def test_errors_speak_of_options_as_they_are_typed(typed, words, said):
    PRIVATE.to_parquet('private.parquet')
    words = ['private.parquet' if w == 'private.csv' else w for w in words]
    code, _, err = typed(*words, '--formula', FORMULA)
    assert code == 2 and said in err, err
    assert 'epsilon=' not in err and 'rho=' not in err and 'levels={' not in err


# formulas

@pytest.mark.parametrize('formula', ['wage ~ educaton', 'log(wage) ~ log(educaton) + region', 'wage ~ C(educaton)'])
@pytest.mark.parametrize('missing', ['zero', 'impute'])
def test_a_misspelt_column_is_guessed_from_public_names(formula, missing):
    with pytest.raises(ValueError, match="there is no column 'educaton' in the public rows; did you mean education?"):
        Encoding.of(formula, PUBLIC, missing=missing)


def test_nothing_is_guessed_where_no_name_is_near():
    with pytest.raises(ValueError) as e: Encoding.of('wage ~ zzz', PUBLIC)
    assert 'did you mean' not in str(e.value)
    with pytest.raises(ValueError, match='twice'): Encoding.of('wage ~ education', PUBLIC[['wage', 'education', 'education']])


def test_a_misspelt_response_is_guessed_from_public_names():
    encoding = Encoding.of('wagge ~ education', PUBLIC)
    with pytest.raises(ValueError, match="no column 'wagge' in the private rows; did you mean wage?"):
        EncodedRows(PRIVATE, encoding)
    with pytest.raises(ValueError) as e: EncodedRows(PRIVATE.rename(columns={'wage': 'wagges'}), Encoding.of('wagge ~ education', PUBLIC.drop(columns='wage')))
    assert 'wagges' not in str(e.value), "names of private columns are no suggestions"


def test_a_response_of_text_is_explained():
    with pytest.raises(ValueError, match="'insurance' holds no numbers in the public rows: code yes and no as 1 and 0"):
        fit('insurance ~ education', PRIVATE, PUBLIC, epsilon=1, family='binomial')


@pytest.mark.parametrize('kind', ['frame', 'csv'])
def test_a_missing_column_of_ids_is_explained(kind, tmp_path):
    PRIVATE.to_csv(tmp_path/'private.csv', index=False)
    private = PRIVATE if kind == 'frame' else tmp_path/'private.csv'
    with pytest.raises(ValueError, match="there is no column 'pid' in the private rows: unit= names the column of the persons' ids"):
        fit(FORMULA, private, PUBLIC, epsilon=1, unit='pid')
