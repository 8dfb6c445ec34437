"""Members of NumPy's arrays that only a trace has: memory (strides, flags, views) and methods that write the array."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...graph.provenance import asked_by_us, line
from ...graph.types import dtype_name
from ..core.namespace import NoAttribute, T
from ..core.traced import is_of_call, keep_class, number_of
from ..core.tracing import Trace, current
from .stored import base_of, copied, in_c_order, is_in_c_order, shadow, source_of, whole

WITHOUT: Mapping[str, tuple[str, str]] = {
    "base": ("base", "x is y to compare arrays; a view is written through, a copy is not"),
    "byteswap": ("bytes to swap", "x.byteswap() outside of the function, or x >> 8 and x << 8"),
    "ctypes": ("address", "the array outside of the function"),
    "data": ("buffer", "the array itself, or ag.pure_callback for code that takes a buffer"),
    "dump": ("bytes to write", "the result of the function: return the array, and dump it"),
    "dumps": ("bytes", "the result of the function: return the array, and dump it"),
    "getfield": ("fields", "x.view of integers of the same size, or x & 255 and x >> 8"),
    "resize": ("length that changes", "x = np.resize(x, shape)"),
    "setfield": ("fields", "x & 255, x >> 8 and x | y << 8"),
    "setflags": ("flags to set", "x.setflags(...) outside of the function"),
    "tobytes": ("bytes", "the result of the function: return the array, and take its bytes"),
    "tofile": ("bytes to write", "the result of the function: return the array, and write it"),
    "__array_interface__": ("address", "x itself"),
    "__array_struct__": ("address", "x itself"),
    "__dlpack__": ("buffer", "x itself"),
    "__dlpack_device__": ("buffer", "x itself"),
}
"""Members that a traced array lacks: what it does not have before the function runs, and the way round."""


class ArrayMembers:
    """Base of the variables of a trace: what NumPy's arrays have, and symbolic arrays outside of a trace do not."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise NoAttribute(type(self), name, "" if asked_by_us() else _absent(self, name))

    @property
    def itemsize(self: Any) -> int:
        """The number of bytes of an element."""
        return int(self.type.numpy.itemsize)

    @property
    def nbytes(self: Any) -> Any:
        """The number of bytes of the elements."""
        return self.size * self.itemsize

    @property
    def strides(self: Any) -> tuple[Any, ...]:
        """The bytes from an element to the next one along each axis, as NumPy's array has them in this call.

        Raises TypeError for a view or an argument whose layout depends on values.
        """
        lengths = self.shape
        if source_of(self) is None and all(n > 0 for n in lengths) and is_in_c_order(self, always=True):
            return tuple(math.prod(lengths[k:], start=self.itemsize) for k in range(1, 1 + self.ndim))
        return _layout(self, "strides").strides

    @property
    def flags(self: Any) -> Flags:
        """NumPy's flags."""
        return Flags(self)

    @property
    def real(self: Any) -> Any:
        """The real part: of a real array the array itself, of a complex one an array that can only be read."""
        return self if self.type.kind != "c" else _part(self, _of_number(self, T.real(self)), "real")

    @property
    def imag(self: Any) -> Any:
        """The imaginary part, which can only be read."""
        return _part(self, _of_number(self, T.imag(self)), "imag")

    def ravel(self: Any, order: str | None = "C") -> Any:
        """The elements as a vector: the array's own where NumPy's is contiguous in this order, else copies."""
        return raveled(self, order or "C")

    def copy(self: Any, order: str | None = "C") -> Any:
        """A new array; in C order unless NumPy keeps another one: the orders "K" and "A"."""
        return laid_out(super().copy(), order or "C", self)  # type: ignore[misc]

    def astype(
        self: Any, dtype: Any, order: str | None = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:  # fmt: skip
        """The elements in another dtype, in the order of the array unless `order` asks for another one."""
        found = super().astype(dtype, casting=casting, copy=copy)  # type: ignore[misc]
        return found if order in (None, "K") else laid_out(found, order, self)

    def compress(self: Any, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The parts along `axis` where a condition holds; see `T.compress`."""
        return np.compress(condition, self, axis, out)

    def conj(self: Any) -> Any:
        """The complex conjugates: of a real array the array itself."""
        return self if self.type.kind != "c" else _of_number(self, T.conj(self))

    conjugate = conj

    def view(self: Any, dtype: Any = None, type: Any = None) -> Any:
        """The same elements; as integers of another sign, or bools as bytes, they can be read but not written.

        Raises TypeError for other dtypes.
        """
        name = self.type.dtype if dtype is None or dtype is np.ndarray else dtype_name(dtype)
        if name == self.type.dtype:
            return T.reshape(self, T.lengths_of(self)) if self.ndim else self
        given, wanted = self.type.numpy, np.dtype(name)
        if given.kind not in "iub" or wanted.kind not in "iu" or given.itemsize != wanted.itemsize:
            raise TypeError(
                f"x.view({name}): the bits of the symbolic {self!r} cannot be read as {name}; use x.astype({name!r}) "
                f"for its values, or ag.pure_callback(lambda a: a.view({name!r}), like, x){line()}"
            )
        found = T.cast(self, name)
        return sharing(self, found, f"its elements are viewed as {name} as well")

    def partition(self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None) -> None:
        """Partition the array in place."""
        whole(self, T.partition(self, kth, axis, kind=kind, order=order), "x.partition()")  # type: ignore[call-arg]

    def sort(self: Any, axis: int = -1, kind: str | None = None, order: None = None, *, stable: Any = None) -> Any:
        """Sort the array in place; outside of a traced function, return the sorted elements."""
        if not is_of_call():
            return T.sort(self, axis, kind, stable=stable)
        return whole(self, T.sort(self, axis, kind, order=order, stable=stable), "x.sort()")  # type: ignore[call-arg,func-returns-value]

    def flatten(self: Any, order: Any = "C", ndim: int = 1) -> Any:
        """A new vector of the elements; with Theano's `ndim`, the last axes made one."""
        if not isinstance(order, str):
            order, ndim = "C", order
        return copied(raveled(self, order)) if ndim == 1 else super().flatten(ndim)  # type: ignore[misc]

    def put(self: Any, indices: Any, values: Any, mode: str = "raise") -> None:
        """Write values at flat indices."""
        whole(self, T.put(self, indices, values, mode), "x.put()")

    def __copy__(self: Any) -> Any:
        return copied(self) if self.ndim else self

    def __deepcopy__(self: Any, memo: Any) -> Any:
        return self.__copy__()


def _method(name: str) -> Callable[..., Any]:
    """Return NumPy's function `name` as a method."""
    function = getattr(np, name)

    def _call(self: Any, *args: Any, **options: Any) -> Any:
        return self.__array_function__(function, (), (self, *args), options)

    _call.__name__, _call.__qualname__ = name, f"ArrayMembers.{name}"
    _call.__doc__ = f"`np.{name}` of the array; see `T.{name}`."
    return _call


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "cumprod", "cumsum", "dot", "max",
    "mean", "min", "prod", "ptp", "round", "std", "sum", "take", "trace", "var",
):  # fmt: skip
    setattr(ArrayMembers, _name, _method(_name))


def _absent(x: Any, name: str) -> str:
    """Return why a traced array lacks a member of NumPy's arrays; empty if it is none."""
    if name not in WITHOUT:
        return ""
    what, fix = WITHOUT[name]
    return f"{name}: {x!r} is symbolic and has no {what} before the function runs; use {fix}{line()}"


class Flags:
    """The flags of an array in a trace."""

    def __init__(self, x: Any) -> None:
        self._x: Any = x

    @property
    def writeable(self) -> bool:
        """Whether NumPy writes to the array."""
        return base_of(self._x) not in _trace().read_only

    def __getattr__(self, name: str) -> bool:
        if name[:1] == "_" or not hasattr(np.zeros(1).flags, name):
            raise AttributeError(f"'flagsobj' object has no attribute {name!r}")
        return bool(getattr(_layout(self._x, f"flags.{name}").flags, name))

    def __getitem__(self, name: str) -> bool:
        """A flag by NumPy's name of it, such as "C_CONTIGUOUS"."""
        word = name.lower()
        return self.writeable if word == "writeable" else getattr(self, word)  # type: ignore[no-any-return]


def _layout(x: Any, what: str) -> np.ndarray:
    """Return an array with the shape and the strides of x in the call; they become guards."""
    trace = _trace()
    before, trace.copying = trace.copying, {}
    found = shadow(trace, x)
    for guard in trace.copying:
        trace.require(guard)
    trace.copying = before
    if found is None:
        raise TypeError(f"x.{what} of {x!r}: its layout depends on values; take np.ascontiguousarray(x), whose strides "
                        f"are those of its shape{line()}")  # fmt: skip
    return found


def _of_number(x: Any, found: Any) -> Any:
    """Return a part of x: a Python number, if x is one."""
    number = number_of(x)
    if number is not None:
        of_complex = complex if found.type.kind == "c" else float
        keep_class(_trace(), found, of_complex if number.kind is complex else number.kind)
    return found


def _part(x: Any, found: Any, name: str) -> Any:
    """Return a part of the elements of x, which a trace can read until x is written."""
    if found.ndim:
        trace = _trace()
        kind = "shares its elements with a complex array" if x.type.kind == "c" else "is read-only"
        trace.frozen[found] = f"x.{name} {kind}"
        if x.type.kind == "c":
            trace.parts.setdefault(base_of(x), []).append(found)
    return found


def raveled(x: Any, order: str = "C") -> Any:
    """Return `x.ravel(order)`, with copied elements where NumPy's array is not contiguous in the order.

    Raises TypeError for the orders "A" and "K" of an array whose strides are not known.
    """
    if order in ("A", "K"):
        if is_in_c_order(x, always=True):
            order = "C"
        else:
            flags = _layout(x, f'ravel("{order}")').flags
            by_columns = flags.f_contiguous and not flags.c_contiguous
            if order == "K" and not (flags.c_contiguous or by_columns):
                raise TypeError(f'ravel("K") of {x!r}, whose elements lie apart: use ravel("C"){line()}')
            order = "F" if by_columns else "C"
    if order == "C" and is_in_c_order(x):
        return T.reshape(x, (-1,))
    found = T.reshape(x, (-1,), order=order)
    if found is not x and source_of(found) is None:
        return found
    array = shadow(_trace(), x)
    if array is None:
        return copied(found) if order == "F" else found
    is_view = array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
    return found if is_view else in_c_order(copied(found))


def contiguous(x: Any, order: str = "C") -> Any:
    """Return `np.ascontiguousarray(x)`, or `np.asfortranarray(x)`: x itself, or a copy if its order is another one."""
    if not x.ndim or (is_in_c_order(x) and (order == "C" or x.ndim == 1)):
        return x
    array = shadow(_trace(), x)
    if array is not None and (array.flags.c_contiguous if order == "C" else array.flags.f_contiguous):
        return x
    found = laid_out(copied(x), order, x)
    if array is None:
        return sharing(x, found, "its strides are not known, so NumPy may or may not have copied it")
    return found


def laid_out(made: Any, order: str | None, like: Any = None) -> Any:
    """Return `made`, a new array of the trace, in the order that NumPy's argument of a constructor asks for.

    `like`: the array whose order "A" and "K" keep, if there is one.
    """
    if not is_of_call() or made.ndim < 2:
        return made
    order = str(order or "K").upper()
    if order == "C":
        return made if like is None else in_c_order(made)
    if order == "F" or (like is not None and not is_in_c_order(like, always=True)):
        _trace().arranged[made] = order, None if order == "F" else like
    return made


def sharing(x: Any, found: Any, reason: str) -> Any:
    """Return an array that shares elements with x; a trace cannot write to either of them any more."""
    _trace().frozen.update({base_of(x): reason, found: reason})
    return found


def _trace() -> Trace:
    found = current()
    assert found is not None
    return found
