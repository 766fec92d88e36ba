"Pages that no notebook makes: the landing page's first screen, the map of the paper, the guide, the reference"
import inspect
import json
import re
from base64 import b64decode
from html import escape
from io import BytesIO

import nbformat

import pictures
import reference
from reference import import_module
from nb import nbs

# The left bar, by what a reader needs; notebooks that no list names are the last group
GROUPS = {
    'Start': ['first_private_regression', 'in_pictures', 'choose', 'sharp_edges'],
    'How to': ['31a_costs', '27_front', '14_formulas', '61_cli', '28_sklearn', '02a_account', '26_persons',
               '23_release', '12_clusters', '11_files', '50_audit'],
    'The paper': ['paper', '01_privacy', '13_preconditioning', '24_algorithms', '30_theory', '40_datasets', '41_experiments',
                  '42_synthetic', '43_real_data', '44_dope'],
    'Beyond the paper': ['25_anchored', '25a_knowledge', '25b_glm', '47_glm_comparison', '22a_inference', '26a_intervals', '31_planner', '32_mismatch', '44a_rivals', '45_comparison', '51_benchmark'],
    'Gallery': ['46_gallery'],
    'Reference': ['reference/api'],
}
INSIDE = 'How it is made'
OPEN = 'Start', 'How to', 'Gallery' # pages whose code is for the reader to copy
CLOSED = '50_audit', # ... but for those that derive more than they show
GREEK = dict(rho='ρ', kappa='κ', delta='δ', varepsilon='ε', epsilon='ε', eta='η', sigma='σ', beta='β')
PAGES = 'choose', 'paper', 'reference/api'


def alt(source, heading):
    "What a figure shows, from the docstring of the function that draws it and the labels in the code"
    said = re.findall(r'^def \w+\([^)]*\):\n\s+"([^"]+)"', source, re.M)
    title = re.findall(r"title=f?'([^'{}]+)'", source) + re.findall(r"set_title\(f?'([^'{}]+)'", source)
    axes = [m for k in ('ylabel', 'xlabel') for m in re.findall(rf"{k}=f?'([^'{{}}]+)'", source)[:1]]
    parts = [*(said[-1:] or title[:1])]
    if len(axes) == 2: parts.append(f'{axes[0]} against {axes[1]}')
    text = '. '.join(dict.fromkeys(parts)) or heading
    return re.sub(r'[$\\{}]', '', text)


# The landing page

CODE = '''import dp_pmt

fit = dp_pmt.fit('log(wage) ~ education',
                 'private.csv', 'public.csv',
                 epsilon=1)
print(fit.summary())
print(fit.statement())'''


def claim(nb):
    "What the page says on accuracy: its first paragraph, what of the intervals, and who comes next"
    cells = [''.join(o['data']['text/markdown']) for c in nb.cells for o in c.get('outputs', []) if 'text/markdown' in o.get('data', {})]
    cells += [c.source.split('## How accurate?')[1].split('\n## ')[0] for c in nb.cells if '## How accurate?' in c.source]
    text = next((t for t in cells if 'standard error' in t and 'median' in t), '')
    said = [' '.join(t.split()) for t in re.split(r'\n\s*\n', text.strip()) if t.strip()]
    ends = [re.match(r'(?:.+?\.(?=\s+[A-Z]|$)\s*){1,2}', t) for t in said[1:3]] # two sentences of each
    return ' '.join([*said[:1], *(m[0].strip() for m in ends if m)])


def costs():
    "What two ε cost at 20,000 rows, in a sentence: the planner's own numbers"
    from dp_pmt.costs import expected_errors
    at = {eps: expected_errors(20_000, 60, 8, .4, epsilon=eps) for eps in (1., 3.)}
    added = {eps: f'{float(f"{100*e.adds:.2g}"):g}\u00a0%' for eps, e in at.items()}
    worth = round(20_000/(1 + at[1.].adds)**2, -2)
    return (f'**What does it cost?** ε says how much one row may show: ε = 1 is a strict promise, above 10 little is promised. A probability of δ, here one in a million, is left out of the promise. With 20,000 private rows, 60 public rows and '
            f'8 columns, ε = 1 makes standard errors {added[1.]} larger than without privacy, as large as with {worth:,.0f} rows; ε = 3 makes them {added[3.]} larger. '
            '[Your own numbers](#what-will-it-cost-you) are below.')


