"""Trees: nested lists, tuples, dicts, named tuples, dataclasses, and classes that a user registers.

    ag.tree.map(lambda w, g: w - 0.1 * g, params, grads)        # params: {"encoder": {"w": ..., "b": ...}}

A tree has a structure and leaves in order. None is a part of the structure, as in JAX. `ag.function`, `ag.jit`,
`ag.grad`, `ag.vmap`, loops and branches take trees in the place of variables, and give results in their form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from .graph import Variable
from .ops.core.checks import is_sparse, shown
from .record import lazy
from .record.containers import Registered
from .record.containers import registered as _registered
from .record.spelling import counted

scipys: Any = lazy.module(".ops.sparse.scipys", __package__)

__all__ = ["Structure", "flatten", "leaves", "map", "map_with_path", "paths", "register", "structure", "unflatten"]

Form = Any
"""Structure inside of the library: None for a leaf, else (kind, parts), hashable.

`parts` are forms; those of a dict, a dataclass and a registered class are pairs (key, form).  A registered class has
a third entry, its static data.  `ag.jit` has further parts (tracing/arguments.py): the type of a leaf, and values
with a method `value_of`, which `NONE` has as well.
"""


def __dir__() -> list[str]:
    return __all__


class _None:
    """The form of None."""

    __slots__ = ()

    def value_of(self, leaves: Iterator[Any]) -> None:
        """None takes no leaf."""

    def __reduce__(self) -> str:
        return "NONE"

    def __repr__(self) -> str:
        return "None"


NONE = _None()
"""The form of None."""


_LEAVES = frozenset((np.ndarray, bool, int, float, complex, str, np.float64, np.float32, np.int64))
"""Types that are no containers, which spares slower checks."""


def _leaf(value: Any, leaves: list[Any]) -> Form:
    leaves.append(value)


# --- inside of the library


def is_record(value: Any) -> bool:
    """Whether a value is an instance of a dataclass; classes of Arignote are none."""
    kind = value.__class__  # that of the object, if `ag.jit` shows it
    return hasattr(kind, "__dataclass_fields__") and kind.__module__.partition(".")[0] != "arignote"


def _is_registered(kind: type) -> bool:
    """Whether a class is registered; those of SciPy's sparse matrices are when the first is met."""
    return kind in _registered or (is_sparse(kind) and kind in scipys.registered)


Leaf = Callable[[Any, list[Any]], Form]
Records = Callable[[Any], bool]


def flat(value: Any, leaves: list[Any], leaf: Leaf = _leaf, records: Records | None = is_record) -> Form:
    """Return the form of a tree; append its leaves to `leaves` in order.

    `leaf`: returns the form of anything else.  `records`: whether a value is a dataclass to look into; without it
    dataclasses and None go to `leaf`.
    """
    kind = type(value)
    if kind in _LEAVES:
        return leaf(value, leaves)
    if isinstance(value, (list, tuple)):
        return kind, tuple([flat(v, leaves, leaf, records) for v in value])
    if kind is dict or (isinstance(value, Mapping) and not is_sparse(kind)):
        return dict, tuple([(k, flat(v, leaves, leaf, records)) for k, v in value.items()])
    if value is None:
        return leaf(value, leaves) if records is None else NONE
    if _is_registered(kind):
        names, parts, static = _parts_of(value)
        known = [(n, flat(p, leaves, leaf, records)) for n, p in zip(names, parts, strict=True)]
        return _registered[kind].kind, tuple(known), static
    looks_in = records is not None and records(value)
    return flat_record(value, leaves, leaf, records) if looks_in else leaf(value, leaves)


def flat_record(value: Any, leaves: list[Any], leaf: Leaf, records: Records | None) -> Form:
    """Return the form of an instance of a dataclass; append its leaves to `leaves` in order."""
    kind = value.__class__
    return kind, tuple([(f.name, flat(getattr(value, f.name), leaves, leaf, records)) for f in fields(kind)])


def _parts_of(value: Any) -> tuple[Sequence[Any], Sequence[Any], Any]:
    """Return the names of the parts of a registered value, the parts, and its static data."""
    parts, static = _registered[type(value)].flatten(value)
    if isinstance(parts, Mapping):
        return list(parts), list(parts.values()), static
    return range(len(parts)), parts, static


