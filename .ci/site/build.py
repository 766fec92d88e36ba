"""Build the site: notebooks -> Sphinx sources in _proc/ -> HTML in _docs/

Saved outputs are kept. Only demos run again, in a process where `demo` draws its whole grid,
and their frames go beside the pages. `build.py --quick` takes the frames that are there, however old,
and with names (`--quick 01_privacy index`) builds these pages only."""
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import symtable
import sys
import tarfile
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from pathlib import Path
from threading import Lock

import nbformat

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
from nb import WIDGET, nbs, notebooks, root  # noqa: E402
import finish  # noqa: E402
import made  # noqa: E402
import pictures  # noqa: E402
import reference  # noqa: E402

cfg = ConfigParser(delimiters=['=']); cfg.read(root/'settings.ini', encoding='utf-8'); cfg = cfg['DEFAULT']
proc, out = root/'_proc', root/cfg['doc_path']
src, static = proc/'src', proc/'static'
quick = '--quick' in sys.argv
NPM = { # package: (folder in it, folder here, files to take)
    'temml@0.13.5': ('dist/', 'temml', r'temml\.cjs|Temml\.woff2'),
    'axe-core@4.10.2': ('', 'temml', r'axe\.min\.js'), # for the tests
    '@fontsource/stix-two-math@5.3.0': ('files/', 'temml', r'stix-two-math-latin-400-normal\.woff'),
}


def flags(cell):
    "The directives of a code cell: {name: value}"
    lines = re.findall(r'^#\|[ \t]*([\w-]+):?[ \t]*(.*)$', cell.source, re.M) if cell.cell_type == 'code' else []
    return {k: v.strip() for k, v in lines}


def is_demo(cell): return cell.cell_type == 'code' and re.search(r'^demo\(', cell.source, re.M)


# Demos

one_at_a_time = Lock() # Python 3.11 mixes up how deep it is when two threads parse


def names(source):
    "(names that a cell sets, names that it takes from other cells)"
    sets, reads = set(), set()
    with one_at_a_time: statements = ast.parse(source).body
    for stmt in statements:
        tables = [top := symtable.symtable(ast.unparse(stmt), 'cell', 'exec')]
        for t in tables: tables += t.get_children()
        reads |= {s.get_name() for t in tables for s in t.get_symbols() if s.is_referenced() and (t is top or s.is_global())} - sets
        sets |= {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
        if isinstance(stmt, ast.ImportFrom) and stmt.names[0].name == '*': sets.add('*')
    return sets, reads


def needed(cells, wanted=is_demo):
    "The demos, or other wanted cells, and those quick cells above them that set what they read, directly or through others"
    last = max((i for i, c in enumerate(cells) if wanted(c)), default=-1)
    known = {i: names(c.source) for i, c in enumerate(cells[:last + 1]) if c.cell_type == 'code' and 'slow' not in flags(c)}
    keep, size = {i for i in known if wanted(cells[i])}, 0
    while size < len(keep):
        size, reads = len(keep), {'*'}.union(*(known[i][1] for i in keep))
        keep |= {i for i, (sets, _) in known.items() if sets & reads}
    return sorted(keep)


def run_demos(path, target):
    "Run the demos of a notebook and what they need; write their HTML"
    os.environ.update(DP_PMT_STATIC='1', MPLBACKEND='module://matplotlib_inline.backend_inline')
    os.chdir(path.parent)
    from execnb.nbio import read_nb
    from execnb.shell import CaptureShell
    nb, shell, found = read_nb(path), CaptureShell(path, mpl_format='png'), {}
    for i in needed(nb.cells):
        c = nb.cells[i]
        shell.cell(c)
        if shell.exc: raise shell.exc
        if is_demo(c): found[i] = [''.join(o['data']['text/html']) for o in c.outputs if 'text/html' in o.get('data', {})]
    target.write_text(json.dumps(found))


def modules_behind(sources):
    "The modules of the package that some code imports, directly or through others"
    todo, seen = list(sources), set()
    while todo:
        text = todo.pop()
        for name in re.findall(r'^\s*from (?:dp_pmt)?\.(\w+) import', text, re.M) + ['__init__']*('import dp_pmt\n' in text):
            path = root/'dp_pmt'/f'{name}.py'
            if name not in seen and path.exists(): seen.add(name); todo.append(path.read_text())
    return sorted(seen)


def demos(path, nb):
    "HTML of the demo cells by number; kept until the cells or the modules behind them change"
    if not any(map(is_demo, nb.cells)): return {}
    sources = [nb.cells[i].source for i in needed(nb.cells)]
    behind = [(root/'dp_pmt'/f'{m}.py').read_text() for m in modules_behind(sources)]
    key = hashlib.sha256('\0'.join(sources + behind).encode()).hexdigest()[:16]
    target = proc/'demos'/f'{path.stem}-{key}.json'
    if quick and not target.exists():
        old = sorted((proc/'demos').glob(f'{path.stem}-*.json'), key=lambda p: p.stat().st_mtime)
        return json.loads(old[-1].read_text()) if old else {}
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, path, target], check=True)
    return json.loads(target.read_text())