def links_only(text):
    "The table of pages as a few lines: the left bar lists them all"
    head, table, rest = re.match(r'([\s\S]*?)((?:^\|.*\n)+)([\s\S]*)', text, re.M).groups()
    groups = {}
    for row in table.splitlines()[2:]:
        first = row.split('|')[1].strip()
        if first.startswith('**'): groups[first] = []
        else: list(groups.values())[-1].append(first)
    return head + '\n\n'.join(f"{g}: {', '.join(links)}" for g, links in groups.items()) + '\n' + rest


def folded_section(text, name):
    "A section of a text behind a line that opens it"
    before, _, after = text.partition(f'## {name}\n')
    inner, mark, rest = after.partition('\n## ')
    return f'{before}<details class="params"><summary>{name}</summary>\n\n{inner.strip()}\n\n</details>\n{mark}{rest}' if after else text


def page_only(cell):
    "A cell of README.md as the site needs it: the guide in place of a table of functions, few links, and no rules for authors"
    text = cell.source
    if '## Which function when' in text:
        head, rest = text.split('## Which function when', 1)
        said = re.sub(r'(?:^\|.*\n)+', f'```{{raw}} html\n{guide()}\n```\n\n[Which method for me?](choose.md) has the rest of the list.\n', rest, count=1, flags=re.M)
        text = head + '## Which function when' + said
    if '## Read on' in text:
        before, after = text.split('## Read on', 1)
        text = before + '## Read on' + links_only(after)
    cell.source = folded_section(text, 'Contributing')
    return cell


def hero_figure(source):
    "The first figure again, from its code, in the size of half a column: (SVG, width)"
    import matplotlib; matplotlib.use('agg')
    import matplotlib.pyplot as plt
    import numpy as np
    from dp_pmt.figures import _svg
    from dp_pmt.gallery import plot_regression
    with plt.style.context('dp_pmt.dp_pmt'):
        exec(source, dict(np=np, plot_regression=plot_regression))
        plt.gcf().set_size_inches(4.4, 3.9)
        out = _svg(plt.gcf())
        plt.close()
    return out


def landing(nb, here, svgs, static, compared):
    "The first screen (for whom, a regression with and without privacy, the code), then the planner, then the rest"
    first, figure, rest = nb.cells[0], nb.cells[1], nb.cells[2:]
    said = first.source.split('\n\n')
    picture = pictures.image(*hero_figure(figure.source), figure.metadata['mystnb']['image']['alt'], static/'figures', '_static/figures/')
    short = re.sub(r' \([\d.]+ to [^)]*\)|, as geometric means .*? over draws', '', claim(nb)).replace('errors over ours', 'errors as multiples of ours') # the section below has them
    hero = [*said[:2], '', '::::::{container} hero', ':::::{container} hero-text', said[2], '', costs(), '', '```python', CODE, '```', ':::::',
            ':::::{container} hero-figure', f'```{{raw}} html\n{picture}\n```', '', said[4], '', said[3], ':::::', '::::::', '',
            f'**How accurate?** {short} [Comparison](45_comparison.ipynb) has every set, and those where we lose.']
    from dp_pmt.costs import cost_grid
    grid = {k: v if k in ('axes', 'real') else [round(float(x), 4) for x in v.ravel()] for k, v in cost_grid().items()}
    grid['axes'] = [list(map(float, a)) for a in grid['axes']]
    table = f'<script type="application/json" id="planner-table">{json.dumps(grid, separators=(",", ":"))}</script>'
    html = (here/'planner.html').read_text(encoding='utf-8') + table + '<script src="_static/planner.js"></script>'
    plan = '## What will it cost you?\n\nMove a slider: the intervals move, the axes stay. *Public rows* are rows like yours that anyone may see, such as an older survey. Nothing leaves this page; ' \
           '[What will it cost?](31a_costs.ipynb) says where the numbers come from.\n\n```{raw} html\n' + html + '\n```'
    rest = [page_only(c) if c.cell_type == 'markdown' else c for c in rest]
    at = next((i + 1 for i, c in enumerate(rest) if c.cell_type == 'code' and 'runner-up' in str(c.get('outputs'))), None)
    if at and compared: rest.insert(at, nbformat.v4.new_markdown_cell(compared))
    said = re.sub('([εδρ]) = (?=[0-9])', '\\1\u00a0=\u00a0', '\n'.join(hero)) # no line break within
    nb.cells = [nbformat.v4.new_markdown_cell(said), nbformat.v4.new_markdown_cell(plan), *rest]
    return nb


