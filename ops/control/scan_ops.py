"""Loops as ops: a body graph, applied step by step to a state.

    scan{graph, sequences=s, traced=(...), until=..., truncate=...}(n, *sequences, *states, *others)

The body takes one slice of each sequence (along its first axis), the states, and what is the same in every step; it
gives the next states, values of the step, and, for a loop `until` a condition, a bool scalar that ends it.  The
results of the op are, for each state, its values after every step (a trace, along a new first axis) or only the last
one, and each value of the step along a new first axis.  Loops that only a condition ends are in while_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import (
    Apply,
    Constant,
    Dim,
    FunctionGraph,
    Kind,
    Lacks,
    Older,
    TensorType,
    Variable,
    rebuild,
    toposort,
)
from ...graph.dims import opaque_dims
from ...record import lazy, record
from ...record.spelling import counted
from ..core.checks import describe, require_index_scalar
from ..core.interpret import interpret
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable, constant
from ..shapes.lengths import outer_lengths, tensor_to_dim
from .batching import Examples, Flags, NoBatch, carried, require_shared

scan_gradient: Any = lazy.module(".scan_gradient", __package__)
ENDLESS = 2**63 - 1
"""The number of steps of a loop that only its condition ends."""


@record(repr=False)
class Scan(TensorOp):
    """`graph` applied n times, or until its condition holds.  Equal loops are equal ops.

    The graph's inputs are slices of the `sequences`, the states, the others; its outputs the next states, the values of
    a step, and with `until` the condition to end.  `traced`: for each state whether all its values are wanted, or only
    the last.  `truncate`: how many of the last steps a gradient goes through; -1: all.
    """

    graph: FunctionGraph
    sequences: int = 0
    traced: tuple[bool, ...] = ()
    until: bool = False
    truncate: int = -1
    name = "scan"
    fallible = True
    picture: ClassVar[Kind] = Kind.FUSED
    lacks: ClassVar[Lacks] = Lacks(operations="its body counts, for each step")

    # --- the parts
    @property
    def states(self) -> slice:
        """Positions of the states among the inputs of the body."""
        return slice(self.sequences, self.sequences + len(self.traced))

    @property
    def values(self) -> slice:
        """Positions of the values of a step among the outputs of the body."""
        return slice(len(self.traced), len(self.graph.outputs) - self.until)

    @property
    def replaced(self) -> dict[int, int]:
        """Return the states of which only the last values are wanted: the output, and the input with the first one.

        The loop may keep such a state in one array.
        """
        return {k: 1 + self.sequences + k for k, traced in enumerate(self.traced) if not traced}

    @property
    def own_states(self) -> FunctionGraph:
        """Return the body with its `replaced` states as updates."""
        updates = ((place - 1, k) for k, place in self.replaced.items())
        return FunctionGraph(self.graph.inputs, self.graph.outputs, updates)

    def parts(self, node: Apply) -> tuple[Variable, Sequence[Variable], Sequence[Variable], Sequence[Variable]]:
        """The number of steps, the sequences, the first states and the others among the inputs of a node."""
        n, *rest = node.inputs
        return n, rest[: self.sequences], rest[self.states], rest[self.states.stop :]

    # --- types
    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        body = self.graph
        if len(inputs) != len(body.inputs) + 1:
            raise TypeError(f"{self.name} takes {len(body.inputs) + 1} inputs, got {len(inputs)}")
        require_index_scalar(self.name, inputs[0], "the number of steps")
        for k, (given, inner) in enumerate(zip(inputs[1:], body.inputs, strict=True)):
            kind = given.type
            if k < self.sequences:
                if not kind.shape:
                    raise TypeError(f"{self.name}: sequence {k}, {describe(given)}, has no axis to iterate over")
                kind = kind.with_shape(kind.shape[1:])
            if not kind.refines(inner.type):
                raise TypeError(f"{self.name}: the body expects {inner.type}, got {describe(given)}")
        for state, new in zip(body.inputs[self.states], body.outputs, strict=False):
            if not new.type.refines(state.type):
                raise TypeError(f"{self.name}: the state {_called(state)} becomes {new.type} in a step")
        steps = None if self.until else tensor_to_dim(inputs[0])
        count = steps if isinstance(steps, int) and 0 <= steps < ENDLESS else None
        stacked = [_stacked(o.type, count) for o in body.outputs[self.values]]
        old = body.inputs[self.states]
        return (*(_stacked(s.type, count) if t else s.type for s, t in zip(old, self.traced, strict=True)), *stacked)

    def lengths(self, operands: Sequence[Variable], shapes: Sequence[Sequence[Dim]]) -> list[tuple[Dim | None, ...]]:
        """Return the lengths of the states and values of a step, in terms of those of the operands, `shapes`.

        The operands are the inputs of a node but for the number of steps.  A length that counts elements by their
        values in the body is None.
        """
        inner = [shape[1:] if k < self.sequences else shape for k, shape in enumerate(shapes)]
        fixed = [None if k < self.states.stop else v for k, v in enumerate(operands)]
        found = outer_lengths(self.graph, fixed, inner)
        return [*map(tuple, inner[self.states]), *found[self.values]]

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        lengths = self.lengths(node.inputs[1:], inputs[1:])
        steps = tensor_to_dim(node.inputs[0])
        found = []
        for k, result in enumerate(node.outputs):
            own = opaque_dims(result)
            first: tuple[Dim, ...] = own[:1] if self.until else (steps,)
            stacked = k >= len(self.traced) or self.traced[k]
            rest = own[1:] if stacked else own
            known = tuple(mine if n is None else n for n, mine in zip(lengths[k], rest, strict=True))
            found.append((*first, *known) if stacked else known)
        return tuple(found)

    # --- the meaning
    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        n, rest = int(values[0]), values[1:]
        sequences, states, others = rest[: self.sequences], list(rest[self.states]), rest[self.states.stop :]
        self._check(n, sequences)
        rows: list[list[np.ndarray]] = [[] for _ in self.graph.outputs]
        for step in range(n):
            found = interpret(self.graph, [*(s[step] for s in sequences), *states, *others])
            found = [np.asarray(value) for value in found]
            before = [*(s.shape for s in states), *(r[0].shape if r else None for r in rows[len(states) :])]
            for k, (shape, new) in enumerate(zip(before, found, strict=True)):
                if shape not in (None, new.shape):
                    raise ValueError(self.changed(k, shape, new.shape, step))
            states = found[: len(states)]
            for k, value in enumerate(found):
                if k >= len(states) or self.traced[k]:
                    rows[k].append(value)
            if self.until and found[-1]:
                break
        shapes = [()] * len(rows) if n else self._row_shapes(rest)
        kept = len(self.graph.outputs) - self.until
        return tuple(
            _array(rows[k], shapes[k], o) if k >= len(states) or self.traced[k] else np.array(states[k])
            for k, o in enumerate(self.graph.outputs[:kept])
        )

    def _check(self, n: int, sequences: Sequence[np.ndarray]) -> None:
        if n < 0:
            raise ValueError(self.negative(n))
        for k, s in enumerate(sequences):
            if len(s) < n:
                raise ValueError(self.too_short(k, len(s), n))

    # --- what is said when it fails
    def negative(self, n: int) -> str:
        return f"{self.name}: the number of steps is {n}; expected 0 or more"

    def too_short(self, sequence: int, length: int, n: int) -> str:
        return f"{self.name}: sequence {sequence} has {counted(length, 'element')} for {counted(n, 'step')}"

    def changed(self, output: int, before: tuple[int, ...], after: tuple[int, ...], step: int) -> str:
        """Return the message on a state or output of the body that changes its shape."""
        states = self.graph.inputs[self.states]
        name = f"the state {_called(states[output])}" if output < len(states) else f"value {output - len(states)}"
        return f"{self.name}: {name} of shape {before} becomes one of shape {after} in step {step}"

    def _row_shapes(self, values: Sequence[np.ndarray]) -> list[tuple[int, ...]]:
        """Return the shapes of the states and values of a step that is not run; lengths that only a run tells are 0."""
        found: Any = self.lengths(list(map(constant, values)), [v.shape for v in values])
        return [tuple(n or 0 for n in shape) for shape in found]

    # --- the derivative
    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return Scan.vjp_onto(self, node, cotangents, [None] * len(node.inputs))

    def vjp_onto(
        self, node: Apply, cotangents: Sequence[Variable | None], totals: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        return scan_gradient.cotangents(node, cotangents, totals)  # type: ignore[no-any-return]

    def alive(self, node: Apply) -> Variable | None:
        """Return for each step whether it counts, along the first axis; None if all do."""
        return None

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Return one loop for all examples, which take the same steps."""
        require_shared(flags[:1], "the number of steps")
        body, states = self.graph, self.states
        steps, *rest = inputs
        given: dict[Variable, Variable] = {}
        same: dict[Variable, Variable] = {}
        varied = self._varied(flags[1:])
        sequences, leaves, firsts, olds = [], [], [], []
        for k, (outer, inner, has_axis) in enumerate(zip(rest, body.inputs, flags[1:], strict=True)):
            if k < states.start:
                sequences.append(T.swapaxes(outer, 0, 1) if has_axis else outer)  # steps first
                leaves.append(_leaf_like(sequences[-1].type.with_shape(sequences[-1].type.shape[1:]), inner))
                (given if has_axis else same)[inner] = leaves[-1]
            elif k < states.stop:
                firsts.append(examples.broadcast(outer) if inner in varied and not has_axis else outer)
                olds.append(_leaf_like(firsts[-1].type, inner))
                (given if inner in varied else same)[inner] = olds[-1]
            else:
                (given if has_axis else same)[inner] = outer
        outputs = rebuild(body.outputs, dict(same))
        depends = [o in varied for o in body.outputs]
        depends[: len(olds)] = [inner in varied for inner in body.inputs[states]]
        if self.until and depends[-1]:
            raise NoBatch("the number of steps would differ from one example to the next")
        many = iter(carried([o for o, d in zip(outputs, depends, strict=True) if d], given))
        kept = [next(many) if d else o for o, d in zip(outputs, depends, strict=True)]
        count, last = len(olds), len(outputs) - self.until
        found = looped(
            type(self), steps, sequences, leaves, firsts, olds, kept[:count], kept[count:last],
            kept[-1] if self.until else None, self.traced, self.truncate,
        )  # fmt: skip
        stacked = (*self.traced, *(True for _ in found[count:]))
        return [
            examples.broadcast(o) if not d else T.swapaxes(o, 0, 1) if s else o
            for o, s, d in zip(found, stacked, depends, strict=False)
        ]

    def _varied(self, flags: Flags) -> set[Variable]:
        """Return the values of a body that differ between examples."""
        body, states = self.graph, self.states
        found = {i for i, f in zip(body.inputs, flags, strict=True) if f}
        while True:
            for inner in body.order:
                if not found.isdisjoint(inner.inputs):
                    found.update(inner.outputs)
            new = {s for s, o in zip(body.inputs[states], body.outputs, strict=False) if o in found and s not in found}
            if not new:
                return found
            found |= new