def framed(html, doc):
    "A demo whose pictures are files beside the pages; those that are hidden come when they are asked for"
    up = '../'*str(doc).count('/')

    def put(m): return pictures.frame(b64decode(m[2]).decode(), m[1], static/'frames', f'{up}_static/frames/')
    return re.sub(r'<img (data-at="[^>]*?) src="data:image/svg\+xml;base64,([^"]+)">', put, html)


def lines(path, nb):
    "The figures of a notebook as SVG: {key of the saved PNG: (SVG, width)}; kept until the notebook or the modules behind it change"
    saved = [pictures.key_of(png) for c in nb.cells for png in pictures.pngs(c)]
    if not saved: return {}
    sources = [c.source for c in nb.cells if c.cell_type == 'code']
    behind = [(root/'dp_pmt'/f'{m}.py').read_text() for m in modules_behind(sources)]
    key = hashlib.sha256('\0'.join(sources + behind + saved).encode()).hexdigest()[:16]
    target = proc/'lines'/f'{path.stem}-{key}.json'
    if quick and not target.exists():
        old = sorted((proc/'lines').glob(f'{path.stem}-*.json'), key=lambda p: p.stat().st_mtime)
        return json.loads(old[-1].read_text()) if old else {}
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, path, target, 'lines'], check=True)
    return json.loads(target.read_text())


def as_lines(nb, svgs, doc):
    "Put SVG where a figure's PNG stands"
    up = '../'*str(doc).count('/')
    for c in nb.cells:
        if set(map(pictures.key_of, pictures.pngs(c))) - set(svgs): print(f'{doc}: a figure stays PNG', flush=True)
        for o in c.get('outputs', []):
            key = pictures.key_of(o.get('data', {}).get('image/png', ''))
            if key not in svgs: continue
            html = pictures.image(*svgs[key], c.metadata['mystnb']['image']['alt'], static/'figures', f'{up}_static/figures/')
            o['data'] = {'text/html': f'<div class="drawing">{html}</div>'}
    return nb


# Pages

def anchor(doc, name): return f'{doc}-{name}'.lower().replace(' ', '-').replace('/', '-')


def mark_statements(text, doc, seen, own):
    "Put a link target before each paragraph or heading that first states something of the paper, unless the page has its own mark for it"
    blocks = re.split(r'(\n\s*\n)', text)
    for i, b in enumerate(blocks):
        stated = [m for strong in re.findall(r'\*\*([^*]+)\*\*|^#+ (.+)$', b, re.M) for m in reference.mentions(' '.join(strong))]
        for m in dict.fromkeys(stated):
            if m in seen: continue
            seen.append(m)
            if m.lower().replace(' ', '-') not in own: blocks[i] = f'({anchor(doc, m)})=\n' + blocks[i]
    return ''.join(blocks)


ID = re.compile(r'^(<a id="([\w-]+)"></a>)', re.M)


def ids(path): return {m[1] for c in nbformat.read(path, 4).cells if c.cell_type == 'markdown' for m in ID.findall(c.source)}


def local_links(text, doc):
    "Links to notebooks on GitHub, which README.md needs, lead to pages here; `<a id>` marks, which GitHub knows, become targets"
    here, there = (nbs/doc).with_suffix('.ipynb'), lambda name: (nbs/doc).parent/name
    blob = rf"{re.escape(cfg['git_url'])}/blob/{cfg['branch']}/nbs/([\w/]+\.ipynb)"
    text = re.sub(blob, lambda m: os.path.relpath(nbs/m[1], here.parent) if (nbs/m[1]).exists() else m[0], text)

    def target(m):
        path = (there(m[1]) if m[1] else here).resolve()
        known = path.exists() and m[2] in ids(path)
        return f'](#{anchor(path.relative_to(nbs).with_suffix(""), m[2])})' if known else m[0]
    text = re.sub(r'\]\(([\w./]+\.ipynb)?#([\w-]+)\)', target, text)

    def named(m): # a link says where it leads, not what the file is called
        path = there(m[2]).resolve()
        return f'[{title(path)}]({m[2]})' if path.exists() and m[1].strip('`') in (path.stem, path.name) else m[0]
    text = re.sub(r'\[([^\]]+)\]\(([\w./]+\.ipynb)\)', named, text)
    return ID.sub(lambda m: f'({anchor(doc, m[2])})=\n{m[1]}', text)


