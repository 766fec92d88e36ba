"What a notebook can't test: that the files made from notebooks are in step, and that the package installs lean"
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from nb import notebooks, readme, root

BIN = Path(sys.executable).parent


@pytest.fixture
def copy(tmp_path):
    "The sources in a scratch folder"
    for name in ('settings.ini', 'setup.py', 'README.md', 'MANIFEST.in', 'LICENSE'): shutil.copy(root/name, tmp_path)
    for name in ('nbs', 'dp_pmt'): shutil.copytree(root/name, tmp_path/name, ignore=shutil.ignore_patterns('__pycache__', '.ipynb_checkpoints'))
    return tmp_path


def run(*args, cwd, **env):
    done = subprocess.run(list(map(str, args)), cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(folder): return {p.relative_to(folder): p.read_bytes() for p in folder.rglob('*') if p.is_file() and '__pycache__' not in p.parts and '.ipynb_checkpoints' not in p.parts}


def test_modules_are_exported(copy):
    "dp_pmt/ is what the notebooks export"
    for p in (copy/'dp_pmt').glob('*.py'):
        if p.name != '__init__.py': p.unlink()
    run(BIN/'nbdev_export', cwd=copy, IN_TEST='')
    assert files(copy/'dp_pmt') == files(root/'dp_pmt')


def test_notebooks_are_clean(copy):
    run(BIN/'nbdev_clean', cwd=copy)
    assert [str(p) for p, data in files(copy/'nbs').items() if data != (root/'nbs'/p).read_bytes()] == []


def test_readme_is_in_step():
    "README.md and its pictures are what index.ipynb says"
    assert [str(p.relative_to(root)) for p, data in readme(write=False).items() if not p.exists() or p.read_bytes() != data] == []


def test_notebooks_are_executed():
    "Committed with outputs, none of them an error, none with a path of somebody's machine"
    import nbformat
    for path in notebooks():
        outputs = [o for c in nbformat.read(path, 4).cells if c.cell_type == 'code' for o in c.outputs]
        assert outputs and not any(o.output_type == 'error' for o in outputs), path.name
        assert not re.search(r'/(home|root|Users|tmp)/\w', str([o for o in outputs])), path.name


def test_formulas_are_whole():
    "No backslash of a formula was read as an escape: '\\bar' as a backspace and 'ar', '\\varepsilon' as a line and 'arepsilon'"
    import nbformat
    broken = r'[\x00-\x09\x0b-\x1f\x7f]|(?<!\\v)arepsilon'
    assert [(path.name, c.source[:60]) for path in notebooks() for c in nbformat.read(path, 4).cells if c.cell_type == 'markdown' and re.search(broken, c.source)] == []


def test_wheel_is_lean(copy):
    "The wheel needs no development package, and carries what the modules read"
    run(sys.executable, '-m', 'pip', 'wheel', '-q', '--no-deps', '--no-build-isolation', '--disable-pip-version-check', '-w', copy/'dist', '.', cwd=copy)
    wheel = zipfile.ZipFile(next((copy/'dist').glob('*.whl')))
    names = wheel.namelist()
    meta = wheel.read(next(n for n in names if n.endswith('METADATA'))).decode()
    needs = {re.split(r'[^\w.-]', r)[0].lower() for r in re.findall(r'^Requires-Dist: ([^;\n]+)$', meta, re.M)}
    assert needs == {'numpy', 'scipy', 'pandas', 'matplotlib', 'ipywidgets', 'tqdm', 'threadpoolctl', 'fastcore', 'ucimlrepo'}
    data = {f'dp_pmt/{p.relative_to(root/"dp_pmt")}' for p in (root/'dp_pmt').rglob('*') if p.is_file() and '__pycache__' not in p.parts}
    assert data <= set(names)


@pytest.mark.parametrize('path', ['', str(root/'.venv'/'fastcore2')], ids=['fastcore 1', 'fastcore 2'])
def test_imports_under_both_fastcores(copy, path):
    "Every module imports under fastcore 1.x and 2.x, and drags no development package in"
    if path and not Path(path).exists(): pytest.skip('make test installs fastcore 2 beside the environment')
    modules = ['dp_pmt.' + p.stem for p in (root/'dp_pmt').glob('*.py') if not p.stem.startswith('_')]
    code = f"import sys; sys.path[:0] = {[p for p in (path, str(copy)) if p]!r}\nimport fastcore, importlib\n[importlib.import_module(m) for m in {modules!r}]\n" \
           "bad = {'nbdev', 'execnb', 'pytest', 'dp_accounting', 'mpmath'} & set(sys.modules); assert not bad, bad\nprint(fastcore.__version__)"
    assert run(sys.executable, '-c', code, cwd=copy).startswith('2' if path else '1')


def test_workflows_are_valid():
    run(BIN/'check-jsonschema', '--builtin-schema', 'vendor.github-workflows', *sorted((root/'.github'/'workflows').glob('*.yml')), cwd=root)