def unflat(form: Form, leaves: Iterator[Any]) -> Any:
    """Return the tree of that form with the next leaves."""
    if form is None or isinstance(form, type):
        return next(leaves)
    if type(form) is not tuple:
        return form.value_of(leaves)
    kind, parts = form[0], form[1]
    if kind is dict:
        return {k: unflat(p, leaves) for k, p in parts}
    if kind is list or kind is tuple:
        return kind([unflat(p, leaves) for p in parts])
    if len(form) == 3:
        names, values = [n for n, _ in parts], [unflat(p, leaves) for _, p in parts]
        by_number = names == list(range(len(names)))
        return _registered[kind].unflatten(form[2], values if by_number else dict(zip(names, values, strict=True)))
    if hasattr(kind, "__dataclass_fields__"):
        made = object.__new__(kind)  # __init__ may convert or check arrays, and leaves may be variables
        for name, part in parts:
            object.__setattr__(made, name, unflat(part, leaves))
        return made
    values = [unflat(p, leaves) for p in parts]
    return kind(*values) if hasattr(kind, "_fields") else kind(values)  # a named tuple takes its fields one by one


def in_form(value: Any, form: Form, name: str = "the value", anything: bool = False) -> list[Any]:
    """Return the leaves of a value of this form, keys of dicts in its order.

    `name`: what messages call the value.  `anything`: whether all values are accepted as leaves.
    Raises TypeError that names the first part that differs.
    """
    found: list[Any] = []
    if not _collect(value, form, found, anything):
        raise TypeError(difference(value, form, name, anything))
    return found


def _collect(value: Any, form: Form, found: list[Any], anything: bool) -> bool:
    """Append the leaves of a value of this form; return whether it has the form."""
    if form is None:
        found.append(value)
        return type(value) in _LEAVES or _is_leaf(value, anything)
    if form is NONE:
        return value is None
    kind, parts, *static = form
    if static:
        own = _registered.get(type(value))
        if own is None or own.kind is not kind:
            return False
        given, held = own.flatten(value)
        if held != static[0]:
            return False
        given = given if isinstance(given, Mapping) else dict(enumerate(given))
    else:
        given = _children(value, form)
    if given is None or len(given) != len(parts):
        return False
    if not is_named(form):
        return all(_collect(v, part, found, anything) for v, part in zip(given, parts, strict=True))
    return all(key in given and _collect(given[key], part, found, anything) for key, part in parts)


def _is_leaf(value: Any, anything: bool) -> bool:
    return anything or not is_tree(value)


def is_named(form: Form) -> bool:
    """Whether the parts of a container are pairs (key, form)."""
    kind, _, *static = form
    return kind is dict or bool(static) or hasattr(kind, "__dataclass_fields__")


def _children(value: Any, form: Form) -> Any:
    """Return the parts of a value by the keys of this form: a sequence or a mapping; None for another kind."""
    kind, parts, *static = form
    if kind is dict:
        return value if isinstance(value, Mapping) else None
    if static:
        own = _registered.get(type(value))
        if own is None or own.kind is not kind:
            return None
        names, given, _ = _parts_of(value)
        return dict(zip(names, given, strict=True))
    if not isinstance(value, kind) or (kind is tuple and hasattr(value, "_fields")):
        return None
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name, _ in parts}
    return value


def parts_of(value: Any, form: Form) -> list[tuple[Any, Any, Form]] | None:
    """Return (key, part of the value, form of the part) for a container of this form; None if they do not agree."""
    if type(form) is not tuple:
        return None
    given = _children(value, form)
    pairs = form[1] if is_named(form) else list(enumerate(form[1]))
    if given is None or len(given) != len(pairs) or (is_named(form) and any(key not in given for key, _ in pairs)):
        return None
    return [(key, given[key], part) for key, part in pairs]


def is_tree(value: Any) -> bool:
    """Whether a value is a container or None, no leaf."""
    kind = type(value)
    if kind in _LEAVES or isinstance(value, Variable):
        return False
    return value is None or isinstance(value, (list, tuple, Mapping)) or _is_registered(kind) or is_record(value)


def is_sequence(value: Any) -> bool:
    """Whether a value is a list or a tuple; a named tuple is one structure, as a dict is."""
    return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")


def has_variable(value: Any) -> bool:
    """Whether a tree has a variable among its leaves."""
    found: list[Any] = []
    flat(value, found)
    return any(isinstance(v, Variable) for v in found)


def symbolic_flat(value: Any, leaves: list[Any]) -> Form:
    """Return the form of a tree of variables; lists and tuples of numbers alone are leaves, which become arrays."""
    if not is_tree(value) or (is_sequence(value) and value and not has_variable(value)):
        return _leaf(value, leaves)
    form = flat(value, [])
    if type(form) is not tuple:
        return form
    kind, parts, *static = form
    given = _children(value, form)
    if is_named(form):
        return kind, tuple([(k, symbolic_flat(given[k], leaves)) for k, _ in parts]), *static
    return kind, tuple([symbolic_flat(v, leaves) for v in given])


