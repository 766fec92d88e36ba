"The built site in a headless browser: pages, planner, search, demos, weight and links, with no word to any other host"
import functools
import gzip
import http.server
import importlib.util
import json
import re
import shutil
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from nb import root

site = root/'_docs'
chrome = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
driver = shutil.which('chromedriver')
if not (site/'index.html').exists(): pytest.skip('no site in _docs/: make docs builds it', allow_module_level=True)
webdriver = pytest.importorskip('selenium.webdriver', reason='selenium is missing: make docs installs it')
needs_browser = pytest.mark.skipif(not (chrome and driver), reason='Chromium and chromedriver are not installed: apt-get install chromium chromium-driver')
pages = sorted(str(p.relative_to(site)) for p in site.rglob('*.html') if '_static' not in p.parts)
demo_pages = [p for p in pages if '<div class="demo">' in (site/p).read_text(encoding='utf-8')]
GROUPS = re.search(r"'Start'.*?'Beyond the paper'", (root/'.ci'/'site'/'made.py').read_text(encoding='utf-8'), re.S)[0]
TO_COPY = ['index.html', *(p for p in pages if f"'{Path(p).stem}'" in GROUPS)] # landing, tutorials, how-to and paper pages
FLAGS = '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

DOLLARS = """return [...document.querySelectorAll('article :is(p, li, td, h1, h2, h3)')].map(e => {
    const text = e.cloneNode(true); text.querySelectorAll('code, math').forEach(c => c.remove()); return text.textContent }).filter(t => t.includes('$'))"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    "Files, compressed as any server on the web sends them"
    def log_message(self, *args): pass

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file() or path.suffix not in ('.html', '.js', '.css', '.svg'): return super().do_GET()
        data = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        for k, v in {'Content-Type': self.guess_type(str(path)), 'Content-Encoding': 'gzip', 'Content-Length': len(data)}.items(): self.send_header(k, str(v))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(scope='session')
def url():
    "The site behind a plain file server"
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}/'
    server.shutdown()


@pytest.fixture(scope='session')
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = chrome
    for flag in (*FLAGS.split(), f'--user-data-dir={tmp_path_factory.mktemp("profile")}', '--window-size=1280,900'): options.add_argument(flag)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(300) # axe takes its time on the longest page
    yield browser
    browser.quit()


def wait(browser, what, seconds=30):
    from selenium.webdriver.support.ui import WebDriverWait
    return WebDriverWait(browser, seconds, poll_frequency=.1).until(lambda b: what())


# formulas wider than their column
SCROLLS = "return [...document.querySelectorAll('div.math')].filter(e => e.scrollWidth > e.clientWidth + 3).map(e => e.textContent.slice(0, 60))"


def visit(browser, address):
    "Open a page and wait until it is there; returns the addresses it asked for"
    browser.get_log('performance'), browser.get_log('browser')
    browser.get(address)
    wait(browser, lambda: browser.execute_script("return document.readyState == 'complete'"))
    events = [json.loads(e['message'])['message'] for e in browser.get_log('performance')]
    return [e['params']['request']['url'] for e in events if e['method'] == 'Network.requestWillBeSent']


def window(browser, width, height=900):
    "A window of this size; a phone if it is narrow"
    size = dict(width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', size)


@needs_browser
@pytest.mark.parametrize('page', pages)
def test_page(browser, url, page):
    "Loads without an error or a request to another host, math typeset, figures described, nothing wider than a phone, no formula wider than its column"
    window(browser, 390, 800)
    asked = visit(browser, url + page)
    assert [a for a in asked if not a.startswith((url, 'data:', 'blob:', 'chrome:'))] == []
    assert [e['message'] for e in browser.get_log('browser') if e['level'] == 'SEVERE'] == []
    math, typeset, wrong = (len(browser.find_elements('css selector', s)) for s in ('.math', '.math > math', '.temml-error, merror'))
    assert typeset >= math and wrong == 0
    assert browser.execute_script(DOLLARS) == []
    assert browser.execute_script("return [...document.querySelectorAll('article img')].filter(i => !i.alt).map(i => i.src.slice(0, 80))") == []
    assert browser.execute_script('return document.documentElement.scrollWidth') <= 390
    window(browser, 1400)
    assert browser.execute_script(SCROLLS) == []
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


SHARES = """const seen = e => !e.closest('details:not([open])') ? e.getBoundingClientRect().height : 0
const sum = s => [...document.querySelectorAll(s)].reduce((a, e) => a + seen(e), 0), article = document.querySelector('article.bd-article')
const figures = [...article.querySelectorAll('img, svg.guide, .planner, .demo, .dp-report')].filter(e => !e.parentElement.closest('.demo, .planner') && seen(e) > 90)
return {all: article.getBoundingClientRect().height, code: sum('article div.highlight-ipython3, article div.highlight-python, article div.highlight-sh'), api: sum('article dl.py'),
        figures: figures.reduce((a, e) => a + seen(e), 0), first: figures.length ? figures[0].getBoundingClientRect().top + scrollY : null,
        cut: [...document.querySelectorAll('article pre')].filter(e => seen(e) && e.scrollWidth > e.clientWidth + 2).length,
        wide: [...document.querySelectorAll('article table')].filter(e => seen(e) && e.offsetWidth > e.closest('.cell_output, .pst-scrollable-table-container, section, article').clientWidth + 2).length}"""


@pytest.fixture(scope='session')
def shapes(browser, url):
    "Heights of what stands on each page at 1400 px, folded things folded"
    window(browser, 1400)
    out = {}
    for page in pages:
        visit(browser, url + page)
        if browser.find_elements('css selector', 'article.bd-article'): out[page] = browser.execute_script(SHARES)
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
    return out


@needs_browser
def test_shares(shapes):
    "More picture than code: figures and demos 20 % of the height at least, code that is open at most 15 %"
    notebooks = {p: s for p, s in shapes.items() if p not in ('genindex.html', 'reference/api.html', 'search.html')}
    total = {k: sum(s[k] for s in notebooks.values()) for k in ('all', 'figures', 'code', 'api')}
    for page, s in notebooks.items(): print(f"{page:45} {s['all']:7.0f} px, figures {s['figures']/s['all']:4.0%}, code {s['code']/s['all']:4.0%}, API {s['api']/s['all']:4.0%}")
    print({k: f"{v/total['all']:.1%}" for k, v in total.items()})
    assert total['figures'] >= .2*total['all'] and total['code'] <= .15*total['all']


@needs_browser
def test_nothing_is_cut_off(shapes):
    "No code block is cut off on the pages that people copy from, and no table is wider than its column on any"
    assert {p: shapes[p]['cut'] for p in TO_COPY if shapes[p]['cut']} == {}
    assert {p: s['wide'] for p, s in shapes.items() if s['wide']} == {}
    print('cut off elsewhere:', {p: s['cut'] for p, s in shapes.items() if s['cut']})


@needs_browser
def test_pictures_come_early(shapes):
    "Every page has a figure or a demo, and the first stands within two screens"
    assert [p for p, s in shapes.items() if not s['first'] and Path(p).stem not in ('genindex', 'search', 'api')] == []
    late = {p: round(s['first']/900, 1) for p, s in shapes.items() if s['first'] and s['first'] > 1800}
    assert late == {}


WEIGHT = """const all = [...performance.getEntriesByType('resource')].filter(e => !/\\.(png|svg)(\\?|$)/.test(e.name))
return all.reduce((a, e) => a + (e.encodedBodySize || 0), performance.getEntriesByType('navigation')[0].encodedBodySize)"""


@needs_browser
@pytest.mark.parametrize('page', pages)
def test_weight(browser, url, page):
    "A page and all that it loads, compressed, but for pictures: at most 400 KB, and itself at most 600 KB unpacked"
    browser.execute_cdp_cmd('Network.setCacheDisabled', dict(cacheDisabled=True))
    visit(browser, url + page)
    kilobytes = browser.execute_script(WEIGHT)/1000
    paint = browser.execute_script("return performance.getEntriesByType('paint').map(e => e.startTime)[0]")
    print(f'{page}: {kilobytes:.0f} KB ({(site/page).stat().st_size/1000:.0f} KB of HTML unpacked), first paint after {paint or 0:.0f} ms')
    assert kilobytes < 400 and (site/page).stat().st_size < 600e3


FIGURES = """return [...document.querySelectorAll('.cell_output img, .hero-figure img, .demo img')].map(i => [new URL(i.src).pathname, i.className, getComputedStyle(i).display != 'none'])"""


@needs_browser
def test_figures_are_lines(browser, url):
    "Figures are SVG without a ground; a light page shows one, a dark page its twin. Only those of slow cells stay PNG"
    lines, dots = set(), set()
    for page in pages:
        visit(browser, url + page)
        for theme, shown, hidden in (('light', 'day', 'night'), ('dark', 'night', 'day')):
            themed(browser, theme)
            found = browser.execute_script(FIGURES)
            assert not [src for src, when, seen in found if when == hidden and seen], (page, theme)
            lines |= {src for src, when, _ in found if when in (shown, hidden)}
            dots |= {src for src, when, _ in found if not when and src.endswith('.png')}
    print(f'{len(lines)} SVG, {len(dots)} PNG: {sorted(dots)}')
    assert len(dots) <= 8 and all(src.endswith('.svg') for src in lines)
    for src in lines:
        ground = re.search(r'<g id="patch_1">\s*<path d="[^"]*" style="([^"]*)"', (site/src.lstrip('/')).read_text(encoding='utf-8'))
        assert ground is None or 'none' in ground[1] or 'opacity: 0' in ground[1], src


def test_greys_are_seen_at_night():
    "On a dark page a light grey stands off the ground, and white is the ground"
    spec = importlib.util.spec_from_file_location('pictures', root/'.ci'/'site'/'pictures.py')
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    def light(color): return int(pictures.at_night(color)[1:3], 16)
    assert light('#ffffff') < 25 and light('#000000') > 230
    assert all(light(f'#{grey:02x}{grey:02x}{grey:02x}') > 50 for grey in (0xd9, 0xe0, 0xeb))


def test_font_holds_what_browsers_draw():
    "Characters that stand in no formula's text but are drawn: roots, accents, italic letters"
    ttLib = pytest.importorskip('fontTools.ttLib')
    has = ttLib.TTFont(site/'_static'/'math.woff').getBestCmap()
    assert [c for c in '√ˆ˜¯′ℎ𝑥𝑋' if ord(c) not in has] == []


@needs_browser
def test_long_tables_open(browser, url):
    "A table of more than eight rows shows five, and a button shows the rest"
    visit(browser, url + '45_comparison.html')
    button = next(b for b in browser.find_elements('css selector', 'button.more') if b.is_displayed())
    table = button.find_element('xpath', 'preceding-sibling::table')
    def rows(): return len([r for r in table.find_elements('css selector', 'tbody tr') if r.is_displayed()])
    every = int(re.search(r'\d+', button.text)[0])
    assert rows() == 5 < every and button.get_attribute('aria-expanded') == 'false'
    browser.execute_script('arguments[0].click()', button)
    assert rows() == every and button.get_attribute('aria-expanded') == 'true'


def themed(browser, theme):
    "Set the theme at once: a colour on its way is neither the one nor the other"
    browser.execute_script("document.head.append(Object.assign(document.createElement('style'), {textContent: '* { transition: none !important }'}))")
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]; document.documentElement.dataset.mode = arguments[0]", theme)


@needs_browser
@pytest.mark.parametrize('page', pages)
def test_accessible(browser, url, page):
    "axe finds nothing serious in either theme, on the page and on the bars around it"
    axe = root/'_proc'/'temml'/'axe.min.js'
    if not axe.exists(): pytest.skip('make docs fetches axe')
    window(browser, 1400)
    visit(browser, url + page)
    browser.execute_script(axe.read_text(encoding='utf-8'))
    for theme in ('light', 'dark'):
        themed(browser, theme)
        found = browser.execute_async_script("""const done = arguments[0]
            axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | '))))""")
        assert found == [], theme


