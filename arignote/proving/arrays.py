"""Graphs evaluated on symbolic arrays: arrays of terms of known lengths, with what is concrete computed by NumPy.

An op is translated in the first of these ways that fits:

    by its record     elementwise ops, casts, reductions, products: the theory's own words for each element
    by its body       lowered ops: the graph that they mean
    as a mover        ops on shapes and indices: the op itself, run on numbers that stand for elements
    by its meaning    over the reals: NumPy's operations of `evaluate`, on terms
    as a function     random draws, and anything else: equal operands give equal results
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph import Apply, Constant, FunctionGraph, Variable, toposort
from ..ops.core.interpret import evaluate_node
from ..ops.elementwise.records import Cast, Elementwise
from ..ops.shapes.lengths import Shape, ShapeI
from ..record.spelling import counted
from .draws import UnknownDraw
from .meanings import OWN
from .terms import NotTranslated, Term
from .values import LARGEST, Array, Known, lifted, objects, trial

MOVERS = ("arignote.ops.shapes.", "arignote.ops.lowered.blocked", "arignote.ops.lowered.assumed")
"""Modules whose ops may only move elements; each use is checked on several numberings."""


class Translation:
    """The values of a graph in a theory."""

    def __init__(self, theory: Any) -> None:
        self.theory = theory
        self.how: set[str] = set()

    def run(self, graph: FunctionGraph, given: Mapping[Variable, Known]) -> list[Known]:
        return self.outputs(graph.order, graph.outputs, dict(given))

    def outputs(self, nodes: Sequence[Apply], outputs: Sequence[Variable], known: dict[Variable, Known]) -> list[Known]:
        for node in nodes:
            self.theory.require_time()
            inputs = [self.value_of(i, known) for i in node.inputs]
            with np.errstate(all="ignore"):
                results = self.node(node, inputs)
            known.update(zip(node.outputs, results, strict=True))
        return [self.value_of(o, known) for o in outputs]

    def value_of(self, variable: Variable, known: Mapping[Variable, Known]) -> Known:
        """The value of a variable that was computed, or of a constant."""
        return variable.data if isinstance(variable, Constant) else known[variable]

    def node(self, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
        op = node.op
        if isinstance(op, (ShapeI, Shape)) and isinstance(inputs[0], Array):
            inputs = [np.zeros(inputs[0].shape)]
        if isinstance(op, UnknownDraw):
            return self.drawn(node, inputs)
        if not any(isinstance(i, Array) for i in inputs) and not self._is_real_number(node):
            return evaluate_node(node, inputs)
        own = OWN.get(type(op))
        if isinstance(op, (Elementwise, Cast)):
            return [self.elementwise(node, inputs)]
        if own is not None:
            return own(self, node, inputs)
        body = op.body(node.inputs) if hasattr(op, "body") else None
        if body is not None:
            nodes = toposort(body, stop_at=node.inputs)
            known = dict(zip(node.inputs, inputs, strict=True))
            return self.outputs(nodes, body, known)
        module = type(op).__module__
        if module.startswith(MOVERS):
            moved = self.moved(node, inputs)
            if moved is not None:
                return moved
        if self.theory.name == "reals" or module.startswith("arignote.ops.shapes."):
            made = self.by_meaning(node, inputs)
            if made is not None:
                return made
        return self.opaque(node, inputs)

    def _is_real_number(self, node: Apply) -> bool:
        """Whether the node computes a number from others that must not be rounded."""
        variables = (*node.inputs, *node.outputs)
        return (
            self.theory.name == "reals"
            and isinstance(node.op, Elementwise)
            and all(v.type.kind == "f" for v in variables)
        )

    # --- elementwise

    def elementwise(self, node: Any, inputs: Sequence[Known]) -> Known:
        op, theory = node.op, self.theory
        dtypes, result = op.loop(tuple(i.dtype for i in node.inputs))
        arrays = [lifted(theory, i, v.dtype) for i, v in zip(inputs, node.inputs, strict=True)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        rows = [np.broadcast_to(a.items, shape).ravel() for a in arrays]
        if len(rows[0]) > LARGEST:
            raise NotTranslated(f"an array of {counted(len(rows[0]), 'element')}")
        if isinstance(op, Cast):
            made = [theory.cast(t, result) for t in rows[0]]
        else:
            made = [theory.apply(op, operands, dtypes, result) for operands in zip(*rows, strict=True)]
        return Array(objects(shape, made), result)

    # --- movers

    def moved(self, node: Apply, inputs: Sequence[Known]) -> list[Known] | None:
        """The outputs of an op that only moves elements, which is found by moving numbers; None if it does more."""
        if len(node.outputs) != 1:
            return None
        out = node.outputs[0].dtype
        same = [k for k, v in enumerate(node.inputs) if v.dtype == out]
        symbolic = [k for k, i in enumerate(inputs) if isinstance(i, Array)]
        for lifting in dict.fromkeys([tuple(sorted({*same, *symbolic})), tuple(symbolic)]):
            if not set(symbolic) <= set(lifting) or any(node.inputs[k].dtype != out for k in lifting):
                continue
            try:
                arrays = {k: lifted(self.theory, inputs[k], out) for k in lifting}
                return [self._moved(node, inputs, arrays, out)]
            except (ArithmeticError, LookupError, TypeError, ValueError, NotTranslated):
                continue
        return None

    def _moved(self, node: Apply, inputs: Sequence[Known], arrays: dict[int, Array], dtype: str) -> Array:
        terms = [t for a in arrays.values() for t in a.items.flat]
        count = len(terms)
        rng = np.random.default_rng(count)
        kind = "complex128" if dtype.startswith("complex") else "int64" if dtype != "float16" else "float64"
        numberings = [
            np.arange(1, count + 1), -np.arange(1, count + 1), np.arange(count, 0, -1),
            rng.permutation(count) - count - 7, rng.permutation(count) + 11,
        ]  # fmt: skip
        places = None
        for numbering in numberings:
            numbers = numbering.astype(kind)
            if kind == "complex128":
                numbers = numbers + 1j * numbers[::-1]
            values, at = list(inputs), 0
            for k, a in arrays.items():
                values[k] = numbers[at : at + a.items.size].reshape(a.shape)
                at += a.items.size
            (moved,) = node.op.evaluate(*values)
            index = {n: j for j, n in enumerate(numbers.tolist())}
            found = [index[n] if n != 0 else -1 for n in moved.ravel().tolist()]
            if places is not None and found != places:
                raise ValueError("the op does not only move elements")
            places = found
        assert places is not None
        zero = self.theory.constant(0, dtype) if -1 in places else None
        return Array(objects(moved.shape, [zero if j < 0 else terms[j] for j in places]), dtype)

    # --- other ways

    def by_meaning(self, node: Apply, inputs: Sequence[Known]) -> list[Known] | None:
        """The outputs of `evaluate` on arrays of terms; None if it asks for more than arithmetic."""
        values = [
            i.items if isinstance(i, Array) else lifted(self.theory, i, v.dtype).items if v.type.kind in "fc" else i
            for i, v in zip(inputs, node.inputs, strict=True)
        ]
        try:
            results = node.op.evaluate(*values)
        except (TypeError, ValueError, AttributeError, IndexError, NotTranslated, np.linalg.LinAlgError):
            return None
        made: list[Known] = []
        for result, variable in zip(results, node.outputs, strict=True):
            result = np.asarray(result)
            if result.dtype == object:
                items = [
                    self.theory.cast(t, variable.dtype)
                    if isinstance(t, Term)
                    else self.theory.constant(t, variable.dtype)
                    for t in result.flat
                ]
                made.append(Array(objects(result.shape, items), variable.dtype))
            else:
                made.append(result)
        self.how.add(f"{node.op.name} by its NumPy meaning")
        return made

    def drawn(self, node: Any, inputs: Sequence[Known]) -> list[Known]:
        """The outputs of a draw as unknown functions, also where all operands are known."""
        if any(isinstance(n, Array) for n in node.op.lengths(inputs)):
            raise NotTranslated("a draw of unknown lengths")
        return self.opaque(node, inputs)

    def opaque(self, node: Apply, inputs: Sequence[Known]) -> list[Known]:
        """The outputs as unknown functions of the operands; their shapes from a run on ones."""
        op = node.op
        ones = [trial(i.dtype, i.shape) if isinstance(i, Array) else i for i in inputs]
        if type(op).__module__.startswith(MOVERS) and any(
            v.type.kind in "iu" and isinstance(i, Array) for v, i in zip(node.inputs, inputs, strict=True)
        ):
            raise NotTranslated(f"{op.name} of unknown integers")  # which may be lengths
        try:
            shapes = [r.shape for r in evaluate_node(node, ones)]
        except (ValueError, IndexError, ArithmeticError, TypeError) as error:
            raise NotTranslated(f"{op.name}: {str(error).splitlines()[0]}") from None
        terms = [
            t for i, v in zip(inputs, node.inputs, strict=True) for t in lifted(self.theory, i, v.dtype).items.flat
        ]
        key = f"{op.name}#{self.theory.ops.setdefault(op, len(self.theory.ops))}{[tuple(i.shape) for i in inputs]}"
        self.how.add(f"{op.name} as a function")
        made = []
        for n, (variable, shape) in enumerate(zip(node.outputs, shapes, strict=True)):
            self.theory.require_time()
            items = [
                self.theory.opaque(f"{key}.{n}{list(position)}", terms, variable.dtype)
                for position in np.ndindex(*shape)
            ]
            made.append(Array(objects(shape, items), variable.dtype))
        return made