def place(name: str, form: Form, key: Any) -> str:
    """Return the path of a part: `params["w"]`, `params[0]`, `params.weight`."""
    kind, _, *static = form
    if kind is not dict and (static or hasattr(kind, "_fields") or hasattr(kind, "__dataclass_fields__")):
        if hasattr(kind, "_fields") and isinstance(key, int):
            key = kind._fields[key]
        return f"{name}.{key}" if isinstance(key, str) else f"{name}[{key}]"
    return f'{name}["{key}"]' if isinstance(key, str) and '"' not in key and key.isprintable() else f"{name}[{key!r}]"


def places(form: Form, name: str) -> list[str]:
    """Return the paths of the leaves of a form, in order; `name`: that of the tree."""
    if form is None or isinstance(form, type):
        return [name]
    if type(form) is not tuple:
        return []
    parts = form[1] if is_named(form) else enumerate(form[1])
    return [path for key, part in parts for path in places(part, place(name, form, key))]


def moving(form: Form) -> list[bool]:
    """Return for each leaf of a form whether it has a derivative; positions in a sparse matrix have none."""
    if type(form) is not tuple:
        return [] if form is NONE else [True]
    kind, parts, *static = form
    if not is_named(form):
        return [moves for part in parts for moves in moving(part)]
    fixed = _registered[kind].fixed if static else ()
    return [moves and key not in fixed for key, part in parts for moves in moving(part)]


def wholes(form: Form) -> list[int]:
    """Return for each leaf of a form how many leaves the sparse matrix has that it is a part of; 1 for other leaves."""
    if type(form) is not tuple:
        return [] if form is NONE else [1]
    kind, parts, *static = form
    if static and _registered[kind].fixed:
        return [len(parts)] * len(parts)
    return [n for part in ([p for _, p in parts] if is_named(form) else parts) for n in wholes(part)]


def reads_leaves(form: Form) -> bool:
    """Whether a registered class makes a part of the tree, and may read leaves for that, as the lengths of a matrix."""
    if type(form) is not tuple:
        return False
    _, parts, *static = form
    return bool(static) or any(map(reads_leaves, [p for _, p in parts] if is_named(form) else parts))


def difference(value: Any, form: Form, name: str, anything: bool = False) -> str:
    """Return the first difference between a value and the form that it should have; empty if there is none."""
    if form is None:
        return "" if _is_leaf(value, anything) else f"{name}: expected an array or a number, got {_kind_of(value)}"
    if form is NONE:
        return "" if value is None else f"{name}: expected None, got {_kind_of(value)}"
    kind, parts, *static = form
    given = _children(value, form)
    if given is None:
        fix = next((f"; use {r.fix}" for r in _registered.values() if r.kind is kind and r.fix), "")
        return f"{name}: expected {_article(kind)}, got {_kind_of(value)}{fix}"
    if not is_named(form):
        if len(given) != len(parts):
            return f"{name}: expected {counted(len(parts), 'part')}, got {len(given)}"
        pairs: Iterable[tuple[Any, Any]] = enumerate(parts)
    else:
        known = [k for k, _ in parts]
        missing, more = [k for k in known if k not in given], [k for k in given if k not in known]
        if missing or more:
            faults = [f"{place(name, form, k)} is missing" for k in missing[:3]]
            faults += [f"{place(name, form, k)} is unexpected" for k in more[:3]]
            keys = f"the keys {', '.join([repr(k) for k in known])}" if known else "no keys"
            return f"{', '.join(faults)}; expected {_article(kind)} with {keys}"
        pairs = parts
    if static and _parts_of(value)[2] != static[0]:
        return f"{name}: its static data is {shown(_parts_of(value)[2])}, expected {shown(static[0])}"
    return next(filter(None, [difference(given[k], part, place(name, form, k), anything) for k, part in pairs]), "")


def _article(kind: type) -> str:
    word = kind.__name__
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def _kind_of(value: Any) -> str:
    return "None" if value is None else f"{_article(type(value))}, {shown(value)}"


# --- for users


class Structure:
    """The structure of a tree, without its leaves; equal structures are equal and have one hash."""

    __slots__ = ("form",)

    def __init__(self, form: Form) -> None:
        self.form: Form = form

    @property
    def paths(self) -> list[str]:
        """The paths of the leaves, in order, such as `["encoder"]["w"]`."""
        return places(self.form, "")

    def __len__(self) -> int:
        return len(self.paths)

    def __eq__(self, other: object) -> bool:
        return type(other) is Structure and self.form == other.form

    def __hash__(self) -> int:
        return hash(self.form)

    def __repr__(self) -> str:
        return f"Structure({_text(self.form)})"


