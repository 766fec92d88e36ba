"""What Sphinx leaves to be done: formulas as MathML, no icon script, only the styles in use

The pages then need no script but the theme's own, and no page asks for more than it shows."""
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

here = Path(__file__).resolve().parent
TEX = re.compile(r'<(span|div) class="math notranslate nohighlight"([^>]*)>(.*?)</\1>', re.S)


# Formulas

def formula(match):
    "(LaTeX, is it displayed) of a formula as Sphinx writes it"
    tex = unescape(match[3]).strip()
    tex = re.sub(r'<[^>]+>', '', tex)
    display = tex.startswith(r'\[') or match[1] == 'div'
    return re.sub(r'^\\[\[(]|\\[\])]$', '', tex).strip(), display


def typeset(pages, folder):
    "Every formula of the pages as MathML, by Temml: {(LaTeX, displayed): MathML}"
    wanted = sorted({formula(m) for text in pages.values() for m in TEX.finditer(text)})
    done = subprocess.run(['node', here/'mathml.js', folder], input=json.dumps(wanted),
                          capture_output=True, text=True)
    if done.returncode: raise RuntimeError(done.stderr)
    return dict(zip(wanted, json.loads(done.stdout)))


def with_mathml(text, made):
    "A page whose formulas are MathML"
    def put(m):
        tex, display = formula(m)
        number = re.search(r'<span class="eqno">.*?</span>', m[3], re.S)
        return f'<{m[1]} class="math"{m[2]}>{number[0] if number else ""}{made[tex, display]}</{m[1]}>'
    return MARKED.sub(r'<span class="marked">\1\2</span>', TEX.sub(put, text))


MARKED = re.compile(r'(<span class="math"[^>]*>(?:(?!</?span\b).)*</span>)([.,;:)!?%]+|-[A-Za-z]+)', re.S) # no line begins with a full stop, or with -zCDP


def ruled(text):
    "A printed regression table: letters are as small as it takes for its lines not to wrap; notes below it may"
    def put(m):
        columns = max(map(len, re.findall('^=+$', m[2], re.M)), default=0)
        if columns < 60: return m[0]
        return f'{m[1]} class="ruled" style="--columns: {columns}">{m[2]}</pre>'
    return re.sub(r'(<pre)>((?:(?!</pre>).)*)</pre>', put, text, flags=re.S)


def narrow_roots(font):
    "Every root as wide as the first, for browsers leave room for the widest; and its bar a little higher"
    variants, glyphs = font['MATH'].table.MathVariants, font['glyf']
    root = font.getBestCmap()[ord('√')]
    width = font['hmtx'][root][0]
    made = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    for name in {v.VariantGlyph for v in made.MathGlyphVariantRecord} | {p.glyph for p in made.GlyphAssembly.PartRecords}:
        glyphs[name].coordinates.scale((width/font['hmtx'][name][0], 1))
        glyphs[name].coordinates.toInt()
        glyphs[name].recalcBounds(glyphs)
        font['hmtx'][name] = width, glyphs[name].xMin
    font['MATH'].table.MathConstants.RadicalVerticalGap.Value = 160


def math_font(source, target, made):
    "The glyphs that the formulas use, out of the whole font"
    from fontTools import subset
    from fontTools.ttLib import TTFont
    text = set(unescape(re.sub('<[^>]+>', '', ''.join(made.values())))) | {chr(c) for c in range(32, 127)}
    text |= {chr(0x1d434 + i) for i in range(52)} | set('ℎ′ˆ˜¯√') # what a browser draws by itself: italic letters, accents, roots
    options = subset.Options(flavor='woff', layout_features=['*'], drop_tables=['DSIG'], notdef_outline=True)
    font = TTFont(source)
    cut = subset.Subsetter(options)
    cut.populate(unicodes=[ord(c) for c in text])
    cut.subset(font)
    narrow_roots(font)
    font.flavor = 'woff'
    font.save(target)


# Icons and styles

def used_words(folder):
    "Every word that could be a class or an id: of the pages and of the scripts"
    words = set()
    for path in [*folder.rglob('*.html'), *folder.rglob('*.js')]:
        words |= set(re.findall(r'[\w-]+', path.read_text(encoding='utf-8', errors='ignore')))
    return words


def split_rules(css):
    "Top-level pieces of a style sheet: (what stands before the braces, what is in them)"
    at, depth, start, out = 0, 0, 0, []
    while at < len(css):
        c = css[at]
        if c == '{':
            if depth == 0: head, start = css[start:at], at + 1
            depth += 1
        elif c == '}':
            depth -= 1
            if depth == 0:
                out.append((head.strip(), css[start:at]))
                start = at + 1
        elif c == ';' and depth == 0:
            out.append((css[start:at].strip(), None))
            start = at + 1
        at += 1
    return out


