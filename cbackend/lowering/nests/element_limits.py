"""Steps of a loop over elements up to the first one in which a position is outside.

    for t in 0 .. n:  fail if t + 1 >= length;  ...
    -->
    stop = min(n, length - 1);  for t in 0 .. stop:  ...;  fail if stop < n

The steps before it run as they would: a call that fails hands on nothing.

    for t in 0 .. n:  x[t + c]             c may be negative
    -->
    for strips in which t + c keeps its sign:  o = t + c < 0 ? c + length : c;  for t in the strip:  x[t + o]

    for t in 0 .. n:  y[a + t] = f(y[a + k], ...)
    -->
    for strips up to k, of k alone, and behind it:  v = y[a + k];  for t in the strip:  y[a + t] = f(v, ...)

This lets compilers take several steps at once: within a strip no step writes what another one reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ....record import record
from ...ir import loops as ir
from ...ir.walk import all_statements, names_read


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
    """A loop whose body is being written.  `depth`: the number of the block of its body.

    `offsets`: what is added to the index of the loop in a strip, for an index ahead of it and the length of an axis.
    """

    index: ir.Local
    steps: ir.Expr
    depth: int
    limits: list[Limit] = field(default_factory=list)
    offsets: dict[tuple[ir.Expr, ir.Expr], ir.Local] = field(default_factory=dict)


def strip_offsets(loop: Steps, begin: ir.Local, end: ir.Expr, name: Callable[[str], str]) -> tuple[ir.Body, ir.Expr]:
    """Return the offsets of a strip, and the end of the strip: before it none of their indices changes its sign."""
    found: list[ir.Statement] = []
    for (ahead, length), offset_ in loop.offsets.items():
        is_behind, cut = ir.Local("bool", name("b")), ir.index(name("r"))
        found.append(ir.Let(is_behind.name, ir.less(ir.plus(begin, ahead), ir.ZERO)))
        behind = ir.ScalarOp("switch", "int64", (is_behind, ir.plus(ahead, length), ahead))
        found.append(ir.Let(offset_.name, behind))
        front = ir.minus(ir.ZERO, ahead)
        is_cut = ir.every([is_behind, ir.less(front, end)])
        found.append(ir.Let(cut.name, ir.ScalarOp("switch", "int64", (is_cut, front, end))))
        end = cut
    return tuple(found), end


@record
class OwnElement:
    """An element that all steps of a loop read, and that only step `at` writes.

    `reads`: what stands before `body` in each strip.
    """

    at: ir.Expr
    reads: ir.Body
    body: ir.Body

    def end(self, begin: ir.Local, end: ir.Expr) -> ir.Expr:
        """Return the end of a strip: at the step, or behind it."""
        is_within = ir.every([ir.less(begin, self.at), ir.less(self.at, end)])
        behind = ir.ScalarOp("switch", "int64", (ir.equal(begin, self.at), ir.plus(begin, ir.ONE), end))
        return ir.ScalarOp("switch", "int64", (is_within, self.at, behind))


def own_element(t: ir.Local, body: ir.Body) -> OwnElement | None:
    """Return the element of an array that the steps `t` of an innermost loop read, if it is among those they write."""
    inside = list(all_statements(body))
    if not all(isinstance(s, (ir.Let, ir.Var, ir.Assign, ir.Store, ir.If)) for s in inside):
        return None
    made = {t.name, *(s.name for s in inside if isinstance(s, (ir.Let, ir.Var, ir.Assign)))}
    for place, s in enumerate(body):
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Load) or not made.isdisjoint(names_read(s)):
            continue
        writes = [w for w in inside if isinstance(w, ir.Store) and w.array == s.value.array]
        places = {_step_of(w.index, s.value.index, t) for w in writes}
        at = places.pop() if len(places) == 1 else None
        before = all_statements(body[:place])
        if at is not None and not any(isinstance(w, ir.Store) and w.array == s.value.array for w in before):
            return OwnElement(at, (s,), (*body[:place], *body[place + 1 :]))
    return None


def _step_of(written: ir.Expr, read: ir.Expr, t: ir.Local) -> ir.Expr | None:
    """Return the step in which the index `written` is `read`, which is the same in all; None if that is not certain."""
    while written != t:
        if not (isinstance(written, ir.ScalarOp) and isinstance(read, ir.ScalarOp) and written.name == read.name):
            return None
        pairs = [(a, b) for a, b in zip(written.args, read.args, strict=True) if a != b]
        if len(pairs) != 1:
            return None
        ((written, read),) = pairs
    return read if read.dtype == t.dtype else None


def offset(
    value: ir.Expr, loop: Steps, defined: Mapping[str, tuple[int, ir.Expr | None]],
    outside: Callable[[ir.Expr], ir.Expr | None],
) -> ir.Expr | None:  # fmt: skip
    """Return a value minus the index of a loop, as an expression from outside; None if that is not certain.

    `outside`: returns a value as one from outside of the loop, or None.
    """
    ahead: ir.Expr = ir.ZERO
    while value != loop.index:
        _, made = defined.get(value.name, (0, None)) if isinstance(value, ir.Local) else (0, None)
        if not isinstance(made, ir.ScalarOp) or made.name not in ("add", "sub"):
            return None
        value, other = made.args
        if made.name == "add" and outside(value) is not None:
            value, other = other, value
        term = outside(other)
        if term is None:
            return None
        ahead = ir.plus(ahead, term) if made.name == "add" else _minus(ahead, term)
    return ahead


def _minus(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.number(-int(b.value.real)) if a == ir.ZERO and isinstance(b, ir.Const) else ir.minus(a, b)
