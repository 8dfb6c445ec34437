"""Theano programs, unchanged: `import arignote.frontends.theano as theano`, or `install()` and `import theano`.

    namespaces, refusals, flags         Theano's modules and their names, refused names, flags
    types, variables, methods           types, wrappers of variables, their operators and methods
    shared_values, tensors, trial_values   shared variables, constants, values for a test
    dtypes, elementwise, reductions, shapes, indexing, products    functions of `theano.tensor`
    fourier, special_functions          Fourier transforms, functions that SciPy computes
    bundles, typed_lists                values of several tensors, lists of tensors
    sparse_types, sparse_ops, sparse_products, sparse_names   sparse matrices
    slopes                              ops with the derivatives that Theano gives them
    nnet, windows, normalization        networks: activations, losses, convolutions, pools, batch normalization
    old_windows                         older convolutions, neighbourhoods put back, sparse blocks
    abstract_convs, ctc                 abstract convolutions as classes, the loss of label sequences
    functions, modes, patterns          `theano.function`, its modes, and checks of lengths that do not broadcast
    op_classes                          ops by their class, errors, helpers
    monitors                            modes that look at each step of a call
    gradients, loops                    gradients, scans and choices
    user_ops, optimizers, kinds         ops and rules of programs, classes of Theano's ops
    graphs, texts                       walks and copies of expressions, expressions as text
    mrg, streams                        random streams: MRG31k3p, NumPy's Mersenne Twister
    command                             `python -m arignote theano`
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
