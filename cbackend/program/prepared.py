"""Calls of kernels that lack their result and their epilogue, and the ops that have such calls.

call = prepare(p, node)                            everything but where the result lies
call.run(p, result)                                without an epilogue
call.run(p, result, After(kernel, arguments))      with one
p.run(PAIR, dtype, first=call.inside(buffer), ...)    as a part of another call
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from ...graph import Apply, Constant, Op, Variable
from ...ops.lowered.convolution_pair import ending_of
from ...ops.lowered.fused_product import FusedProduct
from ...record import record
from ..kernels import KernelSpec, modules
from .planner import Planner
from .program import After, Array, Inner, Lengths, Vector


@record
class Prepared:
    """A call of a kernel with a result `y` of these lengths; `fields` has all arguments but y and after.

    `fallible`: whether it may fail here; None: if it may fail at all.
    """

    spec: KernelSpec
    dtype: str
    lengths: Lengths
    fields: Mapping[str, Any]
    fallible: bool | None = None

    def run(self, p: Planner, result: Array, after: After | None = None) -> None:
        """Plan the call."""
        p.run(self.spec, self.dtype, **self.fields, y=result, after=after, fallible=self.fallible)

    def inside(self, result: Array) -> Inner:
        """Return the call as an argument of another one."""
        given = {k: Vector(v) if isinstance(v, tuple) else v for k, v in self.fields.items()}
        return Inner(self.spec.name, self.spec.arguments(given | {"y": result}))


def run_into(p: Planner, call: Prepared, out: Variable) -> None:
    """Plan a call that computes `out` and has no epilogue."""
    call.run(p, p.result(out, call.lengths))


def _never(p: Planner, node: Apply) -> bool:
    return False


@record
class Followed:
    """The way in which a fused group can follow an op in one call; FOLLOWED of a family's planner, by class.

    Attributes:
        prepare: The call of a node.  It takes bounds `low` and `high`, None or arrays of rank 0, if it `clips`.
        lengths: The lengths of its result, before it is planned.
        takes: Whether a node has a call.
        alone: Plans the node of the op and its group in another way, and returns whether it could.
        most_loops: The most loops of the group.
        any_lengths: Whether the kernel of the group has loops for all axes, whatever lengths are known.
        rounds: Whether the call of a node that clips also adds numbers of bfloat16, and rounds its result to them.
    """

    prepare: Callable[..., Prepared]
    clips: bool = False
    lengths: Callable[[Planner, Apply], Lengths] | None = None
    takes: Callable[[Apply], bool] = lambda node: True
    alone: Callable[[Planner, Apply], bool] = _never
    most_loops: int = 64
    any_lengths: bool = True
    rounds: Callable[[Apply], bool] = lambda node: False


@cache
def followed() -> Mapping[type[Op], Followed]:
    """Return the ways of all ops with a call of a kernel."""
    return {kind: found for module in modules("plan") for kind, found in getattr(module, "FOLLOWED", {}).items()}


# --- bounds of a result


@record
class Clipped:
    """A node whose call clips its result to bounds, each of which may be missing.

    Attributes:
        added: What is added before: numbers of bfloat16 in the places of the result; None: nothing.
        rounded: Whether the result is rounded to bfloat16.
    """

    made: Apply
    low: Constant | None = None
    high: Constant | None = None
    added: Variable | None = None
    rounded: bool = False

    @property
    def takes(self) -> bool:
        """Whether the node has a call."""
        return followed()[type(self.made.op)].takes(self.made)

    def prepare(self, p: Planner) -> Prepared:
        """Return the call."""
        low, high = (None if bound is None else p.arrays[bound] for bound in (self.low, self.high))
        return followed()[type(self.made.op)].prepare(p, self.made, low, high)

    def run(self, p: Planner, out: Variable) -> None:
        """Plan the call, which computes `out`."""
        call, y = self.complete(p, partial(p.result, out))
        call.run(p, y)

    def complete(self, p: Planner, result: Callable[[Lengths], Array]) -> tuple[Prepared, Array]:
        """Return the call with what it adds and rounds, and its `y`; `result` makes the array of the result."""
        call = self.prepare(p)
        if self.added is not None:
            call = replace(call, fields={**call.fields, "added": p.packed(p.arrays[self.added])})
        if not self.rounded:
            return call, result(call.lengths)
        room = p.fresh(call.dtype, call.lengths)
        return replace(call, fields={**call.fields, "rounded": result(call.lengths)}), room


def clipped(node: Apply) -> Clipped | None:
    """Return the call that computes a node, with the bounds that clip its result; None for other nodes."""
    if _clips(node):
        return Clipped(node)
    if not isinstance(node.op, FusedProduct):
        return None
    product, others = node.op.split(node.inputs)
    ending, shape = ending_of(node.op.graph), product.type.shape
    if ending is None or product.owner is None or node.out.type.shape != shape or not _clips(product.owner):
        return None
    low, high, added = (None if k is None else others[k - 1] for k in (ending.low, ending.high, ending.added))
    if not all(v is None or (isinstance(v, Constant) and v.data == v.data) for v in (low, high)):
        return None  # a bound that is NaN makes every number NaN
    if (ending.rounded or added is not None) and not followed()[type(product.owner.op)].rounds(product.owner):
        return None
    if added is not None and (added.type.shape != shape or None in shape):
        return None
    return Clipped(product.owner, low, high, added, ending.rounded)  # type: ignore[arg-type]


def _clips(node: Apply) -> bool:
    way = followed().get(type(node.op))
    return way is not None and way.clips
