"""Build the site: notebooks -> Sphinx sources in _proc/ -> HTML in _docs/

Saved outputs are kept. Only demos run again, in a process where `demo` draws its whole grid,
and their frames go into the page with the widgets that turn them."""
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
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from pathlib import Path

import nbformat

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
from nb import WIDGET, nbs, notebooks, root  # noqa: E402
import reference  # noqa: E402

cfg = ConfigParser(delimiters=['=']); cfg.read(root/'settings.ini', encoding='utf-8'); cfg = cfg['DEFAULT']
proc, out = root/'_proc', root/cfg['doc_path']
src, static = proc/'src', proc/'static'
STATE = 'application/vnd.jupyter.widget-state+json'
NPM = {'mathjax@3.2.2': ('es5/', 'mathjax', r'tex-chtml-full\.js|output/chtml/fonts/.*'), '@jupyter-widgets/html-manager@1.0.15': ('dist/', 'widgets', r'embed\.js|.*\.woff2')}


def flags(cell):
    "The directives of a code cell: {name: value}"
    lines = re.findall(r'^#\|\s*([\w-]+):?\s*(.*)$', cell.source, re.M) if cell.cell_type == 'code' else []
    return {k: v.strip() for k, v in lines}


def is_demo(cell): return cell.cell_type == 'code' and re.search(r'^demo\(', cell.source, re.M)


# Demos

def names(source):
    "(names that a cell sets, names that it takes from other cells)"
    sets, reads = set(), set()
    for stmt in ast.parse(source).body:
        tables = [top := symtable.symtable(ast.unparse(stmt), 'cell', 'exec')]
        for t in tables: tables += t.get_children()
        reads |= {s.get_name() for t in tables for s in t.get_symbols() if s.is_referenced() and (t is top or s.is_global())} - sets
        sets |= {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
        if isinstance(stmt, ast.ImportFrom) and stmt.names[0].name == '*': sets.add('*')
    return sets, reads


def needed(cells):
    "The demos and those quick cells above them that set what they read, directly or through others"
    last = max((i for i, c in enumerate(cells) if is_demo(c)), default=-1)
    known = {i: names(c.source) for i, c in enumerate(cells[:last + 1]) if c.cell_type == 'code' and 'slow' not in flags(c)}
    keep, size = {i for i in known if is_demo(cells[i])}, 0
    while size < len(keep):
        size, reads = len(keep), {'*'}.union(*(known[i][1] for i in keep))
        keep |= {i for i, (sets, _) in known.items() if sets & reads}
    return sorted(keep)


def run_demos(path, target):
    "Run the demos of a notebook and what they need; write their outputs and the state of their widgets"
    os.environ.update(DP_PMT_STATIC='1', MPLBACKEND='module://matplotlib_inline.backend_inline')
    os.chdir(path.parent)
    from execnb.nbio import read_nb
    from execnb.shell import CaptureShell
    from ipywidgets import Widget
    nb, shell, found = read_nb(path), CaptureShell(path, mpl_format='png'), {}
    for i in needed(nb.cells):
        c = nb.cells[i]
        shell.cell(c)
        if shell.exc: raise shell.exc
        if is_demo(c): found[i] = [o for o in c.outputs if WIDGET in o.get('data', {})]
    target.write_text(json.dumps({'outputs': found, 'state': Widget.get_manager_state(drop_defaults=True)['state']}))


def demos(path, nb):
    "Outputs of the demo cells and their widgets' state; kept until the notebook or the package changes"
    if not any(map(is_demo, nb.cells)): return {'outputs': {}, 'state': {}}
    key = hashlib.sha256(b''.join([*(c.source.encode() for c in nb.cells if c.cell_type == 'code'), *(p.read_bytes() for p in sorted((root/'dp_pmt').glob('*.py')))]))
    target = proc/'demos'/f'{path.stem}-{key.hexdigest()[:16]}.json'
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, path, target], check=True)
    return json.loads(target.read_text())


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
    return ID.sub(lambda m: f'({anchor(doc, m[2])})=\n{m[1]}', text)


def code_cells(c, module, heading):
    "A code cell as the page shows it: nothing, an API entry with its source folded, or the cell"
    f, body = flags(c), re.sub(r'^#\|.*\n?', '', c.source, flags=re.M)
    if {'hide', 'default_exp'} & set(f): return []
    c.source, tags = body, []
    if 'export' in f:
        if all(re.match(r'(import|from|#|$)', line) for line in body.splitlines()): return []
        c.metadata['tags'] = ['hide-input']
        text = reference.entries(module, body)
        return [nbformat.v4.new_markdown_cell(text), c] if text else [c]
    if 'hide-input' in f or f.get('echo') == 'false': tags = ['remove-input']
    if f.get('code-fold') == 'true': tags = ['hide-input']
    c.metadata.update(tags=tags, mystnb={'image': {'alt': f.get('fig-alt') or f'Figure: {heading}'}})
    c.outputs = [o for o in c.outputs if WIDGET not in o.get('data', {}) or 'demo' in o.metadata] # a widget without its state shows nothing
    return [c]


