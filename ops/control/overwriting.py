"""Parts of a state that a step overwrites: a gradient keeps these alone, and goes back by writing them again.

    for i: A[i, 0] = f(A); A[i, :i] += ...     A before the step is A after it, with the old A[i, :]

Source: Griewank and Walther, Evaluating Derivatives, section 4.2 (overwritten values on a stack).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, NamedTuple

from ...graph import Constant, FunctionGraph, Variable, leaves, same_shape
from ..lowered.assumed import AssumeEqual
from ..lowered.fused import unmarked
from ..shapes.indexing import IncSubtensor, Spec, Subtensor, entries
from .scan_ops import Scan

MOST_KEPT = 4
"""Most parts that are kept of one state; else all of it is."""
_WHOLE = "s000"


class Part(NamedTuple):
    """A part of an array: an integer for some axes, and all positions of the others."""

    places: tuple[Variable | None, ...]

    @property
    def spec(self) -> Spec:
        return tuple(_WHOLE if p is None else "i" for p in self.places)

    @property
    def indices(self) -> tuple[Variable, ...]:
        return tuple(p for p in self.places if p is not None)

    def covers(self, other: Part) -> bool:
        return all(mine is None or mine is theirs for mine, theirs in zip(self.places, other.places, strict=True))

    def read(self, x: Variable, known: dict[Variable, Variable]) -> Any:
        """Return the part of an array; `known` has the image of each index."""
        return Subtensor(self.spec)(x, *(known.get(i, i) for i in self.indices))

    def reads(self, body: FunctionGraph, x: Variable) -> list[Variable]:
        """Return the reads of the part of an array in a body, whose value before a step is kept."""
        reads = [user for user, _ in body.uses.get(x, ()) if user is not None and isinstance(user.op, Subtensor)]
        same = [node for node in reads if node.op.spec == self.spec]  # type: ignore[attr-defined]
        return [node.out for node in same if all(map(is_, node.inputs[1:], self.indices))]

    def restored(self, x: Variable, old: Variable, known: dict[Variable, Variable]) -> Any:
        """Return the array with an old value of the part."""
        return IncSubtensor(self.spec, set=True)(x, old, *(known.get(i, i) for i in self.indices))


def overwritten(op: Scan) -> dict[int, tuple[Part, ...]]:
    """Return the parts of each state that a step writes, for those of which a step writes a few parts alone.

    Their positions follow from slices of sequences, scalar states, and what is equal in each step.
    """
    body = op.graph
    arrays = {leaf for leaf in body.inputs[op.states] if leaf.ndim}
    found = {}
    for k, state in enumerate(body.inputs[op.states]):
        parts = None if op.traced[k] or not state.ndim else parts_changed(body, state, body.outputs[k])
        if parts is None or not 0 < len(parts) <= MOST_KEPT:
            continue
        if all(p.indices and arrays.isdisjoint(leaves(p.indices)) for p in parts):
            found[k] = tuple(parts)
    return found


def is_seen_by_its_step_alone(body: FunctionGraph, state: Variable, k: int, parts: Sequence[Part]) -> bool:
    """Whether a step reads of a state no more than the one part that it writes."""
    new, (part, *others) = body.outputs[k], parts
    if others or new.owner is None or new.owner.inputs[0] is not state:
        return False
    known = {new, *part.reads(body, state), *part.reads(body, new)}
    users = [user for v in (state, new) for user, _ in body.uses[v]]
    return sum(user is None for user in users) == 1 and all(u is None or known.intersection(u.outputs) for u in users)


def parts_changed(body: FunctionGraph, state: Variable, new: Variable) -> list[Part] | None:
    """Return the parts in which `new` may differ from a state, an input of the body; None if they are not known."""
    found: list[Part] = []
    while new is not state:
        node = new.owner
        if node is None:
            return None
        op = unmarked(node.op)
        if isinstance(op, AssumeEqual):
            new = node.inputs[new.index]
            continue
        if isinstance(op, IncSubtensor):
            index = entries(op.spec, node.inputs[2:])
            parts = [Part((*(None if isinstance(p, slice) else p for p in index), *[None] * (new.ndim - len(index))))]
            new = node.inputs[0]
        elif isinstance(op, Scan) and new.index < len(op.traced):
            k, inner = new.index, op.graph
            inside = None if op.traced[k] else parts_changed(inner, inner.inputs[op.states][k], inner.outputs[k])
            if inside is None:
                return None
            outer: dict[Any, Variable] = dict(zip(inner.inputs[op.states.stop :], node.inputs[1 + op.states.stop :]))
            parts = [Part(tuple(p if isinstance(p, Constant) else outer.get(p) for p in q.places)) for q in inside]
            new = op.parts(node)[2][k]
        else:
            return None
        for part in parts:
            if not any(other.covers(part) for other in found):
                found = [other for other in found if not part.covers(other)] + [part]
    return found


def written_last(outputs: Sequence[Variable], after: Mapping[int, Variable]) -> dict[Variable, Variable]:
    """Return the states after a step, `after`, for themselves, and reads of them for the values written to them last.

    `outputs`: the results of the step.  So a derivative need not compute these values again.
    """
    found: dict[Variable, Variable] = {}
    for k, state in after.items():
        node = outputs[k].owner
        if outputs[k].type == state.type:
            found[outputs[k]] = state
        if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set:
            continue
        _, value, *indices = node.inputs
        read: Any = Subtensor(node.op.spec)(state, *indices)
        if value.owner is not None and same_shape(value, read):
            found[value] = read
    return found
