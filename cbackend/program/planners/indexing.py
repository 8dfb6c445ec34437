"""Reading and writing parts of arrays: basic parts are views, integer arrays become kernels that gather or scatter.

The loops of a gather run over the axes of the result, those of a scatter over the axes of the value: see
lowering/nests/indexing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ....graph import Apply, TensorType, Variable
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import add, logical_or
from ....ops.lowered.fused import unmarked
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ....ops.shapes.combining import AdvancedCombine
from ....ops.shapes.indexing import IncSubtensor, joint_position
from ....record import record
from ...ir.kernel import Kernel
from ...kernels.memory.spec import IN_BOUNDS
from ...lowering.nests.indexing import ADD, GATHER, SET, Indexing, indexing_kernel
from ..outcome import Outcome
from ..planner import Planner
from ..program import Allocate, Argument, Array, Detail, Lengths, Restore
from .views import window


def plan_inc_subtensor(p: Planner, node: Apply) -> None:
    """Plan `x`, copied unless it may be overwritten, with a view of it set or added to.

    The part of an input that is overwritten is kept until the call has succeeded: see graph/op.py, `restorable`.
    """
    value = p.arrays[node.inputs[1]]
    part = window(p, p.modifiable(node), node, node.inputs[2:])
    fits(p, value, part.lengths)
    if p.restores and not p.mutable.keys().isdisjoint(part.memory):
        _keep(p, part)
    if unmarked(node.op).set:
        if p.parts.get(node.inputs[1], (None,))[0] is not value:  # else it has been computed there
            p.copy(part, value)
        return
    operands = [TensorVariable(TensorType(part.dtype, (None,) * len(a.lengths))) for a in (part, value)]
    plus = logical_or if part.dtype == "bool" else add
    kernel = p.kernel(Apply(plus, operands), ((0, 0),))
    p.launch(kernel, part.lengths, (part,), tuple((part, value)[o.source] for o in kernel.inputs))


def _keep(p: Planner, part: Array) -> None:
    """Copy a part that will be overwritten to a buffer, from which a failing call restores it."""
    buffer = p.buffer()  # the stack of a part of the driver does not last until then
    p.steps.append(Allocate(p.site, buffer, part.lengths, part.dtype))
    kept = p.dense(buffer, part.dtype, part.lengths)
    p.copy(kept, part)
    p.steps.append(Restore(p.site, part, kept))


def fits(p: Planner, value: Array, lengths: Lengths) -> None:
    """Plan the check that `value` broadcasts to `lengths`."""
    added = len(lengths) - len(value.lengths)
    for axis, (have, want) in enumerate(zip(value.lengths, lengths[added:], strict=True), start=added):
        if have not in (1, want):
            p.guard("fits", have, want, failure=Outcome.LENGTHS, axis=axis)


def plan_gather(p: Planner, node: Apply) -> None:
    access = _checked_access(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
    result = p.result(node.out, access.extents)
    _launch(p, access, GATHER, result.dtype, result, writes=result, reads=access.x)


def gather_kernel(
    p: Planner, node: Apply, result: Callable[[Lengths], Array]
) -> tuple[Kernel, Lengths, Sequence[Argument]]:
    """Return the kernel of a gather into an array, made by `result` of its lengths, with extents and all arguments."""
    access = _checked_access(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
    kernel, arguments = called(p, access, GATHER, node.out.dtype, result(access.extents))
    return kernel, access.extents, arguments


def plan_scatter(p: Planner, node: Apply) -> None:
    _plan_scatter(p, node, SET if unmarked(node.op).set else ADD)


def plan_combine(p: Planner, node: Apply) -> None:
    _plan_scatter(p, node, unmarked(node.op).scalar.name)


def _plan_scatter(p: Planner, node: Apply, how: str) -> None:
    value = p.arrays[node.inputs[1]]
    access = _checked_access(p, p.modifiable(node), node, node.inputs[2:])
    fits(p, value, access.extents)
    _launch(p, access, how, value.dtype, value, writes=access.x, reads=value)


# --- what is accessed


@record
class Access:
    """Part of an array `x` in a nest of loops, with the index arrays and the extents of the loops."""

    x: Array
    arrays: tuple[Array, ...]
    extents: Lengths
    indexing: Indexing


def access_of(p: Planner, whole: Array, node: Apply, indices: Sequence[Variable]) -> Access:
    """Plan the access of a gather or scatter to the array `whole`."""
    spec: tuple[str, ...] = unmarked(node.op).spec
    x = window(p, whole, node, indices)
    arrays = tuple(p.arrays[i] for i in _index_arrays(spec, indices))
    indexing = indexing_of(spec, len(whole.lengths), [len(a.lengths) for a in arrays])
    joint_rank = max(len(a.lengths) for a in arrays)
    joint = tuple(
        p.join([a.lengths[k - joint_rank] for a in arrays if len(a.lengths) >= joint_rank - k], k, Outcome.INDICES)
        for k in range(joint_rank)
    )
    before = joint_position(spec)
    sliced = [n for n, (kind, _) in zip(x.lengths, indexing.follows, strict=True) if kind == "loop"]
    return Access(x, arrays, (*sliced[:before], *joint, *sliced[before:]), indexing)


def indexing_of(spec: tuple[str, ...], rank: int, ranks: Sequence[int]) -> Indexing:
    """Return the loops of an indexing of an array of this rank by index arrays of these ranks."""
    kept = [entry for entry in spec if entry != "i"] + ["s000"] * (rank - len(spec))
    before, joint = joint_position(spec), max(ranks)
    loops_in_all = sum(entry != "a" for entry in kept) + joint
    numbers = iter(range(len(ranks)))
    loops = iter([*range(before), *range(before + joint, loops_in_all)])
    follows = tuple(("array", next(numbers)) if entry == "a" else ("loop", next(loops)) for entry in kept)
    of = tuple(tuple(range(before + joint - n, before + joint)) for n in ranks)
    return Indexing(loops_in_all, follows, of, tuple(k for k, entry in enumerate(spec) if entry == "a"))


def _checked_access(p: Planner, whole: Array, node: Apply, indices: Sequence[Variable]) -> Access:
    """Plan an access, and the check of indices if loops outside theirs may be empty: the kernel skips them then.

    As in NumPy, index arrays that broadcast to no element are not checked.
    """
    access = access_of(p, whole, node, indices)
    arrays, axes = access.arrays, access.indexing.axes
    before, joint_rank = joint_position(unmarked(node.op).spec), max(len(a.lengths) for a in arrays)
    joint, others = access.extents[before : before + joint_rank], p.product(access.extents[:before])
    if isinstance(others, int) and others != 0:
        return access
    for array, axis in zip(arrays, axes, strict=True):
        missing = len(joint) - len(array.lengths)
        strides = tuple(p.along(n, m, s) for n, m, s in zip(array.lengths, joint[missing:], array.strides, strict=True))
        s, length = (0,) * missing + strides, whole.lengths[axis]
        p.run(IN_BOUNDS, others=others, n=tuple(joint), indices=array, s=s, length=length, axis=axis)
    return access


def _index_arrays(spec: tuple[str, ...], indices: Sequence[Variable]) -> Iterator[Variable]:
    values = iter(indices)
    for entry in spec:
        taken = [next(values) for _ in range(entry[1:].count("1") if entry[0] == "s" else 1)]
        if entry == "a":
            yield taken[0]


# --- the kernel


def _launch(p: Planner, access: Access, how: str, dtype: str, other: Array, writes: Array, reads: Array) -> None:
    """Run the nest between `access.x` and `other`, which has the shape of the nest or broadcasts to it."""
    kernel, arguments = called(p, access, how, dtype, other)
    p.call(kernel, arguments, (writes,), (reads, *access.arrays))


def called(p: Planner, access: Access, how: str, dtype: str, other: Array) -> tuple[Kernel, list[Argument]]:
    """Return the kernel between `access.x` and `other`, and its arguments."""
    rank, added = len(access.extents), len(access.extents) - len(other.lengths)
    dtypes = [array.dtype for array in access.arrays]
    kernel = indexing_kernel(how, dtype, access.indexing, tuple(range(added, rank)), dtypes, strips=True)
    arguments: list[Argument] = [*access.extents, other]
    arguments += [
        p.along(n, access.extents[added + k], s)
        for k, (n, s) in enumerate(zip(other.lengths, other.strides, strict=True))
    ]
    arguments.append(access.x)
    arguments += [s for s, (kind, _) in zip(access.x.strides, access.indexing.follows, strict=True) if kind == "loop"]
    followed = {k: axis for axis, (kind, k) in enumerate(access.indexing.follows) if kind == "array"}
    for k, (array, loops) in enumerate(zip(access.arrays, access.indexing.loops_of, strict=True)):
        arguments += [access.x.lengths[followed[k]], access.x.strides[followed[k]], array]
        arguments += [
            p.along(n, access.extents[loop], s) for n, s, loop in zip(array.lengths, array.strides, loops, strict=True)
        ]
    return kernel, [*arguments, Detail()]


PLANNERS = {
    IncSubtensor: plan_inc_subtensor,
    AdvancedSubtensor: plan_gather,
    AdvancedIncSubtensor: plan_scatter,
    AdvancedCombine: plan_combine,
}