CHECK = re.compile(r'^\s*(?:assert\b|test_\w+\(|np\.testing\.|with expect_fail)|\bexpect_fail\(', re.M)


def is_pure_check(source):
    "Does a cell do nothing but check? Assignments for the checks don't count against it"
    kinds = [type(n).__name__ for n in ast.parse(source).body]
    return CHECK.search(source) and not re.search(r'^\S*\bplt\.', source, re.M) and set(kinds) <= {
        'Assert', 'With', 'For', 'Assign', 'Expr', 'FunctionDef', 'ImportFrom', 'Import', 'AugAssign'}


def shows(c):
    "What a cell's outputs show: 'figure', 'table', 'text' or nothing"
    keys = {k for o in c.outputs for k in o.get('data', {'text/plain': ''})}
    if any(re.match('<div class="dp-report"><svg', ''.join(o.get('data', {}).get('text/html', ''))) for o in c.outputs): return 'figure'
    if {'image/png', 'image/svg+xml'} & keys: return 'figure'
    ruled = any('\n=====' in ''.join(o.get('text', '')) for o in c.outputs) # a regression table, printed
    return 'table' if ruled or {'text/html', 'text/markdown'} & keys else 'text' if keys else ''


def only_demo(body):
    "Is a cell a call of `demo`, perhaps with the grids that it takes?"
    kinds = [type(n).__name__ for n in ast.parse(body).body]
    return is_demo(nbformat.v4.new_code_cell(body)) and set(kinds[:-1]) <= {'Assign', 'ImportFrom'} and kinds[-1] == 'Expr'


def folded(c, f, body, open_page, inside):
    "Tags of a code cell, and the line that opens it: checks fold to one line, code behind a figure folds too"
    checks, kind, lines = len(CHECK.findall(body)), shows(c), body.strip().count('\n') + 1
    if 'hide-input' in f or f.get('echo') == 'false' or only_demo(body): return ['remove-input'], ''
    if 'code-fold' in f: return (['hide-input'], 'Show the code') if f['code-fold'] == 'true' else ([], '')
    if 'test' in f or (is_pure_check(body) and kind in ('', 'text') and (checks > 1 or not kind)):
        return ['hide-cell'], f"checked: {checks} statement{'s'*(checks != 1)}"
    if kind == 'figure' and re.search(r'^\s*(?:\w+\.)?\w*ax\w*\.|\bplt\.', body, re.M) and lines > 3: return ['hide-input'], 'Show the code'
    wide = max(map(len, body.splitlines()), default=0) > 104
    imports = all(re.match(r'import |from |$', line) for line in body.splitlines())
    plumbing = lines > 8 and (imports or checks > 1 or re.search(r'^(?:def|class) ', body, re.M))
    if open_page and lines <= 16 and not wide and not plumbing: return [], ''
    quiet = ('',) if open_page else ('', 'text', 'table') if inside else ('', 'text') # where tables are of tests, they fold with them
    if checks and kind in quiet: return ['hide-cell'], f"checked: {checks} statement{'s'*(checks != 1)}"
    defines = re.findall(r'^(?:def|class) (\w+)', body, re.M)
    if kind in ('figure', 'table') or defines or lines > 6 or wide:
        whole = kind == 'text' and not open_page # numbers that nothing names say nothing without their code
        return ['hide-cell' if whole else 'hide-input'], f"Show the code{': ' + ', '.join(defines[:3]) if defines else ''}"
    return [], ''


def is_shown(o):
    "Not shown: a widget, which is nothing without its kernel, and the name of an object of matplotlib"
    return WIDGET not in o.get('data', {}) and not ''.join(o.get('data', {}).get('text/plain', '')).startswith('<matplotlib.')