@needs_browser
def test_planner_agrees_with_python(browser, url):
    "What the page computes is what the package computes, on 200 random inputs"
    import numpy as np
    from dp_pmt.costs import expected_errors
    from dp_pmt.privacy import gaussian_eps
    visit(browser, url + 'index.html')
    rng, worst = np.random.default_rng(0), 0.
    for _ in range(200):
        n, n_B = (int(10**rng.uniform(*ends)) for ends in ((2, 7), (.7, 3.7)))
        d, R2 = int(rng.integers(1, 33)), float(rng.uniform(.02, .97))
        eps, delta = float(10**rng.uniform(-1.3, 1.3)), float(10**rng.uniform(-12, -2))
        ours = expected_errors(n, n_B, d, R2, epsilon=eps, delta=delta)
        theirs = browser.execute_script('return dpPmt.expected(...arguments)', n, n_B, d, R2, eps, delta)
        back = browser.execute_script('return dpPmt.gaussianEps(...arguments)', ours.rho, delta)
        for k, v in ours.items(): worst = max(worst, abs((1 + theirs[k])/(1 + v) - 1) if k == 'adds' else abs(theirs[k]/v - 1))
        worst = max(worst, abs(back/gaussian_eps(ours.rho, delta) - 1))
    print(f'largest difference: {worst:.2g}')
    assert worst < .01


