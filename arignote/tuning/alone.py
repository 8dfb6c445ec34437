"""Kernels of a function alone: each as a program of its own, called on the values that it gets in a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..cbackend import CompileError
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.operands import Operand
from ..cbackend.ir.schedule import DEFAULT, Schedule, ScheduleError
from ..cbackend.lowering.lower import lower
from ..function.compiled import Function
from ..graph import Apply, Constant, FunctionGraph, Variable
from ..ops.core.interpret import evaluate_node
from ..ops.core.tensor import TensorVariable
from ..ops.lowered.fused import InPlace
from ..ops.networks.pooling import Pool
from ..record import record
from ..targets.current import using as using_target
from .features import Sizes, features_of, sizes_of
from .forms import Form, all_same, compiled_form, in_turns, speed_up
from .space import Space

_FINAL_ROUNDS = 21
ROUNDS = 7
"""Rounds of calls of a candidate, alternating with the default form."""
_HOPELESS = 1.3
"""Time over that of the default form in the fewest rounds, beyond which a candidate is not measured further."""


@record
class Alone:
    """One kernel of a function, with its node and the values that the node reads.

    `kernel`: its name in the program, by which schedules are kept; `own`: its default form without aliases.
    """

    kernel: str
    own: Kernel
    node: Apply
    arrays: tuple[np.ndarray, ...]
    sizes: Sizes

    def space(self) -> Space:
        """Return the schedules that the kernel may have."""
        each = self.own.splits.picoseconds if self.own.splits is not None else 0
        work = each * 1e-6 * float(np.prod(self.sizes.extents, dtype=np.float64))
        return Space(self.own, self.sizes.extents, self.sizes.threads, work)

    def lowered(self, schedule: Schedule) -> Kernel | None:
        """Return the kernel under a schedule; None if that does not fit it."""
        if schedule == DEFAULT:
            return self.own
        try:
            return lower(self.node, (), schedule)
        except ScheduleError:
            return None

    def row(self, kernel: Kernel) -> np.ndarray:
        """Return the features of one form of the kernel."""
        return features_of(kernel, self.sizes)


class Stopwatch:
    """Measures schedules of one kernel against its default form, on the machine."""

    def __init__(self, function: Function, alone: Alone) -> None:
        self._function, self._alone = function, alone
        first: dict[Variable, Variable] = {}
        for i in alone.node.inputs:
            first.setdefault(i, i if isinstance(i, Constant) else TensorVariable(i.type))
        given = [i for i, v in first.items() if not isinstance(v, Constant)]
        self._arrays = [alone.arrays[alone.node.inputs.index(i)] for i in given]
        node = alone.node.with_inputs([first[i] for i in alone.node.inputs])
        self._graph = FunctionGraph([first[i] for i in given], list(node.outputs))
        self._base = self._form(DEFAULT)
        self._wanted = self._base.results(self._arrays)

    def _form(self, schedule: Schedule) -> Form:
        shared = [None] * len(self._graph.inputs)
        return compiled_form(self._function, self._graph, shared, {self._alone.own.name: schedule})

    def __call__(self, schedule: Schedule, kernel: Kernel) -> tuple[float, float] | None:
        """Return seconds a call under the schedule, and over those of the default form in the same rounds.

        None: it does not compile, or its results are others.
        """
        try:
            form = self._form(schedule)
        except (ScheduleError, CompileError):
            return None
        if not all_same(form.results(self._arrays), self._wanted, schedule.exact_as(DEFAULT)):
            return None
        times: list[tuple[float, float]] = []
        for pair in in_turns(self._base, form, self._arrays, ROUNDS):
            times.append(pair)
            if len(times) == 3 and min(b / a for a, b in times) > _HOPELESS:
                break
        found = min(b for _, b in times)
        return found, found / min(a for a, _ in times)

    def gain(self, one: Schedule, other: Schedule) -> float:
        """Return the speed-up of another schedule over `one` in a long comparison; 1.0 if it is not certain."""
        return speed_up(list(in_turns(self._form(one), self._form(other), self._arrays, _FINAL_ROUNDS)))


def kernels_alone(function: Function, inputs: Sequence[np.ndarray], kernels: Sequence[Kernel]) -> Iterator[Alone]:
    """Yield the kernels that are those of nodes of the function's graph; those inside loops are not.

    `inputs`: values of the graph's inputs, shared variables included.
    """
    wanted = {_signature(k): k.default or k.name for k in kernels if k.takes_schedule}
    values: dict[Variable, np.ndarray] = dict(zip(function.graph.inputs, inputs, strict=True))
    with using_target(function.target):
        for node in function.graph.order:
            operands = [i.data if isinstance(i, Constant) else values[i] for i in node.inputs]
            plain = node.with_op(node.op.op) if isinstance(node.op, InPlace) else node
            own = _kernel_of(plain)
            name = wanted.pop(_signature(own), None) if own is not None else None
            if own is not None and name is not None:
                arrays = tuple(np.array(a, order="K") for a in operands)
                sizes = sizes_of(own, _as_addressed(plain, arrays), function.threads or 1)
                yield Alone(name, own, plain, arrays, sizes)
            if not wanted:
                return
            with np.errstate(all="ignore"):
                values.update(zip(node.outputs, evaluate_node(node, operands, function.name), strict=True))


def _as_addressed(node: Apply, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """Return the operands of a node as its kernel addresses them: a pool reads x as windows, their axes last."""
    if not isinstance(node.op, Pool):
        return arrays
    windows = node.op.windows(arrays[0], node.op.kernel)
    return [np.moveaxis(windows, node.op.within, range(-len(node.op.kernel), 0)), *arrays[1:]]


def _kernel_of(node: Apply) -> Kernel | None:
    try:
        return lower(node)
    except TypeError:  # it has no loops of its own
        return None


def _signature(kernel: Kernel) -> tuple[str, tuple[Operand, ...], tuple[Operand, ...]]:
    """Return what a kernel computes of which operands, under any schedule and aliases."""
    return kernel.title, kernel.outputs, kernel.inputs
