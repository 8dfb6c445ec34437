"""Comparisons, truth values and tests for special numbers."""

from __future__ import annotations

from ....graph import Apply, dims
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Elementwise,
    eq,
    ge,
    gt,
    isfinite,
    isinf,
    isnan,
    le,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    maximum,
    minimum,
    ne,
)  # fmt: skip
from ....ops.shapes.lengths import tensor_to_dim
from ...contract import relaxes
from ...patterns import Wild, op_like, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Value, constant_int, is_bool, is_discrete

x, y = wilds("x y")
discrete_x: Wild = Wild("x", is_discrete)
truth_x: Wild = Wild("x", is_bool)

never_with_itself = op_like(Elementwise, "strict", lambda op: op in (lt, gt))
always_with_itself = op_like(Elementwise, "weak", lambda op: op in (le, ge))
extremum = op_like(Elementwise, "extremum", lambda op: op in (maximum, minimum))


def comparison_of_lengths(node: Apply) -> Value | None:
    """Compare a length, or take the larger or smaller of a length and a number that is not positive."""
    a, b = node.inputs if len(node.inputs) == 2 else (None, None)
    if a is None or b is None or a.ndim or b.ndim or a.dtype != "int64" or b.dtype != "int64":
        return None
    bound = constant_int(b)
    if bound is None or not dims.is_length(dim := tensor_to_dim(a)) or isinstance(dim, int):
        return None
    if bound <= 0 and node.op is maximum:
        return a
    if bound == 0 and node.op is minimum:
        return constant(0, "int64")
    if bound > 0 or (bound == 0 and node.op not in (lt, ge)):
        return None
    answer = _FOR_NEGATIVE.get(node.op.name)
    return None if answer is None else constant(answer)


_FOR_NEGATIVE = {"lt": False, "le": False, "eq": False, "gt": True, "ge": True, "ne": True}
"""length <op> (a number below 0)."""

COMPARISONS: list[Rule] = [
    rule("local_strict_comparison_with_itself", never_with_itself(x, x), False),
    rule("local_weak_comparison_with_itself", always_with_itself(discrete_x, x), True),
    rule("local_eq_with_itself", eq(discrete_x, x), True),
    rule("local_ne_with_itself", ne(discrete_x, x), False),
    rule("local_not_eq", logical_not(eq(x, y)), ne(x, y)),
    rule("local_not_ne", logical_not(ne(x, y)), eq(x, y)),
    rule("local_not_lt", logical_not(lt(discrete_x, Wild("y", is_discrete))), ge(x, y)),
    rule("local_not_le", logical_not(le(discrete_x, Wild("y", is_discrete))), gt(x, y)),
    rule("local_not_gt", logical_not(gt(discrete_x, Wild("y", is_discrete))), le(x, y)),
    rule("local_not_ge", logical_not(ge(discrete_x, Wild("y", is_discrete))), lt(x, y)),
    rule("local_eq_true", eq(truth_x, True), x),
    rule("local_eq_false", eq(truth_x, False), logical_not(x)),
    rule("local_ne_true", ne(truth_x, True), logical_not(x)),
    rule("local_ne_false", ne(truth_x, False), x),
    node_rule("local_comparison_with_length", (lt, le, gt, ge, eq, ne, maximum, minimum), comparison_of_lengths,
              contract=relaxes("errors"),
              formula="lt(length, 0) -> False, maximum(length, 0) -> length"),
    rule("local_extremum_of_extremum", extremum(extremum(x, y), y), extremum(x, y)),
]  # fmt: skip

TRUTH: list[Rule] = [
    rule("local_not_not_truth", logical_not(logical_not(truth_x)), x),
    rule("local_logical_and_itself", logical_and(truth_x, x), x),
    rule("local_logical_or_itself", logical_or(truth_x, x), x),
    rule("local_logical_and_true", logical_and(truth_x, True), x),
    rule("local_logical_and_false", logical_and(x, False), False),
    rule("local_logical_or_true", logical_or(x, True), True),
    rule("local_logical_or_false", logical_or(truth_x, False), x),
    rule("local_logical_xor_false", logical_xor(truth_x, False), x),
    rule("local_logical_xor_true", logical_xor(truth_x, True), logical_not(x)),
    rule("local_isnan_of_integer", isnan(discrete_x), False),
    rule("local_isinf_of_integer", isinf(discrete_x), False),
    rule("local_isfinite_of_integer", isfinite(discrete_x), True),
]