@needs_browser
def test_planner_answers(browser, url, tmp_path):
    "Sliders move the intervals and not the axes; the sentence, the code and the statement follow; a CSV is read in place"
    import numpy as np
    import pandas as pd
    from dp_pmt.costs import expected_errors
    window(browser, 1400)
    asked = visit(browser, url + 'index.html')
    def text(i): return browser.find_element('id', i).get_attribute('textContent')
    def put(i, value):
        browser.execute_script("const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))", i, value)
    def ticks(): return [e.text for e in browser.find_elements('css selector', '#pl-plot .pl-tick')]
    def lines(): return [e.get_attribute('x1') for e in browser.find_elements('css selector', '#pl-plot line:not(.pl-grid, .pl-zero)')]
    added = expected_errors(20_000, 60, 8, .4, epsilon=1.).adds
    said = f'{float(f"{100*added:.2g}"):g} %'
    assert said in text('pl-says') and '20,000 private rows' in text('pl-says')
    first = browser.find_element('css selector', '.hero') # what a stranger reads in the first minute
    assert f'ε = 1 makes standard errors {said} larger' in first.text and first.rect['y'] + first.rect['height'] < 900
    axes, before = ticks(), lines()
    for i, value in (('pl-eps', 3), ('pl-n', 5000), ('pl-d', 5), ('pl-r2', .7), ('pl-nb', 200), ('pl-eps', .1)):
        put(i, value)
        assert ticks() == axes and lines() != before
        before = lines()
    for d, told in ((5, ''), (9, ''), (30, 'the first 12 of 30')): # as many coefficients as columns, or it says how many
        put('pl-d', d)
        assert len(browser.find_elements('css selector', '#pl-plot .pl-name')) == min(d, 12) and told in text('pl-drawn')
    assert told not in (put('pl-d', 8), text('pl-drawn'))[1]
    put('pl-eps', 1), put('pl-n', 20_000), put('pl-nb', 60), put('pl-r2', .4)
    wide = browser.execute_script('return dpPmt.expected(20000, 60, 8, .4, 1, 1e-6)')['adds']
    put('pl-nb', 0) # nothing public is not sixty rows
    assert 'nothing public' in text('pl-says') and 'public rows alone' not in text('pl-legend') and 'public.csv' not in text('pl-code')
    nothing = browser.execute_script('return dpPmt.expectedOfNothing(20000, 8, .4, 1, 1e-6)')['adds']
    assert 1.05*wide < nothing < 1.5*wide
    put('pl-n', 500)
    assert 'too few rows' in text('pl-says') and 'public=ranges' in text('pl-code')
    compile(text('pl-code'), 'code', 'exec')
    put('pl-n', 20_000), put('pl-nb', 60)
    put('pl-eps', 2)
    assert 'epsilon=2' in text('pl-code') and 'epsilon = 2 and delta = 1e-06' in text('pl-statement')
    compile(text('pl-code'), 'code', 'exec')
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(80, 3)), columns=['age', 'dose', 'a b']).assign(sex=rng.choice(['f', 'm'], 80))
    table['y'] = table.age - table.dose + rng.normal(size=80)
    table.to_csv(tmp_path/'public.csv', index=False)
    browser.find_element('id', 'pl-file').send_keys(str(tmp_path/'public.csv'))
    wait(browser, lambda: '80 complete rows, 4 columns' in text('pl-read'))
    browser.execute_script("const e = document.getElementById('pl-y'); e.value = 'y'; e.onchange()")
    assert 'sex: m' in [e.text for e in browser.find_elements('css selector', '#pl-plot .pl-name')]
    assert "'y ~ age + dose" in text('pl-code')
    compile(text('pl-code'), 'code', 'exec')
    events = [json.loads(e['message'])['message'] for e in browser.get_log('performance')]
    assert not [e for e in events if e['method'] == 'Network.requestWillBeSent' and e['params']['request']['url'].startswith('http')]
    assert all(a.startswith((url, 'data:', 'blob:', 'chrome:')) for a in asked)