# The road of a row

ROAD = [ # (pages, first line, second line, x, y, width)
    (['60_package', '27_front', '28_sklearn', '61_cli', '62_main'], 'the doors', 'fit, the command, scikit-learn', 8, 8, 652),
    (['10_rows', '11_files', '12_clusters', '12a_units', '14_formulas'], 'private rows', 'files, sites, persons', 8, 102, 132),
    (['20_queries', '13_preconditioning'], 'queries', 'sums, clipped', 166, 102, 142),
    (['22_crossing', '02_noise'], 'the crossing', 'noise is added', 346, 102, 122),
    (['24_algorithms', '25_anchored', '25b_glm', '26_persons', '23_release'], 'estimators', 'from noisy sums', 494, 102, 166),
    (['00_checks', '00a_cells'], 'checks', 'what may come in', 8, 190, 132),
    (['25a_knowledge'], 'public knowledge', 'rows, ranges, tables', 166, 190, 142),
    (['02a_account'], 'account', 'what was spent', 346, 190, 122),
    (['21_results', '20a_tables', '20b_documents', '22a_inference', '26a_intervals'], 'results', 'tables, files, statements', 494, 190, 166),
]
WAYS = ['M74 64V98', 'M140 130H162', 'M308 130H342', 'M468 130H490', 'M577 158V186', 'M237 190V162', 'M407 190V162', 'M74 190V162']
DOWN = {'the doors': (8, 8, 324), 'private rows': (8, 92, 160), 'checks': (196, 92, 136), 'queries': (8, 176, 160), 'public knowledge': (196, 176, 136), # the same for a phone
        'the crossing': (8, 284, 160), 'account': (196, 284, 136), 'estimators': (8, 368, 160), 'results': (8, 452, 160)}
WAYS_DOWN = ['M88 64V88', 'M88 148V172', 'M88 232V280', 'M88 340V364', 'M88 424V448', 'M196 120H172', 'M196 204H172', 'M196 312H172']


def road_svg(stem, up, down=False):
    "From private rows to a published table, the box of this page marked; downwards for a phone"
    out = [f'<path class="way" d="{d}" marker-end="url(#tip{down:d})"/>' for d in (WAYS_DOWN if down else WAYS)]
    for pages, name, what, *place in ROAD:
        home = stem if stem in pages else pages[0]
        x, y, w = DOWN[name] if down else place
        here, middle = stem in pages, x + w/2
        out.append(f'<a href="{up}{home}.html"><rect class="take{" best" if here else ""}" x="{x}" y="{y}" width="{w}" height="56" rx="8"/>'
                   f'<text class="name" x="{middle:g}" y="{y + 24}" text-anchor="middle">{escape(name)}</text>'
                   f'<text class="word" x="{middle:g}" y="{y + 43}" text-anchor="middle">{escape(what)}</text></a>')
    wall = 'M8 258H332', (332, 250, 'end'), (332, 274, 'end')
    if not down: wall = 'M325 72V170', (317, 86, 'end'), (333, 86, 'start')
    out.append(f'<path class="wall" d="{wall[0]}"/>')
    for (x, y, anchor), said in zip(wall[1:], ('nobody may see', 'may be published')):
        out.append(f'<text class="word" x="{x}" y="{y}" text-anchor="{anchor}">{said}</text>')
    return drawing(out, 'The road of a row, from private rows over queries and noise to estimators and results', *((340, 516) if down else (668, 256)), down)


def drawing(parts, label, width, height, down):
    "An SVG for wide pages, or for phones"
    return f'<svg class="guide {"narrow" if down else "wide"}" viewBox="0 0 {width} {height}" role="group" aria-label="{label}">{tip(down)}{"".join(parts)}</svg>'


def road(stem, up=''):
    "The opening of a page that has no figure of its own: where it stands"
    return f'```{{raw}} html\n<div class="drawing">{road_svg(stem, up)}{road_svg(stem, up, True)}</div>\n```\n\nThe way of a row from a private table to a published result. This page is about the box with the thick line.'


