"""Accounts of a profiled function besides time and bytes: floating-point operations of each node, and memory held.

    count    site, start, bytes, flops, moment    after the steps of a node
    hold     entry, bytes                         when a buffer is allocated or given back, in bodies too
    spared   bytes, lasting                       when a result is written over an operand
    called   row, done, counted, moment           when the call ends
    timed    loop, step                           a step of a loop, or a branch

`call->profile` holds COLUMNS numbers for each node and for the whole call.  The same follows for each body that a node
runs, in the order of the steps: its nodes, then steps that were timed, their ticks, all steps, steps until the next
timed one, then the bodies within it.  One step in 64 is timed, unless steps are long.  From `at` on: bytes held now,
their peak, the peak as it would be if nothing were done in place, bytes spared for the rest of the call, bytes of the
block that is planned for all buffers; then the bytes of each slot (a body has those of its own in its frame).  The
rest describes the last call: begin and end of each row, and the bytes of each buffer.

An operation counts as many additions as take as long by the cost model (a division 2, an exp some 25), a product of
matrices 2 a multiplication, a factorization what its textbook algorithm does (LU 2/3 n^3, Cholesky 1/3 n^3; Golub and
Van Loan, "Matrix Computations"); integers and comparisons count nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from ...graph import Apply, Op
from ...ops.elementwise.costs import additions
from ...ops.elementwise.records import ELEMENTWISE, Elementwise, Pointwise, add, exp, mul, sub, true_div
from ...ops.lowered.fused import GraphOp, InPlace, unmarked
from ...ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ...ops.reductions.cumulative import Cumulative
from ...ops.reductions.reduce import ArgReduce, Reduce
from ...targets.current import current
from ..kernels import Work
from . import program as prog
from .calls import spec_of, work_of

COLUMNS = 4
"""Numbers a node: runs, ticks of the clock, bytes, floating-point operations; of the call the first two."""
TOTALS, PLANNED = 5, 4
"""Row of memory statistics: held now, the peak, the peak without in-place work, saved for good; number 4: planned."""

Term = tuple[int, tuple[prog.Quantity, ...], int]
"""A number times lengths, divided by another number."""
Count = Callable[[prog.Program, prog.Site, Sequence[prog.Step]], list[Term]]
"""Returns the operations of a node, from its site and its steps; planned.py has that of each class."""
ROWS: dict[type[Op], tuple[Elementwise, ...]] = {Softmax: (exp, true_div), LogSoftmax: (exp, sub), LogSumExp: (exp,)}
"""Operations on each element of a row, besides the maximum, its subtraction and the sum."""
ROW_ADDITIONS = 3


def room(program: prog.Program) -> int:
    """Return the number of entries of `call->profile`."""
    return moments_at(program) + 2 * (whole_call(program) + 1) + len(program.slots)


def moments_at(program: prog.Program) -> int:
    """Return the offset in `call->profile` of the start and end times of the rows in the last call."""
    return memory_at(program) + TOTALS + max(program.slots.values(), default=-1) + 1


def moment_of(program: prog.Program, row: int) -> int:
    """Return the index of the start time of a row in the last call; its end time follows."""
    return moments_at(program) + 2 * row


def sizes_at(program: prog.Program) -> int:
    """Return the offset of the bytes of the buffers in the last call, in the order of the slots."""
    return moment_of(program, whole_call(program) + 1)


def memory_at(program: prog.Program) -> int:
    """Return the offset in `call->profile` of the memory statistics, which is the size of the counters before it."""
    return own_counters(program) + sum(memory_at(program.bodies[number]) for _, number in body_runs(program))


def own_counters(program: prog.Program) -> int:
    """Return how many numbers the nodes of a program and the program itself have, without its bodies."""
    return COLUMNS * (whole_call(program) + 1)


def body_runs(program: prog.Program) -> list[tuple[int, int]]:
    """Return (site, number of the body) for each body that a loop or a choice runs; a shared one is there for each."""
    loops = (step for step in program.steps if isinstance(step, (prog.Loop, prog.Choice)))
    return [(step.site, number) for step in loops for number in prog.bodies_of(step)]


def counters_at(program: prog.Program, site: int, number: int) -> int:
    """Return the offset of the counters of a body that a node runs."""
    return bodies_at(program)[body_runs(program).index((site, number))]


def bodies_at(program: prog.Program) -> list[int]:
    """Return the offset of the counters of each of `body_runs`."""
    sizes = [memory_at(program.bodies[number]) for _, number in body_runs(program)]
    return list(accumulate(sizes, initial=own_counters(program)))[:-1]


def whole_call(program: prog.Program) -> int:
    """Return the row of the whole call: after those of the nodes and that of the copies into outputs."""
    return len(program.sites) + 1


# --- floating-point operations


def of_kernels(program: prog.Program, site: prog.Site, steps: Sequence[prog.Step]) -> list[Term]:
    """Return the operations of the kernel that a node launches."""
    return of_launches(program, steps, [cost(site.node)])


def of_launches(program: prog.Program, steps: Sequence[prog.Step], costs: Sequence[int]) -> list[Term]:
    """Return the operations of launches of these costs an element; none if there are fewer launches than costs."""
    ranks = {kernel.name: kernel.rank for kernel in program.kernels}
    launches = [s for s in steps if isinstance(s, prog.Call) and s.kernel and s.function in ranks]
    extents = [tuple(a for a in s.arguments[: ranks[s.function]] if isinstance(a, (int, str))) for s in launches]
    if len(costs) > len(extents):
        return []
    return [(each, lengths, 1) for each, lengths in zip(costs, extents, strict=False) if each]


def of_calls(program: prog.Program, site: prog.Site, steps: Sequence[prog.Step]) -> list[Term]:
    """Return the operations of the kernels of the runtime that a node calls, as their specs and stages tell."""
    found: list[Term] = []
    for step in steps:
        if not isinstance(step, prog.Call) or spec_of(step) is None:
            continue
        found += (_term(work, step.dtype) for work in work_of(step.function, step.arguments))
        pipelines = (a for a in step.arguments if isinstance(a, prog.Stages))
        found += ((stage.cost, stage.extents, 1) for a in pipelines for stage in a.stages if stage.cost)
    return found


def _term(work: Work, dtype: str) -> Term:
    """Return the operations of a call in additions."""
    functions = (ELEMENTWISE[name] for name in work.functions)
    each = sum(current().costs.additions(f.name, f.cost, dtype) for f in functions)
    return work.number + each, work.lengths, work.over


def cost(node: Apply) -> int:
    """Return additions per element of the loops of a node."""
    op = unmarked(node.op)
    if isinstance(op, GraphOp):
        return sum(cost(inner) for inner in op.graph.order)
    if node.outputs[0].type.kind not in "fc" or node.inputs[0].type.kind not in "fc":
        return 0
    if isinstance(op, Pointwise):
        times = len(node.inputs) - 1 if op in (add, mul) else 1
        return additions(node) * times
    if isinstance(op, (Reduce, ArgReduce, Cumulative)):
        return 1
    return _of_row(type(op), node.out.dtype) if type(op) in ROWS else 0


def _of_row(kind: type[Op], dtype: str) -> int:
    """Return additions per element of a row."""
    return sum(current().costs.additions(f.name, f.cost, dtype) for f in ROWS[kind]) + ROW_ADDITIONS


# --- memory


def held(program: prog.Program, step: prog.Step) -> Iterator[tuple[int, prog.Array | None]]:
    """Yield (slot, what lies in it after a step; None if it was released)."""
    if isinstance(step, prog.Release):
        yield step.slot, None
    if isinstance(step, (prog.Allocate, prog.Pack)) and step.buffer in program.slots:
        lengths = step.lengths if isinstance(step, prog.Allocate) else step.array.lengths
        dtype = step.dtype if isinstance(step, prog.Allocate) else step.array.dtype
        yield program.slots[step.buffer], prog.Array(step.buffer, dtype, lengths, (), True, (step.buffer,))
    if isinstance(step, (prog.Loop, prog.Choice)):
        for array, made in zip(step.results, step.made, strict=True):
            if made and isinstance(array.base, prog.Buffer) and array.base in program.slots:
                yield program.slots[array.base], array


def spared(program: prog.Program, site: int, steps: Sequence[prog.Step]) -> Iterator[tuple[prog.Array, bool]]:
    """Yield the arrays that a node overwrites instead of allocating its own, and whether they are inputs."""
    if site >= len(program.sites) or not isinstance(program.sites[site].node.op, InPlace):
        return
    written = [a for s in steps if isinstance(s, prog.Call) for a in s.writes]
    allocated = {s.buffer for s in steps if isinstance(s, prog.Allocate)}
    for array in program.sites[site].operands:
        if any(array.base == w.base for w in written) and array.base not in allocated and array.base:
            yield array, not isinstance(array.base, prog.Buffer)
