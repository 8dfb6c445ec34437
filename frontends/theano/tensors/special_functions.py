"""Special functions that SciPy computes: error functions and their inverses, incomplete gamma functions, Bessel's.

Each is an op in Python, a call of SciPy's ufunc in every mode, with the derivative of a formula.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np

from ....record.spelling import counted
from ..graphs.user_ops import MethodNotDefined, Op, grad_not_implemented
from .dtypes import upcast, upgraded_to_float
from .elementwise import FUNCTIONS, cast
from .types import TensorType
from .variables import NUMPY, Apply, as_tensor_variable

Slope = Callable[..., Any]
"""The derivative of the output y for operands: (y, *operands) -> expression."""


class SpecialFunction(Op):
    """A ufunc of `scipy.special`, by its name there, and its derivative by each operand; None where there is none."""

    __props__ = ("name",)

    def __init__(self, name: str, ufunc: str, slopes: tuple[Slope | None, ...], doc: str) -> None:
        self.name, self.ufunc, self.slopes = name, ufunc, slopes
        self.__name__: str = name
        self.__doc__ = doc

    def make_node(self, *inputs: Any) -> Apply:
        if len(inputs) != len(self.slopes):
            raise TypeError(f"{self.name} takes {counted(len(self.slopes), 'operand')}, got {len(inputs)}")
        given = [as_tensor_variable(i) for i in inputs]
        dtype, rank = upgraded_to_float(upcast(*(v.dtype for v in given))), max(v.ndim for v in given)
        if dtype.startswith("complex"):
            raise TypeError(f"{self.name} takes real numbers, got {', '.join(str(v.type) for v in given)}")
        aligned = [as_tensor_variable(cast(v, dtype), ndim=rank) for v in given]
        pattern = [all(axis) for axis in zip(*(v.broadcastable for v in aligned), strict=True)]
        return Apply(self, aligned, [TensorType(dtype, pattern)()])

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        try:
            from scipy import special
        except ImportError:
            raise MethodNotDefined(f"{self.name}: SciPy computes it and is missing; pip install scipy") from None
        with np.errstate(all="ignore"):
            found = getattr(special, self.ufunc)(*inputs)
        output_storage[0][0] = np.asarray(found, node.outputs[0].dtype)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        """The derivatives by operands that have one."""
        (y,), (g,) = outputs, output_grads
        found = []
        for place, (x, slope) in enumerate(zip(inputs, self.slopes, strict=True)):
            if slope is None:
                found.append(grad_not_implemented(self, place, x))
                continue
            whole = g * slope(y, *inputs)
            sums = [n for n in range(x.ndim) if x.broadcastable[n] and not whole.broadcastable[n]]
            found.append(whole.sum(axis=sums, keepdims=True) if sums else whole)
        return found


def _exp(x: Any) -> Any:
    return FUNCTIONS["exp"](x)


def _density(k: Any, x: Any) -> Any:
    """The derivative of the lower incomplete gamma function, regularized."""
    return _exp((k - 1) * FUNCTIONS["log"](x) - x - FUNCTIONS["gammaln"](k))


ROOT = sqrt(pi)
OPS: dict[str, SpecialFunction] = {}
TABLE: dict[str, tuple[str, tuple[Slope | None, ...], str]] = {
    "erfinv": ("erfinv", (lambda y, x: _exp(y * y) * (ROOT / 2),), "The inverse of the error function."),
    "erfcinv": ("erfcinv", (lambda y, x: _exp(y * y) * (-ROOT / 2),), "The inverse of erfc."),
    "erfcx": ("erfcx", (lambda y, x: 2 * x * y - 2 / ROOT,), "erfc(x) exp(x ** 2)."),
    "gammainc": ("gammainc", (None, lambda y, k, x: _density(k, x)), "The incomplete gamma function, regularized."),
    "gammaincc": ("gammaincc", (None, lambda y, k, x: -_density(k, x)), "The upper one, regularized."),
    "j0": ("j0", (lambda y, x: -OPS["j1"](x),), "Bessel's function of the first kind and order 0."),
    "j1": ("j1", (lambda y, x: OPS["j0"](x) - y / x,), "The one of order 1."),
    "jv": ("jv", (None, lambda y, v, x: OPS["jv"](v - 1, x) - v * y / x), "The one of order v."),
    "i0": ("i0", (lambda y, x: OPS["i1"](x),), "The modified function of Bessel of the first kind and order 0."),
    "i1": ("i1", (lambda y, x: OPS["i0"](x) - y / x,), "The modified one of order 1."),
    "iv": ("iv", (None, lambda y, v, x: OPS["iv"](v - 1, x) - v * y / x), "The modified one of order v."),
}
"""Name -> ufunc of SciPy, derivatives, meaning."""
OPS.update({name: SpecialFunction(name, *row) for name, row in TABLE.items()})


def chi2sf(x: Any, k: Any) -> Any:
    """The probability that a chi-squared number with `k` degrees of freedom is over `x`."""
    return OPS["gammaincc"](as_tensor_variable(k) / 2.0, as_tensor_variable(x) / 2.0)


def gammau(k: Any, x: Any) -> Any:
    """The upper incomplete gamma function."""
    return OPS["gammaincc"](k, x) * FUNCTIONS["gamma"](k)


def gammal(k: Any, x: Any) -> Any:
    """The lower incomplete gamma function."""
    return OPS["gammainc"](k, x) * FUNCTIONS["gamma"](k)


SPECIAL: dict[str, Any] = {**OPS, "chi2sf": chi2sf, "gammau": gammau, "gammal": gammal}
FUNCTIONS.update(SPECIAL)
NUMPY.update(SPECIAL)