# The guide

def tip(down): return f'<defs><marker id="tip{down:d}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'


OPTIONS = [ # (question in one line or two, what to add, what it is, its page)
    ('Are there no public rows?', '', 'leave public= out, or ranges', 'a few thousand rows will do', '25a_knowledge'),
    ('Do some persons have several rows?', '', "unit='id'", 'protects the person, not the row', '26_persons'),
    ('Is the response a yes or no,', 'or a count?', "family='binomial' or 'poisson'", 'needs public rows with responses', '25b_glm'),
    ('Must the number of rows', 'stay hidden?', "neighbours='add/remove'", 'the number is protected, too', '27_front'),
    ('Are there too many rows', 'for memory?', "'rows.parquet' as the rows", 'files are read in blocks', '11_files'),
]
OTHERS = [ # likewise, what to take in place of `fit`
    ('Are others to fit from your rows', 'later, in ways not known yet?', 'release', 'sums with noise, in a file', '23_release'),
    ('Are the rows at several sites?', '', 'dp_anchored(Sites(…), …)', 'rows stay where they are', '12_clusters'),
    ('Do you need the method of the paper?', '', 'dp_pmtolse', 'Algorithm 1', '24_algorithms'),
]
FIRST = 'dp_pmt.fit(formula, private, public)', 'a regression table', '27_front'


def ask(x, y, w, a, b):
    "A question in its box"
    lines = [(a, 25), (b, 43)] if b else [(a, 33)]
    said = ''.join(f'<text x="{x + w/2:g}" y="{y + at}" text-anchor="middle">{escape(text)}</text>' for text, at in lines)
    return f'<rect class="ask" x="{x}" y="{y}" width="{w}" height="56" rx="8"/>{said}'


def take(x, y, w, name, what, doc, best=False):
    "An answer in its box, as a link"
    return (f'<a href="{doc}.html"><rect class="take{" best"*best}" x="{x}" y="{y}" width="{w}" height="56" rx="8"/>'
            f'<text class="name" x="{x + w/2:g}" y="{y + 24}" text-anchor="middle">{escape(name)}</text>'
            f'<text x="{x + w/2:g}" y="{y + 43}" text-anchor="middle">{escape(what)}</text></a>')


def way(d, word, x, y, down): return f'<path class="way" d="{d}" marker-end="url(#tip{down:d})"/><text class="word" x="{x}" y="{y}" text-anchor="middle">{word}</text>'


def guide_svg(down=False):
    "The main road and what each question adds to it, then what leads elsewhere; answers at the right, or below the questions on a phone"
    wide, step, x = (332, 140, 4) if down else (300, 78, 8)
    out, y = [take(x, 12, wide, *FIRST, best=True)], 86 if down else 90
    for part, questions in enumerate((OPTIONS, OTHERS)):
        said = ('Another function, in three cases only:', 'yes: take') if part else ('Options combine: add each that fits.', 'yes: add')
        top = y + (12 if part else 0)
        out.append(f'<text class="head" x="{x + 34*(not part)}" y="{top + 14}">{said[0]}</text>')
        if not part: out.append(f'<path class="way" d="M{x + 16} 68V{top + 24}" marker-end="url(#tip{down:d})"/>')
        y = top + 28
        for i, (a, b, *answer) in enumerate(questions):
            last = i == len(questions) - 1
            out.append(ask(x, y, wide, a, b))
            if down: out += [take(80, y + 68, 256, *answer), way(f'M52 {y + 56}V{y + 96}H76', said[1], 50, y + 114, down)]
            else: out += [take(396, y, 264, *answer), way(f'M308 {y + 28}H392', said[1], 349, y + 21, down)]
            if not part and not last: out.append(f'<path class="way" d="M{x + 16} {y + 56}V{y + step - 4}" marker-end="url(#tip{down:d})"/>')
            y += step
    label = f'Which method for me: fit, with {len(OPTIONS)} options that combine, and {len(OTHERS)} cases for another function'
    return drawing(out, label, 340 if down else 668, y, down)


def guide(): return f'<div class="drawing">{guide_svg()}{guide_svg(True)}</div>'