def page(path):
    "One notebook as a page, and what it states: (notebook, statements, module)"
    nb, doc, seen, heading, cells = nbformat.read(path, 4), str(path.relative_to(nbs).with_suffix('')), [], '', []
    found, own = demos(path, nb), ids(path)
    for i, outputs in found['outputs'].items(): nb.cells[int(i)].outputs = [nbformat.from_dict({**o, 'metadata': {'demo': True}}) for o in outputs]
    module = next((f"{cfg['lib_name']}.{flags(c)['default_exp']}" for c in nb.cells if 'default_exp' in flags(c)), None)
    for c in nb.cells:
        if c.cell_type == 'code': cells += code_cells(c, module, heading); continue
        heading = ([heading] + re.findall(r'^#+ (.+)$', c.source, re.M))[-1].replace('`', '').replace('$', '')
        c.source = mark_statements(local_links(c.source, doc), doc, seen, own)
        cells.append(c)
    nb.cells, nb.metadata = cells, nbformat.from_dict({'language_info': {'name': 'python', 'pygments_lexer': 'ipython3'}, 'kernelspec': {'name': 'python3', 'language': 'python', 'display_name': 'Python 3'}})
    if found['state']: nb.metadata['widgets'] = {STATE: {'state': found['state'], 'version_major': 2, 'version_minor': 0}}
    return nb, seen, module


LAYERS = {0: 'Privacy and noise', 1: 'Rows and preconditioning', 2: 'Algorithms', 3: 'Theory', 4: 'Data and experiments', 5: 'Audit and speed', 6: 'The package'}


def group(path):
    "The heading under which the left bar lists a notebook: by the first digit of its number"
    return LAYERS[int(path.name[0])] if path.name[0].isdigit() else 'Start here'


def contents(paths):
    "The left bar"
    groups = {g: [] for g in ('Start here', *LAYERS.values())}
    for p in paths:
        if p.stem != 'index': groups[group(p)].append(str(p.relative_to(nbs).with_suffix('')))
    groups['Start here'].insert(0, 'Overview <self>'); groups['Reference'] = ['reference/api', 'reference/statements']
    return '\n'.join(f'```{{toctree}}\n:hidden:\n:caption: {g}\n\n' + '\n'.join(docs) + '\n```\n' for g, docs in groups.items() if docs)


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


def api_page(paths):
    "Every public name with one line each"
    text, last = '# API\n> Every public name of the package, one line each\n', None
    for path, module, name, line in exports(paths):
        if not line: raise ValueError(f'{module}.{name} has no docstring, or no comment where it is set')
        if module != last: text += f'\n## `{module}`\n\nFrom [{title(path)}](/{path.relative_to(nbs)}).\n\n| name | what it is |\n| --- | --- |\n'; last = module
        text += f"| {{py:obj}}`{name} <{module}.{name}>` | {line.replace('|', chr(92) + '|')} |\n"
    return text


def statements_page(paths, stated):
    "The paper's numbered statements, the pages that state or use them, and the functions whose docstrings name them"
    said = {p: {m for c in nbformat.read(p, 4).cells for m in reference.mentions(c.source)} for p in paths}
    named = [(m, f'{{py:obj}}`{name} <{module}.{name}>`') for _, module, name, _ in exports(paths)
             for m in reference.mentions(reference.inspect.getdoc(getattr(reference.import_module(module), name)) or '')]
    text = "# The paper's statements\n> Where each numbered definition, lemma, theorem, algorithm, equation and figure lives\n\n" \
           'The numbers are those of *Enhancing Differentially Private Linear Regression via Public Second-Moment* (Cao and Zhang). Pages that state it stand first, in bold.\n\n' \
           '| number | what it says | pages | code |\n| --- | --- | --- | --- |\n'
    for m, what in reference.STATEMENTS:
        links = [f'**[{title(p)}](#{anchor(p.relative_to(nbs).with_suffix(""), m)})**' for p in paths if m in stated[p]]
        links += [f'[{title(p)}](/{p.relative_to(nbs)})' for p in paths if m in said[p] and m not in stated[p]]
        code = ', '.join(dict.fromkeys(link for n, link in named if n == m))
        if links or code: text += f"| {m} | {what} | {', '.join(links)} | {code} |\n"
    return text


# What stands beside the pages

def fetch():
    "MathJax and the widget manager from npm, so that a page asks no other host"
    for package, (prefix, folder, wanted) in NPM.items():
        if (static/folder).exists(): continue
        name = subprocess.run(['npm', 'pack', '--silent', package], cwd=proc, check=True, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(proc/name) as tar:
            for member in tar:
                inner = member.name.removeprefix('package/' + prefix)
                if inner == member.name or not re.fullmatch(wanted, inner): continue
                (static/folder/inner).parent.mkdir(parents=True, exist_ok=True)
                (static/folder/inner).write_bytes(tar.extractfile(member).read())


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


def main():
    shutil.rmtree(src, ignore_errors=True); (src/'reference').mkdir(parents=True); static.mkdir(exist_ok=True)
    fetch(); card(static/'card.png')
    for name in ('site.css', 'site.js', 'favicon.svg'): shutil.copy(here/name, static)
    if (nbs/'images').exists(): shutil.copytree(nbs/'images', src/'images')
    paths, stated = notebooks(), {}
    with ThreadPoolExecutor(os.cpu_count()) as pool: list(pool.map(lambda p: demos(p, nbformat.read(p, 4)), paths)) # kept for page()
    for path in paths:
        nb, stated[path], _ = page(path)
        if path.stem == 'index': nb.cells.append(nbformat.v4.new_markdown_cell(contents(paths)))
        target = src/path.relative_to(nbs); target.parent.mkdir(exist_ok=True)
        nbformat.write(nb, target)
    (src/'reference'/'api.md').write_text(api_page(paths), encoding='utf-8')
    (src/'reference'/'statements.md').write_text(statements_page(paths, stated), encoding='utf-8')
    html = proc/'html'; shutil.rmtree(html, ignore_errors=True)
    subprocess.run([sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q', '-E', '-c', here, '-d', proc/'doctrees', src, html], check=True)
    shutil.rmtree(out, ignore_errors=True); html.rename(out) # only a site that built without a warning replaces the last


if __name__ == '__main__':
    if sys.argv[1:]: run_demos(Path(sys.argv[1]), Path(sys.argv[2]))
    else: main()
