"""Bound calls: a compiled function whose arrays are checked once and whose results go to the same arrays every time.

An array that is bound is read where it lies at every call, so it is never copied: one that would have to be converted
is refused.  It cannot be freed, since the binding holds it, nor resized: NumPy refuses that for an array to which there
are weak references, whatever checks are left out.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph import TensorType
from ...ops.lowered.assumed import BrokenAssumption
from ...record.spelling import counted
from .caller import Caller, parameters
from .checks import Parameter, too_many
from .output_lengths import evaluated

Entry = Callable[..., list[np.ndarray]]


class Binding:
    """Calls without arguments; each returns `outputs`, the same list of the same arrays.

    An output whose shape only a call can tell is made by the first one, and anew where it gets another shape.
    """

    name: str
    inputs: tuple[np.ndarray, ...]

    def __init__(self, name: str, entry: Entry, arguments: Sequence[Any], inputs: Sequence[np.ndarray],
                 outputs: Sequence[np.ndarray | None], given: bool) -> None:  # fmt: skip
        self.name, self.inputs = name, tuple(inputs)
        self.outputs: list[Any] = list(outputs)
        self._entry, self._given = entry, given
        self.caller: Caller | None = None
        """The calls of the compiled program that is bound."""
        self._held = [(it, weakref.ref(it)) for it in (*arguments, *outputs) if isinstance(it, np.ndarray)]

    @property
    def settled(self) -> bool:
        """Whether all output arrays are known and stay the same."""
        return all(output is not None for output in self.outputs)

    def guarded(self, otherwise: Callable[[BrokenAssumption, Sequence[Any]], list[np.ndarray]]) -> Binding:
        """Return this binding; `otherwise` runs calls that break an assumption, as shared values of other shapes do."""
        entry = self._entry

        def call(*arrays: np.ndarray) -> list[np.ndarray]:
            try:
                return entry(*arrays)
            except BrokenAssumption as error:
                return otherwise(error, arrays)

        self._entry = call
        return self

    def __call__(self) -> list[Any]:
        for k, (result, output) in enumerate(zip(self._entry(*self.inputs), self.outputs, strict=True)):
            if result is not output:
                self._take(k, result, output)
        return self.outputs

    def _take(self, k: int, result: np.ndarray, output: np.ndarray | None) -> None:
        """Keep a result that was not computed in its array."""
        if output is not None and output.shape == result.shape:
            if not np.may_share_memory(output, result):
                output[...] = result
            return
        if self._given and output is not None:
            raise ValueError(f"{self.name}: output {k} has shape {result.shape}, the array for it {output.shape}")
        self.outputs[k] = result


def bind_caller(caller: Caller, arguments: Sequence[Any], out: Sequence[np.ndarray] | None) -> Binding | None:
    """Return the binding of a compiled program; `out`: arrays for all outputs that are no updates.

    None for arrays whose lengths are not those that the program assumes.

    Raises:
        TypeError, ValueError: an argument does not fit, or would have to be copied; an array of `out` does not fit, or
            overlaps with another array.
    """
    interface, shared = caller.interface, caller.shared
    inputs = _inputs(caller.parameters, shared, arguments)
    given = iter(inputs)
    shapes = [next(given).shape if c is None else np.shape(c.value) for c in shared]
    if not interface.agrees(shapes):
        return None
    own = interface.own_outputs
    fixed = [all(shared[place] is None for place in _inputs_in(p)) for p in map(_flat, interface.lengths)]
    known = [
        tuple(evaluated(program, shapes) for program in programs) if programs is not None and fixed[k] else None
        for k, programs in enumerate(interface.lengths)
    ]
    if out is None:
        outputs = [None if known[k] is None else np.empty(known[k] or (), interface.outputs[k].numpy) for k in own]
    else:
        values = [c.value for c in shared if c is not None]
        outputs = list(_checked_out(caller.name, out, [interface.outputs[k] for k in own], [known[k] for k in own],
                                    [*inputs, *values]))  # fmt: skip
    into = {k: o for k, o in zip(own, outputs, strict=True) if o is not None and known[k] == o.shape}
    binding = Binding(caller.name, caller.entry_into(into), arguments, inputs, outputs, out is not None)
    binding.caller = caller
    return binding


def bind_plain(
    name: str, graph: Any, shared: Sequence[Any], call: Entry, arguments: Sequence[Any], out: Sequence[Any] | None
) -> Binding:
    """Return the binding of any other function; its results are copied to the first ones or to `out`."""
    inputs = _inputs(parameters(name, graph, shared, None), shared, arguments)
    updated = {o for _, o in graph.updates}
    own = [o for k, o in enumerate(graph.outputs) if k not in updated]
    outputs: list[Any] = [None] * len(own)
    if out is not None:
        outputs = list(_checked_out(name, out, [o.type for o in own], [None] * len(own), inputs))
    return Binding(name, call, arguments, inputs, outputs, out is not None)


def _inputs(given: Sequence[Parameter], shared: Sequence[Any], arguments: Sequence[Any]) -> list[np.ndarray]:
    """Return the arguments as arrays: NumPy arrays as they are, others converted once."""
    own = [p for p, c in zip(given, shared, strict=True) if c is None]
    if len(arguments) != len(own):
        raise too_many(own[0].function if own else "function", [p.name for p in own], len(arguments))
    found = []
    for parameter, argument in zip(own, arguments, strict=True):
        array = parameter.array(argument)
        if isinstance(argument, np.ndarray) and not _is_same(array, argument):
            fix = "copy()" if argument.dtype == parameter.type.numpy else f"astype({parameter.type.dtype!r})"
            raise TypeError(
                f"{parameter}: each call reads a bound array in place, and this one, of dtype "
                f"{argument.dtype}, would have to be copied; bind {parameter.word}.{fix}"
            )
        found.append(array)
    return found


def _is_same(array: np.ndarray, argument: np.ndarray) -> bool:
    """Whether the array has the memory, lengths and strides of the argument."""
    mine, its = array.__array_interface__, argument.__array_interface__
    return mine["data"][0] == its["data"][0] and array.strides == argument.strides


def _checked_out(
    name: str, out: Sequence[Any], outputs: Sequence[TensorType], shapes: Sequence[tuple[int, ...] | None],
    others: Sequence[Any],
) -> Sequence[np.ndarray]:  # fmt: skip
    """Return the arrays of `out` if results can be computed there."""
    if len(out) != len(outputs):
        raise ValueError(f"{name}: out has {counted(len(out), 'array')} for {counted(len(outputs), 'output')}")
    for k, (array, output, shape) in enumerate(zip(out, outputs, shapes, strict=True)):
        what = f"{name}: the array for output {k}"
        if type(array) is not np.ndarray:
            raise TypeError(f"{what} is {type(array).__name__}; expected an array of NumPy")
        if array.dtype != output.numpy or array.ndim != output.ndim:
            raise TypeError(f"{what} is {array.dtype}{list(array.shape)}; expected {output}")
        if shape is not None and array.shape != shape:
            raise ValueError(f"{what} has shape {array.shape}; expected {shape}")
        if not array.flags.carray:
            raise ValueError(f"{what} must be writeable, aligned and C-contiguous; use np.empty({array.shape})")
    for (k, one), (n, other) in itertools.combinations(enumerate([*out, *others]), 2):
        if k < len(out) and np.may_share_memory(one, other):
            against = f"the array for output {n}" if n < len(out) else "what the function reads"
            raise ValueError(f"{name}: the array for output {k} overlaps with {against}")
    return out


def _flat(programs: Any) -> list[Any]:
    return [step for program in programs or () for step in program]


def _inputs_in(steps: Sequence[Any]) -> list[int]:
    return [operand[0] for operation, operand in steps if operation == "extent"]
