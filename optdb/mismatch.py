"""Nearest mismatch of a pattern: the number of parts that fit a value, and the first that does not.

    mul(x, exp(y))  against  a * log(b)   ->   operand 2, exp(y): the value is computed by log

Patterns are small, so arrangements of commutative operands are all tried, up to `MOST_OPERANDS` of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from ..graph import Apply, Constant, Variable
from ..record import record
from ..record.spelling import counted
from .patterns import Applied, Number, OpLike, Pattern, Users, Wild, same_value

MOST_OPERANDS = 5
"""Operands of a commutative op that are tried in every order; more are tried in the order in which they stand."""

Bound = dict[object, object]


@record
class Mismatch:
    """A failed match: `matched` parts of the pattern fit, and `part` is the first that does not fit `value`.

    `part` is None if the whole pattern matches; `reason` says why it does not.
    """

    matched: int
    part: Pattern | None = None
    value: Variable | None = None
    reason: str = ""


def mismatch(pattern: Pattern, value: Variable, users: Users) -> Mismatch:
    """The nearest match of the pattern at this value."""
    return _nearest(pattern, value, {}, users)[0]


def _nearest(pattern: Pattern, value: Variable, bound: Bound, users: Users) -> tuple[Mismatch, Bound]:
    if isinstance(pattern, Wild):
        return _wild(pattern, value, bound, users)
    if isinstance(pattern, Number):
        reason = _number_reason(pattern, value)
        return Mismatch(0, pattern, value, reason) if reason else Mismatch(1), bound
    assert isinstance(pattern, Applied)
    return _applied(pattern, value, bound, users)


def _wild(pattern: Wild, value: Variable, bound: Bound, users: Users) -> tuple[Mismatch, Bound]:
    known = bound.get(pattern.name)
    if known is not None and not same_value(known, value):
        return Mismatch(0, pattern, value, f"{pattern.name} stands for another value already"), bound
    if pattern.when is not None and not pattern.when(value):
        return Mismatch(0, pattern, value, f"the condition {condition_text(pattern.when)} is false"), bound
    if pattern.single_use and len(users(value)) != 1:
        return Mismatch(0, pattern, value, _use_reason(len(users(value)))), bound
    return Mismatch(1), {**bound, pattern.name: value}


def _number_reason(pattern: Number, value: Variable) -> str:
    if not isinstance(value, Constant):
        return f"the value is no constant, so it is not known to be {pattern}"
    return "" if pattern.equals(value) else f"the constant is not {pattern}"


def _applied(pattern: Applied, value: Variable, bound: Bound, users: Users) -> tuple[Mismatch, Bound]:
    node = value.owner
    reason = _node_reason(pattern, node)
    if reason or node is None:
        return Mismatch(0, pattern, value, reason), bound
    if isinstance(pattern.op, OpLike):
        known = bound.get(pattern.op.name)
        if known is not None and not same_value(known, node.op):
            return Mismatch(0, pattern, value, f"{pattern.op.name} stands for another op already"), bound
        bound = {**bound, pattern.op.name: node.op}
    if pattern.single_use and len(users(value)) != 1:
        return Mismatch(1, pattern, value, _use_reason(len(users(value)))), bound
    tried = (_in_order(order, node.inputs, bound, users) for order in _orders(pattern, node))
    best, found = max(tried, key=lambda pair: _nearness(pair[0]))
    return Mismatch(1 + best.matched, best.part, best.value, best.reason), found


def _node_reason(pattern: Applied, node: Apply | None) -> str:
    if node is None:
        return "the value is computed by no op"
    if not pattern.fits(node.op):
        return f"the value is computed by {node.op}"
    if len(node.inputs) != len(pattern.operands):
        return f"it has {counted(len(node.inputs), 'operand')}, not {len(pattern.operands)}"
    return "" if len(node.outputs) == 1 else f"it has {len(node.outputs)} outputs; a pattern matches nodes with one"


def _orders(pattern: Applied, node: Apply) -> Iterator[Sequence[Pattern]]:
    """The operands of the pattern in each order in which they may stand."""
    free = getattr(node.op, "commutative", False) and len(pattern.operands) <= MOST_OPERANDS
    return permutations(pattern.operands) if free else iter((pattern.operands,))


def _in_order(
    patterns: Sequence[Pattern], values: Sequence[Variable], bound: Bound, users: Users
) -> tuple[Mismatch, Bound]:
    """All operands in this order: how many parts fit, and the first that does not."""
    matched, first = 0, None
    for pattern, value in zip(patterns, values, strict=True):
        one, bound = _nearest(pattern, value, bound, users)
        matched += one.matched
        first = first or (one if one.part is not None else None)
    return (Mismatch(matched) if first is None else Mismatch(matched, first.part, first.value, first.reason)), bound


def _nearness(found: Mismatch) -> tuple[bool, int, bool]:
    """Order of mismatches: more parts first; of equal ones, a number beside another number."""
    alike = isinstance(found.part, Number) and isinstance(found.value, Constant)
    return found.part is None, found.matched, alike


def _use_reason(uses: int) -> str:
    return f"the value is used {uses} times; the pattern asks for a single use"


def condition_text(condition: object) -> str:
    """The name of a condition, and the file and line of one without a name."""
    code = getattr(condition, "__code__", None)
    name = getattr(condition, "__name__", type(condition).__name__)
    if code is None or name != "<lambda>":
        return str(name)
    return f"at {code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}"
