"""Arrays of a trace as NumPy has them: mutable, with views that share the elements of their base.

A variable that the traced function holds is a handle: it names an array, not a value.  A trace maps the base of each
array that was written to its elements now (`Trace.stored`); a view is a handle whose nodes lead to its base.

    x[1:] += 1    -->    stored[x] = set_subtensor(now(x)[1:], now(x[1:]) + 1)
    y = x.T       -->    y stays dimshuffle(x); now(y) = dimshuffle(stored[x])

Scalars are values, as NumPy's are: `t = x[i]` keeps its number whatever x becomes.  An array without axes is a handle.
Source: Functionalization in PyTorch, a pass with the same purpose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, Variable
from ...graph.provenance import line
from ..core.namespace import T, classes
from ..core.tracing import Known, Trace, current

_READ_ONLY = "BroadcastTo", "Diagonal", "Strided"
"""Classes of views that NumPy does not write through."""
_ORDERED = frozenset(("Cast", "Cumulative", "Elementwise", "Reduce", "Sort"))
"""Classes of ops whose results have the order of their operands in NumPy."""


def source_of(x: Variable) -> Variable | None:
    """Return the array that `x` is a view of; None if it has its own elements."""
    if x.owner is None or not x.type.shape:
        return None
    place = x.owner.op.views().get(x.index)
    return None if place is None else x.owner.inputs[place]


def base_of(x: Variable) -> Variable:
    """Return the array whose elements `x` shares, or x itself."""
    source = source_of(x)
    while source is not None:
        x, source = source, source_of(source)
    return x


def now(trace: Trace, x: Any) -> Any:
    """Return the elements that `x` has now, as a variable; anything else than an array that was written as it is."""
    if not (trace.stored or trace.held) or not isinstance(x, Variable):
        return x
    if not x.type.shape:
        return trace.stored.get(x, x) if trace.classes.get(x) is np.ndarray else x
    if trace.held and base_of(x) in trace.held:
        raise TypeError(f"{x!r} is used: {trace.held[base_of(x)]}; use the variable that the loop assigns, or a copy"
                        f"{line()}")  # fmt: skip
    chain: list[Apply] = []
    base = x
    while base not in trace.stored:
        source = source_of(base)
        if source is None:
            return x
        chain.append(base.owner)  # type: ignore[arg-type]
        base = source
    value = trace.stored[base]
    if not chain:
        return value
    kept = trace.replayed.get(x)
    if kept is not None and kept[0] is value:
        return kept[1]
    found = value
    for node in reversed(chain):
        found = _over(node, found)
    trace.replayed[x] = value, found
    return found


def _over(node: Apply, source: Variable) -> Variable:
    """Return the view that a node makes, of another array."""
    place = node.op.views()[0]
    inputs = list(node.inputs)
    inputs[place] = source
    return Apply(node.op, inputs).outputs[0]


def results_now(trace: Trace, op: Any, call: Any, inputs: Sequence[Any]) -> Any:
    """Return the results of an op on operands as they are now; the array that a view is of stays a handle."""
    if isinstance(op, (classes.ShapeI, classes.Shape)):  # lengths stay
        return call(*inputs)
    kept = op.views().get(0)
    if kept is not None:
        found = call(*[i if k == kept else now(trace, i) for k, i in enumerate(inputs)])
        if type(found) is tuple or found.type.shape:
            return found
    return call(*[now(trace, i) for i in inputs])


def flat_view(x: Any) -> Any:
    """Return the elements of `x` in C order, a view whatever the strides of x are."""
    return Apply(classes.Reshape(), (x, T.size(x))).outputs[0] if x.ndim != 1 else x


# --- copies that NumPy's reshape makes


def with_copy_of_numpy(trace: Trace, made: Any) -> Any:
    """Return the result of a reshape, with elements of its own where NumPy copies: of a transposed array, for one.

    Where only strides that are not known decide, neither the array nor the result can be written any more.
    """
    source = made.owner.inputs[0]
    if is_in_c_order(source):
        return made
    array = shadow(trace, source)
    shape = _numbers(trace, made)
    if array is None or shape is None:
        return _perhaps_copied(trace, base_of(source), made)
    try:
        array.shape = shape  # an error if it takes a copy
    except AttributeError:
        return in_c_order(copied(made))
    return made


def _perhaps_copied(trace: Trace, base: Variable, made: Any) -> Any:
    """Return the result of a reshape that copies or not: after a write to it or its base the other cannot be used.

    It cannot be written in loops and branches, nor if its base is an array of the caller.
    """
    if trace.open or base.owner is None:
        reason = "it was reshaped from an array whose strides are not known, so NumPy may or may not copy it"
        trace.frozen[made] = reason
        return made
    found = in_c_order(copied(made))
    trace.parts.setdefault(base, []).append(found)
    trace.parts.setdefault(found, []).append(base)
    return found


def is_in_c_order(x: Any, always: bool = False) -> bool:
    """Whether NumPy's array has the elements of `x` in C order, whatever its lengths are.

    The conditions become guards: `always`, or if an array is written.
    """
    trace: Any = current()
    guards = None if trace is None else _conditions_of_order(trace, x)
    for guard in guards or ():
        if always:
            trace.require(guard)
        else:
            trace.copying[guard] = None
    return guards is not None


def _conditions_of_order(trace: Trace, x: Variable) -> dict[str, None] | None:
    """Return the conditions under which `x` is in C order; None if it may be in another order.

    It is if it is one part of its base, in the same order, and what the base is computed from by element is, too.
    """
    guards, waiting, seen = dict[str, None](), [x], set[Variable]()
    while waiting:
        v = waiting.pop()
        source = source_of(v)
        while source is not None:
            if not _is_one_part(v.owner):  # type: ignore[arg-type]
                return None
            v, source = source, source_of(source)
        if v in seen:
            continue
        seen.add(v)
        if v in trace.layouts or v in trace.arranged:
            return None
        if v in trace.orders:
            guards[trace.orders[v]] = None
        if v in trace.in_order:
            guards.update(trace.in_order[v])
        elif v.owner is not None and v.ndim > 1 and type(v.owner.op).__name__ in _ORDERED:
            waiting += [i for i in v.owner.inputs if i.ndim > 1]
    trace.in_order.update(dict.fromkeys(seen, guards))
    return guards


def _is_one_part(node: Apply) -> bool:
    """Whether the view that a node makes of an array in C order is in C order: `x[i]`, `x[a:b]`, `x[:, None]`."""
    kind = type(node.op).__name__
    if kind == "DimShuffle":
        axes = [a for a in node.op.order if a != "x"]  # type: ignore[attr-defined]
        return axes == sorted(axes)
    if kind != "Subtensor":
        return kind not in _READ_ONLY
    is_after_slice = False
    for index in node.op.entries(node.inputs[1:]):  # type: ignore[attr-defined]
        is_slice = isinstance(index, slice)
        is_whole = is_slice and index.start is index.stop is index.step is None
        if is_after_slice and not is_whole:
            return False
        if is_slice and not (index.step is None or (isinstance(index.step, Constant) and index.step.data == 1)):
            return False
        is_after_slice = is_slice
    return True


def _numbers(trace: Trace, x: Variable) -> tuple[int, ...] | None:
    """Return the lengths of an array in the call; None if one is not known."""
    numbers = [_number(trace, trace.known_length(x, axis)) for axis in range(x.ndim)]
    return None if None in numbers else tuple(numbers)  # type: ignore[arg-type]


def _number(trace: Trace, known: Known | int | None) -> int | None:
    """Return a number of the call, on which depends what NumPy copies."""
    if not isinstance(known, Known):
        return known
    trace.copying[f"{known.text} == {known.value!r}"] = None
    return int(known.value)


def shadow(trace: Trace, x: Variable) -> np.ndarray | None:
    """Return an array with the shape and strides of NumPy's in the place of x, whose elements must not be read.

    None if these are not known.
    """
    chain: list[Apply] = []
    source = source_of(x)
    while source is not None:
        chain.append(x.owner)  # type: ignore[arg-type]
        x, source = source, source_of(source)
    shape = _numbers(trace, x)
    if shape is None:
        return None
    strides, guard = trace.layouts.get(x, (None, ""))
    if guard:
        trace.copying[guard] = None
    if x in trace.arranged:
        order, like = trace.arranged[x]
        array = np.broadcast_to(x.type.numpy.type(0), shape) if like is None else shadow(trace, like)
        if array is None:
            return None
        strides = np.empty_like(array, x.type.numpy, order, shape=shape).strides  # type: ignore[call-overload]
    if strides is None:
        if not is_in_c_order(x):
            return None
        size = x.type.numpy.itemsize
        strides = tuple(math.prod(shape[k:], start=size) for k in range(1, 1 + len(shape)))
    if 0 in shape:
        strides = np.empty(shape, x.type.numpy).strides
    found = np.lib.stride_tricks.as_strided(np.zeros(1, x.type.numpy), shape, strides)
    for node in reversed(chain):
        values = [_index_value(trace, i) for i in node.inputs[1:]]
        if type(node.op).__name__ not in ("Subtensor", "DimShuffle", "Reshape") or None in values:
            return None
        if type(node.op).__name__ == "Reshape":
            found = found.view()
            try:
                found.shape = tuple(values)  # type: ignore[arg-type,assignment]
            except AttributeError:
                return None
        else:
            found = node.op.evaluate(found, *[np.array(v) for v in values])[0]  # type: ignore[attr-defined]
    return found.view()


def _index_value(trace: Trace, i: Variable) -> int | None:
    if isinstance(i, Constant):
        return int(i.data)
    number = trace.numbers.get(i)
    return _number(trace, number.known if number is not None and number.known is not None else trace.known_value(i))


def store(x: Variable, value: Any, what: str) -> None:
    """Write `value`, of the shape and dtype of `x`, into the array that `x` shares; `what` names the write in errors.

    Raises ValueError for a view that NumPy does not write through, TypeError for an array that has two names by now.
    """
    trace: Any = current()
    target: Variable = x
    new: Any = T.as_tensor(value)
    while True:
        reason = trace.held.get(target) or trace.frozen.get(target)
        if reason is not None:
            raise TypeError(f"{what}: {reason}, so it cannot be written; write to a copy{line()}")
        source = source_of(target)
        if source is None:
            break
        new = _put_back(target.owner, now(trace, source), new, what)  # type: ignore[arg-type]
        target = source
    if target in trace.read_only:
        raise ValueError(f"{what}: assignment destination is read-only: {target!r}{line()}")
    if not target.type.shape:
        new = _without_axes(trace, target, new, what)
    trace.writes = True
    for other in trace.parts.pop(target, ()):
        trace.held[other] = f"it may share elements with {target!r}, which was written since"
    trace.stored[target] = own(new)


def _without_axes(trace: Trace, target: Variable, value: Any, what: str) -> Any:
    """Return `value` as the element of the array `target`, which has no axes.

    Raises TypeError for a scalar, which NumPy does not write to, and for an element of another array.
    """
    made = target.owner
    while made is not None and made.op is T.ELEMENTWISE["identity"]:
        made = made.inputs[0].owner
    if trace.classes.get(target) is not np.ndarray:
        raise TypeError(f"{what}: {target!r} is a scalar, which cannot be written; assign the variable{line()}")
    if made is not None and made.op.views():
        raise TypeError(f"{what}: {target!r} is an element of another array; write x[i] = v{line()}")
    found = copied(value)
    trace.classes[found] = np.ndarray
    return found


def _put_back(node: Apply, source: Variable, part: Variable, what: str) -> Variable:
    """Return the array `source` with `part` in the place of its view that the node makes."""
    op: Any = node.op
    kind = type(op).__name__
    if kind in _READ_ONLY:
        raise ValueError(f"{what}: assignment destination is read-only, a view made by {op.name}{line()}")
    if kind == "Subtensor":
        return classes.IncSubtensor(op.spec, set=True)(source, part, *node.inputs[1:])  # type: ignore[no-any-return]
    if kind == "DimShuffle":
        places = {axis: k for k, axis in enumerate(op.order)}
        return classes.DimShuffle(tuple(places.get(a, "x") for a in range(source.ndim)))(part)  # type: ignore[no-any-return]
    if kind == "Reshape":
        return T.reshape(part, T.lengths_of(source))  # type: ignore[no-any-return]
    if part.type.shape and part.ndim == source.ndim:  # a check of lengths
        return part
    raise TypeError(f"{what}: cannot write through the view that {op.name} makes; copy it, x = x.copy(){line()}")


def own(value: Any) -> Any:
    """Return a value as a variable that no constant table shares."""
    return T.ELEMENTWISE["identity"](value) if isinstance(value, Constant) else value


def in_c_order(x: Any) -> Any:
    """Return a new array of the trace that NumPy lays out in C order whatever its operand is."""
    trace: Any = current()
    trace.in_order[x] = dict(trace.copying)  # NumPy makes it under the conditions so far
    return x


def copied(x: Any) -> Any:
    """Return an array with elements of its own."""
    return T.ELEMENTWISE["identity"](x)


def fitted(x: Variable, value: Any, what: str) -> Any:
    """Return `value` cast and broadcast to the array `x`, as NumPy assigns.

    Raises ValueError for a value of more axes.
    """
    v = T.as_tensor(value) if not _is_python_number(value) else T.as_tensor(_checked(value, x, what))
    if v.dtype != x.type.dtype:
        if v.type.kind == "c" and x.type.kind != "c":
            raise TypeError(f"{what}: complex values do not fit an array of {x.type.dtype}; take v.real{line()}")
        v = T.cast(v, x.type.dtype)
    while v.ndim > x.ndim and _has_length_one(v):
        v = T.squeeze(v, 0)
    if v.ndim > x.ndim:
        raise ValueError(f"{what}: could not broadcast {v!r} into {x!r}{line()}")
    return v


def _has_length_one(v: Variable) -> bool:
    """Whether the first axis has length 1, in the call if the type does not tell."""
    trace = current()
    known = v.type.shape[0] if trace is None else trace.known_length(v, 0)
    if not isinstance(known, Known) or trace is None:
        return known == 1
    trace.require(f"({known.text} == 1) is {known.value == 1}")
    return bool(known.value == 1)


def _is_python_number(value: Any) -> bool:
    return type(value) in (bool, int, float, complex)


def _checked(value: Any, x: Variable, what: str) -> Any:
    if type(value) is complex and x.type.kind != "c":
        raise TypeError(f"{what}: a complex number does not fit an array of {x.type.dtype}{line()}")
    if type(value) is float and x.type.kind in "iu" and not np.isfinite(value):
        error = OverflowError if np.isinf(value) else ValueError
        raise error(f"{what}: cannot convert {value} to {x.type.dtype}{line()}")
    if x.type.kind in "iu":
        return np.array(int(value), x.type.dtype)
    return np.array(value, x.type.dtype)


def whole(x: Variable, value: Any, what: str) -> None:
    """Write `value`, which broadcasts to `x`, into all elements of x."""
    trace: Any = current()
    store(x, T.broadcast_to(fitted(x, value, what), T.lengths_of(now(trace, x))), what)


def set_item(x: Variable, key: Any, value: Any) -> None:
    """`x[key] = value` in a trace."""
    trace: Any = current()
    what = "x[...] = v"
    if not x.type.shape:
        if str(getattr(key, "dtype", "")) == "bool" and not getattr(key, "ndim", 1):
            given = T.as_tensor(value)
            if given.ndim == 1:  # none for a mask that is false
                given = T.concatenate([given, T.zeros((1,), dtype=given.dtype)])[0]
            value = T.switch(key, fitted(x, given, what), now(trace, x))
        elif key not in ((), Ellipsis):
            raise IndexError(f"{what}: too many indices: x has no axes{line()}")
        whole(x, value, what)
        return
    key = tuple(now(trace, k) for k in key) if isinstance(key, tuple) else now(trace, key)
    if _is_mask_of(key, x):
        mask, given = T.as_tensor(key), T.as_tensor(fitted(x, value, what))
        if not given.ndim:
            store(x, T.switch(_aligned(mask, x.ndim), given, now(trace, x)), what)
            return
    part = T.getitem(x, key)
    if source_of(part) is not None and base_of(part) is base_of(x):
        store(part, T.broadcast_to(fitted(part, value, what), T.lengths_of(part)), what)
        return
    read = T.getitem(now(trace, x), key)
    store(x, T.set_subtensor(read, fitted(read, value, what)), what)


def _is_mask_of(key: Any, x: Variable) -> bool:
    """Whether a key is one mask of all elements of an array, or of its first axes."""
    ndim = getattr(key, "ndim", 0)
    return str(getattr(key, "dtype", "")) == "bool" and 0 < ndim <= x.ndim


def _aligned(mask: Any, ndim: int) -> Any:
    return T.dimshuffle(mask, *range(mask.ndim), *["x"] * (ndim - mask.ndim)) if mask.ndim < ndim else mask