@needs_browser
def test_planner_says_what_is_wrong(browser, url, tmp_path):
    "A field out of range says so and takes the nearest value; a file that can't be read says why, and leaves nothing behind"
    window(browser, 1400)
    visit(browser, url + 'index.html')
    def text(i): return browser.find_element('id', i).get_attribute('textContent')
    def put(i, value):
        browser.execute_script("const e = document.getElementById(arguments[0]); e.value = arguments[1]; for (const k of ['input', 'change']) e.dispatchEvent(new Event(k))", i, value)
        return browser.find_element('id', i).get_attribute('value')
    def fields(): return browser.execute_script("return ['pl-nb', 'pl-d', 'pl-r2'].map(i => [document.getElementById(i).value, document.getElementById(i).disabled, document.querySelector(`[data-for=${i}]`).value])")
    assert put('pl-d', 40) == '32' and '1 to 32' in text('pl-d-note') and '+ x32\'' in ' '.join(text('pl-code').split())
    assert put('pl-d', 8) == '8' and text('pl-d-note') == '' and put('pl-r2', 2) == '0.95' and put('pl-r2', .4) == '0.4'
    assert put('pl-n', '') == '20000' and '10,000,000' in text('pl-n-note')
    assert 'x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8\'' in text('pl-code') and 'as wide as without privacy' in text('pl-legend')
    assert 'reaches the edge' not in text('pl-drawn')
    before = fields()
    def give(name, content):
        (tmp_path/name).write_text(content, encoding='utf-8')
        browser.find_element('id', 'pl-file').send_keys(str(tmp_path/name))
        wait(browser, lambda: name in text('pl-read'))
    rows = [f'{i % 7};{i*i % 11},5;{i % 5 + i*i % 11},25' for i in range(40)]
    for bad in ('', 'one\n1\n2\n', 'a,b\n', 'a,b\nx,y\nz,w\n', 'a,b\n1,2\n'):
        give('good.csv', '\n'.join(['', 'a;b;c', *rows])) # an empty line first, decimal commas
        assert '40 complete rows, 2 columns' in text('pl-read') and text('pl-read').endswith('for ‘c’')
        assert [f[:2] for f in fields()][:2] == [['40', True], ['2', True]] and fields()[1][2] != before[1][2]
        assert "'c ~ a + b'" in text('pl-code') and "'good.csv'" in text('pl-code') and "sep=';', decimal=','" in text('pl-code')
        compile(text('pl-code'), 'code', 'exec')
        give('bad.csv', bad)
        assert 'No file is used' in text('pl-read') and fields() == before and 'made-up' in text('pl-drawn')
    give('wide.csv', '\n'.join([','.join(f'v{j}' for j in range(41))] + [','.join(str((i*i*(j + 3) + i*j*j + j) % 97) for j in range(41)) for i in range(150)]))
    assert '40 columns' in text('pl-read') and 'for 32 columns' in text('pl-says')
    browser.execute_script("document.getElementById('pl-forget').click()")
    assert fields() == before and text('pl-read') == '' and not browser.find_element('id', 'pl-y').is_displayed()
    assert [e['message'] for e in browser.get_log('browser') if e['level'] == 'SEVERE'] == []


