"""Replay of calls with arguments of known shapes, on a device that shares the host's memory.

    Replay    launches of an earlier call, replayed over new arguments and results: see tape.py
    OnHost    a call whose nodes are all so small that NumPy runs them

The shapes and strides of the arguments decide where each node runs, so all calls of one kind give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, Variable, toposort
from ...ops.elementwise.records import Elementwise
from ...ops.linalg.blas import Dot, MatMul
from ...ops.lowered.fused import GraphOp
from ...ops.reductions.reduce import Reduce
from .call import Call, Recorder
from .memory import Traffic, address_of
from .schedule import HOST, LOOP, Schedule
from .tape import Tape

LAUNCHES = 512
"""Most launches of a replayed call; for more, preparation takes a negligible share of the time."""
_FRESH = (Elementwise, Reduce, Dot, MatMul)
"""Ops whose result is a new array."""
_KEPT = 1 << 25
"""Most bytes of intermediate values that are kept between calls."""


def key_of(arrays: Sequence[np.ndarray]) -> tuple[Any, ...]:
    """Return the shapes and strides of arguments, and whether they are aligned."""
    return tuple([(a.shape, a.strides, a.flags.aligned) for a in arrays])


class Replay:
    """The launches of a call.  Raises ValueError if they depend on more than shapes and strides."""

    def __init__(self, call: Call, recorder: Recorder, inputs: Sequence[np.ndarray], results: Sequence[Any]) -> None:
        self._call, self._memory = call, call.memory
        memory: Any = call.memory
        if recorder.broken or not 0 < len(recorder.launches) <= LAUNCHES:
            raise ValueError("the host takes part in the call")
        if any(self._memory.put(a, Traffic()) is not a for a in inputs):
            raise ValueError("an argument is copied")
        owners = [_owner(r, recorder.made) for r in results]
        fresh = {id(m): m for m in owners}
        self._fresh = list(fresh.values())
        self._views = [
            (list(fresh).index(id(m)), r.dtype, r.shape, address_of(r) - address_of(m), r.strides)
            for r, m in zip(results, owners)
        ]
        self._copied = [True if any(m is n for n in owners[:k]) else None for k, m in enumerate(owners)]
        """Whether each result is copied; None: only if it is not C-contiguous."""
        recorder.made = [m for m in recorder.made if id(m) not in fresh]
        if sum(m.nbytes for m in recorder.made) > _KEPT:
            raise ValueError("the intermediate values are large")
        self._flag = call.flag()
        given = [a for a in inputs if a.size]
        self._given = [k for k, a in enumerate(inputs) if a.size]
        self._tape = Tape(recorder, [*given, *self._fresh], call, [self._flag])
        self._makers = [memory.maker(m.dtype, m.shape) for m in self._fresh]
        self._whole = [
            copied is None and (m.shape, m.dtype, m.strides, 0) == (shape, dtype, strides, at)
            for (k, dtype, shape, at, strides), copied in zip(self._views, self._copied)
            for m in self._fresh[k : k + 1]
        ]
        """Whether each result is a whole array in C order."""

    def run(self, arrays: Sequence[np.ndarray], traffic: Traffic) -> list[Any] | None:
        """Run the call; return the results, or None if a kernel refused an element."""
        memory = self._memory
        made = [make() for make in self._makers]
        self._call.traffic = traffic
        try:
            self._tape.play([*(arrays[k] for k in self._given), *made], self._call)
        finally:
            memory.finish()
        if self._flag[0]:
            self._flag[0] = 0
            return None
        return [
            made[k] if whole else np.array(np.ndarray(shape, dtype, made[k], at, strides), order="C", copy=copied)
            for (k, dtype, shape, at, strides), copied, whole in zip(self._views, self._copied, self._whole)
        ]

    def end(self) -> None:
        """Release the entries of kernels for others."""
        self._tape.end()


class OnHost:
    """The nodes of a graph in NumPy.  Raises ValueError for a graph with loops, or nodes without a kernel."""

    def __init__(self, schedule: Schedule) -> None:
        placements, graph = [s.placement for s in schedule.sections], schedule.program.graph
        if any(p.kind in (HOST, LOOP) for p in placements):
            raise ValueError("not all nodes are small")
        self._places = {v: k for k, v in enumerate(graph.inputs)}
        self._inputs, self._first = len(self._places), [*graph.inputs]
        self._steps: list[tuple[Any, list[int], list[int]]] = []
        self._fresh: set[int] = set()
        for placement in placements:
            self._add(placement.node)
        self._outputs = [self._place(o) for o in graph.outputs]
        self._values = [v.data if isinstance(v, Constant) else None for v in self._first]
        self._own = [k in self._fresh and self._outputs.count(k) == 1 for k in self._outputs]

    def _add(self, node: Apply) -> None:
        """Append a node, or the nodes of its inner graph."""
        if isinstance(node.op, GraphOp):
            inner = node.op.expand(node.inputs)
            for each in toposort(inner, stop_at=node.inputs):
                self._add(each)
            self._places.update((o, self._place(i)) for o, i in zip(node.outputs, inner))
            return
        given, made = [self._place(i) for i in node.inputs], [self._place(o) for o in node.outputs]
        self._steps.append((node.op.evaluate, given, made))
        if isinstance(node.op, _FRESH):
            self._fresh.update(made)

    def _place(self, variable: Variable) -> int:
        """Return the index of a variable among the values."""
        if variable not in self._places:
            self._places[variable] = len(self._first)
            self._first.append(variable)
        return self._places[variable]

    def run(self, arrays: Sequence[np.ndarray], traffic: Traffic) -> list[Any] | None:
        """Run the call; return the results, or None if NumPy raises an error."""
        values: list[Any] = self._values.copy()
        values[: self._inputs] = arrays
        try:
            for evaluate, inputs, outputs in self._steps:
                for k, value in zip(outputs, evaluate(*[values[k] for k in inputs])):
                    values[k] = value
        except Exception:  # the ordinary call names the node in its error
            return None
        return [
            self._owned(values[k], arrays) if own else np.array(values[k], order="C")
            for k, own in zip(self._outputs, self._own)
        ]

    @staticmethod
    def _owned(value: Any, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return a result as an array that shares memory with no other."""
        made = type(value) is np.ndarray and value.base is None and value.flags.c_contiguous
        return value if made and not any(value is a for a in arrays) else np.array(value, order="C")

    def end(self) -> None:
        """Do nothing: there are no resources to release."""


def _owner(array: Any, made: Sequence[np.ndarray]) -> np.ndarray:
    """Return the array of `made` that contains this one.  Raises ValueError if there is none."""
    for m in made:
        if m.size and address_of(m) <= address_of(array) < address_of(m) + m.nbytes:
            return m
    raise ValueError("a result is not made by a kernel")
