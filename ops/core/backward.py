"""Reverse accumulation: propagate cotangents of outputs back to the variables they depend on.

The sweep visits each node between the variables asked for and the outputs once, users before producers; a variable with
several users gets the sum of what each sends back.  Source: Griewank and Walther, Evaluating Derivatives, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...graph import Apply, NoGradient, Origin, Variable, gc_paused, inheriting, toposort
from .checks import describe
from .namespace import T


@gc_paused
def pull_back(
    outputs: Sequence[Variable],
    cotangents: Sequence[Variable | None],
    wrt: Sequence[Variable],
    *,
    constant: Collection[Variable] = (),
    known: Mapping[Variable, Variable] | None = None,
    stop_at: Collection[Variable] = (),
    onto: Mapping[Variable, Variable] | None = None,
) -> list[Variable | None]:
    """Return the cotangent of each variable of `wrt`; None where nothing flows back to it.

    `cotangents` gives one entry an output (None: zero), of the shape and dtype of the output.  Nothing passes through
    the variables `constant`; those of `known` have the cotangent given there, whatever their users send back; what is
    above those of `stop_at` is left out.  `onto`, for the body of a loop: totals to which the cotangents of variables
    are added; all cotangents are then added in place where an op can do so (`vjp_onto`).  Nodes that are built carry
    the lines of the nodes they are the derivative of.
    Raises NoGradient, naming the op, its line and the way out.
    """
    known, constant = known or {}, set(constant)
    order = toposort([*outputs, *known], stop_at=constant.union(stop_at))
    active = _dependents(order, wrt)
    sums: dict[Variable, Variable] = dict(onto or {})
    for output, cotangent in zip(outputs, cotangents, strict=True):
        if cotangent is not None and output not in known and output not in constant:
            sums[output] = T.add(sums[output], cotangent) if output in sums else cotangent
    sums.update((v, g) for v, g in known.items() if v not in constant)
    with inheriting() as lines:
        for node in reversed(order):
            received = [sums.get(o) for o in node.outputs]
            if not any(o in active for o in node.outputs) or all(g is None for g in received):
                continue
            lines.origin = node.origin
            taken = [i in active and i not in known and i not in constant and _moves(i) for i in node.inputs]
            totals: Sequence[Variable | None] = [
                sums.get(i) if takes and onto is not None and node.inputs.count(i) == 1 else None
                for i, takes in zip(node.inputs, taken, strict=True)
            ]
            found, totals = _send_back(node, received, totals)
            for i, sent, total, takes in zip(node.inputs, found, totals, taken, strict=True):
                if sent is not None and takes:
                    _check(node, i, sent)
                    sums[i] = T.add(sums[i], sent) if total is None and i in sums else sent
    return [sums.get(v) for v in wrt]


def pull_back_to(
    inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
) -> list[Variable | None]:
    """Return the vjp of an op with the meaning `outputs` over `inputs`: one cotangent per input.

    An input may be given twice (the first place gets the sum) and may be computed from another one (which gets no part
    of its cotangent here).
    """
    distinct = list(dict.fromkeys(inputs))
    found = dict(zip(distinct, pull_back(outputs, cotangents, distinct, stop_at=distinct), strict=True))
    return [found.pop(i, None) for i in inputs]


class ByExpansion:
    """The derivative of ops with the meaning `expand(inputs)`, an expression or several by other ops."""

    expand: Callable[..., Any]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        found = self.expand(node.inputs)
        return pull_back_to(node.inputs, [found] if isinstance(found, Variable) else found, cotangents)


def _moves(v: Variable) -> bool:
    """Whether a value can change by a little: a number that is no integer, or an integer that represents one."""
    return v.type.kind in "fc" or (v.owner is not None and getattr(v.owner.op, "straight_through", False))


def _dependents(order: Sequence[Apply], sources: Sequence[Variable]) -> set[Variable]:
    """Return the sources and all variables computed from them."""
    found = set(sources)
    for node in order:
        if any(i in found for i in node.inputs):
            found.update(node.outputs)
    return found


def _send_back(
    node: Apply, received: Sequence[Variable | None], totals: Sequence[Variable | None]
) -> tuple[Sequence[Variable | None], Sequence[Variable | None]]:
    """Return the cotangents of the inputs, and the totals that they hold already."""
    try:
        found = node.op.vjp_onto(node, received, totals) if any(t is not None for t in totals) else None
        return (node.op.vjp(node, received), [None] * len(totals)) if found is None else (found, totals)
    except NoGradient as reason:
        raise NoGradient(
            f"no gradient through {node}{_built_at(node.origin)}: {reason}.\n"
            "To hold it constant, wrap it in stop_gradient or name it in consider_constant."
        ) from None


def _built_at(origin: Origin) -> str:
    return f", built at {', '.join(map(str, origin))}" if origin else ""


def _check(node: Apply, variable: Variable, cotangent: Variable) -> None:
    mine, theirs = variable.type.shape, cotangent.type.shape
    same_rank = len(mine) == len(theirs) and (cotangent.dtype == variable.dtype or variable.type.kind not in "fc")
    if not same_rank or any(None not in (a, b) and a != b for a, b in zip(mine, theirs, strict=True)):
        raise TypeError(f"the vjp of {node.op} gave {cotangent.type} for its input {describe(variable)}")