def plain(o):
    "Numbers with all their digits, as Python prints them, with six; heads of tables such as 3.000000 as 3"
    short = lambda m: f'{float(m[0]):.6g}'
    rounded = lambda text: re.sub(r'-?\b\d+\.\d{9,}(?:e[-+]\d+)?', short, ''.join(text))
    for kind in {'text/plain', 'text/markdown'} & set(o.get('data', {})): o['data'][kind] = rounded(o['data'][kind])
    if 'text' in o: o['text'] = rounded(o['text'])
    if 'text/html' in o.get('data', {}): o['data']['text/html'] = re.sub(r'(<th[^>]*>-?\d+)\.0+(?=</th>)', r'\1', ''.join(o['data']['text/html']))
    return o


def code_cells(c, module, heading, open_page, inside, announced=False):
    "A code cell as the page shows it: nothing, an API entry with its source folded, or the cell"
    f, body = flags(c), re.sub(r'^#\|.*\n?', '', c.source, flags=re.M)
    if {'hide', 'default_exp'} & set(f): return []
    c.source = body
    if 'export' in f:
        if all(re.match(r'(import|from|#|$)', line) for line in body.splitlines()): return []
        text, names = reference.entries(module, body), re.findall(r'^(?:def|class) (\w+)|^(\w+)\s*=', body, re.M)
        named = ', '.join(a or b for a, b in names[:3])
        c.metadata.update(tags=['hide-input'], mystnb=dict(code_prompt_show=f'source: {named or "what runs on import"}', code_prompt_hide='hide the source'))
        return [nbformat.v4.new_markdown_cell(text), c] if text else [c]
    tags, prompt = folded(c, f, body, open_page, inside)
    if tags == ['hide-cell'] and shows(c) and announced: tags = ['hide-input'] # the sentence above ends in a colon: this is what it means
    alt = f.get('fig-alt') or made.alt(body, heading)
    c.metadata.update(tags=tags, mystnb={'image': {'alt': alt}, **(dict(code_prompt_show=prompt, code_prompt_hide=prompt) if prompt else {})})
    c.outputs = [plain(o) for o in c.outputs if is_shown(o)]
    return [c]


def raw(html): return nbformat.v4.new_markdown_cell('```{raw} html\n' + html + '\n```')


def drop_first_frame(demo, cells, drawings):
    "A figure right above a demo of the same function is the demo's first frame: once is enough"
    name, last = re.search(r'^demo\((\w+)', demo.source, re.M), next((x for x in reversed(cells) if x.cell_type == 'code'), None)
    if not (name and last is not None and shows(last) == 'figure' and f'{name[1]}(' in last.source): return
    last.outputs = [o for o in last.outputs if 'image/png' not in o.get('data', {})]
    drawings[:] = [p for p in drawings if p[2] is not last]


def fold_numbers(c, cells):
    "A table right below a figure has the numbers behind it: it folds"
    last = cells[-1] if cells else None
    if shows(c) != 'table' or last is None or last.cell_type != 'code' or shows(last) != 'figure': return
    if not any('<table' in ''.join(o.get('data', {}).get('text/html', '')) for o in c.outputs): return
    c.metadata.update(tags=['hide-cell'], mystnb={**c.metadata.get('mystnb', {}), **dict.fromkeys(('code_prompt_show', 'code_prompt_hide'), 'the numbers behind the figure')})


LATE = 6 # a page whose first picture comes after so many cells opens with it


BORROWED = {'41_experiments': '42_synthetic'} # what it computes is drawn there


def first_figure(path, up=''):
    "The first figure of a notebook, as HTML"
    nb = nbformat.read(path, 4)
    svgs = lines(path, nb)
    for c in nb.cells:
        for key in filter(svgs.__contains__, map(pictures.key_of, pictures.pngs(c))):
            alt = flags(c).get('fig-alt') or made.alt(c.source, title(path))
            return f'```{{raw}} html\n<div class="drawing">{pictures.image(*svgs[key], alt, static/"figures", f"{up}_static/figures/")}</div>\n```\n'
    return ''


def borrowed(path):
    "The opening of a page without a figure: that of a page that draws what it computes, or the place of this one on the way"
    other = nbs/f'{BORROWED.get(path.stem, "")}.ipynb'
    if path.stem == 'index': return []
    if other.exists(): return [nbformat.v4.new_markdown_cell(f'{first_figure(other)}\nFrom [{title(other)}]({other.name}).')]
    return [nbformat.v4.new_markdown_cell(made.road(path.stem))]