def choose_page(title):
    return f'''# Which method for me?
> One road, `dp_pmt.fit`. Its options combine: add each one that fits

```{{raw}} html
{guide()}
```

Every arrow to the right is a yes. With a no, go on below. With a few thousand private rows you need nothing public: leave `public=` out.
A call with three options:

```python
fit = dp_pmt.fit('pain ~ dose + age', 'visits.csv', {{'dose': (0, 50), 'age': (18, 100), 'pain': (0, 10)}},
                 epsilon=1, unit='patient', neighbours='add/remove')
```

| options of `fit` | add | page |
| --- | --- | --- |
| no public rows | `public=` with ranges or a published table, or leave it out | [{title('25a_knowledge')}](25a_knowledge.ipynb) |
| persons with several rows | `unit='id'` | [{title('26_persons')}](26_persons.ipynb) |
| yes or no, or counts, as response | `family='binomial'`, `family='poisson'` | [{title('25b_glm')}](25b_glm.ipynb) |
| hide how many rows there are | `neighbours='add/remove'` | [{title('27_front')}](27_front.ipynb) |
| gaps | `missing='impute'` | [{title('14_formulas')}](14_formulas.ipynb) |
| several fits from the same rows | `budget=Account(…)` | [{title('02a_account')}](02a_account.ipynb) |

| besides, or instead | take | page |
| --- | --- | --- |
| know beforehand what it costs | `plan`, `expected_errors` | [{title('31a_costs')}](31a_costs.ipynb) |
| work at a shell | `dp_pmt fit private.csv public.csv` | [{title('61_cli')}](61_cli.ipynb) |
| work in scikit-learn | `PrivateLinearRegression` | [{title('28_sklearn')}](28_sklearn.ipynb) |
| let others fit later | `release` | [{title('23_release')}](23_release.ipynb) |
| have rows at several sites | `Sites` | [{title('12_clusters')}](12_clusters.ipynb) |
| doubt a claim of privacy | `audit` | [{title('50_audit')}](50_audit.ipynb) |

**Not for you**, as yet: penalised selection of many columns, medians and quantiles, tables of counts, and time series. `dp_pmt` fits linear, logistic and Poisson regressions.
'''


# The map of the paper

OTHER = { # verdicts on what the table of the theory page leaves out
    'Algorithm 1': 'private, as claimed', 'Algorithm 2': 'not private: its noise scale leaks',
    **{f'Figure {k}': 'drawn with the real functions' for k in (1, 2, 3)},
    **{f'Figure {k}': 'run again, numbers side by side' for k in range(4, 12)},
}


def verdicts():
    "Statement: verdict, from the table on the theory page; parts of a statement are joined"
    text, out = '\n'.join(c.source for c in nbformat.read(nbs/'30_theory.ipynb', 4).cells if c.cell_type == 'markdown'), {}
    for name, part, verdict in re.findall(r'^\| \[([A-Z]\w+ \d+)([^\]]*)\][^|]*\|[^|]*\|[^|]*\|([^|]*)\|$', text, re.M):
        if verdict.strip(): out.setdefault(name, []).append(f"{part.strip(' ,')}: {verdict.strip()}" if part.strip() else verdict.strip())
    return {**{k: '; '.join(v) for k, v in out.items()}, **OTHER}


DRAWN = {'Figure 1': ('24_algorithms', 0), 'Figure 2': ('24_algorithms', 2), 'Figure 3': ('13_preconditioning', 0), 'Figure 4': ('42_synthetic', 0), 'Figure 5': ('42_synthetic', 1),
         'Figure 6': ('42_synthetic', 2), 'Figure 7': ('43_real_data', 0), 'Figure 8': ('43_real_data', 1), 'Figure 9': ('44_dope', 0),
         'Figure 10': ('44_dope', 1), 'Figure 11': ('44_dope', 2), 'Theorem 1': ('30_theory', 0), 'Equation 4': ('30_theory', 1)} # page and number of the figure


def small_picture(data, path):
    "A figure made small"
    from PIL import Image
    picture = Image.open(BytesIO(b64decode(data))).convert('RGB')
    picture.thumbnail((300, 200))
    picture.quantize(48).save(path, optimize=True)


