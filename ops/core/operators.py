"""The operators of tensor variables, with the meanings that they have in the namespace."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .namespace import NoAttribute, T
from .traced import cast_array, operated, own_array, powered, rounded, written

if TYPE_CHECKING:
    from .tensor import TensorVariable
    from .typing import DTypeLike, TensorLike


class Operators:
    """Base of `TensorVariable`: arithmetic, comparison by order, bits, casts.  `==` and `!=` stand there."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know the attributes that there are

        def __getattr__(self, name: str) -> Any:
            raise NoAttribute(type(self), name)

    def astype(
        self, dtype: DTypeLike, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> TensorVariable:  # fmt: skip
        """`T.cast(self, dtype)`.  Raises TypeError where `casting` does not permit it, as NumPy's method."""
        return cast_array(self, T.cast(self, dtype), casting, copy)  # type: ignore[arg-type]  # a mix-in of tensors

    def __add__(self, other: TensorLike) -> TensorVariable: return operated("add", self, other)
    def __radd__(self, other: TensorLike) -> TensorVariable: return operated("add", other, self)
    def __sub__(self, other: TensorLike) -> TensorVariable: return operated("sub", self, other)
    def __rsub__(self, other: TensorLike) -> TensorVariable: return operated("sub", other, self)
    def __mul__(self, other: TensorLike) -> TensorVariable: return operated("mul", self, other)
    def __rmul__(self, other: TensorLike) -> TensorVariable: return operated("mul", other, self)
    def __truediv__(self, other: TensorLike) -> TensorVariable: return operated("true_div", self, other)
    def __rtruediv__(self, other: TensorLike) -> TensorVariable: return operated("true_div", other, self)
    def __floordiv__(self, other: TensorLike) -> TensorVariable: return operated("floor_div", self, other)
    def __rfloordiv__(self, other: TensorLike) -> TensorVariable: return operated("floor_div", other, self)
    def __mod__(self, other: TensorLike) -> TensorVariable: return operated("mod", self, other)
    def __rmod__(self, other: TensorLike) -> TensorVariable: return operated("mod", other, self)
    def __divmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return operated("divmod", self, other)
    def __rdivmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return operated("divmod", other, self)
    def __pow__(self, other: TensorLike) -> TensorVariable: return powered(self, other)
    def __rpow__(self, other: TensorLike) -> TensorVariable: return operated("pow", other, self)
    def __matmul__(self, other: TensorLike) -> TensorVariable: return operated("matmul", self, other)
    def __rmatmul__(self, other: TensorLike) -> TensorVariable: return operated("matmul", other, self)
    def __neg__(self) -> TensorVariable: return operated("neg", self)
    def __pos__(self) -> TensorVariable: return own_array(self, self)  # type: ignore[arg-type]
    def __abs__(self) -> TensorVariable: return operated("abs", self)
    def __lt__(self, other: TensorLike) -> TensorVariable: return operated("lt", self, other)
    def __le__(self, other: TensorLike) -> TensorVariable: return operated("le", self, other)
    def __gt__(self, other: TensorLike) -> TensorVariable: return operated("gt", self, other)
    def __ge__(self, other: TensorLike) -> TensorVariable: return operated("ge", self, other)
    def __and__(self, other: TensorLike) -> TensorVariable: return operated("bitwise_and", self, other)
    def __rand__(self, other: TensorLike) -> TensorVariable: return operated("bitwise_and", other, self)
    def __or__(self, other: TensorLike) -> TensorVariable: return operated("bitwise_or", self, other)
    def __ror__(self, other: TensorLike) -> TensorVariable: return operated("bitwise_or", other, self)
    def __xor__(self, other: TensorLike) -> TensorVariable: return operated("bitwise_xor", self, other)
    def __rxor__(self, other: TensorLike) -> TensorVariable: return operated("bitwise_xor", other, self)
    def __invert__(self) -> TensorVariable: return operated("bitwise_not", self)
    def __lshift__(self, other: TensorLike) -> TensorVariable: return operated("left_shift", self, other)
    def __rlshift__(self, other: TensorLike) -> TensorVariable: return operated("left_shift", other, self)
    def __rshift__(self, other: TensorLike) -> TensorVariable: return operated("right_shift", self, other)
    def __rrshift__(self, other: TensorLike) -> TensorVariable: return operated("right_shift", other, self)
    def __round__(self, decimals: int | None = None) -> TensorVariable: return rounded(self, decimals)
    def __floor__(self) -> TensorVariable: return rounded(self, None, "floor")
    def __ceil__(self) -> TensorVariable: return rounded(self, None, "ceil")
    def __trunc__(self) -> TensorVariable: return rounded(self, None, "trunc")

    # --- in place: a new variable, which stands for the array that NumPy writes into
    def __iadd__(self, other: TensorLike) -> TensorVariable: return written("add", self, other)
    def __isub__(self, other: TensorLike) -> TensorVariable: return written("sub", self, other)
    def __imul__(self, other: TensorLike) -> TensorVariable: return written("mul", self, other)
    def __itruediv__(self, other: TensorLike) -> TensorVariable: return written("true_div", self, other)
    def __ifloordiv__(self, other: TensorLike) -> TensorVariable: return written("floor_div", self, other)
    def __imod__(self, other: TensorLike) -> TensorVariable: return written("mod", self, other)
    def __ipow__(self, other: TensorLike) -> TensorVariable: return written("pow", self, other)
    def __iand__(self, other: TensorLike) -> TensorVariable: return written("bitwise_and", self, other)
    def __ior__(self, other: TensorLike) -> TensorVariable: return written("bitwise_or", self, other)
    def __ixor__(self, other: TensorLike) -> TensorVariable: return written("bitwise_xor", self, other)
    def __ilshift__(self, other: TensorLike) -> TensorVariable: return written("left_shift", self, other)
    def __irshift__(self, other: TensorLike) -> TensorVariable: return written("right_shift", self, other)
    def __imatmul__(self, other: TensorLike) -> TensorVariable: return written("matmul", self, other)
