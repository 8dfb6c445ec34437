"""From a graph to a Program: a table of planners, one per class of ops, and the traversal that applies them.

The order of nodes is legal for in-place work.

    DimShuffle, Subtensor, SpecifyShape, Reshape, Shape ...  descriptors           plan_views.py
    Elementwise, Cast, Fused, Reduce, Softmax ...            a kernel              here, by lower.py
    Alloc, Join, Arange, Eye, SumTo                          copies and kernels    lower_creation.py
    IncSubtensor, AdvancedSubtensor ...                      copies and kernels    lower_indexing.py
    Dot, MatMul, Gemm, Gemv, Ger ...                         the runtime's BLAS    plan_blas.py
    Convolution, KernelGradient, MaxPool, SumPool, ...       products, kernels     plan_windows.py
    Diagonal, Triangle, DiagonalMatrix, Assume, ByPhase      descriptors, kernels  plan_matrices.py
    Solve, SolveTriangular, Inverse, Cholesky, Det, SlogDet  the runtime's LAPACK  plan_solvers.py
    Scan, While, Cond                                        programs of their own plan_loops.py
    anything else                                            a call back to Python

Outputs are computed in the memory of the caller's arrays where they can be; one that is an input, a constant, a view or
another output as well is copied there, so that what a caller gets shares memory with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...graph import Apply, FunctionGraph, Op, Variable, gc_paused
from ...graph.facets import facet_of, register
from ...graph.ordering import execution_order
from ...graph.text import op_text
from ...ops.control.cond import Cond
from ...ops.control.scan_ops import Scan, While
from ...ops.elementwise.records import Pointwise
from ...ops.linalg.assumptions import Assume
from ...ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ...ops.linalg.determinants import Cofactors, Det, SlogDet
from ...ops.linalg.factorizations import QR, SVD, Cholesky, Eig, Eigh, Eigvals, Eigvalsh, SingularValues
from ...ops.linalg.fourier import Fourier
from ...ops.linalg.solving import Inverse, PseudoInverse, Solve, SolveTriangular
from ...ops.lowered.assembled import Assembled
from ...ops.lowered.attention import Attention
from ...ops.lowered.bfloats import BfloatDot, PackedBfloatDot
from ...ops.lowered.blocked import BlockedConvolution, FromBlocks, ToBlocks
from ...ops.lowered.blocked_gradient import BlockedKernelGradient
from ...ops.lowered.blocked_pool import BlockedPool
from ...ops.lowered.byte_sums import ByteConvolution, ByteProduct
from ...ops.lowered.byte_tables import ByteSoftmax, LookUp
from ...ops.lowered.channel_sums import ChannelSums
from ...ops.lowered.convolution_pair import ConvolutionPair
from ...ops.lowered.fused import Fused, InPlace
from ...ops.lowered.fused_product import FusedProduct
from ...ops.lowered.nibbles import NibbleProduct
from ...ops.lowered.packed_dot import PackedDot
from ...ops.lowered.pipeline import Pipeline
from ...ops.lowered.quantized_blocks import QuantizeInBlocks
from ...ops.lowered.region import Region
from ...ops.lowered.row_passes import Top
from ...ops.lowered.sparse_columns import SparseColumns
from ...ops.lowered.sparse_dot import SparseDot
from ...ops.lowered.two_of_four import TwoOfFour
from ...ops.networks.convolution import Convolution, KernelGradient
from ...ops.networks.fixed_point import Requantize
from ...ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ...ops.networks.phases import ByPhase
from ...ops.networks.pooling import MaxPool, MaxPoolGradient, SumPool
from ...ops.networks.quantized import Dequantize, Quantize
from ...ops.reductions.cumulative import Cumulative
from ...ops.reductions.reduce import ArgReduce, Reduce
from ...ops.reductions.sorting import ArgSort, Nonzero, OrderStatistics, SearchSorted, Sort, Unique, UniqueParts
from ...ops.reductions.trees import TreeFold
from ...ops.reductions.unbroadcasting import SumTo
from ...ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ...ops.shapes.conditions import Check
from ...ops.shapes.creation import Alloc, Arange, Eye
from ...ops.shapes.diagonals import Diagonal, DiagonalMatrix, Triangle
from ...ops.shapes.indexing import IncSubtensor, Subtensor
from ...ops.shapes.joining import Join, RepeatedPositions
from ...ops.shapes.lengths import MakeVector, Shape, ShapeI
from ...ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from ...ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from ..ir.verify import verify
from . import (
    plan_assembly,
    plan_attention,
    plan_blas,
    plan_block_layout,
    plan_block_pools,
    plan_blocks,
    plan_bytes,
    plan_epilogue,
    plan_loops,
    plan_matrices,
    plan_pipeline,
    plan_solvers,
    plan_trees,
    plan_views,
    plan_windows,
)
from . import plan_creation as lower_creation
from . import plan_indexing as lower_indexing
from .accounts import COUNTS, no_operations, of_kernels
from .buffers import assign_slots
from .choices import Choices
from .late import cannot_fail_late, checks_first, overwritten_for_good
from .plan_host import plan_host
from .plan_kernels import plan_kernel, plan_scaled
from .planner import Planner
from .program import Array, Buffer, Finish, Lengths, Program, Site
from .verify import verify_program

Plan = Callable[[Planner, Apply], None]


@gc_paused
def plan(graph: FunctionGraph, choices: Choices | None = None, strict: bool = False) -> Program:
    """Return the program that computes the outputs of `graph`.

    `choices`: the schedules of its kernels.  `strict`: verify the program and its kernels; what breaks a rule raises
    InvalidKernel or InvalidProgram.

    An input that the graph overwrites (it has an update) is overwritten only if nothing can fail from then on, or if a
    failing call restores it, so that a call that raises has changed nothing; otherwise its new value is made elsewhere.
    Raises InconsistencyError if the graph overwrites what is still needed, ScheduleError for a schedule that does not
    fit its kernel.
    """
    nodes = execution_order(graph)
    mutable = _overwritten_inputs(graph)
    choices = choices or Choices()
    program = _planned(graph, nodes, mutable, choices)
    if mutable and not cannot_fail_late(program.steps, mutable):
        lasting = overwritten_for_good(program.steps, mutable)
        program = _planned(graph, nodes, {i: o for i, o in mutable.items() if i not in lasting}, choices)
    choices.check()
    if strict:
        for kernel in program.kernels:
            verify(kernel)
        verify_program(program)
    return program


def _planned(
    graph: FunctionGraph, nodes: Sequence[Apply], mutable: Mapping[str, int], choices: Choices, is_body: bool = False
) -> Program:
    """Return the planned program.  `is_body`: a driver calls it, with C-contiguous arrays."""
    dense = is_body or bool(mutable)
    p = Planner(_direct_outputs(graph, mutable), _needed(graph, nodes), mutable, plan_node, choices)
    inputs = tuple(p.put(v, _leaf(p, v, f"in{k}", dense=dense)) for k, v in enumerate(graph.inputs))
    constants = tuple(p.put(v, _leaf(p, v, f"k{k}", dense=True)) for k, v in enumerate(graph.constants))
    p.ordered = set() if is_body else _in_any_order(graph, p)
    for p.site, node in enumerate(nodes):
        plan_node(p, node)
    p.site = len(nodes)
    finished = [_own_array(p, number, output) for number, output in enumerate(graph.outputs)]
    in_place = {o: i for i, o in graph.updates if finished[o].base == f"in{i}"}
    p.steps += [Finish(p.site, k, array) for k, array in enumerate(finished) if k not in in_place]  # these cannot fail
    steps, slots = assign_slots(checks_first(p.steps, mutable))
    return Program(
        graph, inputs, constants, steps, _sites(p, nodes), tuple(p.kernels.values()), p.locals, slots,
        tuple(p.products), tuple(p.solvers), in_place, dense, tuple(p.bodies.values()),
    )  # fmt: skip


def plan_body(p: Planner, graph: FunctionGraph) -> int:
    """Plan a graph as a body of the program under construction and return its number; equal graphs share a body."""
    if graph not in p.bodies:
        body = _planned(graph, execution_order(graph), {}, p.choices, is_body=True)
        p.bodies[graph] = body
        p.kernels.update((kernel.name, kernel) for kernel in body.kernels)
        p.products.update(dict.fromkeys(body.products))
        p.solvers.update(dict.fromkeys(body.solvers))
    return list(p.bodies).index(graph)


def _plan_scan(p: Planner, node: Apply) -> None:
    plan_loops.plan_scan(p, node, plan_body)


def _plan_cond(p: Planner, node: Apply) -> None:
    plan_loops.plan_cond(p, node, plan_body)


def plan_node(p: Planner, node: Apply) -> None:
    (plan_of(node) or plan_host)(p, node)


def plan_of(node: Apply) -> Plan | None:
    """Return the planner of a node; None if Python runs it as a host step."""
    op = node.op.op if isinstance(node.op, InPlace) else node.op
    if isinstance(op, KernelGradient) and node.out.type.kind in "iu":
        return None
    in_blocks = isinstance(op, (BlockedConvolution, BlockedPool, ChannelSums, FromBlocks, ToBlocks))
    if in_blocks and not plan_blocks.has_call(node):
        return None
    if isinstance(op, ByteConvolution) and not op.weights:
        return None
    found: Plan | None = facet_of(type(op), "planner")
    return found


def _leaf(p: Planner, variable: Variable, name: str, dense: bool) -> Array:
    """Return an input or a constant as an array over locals of the driver: `in0`, `in0_n1`, and strides `in0_s1`.

    A dense array has no locals for strides.
    """
    lengths: Lengths = tuple(1 if n == 1 else f"{name}_n{axis}" for axis, n in enumerate(variable.type.shape))
    if dense or not lengths:
        p.declare(name, lengths)
        return p.dense(name, variable.dtype, lengths)
    strides: Lengths = tuple(f"{name}_s{axis}" for axis in range(len(lengths)))
    p.declare(name, lengths + strides)
    return Array(name, variable.dtype, lengths, strides, False, (name,))


def _sites(p: Planner, nodes: Sequence[Apply]) -> tuple[Site, ...]:
    names = {i: array.base for i, array in p.arrays.items() if i.owner is None}
    for number, node in enumerate(nodes):
        many = len(node.outputs) > 1
        names.update((o, f"v{number}_{o.index}" if many else f"v{number}") for o in node.outputs)
    return tuple(Site(node, tuple(p.inputs_of(node)), _expression(node, names)) for node in nodes)


def _expression(node: Apply, names: Mapping[Variable, Any]) -> str:
    """Return the node as `v3 = add(in0, v1)`, shortened, with names that are the same for all users."""
    operands = ", ".join(str(names[i]) for i in node.inputs)
    results = ", ".join(str(names[o]) for o in node.outputs)
    return f"{results} = {op_text(node.op)}({operands})"


# --- what is needed, and where it goes


def _needed(graph: FunctionGraph, nodes: Sequence[Apply]) -> set[Variable]:
    """Return the variables whose elements are read.  A variable whose shape alone is read is not computed."""
    needed = set(graph.outputs)
    for node in reversed(nodes):
        op = node.op.op if isinstance(node.op, InPlace) else node.op
        if isinstance(op, (Shape, ShapeI)):
            continue
        wanted = any(o in needed for o in node.outputs)
        if isinstance(op, SHAPE_ALONE) and not wanted and not op.fallible:
            continue
        needed.update(node.outputs)
        needed.update(i for k, i in enumerate(node.inputs) if k != op.unread)
    return needed


def _direct_outputs(graph: FunctionGraph, mutable: Mapping[str, int]) -> dict[Variable, int]:
    """Return the variables that are computed in the memory of an output, and the number of that output."""
    kept = {i for k, i in enumerate(graph.inputs) if f"in{k}" in mutable}
    direct: dict[Variable, int] = {}
    for number, output in enumerate(graph.outputs):
        source, first_copy = _origin_of(output)
        if source.owner is None and source not in kept and first_copy is not None:
            source = first_copy
        if source.owner is not None and source not in direct:
            direct[source] = number
    return direct


def _overwritten_inputs(graph: FunctionGraph) -> dict[str, int]:
    """Return the inputs, by name, whose memory the graph would use for their updates, and these outputs."""
    found = ((i, o, *_origin_of(graph.outputs[o])) for i, o in graph.updates)
    return {f"in{i}": o for i, o, source, written in found if source is graph.inputs[i] and written is not None}


def _origin_of(output: Variable) -> tuple[Variable, Variable | None]:
    """Return the variable that owns the memory of `output`, and the first variable that is written over it, if any."""
    written: Variable | None = None
    while output.owner is not None:
        node = output.owner
        destroyed = node.op.destroys()
        if output.index in destroyed:
            written = output
            output = node.inputs[destroyed[output.index]]
        elif _shows_whole(node.op):
            output = node.inputs[0]
        else:
            break
    return output, written


def _in_any_order(graph: FunctionGraph, p: Planner) -> set[Variable]:
    """Return the outputs that may have any strides: no node and no container reads them."""
    read = {i for node in graph.order for i in node.inputs} | {graph.outputs[o] for _, o in graph.updates}
    times = Counter(graph.outputs)
    own = {o for k, o in enumerate(graph.outputs) if p.direct.get(o) == k and times[o] == 1}
    return own - read if not p.mutable else set()


def _shows_whole(op: Op) -> bool:
    """Whether the output of a view has all elements of the input in their order."""
    if isinstance(op, DimShuffle):
        kept = [o for o in op.order if isinstance(o, int)]
        return kept == sorted(kept)
    if isinstance(op, (Reshape, SpecifyShape, CheckLengths, Check)):
        return True
    return isinstance(op, Subtensor) and all(entry == "s000" for entry in op.spec)


def _own_array(p: Planner, number: int, output: Variable) -> Array:
    """Return the array of output `number`: as it is if it lies in that output's memory, else a copy."""
    array = p.arrays[output]
    base = array.base
    if isinstance(base, Buffer) and base.output == number and (array.dense or output in p.ordered):
        return array
    if isinstance(base, str) and p.mutable.get(base) == number and array.dense:
        return array
    return p.copied(array, None if number in p.taken else number)


