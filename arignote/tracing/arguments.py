"""Arguments of a jitted function: arrays and numbers are traced, objects are read, all else is static.

A form (see tree.py) has further parts here:

    type                an array, or a number of this type
    Static(value)       a value that a trace holds for: None, text, a truth value, a function, ...
    Object(type, n)     object n of the call: an instance whose attributes are read when the function asks for them
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..graph import Variable
from ..ops.core.call_lengths import Length
from ..ops.core.checks import is_dask, is_sparse, shown
from ..ops.core.tracing import current
from ..record import record
from ..tree import Form, flat, flat_record, has_variable, is_named, is_record, scipys


class Static:
    """A value that a trace holds for.  Equal if type and value are, of numbers to the bit."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value: Any = value
        self._key = _key_of(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Static({self.value!r})"

    def value_of(self, leaves: Iterator[Any]) -> Any:
        return set(self.value) if type(self.value) is set else self.value


def _key_of(value: Any) -> Any:
    """The identity of a static value; 1, 1.0 and True differ.  Raises TypeError for what cannot be hashed."""
    kind = type(value)
    if kind in (float, complex):
        return kind, repr(value)
    if kind in (list, tuple):
        return kind, tuple([_key_of(v) for v in value])
    if kind in (set, frozenset):
        return kind, frozenset([_key_of(v) for v in value])
    if kind is dict:
        return kind, tuple([(_key_of(k), _key_of(v)) for k, v in value.items()])
    if kind is slice:
        return kind, _key_of((value.start, value.stop, value.step))
    if kind is np.ndarray:
        return kind, value.dtype.str, value.shape, value.tobytes()
    hash(value)
    return kind, value


class Same:
    """A value of a variable that is another one only if it is another object: a function, a module."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def value_of(self, leaves: Iterator[Any]) -> Any:
        return self.value


@record
class Object:
    """An instance of a class of the user: object `number` of the call."""

    kind: type
    number: int

    def value_of(self, leaves: Any) -> Any:
        return leaves.object_of(self.number)


NUMBERS = (int, float, complex)
"""The types of Python numbers, which take the dtype that arrays decide."""
_LEAVES = frozenset((np.ndarray, *NUMBERS, np.float64, np.float32, np.int64))
_STATIC = frozenset((bool, type(None), str, bytes, type(Ellipsis), range, slice, set, frozenset))
_NO_STATE = (
    type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, functools.partial,
    np.ufunc,
)  # fmt: skip
_HEAP_TYPE = 1 << 9
"""Flag of classes written in Python."""


TRACED, NUMBERS_HELD, ALL_HELD = "traced", "numbers held", "all held"
"""How values are read."""


class Arguments:
    """One reading of arguments: the leaves in order, the objects, and whether a leaf is symbolic."""

    __slots__ = ("leaves", "numbers", "objects", "symbolic")

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.symbolic: bool = False

    def read_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form:
        """Return the structure of the arguments of a call."""
        kinds = tuple(map(type, args))
        if kwargs or not _LEAVES.issuperset(kinds):
            return self.read((args, kwargs))
        self.leaves.extend(args)
        return tuple, ((tuple, kinds), (dict, ()))

    def read(self, value: Any, how: str = TRACED) -> Form:
        """Return the structure of a value; its leaves and objects are appended.

        `how`: TRACED; for attributes and variables NUMBERS_HELD, where numbers are static, or ALL_HELD, where arrays
        are static, too.  Raises TypeError for a value that is none of these, such as a deque.
        """
        return flat(value, self.leaves, self._part if how == TRACED else _HOLDING[how].__get__(self), None)

    def _holding_numbers(self, value: Any, leaves: list[Any]) -> Form:
        return Static(value) if type(value) in NUMBERS else self._part(value, leaves)

    def _holding_all(self, value: Any, leaves: list[Any]) -> Form:
        if type(value) is np.ndarray and not value.dtype.hasobject:
            return Static(value.copy())
        return Static(value) if isinstance(value, np.generic) else self._holding_numbers(value, leaves)

    def forget(self, leaves: int, objects: int) -> None:
        """Drop what was read after this many leaves and objects."""
        del self.leaves[leaves:]
        for value in self.objects[objects:]:
            del self.numbers[id(value)]
        del self.objects[objects:]

    def _part(self, value: Any, leaves: list[Any]) -> Form:
        kind = type(value)
        if kind in _LEAVES:
            leaves.append(value)
            return kind
        if kind in _STATIC:
            return Static(value)
        if isinstance(value, (Variable, AnyView)) or kind is Length:
            self.symbolic = True
            leaves.append(value)
            return kind
        if isinstance(value, np.ndarray) and _means_other(kind):
            raise TypeError(
                f"{shown(value)} is a {kind.__name__}, which means other than an array by its operators; pass "
                "np.asarray(x), or x.filled(...) of a masked array"
            )
        if is_sparse(kind):
            scipys.parts_of(value)  # raises TypeError: the format is none that is registered
        if isinstance(value, np.generic) or hasattr(kind, "__array__") or hasattr(kind, "__dlpack__") or is_dask(value):
            leaves.append(value)
            return kind
        if current() is not None and _holds_variable(value):  # made in the function that is traced
            self.symbolic = True
            leaves.append(value)
            return kind
        if is_generator(value):
            return Object(type(value.bit_generator), self._number(value))
        if has_state(value):
            return Object(kind, self._number(value))
        if is_record(value) and not is_hashable(value):
            return flat_record(value, leaves, self._part, None)
        return static(value)

    def _number(self, value: Any) -> int:
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.numbers[id(value)]


def _holds_variable(value: Any) -> bool:
    """Whether an object has symbolic attributes."""
    if is_record(value):
        return has_variable(value)
    return has_state(value) and any(isinstance(v, Variable) for v in getattr(value, "__dict__", {}).values())


def is_generator(value: Any) -> bool:
    """Whether a value is a generator of NumPy; asking `np.random` for the class would load it."""
    kind = type(value)
    return kind.__name__ == "Generator" and kind.__module__ == "numpy.random._generator"


def has_leaves(structure: Form) -> bool:
    """Whether a structure has a leaf or an object, so that its value differs from call to call."""
    waiting = [structure]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (type, Object)):
            return True
        if type(part) is tuple:
            waiting.extend([p[1] for p in part[1]] if is_named(part) else part[1])
    return False


_HOLDING = {NUMBERS_HELD: Arguments._holding_numbers, ALL_HELD: Arguments._holding_all}


class AnyView:
    """Base of the views of objects, which stand for them in a trace; see views.py."""

    __slots__ = ()


def is_hashable(value: Any) -> bool:
    """Whether a value can be hashed; a frozen dataclass cannot if it holds arrays."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def static(value: Any) -> Static:
    """Return the static part of a value.  Raises TypeError for a random generator, and for what cannot be hashed."""
    require_no_draws(value)
    try:
        return Static(value)
    except TypeError:
        raise TypeError(
            f"{shown(value)} is a {type(value).__name__}, which cannot be hashed; expected numbers, arrays, or lists, "
            "tuples and dicts of them, or what can be hashed, for which the function is traced anew"
        ) from None


def require_no_draws(value: Any) -> None:
    """Raise TypeError for a random generator that a trace cannot follow: of Python, or of NumPy's older kind."""
    older, pythons = (sys.modules.get(name) for name in ("numpy.random.mtrand", "random"))
    kinds: Any = (*([older.RandomState] if older else []), *([pythons.Random] if pythons else []))
    if hasattr(type(value), "bit_generator") or isinstance(value, kinds):
        raise TypeError(
            f"{shown(value)} would draw its numbers once, while the function is traced; pass "
            "np.random.default_rng(seed), or use T.random.RandomStream(seed)"
        )


_STANDARD = sys.stdlib_module_names - {"__main__", "types"}
"""Modules of the standard library; `types.SimpleNamespace` holds what a user puts there."""


def has_state(value: Any) -> bool:
    """Whether a value is an instance with attributes, compared by identity: its attributes are read at each call.

    A generator of NumPy counts as one.  Instances of the standard library's classes, such as locks and files, and
    functions of other compilers, whose calls are C, are used as they are.
    """
    kind = type(value)
    if is_generator(value):
        return True
    if not kind.__flags__ & _HEAP_TYPE or kind.__hash__ not in (None, object.__hash__):  # type: ignore[comparison-overlap]
        return False
    package = kind.__module__.partition(".")[0]
    if isinstance(value, _NO_STATE) or package == "arignote" or package in _STANDARD:
        return False
    if type(getattr(kind, "__call__", None)) is types.WrapperDescriptorType:  # noqa: B004
        return False
    return hasattr(value, "__dict__") or any("__slots__" in vars(base) for base in kind.__mro__[:-1])


def _means_other(kind: type) -> bool:
    """Whether a class of arrays gives operations of NumPy another meaning."""
    if kind.__module__.partition(".")[0] == "numpy":
        return kind.__name__ in ("matrix", "MaskedArray")
    own = {name for c in kind.__mro__[: kind.__mro__.index(np.ndarray)] for name in vars(c)}
    return not own.isdisjoint(_OPERATIONS)


_OPERATIONS = (frozenset(dir(np.ndarray)) - frozenset(dir(object)) - {
    "__array_finalize__", "__array_wrap__", "__class_getitem__", "__copy__", "__deepcopy__", "__setstate__",
}) | {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}  # fmt: skip
"""Names by which a subclass of `np.ndarray` changes what a program computes."""
