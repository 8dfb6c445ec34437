"""Products as BLAS knows them: rules on single nodes, before and after the optimizer of gemm.py.

    dot(x, y)                        -> dot22(x, y)           matrices of a BLAS dtype
    s * dot22(x, y)                  -> dot22scalar(x, y, s)
    gemm, dot22 of a row or column   -> gemv, ger, dot of a matrix and a vector

Rows and columns are known from static lengths of 1.
"""

from __future__ import annotations

from ...graph import Apply, Constant, Variable
from ...ops.blas import BLAS_DTYPES, Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger
from ...ops.elementwise import cast, mul
from ...ops.shape import DimShuffle
from ..contract import exact, relaxes
from ..patterns import Users
from ..rule import node_rule
from .facts import not_complex
from .gemm import as_scalar, call

_FIRST, _SECOND = DimShuffle((0,)), DimShuffle((1,))
"""A column, or a row, as a vector."""
_COLUMN, _ROW, _TRANSPOSE = DimShuffle((0, "x")), DimShuffle(("x", 0)), DimShuffle((1, 0))


def _is_row(x: Variable) -> bool:
    return x.type.shape[0] == 1


def _is_column(x: Variable) -> bool:
    return x.type.shape[1] == 1


def dot_to_dot22(node: Apply) -> Variable | None:
    x, y = node.inputs
    are_matrices = len(x.type.shape) == len(y.type.shape) == 2
    return call(Dot22(), x, y) if are_matrices and x.type.dtype in BLAS_DTYPES else None


def dot22_to_dot22scalar(node: Apply, users: Users) -> Variable | None:
    """Another matrix among the factors means a pass over the elements anyway, where the scalar costs nothing."""
    products = [i.owner for i in node.inputs if i.owner is not None and isinstance(i.owner.op, Dot22)]
    scalars = [s for s in map(as_scalar, node.inputs) if s is not None]
    if len(products) != 1 or len(scalars) != len(node.inputs) - 1:
        return None
    product = products[0].out
    if product.dtype != node.out.dtype or len(users(product)) > 1:
        return None
    scale = cast(scalars[0], product.dtype)
    for scalar in scalars[1:]:
        scale = call(mul, scale, cast(scalar, product.dtype))
    return call(Dot22Scalar(), *products[0].inputs, scale)


def gemm_to_gemv(node: Apply) -> Variable | None:
    z, alpha, x, y, beta = node.inputs
    if _is_column(y):
        return call(_COLUMN, call(Gemv(), call(_FIRST, z), alpha, x, call(_FIRST, y), beta))
    if _is_row(x):
        return call(_ROW, call(Gemv(), call(_SECOND, z), alpha, call(_TRANSPOSE, y), call(_SECOND, x), beta))
    return None


def gemm_to_ger(node: Apply) -> Variable | None:
    z, alpha, x, y, beta = node.inputs
    keeps_z = isinstance(beta, Constant) and beta.data == 1
    if not (keeps_z and _is_column(x) and _is_row(y)):
        return None
    return call(Ger(), z, alpha, call(_FIRST, x), call(_SECOND, y))


def dot22_to_gemv(node: Apply) -> Variable | None:
    x, y = node.inputs
    if _is_column(y):
        return call(_COLUMN, call(Dot(), x, call(_FIRST, y)))
    return call(_ROW, call(Dot(), call(_SECOND, x), y)) if _is_row(x) else None


def dot22_to_outer(node: Apply) -> Variable | None:
    """Of real numbers: BLAS finds other NaNs than NumPy where the parts of complex numbers are infinite."""
    x, y = node.inputs
    return call(mul, x, y) if _is_column(x) and _is_row(y) and not_complex(x) else None


local_dot_to_dot22 = node_rule(
    "local_dot_to_dot22", Dot, dot_to_dot22, formula="dot(x, y) -> dot22(x, y) for matrices", contract=exact
)
local_dot22_to_dot22scalar = node_rule(
    "local_dot22_to_dot22scalar", mul, dot22_to_dot22scalar, having=Dot22, uses=True,
    formula="mul(s, dot22(x, y)) -> dot22scalar(x, y, s)", contract=relaxes("rounding"),
)  # fmt: skip
GEMM_TO_GEMV = [
    node_rule(
        "local_gemm_to_ger", Gemm, gemm_to_ger,
        formula="gemm(z, a, column, row, 1) -> ger(z, a, vector, vector)", contract=relaxes("rounding"),
    ),
    node_rule(
        "local_gemm_to_gemv", Gemm, gemm_to_gemv,
        formula="gemm(z, a, x, column, b) -> gemv(vector, a, x, vector, b)", contract=relaxes("rounding"),
    ),
    node_rule(
        "local_dot22_to_outer", Dot22, dot22_to_outer,
        formula="dot22(column, row) -> mul(column, row)", contract=relaxes("signed zero"),
    ),
    node_rule(
        "local_dot22_to_gemv", Dot22, dot22_to_gemv,
        formula="dot22(x, column) -> dot(x, vector)", contract=relaxes("rounding"),
    ),
]  # fmt: skip
"""Products that are vectors in truth, the most special first."""
