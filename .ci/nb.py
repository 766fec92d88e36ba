"What nbdev needs Quarto for: run the notebooks in place, and write README.md from index.ipynb"
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from traitlets.config import Config

root = Path(__file__).resolve().parent.parent
nbs, images = root/'nbs', root/'nbs'/'images'


def notebooks():
    "All notebooks, in reading order"
    return sorted(p for p in nbs.rglob('*.ipynb') if '.ipynb_checkpoints' not in p.parts)


def execute(path):
    "Run one notebook in its folder and keep its outputs"
    nb = nbformat.read(path, as_version=4)
    NotebookClient(nb, timeout=900, kernel_name='python3', resources={'metadata': {'path': path.parent}}).execute()
    for key in ('widgets', 'jupytext'): nb.metadata.pop(key, None)
    nbformat.write(nb, path)


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
    if sys.argv[1:] == ['readme']: readme()
    else:
        for path in [nbs/f'{n}.ipynb' for n in sys.argv[1:]] or notebooks():
            print(path.relative_to(root), flush=True); execute(path)
        subprocess.run([Path(sys.executable).parent/'nbdev_clean'], cwd=root, check=True); readme()