def thumbnails(path, folder):
    "For each statement the first figure below it on a page, made small: {statement: file}"
    out, open_now, count = {}, [], 0
    for c in nbformat.read(path, 4).cells:
        if c.cell_type == 'markdown':
            found = reference.mentions(' '.join(re.findall(r'^#+ .+$|\*\*[^*]+\*\*', c.source, re.M)))
            if found or re.search('^## ', c.source, re.M): open_now = found # another section is about something else
        for data in filter(None, (o.get('data', {}).get('image/png') for o in c.get('outputs', []))):
            said = [m for m, at in DRAWN.items() if at == (path.stem, count)] + [m for m in open_now if m not in DRAWN]
            count += 1
            if not said: continue
            name = f"thumb-{path.stem}-{count}.png"
            small_picture(data, folder/name)
            for m in said: out.setdefault(m, name)
            open_now = []
    return out


def paper_page(paths, stated, names, title, anchor, images):
    "The paper's numbered statements: what each says, what became of it, its picture and where it lives"
    verdict, small = verdicts(), {}
    for p in paths:
        if p in stated and (stated[p] or p.stem in {page for page, _ in DRAWN.values()}):
            for m, name in thumbnails(p, images).items(): small.setdefault(m, name)
    coded = {}
    for _, module, name, _ in names:
        doc = inspect.getdoc(getattr(import_module(module), name)) or ''
        for m in reference.mentions(doc): coded.setdefault(m, []).append(f'{{py:obj}}`{name} <{module}.{name}>`')
    text = "# Map of the paper\n> Every numbered statement: what it says, what became of it, and where it lives\n\n" \
           'The numbers are those of *Enhancing Differentially Private Linear Regression via Public Second-Moment* (Cao and Zhang).\n'
    for kind in ('Theorem', 'Algorithm', 'Figure', 'Lemma', 'Corollary', 'Proposition', 'Definition', 'Equation'):
        rows = []
        for m, what in reference.STATEMENTS:
            if not m.startswith(kind + ' '): continue
            home = [p for p in paths if m in stated.get(p, ())]
            said = f'[{m}](#{anchor(home[-1].relative_to(nbs).with_suffix(""), m)})' if home else f'[{m}]({DRAWN[m][0]}.ipynb)' if m in DRAWN else m
            picture = f'![{m}: {what}](images/{small[m]})'.replace('`', '') if m in small else ''
            rows.append((said, what, verdict.get(m, ''), picture, ', '.join(dict.fromkeys(coded.get(m, [])))))
        heads = '', 'what it says', 'verdict', 'picture', 'code'
        filled = [j for j in range(5) if any(row[j] for row in rows)]
        lines = [[heads[j] for j in filled], ['---']*len(filled), *([row[j] for j in filled] for row in rows)]
        text += f'\n## {kind}s\n\n'.replace('Corollarys', 'Corollaries') + ''.join(f"| {' | '.join(line)} |\n" for line in lines)
    return text


# The reference

