"""A summary of a node for the index of rules: its op, and what computes each operand.

The optimizers know by it which rules a node may be for.  A graph has few neighbourhoods and programs share them, so
each is one object, compared by identity: a node finds its own once, and what was asked of it is found by one look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from .node import Apply, Constant, Variable

if TYPE_CHECKING:
    from .op import Op


class ConstantHead:
    """The kind of a constant: 0, 1 or -1, which most rules look for, any other NUMBER, or an ARRAY."""

    __slots__ = ("value",)

    def __init__(self, value: int | None = None) -> None:
        self.value: int | None = value

    def may_be(self, number: Any) -> bool:
        """Whether all elements of such a constant may equal the number."""
        return self is ARRAY or number not in _NUMBERS or self.value == number


LEAF = "leaf"
ARRAY, NUMBER = ConstantHead(), ConstantHead()
_NUMBERS = {number: ConstantHead(number) for number in (0, 1, -1)}
Head = Union["Op", ConstantHead, str]
"""Class of an operand in match keys: the op that computes it, LEAF, or a kind of constant."""

MOST_KEPT = 20_000
"""Neighbourhoods that are kept; ops with parameters of their own could else fill the memory of a long program."""


class Neighbourhood:
    """An op, and what computes the operands of a node of it.  Equal ones are nearly always one object."""

    __slots__ = ("heads", "op")

    def __init__(self, op: Op, heads: tuple[Head, ...]) -> None:
        self.op: Op = op
        self.heads: tuple[Head, ...] = heads


_known: dict[tuple[Op, tuple[Head, ...]], Neighbourhood] = {}


def head(variable: Variable) -> Head:
    """The op that computes the variable."""
    owner = variable.owner
    if owner is not None:
        return owner.op
    if not isinstance(variable, Constant):
        return LEAF
    data = variable.data
    return _NUMBERS.get(data.item(), NUMBER) if data.size == 1 else ARRAY


def neighbourhood_of(node: Apply) -> Neighbourhood:
    """The neighbourhood of a node, looked for once."""
    found = node._neighbourhood
    if found is None:
        key = (node.op, tuple([head(i) if i.owner is None else i.owner.op for i in node.inputs]))
        found = _known.get(key)
        if found is None:
            if len(_known) >= MOST_KEPT:
                _known.clear()
            found = _known.setdefault(key, Neighbourhood(*key))
        node._neighbourhood = found
    return found