def purged(css, words):
    "A style sheet without the rules for classes that nothing has"
    css = re.sub(r'/\*.*?\*/', '', css, flags=re.S)
    out = []
    for head, body in split_rules(css):
        if body is None: out.append(head + ';')
        elif head.startswith(('@media', '@supports', '@layer')):
            inner = purged(body, words)
            if inner: out.append(f'{head}{{{inner}}}')
        elif head == '@font-face' and 'webfonts' in body: continue # of the icons
        elif re.match(r'\.-Color', head): continue # of terminals
        elif head.startswith('@'): out.append(f'{head}{{{body}}}')
        else:
            kept = [s for s in split_selectors(head) if alive(s, words)]
            if kept: out.append(f'{",".join(kept)}{{{body}}}')
    return ''.join(out)


def split_selectors(head):
    "Selectors of a list, not cut inside brackets"
    depth, last, out = 0, 0, []
    for i, c in enumerate(head):
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            out.append(head[last:i])
            last = i + 1
    return [*out, head[last:]]


def alive(selector, words):
    "Can anything match? Classes inside :not(...) and :is(...) don't count, icons are ours"
    if re.search(r'\.fa[a-z]?\b', selector): return False
    plain = re.sub(r'\\.', '', selector)
    while '(' in plain:
        shorter = re.sub(r'\([^()]*\)', '', plain)
        if shorter == plain: break
        plain = shorter
    return all(name in words for name in re.findall(r'[.#]([A-Za-z_][\w-]*)', plain))


# Pages

SCRIPTS = re.compile(r'<script[^>]*\bsrc="[^"]*(?:fontawesome|mathjax|require|embed|webpack)[^"]*"[^>]*>\s*</script>\s*')
PRELOADS = re.compile(r'<link[^>]*(?:fontawesome|webfonts)[^>]*/?>\s*')


def lean(text):
    "A page without the icon script, without the search index where nothing is searched, its API entries folded"
    text = PRELOADS.sub('', SCRIPTS.sub('', text))
    if 'id="search-results"' in text: text = text.replace('</head>', '<script src="_static/names.js"></script></head>', 1)
    else: text = re.sub(r'<script[^>]*\bsrc="[^"]*(?:searchtools|language_data|english-stemmer|searchindex)\.js[^"]*"[^>]*>\s*</script>\s*', '', text)
    text = re.sub(r'<span class="w">(\s*)</span>', r'\1', text)
    text = re.sub(r'<span class="(?:n|p|o|nn|nb|bp|fm|sa|kc|vm)">([^<]*)</span>', r'\1', text) # as black as the rest
    text = re.sub(r'\sid="cb\d+"|<span></span>', '', text)
    return grouped(beside(folded_entries(ruled(worded(joined(text))))))


def worded(text):
    "Cells of tables that hold words, which may wrap, and not a number"
    def put(m): return f'<{m[1]} class="words">{m[2]}</{m[1]}>' if sum(map(str.isalpha, m[2])) > 8 else m[0]
    return re.sub(r'<(t[hd])>([^<]{10,})</\1>', put, text)


def joined(text):
    "A number and its per cent stay on one line; code stays as it is"
    aside = r'<(pre|code|script|style|math|title)\b.*?</\1>|(?<=\d) %'
    return re.sub(aside, lambda m: '\u00a0%' if m[0] == ' %' else m[0], text, flags=re.S)


GROUP = re.compile(r'<p [^>]*class="caption"[^>]*><span class="caption-text">(.*?)</span></p>\s*(?=<ul)')


OVERVIEW = re.compile(r'<li class="toctree-l1[^"]*"><a class="[^"]*" href="([^"]*)">\s*Overview\s*</a></li>')


def grouped(text):
    "The left bar in groups that open: the first, and the one with this page, are open"
    text = OVERVIEW.sub(lambda m: f'{m[0]}<li class="toctree-l1"><a class="reference internal" href="{m[1].rstrip("#")}#what-will-it-cost-you">What will it cost me?</a></li>', text)
    start = text.find('<nav class="bd-links')
    if start < 0: return text
    end = closing(text, start, 'nav')
    bar, out, at = text[start:end], [], 0
    for i, m in enumerate(GROUP.finditer(bar)):
        stop = closing(bar, m.end(), 'ul')
        inner = bar[m.end():stop]
        shown = ' open' if 'current' in inner or i == 0 else ''
        out += [bar[at:m.start()], f'<details class="group"{shown}><summary>{m[1]}</summary>{inner}</details>']
        at = stop
    return text[:start] + ''.join(out) + bar[at:] + text[end:]


def closing(text, start, tag):
    "Where the element that opens at `start` ends"
    depth = 0
    for m in re.compile(rf'<(/?){tag}\b').finditer(text, start):
        depth += -1 if m[1] else 1
        if depth == 0: return text.index('>', m.end()) + 1
    return len(text)


