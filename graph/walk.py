"""Orders and sets of nodes.  Every traversal keeps its own stack: a graph may be 100,000 nodes deep."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import Apply, Variable


def toposort(outputs: Iterable[Variable], stop_at: Collection[Variable] = ()) -> list[Apply]:
    """The nodes that `outputs` need, inputs before users.

    Depth first, left to right, so the order depends on structure alone.

    `stop_at`: variables taken as given; what lies above them is left out.
    """
    return nodes_and_leaves(outputs, stop_at)[0]


def nodes_and_leaves(
    outputs: Iterable[Variable], stop_at: Collection[Variable] = ()
) -> tuple[list[Apply], set[Variable]]:
    """The order of `toposort` and the leaves, found in one walk."""
    stop_at = as_set(stop_at)
    order: list[Apply] = []
    entered: set[Apply] = set()
    found: set[Variable] = set()
    for output in outputs:
        node = output.owner
        if node is None:
            found.add(output)
            continue
        if node in entered or output in stop_at:
            continue
        rest = iter(node.inputs)
        entered.add(node)
        waiting: list[tuple[Apply, Iterator[Variable]]] = []
        while True:
            for variable in rest:
                above = variable.owner
                if above is None:
                    found.add(variable)
                elif above not in entered and not (stop_at and variable in stop_at):
                    entered.add(above)
                    waiting.append((node, rest))
                    node, rest = above, iter(above.inputs)
                    break
            else:
                order.append(node)
                if not waiting:
                    break
                node, rest = waiting.pop()
    return order, found


def as_set(variables: Collection[Variable]) -> Collection[Variable]:
    """Return a collection that answers `in` at once: a set of the variables of a list or a tuple."""
    return frozenset(variables) if isinstance(variables, (list, tuple)) else variables


class Older(Collection["Variable"]):
    """The variables whose numbers are less than `first`, and those `besides`."""

    __slots__ = ("_besides", "_first")

    def __init__(self, first: int, besides: Collection[Variable] = ()) -> None:
        self._first = first
        self._besides = as_set(besides)

    @classmethod
    def than(cls, variables: Collection[Variable]) -> Older:
        """The variables that were made before these, and so depend on none of them; and these."""
        return cls(min((v.number for v in variables), default=sys.maxsize), variables)

    def __contains__(self, variable: object) -> bool:
        return variable.number < self._first or variable in self._besides  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Variable]:
        raise TypeError("older variables cannot be listed")

    def __len__(self) -> int:
        return 1  # where it is asked whether there are any


def leaves(outputs: Iterable[Variable]) -> list[Variable]:
    """The leaves that `outputs` need, including constants, each once, in order of first use."""
    outputs = list(outputs)
    found: dict[Variable, None] = {}
    for node in toposort(outputs):
        for variable in node.inputs:
            if variable.owner is None:
                found[variable] = None
    for output in outputs:
        if output.owner is None:
            found[output] = None
    return list(found)


def rebuild(
    outputs: Sequence[Variable],
    known: dict[Variable, Variable],
    visit: Callable[[Apply], Sequence[Variable]] | None = None,
    stop_at: Collection[Variable] = (),
    order: Iterable[Apply] | None = None,
) -> list[Variable]:
    """`outputs` with the variables of `known` replaced by their images; nodes that do not depend on these are shared.

    `known` is filled with the image of every variable met.  `visit(node)` gets each rebuilt node and returns its
    outputs, or others of the same types to stand in their place.  `stop_at`: those
    of `known`, and others that are shared as they are.  `order`: the nodes that these leave, if known.
    """
    for node in toposort(outputs, stop_at=stop_at or known.copy()) if order is None else order:
        new = node.over(known)
        images = new.outputs if visit is None else visit(new)
        for old, image in zip(node.outputs, images, strict=True):
            known.setdefault(old, image)
    return [known.get(o, o) for o in outputs]