EXAMPLES = { # name of the package: (example, see also)
    'fit': ("fit = dp_pmt.fit('y ~ a + b', 'private.csv', 'public.csv', epsilon=1)\nprint(fit.summary())", 'plan Fit dp_anchored'),
    'plan': ("dp_pmt.plan('y ~ a + b', 'public.csv', n=20_000, epsilon=1)", 'fit predict_error'),
    'dp_anchored': ("fit = dp_pmt.dp_anchored(A, y, B, y_B, rho=.03, intercept=True, safe=True)", 'fit dp_pmtolse'),
    'dp_pmtolse': ("fit = dp_pmt.dp_pmtolse(A, y, B, y_B, rho=1)", 'dp_anchored predict_error release'),
    'dp_glm': ("fit = dp_pmt.dp_glm(A, y, B, y_B, rho=.03, family='binomial', intercept=True)", 'fit dp_anchored'),
    'Knowledge': ("known = dp_pmt.Knowledge.of_moment(covariance, means)\nfit = dp_pmt.dp_anchored(A, y, known, None, rho=.03, intercept=True)", 'fit dp_anchored'),
    'dp_ssp': ("fit = dp_pmt.dp_ssp(A, y, rho=1)", 'dp_anchored dp_olse'),
    'dope_gd': ("fit = dp_pmt.dope_gd(A, y, B, y_B, rho=1)", 'dp_anchored'),
    'release': ("r = dp_pmt.release(A, y, B, y_B, rho=1, intercept=True)\nr.to_json('release.json')", 'Release combine'),
    'combine': ("both = dp_pmt.combine(first, second)", 'release Sites'),
    'Release': ("r = dp_pmt.Release.from_json('release.json')\nr.fit().intervals()", 'release combine Fit'),
    'Fit': ("fit.intervals()            # confidence intervals\nfit.test('a = b')          # a hypothesis\nfit.predict(rows)\nfit.statement()            # the guarantee in words", 'fit Release'),
    'open_rows': ("rows = dp_pmt.open_rows('private.parquet', 'y')", 'Sites fit'),
    'Sites': ("rows = dp_pmt.Sites(north, south)", 'open_rows combine'),
    'eps_to_rho': ("dp_pmt.eps_to_rho(1, 1e-6)         # 0.0280", 'gaussian_eps zcdp_to_eps'),
    'gaussian_eps': ("dp_pmt.gaussian_eps(.028, 1e-6)    # 1.0", 'eps_to_rho zcdp_to_eps'),
    'zcdp_to_eps': ("dp_pmt.zcdp_to_eps(.028, 1e-6)", 'gaussian_eps eps_to_rho'),
    'Budget': ("budget = dp_pmt.Budget(1.)\nfit = dp_pmt.dp_anchored(A, y, B, y_B, .5, budget=budget)\nbudget.left", 'Account'),
    'Account': ("ledger = dp_pmt.Account('ledger.json', rho=1.)\ndp_pmt.fit('y ~ a', private, public, epsilon=1, budget=ledger)", 'Budget'),
    'predict_error': ("dp_pmt.predict_error(B, y_B, n_A=20_000, rho=1).estimate", 'plan dp_pmtolse'),
    'audit': ("dp_pmt.audit(run, A, A_neighbour, trials=2000)", 'gaussian_eps'),
    'ols': ("dp_pmt.ols(A, y).beta    # not private", 'public_ols'),
    'public_ols': ("dp_pmt.public_ols(B, y_B).beta", 'ols'),
    'dp_olse': ("dp_pmt.dp_olse(A, y, rho=1)    # the paper's baseline: NOT private", 'dp_ssp'),
    'PrivateLinearRegression': ("dp_pmt.PrivateLinearRegression(public=(B, y_B), epsilon=1).fit(A, y)", 'fit'),
}
WORDS = { # what people search for: names that answer
    'confidence interval intervals': ['results.Fit.intervals', 'release.Release.fit'], 'standard error se': ['results.Fit.summary', 'costs.expected_errors'],
    'epsilon eps privacy budget loss': ['privacy.eps_to_rho', 'privacy.gaussian_eps', 'front.fit'], 'delta': ['privacy.eps_to_rho', 'privacy.gaussian_log_delta'],
    'p-value hypothesis test wald': ['results.Fit.test'], 'csv parquet file': ['files.open_rows', 'front.fit'], 'missing values gaps nan': ['front.fit'],
    'dummy categorical factor levels': ['formulas.Encoding'], 'statement report': ['results.Fit.statement'], 'accuracy cost plan power sample size': ['costs.expected_errors', 'front.plan', 'planner.n_for'],
    'prediction predict': ['results.Fit.predict'], 'federated sites hospitals': ['clusters.Sites'], 'composition ledger': ['privacy.Budget', 'account.Account'], 'seed reproducible': ['front.fit'],
    'logistic glm poisson binomial count yes no': ['front.fit', 'glm.dp_glm'],
    'public data prior codebook ranges': ['knowledge.Knowledge', 'front.fit'],
}


def parameters(obj):
    "Names, types, defaults and meanings as a table"
    from fastcore.docments import docments
    sig, rows = inspect.signature(obj), []
    for name, d in docments(obj, full=True).items():
        if name in ('self', 'return'): continue
        p = sig.parameters.get(name)
        kind, default = reference._type(d.anno), '' if p is None or p.default is p.empty else f'`{p.default!r}`'
        text = ' '.join((d.docment or '').split()).replace('|', '\\|')
        if name in ('kwargs', 'args') and not text: continue
        rows.append(f"| `{name}` | {kind.replace('|', chr(92) + '|')} | {default} | {text} |")
    back = docments(obj, full=True).get('return')
    text = '| parameter | type | default | meaning |\n| --- | --- | --- | --- |\n' + '\n'.join(rows) if rows else ''
    if back is not None and (back.docment or reference._type(back.anno)):
        text += '\n\nReturns ' + ' – '.join(filter(None, [f'*{reference._type(back.anno)}*' if reference._type(back.anno) else '', ' '.join((back.docment or '').split())]))
    return text