SOURCE = re.compile(r'\s*<div class="cell tag_hide-input[^"]*">(?=(?:(?!</summary>).){0,400}source: )', re.S)


def folded_entries(text):
    "Each API entry as one line, its name and what it does, that opens to the parameters and the source"
    out, at = [], 0
    for m in re.finditer(r'<dl class="py ', text):
        if m.start() < at: continue # inside another
        end = closing(text, m.start(), 'dl')
        entry = text[m.start():end]
        names, said = re.search(r'id="dp_pmt\.\w+\.(\w+)"', entry), re.search(r'<dd>\s*<p>(.*?)</p>', entry, re.S)
        if not names: continue
        source = SOURCE.match(text, end)
        last = re.search(r'<dl class="py ', text[end:end + 40]) # several entries share a source: it goes to the last
        if source and not last:
            stop = closing(text, source.end() - len(source[0].lstrip()), 'div')
            entry, end = entry + text[end:stop], stop
        line = re.sub(r'</?a\b[^>]*>', '', said[1]) if said else ''
        out += [text[at:m.start()], f'<details class="api"><summary><code>{names[1]}</code> {line}</summary>{entry}</details>']
        at = end
    return ''.join(out) + text[at:]


FOLD = re.compile(r'<div class="cell tag_hide-(?:cell|input)[^"]*">\s*(?=<details class="admonition hide)')


def folds(text):
    "Where cells stand of which nothing shows but the line that opens them, in runs: [(start, end)]"
    out = []
    for m in FOLD.finditer(text):
        if out and m.start() < out[-1][1]: continue
        end = closing(text, m.start(), 'div')
        inner = closing(text, m.end(), 'details')
        if text[inner:end].strip() != '</div>': continue # an output shows
        if out and not text[out[-1][1]:m.start()].strip(): out[-1] = out[-1][0], end
        else: out.append((m.start(), end))
    return out


def gathered(run):
    "Three and more cells that fold, behind one line: whose source they hold, and how many statements they check"
    said = re.findall(r'<p class="collapsed admonition-title">(.*?)</p>', run, re.S)
    cells = len(FOLD.findall(run))
    if cells < 3 or len(said) != cells: return run
    checks = [int(n) for n in re.findall(r'checked: (\d+)', ' '.join(said))]
    names = [n for t in said if not t.startswith('checked') for n in re.findall(r'(?<=[:,] )\w+', t)]
    parts = [f"source: {names[0]} and {len(names) - 1} more" if len(names) > 1 else f'source: {names[0]}'] if names else []
    if checks: parts.append(f"checked: {sum(checks)} statement{'s'*(sum(checks) != 1)}")
    if not parts: return run
    opened = run.replace('<details class="admonition hide above-input"', '<details open class="admonition hide above-input"')
    return f'<details class="run"><summary>{"; ".join(parts)}</summary>{opened}</details>'


def beside(text):
    "What folds stands behind the sentence, or the entry, that it belongs to: no line of its own"
    entries = {closing(text, m.start(), 'details'): m.start() for m in re.finditer('<details class="api">', text)}
    out, at = [], 0
    for start, end in folds(text):
        before = text[:start].rstrip()
        if before.endswith('</p>'): first, kind = max(m.start() for m in re.finditer(r'<p[ >]', before[-20_000:])) + max(0, len(before) - 20_000), 'said'
        elif len(before) in entries: first, kind = entries[len(before)], 'said entry'
        else: first, kind = start, ''
        if first < at: continue # inside what is wrapped
        run = gathered(text[start:end])
        out += [text[at:first], f'<div class="{kind}">{text[first:start]}{run}</div>' if kind else run]
        at = end
    return ''.join(out) + text[at:]


def finish(folder, temml):
    "Turn what Sphinx wrote into the site"
    paths = [p for p in folder.rglob('*.html') if '_static' not in p.parts]
    pages = {p: p.read_text(encoding='utf-8') for p in paths}
    made = typeset(pages, temml)
    for path, text in pages.items(): path.write_text(lean(with_mathml(text, made)), encoding='utf-8')
    static = folder/'_static'
    for path in [*static.rglob('*.map'), *static.glob('scripts/fontawesome*'), *static.glob('vendor/fontawesome/**/*.woff2')]:
        path.unlink(missing_ok=True)
    math_font(temml/'stix-two-math-latin-400-normal.woff', static/'math.woff', made)
    shutil.copy(temml/'Temml.woff2', static/'primes.woff2')
    words = used_words(folder)
    for path in static.rglob('*.css'):
        if path.name == 'site.css': continue
        path.write_text(purged(path.read_text(encoding='utf-8'), words), encoding='utf-8')
