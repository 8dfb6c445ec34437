"""The work of `ag.vectorize`, `ag.vmap`, `ag.jacobian` and `ag.hessian` after their arguments are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np

from .. import ops as T
from ..control.bodies import moved_inside
from ..graph import TensorType, Variable, leaves
from ..graph.provenance import marking
from ..ops.control.batching import carried
from ..ops.core.backward import pull_back
from ..ops.core.checks import describe, shown
from ..ops.core.tensor import as_tensor
from ..ops.core.tracing import comparing
from ..ops.random.draws import DrawState, state_after, states_of_examples
from ..ops.shapes.lengths import lengths_of
from ..ops.shapes.specify import anchored, as_promised
from ..record.spelling import counted
from ..tree import Form, is_tree, parts_of, place, places, symbolic_flat, unflat
from .custom import tensor_of
from .stable import stable_forms


def vectorized(outputs: Sequence[Variable], replace: Mapping[Variable, Any]) -> list[Variable]:
    """Return the outputs with a new first axis, along which each key of `replace` is a part of its value."""
    given = {v: as_tensor(value) for v, value in replace.items()}
    if not given:
        raise ValueError("vectorize: replace is empty; expected {variable: one with a new first axis}")
    for v, value in given.items():
        _require_many(v, value, "vectorize")
    _require_one_length(list(given.values()), "vectorize")
    promises = [_promise(v, value) for v, value in given.items()]
    found = carried(outputs, {v: as_promised(*promise) for v, promise in zip(given, promises, strict=True)})
    return [anchored(output, promises) for output in found]


def _promise(variable: Variable, value: Variable) -> tuple[Variable, TensorType, str]:
    """`value`, the type that many of `variable` are promised to have, and the name of the promise."""
    many = value.type.with_shape((value.type.shape[0], *variable.type.shape))
    return value, many, f"vectorize: replace[{variable.name or variable.type}]"


def mapped(
    function: Callable[..., Any], in_axes: Any, out_axes: Any, notes: list[Any] | None = None
) -> Callable[..., Any]:
    """`function`, of variables, over one axis of each argument; see `ag.vmap`.

    `notes`: a list that `function` fills with further variables of one example, which become those of all examples.
    """

    notes = [] if notes is None else notes

    @wraps(function)
    def over_examples(*arguments: Any, **keywords: Any) -> Any:
        if not arguments and not keywords:
            raise TypeError("vmap: the function is called without arguments; expected one at least, with an axis")
        axes = list(in_axes) if isinstance(in_axes, (list, tuple)) else [in_axes] * len(arguments)
        if len(axes) != len(arguments):
            raise ValueError(
                f"vmap: in_axes gives {counted(len(axes), 'axis')} for {counted(len(arguments), 'argument')}"
            )
        axes += [0] * len(keywords)
        names = [*(f"argument {k}" for k in range(len(arguments))), *keywords]
        one: list[Any] = []
        many: dict[Variable, Variable] = {}
        every = zip(names, (*arguments, *keywords.values()), axes, strict=True)
        for k, (name, argument, axis) in enumerate(every):
            found: list[Any] = []
            form = symbolic_flat(argument, found)
            named = zip(places(form, name), found, _axes_of(axis, form, f"in_axes[{k}]"), strict=True)
            one.append(unflat(form, iter([_one_of(path, leaf, a, many) for path, leaf, a in named])))
        if not many:
            raise ValueError("vmap: in_axes is None for every argument; expected an axis for one at least")
        _require_one_length(list(many.values()), "vmap")
        with comparing() as trace, marking() as marks:
            trace.inside([(v, front, 1) for v, front in many.items()])
            made = function(*one[: len(arguments)], **dict(zip(keywords, one[len(arguments) :], strict=True)))
        given: list[Any] = []
        form = symbolic_flat(made, given)
        if made is None or not given:
            given, form = [made], None
        paths = places(form, "result") if form is not None else ["result 0"]
        places_of = _axes_of(out_axes, form, "out_axes")
        wanted = [tensor_of(o, f"vmap: {path}") for path, o in zip(paths, given, strict=True)]
        every_result = _with_own_draws([*wanted, *notes], many, marks)
        notes[:] = every_result[len(wanted) :]
        results = zip(every_result[: len(wanted)], places_of, strict=True)
        return unflat(form, iter([_moved_to(o, axis) for o, axis in results]))

    over_examples.stands_for = function  # type: ignore[attr-defined]
    return over_examples


def _one_of(path: str, leaf: Any, axis: int | None, many: dict[Variable, Variable]) -> Any:
    """Return the variable of one example of a leaf; `many` maps it to the leaf, its axis in front."""
    variable = tensor_of(leaf, f"vmap: {path}")
    if axis is None:
        return variable
    front = _in_front(variable, axis, f"vmap: {path}")
    one = T.tensor(dtype=front.dtype, shape=front.type.shape[1:])
    many[one] = front
    return one


def _axes_of(axes: Any, form: Form, what: str) -> list[Any]:
    """Return the axis of each leaf of a form; `axes` is one for all, or a tree that begins as the form does.

    Raises TypeError for an axis that is no integer, ValueError, with the path, for a tree that differs.
    """
    if axes is None or (isinstance(axes, (int, np.integer)) and not isinstance(axes, bool)):
        return [axes] * len(places(form, ""))
    if not is_tree(axes):
        raise TypeError(f"vmap: {what} is {shown(axes)}; expected an axis, None, or a list of them")
    parts = parts_of(axes, form)
    if parts is None:
        raise ValueError(f"vmap: {what} is {shown(axes)}, which has not the structure of its values")
    return [axis for key, given, part in parts for axis in _axes_of(given, part, place(what, form, key))]


def _with_own_draws(
    outputs: Sequence[Variable], many: Mapping[Variable, Variable], marks: marking
) -> list[Variable]:
    """Return the outputs for all examples; draws made while `marks` was set are divided among them.

    A default update that depends on the examples, as of a draw in a loop along them, becomes that of all together.
    """
    states = [v for v in moved_inside(outputs, marks) if isinstance(v, DrawState)]
    count = lengths_of(next(iter(many.values())))[0]
    given: dict[Variable, Variable] = {v: states_of_examples(v, count) for v in states if not v.is_shared}
    moved = [v for v in states if not many.keys().isdisjoint(leaves([v.default_update]))]
    found = carried([*outputs, *(v.default_update for v in moved)], {**many, **given})
    for v, rows in zip(moved, found[len(outputs) :], strict=True):
        v.default_update = state_after(v, rows)
    return found[: len(outputs)]


def jacobian_of(output: Variable, variables: Sequence[Variable]) -> list[Variable | None]:
    """For each variable the derivatives of all elements of `output`, of shape output.shape + variable.shape.

    None for a variable that `output` is not computed from.
    """
    (output,) = stable_forms([output], variables)
    if not output.ndim:
        return pull_back([output], [T.constant(1, output.dtype)], variables)
    seed = T.tensor(dtype=output.dtype, shape=output.type.shape)
    found = pull_back([output], [seed], variables)
    units = _unit_tensors(output)
    rows = iter(carried([g for g in found if g is not None], {seed: units}))
    return [None if g is None else _unfolded(next(rows), output) for g in found]


def _unit_tensors(like: Variable) -> Any:
    """Return unit tensors of the shape of `like`, one per element of it, along a new first axis."""
    if like.ndim == 1:
        return T.eye(lengths_of(like)[0], dtype=like.dtype)
    lengths = lengths_of(like)
    count = T.prod(T.stack(lengths))
    return T.reshape(T.eye(count, dtype=like.dtype), (count, *lengths))


def _unfolded(rows: Any, output: Variable) -> Any:
    """Return the first axis, one part per element of `output`, as the axes of `output`."""
    return rows if output.ndim == 1 else T.reshape(rows, (*lengths_of(output), *lengths_of(rows)[1:]))


def _in_front(variable: Variable, axis: int, what: str) -> Any:
    """The variable with `axis` as its first one."""
    if not -variable.ndim <= axis < variable.ndim:
        raise ValueError(f"{what}: {describe(variable)} has no axis {axis}")
    return variable if axis % variable.ndim == 0 else T.moveaxis(variable, axis, 0)


def _moved_to(result: Variable, axis: int) -> Any:
    if not -result.ndim <= axis < result.ndim:
        raise ValueError(f"vmap: out_axes is {axis}, and a result has {counted(result.ndim, 'axis')}")
    return result if axis % result.ndim == 0 else T.moveaxis(result, 0, axis)


def _require_many(variable: Variable, value: Variable, what: str) -> None:
    shape = value.type.shape[1:]
    fits = value.dtype == variable.dtype and value.ndim == variable.ndim + 1
    if not fits or any(None not in (n, m) and n != m for n, m in zip(shape, variable.type.shape, strict=True)):
        raise TypeError(
            f"{what}: {describe(value)} does not fit {describe(variable)}: "
            f"expected {variable.dtype} of {counted(variable.ndim + 1, 'axis')}"
        )


def _require_one_length(values: Sequence[Variable], what: str) -> None:
    known = [(v.type.shape[0], v) for v in values if v.type.shape[0] is not None]
    for length, value in known:
        if length != known[0][0]:
            raise ValueError(f"{what}: {describe(known[0][1])} and {describe(value)} differ in the number of examples")
