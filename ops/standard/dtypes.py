"""Dtypes as objects, constants, and questions about dtypes, under NumPy's names.

`T.float32` is NumPy's dtype, so `x.dtype == T.float32`.  Functions that ask for the dtype of an operand read that of a
variable and never its values.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...graph import DTYPES, Variable, dtype_name
from ..core.checks import shown
from ..core.namespace import T
from ..core.operands import weak_kind
from ..core.tensor import TensorVariable
from ..core.typing import DTypeLike, TensorLike

__all__ = [
    "bool",
    "bool_",
    "broadcast_shapes",
    "byte",
    "can_cast",
    "cdouble",
    "common_type",
    "complex64",
    "complex128",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "finfo",
    "float16",
    "float32",
    "float64",
    "floating",
    "half",
    "iinfo",
    "inexact",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "integer",
    "intp",
    "iscomplexobj",
    "isdtype",
    "isfortran",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "long",
    "longlong",
    "min_scalar_type",
    "nan",
    "newaxis",
    "number",
    "pi",
    "promote_types",
    "result_type",
    "short",
    "signedinteger",
    "single",
    "ubyte",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]  # fmt: skip

int8: Final[np.dtype] = np.dtype("int8")
int16: Final[np.dtype] = np.dtype("int16")
int32: Final[np.dtype] = np.dtype("int32")
int64: Final[np.dtype] = np.dtype("int64")
uint8: Final[np.dtype] = np.dtype("uint8")
uint16: Final[np.dtype] = np.dtype("uint16")
uint32: Final[np.dtype] = np.dtype("uint32")
uint64: Final[np.dtype] = np.dtype("uint64")
float16: Final[np.dtype] = np.dtype("float16")
float32: Final[np.dtype] = np.dtype("float32")
float64: Final[np.dtype] = np.dtype("float64")
complex64: Final[np.dtype] = np.dtype("complex64")
complex128: Final[np.dtype] = np.dtype("complex128")
byte: Final[np.dtype] = int8
short: Final[np.dtype] = int16
intc: Final[np.dtype] = int32
int_: Final[np.dtype] = int64
intp: Final[np.dtype] = int64
long: Final[np.dtype] = np.dtype("long")
longlong: Final[np.dtype] = np.dtype("longlong")
ubyte: Final[np.dtype] = uint8
ushort: Final[np.dtype] = uint16
uintc: Final[np.dtype] = uint32
uint: Final[np.dtype] = uint64
uintp: Final[np.dtype] = uint64
ulong: Final[np.dtype] = np.dtype("ulong")
ulonglong: Final[np.dtype] = np.dtype("ulonglong")
half: Final[np.dtype] = float16
single: Final[np.dtype] = float32
double: Final[np.dtype] = float64
csingle: Final[np.dtype] = complex64
cdouble: Final[np.dtype] = complex128

number: Final[type] = np.number
inexact: Final[type] = np.inexact
integer: Final[type] = np.integer
signedinteger: Final[type] = np.signedinteger
unsignedinteger: Final[type] = np.unsignedinteger
floating: Final[type] = np.floating
complexfloating: Final[type] = np.complexfloating

e: Final[float] = math.e
euler_gamma: Final[float] = np.euler_gamma
inf: Final[float] = math.inf
nan: Final[float] = math.nan
newaxis: Final[None] = None
pi: Final[float] = math.pi

_NUMBERS = (int, float, complex)


def dtype(of: DTypeLike) -> np.dtype:
    """NumPy's dtype object of a dtype, its name or a Python type.  Raises TypeError for one that no tensor has."""
    return np.dtype(dtype_name(of))


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The joint dtype of tensors, arrays, dtypes and Python numbers, which are weak (NEP 50).

    Raises ValueError without arguments, TypeError for what has no dtype.
    """
    return np.result_type(*map(_read, arrays_and_dtypes))


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype:
    """The least dtype to which both dtypes are cast safely.  Raises TypeError for one that no tensor has."""
    return np.promote_types(dtype(type1), dtype(type2))


def can_cast(from_: Any, to: DTypeLike, casting: str = "safe") -> builtins.bool:
    """Return whether a dtype, or that of a tensor, becomes `to` under `casting` ("safe", "same_kind", "unsafe", ...).

    Raises TypeError for a Python number, which has no dtype.
    """
    if isinstance(from_, _NUMBERS) and not isinstance(from_, np.generic):
        raise TypeError(f"can_cast: expected a dtype or a tensor, got {shown(from_)}; np.min_scalar_type gives a dtype")
    return np.can_cast(_read(from_), dtype(to), casting)  # type: ignore[arg-type]


def isdtype(dtype: DTypeLike, kind: Any) -> builtins.bool:
    """Return whether a dtype is of a kind: "bool", "signed integer", "integral", "real floating", ..., a dtype, or one
    of a tuple of them.

    Raises TypeError or ValueError for an unknown kind.
    """
    kinds = [k if isinstance(k, str) and k not in DTYPES[1:] else np.dtype(dtype_name(k))
             for k in (kind if isinstance(kind, tuple) else (kind,))]  # fmt: skip
    return np.isdtype(np.dtype(dtype_name(dtype)), tuple(kinds))


def issubdtype(arg1: Any, arg2: Any) -> builtins.bool:
    """Return whether a dtype is below another or below an abstract one, as `T.floating`."""
    return np.issubdtype(arg1, arg2)


class finfo:  # noqa: N801  (NumPy's name)
    """The limits of a floating-point dtype, or of that of a tensor, as Python floats; those of the parts if complex.

    Attributes: `bits dtype eps epsneg max min smallest_normal smallest_subnormal tiny resolution precision nmant`.
    Raises ValueError for another dtype.
    """

    dtype: np.dtype
    bits: int
    eps: float
    epsneg: float
    max: float
    min: float
    smallest_normal: float
    tiny: float
    smallest_subnormal: float
    resolution: float
    precision: int
    nmant: int

    def __init__(self, type: Any) -> None:
        found = np.finfo(_read(type))
        self.dtype, self.bits = np.dtype(found.dtype), int(found.bits)
        self.eps, self.epsneg = float(found.eps), float(found.epsneg)
        self.max, self.min = float(found.max), float(found.min)
        self.smallest_normal = self.tiny = float(found.smallest_normal)
        self.smallest_subnormal, self.resolution = float(found.smallest_subnormal), float(found.resolution)
        self.precision, self.nmant = int(found.precision), int(found.nmant)

    def __repr__(self) -> str:
        return f"finfo(eps={self.eps}, max={self.max}, smallest_normal={self.smallest_normal}, dtype={self.dtype})"


def iinfo(type: Any) -> np.iinfo:
    """The limits of an integer dtype, or of that of a tensor.  Raises ValueError for another dtype."""
    return np.iinfo(_read(type))


def min_scalar_type(a: Any) -> np.dtype:
    """The least dtype that holds a number or constant; the dtype of anything with axes or without a value yet."""
    value = a.data if isinstance(a, T.TensorConstant) else a
    return dtype(value.dtype) if isinstance(value, Variable) else np.min_scalar_type(value)


def common_type(*arrays: TensorLike) -> np.dtype:
    """The inexact dtype that holds all arrays: float64 where one has integers.  Raises TypeError for bools."""
    return np.dtype(np.common_type(*(np.empty(0, T.as_tensor(a).dtype) for a in arrays)))


def iscomplexobj(x: Any) -> builtins.bool:
    """Return whether `x` has a complex dtype, whatever its values."""
    return T.as_tensor(x).type.kind == "c"


def isrealobj(x: Any) -> builtins.bool:
    """Return whether `x` has no complex dtype, whatever its values."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> builtins.bool:
    """Return whether `element` is a Python or NumPy number or text; False for a tensor, as for NumPy's arrays."""
    return np.isscalar(element)


