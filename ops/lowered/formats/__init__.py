"""Formats of packed weights, one a file, and the op of products with them: `PackedProduct(format)(x, *arrays)`.

A format is a value: its fields say how large the matrix is and how wide the vectors are that read it.  The product is
printed under the name of the format:

    PackedProduct(TwoOfFour(500, 80, 16))(x, w, places)   is   two_of_four{rows=500, columns=80, lanes=16}(x, w, places)

Rules make it of constant weights (optdb/rules/linalg/packed.py, optdb/rules/quantized).  A new format is a file here
and a C file in cbackend/kernels/packed, of which `kernel` is the name.  No table lists them: `formats` finds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from os import listdir
from os.path import dirname
from typing import Any, ClassVar

import numpy as np

from ....graph import Apply, Constant, Dim, Kind, Op, TensorType, Variable
from ....record import record
from ....record.spelling import counted
from ...core.backward import ByExpansion
from ...core.checks import describe
from ...core.namespace import T
from ...core.tensor import Lowered, constant
from ...elementwise import costs

REAL, SINGLE = ("float32", "float64"), ("float32",)
"""Dtypes of rows that formats take."""


class Stored:
    """An array of packed weights, a vector.

    `dtype`: empty for that of the rows; `length`: None if the format does not tell it; `optional`: it may be missing.
    """

    __slots__ = ("dtype", "length", "name", "optional")

    def __init__(self, name: str, dtype: str = "", length: int | None = None, optional: bool = False) -> None:
        self.name: str = name
        self.dtype: str = dtype
        self.length: int | None = length
        self.optional: bool = optional


Packed = tuple["Format", tuple[np.ndarray, ...]]
"""A format, and the arrays of a matrix in it."""


_COUNTED = 1 << 16
"""Numbers of a matrix whose zeros are counted at once."""


def has_more_nonzeros(w: np.ndarray, most: float) -> bool:
    """Whether more than `most` numbers of a matrix are not zero; rows are counted until that is known."""
    found, step = 0, max(1, _COUNTED // max(1, w.shape[1]))
    for row in range(0, len(w), step):
        found += int(np.count_nonzero(w[row : row + step]))
        if found > most:
            return True
    return False


class Format:
    """The base of formats, whose subclasses are records.

    A subclass has fields `rows` and `columns` or its own `matrix`, the class attributes below, and `storage`, `packed`
    and `dense`.  `dense(*packed(w))` is `w`.
    """

    name: ClassVar[str]
    """The printed name of the product."""
    kernel: ClassVar[str]
    """The C file of its tiles in cbackend/kernels/packed, without the ending."""
    dtypes: ClassVar[tuple[str, ...]]
    """The dtypes of rows."""
    result: ClassVar[str] = ""
    """The dtype of the result; empty for that of the rows."""
    tiled_format: ClassVar[str] = ""
    """The numbers that tiles of AMX multiply; empty: none."""
    strided: ClassVar[bool] = False
    """Whether a matrix of rows may have any strides; else it is copied if it is not C-contiguous."""
    fallible: ClassVar[bool] = True
    """Whether memory may run out in the C."""
    multiplies_stored: ClassVar[bool] = False
    """Whether a row is multiplied by the numbers of the first array alone, and not by the whole matrix."""
    relaxes: ClassVar[tuple[str, ...]] = ("rounding",)
    """Promises of a contract of rules that the product does not keep."""
    rule: ClassVar[str] = ""
    """The name of the rule that packs constant matrices; empty if rules of other forms make the product."""
    formula: ClassVar[str] = ""
    """The rule in one line."""
    order: ClassVar[int] = 0
    """Rules of lower numbers are tried first."""

    @property
    def matrix(self) -> tuple[int, int]:
        """Numbers along the sum, and outputs."""
        return self.rows, self.columns  # type: ignore[attr-defined]

    @property
    def block_length(self) -> int:
        """Numbers along the sum that share a scale; 0 if none do."""
        return 0

    def parameters(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    # --- storage
    def storage(self) -> tuple[Stored, ...]:
        """Return the arrays, in the order of the operands and of the fields of the C call: w, second, third."""
        raise NotImplementedError(f"{type(self).__name__}.storage")

    def require_fitting(self, stored: Sequence[Variable]) -> None:
        """Raise ValueError for arrays that do not fit each other, such as places that C would read beyond the end."""

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the arrays of a matrix; `more`: what belongs to it, such as scales."""
        raise NotImplementedError(f"{type(self).__name__}.packed")

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        """Return the matrix of `packed`."""
        raise NotImplementedError(f"{type(self).__name__}.dense")

    @classmethod
    def of(cls, x: TensorType, w: np.ndarray) -> Packed | None:
        """Return a constant matrix packed for products with rows of a type; None if a dense product is as fast."""
        return None

    # --- meaning
    def product(self, x: np.ndarray, *stored: np.ndarray) -> np.ndarray:
        """Compute the product with NumPy."""
        found: np.ndarray = np.matmul(x, self.dense(*stored))
        return found

    def expand(self, x: Variable, *stored: Variable) -> Variable:
        """Return the same by a dense product.  Arrays after the first are constants.

        Raises:
            TypeError: one is no constant.
        """
        numbers, *others = stored
        if not all(isinstance(v, Constant) for v in others):
            names = " and ".join(array.name for array in self.storage()[1:])
            raise TypeError(f"{self.name} has a derivative only for constant {names}; make them T.constant(...)")
        places = [v.data for v in others]  # type: ignore[attr-defined]
        at = self.dense(np.arange(1, self.count(*places) + 1), *places)
        return T.dot(x, T.take(T.join(0, T.zeros((1,), numbers.dtype), numbers), constant(at)))

    def count(self, *places: np.ndarray) -> int:
        """Return the number of elements of the first array, by the others."""
        length = self.storage()[0].length
        assert length is not None
        return length


