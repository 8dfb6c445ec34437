"""Loops and choices: their inner graphs become programs of their own, which the driver calls by address.

    scan{body}(n, x, first)   -->   Loop(body 0, n, ...)    for (t < n) body_0(row t of x, the state, ...)
    cond{a, b}(c, x)          -->   Choice(1, 2, c, ...)    c ? body_1(x) : body_2(x)

What a body is given is C-contiguous.  It computes its results where they belong: into the rows of a trace, the state of
the next step being that row; into two places in turn, where only the last state is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...graph import Apply, FunctionGraph, Variable
from ...ops.cond import Cond
from ...ops.scan_ops import Scan, lengths_of_body
from .outcome import Outcome
from .planner import Planner
from .program import INTEGER, Array, Choice, Length, Lengths, Loop

Body = Callable[[Planner, FunctionGraph], int]
"""Function that plans a graph as a body of the program under construction and returns its number."""


def plan_scan(p: Planner, node: Apply, body: Body) -> None:
    op = node.op
    assert isinstance(op, Scan)
    n, sequences, firsts, others = op.parts(node)
    steps = p.read(n)
    p.guard("not_negative", steps, failure=Outcome.NEGATIVE_STEPS)
    rows = [_by_rows(p, p.arrays[s]) for s in sequences]
    for k, array in enumerate(rows):
        p.guard("reaches", array.lengths[0], steps, failure=Outcome.TOO_SHORT, axis=k)
    states, fixed = ([p.packed(p.arrays[v]) for v in some] for some in (firsts, others))
    shapes = [*(a.lengths[1:] for a in rows), *(a.lengths for a in (*states, *fixed))]
    kept: list[tuple[Length, ...]] = [a.lengths for a in states]
    kept += [_lengths(row, shapes) for row in lengths_of_body(op.graph)[op.values]]
    results, made = [], []
    count = p.name("n", INTEGER) if op.until else None
    for k, (output, lengths) in enumerate(zip(node.outputs, kept, strict=True)):
        stacked = k >= len(states) or op.traced[k]
        whole = (count or steps, *lengths) if stacked else lengths
        result, is_made = _result(p, output, whole, stacked and op.until)
        results.append(result)
        made.append(is_made)
    arrays = tuple(rows), tuple(states), tuple(fixed)
    number = body(p, op.graph)
    p.steps.append(
        Loop(p.site, number, steps, *arrays, op.traced, tuple(kept), tuple(results), tuple(made), count)
    )
    _put(p, node, results)


def plan_cond(p: Planner, node: Apply, body: Body) -> None:
    op = node.op
    assert isinstance(op, Cond)
    operands = [p.packed(p.arrays[v]) for v in node.inputs[1:]]
    shapes = [a.lengths for a in operands]
    one, other = (lengths_of_body(graph) for graph in op.branches)
    kept, results, made = [], [], []
    for output, a, b in zip(node.outputs, one, other, strict=True):
        lengths = tuple(
            m if m == n else None for m, n in zip(_lengths(a, shapes), _lengths(b, shapes), strict=True)
        )
        result, is_made = _result(p, output, lengths, False)
        kept.append(lengths)
        results.append(result)
        made.append(is_made)
    bodies = body(p, op.then), body(p, op.otherwise)
    condition = p.read(node.inputs[0])
    p.steps.append(Choice(p.site, bodies, condition, tuple(operands), tuple(kept), tuple(results), tuple(made)))
    _put(p, node, results)


def _by_rows(p: Planner, array: Array) -> Array:
    """Return the array if each of its rows is certainly C-contiguous, else a copy."""
    rows = array.lengths[1:]
    return array if array.dense or array.strides[1:] == p.strides(rows) else p.packed(array)


def _lengths(row: Sequence[object], shapes: Sequence[Lengths]) -> tuple[Length, ...]:
    """Return the lengths of a result of a body in terms of its arguments; None if known only at run time."""
    return tuple(shapes[n[0]][n[1]] if isinstance(n, tuple) else n for n in row)  # type: ignore[misc]


def _result(p: Planner, output: Variable, lengths: tuple[Length, ...], grows: bool) -> tuple[Array, bool]:
    """Return where a result goes, and whether the step itself allocates it, since its size is unknown before."""
    p.needed.add(output)
    if None not in lengths and not grows:
        return p.fresh(output.dtype, lengths, p.direct.get(output)), False  # type: ignore[arg-type]
    told = tuple(p.name("n", INTEGER) if n is None else n for n in lengths)
    buffer = p.buffer()
    return Array(buffer, output.dtype, told, (), True, (buffer,)), True


def _put(p: Planner, node: Apply, results: Sequence[Array]) -> None:
    """Set where the outputs lie, now that all lengths are known."""
    for output, array in zip(node.outputs, results, strict=True):
        p.keep_promises(output, array.lengths)
        p.put(output, p.dense(array.base, array.dtype, array.lengths))
