"""Loops whose states change their lengths: a host step, which computes each turn with NumPy.

    free_loop{graph, states=n}(turns, going, *states, *others)

The compiled loops of `ag.scan` keep each state in one place, so its lengths are the same in every turn.  A state that
grows, such as a joined list of tokens, has no such place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .... import ops as T
from ....graph import Apply, FunctionGraph, Kind, Lacks, TensorType, Variable, dims_of
from ....ops.control.scan_ops import ENDLESS, closed
from ....ops.core.interpret import interpret
from ....ops.core.tensor import HostOp, TensorVariable, as_tensor, constant
from ....record import record
from .node import Node


@record(repr=False)
class FreeLoop(HostOp):
    """`graph` applied until it gives False, or as many times as the first input says.

    The graph takes the number of the turn, the condition, the states and the others; it gives the condition, the next
    states and the values of the turn.  Results: the last states, and the values along a new first axis.
    """

    graph: FunctionGraph
    states: int
    name = "free_loop"
    fallible = True
    picture: ClassVar[Kind] = Kind.FUSED
    lacks: ClassVar[Lacks] = Lacks(
        lengths="the values decide them",
        derivative="its states change their lengths",
        batching="the number of turns would differ from one example to the next",
        operations="its body counts, for each turn",
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        first = 2 + self.states
        kinds = [i.type for i in self.graph.inputs[2:first]]
        values = [v.type.with_shape((None, *v.type.shape)) for v in self.graph.outputs[1 + self.states :]]
        return (*kinds, *values)

    def evaluate(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        turns, going, *rest = arrays
        states, others = list(rest[: self.states]), rest[self.states :]
        rows: list[list[np.ndarray]] = [[] for _ in self.graph.outputs[1 + self.states :]]
        turn = 0
        while going and turn < turns:
            going, *found = interpret(self.graph, [np.array(turn), np.array(True), *states, *others])
            states = [np.asarray(v) for v in found[: self.states]]
            for row, value in zip(rows, found[self.states :], strict=True):
                row.append(np.asarray(value))
                if value.shape != row[0].shape:
                    raise ValueError(f"a value of the loop has the shape {row[0].shape}, in turn {turn} {value.shape}")
            turn += 1
        kinds = [v.type for v in self.graph.outputs[1 + self.states :]]
        stacked = [
            np.stack(row) if row else np.empty((0, *(n or 0 for n in kind.shape)), kind.numpy)
            for row, kind in zip(rows, kinds, strict=True)
        ]
        return (*map(np.array, states), *stacked)


def is_steady(node: Node, initial: Sequence[Any]) -> bool:
    """Whether each state of a loop is known to have the lengths of its initial value after a turn, and so after all."""
    _, new, _ = _turn(node, [TensorVariable(kind) for kind in _COUNTER], initial)
    return all(dims_of(old) == dims_of(state) for old, state in zip(initial, new, strict=True))


def free_loop(node: Node, turns: Any, going: Any, initial: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a loop whose states have other lengths in each turn."""
    kinds = [v.type for v in initial]
    while True:
        counter, states = ([TensorVariable(kind) for kind in of] for of in (_COUNTER, kinds))
        goes, new, values = _turn(node, counter, states)
        for k, (kind, state) in enumerate(zip(kinds, new, strict=True)):
            if state.ndim != kind.ndim:
                raise node.error(f"state {k} is of rank {kind.ndim}, and becomes one of rank {state.ndim}")
        looser = [_joint(kind, state.type) for kind, state in zip(kinds, new, strict=True)]
        if looser == kinds:
            break
        kinds = looser
    graph, taken = closed([*counter, *states], [goes, *new, *values])
    count = constant(np.array(ENDLESS)) if turns is None else T.cast(T.reshape(turns, ()), "int64")
    start = constant(np.array(True)) if going is None else T.reshape(going, ())
    return tuple(Apply(FreeLoop(graph, len(kinds)), (count, start, *initial, *taken)).outputs)


def _joint(kind: TensorType, other: TensorType) -> TensorType:
    return kind.with_shape(tuple(a if a == b else None for a, b in zip(kind.shape, other.shape, strict=True)))


_COUNTER = TensorType("int64", ()), TensorType("bool", ())
"""The types of the number of a turn and of its condition."""


def _turn(node: Node, counter: Sequence[Any], states: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
    """The condition, the next states and the values of a turn."""
    goes, *found = node.body("body", [*counter, *states])
    new = [as_tensor(T.cast(v, state.dtype)) for v, state in zip(found, states)]
    return T.reshape(goes, ()), new, found[len(states) :]
