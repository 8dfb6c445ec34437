"""Products of matrices: the user's ops (`Dot`, `MatMul`) and the BLAS calls that replace them.

    Dot22(x, y)                   x @ y                         two matrices
    Dot22Scalar(x, y, s)          s * (x @ y)
    Gemm(z, alpha, x, y, beta)    beta * z + alpha * (x @ y)
    Gemv(y, alpha, a, x, beta)    beta * y + alpha * (a @ x)
    Ger(a, alpha, x, y)           a + alpha * outer(x, y)

Where beta is 0 the term is left out and not read: a NaN in `z` does not come through (the convention of BLAS).  None of
these broadcasts: z, y and a have exactly the shape of the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable, dims_of
from ...graph.dims import broadcast_dims
from ...record import record
from ..control.batching import Examples, Flags, align_operands
from ..core.backward import pull_back_to
from ..core.checks import describe, require_count
from ..core.namespace import T, classes
from ..core.operands import conjugated
from ..core.tensor import Lowered, TensorOp, TensorVariable
from ..elementwise import costs
from ..shapes.shape import DimShuffle
from ..writing import code, latex

BLAS_DTYPES = ("float32", "float64", "complex64", "complex128")


def _require_one_dtype(name: str, inputs: Sequence[Variable]) -> str:
    dtype = inputs[0].type.dtype
    for i in inputs:
        if i.type.dtype != dtype:
            raise TypeError(f"{name} takes operands of one dtype ({dtype} here), got {describe(i)}")
    return dtype


def require_inner(name: str, a: Variable, b: Variable, axis_a: int, axis_b: int) -> None:
    """Raise ValueError unless the summed axes may have the same length."""
    n, m = a.type.shape[axis_a], b.type.shape[axis_b]
    if n is not None and m is not None and n != m:
        raise ValueError(
            f"{name}: axis {axis_a} of {describe(a)} and axis {axis_b} of {describe(b)} differ in length, {n} and {m}"
        )


def _adjoint(x: Variable) -> Variable:
    """Return the conjugate of `x` with its last two axes interchanged."""
    n = x.ndim
    return conjugated(DimShuffle((*range(n - 2), n - 1, n - 2))(x))


@record(repr=False)
class Dot(TensorOp):
    """The product of two vectors or matrices of one dtype, of any dtype: NumPy's `dot` for ranks 1 and 2."""

    name = "dot"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product
    sign = "@"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, b = inputs
        for i in inputs:
            if i.ndim not in (1, 2):
                raise TypeError(f"dot takes vectors and matrices, got {describe(i)}")
        require_inner(self.name, a, b, -1, 0)
        return (TensorType(_require_one_dtype(self.name, inputs), a.type.shape[:-1] + b.type.shape[1:]),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (_dot(*values),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        a, b = inputs
        return (a[:-1] + b[1:],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a, b) = cotangents, node.inputs
        if g is None:
            return [None, None]
        if a.ndim == 1 and b.ndim == 1:
            return [T.mul(g, conjugated(b)), T.mul(g, conjugated(a))]
        if a.ndim == 1:
            return [Dot()(conjugated(b), g), _outer(conjugated(a), g)]
        if b.ndim == 1:
            return [_outer(g, conjugated(b)), Dot()(_adjoint(a), g)]
        return [Dot()(g, _adjoint(b)), Dot()(_adjoint(a), g)]

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        return [inner_lengths(*node.inputs[:2])]  # a node with an epilogue has more

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        (a, b), (rows, columns) = inputs, (i.ndim == 2 for i in node.inputs)
        if flags == [True, False]:
            return T.dot(a, b)
        if flags == [False, True] and not columns:
            return T.dot(b, classes.DimShuffle((1, 0))(a) if rows else a)
        if not rows:
            a = classes.DimShuffle(("x", 0) if not flags[0] else (0, "x", 1))(a)
        if not columns:
            b = classes.DimShuffle((0, 1, "x"))(b)
        product = MatMul()(a, b)
        dropped = {1} if not rows else set()
        dropped |= {2} if not columns else set()
        return classes.DimShuffle(tuple(k for k in range(3) if k not in dropped))(product) if dropped else product

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`a @ b`; `outer(a, b)` of vectors."""
        assert output.owner is not None
        a, b = output.owner.inputs
        column, row = (i.owner.op if i.owner is not None else None for i in (a, b))
        if column == DimShuffle((0, "x")) and row == DimShuffle(("x", 0)):
            return speaker.call("outer", *(speaker.text(i.owner.inputs[0]) for i in (a, b) if i.owner is not None))
        return matrix_product(output, speaker)

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        """Factors side by side; a vector on the left is a row."""
        assert output.owner is not None
        left, right = operands
        if output.owner.inputs[0].ndim == 1:
            left = f"{latex.bound(left, latex.ATOM)}^{{\\top}}", latex.POWER
        left = left[0].removesuffix(r"_{:, \mathrm{None}}"), left[1]
        written: latex.Written = latex.infix(r"\,", latex.PRODUCT)(self, output, [left, right])
        return written


def matrix_product(output: Variable, speaker: code.Speaker) -> code.Code:
    """`a @ b`, in which constants are arrays."""
    assert output.owner is not None
    inputs = output.owner.inputs
    return speaker.infix("@", *((speaker.atom(i), code.ATOM) if isinstance(i, Constant) else speaker.codes[i]
                                for i in inputs))  # fmt: skip


def inner_lengths(a: Variable, b: Variable) -> tuple[Dim, Dim]:
    """Return the lengths along which a product sums."""
    rows = dims_of(b)
    return dims_of(a)[-1], rows[-2 if len(rows) > 1 else 0]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NumPy's `dot`.  Products of one term are multiplied: the BLAS skips zeros, where 0 times NaN is NaN."""
    if a.shape[-1] != 1 or b.shape[0] != 1:
        return np.asarray(np.dot(a, b))
    return np.asarray(np.multiply(a, b) if a.ndim == b.ndim == 2 else np.multiply(a[..., 0], b[0]))


def _outer(x: Variable, y: Variable) -> TensorVariable:
    return Dot()(DimShuffle((0, "x"))(x), DimShuffle(("x", 0))(y))


@record(repr=False)
class MatMul(TensorOp):
    """The products of the matrices in the last two axes, with the others broadcast: NumPy's `matmul` from rank 2 on."""

    name = "matmul"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product
    batching: ClassVar[Callable[..., Any]] = align_operands
    formula = latex.infix(r"\,", latex.PRODUCT)
    sign = "@"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, b = inputs
        for i in inputs:
            if i.ndim < 2:
                raise TypeError(f"matmul takes tensors of rank 2 or more, got {describe(i)}")
        require_inner(self.name, a, b, -1, -2)
        matrix = (a.type.shape[-2], b.type.shape[-1])
        return (TensorType(_require_one_dtype(self.name, inputs), joint_batch(self.name, a, b) + matrix),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.matmul(*values),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        a, b = inputs
        return ((*broadcast_dims([a[:-2], b[:-2]]), a[-2], b[-1]),)

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        return [inner_lengths(*node.inputs[:2])]  # a node with an epilogue has more

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a, b) = cotangents, node.inputs
        if g is None:
            return [None, None]
        return [T.unbroadcast(MatMul()(g, _adjoint(b)), a), T.unbroadcast(MatMul()(_adjoint(a), g), b)]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`a @ b`."""
        return matrix_product(output, speaker)


def joint_batch(name: str, a: Variable, b: Variable) -> tuple[int | None, ...]:
    """Return the static lengths of the axes before the last two.  Raises ValueError if they cannot agree."""
    n = max(a.ndim, b.ndim) - 2
    rows = [(1,) * (n + 2 - x.ndim) + x.type.shape[:-2] for x in (a, b)]
    joint: list[int | None] = []
    for axis, lengths in enumerate(zip(*rows, strict=True)):
        known = {length for length in lengths if length not in (None, 1)}
        if len(known) > 1:
            raise ValueError(f"{name}: batch axis {axis} has lengths {lengths} in {describe(a)} and {describe(b)}")
        joint.append(known.pop() if known else (None if None in lengths else 1))
    return tuple(joint)


# --- what the BLAS optimizers put in place


class BlasOp(Lowered):
    """Base of the BLAS ops: `meaning` expresses the result in other ops, and gives the derivative."""

    ranks: ClassVar[tuple[int, ...]]
    factors: ClassVar[tuple[int, int]] = (0, 1)
    """The inputs that are multiplied."""
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product

    def meaning(self, *inputs: Variable) -> TensorVariable:
        """Return the same value in ops that users write."""
        raise NotImplementedError

    def body(self, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        return [self.meaning(*inputs)]

    def check(self, inputs: tuple[Variable, ...]) -> str:
        """Return the dtype of the operands.  Raises TypeError for a wrong number, rank or dtype."""
        require_count(self.name, inputs, len(self.ranks))
        for i, rank in zip(inputs, self.ranks, strict=True):
            if len(i.type.shape) != rank:
                raise TypeError(f"{self.name} takes operands of ranks {self.ranks}, got {describe(i)}")
        dtype = _require_one_dtype(self.name, inputs)
        if dtype not in BLAS_DTYPES:
            raise TypeError(f"{self.name} takes {', '.join(BLAS_DTYPES)}, got {dtype}")
        return dtype

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.meaning(*node.inputs)], cotangents)

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        return [inner_lengths(*(node.inputs[k] for k in self.factors))]


class Accumulating(BlasOp):
    """Base of the BLAS ops that add a product to their first input, and may write over it."""

    factors: ClassVar[tuple[int, int]] = (2, 3)

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        a, b = (dims_of(node.inputs[k]) for k in self.factors)
        return [*super().demands(node), *zip(dims_of(node.inputs[0]), (*a[:-1], *b[1:]), strict=True)]


def _merged(name: str, target: Variable, product: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Return the static shape of `target` plus a product of shape `product`.  Raises ValueError if they differ."""
    shape = target.type.shape
    if any(None not in (n, m) and n != m for n, m in zip(shape, product, strict=True)):
        raise ValueError(f"{name}: {describe(target)} is added to a product of shape {product}")
    return tuple(m if n is None else n for n, m in zip(shape, product, strict=True))


def _scaled_sum(beta: np.ndarray, target: np.ndarray, alpha: np.ndarray, product: np.ndarray, name: str) -> np.ndarray:
    """Return beta * target + alpha * product, without reading `target` where beta is 0."""
    if target.shape != product.shape:
        raise ValueError(f"{name}: shape {target.shape} is added to a product of shape {product.shape}")
    product = alpha * product
    return np.asarray(product if beta == 0 else product + target if beta == 1 else beta * target + product)


@record(repr=False)
class Dot22(BlasOp):
    """The product of two matrices."""

    name = "dot22"
    ranks: ClassVar[tuple[int, ...]] = (2, 2)
    formula = latex.infix(r"\,", latex.PRODUCT)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        dtype = self.check(inputs)
        require_inner(self.name, inputs[0], inputs[1], -1, 0)
        return (TensorType(dtype, (inputs[0].type.shape[0], inputs[1].type.shape[1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (_dot(*values),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((inputs[0][0], inputs[1][1]),)

    def meaning(self, *inputs: Variable) -> TensorVariable:
        return Dot()(*inputs)


@record(repr=False)
class Dot22Scalar(BlasOp):
    """The product of two matrices times a scalar."""

    name = "dot22scalar"
    ranks: ClassVar[tuple[int, ...]] = (2, 2, 0)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.check(inputs)
        return Dot22().infer(inputs[:2])

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, y, s = values
        with np.errstate(all="ignore"):
            return (s * np.dot(x, y),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((inputs[0][0], inputs[1][1]),)

    def meaning(self, *inputs: Variable) -> TensorVariable:
        x, y, s = inputs
        return T.mul(s, Dot()(x, y))


@record(repr=False)
class Gemm(Accumulating):
    """`gemm(z, alpha, x, y, beta)` = beta * z + alpha * (x @ y); z is not read where beta is 0."""

    name = "gemm"
    ranks: ClassVar[tuple[int, ...]] = (2, 0, 2, 2, 0)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        dtype = self.check(inputs)
        z, _, x, y, _ = inputs
        (product,) = Dot22().infer((x, y))
        return (TensorType(dtype, _merged(self.name, z, product.shape)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        z, alpha, x, y, beta = values
        with np.errstate(all="ignore"):
            return (_scaled_sum(beta, z, alpha, np.dot(x, y), self.name),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def meaning(self, *inputs: Variable) -> TensorVariable:
        z, alpha, x, y, beta = inputs
        return T.add(T.mul(beta, z), T.mul(alpha, Dot()(x, y)))


@record(repr=False)
class Gemv(Accumulating):
    """`gemv(y, alpha, a, x, beta)` = beta * y + alpha * (a @ x); y is not read where beta is 0."""

    name = "gemv"
    ranks: ClassVar[tuple[int, ...]] = (1, 0, 2, 1, 0)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        dtype = self.check(inputs)
        y, _, a, x, _ = inputs
        require_inner(self.name, a, x, -1, 0)
        return (TensorType(dtype, _merged(self.name, y, a.type.shape[:1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        y, alpha, a, x, beta = values
        with np.errstate(all="ignore"):
            return (_scaled_sum(beta, y, alpha, np.dot(a, x), self.name),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def meaning(self, *inputs: Variable) -> TensorVariable:
        y, alpha, a, x, beta = inputs
        return T.add(T.mul(beta, y), T.mul(alpha, Dot()(a, x)))


@record(repr=False)
class Ger(Accumulating):
    """`ger(a, alpha, x, y)` = a + alpha * outer(x, y), without conjugation."""

    name = "ger"
    ranks: ClassVar[tuple[int, ...]] = (2, 0, 1, 1)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        dtype = self.check(inputs)
        a, _, x, y = inputs
        return (TensorType(dtype, _merged(self.name, a, x.type.shape + y.type.shape)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, alpha, x, y = values
        with np.errstate(all="ignore"):
            return (_scaled_sum(np.ones_like(alpha), a, alpha, np.multiply.outer(x, y), self.name),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        a, _, x, y = map(dims_of, node.inputs)
        return zip(a, (*x, *y), strict=True)

    def meaning(self, *inputs: Variable) -> TensorVariable:
        a, alpha, x, y = inputs
        return T.add(a, T.mul(alpha, _outer(x, y)))
