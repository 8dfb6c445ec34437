"""Match keys: the op of a node and the op or kind of each operand, by which optimizers select the rules to try.

A graph has few match keys and programs share them, so keys are interned and compared by identity.  A node finds its
own once; the answers that belong to a key are then one dictionary lookup away.
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
        """Return whether all elements of a constant of this kind may equal the number."""
        return self is ARRAY or number not in _NUMBERS or self.value == number


LEAF = "leaf"
ARRAY, NUMBER = ConstantHead(), ConstantHead()
_NUMBERS = {number: ConstantHead(number) for number in (0, 1, -1)}
Head = Union["Op", ConstantHead, str]
"""Class of an operand in match keys: the op that computes it, LEAF, or a kind of constant."""

MOST_KEPT = 20_000
"""Limit of interned keys; ops with parameters of their own could otherwise fill the memory of a long program."""


class MatchKey:
    """The op of a node and the heads of its operands.  Keys are interned: equal ones are nearly always one object."""

    __slots__ = ("heads", "op")

    def __init__(self, op: Op, heads: tuple[Head, ...]) -> None:
        self.op: Op = op
        self.heads: tuple[Head, ...] = heads


_known: dict[tuple[Op, tuple[Head, ...]], MatchKey] = {}


def head(variable: Variable) -> Head:
    """The op that computes the variable."""
    owner = variable.owner
    if owner is not None:
        return owner.op
    if not isinstance(variable, Constant):
        return LEAF
    data = variable.data
    return _NUMBERS.get(data.item(), NUMBER) if data.size == 1 else ARRAY


def match_key_of(node: Apply) -> MatchKey:
    """The match key of a node, memoized on the node."""
    found = node._match_key
    if found is None:
        key = (node.op, tuple([head(i) if (above := i.owner) is None else above.op for i in node.inputs]))
        found = _known.get(key)
        if found is None:
            if len(_known) >= MOST_KEPT:
                _known.clear()
            found = _known.setdefault(key, MatchKey(*key))
        node._match_key = found
    return found
