"Every table in dp_pmt/data that we computed, and its writer: `make tables` writes them again"
import argparse
import ast
import gzip
import inspect
import io
import math
import os
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

os.environ.setdefault('MPLBACKEND', 'agg')
root = Path(__file__).resolve().parent.parent
data = root/'dp_pmt'/'data'


def code(cell):
    "A cell's code; of a slow one, its definitions only"
    tree = ast.parse(cell.source)
    if cell.source.startswith('#| slow'):
        tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return tree


def from_notebook(name, function):
    "A function that a page defines without exporting it: run the page's cells until it is there"
    import nbformat
    space = {'__name__': name}
    for cell in nbformat.read(root/'nbs'/f'{name}.ipynb', 4).cells:
        if cell.cell_type != 'code': continue
        try: exec(compile(code(cell), name, 'exec'), space)
        except AssertionError: pass # a check of the table that is about to be written
        if function in space: return space[function]
    raise LookupError(f'nbs/{name}.ipynb defines no {function}')


def paper(small):
    "The paper's experiments: `make reproduce`, its results and settings"
    from dp_pmt.experiments import load_results, reproduce
    with tempfile.TemporaryDirectory() as out:
        reproduce(2 if small else None, out, progress=False, only=['wine'] if small else None)
        results = Path(out)/'results.csv.gz'
        if small: return load_results(results)
        return results.read_bytes(), (Path(out)/'settings.json').read_bytes()


def comparison_main(small, only=None):
    from dp_pmt.comparison import measure_sets
    if small: return measure_sets(('CCPP',), 1, rhos=(1,), n_jobs=0, only=only)
    return measure_sets(trials=50, only=only)


def comparison_further(small, only=None):
    from dp_pmt.comparison import measure_sets
    from dp_pmt.datasets import FURTHER
    if small: return measure_sets(('diabetes',), 1, rhos=(1,), n_jobs=0, only=only)
    return measure_sets(FURTHER, 25, only=only)


def comparison_regressions(small, only=None):
    from dp_pmt.comparison import measure_regressions
    if small: return measure_regressions(('gpa',), 1, epsilons=(3.,), n_jobs=0, only=only)
    return measure_regressions(trials=15, only=only)


def release_coverage(small):
    measure = from_notebook('23_release', 'measure_coverage')
    names = 'synthetic 0.05', 'synthetic 1', 'CCPP', 'white wine'
    settings = [(s, rho) for s in names for rho in (1, 10)] + [('white wine', 100)]
    if small: return measure(*settings[2], 3, 0)
    return pd.concat([measure(*s, 1000, 0) for s in settings])


def audit_table(small):
    measure = from_notebook('50_audit', 'measure')
    return measure(['private radius'], trials=2000) if small else measure()


def benchmark(small):
    from dp_pmt.benchmark import bench_fit, benchmark
    return pd.DataFrame(bench_fit(20_000)) if small else benchmark()


def costs(small):
    from dp_pmt.costs import measure_costs
    return measure_costs(dict(d=(2,), per=(3,), R2=(.5,)), repeats=4) if small else measure_costs()


def plan(small):
    measure = from_notebook('27_front', 'measure_plan')
    return measure(('vocab',), (3.,), 1) if small else measure()


def glm_trials(small, only=None):
    from dp_pmt.glm_comparison import measure_glm
    if small: return measure_glm(('children',), 1, epsilons=(3.,), only=only)
    return measure_glm(trials=11, only=only)


def glm_coverage(small):
    from dp_pmt.glm_comparison import measure_glm_coverage
    return measure_glm_coverage(('children',), 2, epsilons=(3.,)) if small else measure_glm_coverage()


def persons(function, **small):
    "A table of the page on persons"
    def write(is_small): return from_notebook('26_persons', function)(**(small if is_small else {}))
    return write


def knowledge(function, **small):
    "A table of the page on public knowledge"
    def write(is_small): return from_notebook('25a_knowledge', function)(**(small if is_small else {}))
    return write


def coverage(which, **small):
    "A table of the page on intervals; one run computes both"
    def write(is_small): return _coverage()(**(small if is_small else {}))[which]
    return write


@cache
def _coverage(): return from_notebook('26a_intervals', 'measure_coverage')


def anchored(function, **small):
    "A table of the page on the anchored estimator"
    def write(is_small): return from_notebook('25_anchored', function)(**(small if is_small else {}))
    return write


def anchored_elevators(small):
    "The elevators set is not ours to hand on: `ELEVATORS` names the file, the response last"
    import numpy as np
    measure = from_notebook('25_anchored', 'measure_elevators')
    if small: return measure(pd.DataFrame(np.random.default_rng(0).normal(size=(3000, 5))), 1)
    if 'ELEVATORS' not in os.environ: return pd.read_csv(data/'anchored_elevators.csv.gz')
    return measure(pd.read_csv(os.environ['ELEVATORS']))


