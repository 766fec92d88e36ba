"What the notebooks define and say: API entries from exported cells, and the paper's statements by number"
import ast
import inspect
import re
from importlib import import_module

from fastcore.docments import docments

# The paper's numbered statements, in its order. Which page holds which is read from the notebooks.
STATEMENTS = [
    ('Definition 1', 'zero-concentrated differential privacy'), ('Definition 2', 'sensitivity'),
    ('Lemma 1', 'composition: costs add'), ('Lemma 2', 'the Gaussian mechanism'),
    ('Lemma 3', 'whitening by public rows bounds the spectrum'), ('Corollary 1', 'a clip whose radius knows only the dimension'),
    ('Proposition 1', 'sensitivities and privacy of the transformed moments'), ('Corollary 2', 'bounds on the privacy noise'),
    ('Theorem 1', 'privacy and accuracy of DP-PMTOLSE'), ('Theorem 2', 'accuracy of private-only sufficient statistics'),
    ('Lemma 4', 'norms of sub-Gaussian rows'), ('Lemma 5', 'singular values of sub-Gaussian matrices'), ('Corollary 3', 'sample second moments'),
    ('Lemma 6', 'perturbing an inverse'), ('Lemma 7', 'norm of a symmetric Gaussian matrix'), ('Lemma 8', 'norm of a Gaussian vector'),
    ('Algorithm 1', 'DP-PMTOLSE'), ('Algorithm 2', 'DP-OLSE, the private-only baseline'),
    ('Equation 1', 'least squares in the transformed coordinates'), ('Equation 2', 'the stability condition'),
    ('Equation 3', 'error in the transformed coordinates'), ('Equation 4', 'error in the original coordinates'), ('Equation 5', 'error of the baseline'),
    ('Figure 1', 'the road of the estimator'), ('Figure 2', 'the pipeline of Algorithm 1'), ('Figure 3', 'the clip before and after'),
    ('Figure 4', 'experiment `private_n`: more private rows'), ('Figure 5', 'experiment `kappa`: worse conditioning'), ('Figure 6', 'experiment `public_n`: more public rows'),
    ('Figure 7', 'experiment `ccpp`: power plant'), ('Figure 8', 'experiment `wine`: white wine'), ('Figure 9', 'experiment `dope`: against DOPE-GD'),
    ('Figure 10', 'experiment `dope`: run time'), ('Figure 11', 'experiment `dope`: convergence'),
]
NUMBERED = re.compile(r'\b(Definition|Lemma|Corollary|Proposition|Theorem|Algorithm|Equation|Figure)s?\s+(\(?\d+\)?(?:(?:,\s*|\s+and\s+|\s+to\s+|-)\(?\d+\)?)*)', re.I)


def mentions(text):
    "The statements that `text` names: 'Lemmas 1 and 2' names two, 'Figures 4 to 6' three"
    found = []
    for kind, numbers in NUMBERED.findall(text):
        ranges = re.sub(r'(\d+)\)?\s*(?:to|-)\s*\(?(\d+)', lambda m: ' '.join(map(str, range(int(m[1]), int(m[2]) + 1))), numbers)
        found += [f'{kind.capitalize()} {n}' for n in re.findall(r'\d+', ranges)]
    return [m for m in dict.fromkeys(found) if m in dict(STATEMENTS)]


def exported(source):
    "Public names that an exported cell defines, with their syntax nodes"
    for node in ast.parse(source).body:
        targets = getattr(node, 'targets', [getattr(node, 'target', None)])
        names = [node.name] if hasattr(node, 'name') else [t.id for top in targets for t in getattr(top, 'elts', [top]) if isinstance(t, ast.Name)]
        yield from ((name, node) for name in names if not name.startswith('_'))


def summary(obj, name, source):
    "One line: the docstring's first, or the comment where a constant is set, above or behind it"
    if inspect.isclass(obj) or callable(obj): return (inspect.getdoc(obj) or '').split('\n')[0]
    lines, node = source.splitlines(), next((n for other, n in exported(source) if other == name), None)
    if node is None: return ''
    first, last = lines[node.lineno - 1], lines[node.end_lineno - 1]
    for line in (first, last):
        if '#' in line: return line.split('#', 1)[1].strip()
    above = lines[node.lineno - 2].strip() if node.lineno > 1 else ''
    if above.startswith('#') and not above.startswith('#|'): return above.lstrip('# ')
    return f'{len(obj)} values' if hasattr(obj, '__len__') else f'{obj!r}'


def _type(anno): return '' if anno in (None, type(None), inspect.Parameter.empty) else getattr(anno, '__name__', str(anno))


def _signature(obj):
    "Names and defaults; the types stand in the list below it"
    params = [p.replace(annotation=p.empty) for p in inspect.signature(obj).parameters.values()]
    return str(inspect.Signature([p for p in params if p.name != 'self']))


def _fields(obj):
    "Parameter comments as a field list"
    for name, d in docments(obj, full=True).items():
        text, kind = ' '.join((d.docment or '').split()), _type(d.anno)
        if name == 'self' or not (text or kind): continue
        if name == 'return': yield ':returns: ' + ' – '.join(filter(None, [f'*{kind}*' if kind else '', text]))
        else: yield f':param {name}: {text}' + (f'\n:type {name}: {kind}' if kind else '')


def _entry(directive, name, module, obj, inner='', doc=None):
    fence = ':::::' if inner else '::::'
    plain = directive in ('py:property', 'py:data') or inspect.isclass(obj) and issubclass(obj, Exception)
    sig, fields = ('', '') if plain else (_signature(obj), '\n'.join(_fields(obj)))
    doc = (inspect.getdoc(obj) or '') if doc is None else doc
    return f'{fence}{{{directive}}} {name}{sig}\n:module: {module}\n\n{doc}\n\n{fields}\n\n{inner}{fence}\n\n'


def entries(module, source):
    "Markdown of the API entries for an exported cell"
    text, mod = '', import_module(module)
    for name, node in exported(source):
        obj = getattr(mod, name)
        if inspect.isclass(obj):
            inner = ''
            for key, f in vars(obj).items():
                if key.startswith('_') or not any(getattr(n, 'name', None) == key for n in node.body): continue
                kind = 'py:property' if isinstance(f, property) else 'py:method'
                inner += _entry(kind, f'{name}.{key}', module, f if isinstance(f, property) else getattr(obj, key))
            text += _entry('py:class', name, module, obj, inner)
        elif callable(obj): text += _entry('py:function', name, module, obj)
        else: text += _entry('py:data', name, module, obj, doc=summary(obj, name, source))
    return text
