"""The type of a value: dtype and shape.  The first thing on the data path; imports only `provenance`."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..record import record
from ..record.spelling import nearest
from .provenance import asked

Shape = tuple["int | None", ...]

DTYPES = (
    "bool",
    *(f"int{n}" for n in (8, 16, 32, 64)),
    *(f"uint{n}" for n in (8, 16, 32, 64)),
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@cache
def name_of(dtype: np.dtype) -> str:
    """Return `dtype.name`, cached, since NumPy computes it at each access."""
    return dtype.name


@record(slots=True)
class TensorType:
    """The type of an array: a NumPy dtype by name and one length an axis, `None` where it is known only at run time.

    A length of 1 may broadcast and so may an unknown length that turns out to be 1: broadcasting is NumPy's, at run
    time.
    """

    dtype: str
    shape: Shape = ()

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def numpy(self) -> np.dtype:
        """The NumPy dtype."""
        return numpy_dtype(self.dtype)

    @property
    def kind(self) -> str:
        """NumPy's kind letter: b, i, u, f or c."""
        return numpy_dtype(self.dtype).kind

    def with_dtype(self, dtype: str) -> TensorType:
        return TensorType(dtype, self.shape)

    def with_shape(self, shape: Shape) -> TensorType:
        return TensorType(self.dtype, tuple(shape))

    def refines(self, other: TensorType) -> bool:
        """Return whether this type may replace `other` without loss of dtype, rank or a known length."""
        mine, theirs = self.shape, other.shape
        if self.dtype != other.dtype or len(mine) != len(theirs):
            return False
        return mine == theirs or all(known is None or length == known for length, known in zip(mine, theirs))

    def forgets(self, other: TensorType) -> bool:
        """Return whether it is `other` with fewer known lengths."""
        if self.dtype != other.dtype or len(self.shape) != len(other.shape) or self.refines(other):
            return False
        return all(None in pair or pair[0] == pair[1] for pair in zip(self.shape, other.shape, strict=True))

    def __str__(self) -> str:
        if not self.shape:
            return self.dtype
        return f"{self.dtype}[{', '.join('?' if n is None else str(n) for n in self.shape)}]"


def bytes_of(array: np.ndarray) -> memoryview:
    """Return the bytes of the elements in C order; those of the array itself where they lie so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


ALIGNED = 64
"""Bytes of a cache line.  A vector of C that begins at a multiple of it is read by one access, others by two."""


def aligned(array: np.ndarray) -> np.ndarray:
    """Return an array of C order whose data begin with a cache line: the array itself if it lies so, or a short one."""
    dense = np.ascontiguousarray(array).reshape(array.shape)
    if dense.nbytes < ALIGNED or dense.__array_interface__["data"][0] % ALIGNED == 0:
        return dense
    found = aligned_bytes(dense.nbytes).view(dense.dtype).reshape(dense.shape)
    found[...] = dense
    found.flags.writeable = dense.flags.writeable
    return found


def aligned_bytes(count: int) -> np.ndarray:
    """Return an array of bytes that begins with a cache line, not filled."""
    room = np.empty(count + ALIGNED, np.uint8)
    start = -room.__array_interface__["data"][0] % ALIGNED
    return room[start : start + count]


@cache
def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(name)


class DTypeName(str):
    """The name of a dtype, which equals all that NumPy's dtype equals: `np.float64`, `float`, "f8"."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if str.__eq__(self, other) is True:  # NotImplemented for all but text
            return True
        if other is None or (isinstance(other, str) and (other in _NAMES or not _is_dtype(other))):
            return False
        return bool(numpy_dtype(str(self)) == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


_NAMES = dict.fromkeys(DTYPES)
NAMED = {name: DTypeName(name) for name in DTYPES}
"""The `dtype` of variables, by name."""


def _is_dtype(text: str) -> bool:
    try:
        return np.dtype(str(text)) is not None
    except TypeError:
        return False


def dtype_name(dtype: object) -> str:
    """The name of a dtype that tensors may have.

    Raises TypeError for what no tensor can hold: objects, strings, dates, records, long doubles.
    """
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    try:
        name: str = np.dtype(None if isinstance(dtype, (tuple, list)) else dtype).name  # type: ignore[call-overload]
    except (TypeError, ValueError):
        name = ""
    if name in DTYPES and not isinstance(dtype, (tuple, list)):
        return name
    what = f"no tensor has dtype {name}" if name and name not in DTYPES else f"{dtype!r} is not a dtype"
    raise TypeError(f"{_by()}{what}; expected one of {', '.join(DTYPES)}{_meant(dtype)}")


def _by() -> str:
    asker = asked()
    return f"{asker}: " if asker else ""


def _meant(dtype: object) -> str:
    """The dtype that the user may have meant."""
    if isinstance(dtype, str):
        close = nearest(dtype, DTYPES)
        return f"; did you mean {close[0]}?" if close else ""
    if isinstance(dtype, (tuple, list)) and all(n is None or isinstance(n, int) for n in dtype):
        return f"; a shape goes by name: shape={dtype!r}"
    return "; write x.dtype for that of a variable x" if hasattr(dtype, "owner") else ""