def _text(form: Form) -> str:
    """Return a form as one would write the tree, with * for each leaf."""
    if form is None or form is NONE:
        return "*" if form is None else "None"
    kind, parts, *_ = form
    if is_named(form):
        inner = ", ".join(f"{k!r}: {_text(p)}" if kind is dict else f"{k}={_text(p)}" for k, p in parts)
        return f"{{{inner}}}" if kind is dict else f"{kind.__name__}({inner})"
    inner = ", ".join([_text(p) for p in parts])
    if kind is list:
        return f"[{inner}]"
    return f"({inner}{',' * (len(parts) == 1)})" if kind is tuple else f"{kind.__name__}({inner})"


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Return the leaves of a tree, in order, and its structure.

    Lists, tuples, named tuples, dicts, dataclasses and registered classes are inner parts; keys of a dict keep their
    order.  None has no leaf.  Anything else is a leaf.
    """
    found: list[Any] = []
    form = flat(tree, found)
    return found, Structure(form)


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree, in order."""
    return flatten(tree)[0]


def structure(tree: Any) -> Structure:
    """Return the structure of a tree."""
    return flatten(tree)[1]


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """Return the tree with this structure and these leaves.

    A dataclass is made without calling its `__init__` and `__post_init__`, since leaves may be variables.

    Raises TypeError for what is no `Structure`, ValueError for another number of leaves.
    """
    if not isinstance(structure, Structure):
        raise TypeError(f"unflatten: structure is {shown(structure)}; expected one of ag.tree.structure(tree)")
    given = list(leaves)
    if len(given) != len(structure):
        raise ValueError(f"unflatten: expected {counted(len(structure), 'leaf')}, got {len(given)}")
    return unflat(structure.form, iter(given))


def map(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Return the tree of `function(leaf, *leaves)` for each leaf, and those of further trees at its place.

    Raises TypeError, with the path of the part, if a further tree has another structure.
    """
    if not callable(function):
        raise TypeError(f"tree.map: expected a function, then trees, got {shown(function)}")
    found: list[Any] = []
    form = flat(tree, found)
    others = [in_form(other, form, f"tree.map: tree {n}") for n, other in enumerate(rest, 1)]
    return unflat(form, iter([function(*several) for several in zip(found, *others, strict=True)]))


def paths(tree: Any, name: str = "") -> list[str]:
    """Return the path of each leaf, in order, such as `params["encoder"]["w"]`; `name`: what paths begin with."""
    return places(flat(tree, []), name)


def map_with_path(function: Callable[..., Any], tree: Any, *rest: Any, name: str = "") -> Any:
    """Return the tree of `function(path, leaf, *leaves)` for each leaf, as `map` does.

        params = ag.tree.map_with_path(lambda path, a: ag.shared(a, name=path), values, name="params")

    Args:
        name: what paths begin with; `params` gives `params["encoder"]["w"]`.
    """
    found: list[Any] = []
    form = flat(tree, found)
    others = [in_form(other, form, f"tree.map_with_path: tree {n}") for n, other in enumerate(rest, 1)]
    several = zip(places(form, name), found, *others, strict=True)
    return unflat(form, iter([function(*part) for part in several]))


def register(
    kind: type, flatten: Callable[[Any], tuple[Any, Any]], unflatten: Callable[[Any, Any], Any]
) -> type:  # fmt: skip
    """Make instances of a class trees; return the class.

        ag.tree.register(Layer, lambda v: ({"w": v.w, "b": v.b}, v.width), lambda width, d: Layer(width, **d))

    Args:
        kind: the class; its subclasses are registered by themselves.
        flatten: returns `(parts, static)` of an instance.  `parts` is a dict of trees by name, or a list of trees;
            `static` can be hashed and compared, such as None or a tuple of settings.
        unflatten: returns an instance from `static` and parts in the form in which `flatten` gives them.  Leaves may
            be variables.

    Raises TypeError for what is no class, ValueError for one that is registered or a container already.
    """
    if not isinstance(kind, type):
        raise TypeError(f"tree.register: kind is {shown(kind)}; expected a class")
    if kind in _registered or issubclass(kind, (list, tuple, Mapping)):
        what = "registered" if kind in _registered else "a container"
        raise ValueError(f"tree.register: {kind.__name__} is {what} already; expected a class of yours")
    for word, given in (("flatten", flatten), ("unflatten", unflatten)):
        if not callable(given):
            raise TypeError(f"tree.register: {word} is {shown(given)}; expected a function")
    _registered[kind] = Registered(kind, flatten, unflatten)
    return kind
