"""`record`: the decorator of our immutable values (types, ops, IR, steps, rules): frozen dataclasses, made quickly.

`dataclass(frozen=True)` compiles six methods for each class: 0.35 ms, and with 190 classes a third of the time of
`import arignote`.  A record is a dataclass of which nothing is compiled: its `__init__` is a template with the names of
its fields, made when it is first asked for.  `fields`, `replace`, `asdict`, `field(...)`, `ClassVar`, `__post_init__`,
`match`, `pickle` and type checkers treat it as one.

Three things differ.  A record without fields has one instance, for nothing could tell two apart.  A subclass of a
record is a record too, or a plain class and as frozen as its base.  And there are no default factories: a value that is
never edited needs no list of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import templates
from .templates import TEMPLATES, any_fields, any_slots

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """Declares to type checkers that a decorator makes dataclasses; `typing` has it from Python 3.11 on."""
        return lambda decorator: decorator


C = TypeVar("C", bound=type)
R = TypeVar("R")


@overload
def record(cls: C, /) -> C: ...
@overload
def record(*, eq: bool = True, repr: bool = True, kw_only: bool = False, slots: bool = False) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: Any = None, /, *, eq: bool = True, repr: bool = True, kw_only: bool = False, slots: bool = False
) -> Any:
    """The class as a frozen dataclass; the options are those of `dataclass`.  Methods of its own stay as they are."""

    def recorded(cls: Any) -> Any:
        own = set(vars(cls))
        if "__eq__" in own and vars(cls).get("__hash__") is None:
            own.discard("__hash__")  # Python put None there because of __eq__
        cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclass` looks for a signature: slower than all the rest
        cls = _as_dataclass(cls, kw_only, slots)
        methods = _methods(cls, eq, repr, slots)
        for name in methods.keys() - own:
            setattr(cls, name, methods[name])
        return cls

    return recorded if cls is None else recorded(cls)


@dataclass(init=False, repr=False, eq=False)
class _Model:
    """A dataclass by the module itself: records have its parameters and its kind of field."""

    one: object


_PARAMETERS: Any = _Model.__dataclass_params__  # type: ignore[attr-defined]
_FIELD: Any = _Model.__dataclass_fields__["one"]._field_type  # type: ignore[attr-defined]


def _as_dataclass(cls: Any, kw_only: bool, slots: bool) -> Any:
    """Make a dataclass without methods.

    `dataclass` takes more than twice as long: it looks for ClassVar in texts of types, and at methods to make.
    """
    written = cls.__annotations__
    if any(not isinstance(kind, str) or "InitVar" in kind or "KW_ONLY" in kind for kind in written.values()):
        return dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(cls)
    given: dict[str, Any] = {}
    for base in cls.__mro__[:0:-1]:
        given |= vars(base).get("__dataclass_fields__", {})
    for name, kind in written.items():
        if "ClassVar" not in kind:
            given[name] = _field(cls, name, kind, kw_only)
    cls.__dataclass_fields__, cls.__dataclass_params__ = given, _PARAMETERS
    if "__match_args__" not in vars(cls):
        positional = [f.name for f in given.values() if f.init and not f.kw_only]
        cls.__match_args__ = tuple(positional)  # type: ignore[misc]
    return _with_slots(cls, given) if slots else cls


def _with_slots(cls: Any, names: Collection[str]) -> Any:
    """Return the class again, with slots for the names that its bases have none for."""
    inherited = {name for base in cls.__mro__[1:] for name in vars(base).get("__slots__", ())}
    body = {name: value for name, value in vars(cls).items() if name not in {*names, "__dict__", "__weakref__"}}
    body["__slots__"] = tuple([name for name in names if name not in inherited])
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _field(cls: Any, name: str, kind: str, kw_only: bool) -> Any:
    """Return the field of an annotation; the default alone stays in the class."""
    default = getattr(cls, name, MISSING)
    if isinstance(default, Field) and default.default is MISSING:
        delattr(cls, name)
    elif isinstance(default, Field):
        setattr(cls, name, default.default)
    elif isinstance(default, MemberDescriptorType):  # a slot of a base
        default = MISSING
    made: Any = default if isinstance(default, Field) else field(default=default)
    made.name, made.type, made._field_type = name, kind, _FIELD
    if made.kw_only is MISSING:
        made.kw_only = kw_only
    return made


def _methods(cls: type, eq: bool, repr: bool, slots: bool) -> dict[str, Any]:
    given = fields(cls)
    methods: dict[str, Any] = {
        "__init__": _Init(cls, given),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
    }
    if repr:
        methods["__repr__"] = _repr
    if eq and not given:
        methods["__new__"] = _the_instance
    elif eq:
        methods["__eq__"] = _equality([f.name for f in given if f.compare])
        methods["__hash__"] = _hash([f.name for f in given if (f.compare if f.hash is None else f.hash)])
    if slots:  # the default of `pickle` assigns to the fields
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    return methods


def replaced(value: R, /, **changes: Any) -> R:
    """Return a record without slots and `__post_init__` with other fields: `replace` in a tenth of its time."""
    made: R = object.__new__(type(value))
    vars(made).update(vars(value), **changes)
    return made


class _Init:
    """The lazy `__init__` of a record: the first call generates the real one and installs it."""

    __slots__ = ("_cls", "_given")

    def __init__(self, cls: Any, given: tuple[Field[Any], ...]) -> None:
        for f in given:
            if f.default_factory is not MISSING:
                raise TypeError(
                    f"{cls.__name__}.{f.name}: a record has no default factories; give it an immutable default"
                )
        self._cls, self._given = cls, given

    def __get__(self, instance: Any, owner: Any) -> Any:
        made = _init(self._cls, self._given)
        if vars(self._cls)["__init__"] is self:
            self._cls.__init__ = made
        return made.__get__(instance, owner)


def _init(cls: type, given: tuple[Field[Any], ...]) -> FunctionType:
    """`__init__(self, field, ..., *, keyword field, ...)`."""
    positional = [f for f in given if f.init and not f.kw_only]
    keyword = [f for f in given if f.init and f.kw_only]
    names = [f.name for f in (*positional, *keyword)]
    short = len(names) < len(TEMPLATES) and not hasattr(cls, "__post_init__")
    of_any_number = any_slots if hasattr(cls, "__slots__") else any_fields
    template = (TEMPLATES[len(names)] if short else of_any_number).__code__
    letters = dict(zip(template.co_varnames[1:], names))
    code = template.replace(
        co_name="__init__", co_varnames=("self", *names), co_nlocals=1 + len(names),
        co_argcount=1 + len(positional), co_kwonlyargcount=len(keyword),
        co_consts=tuple(letters.get(c, c) if isinstance(c, str) else c for c in template.co_consts),
    )  # fmt: skip
    init = FunctionType(code, vars(templates), "__init__")
    init.__defaults__ = tuple(f.default for f in positional if f.default is not MISSING) or None
    init.__kwdefaults__ = {f.name: f.default for f in keyword if f.default is not MISSING} or None
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


_instances: dict[type, Any] = {}
"""Of classes without fields."""


def _the_instance(cls: type, /, *args: Any, **keywords: Any) -> Any:
    """`__new__` of records without fields, inherited by those that add some."""
    found = _instances.get(cls)
    if found is not None:
        return found
    new: Any = object.__new__(cls)
    return new if fields(cls) else _instances.setdefault(cls, new)


def _key(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """From a record to the tuple of these fields."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda self: ()
    get = attrgetter(names[0])
    return lambda self: (get(self),)


def _equality(names: list[str]) -> Callable[[Any, Any], bool]:
    key = _key(names)

    def equal(self: Any, other: Any) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(names: list[str]) -> Callable[[Any], int]:
    if len(names) == 1:  # most ops: one call less for each that is looked up
        get = attrgetter(names[0])
        return lambda self: hash((get(self),))
    key = _key(names)

    def hashed(self: Any) -> int:
        return hash(key(self))

    return hashed


def _repr(self: Any) -> str:
    inside = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({inside})"


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
