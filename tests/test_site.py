"The built site in a headless browser: pages, math, search, demos and links, with no word to any other host"
import functools
import http.server
import json
import re
import shutil
import threading
from html.parser import HTMLParser
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
demo_pages = [p for p in pages if 'jupyter.widget-view' in (site/p).read_text(encoding='utf-8')]
FLAGS = '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

DOLLARS = """return [...document.querySelectorAll('article :is(p, li, td, h1, h2, h3)')].map(e => {
    const text = e.cloneNode(true); text.querySelectorAll('code, mjx-container').forEach(c => c.remove()); return text.textContent }).filter(t => t.includes('$'))"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass


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
    yield browser
    browser.quit()


def wait(browser, what, seconds=30):
    from selenium.webdriver.support.ui import WebDriverWait
    return WebDriverWait(browser, seconds, poll_frequency=.1).until(lambda b: what())


SCROLLS = "return [...document.querySelectorAll('span.math, div.math mjx-container')].filter(e => e.scrollWidth > e.clientWidth + 3).map(e => e.textContent.slice(0, 60))" # formulas with a scrollbar

def visit(browser, address):
    "Open a page and wait until it is typeset; returns the addresses it asked for"
    browser.get_log('performance'), browser.get_log('browser')
    browser.get(address)
    wait(browser, lambda: browser.execute_script("return document.readyState == 'complete' && (!document.querySelector('.math') || MathJax.startup?.promise?.then(() => true))"))
    events = [json.loads(e['message'])['message'] for e in browser.get_log('performance')]
    return [e['params']['request']['url'] for e in events if e['method'] == 'Network.requestWillBeSent']


@needs_browser
@pytest.mark.parametrize('page', pages)
def test_page(browser, url, page):
    "Loads without an error or a request to another host, math typeset, figures described, nothing wider than a phone, no formula wider than its column"
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', dict(width=390, height=800, deviceScaleFactor=1, mobile=True))
    asked = visit(browser, url + page)
    if page in demo_pages: wait(browser, lambda: browser.find_elements('css selector', '.noUi-handle'))
    assert [a for a in asked if not a.startswith((url, 'data:', 'blob:'))] == []
    assert [e['message'] for e in browser.get_log('browser') if e['level'] == 'SEVERE'] == []
    math, typeset, wrong = (len(browser.find_elements('css selector', s)) for s in ('.math', '.math mjx-container', 'mjx-merror'))
    assert typeset >= math and wrong == 0
    assert browser.execute_script(DOLLARS) == []
    assert browser.execute_script("return [...document.querySelectorAll('article img')].filter(i => !i.alt).map(i => i.src.slice(0, 80))") == []
    assert browser.execute_script('return document.documentElement.scrollWidth') <= 390
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', dict(width=1400, height=900, deviceScaleFactor=1, mobile=False))
    assert browser.execute_script(SCROLLS) == []
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


@needs_browser
@pytest.mark.parametrize('word', ['Gamma', 'dp_pmtolse'])
def test_search(browser, url, word):
    "Finds the entry of a function"
    defined = [p for p in (root/'dp_pmt').glob('*.py') if re.search(rf'^def {word}\b', p.read_text(encoding='utf-8'), re.M)]
    if not defined: pytest.skip(f'no module defines {word}')
    visit(browser, f'{url}search.html?q={word}')
    wait(browser, lambda: any(a.text.endswith(f'.{word}') or a.text == word for a in browser.find_elements('css selector', '#search-results li a')))


def picture(demo):
    "The frame that a demo shows: its picture and its description"
    shown = [i for i in demo.find_elements('css selector', 'img') if i.is_displayed()]
    assert len(shown) == 1
    return shown[0].get_attribute('src'), shown[0].get_attribute('alt')


@needs_browser
@pytest.mark.parametrize('page', demo_pages)
def test_demos(browser, url, page):
    "Each slider changes the picture, by keyboard and by mouse, to the one of the values it says"
    from selenium.webdriver import ActionChains, Keys
    visit(browser, url + page)
    demos = browser.find_elements('css selector', '.widget-subarea')
    wait(browser, lambda: all(d.find_elements('css selector', 'img') for d in demos))
    for demo in demos:
        sliders = demo.find_elements('css selector', '.widget-hslider')
        assert sliders
        for slider in sliders:
            handle, track = slider.find_element('css selector', '.noUi-handle'), slider.find_element('css selector', '.noUi-target')
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", demo)
            away = 1 if handle.get_attribute('aria-valuenow') == handle.get_attribute('aria-valuemin') else -1 # from the left end only the right is left
            keys = (Keys.ARROW_LEFT, Keys.ARROW_RIGHT)[::-away]
            for move in (lambda: handle.send_keys(keys[0]), lambda: handle.send_keys(keys[1]),
                         lambda: ActionChains(browser).drag_and_drop_by_offset(handle, away*track.size['width'], 0).perform(),
                         lambda: ActionChains(browser).move_to_element_with_offset(track, -away*(track.size['width']//2 - 2), 0).click().perform()):
                before, _ = picture(demo)
                move()
                wait(browser, lambda: picture(demo)[0] != before, 5)
                said = [s.find_element('css selector', '.widget-readout').text for s in sliders]
                assert re.fullmatch('.*: ' + ', '.join(rf'\w+ = {re.escape(v)}' for v in said), picture(demo)[1])


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


def test_pages_are_light():
    "No page above 3 MB"
    assert {p: (site/p).stat().st_size for p in pages if (site/p).stat().st_size > 3e6} == {}


def test_every_name_has_an_entry():
    "The API page lists all that the modules export, and each name links to its entry"
    text = (site/'reference'/'api.html').read_text(encoding='utf-8')
    for module in (root/'dp_pmt').glob('[a-z]*.py'):
        names = re.search(r'__all__ = \[(.*?)\]', module.read_text(encoding='utf-8'), re.S)
        for name in re.findall(r"'(\w+)'", names[1]): assert re.search(rf'href="[^"]*\.html#dp_pmt\.{module.stem}\.{name}"', text), f'{module.stem}.{name}'
