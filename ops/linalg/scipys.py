"""Arguments as SciPy's `scipy.linalg` has them: matrices without NaN, and options."""

from __future__ import annotations

from typing import Any

from ..core.checks import describe
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.conditions import checked
from .matrix_ops import as_matrices


def finite(x: TensorLike, what: str, check: Any, *, vectors: bool = False) -> TensorVariable:
    """`x` as matrices (or `vectors` too), in which a run raises ValueError for NaN and infinities if `check`."""
    found = as_tensor(x) if vectors else as_matrices(x, what)
    found = found if found.type.kind in "fc" else T.cast(found, "float64")
    if not check:
        return found
    return checked(found, T.all(T.isfinite(found)), f"{what}: array must not contain infs or NaNs")


def square(x: TensorLike, what: str, check: Any = False) -> TensorVariable:
    """`x` as square matrices; see `finite`.  Raises ValueError for lengths known to differ."""
    found = finite(x, what, check)
    m, n = found.type.shape[-2:]
    if m is not None and n is not None and m != n:
        raise ValueError(f"{what}: expected a square matrix, got {describe(found)}")
    return found