def opening(path, cells, drawings):
    "The picture that a page opens with, where its first comes late: a figure or a demo, and the section that it is from"
    if not drawings: return borrowed(path)
    if drawings[0][0] <= LATE: return []
    _, heading, cell = drawings[0]
    heading = re.sub(r'\\sqrt\{?(\w+)\}?', r'√\1', heading)
    heading = re.sub(r'\\(\w+)', lambda m: made.GREEK.get(m[1], m[1]), heading)
    said = [nbformat.v4.new_markdown_cell(f'From *{heading}*, below.')] if heading and heading != title(path) else []
    if cell.cell_type == 'markdown': return [nbformat.v4.new_markdown_cell(cell.source), *said]
    twin = nbformat.from_dict({**cell, 'id': nbformat.v4.new_markdown_cell().id, 'metadata': {**cell.metadata, 'tags': ['remove-input']}})
    twin.outputs = [o for o in cell.outputs if {'image/png', 'image/svg+xml'} & set(o.get('data', {}))][:1]
    return [twin, *said]


def page(path):
    "One notebook as a page: (notebook, the statements of the paper on it, its figures as SVG)"
    nb, doc, seen, heading, cells = nbformat.read(path, 4), str(path.relative_to(nbs).with_suffix('')), [], '', []
    found, svgs, own, drawings = demos(path, nb), lines(path, nb), ids(path), []
    open_page, inside = doc == 'index' or group(path) in made.OPEN and path.stem not in made.CLOSED, doc != 'index' and group(path) == made.INSIDE
    module = next((f"{cfg['lib_name']}.{flags(c)['default_exp']}" for c in nb.cells if 'default_exp' in flags(c)), None)
    for i, c in enumerate(nb.cells):
        if c.cell_type == 'code':
            for o in c.outputs:
                if 'text/markdown' in o.get('data', {}): o['data']['text/markdown'] = local_links(''.join(o['data']['text/markdown']), doc)
            announced = bool(cells) and cells[-1].cell_type == 'markdown' and cells[-1].source.rstrip().endswith(':')
            new = code_cells(c, module, heading, open_page, inside, announced) + [raw(framed(html, doc)) for html in found.get(str(i), [])]
            if found.get(str(i)): drop_first_frame(c, cells, drawings)
            if not open_page: fold_numbers(c, cells)
            drawn = [x for x in new if x.cell_type == 'markdown' and '<div class="demo">' in x.source or x.cell_type == 'code' and shows(x) == 'figure']
            drawings += [(len(cells), heading, x) for x in drawn]
            cells += new
            continue
        heading = ([heading] + re.findall(r'^#+ (.+)$', c.source, re.M))[-1].replace('`', '').replace('$', '')
        c.source = mark_statements(local_links(c.source, doc), doc, seen, own)
        cells.append(c)
    cells[1:1] = opening(path, cells, drawings)
    nb.cells, nb.metadata = cells, nbformat.from_dict({'language_info': {'name': 'python', 'pygments_lexer': 'ipython3'}, 'kernelspec': {'name': 'python3', 'language': 'python', 'display_name': 'Python 3'}})
    return (nb if doc == 'index' else as_lines(nb, svgs, doc)), seen, svgs


def group(path):
    "The heading under which the left bar lists a notebook"
    stem = path.stem
    return next((g for g, stems in made.GROUPS.items() if stem in stems), made.INSIDE)


def contents(paths):
    "The left bar, by need"
    known, docs = {p.stem: str(p.relative_to(nbs).with_suffix('')) for p in paths}, {}
    for g, stems in made.GROUPS.items(): docs[g] = [known.get(s, s) for s in stems if s in known or s in made.PAGES]
    docs[made.INSIDE] = [doc for stem, doc in known.items() if stem != 'index' and group(Path(stem)) == made.INSIDE]
    docs['Start'].insert(0, 'Overview <self>')
    return '\n'.join(f'```{{toctree}}\n:hidden:\n:caption: {g}\n\n' + '\n'.join(d) + '\n```\n' for g, d in docs.items() if d)


# Reference pages

def title(path): return re.search(r'^# (.+)$', nbformat.read(path, 4).cells[0].source, re.M)[1]


def exports(paths):
    "Every public name, in reading order: (path, module, name, one line)"
    for path in paths:
        nb = nbformat.read(path, 4)
        module = next((f"{cfg['lib_name']}.{flags(c)['default_exp']}" for c in nb.cells if 'default_exp' in flags(c)), None)
        for c in nb.cells:
            if 'export' not in flags(c): continue
            for name, _ in reference.exported(c.source):
                yield path, module, name, reference.summary(getattr(reference.import_module(module), name), name, c.source)