# --- the tables

KERNEL_OPS = (Pointwise, Fused, Reduce, ArgReduce, Cumulative, Softmax, LogSoftmax, LogSumExp, Top)
"""Ops that lower.py turns into one kernel."""

SHAPE_ALONE = (*KERNEL_OPS, DimShuffle)
"""Ops whose lengths can be computed without any elements."""

_PLANS: dict[type[Op], Plan] = {
    **dict.fromkeys(KERNEL_OPS, plan_kernel),
    DimShuffle: plan_views.plan_dimshuffle,
    Reshape: plan_views.plan_reshape,
    BroadcastTo: plan_views.plan_broadcast_to,
    Subtensor: plan_views.plan_subtensor,
    SpecifyShape: plan_views.plan_specify_shape,
    MaskedShape: plan_views.plan_specify_shape,
    CheckLengths: plan_views.plan_check_lengths,
    Check: plan_views.plan_check,
    Shape: plan_views.plan_shape,
    ShapeI: plan_views.plan_shape_i,
    MakeVector: plan_views.plan_make_vector,
    Alloc: lower_creation.plan_alloc,
    Join: lower_creation.plan_join,
    Assembled: plan_assembly.plan_assembled,
    Arange: lower_creation.plan_arange,
    Eye: lower_creation.plan_eye,
    SumTo: lower_creation.plan_sum_to,
    IncSubtensor: lower_indexing.plan_inc_subtensor,
    AdvancedSubtensor: lower_indexing.plan_gather,
    AdvancedIncSubtensor: lower_indexing.plan_scatter,
    Dot: plan_blas.plan_dot,
    MatMul: plan_blas.plan_matmul,
    Dot22: plan_blas.plan_dot,
    Dot22Scalar: plan_blas.plan_dot22_scalar,
    PackedDot: plan_blas.plan_packed_dot,
    Attention: plan_attention.plan_attention,
    Gemm: plan_blas.plan_gemm,
    Gemv: plan_blas.plan_gemv,
    Ger: plan_blas.plan_ger,
    FusedProduct: plan_epilogue.plan_fused_product,
    Pipeline: plan_pipeline.plan_pipeline,
    Convolution: plan_windows.plan_convolution,
    BlockedConvolution: plan_blocks.plan_blocked_convolution,
    BlockedKernelGradient: plan_blocks.plan_kernel_gradient,
    BlockedPool: plan_block_pools.plan_blocked_pool,
    ChannelSums: plan_block_pools.plan_channel_sums,
    ConvolutionPair: plan_blocks.plan_pair,
    ByteConvolution: plan_bytes.plan_byte_convolution,
    ByteProduct: plan_bytes.plan_byte_product,
    ByteSoftmax: plan_bytes.plan_byte_softmax,
    LookUp: plan_bytes.plan_look_up,
    QuantizeInBlocks: plan_bytes.plan_quantize_in_blocks,
    NibbleProduct: plan_bytes.plan_nibble_product,
    SparseDot: plan_bytes.plan_sparse_dot,
    SparseColumns: plan_bytes.plan_sparse_columns,
    TwoOfFour: plan_bytes.plan_two_of_four,
    BfloatDot: plan_bytes.plan_bfloat_dot,
    PackedBfloatDot: plan_bytes.plan_bfloat_dot,
    ToBlocks: plan_block_layout.plan_to_blocks,
    FromBlocks: plan_block_layout.plan_from_blocks,
    KernelGradient: plan_windows.plan_kernel_gradient,
    MaxPool: plan_windows.plan_pool,
    MaxPoolGradient: plan_windows.plan_pool_gradient,
    SumPool: plan_windows.plan_pool,
    Quantize: plan_scaled,
    Dequantize: plan_scaled,
    Requantize: plan_scaled,
    Assume: plan_matrices.plan_assume,
    ByPhase: plan_matrices.plan_assume,
    Diagonal: plan_matrices.plan_diagonal,
    DiagonalMatrix: plan_matrices.plan_diagonal_matrix,
    Triangle: plan_matrices.plan_triangle,
    Solve: plan_solvers.plan_solve,
    SolveTriangular: plan_solvers.plan_solve_triangular,
    Inverse: plan_solvers.plan_inverse,
    Cholesky: plan_solvers.plan_cholesky,
    SlogDet: plan_solvers.plan_slogdet,
    Det: plan_solvers.plan_det,
    TreeFold: plan_trees.plan_tree_fold,
    Scan: _plan_scan,
    While: _plan_scan,
    Cond: _plan_cond,
}
for _kind, _plan in _PLANS.items():
    _default = of_kernels if _kind in KERNEL_OPS else no_operations
    register(_kind, planner=_plan, work=COUNTS.get(_kind, _default))
_HOST_STEPS = (ArgSort, Cofactors, Eig, Eigh, Eigvals, Eigvalsh, Fourier, Nonzero, OrderStatistics, PseudoInverse, QR,
               RepeatedPositions, SVD, SearchSorted, SingularValues, Sort, Unique, UniqueParts)  # fmt: skip
for _kind in (*_HOST_STEPS, InPlace):
    _why = "it is planned as the op that it marks" if _kind is InPlace else "NumPy computes it, as a host step"
    register(_kind, lacks={"planner": _why, "work": _why})
_why = "another engine runs it, as a host step"
register(Region, lacks={"planner": _why, "work": _why})