def _leaf_like(kind: TensorType, like: Variable) -> Variable:
    return TensorVariable(kind, name=like.name)


def _called(state: Variable) -> str:
    return state.name or f"({state.type})"


def joint_type(a: TensorType, b: TensorType) -> TensorType:
    """Return the type with the lengths that both know."""
    return a.with_shape(tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)))


def _stacked(kind: TensorType, steps: int | None) -> TensorType:
    return kind.with_shape((steps, *kind.shape))


def _array(rows: list[np.ndarray], shape: tuple[int, ...], like: Variable) -> np.ndarray:
    return np.array(rows) if rows else np.empty((0, *shape), like.type.numpy)


# --- making


class UnfitState(TypeError):
    """A state whose type changes in a step."""

    def __init__(self, old: Variable, new: Variable) -> None:
        super().__init__(f"the state {_called(old)} is {old.type}, and becomes {new.type} in a step")
        self.old: Variable = old
        self.new: Variable = new


def fitted_body(
    inputs: Sequence[Variable], outputs: Sequence[Variable], states: slice
) -> tuple[list[Variable], list[Variable]]:
    """Return the body with state types that hold in every step: lengths that a step changes are unknown.

    Output k is the next value of state k.  Raises UnfitState for a state that becomes one of another dtype or rank, or
    of another known length.
    """
    inputs, outputs = list(inputs), list(outputs)
    while True:
        looser: dict[Variable, Variable] = {}
        for old, new in zip(inputs[states], outputs, strict=False):
            if not new.type.refines(old.type):
                pairs = list(zip(old.type.shape, new.type.shape, strict=False))
                if new.dtype != old.dtype or new.ndim != old.ndim or any(None not in p and p[0] != p[1] for p in pairs):
                    raise UnfitState(old, new)
                shape = tuple(mine if mine == theirs else None for mine, theirs in pairs)
                looser[old] = TensorVariable(old.type.with_shape(shape), name=old.name)
        if not looser:
            return inputs, outputs
        outputs = rebuild(outputs, dict(looser), stop_at=Older.than(looser))
        inputs = [looser.get(i, i) for i in inputs]


