"""Inputs: how users make the leaves of an expression.

    matrix("x")                      float64, lengths unknown
    matrix("x", "float32")           the same of another dtype
    fmatrix("x")                     the same, by the letter of the dtype
    tensor("x", shape=(None, 3))     any rank; None is a length known only at run time
    tensor("float64", (None, 3))     the same without a name, in Theano's order
    matrices("x y")                  several at once; Theano's matrices(2), matrices("x", "y") and matrices("xy") too
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...graph import DTYPES, TensorType, Variable, dtype_name
from ...graph.provenance import remember
from .checks import shown, unpacked
from .tensor import TensorVariable
from .typing import DTypeLike, KnownShape

__all__ = ["col", "matrix", "row", "scalar", "tensor", "tensor3", "tensor4", "tensor5", "vector"]

LETTERS = {
    "b": "int8", "w": "int16", "i": "int32", "l": "int64",
    "ub": "uint8", "uw": "uint16", "ui": "uint32", "ul": "uint64",
    "h": "float16", "f": "float32", "d": "float64", "c": "complex64", "z": "complex128", "bool": "bool",
}  # fmt: skip
"""The letters of typed forms: `T.fvector` is a vector of float32."""

KINDS: dict[str, tuple[int | None, ...]] = {
    "scalar": (), "vector": (None,), "matrix": (None, None), "row": (1, None), "col": (None, 1),
    "tensor3": (None,) * 3, "tensor4": (None,) * 4, "tensor5": (None,) * 5,
}  # fmt: skip


def tensor(name: str | None = None, dtype: DTypeLike = None, shape: KnownShape = None) -> TensorVariable:
    """An input of this dtype (float64) with one length an axis, None where it is known only at run time.

    Theano's order is taken as well: `tensor(dtype, shape, name)`, where a shape may say of each axis whether it
    broadcasts.  Raises TypeError for a name that is no text, a dtype that no tensor has or a length that is no integer,
    ValueError for a negative length.
    """
    if isinstance(name, str) and name in DTYPES and not _is_dtype(dtype):
        if dtype is not None or isinstance(shape, str):  # dtype, shape, name
            given: Any = dtype
            dtype, name = name, shape  # type: ignore[assignment]
            lengths = () if given is None else _several(given)
            shape = tuple((1 if n else None) if isinstance(n, bool) else n for n in lengths)
        else:
            dtype, name = name, None
    require_name(name)
    kind = TensorType(dtype_name(dtype or "float64"), known_shape(() if shape is None else shape))
    made = TensorVariable(kind, name=name)
    remember(made)
    return made


def _is_dtype(dtype: Any) -> bool:
    """Whether it is given, and no shape."""
    return dtype is not None and not isinstance(dtype, (tuple, list))


def require_name(name: Any) -> None:
    """Raises TypeError for a name that is neither None nor text."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a variable must be a str, got {shown(name)}")


def known_shape(shape: Any) -> tuple[int | None, ...]:
    """The shape of a type.  Raises TypeError unless it is a shape, ValueError for a negative length."""
    return tuple(n if n is None else _length(n) for n in _several(shape))


def _several(shape: Any) -> Sequence[Any]:
    shape = unpacked(shape)
    if isinstance(shape, (str, bytes, Variable)) or not hasattr(shape, "__iter__"):
        raise TypeError(
            f"a shape must be a tuple with one length an axis, None where it is not known, as in shape=(None, 3), "
            f"got {shown(shape)}"
        )
    return tuple(shape)


def _length(n: Any) -> int:
    try:
        length = operator.index(n)
    except TypeError:
        length = None
    if length is None or isinstance(n, bool):
        raise TypeError(f"a length must be an int, or None where it is not known, got {n!r}")
    if length < 0:
        raise ValueError(f"a length must not be negative, got {length}")
    return length


