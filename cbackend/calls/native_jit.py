"""The native entry of a jitted function (native_jit.c): the traces that have one, and what it checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph import TensorType
from ...record import record
from ..abi._abi import ffi
from ..build.build import Library
from .interface import Interface
from .native import builtin, methods_of, programs_in_c, signature_of
from .output_lengths import Step

TYPES = {float: "float64", int: "int64", np.float64: "float64", np.int64: "int64"}
"""Types of numbers that a trace takes as arrays of rank 0 of a dtype."""


_NUMBERS = {
    float: ("FLOAT", "float64"), int: ("INTEGER", "int64"), bool: ("BOOL", "bool"), complex: ("COMPLEX", "complex128"),
}  # fmt: skip
"""Numbers of Python: the constant of the C, and the dtype that they are computed in."""


@record(eq=False)
class Calls:
    """The calls that a trace serves, and what becomes of its outputs.

    `kinds`: for each argument its type, or None for a static one, which must be the object in `fixed`.  `variables`:
    globals, a name and the value that the trace holds for.  `guards`: programs of lengths and integers, all of them
    true.  `guard`: a function of the arguments that is true, too, or None.  `stores`:
    inputs that the first outputs are written to.  `classes`: the types of the outputs after those.  `finish` makes the
    result from them; None: it is the output, or None.
    """

    kinds: tuple[type | None, ...]
    fixed: tuple[Any, ...]
    variables: tuple[tuple[dict[str, Any], str, Any], ...]
    guards: tuple[list[Step], ...]
    guard: Callable[..., Any] | None
    stores: tuple[int, ...]
    classes: tuple[type, ...]
    finish: Callable[..., Any] | None


def native_jit(
    native: Library, interface: Interface, library: Library, frame: Any, other: Callable[..., Any], calls: Calls
) -> Callable[..., Any] | None:
    """Return a builtin for calls of a jitted function; `other` runs those that the trace does not serve.

    None where the function has no native entry, or takes numbers for arrays of other dtypes.
    """
    found = signature_of(native, interface, library, frame, not interface.dense_inputs)
    leaves = [kind for kind in calls.kinds if kind is not None]
    if found is None or len(leaves) != len(interface.inputs):
        return None
    for kind, v in zip(leaves, interface.inputs, strict=True):
        if kind is not np.ndarray and (TYPES.get(kind) != v.type.dtype or v.type.ndim):
            return None
    facts, alive = found
    kinds = _kinds(calls.classes, interface.outputs[len(calls.stores) :], native.lib)
    words, counts = programs_in_c(calls.guards, interface, native.lib)
    if kinds is None or words is None:
        return None
    facts.guards, facts.guard_lengths, facts.guarded = words, counts, len(calls.guards)
    outputs = ffi.new("i32[]", [native.lib.AG_ARRAY] * len(calls.stores) + kinds or 1)
    facts.kinds = outputs
    trace = ffi.new("ag_trace *")
    arrays = (
        ffi.new("void *[]", [ffi.NULL if k is None else ffi.cast("void *", id(k)) for k in calls.kinds] or 1),
        _objects(calls.fixed),
        _objects([it for variable in calls.variables for it in variable]),
        ffi.new("i32[]", list(calls.stores) or 1),
        ffi.new("i64[]", [v.type.numpy.itemsize for v in interface.inputs] or 1),
    )  # fmt: skip
    trace.types, trace.fixed, trace.variables, trace.stores, trace.items = arrays
    trace.signature, trace.yes, trace.none = facts, _object(True), _object(None)
    trace.guard = ffi.NULL if calls.guard is None else _object(calls.guard)
    trace.finish = ffi.NULL if calls.finish is None else _object(calls.finish)
    trace.count, trace.globals = len(calls.kinds), len(calls.variables)
    trace.stored, trace.returned = len(calls.stores), len(calls.classes)
    alive = (*alive, words, counts)
    held = (int(ffi.cast("intptr_t", trace)), other, trace, arrays, outputs, facts, alive, library, frame, calls)
    return builtin(methods_of(native).jitted, held)


def _kinds(classes: Sequence[type], outputs: Sequence[TensorType], names: Any) -> list[int] | None:
    """Return how the native entry makes outputs instances of classes.

    Further outputs, results of checks, are dropped: bools need no array until then.  None for a number of Python that
    is computed in another dtype than that of all such numbers.
    """
    found = [names.AG_ARRAY if o.ndim or o.dtype != "bool" else names.AG_BOOL for o in outputs]
    for k, kind in enumerate(classes):
        if kind is np.ndarray:
            found[k] = names.AG_ARRAY
            continue
        word, dtype = _NUMBERS.get(kind, ("NUMPY_SCALAR", outputs[k].dtype))
        if outputs[k].dtype != dtype or outputs[k].ndim:
            return None
        found[k] = getattr(names, f"AG_{word}")
    return found


def _object(it: Any) -> Any:
    return ffi.cast("object *", id(it))


def _objects(items: Sequence[Any]) -> Any:
    return ffi.new("object *[]", [_object(it) for it in items] or 1)