def api_page(names, title, have):
    "The package's names first, with types, defaults, an example and see-also; then every name by module"
    import dp_pmt
    where = {name: module for _, module, name, _ in names}
    text = '# Reference\n> The names of the package first; every other by module below\n'
    for name in [*dp_pmt.__all__, 'PrivateLinearRegression']:
        obj = getattr(dp_pmt, name)
        example, also = EXAMPLES.get(name, ('', ''))
        text += f'\n## {name}\n\n'
        if name in where: text += f'{{py:obj}}`dp_pmt.{name} <{where[name]}.{name}>`: '
        text += ((inspect.getdoc(obj) or '').split('\n')[0]) + '\n\n'
        if example: text += f'```python\n{example}\n```\n\n'
        table = parameters(obj)
        if table: text += f'<details class="params"><summary>parameters of {name}</summary>\n\n{table}\n\n</details>\n\n'
        if inspect.isclass(obj): text += methods(obj, where.get(name)) + '\n\n'
        linked = [f'[`{n}`](#{n.lower()})' for n in also.split()]
        if linked: text += f"See also {', '.join(linked)}.\n"
    text += '\n# By module\n'
    last = None
    for path, module, name, line in names:
        if not line: raise ValueError(f'{module}.{name} has no docstring, or no comment where it is set')
        if module != last:
            text += f'\n## {module}\n\nFrom [{title(path)}](/{path.relative_to(nbs)}).\n\n| name | what it is |\n| --- | --- |\n'
            last = module
        text += f"| {{py:obj}}`{name} <{module}.{name}>` | {line.replace('|', chr(92) + '|')} |\n"
    return text


def methods(cls, module):
    "Methods and properties with one line each"
    rows = [f"| {{py:obj}}`{key} <{module}.{cls.__name__}.{key}>` | {(inspect.getdoc(f) or '').splitlines()[0].replace('|', chr(92) + '|')} |"
            for key, f in vars(cls).items() if not key.startswith('_') and (callable(f) or isinstance(f, (property, staticmethod, classmethod))) and inspect.getdoc(f)]
    return '| method | what it does |\n| --- | --- |\n' + '\n'.join(rows) if rows else ''


def search_words(names):
    "For the search page: [name, one line, page#place, further words]"
    out = []
    for path, module, name, line in names:
        doc = str(path.relative_to(nbs).with_suffix('.html'))
        short = module.split('.')[-1]
        keys = ' '.join(k for k, v in WORDS.items() if f'{short}.{name}' in v)
        out.append([name, line, f'{doc}#{module}.{name}', keys])
        for full in {f for v in WORDS.values() for f in v if f.startswith(f'{short}.{name}.')}:
            method = full.rsplit('.', 1)[1]
            said = (inspect.getdoc(getattr(getattr(import_module(module), name), method, None)) or '').split('\n')[0]
            keys = ' '.join(k for k, v in WORDS.items() if full in v)
            out.append([f'{name}.{method}', said, f'{doc}#{module}.{name}.{method}', keys])
    return out


def write(src, paths, stated, names, title, anchor):
    "All of them"
    have = {p.stem for p in paths}
    every = sorted(nbs.rglob('*.ipynb'))
    called = lambda stem: next((title(p) for p in every if p.stem == stem), stem)
    (src/'images').mkdir(exist_ok=True)
    (src/'choose.md').write_text(choose_page(called), encoding='utf-8')
    (src/'paper.md').write_text(paper_page(paths, stated, names, title, anchor, src/'images'), encoding='utf-8')
    (src/'reference'/'api.md').write_text(api_page(names, title, have), encoding='utf-8')
    words = json.dumps(search_words(names), ensure_ascii=False)
    (src.parent/'static'/'names.js').write_text(f'const NAMES = {words}\n', encoding='utf-8')