def _of_kind(kind: str, fixed_dtype: str | None, name: str | None, dtype: Any, shape: KnownShape) -> TensorVariable:
    if isinstance(name, str) and name in DTYPES and dtype is None:
        raise TypeError(f"{kind}: {name!r}, a dtype, stands where the name does; write T.{kind}(name, dtype={name!r})")
    if fixed_dtype is not None and dtype is not None and dtype_name(dtype) != fixed_dtype:
        raise TypeError(f"this {kind} is of {fixed_dtype}, got dtype={dtype!r}; use T.{kind}(name, dtype=...)")
    expected = KINDS[kind]
    given = expected if shape is None else known_shape(shape)
    fits = len(given) == len(expected) and all(e is None or e == g for e, g in zip(expected, given, strict=True))
    if not fits:
        raise ValueError(f"a {kind} has shape {expected}, got shape={given}; T.tensor(name, shape=...) makes any other")
    return tensor(name, fixed_dtype or dtype or "float64", given)


class Constructor(Protocol):
    """A constructor of inputs of one kind."""

    def __call__(
        self, name: str | None = None, dtype: DTypeLike = None, shape: KnownShape = None
    ) -> TensorVariable: ...


def _constructor(kind: str, letter: str = "", fixed_dtype: str | None = None) -> Constructor:
    def make(name: str | None = None, dtype: DTypeLike = None, shape: KnownShape = None) -> TensorVariable:
        return _of_kind(kind, fixed_dtype, name, dtype, shape)

    lengths = ", ".join("?" if n is None else str(n) for n in KINDS[kind])
    make.__doc__ = f"A {kind} of {fixed_dtype or 'float64 or the dtype given'}: an input of shape [{lengths}]."
    make.__name__ = make.__qualname__ = letter + kind
    make.__code__ = make.__code__.replace(co_name=letter + kind)  # as errors name it
    return make


scalar: Constructor = _constructor("scalar")
vector: Constructor = _constructor("vector")
matrix: Constructor = _constructor("matrix")
row: Constructor = _constructor("row")
col: Constructor = _constructor("col")
tensor3: Constructor = _constructor("tensor3")
tensor4: Constructor = _constructor("tensor4")
tensor5: Constructor = _constructor("tensor5")


def typed_form(letter: str, kind: str) -> Constructor:
    """The constructor of inputs of a kind, of the dtype that `letter` stands for."""
    return _constructor(kind, letter, LETTERS[letter])


class Constructors(Protocol):
    """Constructor of several inputs of one kind."""

    def __call__(self, *names: str | int | Sequence[str]) -> TensorVariable | list[TensorVariable]: ...


def constructors_of_several(make: Constructor, letter: str, kind: str) -> Constructors:
    """Theano's plural of a constructor: `matrices` of `matrix`."""

    def several(*names: str | int | Sequence[str]) -> TensorVariable | list[TensorVariable]:
        given: Any = names[0] if len(names) == 1 else names
        if isinstance(given, (int, np.integer)):
            return [make() for _ in range(given)]
        if isinstance(given, str):
            given = given.split() if len(given.split()) > 1 else given.strip()
        made = [make(name) for name in given]
        return made[0] if len(made) == 1 else made

    plural = letter + plural_of(kind)
    several.__doc__ = (
        f"Several {plural_of(kind)} as a list, by number or by name: {plural}(3), {plural}('x', 'y'), {plural}('x y'), "
        f"and {plural}('xy') for names of one letter; for a single name the {kind} itself, as in Theano."
    )
    several.__name__ = several.__qualname__ = plural
    return several


def plural_of(kind: str) -> str:
    """The English plural of the name of a kind."""
    return "matrices" if kind == "matrix" else kind + "s"


def plural_form(letter: str, kind: str) -> Constructors:
    """The constructor of several inputs of a kind, of the dtype of `letter`; without a letter, of any dtype."""
    make = typed_form(letter, kind) if letter else _constructor(kind)
    return constructors_of_several(make, letter, kind)