def closed(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> tuple[FunctionGraph, list[Variable]]:
    """Return the graph from `inputs` to `outputs`, and the outer values it reads, which do not depend on the inputs.

    What is taken stays outside of the graph and is computed there, once; constants stay inside.
    """
    known: dict[Variable, Variable] = {i: i for i in inputs}
    taken: list[Variable] = []
    order = toposort(outputs, stop_at=Older.than(inputs))
    dependent = set(inputs)
    for node in order:
        if not dependent.isdisjoint(node.inputs):
            dependent.update(node.outputs)
    read = [i for node in order if node.outputs[0] in dependent for i in node.inputs]
    for v in [*read, *outputs]:
        if v not in dependent and v not in known and not isinstance(v, Constant):
            known[v] = TensorVariable(v.type, name=v.name)
            taken.append(v)
    inside = rebuild(outputs, dict(known))
    return FunctionGraph([*inputs, *(known[v] for v in taken)], inside), taken


def looped(
    kind: type[Scan], steps: Variable, sequences: Sequence[Variable], slices: Sequence[Variable],
    firsts: Sequence[Variable], states: Sequence[Variable], new: Sequence[Variable], values: Sequence[Variable] = (),
    condition: Variable | None = None, traced: tuple[bool, ...] = (), truncate: int = -1,
) -> tuple[TensorVariable, ...]:  # fmt: skip
    """The outputs of a loop whose body is written in terms of `slices` of the sequences and of `states`.

    `new` are the next states, `values` the results of a step, `condition` ends the loop.  Other variables that the
    body depends on are captured from outside it.  Raises TypeError for a state that changes its type.
    """
    place = slice(len(slices), len(slices) + len(states))
    inputs, outputs = fitted_body([*slices, *states], [*new, *values, *_known(condition)], place)
    graph, taken = closed(inputs, outputs)
    op = kind(graph, len(slices), traced, condition is not None, truncate)
    return Apply(op, (steps, *sequences, *firsts, *taken)).outputs  # type: ignore[return-value]  # see as_tensor


def _known(condition: Variable | None) -> list[Variable]:
    return [] if condition is None else [condition]
