"""Native entries of jitted functions: which traces have one, and what a call must be like for it.

A trace has one if it reads nothing but arrays, numbers and variables of its module, and assigns nothing but elements of
arguments and of arrays of its module.  Those arrays are read at each call and passed behind the arguments.
cbackend/calls/native_jit.c checks each call; a call that it does not serve is made in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ..cbackend.calls.guards import guard_program
from ..cbackend.calls.native_jit import TYPES, Calls
from ..function.compiled import Function
from ..ops.core.tracing import GUARD_NAMES
from ..tree import Form, unflat
from .arguments import Same, Static
from .scopes import Scope
from .traces import Traced
from .views import Reading

_FIXED = (bool, int, float, str, bytes, type(None), FunctionType)
"""Types of static values that stay equal while they are the same object."""
_LEAF = re.compile(r"\ba\[(\d+)\](\.item\(\))?")


def native(
    made: Traced, before: Sequence[Traced], structure: Form, args: Sequence[Any], other: Callable[..., Any]
) -> Callable[..., Any] | None:
    """Return the native entry for calls like one with these arguments, which a trace served; None if it can have none.

    `before`: the traces of the same structure that are asked first.  `other`: the entry in Python.
    """
    function = made.function
    (_, forms), (_, keywords) = structure[1]
    handled = any(not c.reason for c in made.catches)
    reads_more = made.writes or handled or made.keeps or made.donors is not None or made.written is not None
    if keywords or reads_more or type(function) is not Function or function.profile or not function.ready:
        return None
    enter = getattr(function.executable, "native_jit", None)
    arrays = [reading for reading in made.readings if _is_array(reading)]
    kinds = [*(_kind(form) for form in forms), *[np.ndarray] * len(arrays)]
    variables = [_variable(reading) for reading in made.readings if not _is_array(reading)]
    if enter is None or None in kinds or None in variables or len(made.same) != len(set(made.same)):
        return None
    leaves = [n for n, kind in enumerate(kinds) if kind is not Static]
    if any(not other.guards for other in before) or any(kinds[leaves[k]] is not np.ndarray for k in made.stores):
        return None
    guards = [(text, guard_program(text, function.inputs)) for text in _conditions(made, before)]
    others = [text for text, program in guards if program is None]
    guard = _guard(others, [kinds[n] for n in leaves], leaves, len(kinds))
    read = [(reading.source.function.__globals__, reading.name) for reading in arrays]  # type: ignore[union-attr]
    found: Callable[..., Any] | None = enter(_without_last(other, len(read)) if read else other, Calls(
        tuple(None if kind is Static else kind for kind in kinds),
        tuple(a if kind is Static else None for a, kind in zip([*args, *arrays], kinds, strict=True)),
        tuple(v for v in variables if v is not None), tuple(p for _, p in guards if p is not None), guard,
        made.stores, made.classes, _finish(made.form),
    ))  # fmt: skip
    return found if found is None or not read else _with_globals(found, other, read)


def _is_array(reading: Reading) -> bool:
    """Whether a trace has read an array among the globals, which it takes as one more argument."""
    scope = reading.source
    return (
        reading.structure is np.ndarray
        and isinstance(scope, Scope)
        and reading.name not in scope.function.__code__.co_freevars
        and type(scope.function.__globals__.get(reading.name)) is np.ndarray
    )


def _with_globals(
    entry: Callable[..., Any], other: Callable[..., Any], read: Sequence[tuple[dict[str, Any], str]]
) -> Callable[..., Any]:
    """Return the native entry that takes the current values of globals behind its arguments."""
    if len(read) == 1:
        [(space, name)] = read

        def with_global(*args: Any, **keywords: Any) -> Any:
            return other(*args, **keywords) if keywords else entry(*args, space.get(name))

        return with_global

    def with_globals(*args: Any, **keywords: Any) -> Any:
        return other(*args, **keywords) if keywords else entry(*args, *(space.get(name) for space, name in read))

    return with_globals


def _without_last(other: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return the entry in Python for calls that a native one with the values of globals does not serve."""
    return lambda *args: other(*args[:-count])


def _kind(form: Form) -> Any:
    """Return the type of an argument, `Static` for a static one, None for one that has parts or may change."""
    if form is np.ndarray or form in TYPES:
        return form
    return Static if type(form) is Static and isinstance(form.value, _FIXED) else None


def _variable(reading: Reading) -> tuple[dict[str, Any], str, Any] | None:
    """Return the globals, the name and the value of a variable that a trace has read; None for anything else."""
    scope, held = reading.source, reading.structure
    if not isinstance(scope, Scope) or reading.name in scope.function.__code__.co_freevars:
        return None
    space = scope.function.__globals__
    same = type(held) is Same or (type(held) is Static and isinstance(held.value, _FIXED))
    value = space.get(reading.name)
    return (space, reading.name, value) if same and reading.name in space and value is held.value else None


def _conditions(made: Traced, before: Sequence[Traced]) -> list[str]:
    """Return the expressions of a call that hold if a trace serves it, and no earlier one does."""
    texts = [f"({guard})" for guard in made.guards]
    texts += [f"not ({' and '.join(f'({guard})' for guard in other.guards)})" for other in before]
    return [text for text in texts if _LEAF.search(text) or not eval(text, {**GUARD_NAMES})]


def _guard(
    texts: Sequence[str], kinds: Sequence[Any], leaves: Sequence[int], count: int
) -> Callable[..., Any] | None:
    """Return the function of the arguments that says whether all expressions hold; None if there are none."""
    if not texts:
        return None

    def argument(found: re.Match[str]) -> str:
        k = int(found[1])
        return f"x{leaves[k]}{'' if kinds[k] in (int, float) else found[2] or ''}"

    names = ", ".join(f"x{n}" for n in range(count))
    source = f"lambda {names}: {' and '.join(_LEAF.sub(argument, text) for text in texts)}"
    guard: Callable[..., Any] = eval(source, {**GUARD_NAMES})
    return guard


def _finish(form: Form) -> Callable[..., Any] | None:
    """Return the function that makes a result of its leaves; None for one leaf, and for None."""
    if form is None or (type(form) is Static and form.value is None):
        return None
    if type(form) is tuple and form[0] is tuple and all(part is None for part in form[1]):
        return _tupled
    return lambda *leaves: unflat(form, iter(leaves))


def _tupled(*leaves: Any) -> tuple[Any, ...]:
    return leaves