def isfortran(a: TensorLike) -> builtins.bool:
    """Return False: tensors have no order of memory that a program sees."""
    T.as_tensor(a)
    return False


def iterable(y: Any) -> builtins.bool:
    """Return whether `y` can be iterated over; for a tensor, whether the length of its first axis is known."""
    if isinstance(y, TensorVariable):
        return y.ndim > 0 and y.type.shape[0] is not None
    return hasattr(y, "__iter__")


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape of the result of broadcasting, where the lengths are known.  Raises ValueError for lengths in conflict.

    Lengths that are variables: broadcast tensors, and read the shape of the result.
    """
    for shape in shapes:
        if any(isinstance(n, Variable) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))):
            raise TypeError(
                "broadcast_shapes: expected integers, got a variable; "
                "T.broadcast_arrays(x, y)[0].shape has lengths that the run decides"
            )
    return np.broadcast_shapes(*shapes)


def _has_dtype(x: Any) -> builtins.bool:
    return isinstance(x, (Variable, np.ndarray, np.generic))


def _read(x: Any) -> Any:
    """Return a Python number as it is, and else the dtype of a tensor, an array, or what names a dtype."""
    if isinstance(x, _NUMBERS) and not isinstance(x, np.generic):
        return x
    kind = weak_kind(x)
    if kind is not None:
        return kind()
    return np.dtype(dtype_name(x.dtype if _has_dtype(x) else x))


bool_: Final[np.dtype] = np.dtype("bool")
bool: Final[np.dtype] = bool_
