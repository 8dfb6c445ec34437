"""The meaning of a graph: each node evaluated by NumPy, in order.

This is the reference that every rewrite and every kernel is tested against, the constant folder, and the backend that
runs where there is no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...graph import DTYPES, Apply, Constant, FunctionGraph, Variable, leaves, toposort
from ...graph.pointing import Pointed, called, conflicting, pointing
from .checks import describe, is_masked, large_integers_as, shown

Observer = Callable[[Apply, Sequence[np.ndarray], Sequence[np.ndarray]], None]
"""A function of a node, the values of its operands and its results."""
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Call this function after each node that is evaluated in the block, such as those of the bodies of loops."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


watched: ContextVar[bool] = ContextVar("watched", default=True)
"""Whether watchers see the values that are computed: those of `debug_print` and `tap`."""


@contextmanager
def unwatched() -> Iterator[None]:
    """Keep watchers from seeing values in the block: those of an evaluation that only checks another."""
    token = watched.set(False)
    try:
        yield
    finally:
        watched.reset(token)


_PLAIN_ERRORS = (ArithmeticError, IndexError, MemoryError, TypeError, ValueError)


def interpret(graph: FunctionGraph, values: Sequence[np.ndarray], name: str = "") -> list[np.ndarray]:
    """Return the outputs of `graph` for arrays of the types of its inputs, which are neither changed nor checked.

    An output may be an input array itself, or a view of one.  `name`: the function that messages begin with.
    """
    return run(graph.order, graph.outputs, dict(zip(graph.inputs, values, strict=True)), name)


def evaluate(outputs: Sequence[Variable], given: Mapping[Variable, Any]) -> list[np.ndarray]:
    """The values of `outputs` for `given` values of variables they depend on; shared variables have their own.

    Raises ValueError for a variable without value, TypeError or ValueError for a value that does not fit its variable.
    """
    _require_values(given)
    known = {variable: fitted(value, variable) for variable, value in given.items()}
    nodes = toposort(outputs, stop_at=known)
    for leaf in leaves_of(nodes, outputs):
        if leaf in known or isinstance(leaf, Constant):
            continue
        container = getattr(leaf, "container", None)
        if container is None:
            raise ValueError(f"no value is given for {describe(leaf)}, on which the result depends")
        known[leaf] = container.value
    return [value.copy() for value in run(nodes, outputs, known)]


def _require_values(given: Any) -> None:
    """Raise TypeError unless the argument is a mapping from variables."""
    if not isinstance(given, Mapping):
        raise TypeError(f"eval: values is {shown(given)}; expected the values by variable, as in {{x: value}}")
    for key in given:
        if not isinstance(key, Variable):
            raise TypeError(f"values are given by variable, as in {{x: value}}; got the key {shown(key)}")


def default_updates(
    results: Sequence[Variable], given: Mapping[Any, Any], as_update: Callable[[Any, Any], Variable]
) -> dict[Any, Variable]:
    """Return the default updates of shared variables, those read by updates as well; none for those `given`.

    `as_update`: the variable for what a shared variable has as its `default_update`.
    """
    found: dict[Any, Variable] = {}
    reached = list(results)
    while reached:
        moving = {v: getattr(v, "default_update", None) for v in leaves(reached) if v not in given and v not in found}
        new = {v: as_update(v, update) for v, update in moving.items() if update is not None}
        found.update(new)
        reached = list(new.values())
    return found


def evaluate_and_update(result: Variable, given: Mapping[Variable, Any]) -> np.ndarray:
    """Return the value of `result`, and apply the default updates of shared variables that it reads.

    Raises what `evaluate` raises, and TypeError or ValueError for a new value that does not fit its shared variable;
    then none of them changes.
    """
    _require_values(given)
    updates = default_updates([result], given, _as_update)
    value, *moved_on = evaluate([result, *updates.values()], given)
    fitting = [fitted(new, variable) for variable, new in zip(updates, moved_on, strict=True)]
    for variable, new in zip(updates, fitting, strict=True):
        variable.set_value(new, borrow=True)
    return value


def _as_update(variable: Variable, update: Any) -> Variable:
    return update if isinstance(update, Variable) else Constant(fitted(update, variable))


def leaves_of(nodes: Sequence[Apply], outputs: Sequence[Variable]) -> list[Variable]:
    """The variables without owner that `nodes` read or that are among `outputs`."""
    read = [i for node in nodes for i in node.inputs if i.owner is None]
    return list(dict.fromkeys(read + [o for o in outputs if o.owner is None]))


def run(
    nodes: Sequence[Apply], outputs: Sequence[Variable], known: dict[Variable, np.ndarray], name: str = ""
) -> list[np.ndarray]:
    """Return the values of `outputs` after evaluating `nodes` in order; `known` holds the other values and is consumed.

    A value is dropped after its last use, so that no more is held at once than has to be.
    """
    last_use: dict[Variable, Apply | None] = {}
    for node in nodes:
        last_use.update(dict.fromkeys(node.outputs, node))
        last_use.update(dict.fromkeys(node.inputs, node))
    last_use.update(dict.fromkeys(outputs))
    observe = _observer.get()

    for node in nodes:
        inputs = [i.data if isinstance(i, Constant) else known[i] for i in node.inputs]
        results = evaluate_node(node, inputs, name)
        if observe is not None:
            observe(node, inputs, results)
        known.update(zip(node.outputs, results, strict=True))
        for variable in (*node.inputs, *node.outputs):
            if last_use[variable] is node:
                known.pop(variable, None)
    return [o.data if isinstance(o, Constant) else known[o] for o in outputs]


def evaluate_node(node: Apply, inputs: Sequence[np.ndarray], name: str = "") -> Sequence[np.ndarray]:
    """Return the outputs of one node.  An error names the op, its operands and the user's line."""
    try:
        return node.op.evaluate(*inputs)
    except _PLAIN_ERRORS as error:
        words, shapes = tuple(map(called, node.inputs)), tuple(v.shape for v in inputs)
        of = ", ".join(f"{word} {shape}" for word, shape in zip(words, shapes, strict=True) if shape)
        notice = f"{name}: " * bool(name) + f"{error}".rstrip() + f": {of}" * bool(of)
        where = Pointed(node.op.name, words, shapes, _guilty(error, inputs), next(iter(node.origin), None))
        raise pointing(_same_kind(error, f"{notice}{where}"), where) from error


