"""Choices, checks, inner graphs, and ops over batches."""

from __future__ import annotations

from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.blockwise import Blockwise

from .... import ops as T
from ....control.cond import cond
from ....graph import Variable
from ....ops.control.batching import NoBatch, carried
from ....ops.core.tensor import TensorVariable
from ....ops.shapes.conditions import Check
from ....ops.shapes.specify import with_length
from ..forms import form_of
from ..performing import terms_of
from ..table import CONVERTERS, Call, converter, found_for
from ..versions import conditional
from .linalg import BATCHED
from .shapes import FIXED


@converter(OpFromGraph)
def from_graph(call: Call, *operands: Any) -> Any:
    return tuple(call.conversion.inner(call.op.fgraph, operands))


@converter(conditional.IfElse)
def if_else(call: Call, condition: Any, *values: Any) -> Any:
    count = call.op.n_outs
    forms = [form_of(o.type) for o in call.node.outputs]
    branches = [
        [v for form, term in zip(forms, part, strict=True) for v in form.variables(term)]
        for part in (values[:count], values[count:])
    ]
    return terms_of(forms, cond(condition, *branches))


@converter(CheckAndRaise)
def check(call: Call, x: Any, *conditions: Any) -> Any:
    op = call.op
    text = op.msg or f"{op.exc_type.__name__} of {call.node.outputs[0].name or 'a check'}"
    call.conversion.raises.setdefault(text, op.exc_type)
    if not isinstance(x, Variable) or not conditions:
        return NotImplemented if conditions else x
    holds = [T.all(c if c.dtype == "bool" else T.ne(c, 0)) for c in conditions]
    joint = holds[0]
    for test in holds[1:]:
        joint = T.and_(joint, test)
    return Check(text)(x, joint)


@converter(Blockwise)
def blockwise(call: Call, *operands: Any) -> Any:
    """Return the core op on batches: by its own form for batches, else by the batching rules of the ops it becomes."""
    op = call.op
    core = op._create_dummy_core_node(call.node.inputs)
    convert = found_for(CONVERTERS, type(op.core_op))
    if convert is None:
        return NotImplemented
    batch = max(x.ndim - len(sig) for x, sig in zip(operands, op.inputs_sig, strict=True))
    if batch:
        operands = tuple(agreeing(operands, batch, str(op.core_op)))
    if type(op.core_op) in BATCHED:
        return convert(Call(op.core_op, call.node, call.conversion), *operands)
    if not batch:
        return call.conversion.node(core, operands)
    try:
        return _mapped(call, core, operands, batch)
    except NoBatch:
        return NotImplemented


def _mapped(call: Call, core: Any, operands: Any, batch: int) -> Any:
    """Return the results of the core node, mapped over `batch` axes as one."""
    lengths = _joint(operands, batch)
    leaves: list[Any] = []
    given: dict[Variable, Variable] = {}
    for x in operands:
        own = x.ndim - batch
        kind = x.type.with_shape(x.type.shape[batch:])
        if all(n == 1 for n in x.type.shape[:batch]):
            leaves.append(T.squeeze(x, tuple(range(batch))))
            continue
        inner = T.lengths_of(x)[batch:]
        whole = T.broadcast_to(x, (*lengths, *inner))
        leaf = TensorVariable(kind)
        given[leaf] = T.reshape(whole, (-1, *inner), ndim=own + 1)
        leaves.append(leaf)
    found = call.conversion.node(core, leaves)
    many = carried(found, given) if given else found
    if not given:
        return tuple(T.broadcast_to(v, (*lengths, *T.lengths_of(v))) for v in found)
    return tuple(T.reshape(v, (*lengths, *T.lengths_of(v)[1:]), ndim=v.ndim - 1 + batch) for v in many)


def agreeing(operands: Any, batch: int, words: str) -> list[Any]:
    """Return the operands with checks that the batch axes that no pattern broadcasts have equal lengths."""
    found = list(operands)
    for axis in range(batch):
        long = [k for k, x in enumerate(found) if x.type.shape[axis] != 1]
        for k in long[1:]:
            length = T.lengths_of(found[long[0]])[axis]
            found[k] = with_length(found[k], axis, length, f"operand {k} in {words}, {FIXED}")
    return found


def _joint(operands: Any, batch: int) -> list[Any]:
    """Return the lengths of the batch axes."""
    found = []
    for axis in range(batch):
        own = [T.lengths_of(x)[axis] for x in operands if x.type.shape[axis] != 1]
        found.append(own[0] if own else T.constant(1, "int64"))
    return found
