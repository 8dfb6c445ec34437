"""Products in the forms of BLAS: rules on single nodes, before and after the optimizer of gemm.py.

    matmul(stack, w)                 -> dot(rows, w)          the rows of all matrices of the stack as one matrix
    dot(x, y)                        -> dot22(x, y)           matrices of a BLAS dtype
    s * dot22(x, y)                  -> dot22scalar(x, y, s)
    gemm, dot22 of a row or column   -> gemv, ger, dot of a matrix and a vector

Rows and columns are known from static lengths of 1.
"""

from __future__ import annotations

from functools import reduce

from ....graph import Apply, Constant, Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, cast, mul
from ....ops.linalg.blas import BLAS_DTYPES, Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import DimShuffle, Reshape
from ...contract import exact, relaxes
from ...patterns import Users
from ...rule import node_rule
from ..facts import not_complex, producer
from .gemm import as_scalar, call

_FIRST, _SECOND = DimShuffle((0,)), DimShuffle((1,))
"""A column, or a row, as a vector."""
_COLUMN, _ROW, _TRANSPOSE = DimShuffle((0, "x")), DimShuffle(("x", 0)), DimShuffle((1, 0))


def _is_row(x: Variable) -> bool:
    return x.type.shape[0] == 1


def _is_column(x: Variable) -> bool:
    return x.type.shape[1] == 1


def rows_of(x: Variable) -> Variable:
    """Return the rows of all matrices of the stack `x`, one below the other."""
    own: list[Variable] = [*lengths_of(x)]
    return call(Reshape(), x, reduce(lambda n, m: call(mul, n, m), own[:-1]), own[-1])


def _is_transposed(x: Variable) -> bool:
    """Whether `x` is transposed in memory, so that its rows would be copied; axes of length 1 may stand anywhere."""
    made = producer(x, DimShuffle)
    kept = [] if made is None else [o for o in made.op.order if o != "x" and made.inputs[0].type.shape[o] != 1]
    return kept != sorted(kept)


def matmul_to_dot(node: Apply) -> Variable | None:
    """Rewrite a stack times one matrix: each row of the result is a row of the stack times the matrix.

    A matrix times a stack of columns is the stack of rows times its transpose.
    """
    x, w = node.inputs
    if x.ndim == 2 and w.ndim > 2 and w.type.shape[-1] == 1:
        product = call(Dot(), rows_of(_with_rows_in_order(w)), call(_TRANSPOSE, x))  # type: ignore[arg-type]
        return call(Reshape(), product, *lengths_of(w)[:-2], lengths_of(x)[0], constant(1, "int64"))
    if w.ndim != 2 or x.ndim < 3 or _is_transposed(x):
        return None
    product = call(Dot(), rows_of(x), w)
    return call(Reshape(), product, *lengths_of(x)[:-1], lengths_of(w)[1])


def sum_of_matmul(node: Apply) -> Variable | None:
    """Rewrite the sum over a stack of x[i].T @ y[i], the gradient of a matrix that multiplies a stack."""
    made = producer(node.inputs[0], MatMul) if node.op.scalar is add else None  # type: ignore[attr-defined]
    if made is None or node.inputs[0].dtype not in BLAS_DTYPES:
        return None
    x, y = made.inputs
    batch = made.out.ndim - 2
    x = _with_rows_in_order(x)
    if x is None or node.op.axis != tuple(range(batch)) or dims_of(x)[:-1] != dims_of(y)[:-1]:  # type: ignore[attr-defined]
        return None
    return call(Dot(), call(_TRANSPOSE, rows_of(x)), rows_of(y))


def _with_rows_in_order(x: Variable) -> Variable | None:
    """Return a stack of transposed matrices, if its elements lie in that order; None otherwise."""
    swapped = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    made = producer(x, DimShuffle)
    if made is not None:
        order = tuple(made.op.order[axis] for axis in swapped)
        kept = tuple(axis for axis in order if axis != "x")
        (source,) = made.inputs
        if kept == tuple(range(source.ndim)):
            return source if order == kept else call(DimShuffle(order), source)
    return call(DimShuffle(swapped), x) if x.type.shape[-1] == 1 else None


def dot_to_dot22(node: Apply) -> Variable | None:
    x, y = node.inputs
    are_matrices = len(x.type.shape) == len(y.type.shape) == 2
    return call(Dot22(), x, y) if are_matrices and x.type.dtype in BLAS_DTYPES else None


def dot22_to_dot22scalar(node: Apply, users: Users) -> Variable | None:
    """Rewrite a product times a scalar; beside another matrix factor an elementwise pass takes the scalar for free."""
    products = [i.owner for i in node.inputs if i.owner is not None and isinstance(i.owner.op, Dot22)]
    scalars = [s for s in map(as_scalar, node.inputs) if s is not None]
    if len(products) != 1 or len(scalars) != len(node.inputs) - 1:
        return None
    product = products[0].out
    if product.dtype != node.out.dtype or len(users(product)) > 1:
        return None
    scale: Variable = cast(scalars[0], product.dtype)
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
    """Rewrite an outer product of real numbers; for complex infinities BLAS gives other NaNs than NumPy."""
    x, y = node.inputs
    return call(mul, x, y) if _is_column(x) and _is_row(y) and not_complex(x) else None


STACKS = [
    node_rule(
        "local_batched_matmul_to_core_matmul", MatMul, matmul_to_dot,
        formula="matmul(stack, w) -> reshape(dot(reshape(stack), w))", contract=relaxes("rounding"),
    ),
    node_rule(
        "local_sum_of_batched_matmul", Reduce, sum_of_matmul, having=MatMul,
        formula="sum(matmul(x.mT, y), axis=0) -> dot(reshape(x).T, reshape(y))", contract=relaxes("rounding"),
    ),
]  # fmt: skip
"""One product over all rows of a stack, which are views if the stack is contiguous."""
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
"""Products with vectors in disguise, the most special first."""