TABLES = { # file: its writer
    'results.csv.gz': paper,
    'comparison_main.csv.gz': comparison_main,
    'comparison_further.csv.gz': comparison_further,
    'comparison_regressions.csv.gz': comparison_regressions,
    'release_coverage.csv.gz': release_coverage,
    'audit_table.csv.gz': audit_table,
    'benchmark.csv.gz': benchmark,
    'costs.csv.gz': costs,
    'plan.csv.gz': plan,
    'knowledge_forms.csv.gz': knowledge('measure_forms', names=('college',), epsilons=(3.,), trials=1),
    'knowledge_wrong.csv.gz': knowledge('measure_wrong', names=('college',), epsilons=(3.,), trials=1),
    'knowledge_nothing.csv.gz': knowledge('measure_nothing', names=('college',), sets=('red_wine',), trials=1),
    'anchored_regressions.csv.gz': anchored('measure_regressions', names=('vocab',), trials=1),
    'anchored_public_rows.csv.gz': anchored('measure_public_rows', names=('cps88',), trials=1, counts=(9,)),
    'anchored_elevators.csv.gz': anchored_elevators,
    'glm_trials.csv.gz': glm_trials,
    'glm_coverage.csv.gz': glm_coverage,
    'persons_panels.csv.gz': persons('measure_panels', names=('wages',), epsilons=(3.,), trials=1),
    'persons_m0.csv.gz': persons('measure_m0', names=('health',), trials=1),
    'persons_audit.csv.gz': persons('measure_audit', trials=200),
    'persons_coverage.csv.gz': persons('measure_coverage', sims=2),
    'coverage_coefficients.csv.gz': coverage(0, sims=2, cells=('2,000 rows',), names=()),
    'coverage_fits.csv.gz': coverage(1, sims=2, cells=('2,000 rows',), names=()),
}
# data that was given, and what results.csv.gz brings with it
GIVEN = {'README.md', 'ccpp.csv.gz', 'white_wine.csv.gz', 'reported.csv', 'results.json'}


def columns(file):
    "Columns of a saved table"
    return list(pd.read_csv(data/file, nrows=1))


def save(frame, path):
    "The same bytes for the same table"
    frame.to_csv(path, index=False, compression=dict(method='gzip', mtime=0))


def refreshed(file, methods):
    "The saved table with some methods run again: each has a random stream of its own"
    old = pd.read_csv(data/file)
    new = TABLES[file](False, methods)
    return pd.concat([old[~old.method.isin(methods)], new], ignore_index=True)


# Tables of chance without a seed, of times, or of columns so nearly collinear that each processor turns its noise
# another way: how far the median of the numbers that moved may move (in costs a number of `release` is of forty draws)
CHANCE = {'release_coverage.csv.gz': .05, 'glm_coverage.csv.gz': .05, 'coverage_coefficients.csv.gz': .01,
          'costs.csv.gz': .25, 'benchmark.csv.gz': math.inf, 'anchored_elevators.csv.gz': .05}
TIMES = {'seconds', 'machine'}
# Rows are the same to NEAR. On another processor last digits differ; where two eigenvalues are close, a fit then meets
# its noise in turned coordinates: another draw of the same law. So MOST rows, not all, must be the same there.
NEAR, MOST = 1e-6, .95
KEYS = ('kind', 'data', 'name', 'case', 'unit', 'form', 'lie', 'method', 'n_B', 'eps', 'rho', 'budget',
        'm0', 'trial', 'draw', 'sim', 'seed', 'column')


def compared(old, new):
    "Share of rows that are the same, and nearly so; the median and largest relative difference of a number"
    names = [c for c in old if c not in TIMES]
    keys = [c for c in KEYS if c in names] # methods that were run again stand at the end
    nth = [t.groupby(keys, dropna=False).cumcount() if keys else pd.Series(range(len(t))) for t in (old, new)]
    old, new = (t[names].assign(nth=k).set_index([*keys, 'nth'], drop=False) for t, k in zip((old, new), nth))
    index = old.index.union(new.index) # a rival that gave no answer has no row
    old, new = (t[names].reindex(index) for t in (old, new))
    numbers = old.select_dtypes('number').columns
    a, b = old[numbers].to_numpy(float), new[numbers].to_numpy(float)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    distance = np.abs(a - b)/np.maximum(np.abs(a), 1e-300)
    difference = np.where(same, 0, np.nan_to_num(distance, nan=math.inf))
    texts = old.drop(columns=numbers).astype(str).eq(new.drop(columns=numbers).astype(str)).all(axis=1)
    moved = difference[~same]
    median = float(np.median(moved)) if moved.size else 0.
    near = (difference < NEAR).all(axis=1) & texts
    return float((same.all(axis=1) & texts).mean()), float(near.mean()), median, float(difference.max())


def check(file):
    "One table at full size again, beside the saved one; nothing is written"
    start = time.perf_counter()
    table = TABLES[file](False)
    if isinstance(table, pd.DataFrame): new = io.StringIO(table.to_csv(index=False))
    else: new = io.BytesIO(gzip.decompress(table[0]))
    same, near, median, most = compared(pd.read_csv(data/file), pd.read_csv(new))
    seconds = time.perf_counter() - start
    says = f'{same:.1%} of rows the same, {near:.1%} to {NEAR:g}; numbers that moved did by {median:.2g} in the median, {most:.2g} at most'
    print(f'{file}: {says} ({seconds:.0f} s)', flush=True)
    return near >= MOST or median <= CHANCE.get(file, NEAR)


def write(file, methods=()):
    "One table, at full size; with `methods`, only their rows are computed again"
    start = time.perf_counter()
    table = refreshed(file, methods) if methods else TABLES[file](False)
    if isinstance(table, pd.DataFrame): save(table, data/file)
    else:
        for path, content in zip((data/file, data/'results.json'), table): path.write_bytes(content)
    print(f'{file}: {time.perf_counter() - start:.0f} s', flush=True)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('files', nargs='*', help='names of tables; none: all of them')
    says = 'with commas: recompute these methods only, in the comparison tables'
    parser.add_argument('--methods', default='', help=says)
    parser.add_argument('--check', action='store_true', help='compare with the saved tables, write nothing')
    args = parser.parse_args()
    methods = [m for m in args.methods.split(',') if m]
    takes = lambda f: 'only' in inspect.signature(TABLES[f]).parameters
    files = args.files or [f for f in TABLES if not methods or takes(f)]
    if args.check:
        moved = [file for file in files if not check(file)]
        raise SystemExit(f'moved: {", ".join(moved)}' if moved else 0)
    for file in files: write(file, methods)
