"""Ops of whole arrays whose C a user wrote: one call of their function."""

from __future__ import annotations

from typing import Any

from ....graph import Apply
from ....ops.control.array_ops import ArrayOp
from ....ops.control.user_c import UserCall, user_call
from ...kernels import READ, WRITE, Field, KernelSpec, add_user_spec, array, vector
from ..outcome import Outcome
from ..planner import Planner
from ..program import Quantity, Vector


def plan_user_call(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, ArrayOp)
    arrays = [p.arrays[v] for v in node.inputs[: op.count]]
    operands = arrays if op.definition.strided else [p.packed(a) for a in arrays]
    lead: list[Quantity] = []
    for flags in op.levels:
        taken = [sum(above[k] for above in op.levels[: len(lead)]) for k in range(op.count)]
        first, *others = [a.lengths[at] for a, at, f in zip(operands, taken, flags, strict=True) if f]
        for n in others:
            p.guard("equal", first, n, failure=Outcome.LENGTHS, axis=len(lead))
        lead.append(first)
    own = iter(p.lengths(node.inputs[op.count :]))
    p.needed.update(node.outputs)  # the C writes all of them
    shapes = [(*lead, *(next(own) for _ in range(rank))) for rank in op.ranks]
    results = [p.result(o, shape) for o, shape in zip(node.outputs, shapes, strict=True)]
    levels = [sum(flags[k] for flags in op.levels) for k in range(op.count)]
    ranks = [v.type.ndim - count for v, count in zip(node.inputs, levels, strict=False)]
    call = user_call(op, tuple(a.dtype for a in operands), tuple(ranks))
    given: dict[str, Any] = {}
    for o, a in zip(call.operands, (*operands, *results), strict=True):
        given |= {o.name: a, f"{o.name}_shape": Vector(a.lengths), f"{o.name}_strides": Vector(a.strides)}
    p.run(_spec(call), **given)


def _spec(call: UserCall) -> KernelSpec:
    """Return the spec of the call: address, lengths and strides of each array, those of examples first."""
    fields: list[Field] = []
    for o in call.operands:
        role = WRITE if o.is_result else READ
        fields += [array(o.name, role), vector(f"{o.name}_shape"), vector(f"{o.name}_strides")]
    about = f"{call.definition.name}, a user's op."
    spec = KernelSpec(call.name, about, tuple(fields), function=f"ag_{call.name}", fails=("USER",), says=True)
    return add_user_spec(spec, call)


PLANNERS = {ArrayOp: plan_user_call}
CONDITIONS = {ArrayOp: lambda node: node.op.definition.c is not None}
"""Without C, Python runs the NumPy meaning."""
