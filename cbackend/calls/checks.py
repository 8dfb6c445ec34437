"""Checks of arguments: the values that a function accepts, and the errors for all others.

An array of the input's dtype and rank is taken as it is, whatever its strides; of a subclass, only its numbers count,
except that masked arrays are refused.  Other dtypes are converted where
nothing is lost; Python numbers and lists take the input's dtype.  Messages name function, argument, expectation, what
came, and the fix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import TensorType, Variable
from ...ops.core.checks import is_dask, is_masked, large_integers_as
from ...ops.core.foreign import as_array
from ...record import record

MISSING: Any = object()
"""Mark of an argument that was not given."""


class ChunkedArgument(TypeError):
    """Error for a Dask array in place of an array; a compiled function runs on its blocks."""


@record
class Parameter:
    """One argument of a function: its place, the user's name for it, and the type it must have."""

    function: str
    position: int
    name: str | None
    type: TensorType
    downcast: bool | None = None
    """True: wider dtypes of the same kind are converted; None: Python numbers are; False: neither."""
    path: str = ""
    """The path of a leaf of a tree, such as `params["w"]`."""

    def __str__(self) -> str:
        if self.path:
            return f"{self.function}: {self.path}"
        return f"{self.function}: argument {self.position}" + (f" ({self.name})" if self.name else "")

    @property
    def word(self) -> str:
        return self.name or "x"

    # --- conversion
    @property
    def numbers(self) -> frozenset[Any]:
        """Return the types of numbers that `scalar` converts, for an input of rank 0."""
        own = {self.type.numpy.type}
        if self.type.kind in "iuf" and (self.downcast is not False or self.type.dtype in ("int64", "float64")):
            own |= {int, float} if self.type.kind == "f" else {int}
        return frozenset(own)

    def array(self, value: Any) -> np.ndarray:
        """Return `value` as an array of the parameter's dtype and rank: native, aligned, strides in whole elements.

        Raises TypeError for a wrong kind of value, dtype or rank, ValueError for a wrong length.
        """
        if type(value) is not np.ndarray:
            value = self._from_other(value)
        if value.dtype is not self.type.numpy:
            value = self._converted(value, plain=False)
        if value.ndim != self.type.ndim:
            raise self._refused(f"shape {value.shape}; {self._rank_fix(value.ndim)}")
        self._check_lengths(value)
        return value if _is_addressable(value) else np.array(value, order="C")

    def _from_other(self, value: Any) -> np.ndarray:
        if value is MISSING:
            raise TypeError(f"{self} is missing; expected {self._expected()}")
        if isinstance(value, Variable):
            raise self._refused(f"the symbolic variable {value.name or value.type}; give its value")
        if is_masked(value):
            raise self._refused(f"a masked array; use {self.word}.filled(value) or {self.word}.data")
        if isinstance(value, (np.ndarray, np.generic)):
            return np.asarray(value)
        if is_dask(value):
            raise ChunkedArgument(f"{self}: expected {self._expected()}, got a Dask array; use {self.word}.compute()")
        try:
            value = as_array(value)
        except TypeError as error:
            raise self._refused(str(error)) from None
        if type(value) is np.ndarray:
            return value
        try:
            found = np.asarray(value)
        except (ValueError, TypeError, OverflowError):
            raise self._refused(f"{_shown(value)}, which is no rectangular array") from None
        return self._converted(large_integers_as(self.type.numpy, found), plain=True, value=value)

    def _converted(self, array: np.ndarray, plain: bool, value: Any = None) -> np.ndarray:
        """Return the array in the parameter's dtype.  `plain`: it was made of Python numbers, whose dtype is weak."""
        want, have = self.type.numpy, array.dtype
        if have == want:
            return array.astype(want, copy=False)
        if have.kind not in "biufc":
            raise self._refused(f"{_shown(value)}{self._kind_fix(value)}" if plain else f"an array of dtype {have}")
        weak = self.downcast is True or (plain and self.downcast is None)
        if np.can_cast(have, want, "safe") or (plain and array.size == 0):
            return array.astype(want)
        if weak and (np.can_cast(have, want, "same_kind") or (plain and have.kind in "iu" and want.kind in "iu")):
            return self._narrowed(array, value if plain else array)
        raise self._refused(f"dtype {have}; {self._dtype_fix(have, plain)}")

    def _narrowed(self, array: np.ndarray, value: Any) -> np.ndarray:
        """Return the array in a narrower dtype of the same kind; integers must fit."""
        want = self.type.numpy
        with np.errstate(over="ignore"):
            result = array.astype(want)
        if want.kind in "iu" and not np.array_equal(result, array):
            raise self._refused(f"{_shown(value)}, which is out of its range")
        return result

    # --- messages
    def _refused(self, got: str) -> TypeError:
        return TypeError(f"{self}: expected {self._expected()}, got {got}")

    def _expected(self) -> str:
        rank = self.type.ndim
        what = "a scalar" if rank == 0 else f"{rank} dimension{'s' * (rank > 1)}"
        return f"{self.type} ({what})"

    def _kind_fix(self, value: Any) -> str:
        """Return how to convert an array of another package that NumPy does not convert by itself."""
        if hasattr(value, "toarray"):  # sparse
            return f"; use {self.word}.toarray()"
        return f"; use np.from_dlpack({self.word})" if hasattr(value, "__dlpack__") else ""

    def _dtype_fix(self, have: np.dtype, plain: bool) -> str:
        if have.kind == "c" and self.type.kind != "c":
            return f"use {'np.real(' + self.word + ')' if plain else self.word + '.real'} if that is what you want"
        return f"use {f'np.array({self.word})' if plain else self.word}.astype({self.type.dtype!r})"

    def _rank_fix(self, rank: int) -> str:
        want = self.type.ndim
        if rank < want:
            return f"use {self.word}[{', '.join(['None'] * (want - rank) + ['...'])}] or reshape it"
        return f"use {self.word}.reshape({', '.join(['-1'] * min(want, 1) + ['n'] * (want - 1)) or '()'})"

    def _check_lengths(self, array: np.ndarray) -> None:
        for axis, (want, have) in enumerate(zip(self.type.shape, array.shape, strict=True)):
            if want is not None and want != have:
                raise ValueError(
                    f"{self}: expected {self.type}, got shape {array.shape}: axis {axis} has length {have}, not {want}"
                )


def scalar(value: Any, dtype: np.dtype) -> Any:
    """Return `value` as an array of rank 0; values out of range are returned unchanged, for `array` to refuse."""
    try:
        return np.array(value, dtype)
    except OverflowError:
        return value


def too_many(function: str, names: list[str | None], given: int) -> TypeError:
    """Return the error for more arguments than inputs."""
    shown = ", ".join(n or f"input {k}" for k, n in enumerate(names))
    return TypeError(f"{function}: takes {len(names)} argument{'s' * (len(names) != 1)} ({shown}), got {given}")


def _is_addressable(array: np.ndarray) -> bool:
    """Whether strides are whole numbers of elements, from an aligned address."""
    item = array.dtype.itemsize
    return array.flags.aligned and all(s % item == 0 or n <= 1 for n, s in zip(array.shape, array.strides, strict=True))


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
