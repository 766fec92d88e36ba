"Private data in any parameter of any public function of the core: nothing of it is in a message or a warning"
import inspect
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from dp_pmt.noise import DiscreteNoise, GaussianNoise
from dp_pmt.preconditioning import Coordinates, Moments, PublicMoment, view
from dp_pmt.privacy import Budget
from dp_pmt.queries import JointMoments, SecondMoment

MODULES = ['checks', 'privacy', 'noise', 'preconditioning', 'losses', 'queries']
SECRET = 7318.2649
DIGITS = ('7318', '2649')
PRIVATE = {
    'array': np.array([SECRET, SECRET + 1]),
    'matrix': np.full((3, 2), SECRET),
    'list': [SECRET, SECRET],
    'nested list': [[SECRET, 1.], [2., SECRET]],
    'ragged': [[SECRET], [1., 2.]],
    'frame': pd.DataFrame({'x': [SECRET, 1.], 'y': [1., SECRET]}),
    'series': pd.Series([SECRET, 2.]),
    'text': f'age,wage\n31,{SECRET}',
    'objects': np.array([f'{SECRET}', None], dtype=object),
    'bytes': f'{SECRET}'.encode(),
    'dict': {f'{SECRET}': SECRET},
    'set': {SECRET},
    'complex array': np.array([SECRET + 1j]),
}
# what a parameter may be when it is not the one under attack
GOOD = dict(name='x', x=1., rho=1., delta=1e-6, eps=1., sens=1., sensitivity=1., sigma=1., d=3, n=100, n_B=50, eta=.05,
            alpha=2., shift=1., ndim=1, zero=False, option=False, value=np.ones(3), X=np.ones((4, 2)), r=1., C=1., R=1.,
            kind='gaussian', rng=0, safe=False, ensemble='iid', replace=True, g=np.atleast_1d, rows=np.ones((3, 2)),
            text='a text', thing=len, block=np.ones((2, 2)), below=1e3, least=1, other='it', B=np.eye(3), y_B=np.ones(3),
            A=np.ones((4, 3)), y=np.ones(4), r_A=1., r_y=1., c=1., clip=1., radius=1., weight=1., grid=2**16, what='rows',
            origin=np.ones(3), a=np.ones((3, 4)), moment=False, intercept=False, at=Coordinates(np.eye(3)),
            seen=view(np.ones((4, 3)), np.ones(4), Coordinates(np.eye(3))), weights=1., costs={'a look': .1},
            layout='vector', total=np.ones(3), prepared=GaussianNoise(0).ready(1., 1.), neighbours='replace', p=3,
            integers=False, b=np.ones(3), beta=np.ones(3), nonfinite='error', public=None, columns=None, family='binomial')
B = np.random.default_rng(0).normal(size=(9, 3))
METHODS = [Budget(1.).spend, Budget(1.).spend_all, Budget(1.).check, GaussianNoise(0).ready, GaussianNoise(0).add,
           DiscreteNoise().ready, SecondMoment(GOOD['at'], 1.).sensitivity, JointMoments(GOOD['at'], 1., 1.).sensitivity,
           GOOD['at'].map_back, PublicMoment(B, B[:, 0]).transform, Moments.of, Moments.of(B, B[:, 0]).whiten]


def functions():
    "Public functions and classes of the core, with their modules"
    for name in MODULES:
        module = import_module(f'dp_pmt.{name}')
        for public in module.__all__:
            thing = getattr(module, public)
            if callable(thing) and public not in ('explain', 'warn'): # these take our own texts and functions
                yield pytest.param(thing, id=f'{name}.{public}')
    for method in METHODS: yield pytest.param(method, id=method.__qualname__)


def words(f, args):
    "All that a call says: its error and its warnings"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        try: f(**args)
        except Exception as e: # whatever it is, its words count
            chain = [e, e.__cause__, *([] if e.__suppress_context__ else [e.__context__])]
            return ' '.join(str(x) for x in [*chain, *[w.message for w in said]])
    return ' '.join(str(w.message) for w in said)


@pytest.mark.parametrize('f', list(functions()))
def test_nothing_leaks(f):
    try: signature = inspect.signature(f)
    except (TypeError, ValueError): pytest.skip('takes no arguments of its own')
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in signature.parameters.values() if p.kind in kinds]
    good = {k: GOOD[k] for k in names if k in GOOD}
    leaks = []
    for attacked in names:
        for what, secret in PRIVATE.items():
            said = words(f, good | {attacked: secret})
            if any(d in said for d in DIGITS): leaks.append((attacked, what, said[:200]))
    assert leaks == []


def test_a_leak_is_found():
    def careless(x, rho): raise ValueError(f"x must be a number, got {x}")
    with pytest.raises(AssertionError): test_nothing_leaks(careless)