# What stands beside the pages

def fetch():
    "What turns LaTeX into MathML, and a font for it, from npm"
    for package, (prefix, folder, wanted) in NPM.items():
        if all(any(re.fullmatch(w, p.name) for p in (proc/folder).glob('*')) for w in wanted.split('|')): continue
        name = subprocess.run(['npm', 'pack', '--silent', package], cwd=proc, check=True, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(proc/name) as tar:
            for member in tar:
                inner = member.name.removeprefix('package/' + prefix)
                if inner == member.name or not re.fullmatch(wanted, inner): continue
                (proc/folder/inner).parent.mkdir(parents=True, exist_ok=True)
                (proc/folder/inner).write_bytes(tar.extractfile(member).read())


def card(path):
    "The picture that a link to the site shows: the promise over a flat and a round cloud"
    import matplotlib; matplotlib.use('agg')
    import matplotlib.pyplot as plt
    import numpy as np
    fig, rng = plt.figure(figsize=(12, 6.3), facecolor='#0b3c5d'), np.random.default_rng(1)
    cloud = rng.normal(size=(500, 2)); flat = cloud*[1.25, .16] @ np.array([[.83, .56], [-.56, .83]])
    for x, points, color in ((.04, flat, '#E69F00'), (.66, cloud*.75, '#56B4E9')):
        ax = fig.add_axes([x, .04, .31, .5]); ax.plot(*points.T, '.', color=color, ms=5, alpha=.7); ax.set(xlim=(-3, 3), ylim=(-2.6, 2.6)); ax.axis('off')
    fig.text(.5, .27, r'$\rightarrow$', color='w', fontsize=72, ha='center', va='center')
    fig.text(.06, .78, cfg['title'], color='w', fontsize=66, weight='bold'); fig.text(.06, .64, cfg['description'], color='w', fontsize=29)
    fig.savefig(path, dpi=100); plt.close(fig)


def compared():
    "The picture of the comparison, for the first page"
    path = nbs/'45_comparison.ipynb'
    return f'{first_figure(path)}\nFrom [{title(path)}]({path.name}).'


def main():
    shutil.rmtree(src, ignore_errors=True); shutil.rmtree(static, ignore_errors=True)
    (src/'reference').mkdir(parents=True); static.mkdir(exist_ok=True)
    fetch(); card(static/'card.png')
    for name in ('site.css', 'site.js', 'planner.js', 'favicon.svg'): shutil.copy(here/name, static)
    if (nbs/'images').exists(): shutil.copytree(nbs/'images', src/'images')
    every, stated = notebooks(), {}
    wanted = [a for a in sys.argv[1:] if not a.startswith('--')]
    paths = [p for p in every if not wanted or p.stem in (*wanted, 'index')]
    with ThreadPoolExecutor(os.cpu_count()) as pool: list(pool.map(lambda p: [f(p, nbformat.read(p, 4)) for f in (demos, lines)], paths)) # kept for page()
    for path in paths:
        nb, stated[path], svgs = page(path)
        if path.stem == 'index':
            nb = as_lines(made.landing(nb, here, svgs, static, compared()), svgs, 'index')
            nb.cells.append(nbformat.v4.new_markdown_cell(contents(paths)))
        target = src/path.relative_to(nbs); target.parent.mkdir(exist_ok=True)
        nbformat.write(nb, target)
    made.write(src, paths, stated, list(exports(paths)), title, anchor)
    html = proc/'html'; shutil.rmtree(html, ignore_errors=True)
    strict = [] if quick else ['-W', '--keep-going']
    subprocess.run([sys.executable, '-m', 'sphinx', *strict, '-q', '-E', '-c', here, '-d', proc/'doctrees', src, html], check=True)
    finish.finish(html, proc/'temml')
    shutil.rmtree(out, ignore_errors=True); html.rename(out) # only a site that built without a warning replaces the last


if __name__ == '__main__':
    paths = [a for a in sys.argv[1:] if not a.startswith('--')]
    if paths[2:] == ['lines']: pictures.draw(Path(paths[0]), Path(paths[1]), needed, lambda c: 'slow' in flags(c) or is_demo(c))
    elif len(paths) == 2 and paths[1].endswith('.json'): run_demos(Path(paths[0]), Path(paths[1]))
    else: main()
