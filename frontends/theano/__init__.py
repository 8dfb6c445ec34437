"""Theano programs, unchanged: `import arignote.frontends.theano as theano`, or `install()` and `import theano`.

namespaces, refusals, config                 Theano's modules and their names, refused names, flags
types, variables, methods, shared, tensors   types, wrappers of variables, their methods, shared values, constants
dtypes, elementwise, reductions, shapes, indexing, products    functions of `theano.tensor`
nnet, windows                                networks: activations, losses, convolutions, pools
functions, modes, gradients, loops           `theano.function`, its modes, gradients, scans and choices
graphs, printing                             walks, copies and text of expressions
"""

import sys
from typing import Any

from .namespaces import install, modules

_theano = modules["theano"]
for _full, _module in modules.items():
    if _full != "theano":
        sys.modules[__name__ + _full.removeprefix("theano")] = _module


def __getattr__(name: str) -> Any:
    """The names of the module `theano`."""
    return getattr(_theano, name)


__all__ = ["install", "modules"]