@needs_browser
def test_planner_on_a_phone(browser, url):
    "Whichever slider is moved, the sentence with the answer and the picture are on the screen with it"
    window(browser, 390, 700)
    visit(browser, url + 'index.html')
    where = '''const e = document.querySelector(arguments[0]).getBoundingClientRect(); return [e.top, e.bottom]'''
    on_top = '''const e = document.querySelector('#pl-says'), b = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(b.left + 20, b.top + 8))'''
    for name in ('eps', 'n', 'nb', 'd', 'r2'):
        slider = browser.find_element('css selector', f'[data-for=pl-{name}]')
        browser.execute_script("arguments[0].scrollIntoView({block: 'end'}); scrollBy(0, 10)", slider)
        (_, says), (top, bottom), (first, last) = (browser.execute_script(where, s) for s in ('#pl-says', '#pl-plot svg', f'[data-for=pl-{name}]'))
        assert 0 < says <= top < bottom <= first < last <= 700, name
        assert browser.execute_script(on_top), name # no bar lies over it
    browser.execute_script('scrollBy(0, 90)') # further down they stay, and let the last sliders pass below
    assert browser.execute_script(on_top) and browser.execute_script(where, '#pl-plot svg')[1] < browser.execute_script(where, '[data-for=pl-r2]')[0]
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


