"""Removal of casts that change no value, and of ops whose result is their operand."""

from __future__ import annotations

from ....graph import Apply, Variable
from ....ops.elementwise.records import Cast, Elementwise, cast, identity, stop_gradient
from ....ops.networks.phases import ByPhase
from ...contract import relaxes
from ...patterns import op_like, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, not_complex, preserves

(x,) = wilds("x")
outer, inner = op_like(Cast, "outer"), op_like(Cast, "inner")
view = op_like(Elementwise, "view", lambda op: op in (identity, stop_gradient))
idempotent = op_like(Elementwise, "f", lambda op: op.idempotent and op.arity == 1)


def casts_nothing(x: Variable, outer: Cast) -> bool:
    """Whether x has the dtype of the cast."""
    return x.dtype == outer.dtype


def one_cast(node: Apply, x: Variable, outer: Cast, inner: Cast) -> Value | None:
    """Return the outer cast alone if the inner one loses no information that the outer one keeps."""
    through_float = _is_integer(outer.dtype) and "float" in inner.dtype and x.dtype != inner.dtype
    if through_float and not preserves(x.dtype, outer.dtype):
        return None  # casts of NaN and out-of-range values depend on the source dtype
    keeps_all = preserves(x.dtype, inner.dtype)
    wraps = all(_is_integer(dtype) for dtype in (x.dtype, inner.dtype, outer.dtype))
    if not keeps_all and not (wraps and _bits(outer.dtype) <= _bits(inner.dtype)):
        return None
    return cast(x, outer.dtype)


def training_value(node: Node) -> Value:
    """Return the value of the training phase; for inference, `ag.freeze` has already replaced the node."""
    value: Value = node.inputs[0]
    return value


def _is_integer(dtype: str) -> bool:
    return "int" in dtype


def _bits(dtype: str) -> int:
    return int(dtype.lstrip("uint"))


CASTS: list[Rule] = [
    rule("local_useless_cast", outer(x), x, when=casts_nothing, formula="cast{dtype=dtype of x}(x) -> x"),
    rule("local_cast_cast", outer(inner(x)), one_cast,
         formula="cast(cast(x)) -> cast(x)  if the first keeps all values"),
    rule("local_view_op", view(x), x),
    node_rule("local_by_phase", ByPhase, training_value, formula="by_phase(x, y) -> x", contract=relaxes("errors")),
    rule("local_idempotent_unary", idempotent(idempotent(x)), idempotent(x), when=lambda node, x: not_complex(x)),
]
