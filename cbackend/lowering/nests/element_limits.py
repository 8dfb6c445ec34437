"""Steps of a loop over elements up to the first one in which a position is outside.

    for t in 0 .. n:  fail if t + 1 >= length;  ...
    -->
    stop = min(n, length - 1);  for t in 0 .. stop:  ...;  fail if stop < n

The steps before it run as they would: a call that fails hands on nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ....record import record
from ...ir import loops as ir


@record
class Limit:
    """A check of an index before its loop.  `first`: the first step in which it fails.

    `ahead`: the index minus that of the loop; None if the index is the same in each step, and `index` then.
    """

    first: ir.Expr
    index: ir.Expr | None
    ahead: ir.Expr | None
    length: ir.Expr
    axis: int
    place: int


@dataclass
class Steps:
    """A loop whose body is being written.  `depth`: the number of the block of its body."""

    index: ir.Local
    steps: ir.Expr
    depth: int
    limits: list[Limit] = field(default_factory=list)


def offset(
    value: ir.Expr, loop: Steps, defined: Mapping[str, tuple[int, ir.Expr | None]], block_of: Callable[[ir.Expr], int]
) -> ir.Expr | None:
    """Return a value minus the index of a loop, as an expression from outside; None if that is not certain."""
    ahead: ir.Expr = ir.ZERO
    while value != loop.index:
        _, made = defined.get(value.name, (0, None)) if isinstance(value, ir.Local) else (0, None)
        if not isinstance(made, ir.ScalarOp) or made.name not in ("add", "sub"):
            return None
        value, term = made.args
        if made.name == "add" and block_of(value) < loop.depth:
            value, term = term, value
        if block_of(term) >= loop.depth:
            return None
        ahead = ir.plus(ahead, term) if made.name == "add" else _minus(ahead, term)
    return ahead


def _minus(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.number(-int(b.value.real)) if a == ir.ZERO and isinstance(b, ir.Const) else ir.minus(a, b)
