"""Checks of the Python functions that build loop bodies: their parameters, and the form of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import ops as T
from ..graph import Older, Variable, toposort
from ..graph.provenance import SourceLine, marking
from ..ops.core.checks import describe, shown
from ..ops.core.shared import SharedVariable
from ..ops.core.tensor import as_tensor
from ..tree import Form, difference

_TAKES_ANY = 0x04
"""Flag in the code of a function with *arguments."""


class _Parameters(NamedTuple):
    """The positional parameters of a Python function: how many it needs, their names, the line of its definition."""

    required: int
    names: tuple[str, ...]
    line: SourceLine

    def take(self, count: int) -> bool:
        return self.required <= count <= len(self.names)


def _parameters(f: Callable[..., Any]) -> _Parameters | None:
    """Return the parameters; None for callables without code, and for those with any number of arguments."""
    bound = hasattr(f, "__self__")
    plain = getattr(f, "__func__", f)
    code = getattr(plain, "__code__", None)
    if code is None or code.co_flags & _TAKES_ANY:
        return None
    names = code.co_varnames[bound : code.co_argcount]
    return _Parameters(
        len(names) - len(plain.__defaults__ or ()), names, SourceLine(code.co_filename, code.co_firstlineno)
    )


def require_one_argument(f: Callable[..., Any], role: str) -> None:
    """Raise TypeError for the function of a while_loop that does not take one argument."""
    found = _parameters(f)
    if found is not None and not found.take(1):
        names = ", ".join(found.names)
        raise TypeError(f"while_loop: {role} takes one argument, the state in the form of initial; this one ({names})")


def require_arguments(f: Callable[..., Any], given: Sequence[str]) -> None:
    """Raise TypeError for the function of a scan that does not take the arguments `given`."""
    found = _parameters(f)
    if found is None or found.take(len(given)):
        return
    count = len(found.names) if len(given) > len(found.names) else found.required
    names = f" ({', '.join(found.names)})" if found.names else ""
    raise TypeError(
        f"scan: fn takes {count} argument{'s' * (count != 1)}{names}, and is given {len(given)}: {', '.join(given)}\n"
        f"  defined at {found.line}\n"
        "give it a parameter for each: parts of the sequences, earlier outputs (outputs_info), non-sequences"
    )


class until:  # noqa: N801  # a word of the language, as in Theano
    """The last result of the function of a scan: ends the loop after the step in which `condition` holds."""

    def __init__(self, condition: Any) -> None:
        self.condition: Any = as_condition(as_tensor(condition), "until")

    def __repr__(self) -> str:
        return f"until({self.condition!r})"


def as_condition(value: Any, what: str) -> Any:
    """Return the value as a bool scalar.  Raises TypeError for a value of another rank."""
    found = as_tensor(value)
    if found.ndim:
        raise TypeError(f"{what}: expected a scalar, got {describe(found)}; reduce it, as in T.all(x)")
    return found if found.dtype == "bool" else T.ne(found, 0)


def returned(found: Any, forms: Sequence[Form] = ()) -> tuple[list[Any], dict[SharedVariable, Any], list[Any]]:
    """Return the outputs, the updates, and the end condition (in a list, perhaps empty) among the results of a step.

    Theano's forms: an output or a list of them, updates (a dict or a list of pairs), and both in either order, then
    perhaps `until`.  An output may be a tree; `forms`: those of the outputs, None for one that is no tree.
    """
    if _is_one(found, forms) and not _are_updates(found):
        return [found], {}, []
    several = isinstance(found, (list, tuple)) and not _are_updates(found)
    mixed = several and any(isinstance(p, until) or _are_updates(p) for p in found)
    parts = list(found) if several and (mixed or isinstance(found, tuple)) else [found]
    stop = [parts.pop().condition] if parts and isinstance(parts[-1], until) else []
    at = next((k for k in (-1, 0) if parts and _are_updates(parts[k])), None)
    new = {} if at is None else _as_updates(parts.pop(at))
    if len(parts) == 2 and isinstance(parts[1], (list, tuple)) and not parts[1]:
        parts.pop()  # no updates
    if len(parts) == 1 and isinstance(parts[0], (list, tuple)) and not _is_one(parts[0], forms):
        parts = list(parts[0])
    for part in parts:
        if part is None or isinstance(part, until) or (isinstance(part, Mapping) and _are_updates(part)):
            raise TypeError(f"scan: fn returns outputs, then updates, then until(condition); got {shown(found)}")
    return parts, new, stop


def _is_one(part: Any, forms: Sequence[Form]) -> bool:
    """Whether a list or tuple is one output, a tree, and no list of outputs."""
    if not isinstance(part, (list, tuple)):
        return False
    if len(forms) == 1 and forms[0] is not None:
        return not difference(part, forms[0], "")
    return hasattr(part, "_fields") and len(forms) != len(part)


def _are_updates(part: Any) -> bool:
    """Whether `part` is a dict by variables, or a list of pairs that begin with one; an output is neither."""
    if isinstance(part, Mapping):
        return all(isinstance(v, Variable) for v in part)
    return isinstance(part, (list, tuple)) and bool(part) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], Variable) for pair in part
    )  # fmt: skip


def _as_updates(given: Any) -> dict[SharedVariable, Any]:
    """Raise TypeError for updates of other variables, ValueError for two of one."""
    found: dict[SharedVariable, Any] = {}
    for v, new in given.items() if isinstance(given, Mapping) else given:
        if not isinstance(v, SharedVariable):
            raise TypeError(f"scan: updates must be of shared variables, got one of {shown(v)}")
        if v in found:
            raise ValueError(f"scan: fn gives two updates of {describe(v)}; expected one")
        found[v] = as_tensor(new)
    return found


def moved_inside(outputs: Sequence[Variable], marks: marking) -> list[SharedVariable]:
    """Return the states of random draws that were made while `marks` was set."""
    nodes = toposort(outputs, stop_at=Older(marks.first))
    read = dict.fromkeys(i for node in nodes if marks.made(node.origin) for i in node.inputs)
    return [v for v in read if isinstance(v, SharedVariable) and v.default_update is not None]
