"""The vocabulary: all functions that build expressions, under NumPy's names.

Users write `from arignote import ops as T`.  A function is public once its module names it in `__all__`; the classes of
ops are no public names, though `T.Softmax` finds one.

    core           variables, types of arguments, promotion, operators, NumPy's meaning of a graph
    elementwise    elementwise ops, one record each, and what is composed of them
    shapes         lengths, axes, parts: what moves elements and computes none
    reductions     reductions, statistics, running sums, order and search
    linalg         products of matrices, linear algebra, Fourier transforms
    networks       convolutions, pools, the softmax family, losses, numbers of few bits
    control        loops, branches, rules of `ag.vmap`
    random         streams of random numbers
    named_axes     operations by the names of axes
    special        special functions, under SciPy's names
    distributions  densities, distribution functions and draws of probability distributions
    sparse         sparse matrices, under SciPy's names
    writing        expressions as text, in Python and LaTeX
    lowered        ops that only rules make
    standard       NumPy's names besides ops: dtypes, constants, conversions; the array API standard
    array_api      the names of that standard alone

`T.linalg`, `T.fft`, `T.nn`, `T.random`, `T.special`, `T.distributions` and `T.sparse` are namespaces of their own.
  Begin with core/tensor.py.
"""

# ruff: noqa: F403  (each module says in its __all__ which of its names are public)

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from . import fft as fft
from . import linalg as linalg
from . import nn as nn
from . import random as random
from . import special as special
from .control.applying import *
from .control.folding import *
from .control.watching import *
from .core.interpret import evaluate as evaluate
from .core.interpret import interpret as interpret
from .core.keywords import with_hints as _with_hints
from .core.keywords import with_numpys_keywords as _with_numpys_keywords
from .core.namespace import missing as _missing
from .core.namespace import public_names as _public_names
from .core.shared import Container as Container
from .core.shared import SharedVariable as SharedVariable
from .core.shared import shared as shared
from .core.tensor import TensorConstant as TensorConstant
from .core.tensor import TensorOp as TensorOp
from .core.tensor import TensorVariable as TensorVariable
from .core.tensor import TracedVariable as TracedVariable
from .core.tensor import as_tensor as as_tensor
from .core.tensor import constant as constant
from .core.typed import *
from .core.variables import *
from .elementwise.angles import *
from .elementwise.arithmetic import *
from .elementwise.exponential import *
from .elementwise.functions import *
from .elementwise.logic import *
from .elementwise.parts import *
from .elementwise.records import ELEMENTWISE as ELEMENTWISE
from .elementwise.records import cast as cast
from .elementwise.representation import *
from .linalg.assumptions import *
from .linalg.einsum import *
from .linalg.products import *
from .networks.fixed_point import *
from .networks.functions import binary_crossentropy as binary_crossentropy
from .networks.functions import categorical_crossentropy as categorical_crossentropy
from .networks.functions import gelu as gelu
from .networks.functions import log_softmax as log_softmax
from .networks.functions import logsumexp as logsumexp
from .networks.functions import one_hot as one_hot
from .networks.functions import sigmoid_crossentropy as sigmoid_crossentropy
from .networks.functions import silu as silu
from .networks.functions import softmax as softmax
from .networks.functions import softmax_crossentropy as softmax_crossentropy
from .networks.quantized import *
from .reductions.counting import *
from .reductions.cumulative import *
from .reductions.not_a_number import *
from .reductions.polynomials import *
from .reductions.quantiles import *
from .reductions.reduce import *
from .reductions.sampled import *
from .reductions.sets import *
from .reductions.signal_windows import *
from .reductions.sorting import *
from .reductions.statistics import *
from .reductions.topk import *
from .reductions.unbroadcasting import *
from .shapes.arranging import *
from .shapes.creation import *
from .shapes.diagonals import *
from .shapes.editing import *
from .shapes.getitem import *
from .shapes.joining import *
from .shapes.lengths import *
from .shapes.naming import *
from .shapes.padding import *
from .shapes.shape import broadcast_to as broadcast_to
from .shapes.shape import dim_to_tensor as dim_to_tensor
from .shapes.shape import dimshuffle as dimshuffle
from .shapes.shape import expand_dims as expand_dims
from .shapes.shape import flatten as flatten
from .shapes.shape import moveaxis as moveaxis
from .shapes.shape import ravel as ravel
from .shapes.shape import reshape as reshape
from .shapes.shape import shape as shape
from .shapes.shape import squeeze as squeeze
from .shapes.shape import swapaxes as swapaxes
from .shapes.shape import tensor_to_dim as tensor_to_dim
from .shapes.shape import transpose as transpose
from .shapes.sliding import *
from .shapes.specify import *
from .shapes.written import *
from .standard.comparison import *
from .standard.conversion import *
from .standard.dtypes import *
from .standard.info import __array_api_version__ as __array_api_version__
from .standard.info import __array_namespace_info__ as __array_namespace_info__

_with_numpys_keywords(globals(), "")
_with_hints(TensorVariable)

if TYPE_CHECKING:
    from . import array_api as array_api
    from . import distributions as distributions
    from . import sparse as sparse
else:

    def __getattr__(name: str) -> object:
        distributions = _import_module(".distributions", __name__)  # not at once: few programs use them
        if name == "distributions":
            return distributions
        sparse = _import_module(".sparse", __name__)
        if name == "sparse":
            return sparse
        array_api = _import_module(".array_api", __name__) if name in ("array_api", "__all__") else None
        if name == "array_api":
            return array_api
        if name != "__all__":
            inner = {"nn": nn, "linalg": linalg, "fft": fft, "random": random, "special": special}
            return _missing(name, inner | {"distributions": distributions, "sparse": sparse})
        found = globals()["__all__"] = _public_names(globals())
        return found

    def __dir__() -> list[str]:
        return globals().get("__all__") or __getattr__("__all__")