def require_indices(
    name: str, starts: Variable, places: Variable, limit: int
) -> None:
    """Raise ValueError unless constant indices are in range: C reads at these positions."""
    if not isinstance(starts, Constant) or not isinstance(places, Constant):
        return
    ends, at = starts.data, places.data
    if ends[0] != 0 or ends[-1] != len(at) or (ends[1:] < ends[:-1]).any():
        raise ValueError(f"{name}: starts must rise from 0 to {len(at)}")
    if at.size and not 0 <= at.min() <= at.max() < limit:
        raise ValueError(f"{name}: places must lie in [0, {limit})")


def require_vectors(name: str, w: Variable, places: Variable, lanes: int) -> None:
    """Raise ValueError unless there are `lanes` numbers for each place."""
    stored, numbers = places.type.shape[0], w.type.shape[0]
    if stored is not None and numbers is not None and stored * lanes != numbers:
        raise ValueError(f"{name}: {describe(w)} must have {stored * lanes} elements, {lanes} a place")


@cache
def formats() -> tuple[type[Format], ...]:
    """Return the classes of all formats, those whose rules are tried first in front."""
    for name in sorted(listdir(dirname(__file__))):
        if name.endswith(".py") and name[0] != "_":
            import_module(f".{name[:-3]}", __name__)
    ours = [kind for kind in Format.__subclasses__() if kind.__module__.startswith(__name__)]
    return tuple(sorted(ours, key=_preference))


def _preference(kind: type[Format]) -> tuple[int, str]:
    return kind.order, kind.name


@record(repr=False)
class PackedProduct(ByExpansion, Lowered):
    """`PackedProduct(format)(x, *arrays)`: x @ the matrix whose arrays in the format these are."""

    format: Format
    picture: ClassVar[Kind] = Kind.PRODUCT

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the format's products."""
        return self.format.name

    @property
    def tiled_format(self) -> str:
        """The numbers that tiles of AMX multiply; empty: none."""
        return self.format.tiled_format

    @property
    def class_name(self) -> str:
        """The name of the format's products as a class: TwoOfFour."""
        return self.name.title().replace("_", "")

    def parameters(self) -> dict[str, Any]:
        """Return the fields of the format."""
        return self.format.parameters()

    @classmethod
    def of(cls, name: str, **given: Any) -> PackedProduct:
        """Return the product of a format: its printed name and its fields."""
        kinds = {kind.name: kind for kind in formats()}
        return cls(kinds[name](**given))

    def constructor(self) -> tuple[str, dict[str, Any]]:
        """Return the function that makes it, and its options, for printed text."""
        return "PackedProduct.of", {"name": self.name, **self.parameters()}

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        """Return what makes a product of each format from the fields of the format."""
        return {kind.name: _maker(kind) for kind in formats()}

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        own, storage, found = self.format, self.format.storage(), ", ".join(map(describe, inputs))
        fewest = sum(not array.optional for array in storage)
        if not fewest < len(inputs) <= len(storage) + 1:
            names = ", ".join(array.name for array in storage)
            raise TypeError(f"{self.name} takes x, {names}, got {counted(len(inputs), 'input')}")
        x, *stored = inputs
        pairs = list(zip(stored, storage, strict=False))
        are_vectors = all(v.ndim == 1 and v.dtype == (a.dtype or x.dtype) for v, a in pairs)
        if x.dtype not in own.dtypes or not x.ndim or not are_vectors:
            wanted = ", ".join(f"{a.name} of {a.dtype or 'their dtype'}" for a in storage)
            raise TypeError(f"{self.name} takes rows of {' or '.join(own.dtypes)}, vectors {wanted}; got {found}")
        depth, outputs = own.matrix
        lengths = [(x.type.shape[-1], depth), *((v.type.shape[0], a.length) for v, a in pairs)]
        if any(have is not None and want is not None and have != want for have, want in lengths):
            raise ValueError(
                f"{self.name}: {found} do not fit a matrix of {counted(depth, 'row')}, {counted(outputs, 'column')}"
            )
        own.require_fitting(stored)
        return (TensorType(own.result or x.dtype, (*x.type.shape[:-1], outputs)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (self.format.product(*values),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.format.matrix[1]),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a dense product."""
        return self.format.expand(*inputs)

    def operations(self, node: Apply) -> costs.Operations:
        x, w, *_ = node.inputs
        each = costs.size(w) if self.format.multiplies_stored else math.prod(self.format.matrix)
        return costs.Operations("product", 2.0 * math.prod(costs.lengths(x)[:-1]) * each, x.dtype)


def _maker(kind: type[Format]) -> Callable[..., Op]:
    return lambda **given: PackedProduct(kind(**given))
