"""Views of objects: how a traced method sees `self`.

A view looks like the object.  Attributes are read when the method asks for them: arrays are inputs of the compiled
function, numbers and other values are static.  What is assigned to an attribute is a result of the compiled function,
which each call assigns to the object.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..ops.core.traced import ASKED
from ..ops.random.generator_states import state_now
from ..record import lazy
from ..tree import Form
from .arguments import (
    ALL_HELD,
    NUMBERS,
    NUMBERS_HELD,
    AnyView,
    Arguments,
    Same,
    Static,
    has_leaves,
    has_state,
    is_generator,
    require_no_draws,
)
from .scopes import Scope, scope_of

generators: Any = lazy.module("..generators", __name__)

_OF_C = types.WrapperDescriptorType
_IMPLICIT = frozenset((
    *("__call__", "__getitem__", "__setitem__", "__len__", "__iter__", "__next__", "__contains__", "__enter__"),
    *("__exit__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__matmul__", "__rmatmul__"),
    *("__truediv__", "__rtruediv__", "__neg__", "__abs__", "__bool__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__pow__", "__rpow__", "__iadd__", "__isub__"),
))  # fmt: skip
"""Methods that Python looks up in the type of an object."""


class Reading(NamedTuple):
    """One attribute or variable that a trace has read: its name, its structure, and how it was read.

    `source`: the number of the object, or the scope.
    """

    source: int | Scope
    name: str
    structure: Form
    how: str = NUMBERS_HELD
    of_instance: bool = False
    """Whether it is an attribute of the instance alone, which takes no search in the class."""


class Objects:
    """The objects of the call that is traced, and what the trace reads of them."""

    def __init__(
        self, arguments: Arguments, value_of: Callable[[Form, Sequence[Any]], Any],
        how: Callable[[Any, str], str],
    ) -> None:  # fmt: skip
        self._arguments, self._value_of, self._how = arguments, value_of, how
        self.readings: list[Reading] = []
        self._inlined: dict[Scope, Callable[..., Any]] = {}
        self.views: dict[int, Any] = {}

    def view(self, number: int) -> Any:
        """Return the view of an object."""
        if number not in self.views:
            original = self._arguments.objects[number]
            if is_generator(original):
                handle = self.read(number, "state", current_value(original, "state"), NUMBERS_HELD)
                self.views[number] = generators.TracedGenerator(handle, number, original)
            else:
                self.views[number] = _view_class(type(original))(_State(self, number, original))
        return self.views[number]

    def inlined(self, given: Any) -> Callable[..., Any]:
        """Return the function of a scope, or a function, with symbolic variables for the arrays among its globals."""
        scope = given if isinstance(given, Scope) else scope_of(given)
        if scope not in self._inlined:
            known = len(self.readings)
            read = {}
            for name, value, is_data in scope.values():
                if is_data or (has_state(value) and self._how(scope, name) != ALL_HELD):
                    read[name] = self.read(scope, name, value)
                else:
                    require_no_draws(value)
                    self.readings.append(Reading(scope, name, Same(value), ALL_HELD))
            if scope.is_own:
                self.readings[known:] = [r for r in self.readings[known:] if has_leaves(r.structure)]
            traced = {r.name for r in self.readings[known:] if has_leaves(r.structure)}
            values = {name: value for name, value in read.items() if name in traced}
            builtins = {name: made for name, made in ASKED.items() if scope.asks_for(name)}
            self._inlined[scope] = scope.with_values(values | builtins)
        return self._inlined[scope]

    def read(self, source: int | Scope, name: str, value: Any, how: str = "") -> Any:
        """Return the value of an attribute or a variable in the trace."""
        first = len(self._arguments.leaves)
        try:
            how = how or self._how(source, name)
            structure = self._arguments.read(value, how)
        except TypeError as error:
            where = "" if isinstance(source, Scope) else f" of {type(self._arguments.objects[source]).__name__}"
            raise TypeError(f"{name}{where}: {error}") from None
        of_instance = not isinstance(source, Scope) and _is_of_instance(self._arguments.objects[source], name)
        self.readings.append(Reading(source, name, structure, how, of_instance))
        return self._value_of(structure, self._arguments.leaves[first:])

    def drop_changed(self) -> None:
        """Forget the lists and dicts without arrays, outside of the function, that it has appended to."""
        again = Arguments()
        self.readings = [
            r for r in self.readings
            if has_leaves(r.structure) or type(r.structure) in (Static, Same) or not isinstance(r.source, Scope)
            or again.read(r.source.value(r.name), r.how) == r.structure
        ]  # fmt: skip

    def written(self) -> list[tuple[int, str, Any]]:
        """Return what was assigned: (number of the object, name of the attribute, value)."""
        return [
            (number, name, value)
            for number, view in self.views.items() for name, value in _state(view).written.items()
        ]  # fmt: skip


class _State:
    """State of a view: the object, and the attributes read and assigned."""

    __slots__ = ("known", "number", "objects", "original", "written")

    def __init__(self, objects: Objects, number: int, original: Any) -> None:
        self.objects: Objects = objects
        self.number: int = number
        self.original: Any = original
        self.known: dict[str, Any] = {}
        self.written: dict[str, Any] = {}

    def read(self, name: str, value: Any) -> Any:
        if name not in self.known:
            self.known[name] = self.objects.read(self.number, name, value)
        return self.known[name]


class View(AnyView):
    """Base of the views of all classes."""

    __slots__ = ("_ag_state",)

    def __init__(self, state: _State) -> None:
        object.__setattr__(self, "_ag_state", state)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(_state(self).original)

    def __getattribute__(self, name: str) -> Any:
        state = _state(self)
        original, kind = state.original, type(state.original)
        if name == "__class__":
            return kind
        if name in state.written:
            return state.written[name]
        if name == "__dict__":
            names = [*vars(original), *(n for n in state.written if n not in vars(original))]
            return {n: getattr(self, n) for n in names}
        found = static_attribute(original, name)
        if found is _MISSING:
            state.objects.readings.append(Reading(state.number, name, Same(_MISSING), ALL_HELD))
            fallback = getattr(kind, "__getattr__", None)
            if fallback is not None:
                return fallback(self, name)
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        value, of_class = found
        if of_class and hasattr(type(value), "__get__"):
            if isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
                return state.read(name, value.__get__(original, kind))
            if isinstance(value, functools.cached_property):
                if name not in state.known:
                    state.known[name] = value.func(self)
                return state.known[name]
            if isinstance(value, types.FunctionType):
                value = state.objects.inlined(scope_of(value))
            return value.__get__(self, kind)
        return state.read(name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        state = _state(self)
        kind = type(state.original)
        own = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        if isinstance(own, property):
            own.__set__(self, value)
        else:
            state.written[name] = value

    def __delattr__(self, name: str) -> None:
        kind = type(_state(self).original).__name__
        raise TypeError(f"del {kind}.{name}: a traced method cannot delete an attribute; delete it after the call")


def _state(view: Any) -> Any:
    return object.__getattribute__(view, "_ag_state")


_MISSING: Any = object()


def static_attribute(original: Any, name: str) -> Any:
    """Return (value, whether it is found in the class) as Python looks an attribute up, without calling anything."""
    kind = type(original)
    of_class = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), _MISSING)
    if of_class is not _MISSING and hasattr(type(of_class), "__set__"):
        return of_class, True
    own = getattr(original, "__dict__", {})
    if name in own:
        return own[name], False
    return _MISSING if of_class is _MISSING else (of_class, True)


def current_value(original: Any, name: str) -> Any:
    """The value of an attribute that a trace has read; of a generator its state, an array."""
    if is_generator(original):
        return state_now(original)
    found = static_attribute(original, name)
    if found is _MISSING:
        return _MISSING
    value, of_class = found
    is_slot = of_class and isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))
    return value.__get__(original, type(original)) if is_slot else value


def _view_class(kind: type) -> type:
    """The class of views of instances of `kind`, with the methods that Python looks up in the type."""
    if kind in _classes:
        return _classes[kind]
    methods: dict[str, Any] = {"__slots__": ()}
    for base in reversed(kind.__mro__[:-1]):
        own = {name: value for name, value in vars(base).items() if name in _IMPLICIT}
        methods |= {n: v for n, v in own.items() if hasattr(type(v), "__get__") and not isinstance(v, _OF_C)}
    return _classes.setdefault(kind, type(kind.__name__, (View,), methods))


_classes: WeakKeyDictionary[type, type] = WeakKeyDictionary()


def _is_of_instance(original: Any, name: str) -> bool:
    kind = type(original)
    return name in getattr(original, "__dict__", ()) and not any(name in vars(base) for base in kind.__mro__)


def read_again(readings: Sequence[Reading], arguments: Arguments) -> bool:
    """Read the attributes that a trace reads; return whether they have the structures that it was made for."""
    for source, name, structure, how, of_instance in readings:
        if of_instance and source < len(arguments.objects):  # type: ignore[operator]
            value = arguments.objects[source].__dict__.get(name, _MISSING)  # type: ignore[index]
        else:
            value = _value(source, name, arguments)
        if type(structure) in (Static, Same) and value is structure.value:
            continue
        if value is _MISSING or type(structure) is Same or arguments.read(value, how) != structure:
            return False
    return True


def _value(source: int | Scope, name: str, arguments: Arguments) -> Any:
    if isinstance(source, Scope):
        return source.value(name, _MISSING)
    return current_value(arguments.objects[source], name) if source < len(arguments.objects) else _MISSING


def changing(readings: Sequence[Reading], arguments: Arguments) -> set[tuple[int | Scope, str]]:
    """Return the numbers that differ from those of a trace: (number of the object or scope, name)."""
    found = set()
    for source, name, structure, *_ in readings:
        if type(structure) is Static and type(structure.value) in NUMBERS:
            value = _value(source, name, arguments)
            if type(value) is type(structure.value) and value != structure.value:
                found.add((source, name))
    return found


def number_of(view: Any) -> int:
    """The number of the object that a view shows."""
    found: int = _state(view).number
    return found

