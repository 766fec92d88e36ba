"What nbdev needs Quarto for: run the notebooks in place, and write README.md from index.ipynb"
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from execnb.nbio import read_nb, write_nb
from execnb.shell import CaptureShell
from nbconvert import MarkdownExporter
from traitlets.config import Config

root = Path(__file__).resolve().parent.parent
WIDGET = 'application/vnd.jupyter.widget-view+json'
nbs, images = root/'nbs', root/'nbs'/'images'


def notebooks():
    "All notebooks, in reading order"
    return sorted(p for p in nbs.rglob('*.ipynb') if '.ipynb_checkpoints' not in p.parts)


def execute(path):
    "Run one notebook in its folder, in this process, and keep its outputs"
    os.environ['MPLBACKEND'] = 'module://matplotlib_inline.backend_inline'
    nb, shell = read_nb(path), CaptureShell(path, mpl_format='png')
    for c in nb.cells: c.get('outputs', []).clear()
    os.chdir(path.parent); sys.path.insert(0, str(root))
    shell.run_all(nb, exc_stop=True)
    for c in nb.cells: # a demo's figure stands above it already
        live = [o for o in c.get('outputs', []) if WIDGET in o.get('data', {})]
        if live: c['outputs'] = live
    write_nb(nb, path)


def visible(nb):
    "Drop hidden cells, hidden inputs and directives; alt text replaces the word png"
    cells = []
    for c in nb.cells:
        flags = re.findall(r'^#\|\s*(.+)$', c.source, re.M) if c.cell_type == 'code' else []
        if any(f.split()[0] in ('hide', 'default_exp', 'export') for f in flags): continue
        c.metadata['alt'] = next((f.split(':', 1)[1].strip() for f in flags if f.startswith('fig-alt')), '')
        c.source = '' if 'hide-input' in flags else re.sub(r'^#\|.*\n?', '', c.source, flags=re.M)
        cells.append(c)
    nb.cells = cells
    return nb


def readme(write=True):
    "README.md and its pictures from index.ipynb: {path: bytes}"
    nb = visible(nbformat.read(nbs/'index.ipynb', as_version=4))
    nb.metadata['language_info'] = {'name': 'python'}
    exporter = MarkdownExporter(config=Config({'NbConvertBase': {'display_data_priority': ['image/png', 'text/markdown', 'text/plain']}}))
    text, res = exporter.from_notebook_node(nb, resources={'output_files_dir': 'nbs/images', 'unique_key': 'index'})
    for alt in (c.metadata['alt'] for c in nb.cells if c.metadata.get('alt')): text = text.replace('![png]', f'![{alt}]', 1)
    text = re.sub(r'```python\s*```\n*', '', text) # hidden inputs
    text = re.sub(r'^ +(!\[|$)', r'\1', text, flags=re.M)
    files = {root/'README.md': (re.sub(r'\n{3,}', '\n\n', text).strip() + '\n').encode()}
    files.update({root/name: data for name, data in res['outputs'].items()})
    if write:
        images.mkdir(exist_ok=True)
        for path, data in files.items(): path.write_bytes(data)
    return files


if __name__ == '__main__':
    what, *names = sys.argv[1:]
    paths = [nbs/f'{n}.ipynb' for n in names] or notebooks()
    if what == 'execute': execute(*paths)
    if what == 'run':
        for path in paths: # each in a process of its own
            print(path.relative_to(root), flush=True)
            subprocess.run([sys.executable, __file__, 'execute', path.relative_to(nbs).with_suffix('')], check=True)
        subprocess.run([Path(sys.executable).parent/'nbdev_clean'], cwd=root, check=True)
    if what in ('run', 'readme'): readme()
