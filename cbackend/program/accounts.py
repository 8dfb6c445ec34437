"""Accounts of a profiled function besides time and bytes: floating-point operations of each node, and memory held.

    count    site, start, bytes, flops, moment    after the steps of a node
    hold     at, slot, bytes                      when a buffer is allocated or given back
    spared   at, bytes, lasting                   when a result is written over an operand
    called   row, done, moment                    when the call ends

`call->profile` holds COLUMNS numbers for each node and for the whole call, and from `at` on: bytes held now, their
peak, the peak as it would be if nothing were done in place, bytes spared for the rest of the call, bytes of the block
that is planned for all buffers; then the bytes of each slot.  The rest describes the last call: begin and end of
each row, and the bytes of each buffer.

An operation counts as many additions as take as long by the cost model (a division 2, an exp some 25), a product of
matrices 2 a multiplication, a factorization what its textbook algorithm does (LU 2/3 n^3, Cholesky 1/3 n^3; Golub and
Van Loan, "Matrix Computations"); integers and comparisons count nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ...graph import Apply, Op
from ...graph.facets import facet_of
from ...ops.elementwise.costs import additions
from ...ops.elementwise.records import ELEMENTWISE, Elementwise, Pointwise, add, exp, mul, sub, true_div
from ...ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ...ops.lowered.assembled import Assembled
from ...ops.lowered.bfloats import BfloatDot, PackedBfloatDot
from ...ops.lowered.blocked import BlockedConvolution
from ...ops.lowered.blocked_pool import BlockedPool
from ...ops.lowered.channel_sums import ChannelSums
from ...ops.lowered.fused import GraphOp, InPlace, unmarked
from ...ops.lowered.fused_product import FusedProduct
from ...ops.lowered.packed_dot import PackedDot
from ...ops.lowered.pipeline import Pipeline
from ...ops.networks.convolution import Convolution
from ...ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ...ops.reductions.cumulative import Cumulative
from ...ops.reductions.reduce import ArgReduce, Reduce
from ...ops.shapes.creation import Alloc
from ...ops.shapes.indexing import IncSubtensor
from ...ops.shapes.joining import Join
from ...targets.current import current
from ..kernels import Work
from .calls import spec_of, work_of
from .program import (
    Allocate,
    Array,
    Buffer,
    Call,
    Pack,
    Program,
    Quantity,
    Release,
    Site,
    Stages,
    Step,
)

COLUMNS = 4
"""Numbers a node: runs, ticks of the clock, bytes, floating-point operations; of the call the first two."""
TOTALS, PLANNED = 5, 4
"""Row of memory statistics: held now, the peak, the peak without in-place work, saved for good; number 4: planned."""

Term = tuple[int, tuple[Quantity, ...], int]
"""A number times lengths, divided by another number."""
PRODUCTS = (BfloatDot, Dot, Dot22, Dot22Scalar, FusedProduct, MatMul, Gemm, Gemv, Ger, PackedBfloatDot, PackedDot)
"""Ops that multiply matrices."""
Count = Callable[[Program, Site, Sequence[Step]], list[Term]]
"""Returns the operations of a node, from its site and its steps; the facet `work` of its class."""
ROWS: dict[type[Op], tuple[Elementwise, ...]] = {Softmax: (exp, true_div), LogSoftmax: (exp, sub), LogSumExp: (exp,)}
"""Operations on each element of a row, besides the maximum, its subtraction and the sum."""
ROW_ADDITIONS = 3


def room(program: Program) -> int:
    """Return the number of entries of `call->profile`."""
    return moments_at(program) + 2 * (whole_call(program) + 1) + len(program.slots)


def moments_at(program: Program) -> int:
    """Return the offset in `call->profile` of the start and end times of the rows in the last call."""
    return memory_at(program) + TOTALS + max(program.slots.values(), default=-1) + 1


def moment_of(program: Program, row: int) -> int:
    """Return the index of the start time of a row in the last call; its end time follows."""
    return moments_at(program) + 2 * row


def sizes_at(program: Program) -> int:
    """Return the offset of the bytes of the buffers in the last call, in the order of the slots."""
    return moment_of(program, whole_call(program) + 1)


def memory_at(program: Program) -> int:
    """Return the offset in `call->profile` of the memory statistics."""
    return COLUMNS * (whole_call(program) + 1)


def whole_call(program: Program) -> int:
    """Return the row of the whole call: after those of the nodes and that of the copies into outputs."""
    return len(program.sites) + 1


# --- floating-point operations


def flops(program: Program, site: int, steps: Sequence[Step]) -> list[Term]:
    """Return the floating-point operations of a node as terms to be added up; no terms for a node without any."""
    if site >= len(program.sites):
        return []
    work: Count | None = facet_of(type(unmarked(program.sites[site].node.op)), "work")
    return work(program, program.sites[site], steps) if work is not None else []


def _of_product(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    return [_product(unmarked(site.node.op), site)]


def _of_fused_product(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    op = unmarked(site.node.op)
    assert isinstance(op, FusedProduct)
    if isinstance(op.product, (BlockedConvolution, BlockedPool, ChannelSums, Convolution)):
        return _convolution_then(program, op, site, steps)
    product = _product(op.product, site)
    each = sum(cost(inner) for inner in op.graph.order)
    rows, columns = site.operands[0].lengths[:-1], product[1][-1:]
    return [product, (each, (*rows, *columns), 1)]


def _of_stages(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    found = [a for s in steps if isinstance(s, Call) for a in s.arguments if isinstance(a, Stages)]
    return [(stage.cost, stage.extents, 1) for stages in found for stage in stages.stages if stage.cost]


def of_kernels(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    """Return the operations of the kernels that a node launches."""
    op = unmarked(site.node.op)
    ranks = {kernel.name: kernel.rank for kernel in program.kernels}
    launches = [s for s in steps if isinstance(s, Call) and s.kernel and s.function in ranks]
    extents = [tuple(a for a in s.arguments[: ranks[s.function]] if isinstance(a, (int, str))) for s in launches]
    costs = _costs_of_parts(op) if isinstance(op, Assembled) else [cost(site.node)][: len(launches)]
    if len(costs) > len(extents):
        return []
    return [(each, lengths, 1) for each, lengths in zip(costs, extents, strict=False) if each]


_NO_LAUNCH = (BlockedConvolution, BlockedPool, FusedProduct, Join)
"""Parts of a concatenation fusion that launch no kernel of their own."""


def _of_assembled(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    return [*of_kernels(program, site, steps), *of_calls(program, site, steps)]


def of_calls(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    """Return the operations of the kernels of the runtime that a node calls, as their specs tell."""
    found: list[Term] = []
    for step in steps:
        if not isinstance(step, Call):
            continue
        if spec_of(step) is not None:
            found += (_term(work, step.dtype) for work in work_of(step.function, step.arguments))
    return found


def _term(work: Work, dtype: str) -> Term:
    """Return the operations of a call in additions."""
    functions = (ELEMENTWISE[name] for name in work.functions)
    each = sum(current().costs.additions(f.name, f.cost, dtype) for f in functions)
    return work.number + each, work.lengths, work.over


def _convolution_then(program: Program, op: FusedProduct, site: Site, steps: Sequence[Step]) -> list[Term]:
    """Return the operations of a convolution, as a product or as a kernel over views, and of its epilogue."""
    calls = [s for s in steps if isinstance(s, Call) and s.writes]
    lengths = calls[-1].writes[-1].lengths
    each = sum(cost(inner) for inner in op.graph.order)
    product = of_calls(program, site, calls)
    if not product:
        product = [(2 * math.prod(n or 0 for n in site.node.inputs[1].type.shape[2:]), lengths, 1)]
    return [*product, (each, lengths, 1)]


def _costs_of_parts(op: Assembled) -> list[int]:
    """Return additions per element of each kernel of a concatenation fusion, in the order of launches."""
    order = op.graph.order
    written = {n.inputs[0].owner for n in order if isinstance(n.op, IncSubtensor)}
    launched = (n for n in reversed(order) if not isinstance(n.op, _NO_LAUNCH) and n not in written)
    return [0 if isinstance(n.op, (Alloc, IncSubtensor)) else cost(n) for n in launched]


def is_product(node: Apply) -> bool:
    """Whether the node is a matrix product, alone or with an epilogue."""
    return isinstance(unmarked(node.op), PRODUCTS)


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


def _product(op: object, site: Site) -> Term:
    operands = site.operands
    if isinstance(op, (Gemm, Gemv)):
        a, b = operands[2], operands[3]
    elif isinstance(op, Ger):
        return 2, operands[0].lengths, 1
    else:
        a, b = operands[0], operands[1]
    if isinstance(op, (PackedBfloatDot, PackedDot)):
        return 2, (*a.lengths, op.columns), 1
    if isinstance(op, MatMul):  # the operand of more axes has all places of the batch, unless both are broadcast
        batch = max(a.lengths[:-2], b.lengths[:-2], key=len)
        return 2, (*batch, *a.lengths[-2:], b.lengths[-1]), 1
    return 2, (*a.lengths, *b.lengths[1:]), 1


def _of_row(kind: type[Op], dtype: str) -> int:
    """Return additions per element of a row."""
    return sum(current().costs.additions(f.name, f.cost, dtype) for f in ROWS[kind]) + ROW_ADDITIONS


# --- memory


def held(program: Program, step: Step) -> tuple[int, Array | None] | None:
    """Return (slot, what lies in it now; None if it was released); None for steps that hold and free nothing."""
    if isinstance(step, Release):
        return step.slot, None
    if isinstance(step, (Allocate, Pack)) and step.buffer in program.slots:
        lengths = step.lengths if isinstance(step, Allocate) else step.array.lengths
        dtype = step.dtype if isinstance(step, Allocate) else step.array.dtype
        return program.slots[step.buffer], Array(step.buffer, dtype, lengths, (), True, (step.buffer,))
    return None


def spared(program: Program, site: int, steps: Sequence[Step]) -> Iterator[tuple[Array, bool]]:
    """Yield the arrays that a node overwrites instead of allocating its own, and whether they are inputs."""
    if site >= len(program.sites) or not isinstance(program.sites[site].node.op, InPlace):
        return
    written = [a for s in steps if isinstance(s, Call) for a in s.writes]
    allocated = {s.buffer for s in steps if isinstance(s, Allocate)}
    for array in program.sites[site].operands:
        if any(array.base == w.base for w in written) and array.base not in allocated and array.base:
            yield array, not isinstance(array.base, Buffer)


# --- the facet `work` of the classes that do more than launch one kernel

COUNTS: dict[type[Op], Count] = {
    **dict.fromkeys(PRODUCTS, _of_product),
    FusedProduct: _of_fused_product,
    Pipeline: _of_stages,
    Assembled: _of_assembled,
}
