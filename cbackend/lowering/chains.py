"""Unroll-and-jam of long chains: loops whose body is one long sequence of dependent statements.

    for (i = a; i < b; i++) { v1 = c * x[i]; v2 = sqrt(v1); ...; y[i] = v99; }
    -->
    const i64 part = (b - a) / 48 * 16;
    for (i = a; i < a + part; i++) {
        v1 = c * x[i]; v1_u1 = c * x[i + part]; v1_u2 = c * x[i + 2 * part];
        v2 = sqrt(v1); v2_u1 = sqrt(v1_u1); v2_u2 = sqrt(v1_u2);
        ...
    }
    for (i = a + 3 * part; i < b; i++) { ... }

A processor overlaps the steps of a loop as far as its window of instructions reaches.  A chain that is longer than the
window waits for each result: 4 cycles for a product, 19 for a square root.  Steps that stand side by side fill these
cycles.  On Intel's Xeon (AMX) a chain of 200 operations with 50 square roots takes 0.51 of the time, 0.99 of the limit
that their throughput sets; chains of 50 to 200 products and sums take 0.52 to 0.58.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ...targets.current import current
from ..ir import loops as ir
from ..ir.walk import names_in
from .arrange import side_by_side
from .nest import sizes_of

PART = "part"


def jammed(loop: ir.For) -> ir.Body:
    """Return a loop of cheap functions; if it is a long chain, with several steps side by side."""
    copies = _copies(loop)
    if copies < 2:
        return (loop,)
    lanes, count = ir.number(_lanes(loop)), ir.minus(loop.stop, loop.start)
    part, here = ir.index(PART), ir.index(loop.index)
    together = ir.times(ir.number(copies), lanes)
    steps: list[dict[str, ir.Expr]] = [{}]
    steps += [{loop.index: ir.plus(here, ir.times(ir.number(k), part))} for k in range(1, copies)]
    body = side_by_side(loop.body, steps)
    return (
        ir.Let(part.name, ir.ScalarOp("segment_length", "int64", (count, ir.ZERO, together, lanes))),
        replace(loop, stop=ir.plus(loop.start, part), body=body, jammed=True),
        replace(loop, start=ir.plus(loop.start, ir.times(ir.number(copies), part))),
    )


def _lanes(loop: ir.For) -> int:
    return max(1, current().vector // min(sizes_of(loop)))


def _copies(loop: ir.For) -> int:
    """Return how many steps of a loop stand side by side, as far as their values fit in registers; 1 for no chain."""
    limits, simple = current().limits.chains, all(isinstance(s, (ir.Let, ir.Store)) for s in loop.body)
    if not (loop.simd and simple) or loop.reductions or loop.step != 1:
        return 1
    computed = [s for s in loop.body if isinstance(s, ir.Let) and isinstance(s.value, ir.ScalarOp)]
    if len(computed) < limits.body or limits.parallel * _depth(computed) < len(computed):
        return 1
    return min(limits.copies, current().registers // (1 + _most_alive(loop.body)))


def _depth(computed: Collection[ir.Let]) -> int:
    """Return the number of statements on the longest path of dependences."""
    depth: dict[str, int] = {}
    for s in computed:
        depth[s.name] = 1 + max((depth.get(name, 0) for name in names_in(s.value)), default=0)
    return max(depth.values(), default=0)


def _most_alive(body: ir.Body) -> int:
    """Return the most values of a body that are alive at once."""
    made = {s.name for s in body if isinstance(s, ir.Let)}
    alive, most = set[str](), 0
    for s in reversed(body):
        if isinstance(s, ir.Let):
            alive.discard(s.name)
        value = s.value if isinstance(s, (ir.Let, ir.Store)) else ir.ZERO
        alive.update(name for name in names_in(value) if name in made)
        most = max(most, len(alive))
    return most
