"""Loops and choices: their inner graphs become programs of their own, which the driver calls by address.

    scan{body}(n, x, first)   -->   Loop(body 0, n, ...)    for (t < n) body_0(row t of x, the state, ...)
    cond{a, b}(c, x)          -->   Choice(1, 2, c, ...)    c ? body_1(x) : body_2(x)

A loop that touches scalars and single elements alone is one kernel: see lowering/nests/element_loops.py.

The inputs of a body are C-contiguous.  The body writes its results to their final places: into the rows of a trace,
where the next step reads its state; or into two buffers by turns, where only the last state is wanted.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

from ....graph import Apply, Constant, Dim, FunctionGraph, Variable
from ....graph.dims import atoms, fold, opaque_dims
from ....ops.control.composed import Composed
from ....ops.control.cond import Cond
from ....ops.control.element_bodies import counts_by_one, in_place_order, nodes_within
from ....ops.control.scan_ops import Scan
from ....ops.control.small_arrays import LONGEST
from ....ops.control.while_ops import Recorded, While
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.fused import Fused, unmarked
from ....ops.shapes.creation import Arange
from ....record import lazy
from ...ir import loops as ir
from ..outcome import Outcome
from ..planned import planned
from ..planner import Planner
from ..program import INTEGER, Array, Choice, Detail, Length, Loop, Poll, Quantity
from .kernels import plan_kernel

element_loops: Any = lazy.module("...lowering.nests.element_loops", __package__)


def plan_scan(p: Planner, node: Apply) -> None:
    op = unmarked(node.op)
    assert isinstance(op, Scan)
    n, sequences, firsts, others = op.parts(node)
    steps = p.read(n)
    p.guard("not_negative", steps, failure=Outcome.NEGATIVE_STEPS)
    for k, s in enumerate(sequences):
        p.guard("reaches", p.arrays[s].lengths[0], steps, failure=Outcome.TOO_SHORT, axis=k)
    if not p.strided and is_elementary(node):
        plan_elements(p, node, steps)
        return
    rows = [p.arrays[s] if p.strided else _by_rows(p, p.arrays[s]) for s in sequences]
    states, fixed = ([p.arrays[v] if p.strided else p.packed(p.arrays[v]) for v in some] for some in (firsts, others))
    kept = quantities(p, _lengths(op, node))
    results, made = [], []
    count = p.name("n", INTEGER) if op.until else None
    for k, (output, lengths) in enumerate(zip(node.outputs, kept, strict=True)):
        stacked = k >= len(states) or op.traced[k]
        whole = (count or steps, *lengths) if stacked else lengths
        first = _overwritten(p, node, k, lengths)
        result, is_made = (first, False) if first else _result(p, output, whole, stacked and op.until)
        results.append(result)
        made.append(is_made)
    arrays = tuple(rows), tuple(states), tuple(fixed)
    body = op.own_states
    own = [(i, o) for i, o in body.updates if not made[o]]  # its memory is there before the first step
    number = p.plan_body(p, FunctionGraph(body.inputs, body.outputs, own))
    in_place = list(p.bodies.values())[number].in_place
    held = tuple(k in in_place and not is_made for k, is_made in zip(range(len(states)), made, strict=False))
    ends = tuple(kept), tuple(results), tuple(made)
    p.steps.append(Loop(p.site, number, steps, *arrays, op.traced, held, *ends, count))
    _put(p, node, results)


def _overwritten(p: Planner, node: Apply, output: int, lengths: tuple[Length, ...]) -> Array | None:
    """Return the array of the first value of a state if the loop may work in it."""
    place = node.op.destroys().get(output)
    if place is None:
        return None
    first = p.arrays[node.inputs[place]]
    if first.lengths != lengths or not p.is_overwritable(first):
        return None
    p.needed.add(node.outputs[output])
    return first


def is_elementary(node: Apply) -> bool:
    """Whether a loop touches elements and vectors alone, by operations that all have C, and its lengths are known."""
    op = unmarked(node.op)
    if not isinstance(op, Scan) or in_place_order(op) is None or any(None in row for row in _lengths(op, node)):
        return False
    kinds = {type(unmarked(node.op)) for node in nodes_within(op.graph)}
    own = (planned(kind) for kind in kinds if issubclass(kind, (Pointwise, Fused)))
    return all(found is not None and found.plan is plan_kernel for found in own)


def _lengths(op: Scan | Cond, node: Apply) -> Sequence[Sequence[Dim | None]]:
    """Return the lengths of what a step or a branch gives, in terms of the operands; None if a run alone tells."""
    return op.lengths(node.inputs[1:], list(map(opaque_dims, node.inputs[1:])))


def plan_elements(p: Planner, node: Apply, steps: Quantity) -> None:
    """Plan one kernel for all steps.  Its array states begin as copies of their first values."""
    op = unmarked(node.op)
    assert isinstance(op, Scan)
    results = _begun_results(p, node, op, steps)
    named = _Names()
    count = named(steps)
    dense = _dense_operands(p, node, op)
    given = []
    for v in node.inputs[1:]:
        known = p.known(v)
        if known is not None and v.dtype == "int64":
            given.append(element_loops.Given(named(known)))
        else:
            given.append(named.array(dense.get(v, p.arrays[v]), is_count(v)))
    for k, result in zip(range(op.states.start, op.states.stop), results, strict=False):
        if node.inputs[1 + k].ndim:
            given[k] = named.array(result)
    kernel = element_loops.element_kernel(node, count, given, list(map(named.array, results)), len(named.numbers))
    reads = [dense[node.inputs[i.source]] for i in kernel.inputs]
    like = [results[o.source] for o in kernel.outputs[len(results) :]]
    writes = [*results, *(p.fresh(a.dtype, (p.sum(a.lengths),)) for a in like)]  # a vector is along one axis
    arguments = [*named.numbers, *writes, *reads, Detail(), Poll()]
    p.call(kernel, arguments, writes, reads)
    _put(p, node, results)


def _begun_results(p: Planner, node: Apply, op: Scan, steps: Quantity) -> list[Array]:
    """Return the array of each result; those of array states hold the first values."""
    results = []
    for k, (output, lengths) in enumerate(zip(node.outputs, quantities(p, _lengths(op, node)), strict=True)):
        stacked = k >= len(op.traced) or op.traced[k]
        there = _overwritten(p, node, k, lengths)
        results.append(there or _result(p, output, (steps, *lengths) if stacked else lengths, False)[0])
    for first, result in zip(op.parts(node)[2], results, strict=False):
        if first.ndim and p.arrays[first].base != result.base:
            p.copy(result, p.arrays[first])
    return results


def _dense_operands(p: Planner, node: Apply, op: Scan) -> dict[Variable, Array]:
    """Return the array of each operand that is read; dense where steps work on vectors.

    Compilers make vectors of dense elements only.  A sequence may be read from its last row to the first.
    """
    packs = any(map(element_loops.is_vector_loop, nodes_within(op.graph)))
    _, sequences, own, others = op.parts(node)
    dense = {}
    for v in node.inputs[1:]:
        if not is_count(v):
            fit = _by_rows if v in sequences and v not in others else Planner.packed
            dense[v] = fit(p, p.arrays[v]) if packs and v.ndim and v not in own else p.arrays[v]
    return dense


class _Names:
    """The quantities of a kernel as expressions: small integers, and the numbers that it is given, in `numbers`."""

    def __init__(self) -> None:
        self.numbers: dict[Quantity, ir.Expr] = {}

    def __call__(self, quantity: Quantity) -> ir.Expr:
        if isinstance(quantity, int) and quantity <= LONGEST:
            return ir.number(quantity)
        return self.numbers.setdefault(quantity, ir.index(f"n{len(self.numbers)}"))

    def array(self, a: Array, is_range: bool = False) -> element_loops.Given:
        strides = (ir.ONE,) if is_range else tuple(map(self, a.strides))
        return element_loops.Given(None, is_range, tuple(map(self, a.lengths)), strides)


def counted_ranges(node: Apply) -> tuple[Variable, ...]:
    """Return the inputs of a loop whose elements its kernel counts instead of reading them; first values are read."""
    if not is_elementary(node):
        return ()
    firsts = unmarked(node.op).parts(node)[2]  # type: ignore[attr-defined]
    return tuple(v for v in node.inputs if is_count(v) and v not in firsts)


def is_count(v: Variable) -> bool:
    """Whether a vector is certainly 0, 1, 2, ..."""
    if v.owner is None or not isinstance(v.owner.op, Arange) or not counts_by_one(v.owner):
        return False
    start = v.owner.inputs[0]
    return isinstance(start, Constant) and bool(start.data == 0)


def plan_cond(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, Cond)
    operands = [p.packed(p.arrays[v]) for v in node.inputs[1:]]
    kept = quantities(p, _lengths(op, node))
    results, made = [], []
    for output, lengths in zip(node.outputs, kept, strict=True):
        result, is_made = _result(p, output, lengths, False)
        results.append(result)
        made.append(is_made)
    bodies = p.plan_body(p, op.then), p.plan_body(p, op.otherwise)
    condition = p.read(node.inputs[0])
    p.steps.append(Choice(p.site, bodies, condition, tuple(operands), tuple(kept), tuple(results), tuple(made)))
    _put(p, node, results)


def plan_composed(p: Planner, node: Apply) -> None:
    """Plan the graph of a composition in its place."""
    assert isinstance(node.op, Composed)
    p.expand(node, node.op.expand(node.inputs))


def _by_rows(p: Planner, array: Array) -> Array:
    """Return the array if each of its rows is certainly C-contiguous, else a copy."""
    rows = array.lengths[1:]
    return array if array.dense or array.strides[1:] == p.strides(rows) else p.packed(array)


def quantities(p: Planner, rows: Sequence[Sequence[Dim | None]]) -> list[tuple[Length, ...]]:
    """Return lengths in terms of planned operands as quantities of the program; None if known only at run time."""
    return [tuple(None if n is None else _quantity(p, n) for n in row) for row in rows]


def _quantity(p: Planner, dim: Dim) -> Length:
    if any(atom.args[0] not in p.arrays for atom in atoms(dim)):  # rewrites have removed what it speaks of
        return None
    return fold(dim, partial(_atom, p), lambda kind, parts: reduce(partial(_combined, p, kind), parts))


def _atom(p: Planner, dim: Dim) -> Quantity:
    if isinstance(dim, int):
        return dim
    variable: Any
    variable, *axis = dim.args
    return p.arrays[variable].lengths[operator.index(axis[0])] if axis else p.read(variable)  # type: ignore[arg-type]


def _combined(p: Planner, kind: str, a: Quantity, b: Quantity) -> Quantity:
    if kind in ("add", "sub"):
        return p.sum((a, b if kind == "add" else p.product((b, -1))))
    if kind == "mul":
        return p.product((a, b))
    return p.join((a, b)) if kind == "broadcast" else p.let("quotient" if kind == "floordiv" else kind, a, b)


def _result(p: Planner, output: Variable, lengths: tuple[Length, ...], grows: bool) -> tuple[Array, bool]:
    """Return where a result goes, and whether the step itself allocates it, since its size is unknown before."""
    p.needed.add(output)
    if None not in lengths and not grows:
        return p.fresh(output.dtype, lengths, p.direct.get(output)), False  # type: ignore[arg-type]
    known = tuple(p.name("n", INTEGER) if n is None else n for n in lengths)
    buffer = p.buffer()
    return Array(buffer, output.dtype, known, (), True, (buffer,)), True


def _put(p: Planner, node: Apply, results: Sequence[Array]) -> None:
    """Set where the outputs lie, now that all lengths are known."""
    for output, array in zip(node.outputs, results, strict=True):
        p.keep_promises(output, array.lengths)
        p.put(output, p.dense(array.base, array.dtype, array.lengths))


PLANNERS = {
    Scan: plan_scan,
    While: plan_scan,
    Recorded: plan_scan,
    Cond: plan_cond,
    Composed: plan_composed,
}