@needs_browser
@pytest.mark.parametrize('page', ['index.html', 'choose.html', '00_checks.html'])
def test_diagrams_fit_a_phone(browser, url, page):
    "The decision picture and the road of a row have a version for phones: no scrolling sideways"
    window(browser, 390, 800)
    visit(browser, url + page)
    seen = [e for e in browser.find_elements('css selector', 'svg.guide') if e.is_displayed()]
    assert len(seen) == 1 and 0 < seen[0].rect['x'] and seen[0].rect['x'] + seen[0].rect['width'] <= 390
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


@needs_browser
def test_menu_opens_by_need(browser, url):
    "The menu shows its groups; open are the first and the one that the page is in"
    window(browser, 1400)
    for page, own in (('index.html', {'Start'}), ('25_anchored.html', {'Start', 'Beyond the paper'}), ('10_rows.html', {'Start', 'How it is made'})):
        visit(browser, url + page)
        groups = browser.find_elements('css selector', '.bd-links details.group')
        assert len(groups) == 7 and {g.find_element('css selector', 'summary').text for g in groups if g.get_attribute('open')} == own
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


def test_planner_states_what_a_fit_states():
    "The draft on the page is the statement of a fit, but for what only a fit knows"
    import dp_pmt
    from dp_pmt.results import guarantee
    said = guarantee('', dp_pmt.eps_to_rho(1, 1e-6, safe=True), 1e-6, 'fine discrete gaussian')
    script = (root/'.ci'/'site'/'planner.js').read_text(encoding='utf-8')
    for sentence in ('Each row is protected against a reader who knows the method, the public rows and all other confidential rows',
                     'had that one row been any other, the probability of every possible outcome would differ by a factor of at most exp(',
                     'The number of rows, the names of the columns and the public rows are not protected'):
        assert sentence in said and sentence in script


@needs_browser
@pytest.mark.parametrize('word,name', [('Gamma', 'Gamma'), ('dp_pmtolse', 'dp_pmtolse'), ('confidence interval', 'Fit.intervals'), ('epsilon', 'eps_to_rho')])
def test_search(browser, url, word, name):
    "Finds the name that answers, first; no snippet shows raw LaTeX"
    visit(browser, f'{url}search.html?q={word}')
    wait(browser, lambda: browser.find_elements('css selector', '#search-results li a'))
    assert name in [a.text for a in browser.find_elements('css selector', '#search-names a')][:3]
    wait(browser, lambda: browser.find_elements('css selector', '#search-results .context'))
    snippets = [e.text for e in browser.find_elements('css selector', '#search-results .context')]
    assert [t for t in snippets if re.search(r'\$|\\[a-zA-Z]', t)] == []