def _guilty(error: Exception, inputs: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Return the operands to point at: an array and its index, those that do not broadcast, or the only array."""
    if isinstance(error, IndexError):
        return tuple(k for k, v in enumerate(inputs) if k == 0 or v.dtype.kind in "iu")
    if not isinstance(error, ValueError) or isinstance(error, np.linalg.LinAlgError):
        return ()
    arrays = tuple(k for k, v in enumerate(inputs) if v.ndim)
    return conflicting([v.shape for v in inputs]) or (arrays if len(arrays) == 1 else ())


def _same_kind(error: Exception, message: str) -> Exception:
    """Return an error with another message that the same `except` clauses catch."""
    try:
        return type(error)(message)
    except TypeError:  # a class with a constructor of its own
        return next(kind for kind in _PLAIN_ERRORS if isinstance(error, kind))(message)


def fitted(value: Any, variable: Variable) -> np.ndarray:
    """The value as an array of the variable's type.

    Raises TypeError for another rank or for a dtype that cannot be converted without loss, ValueError for another
    length.
    """
    kind = variable.type
    given = _as_array(value, variable)
    plain = not isinstance(value, (np.ndarray, np.generic))  # Python numbers and lists take the dtype of the variable
    integers = plain and given.dtype.kind in "iu" and kind.kind in "iu"  # which must fit, see below
    if given.dtype != kind.numpy and not (
        integers or np.can_cast(given.dtype, kind.numpy, "same_kind" if plain else "safe")
    ):
        raise TypeError(f"{describe(variable)} was given {given.dtype}; use value.astype({kind.dtype!r})")
    if given.ndim != kind.ndim:
        raise TypeError(f"{describe(variable)} was given an array of shape {given.shape}; expected rank {kind.ndim}")
    if any(n is not None and n != m for n, m in zip(kind.shape, given.shape, strict=True)):
        raise ValueError(f"{describe(variable)} was given an array of shape {given.shape}; expected {kind.shape}")
    with np.errstate(over="ignore"):
        result = given.astype(kind.numpy, copy=False)
    if integers and not np.array_equal(result, given):
        raise TypeError(f"{describe(variable)} was given {shown(value)}, which is out of its range")
    return result


def _as_array(value: Any, variable: Variable) -> np.ndarray:
    """Return the value as an array that a tensor can hold.  Raises TypeError if there is none."""
    if isinstance(value, Variable):
        raise TypeError(f"{describe(variable)} was given the symbolic {value!r}; give its value")
    if is_masked(value):
        raise TypeError(f"{describe(variable)} was given a masked array; use value.filled(...)")
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):
        raise TypeError(f"{describe(variable)} was given {shown(value)}, which is no rectangular array") from None
    found = large_integers_as(variable.type.numpy, found)
    if found.dtype.name not in DTYPES:
        raise TypeError(f"{describe(variable)} was given {shown(value)}; no tensor has dtype {found.dtype.name}")
    return found