def picture(demo):
    "The frame that a demo shows: its picture and its description"
    shown = [i for i in demo.find_elements('css selector', 'img') if i.is_displayed()]
    assert len(shown) == 1
    return shown[0].get_attribute('src'), shown[0].get_attribute('alt')


@needs_browser
@pytest.mark.parametrize('page', demo_pages)
def test_demos(browser, url, page):
    "Each step of each slider changes the picture, by keyboard, to one of the same size that says so"
    from selenium.webdriver import Keys
    window(browser, 1400)
    visit(browser, url + page)
    for demo in browser.find_elements('css selector', '.demo'):
        sliders = demo.find_elements('css selector', 'input[type=range]')
        assert sliders
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", demo)
        for slider in sliders:
            assert slider.get_attribute('aria-label')
            last = int(slider.get_attribute('max'))
            slider.send_keys(Keys.HOME)
            seen = [picture(demo)[0]]
            for step in range(last):
                slider.send_keys(Keys.ARROW_RIGHT)
                seen.append(picture(demo)[0])
                said = [s.find_element('xpath', 'following-sibling::output').text for s in sliders]
                assert re.fullmatch('.*: ' + ', '.join(rf'\w+ = {re.escape(v)}' for v in said), picture(demo)[1])
            assert all(a != b for a, b in zip(seen, seen[1:])), f'{page}: a step changes nothing'


TICK = re.compile(r'<g id="([xy]tick_\d+)">(.*?)(?=<g id="(?:[xy]tick|patch|matplotlib\.axis|axes|legend)_?\d*">|$)', re.S)


def axes(svg):
    "The ticks of a figure: which, where, and what stands at them"
    out = [re.search(r'<svg [^>]*?viewBox="([^"]+)"', svg)[1]]
    for name, body in TICK.findall(svg):
        place, label = re.search(r'<use [^>]*?x="([-\d.]+)" y="([-\d.]+)"', body), re.search('<!-- (.*?) -->', body)
        out.append((name, place and place.groups(), label and label[1]))
    return out


@pytest.mark.parametrize('page', demo_pages)
def test_axes_stay(page):
    "All frames of a demo have the same size, the same ticks and the same labels: what moves is what the sliders change"
    text = (site/page).read_text(encoding='utf-8')
    for demo in text.split('<div class="demo">')[1:]:
        frames = re.findall(r'<img class="day" data-at="([^"]+)"[^>]* src="([^"]+)"', demo)
        found = {}
        for at, src in frames: found.setdefault(str(axes((site/page).parent.joinpath(src).read_text(encoding='utf-8'))), []).append(at)
        assert len(frames) > 1 and len(found) == 1, f'{page}: {len(found)} kinds of axes, {[v[:3] for v in found.values()][:4]}'


class Links(HTMLParser):
    "What a page points to, and the places in it that can be pointed to"
    def __init__(self, text):
        super().__init__(); self.links, self.ids = [], {''}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs.get('id'), attrs.get('name')}
        self.links += [attrs[k] for k in ('href', 'src') if attrs.get(k) and tag != 'link']


def test_links():
    "Every internal link and its fragment resolve"
    parsed = {p: Links((site/p).read_text(encoding='utf-8')) for p in pages}
    broken = []
    for page, found in parsed.items():
        for link in found.links:
            if re.match(r'(\w+:|//)', link): continue
            target, fragment = urldefrag(unquote(urljoin(page, link)).split('?')[0] if not link.startswith('#') else page + unquote(link))
            if not (site/target).is_file() or target in parsed and fragment and fragment not in parsed[target].ids: broken.append((page, link))
    assert broken == []


def test_every_name_has_an_entry():
    "The API page lists all that the modules export, and each name links to its entry"
    text = (site/'reference'/'api.html').read_text(encoding='utf-8')
    for module in (root/'dp_pmt').glob('[a-z]*.py'):
        names = re.search(r'__all__ = \[(.*?)\]', module.read_text(encoding='utf-8'), re.S)
        for name in re.findall(r"'(\w+)'", names[1]): assert re.search(rf'href="[^"]*\.html#dp_pmt\.{module.stem}\.{name}"', text), f'{module.stem}.{name}'
