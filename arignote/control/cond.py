"""Lazy choices: `ag.cond` computes only one branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops as T
from ..graph import Constant, Variable, rebuild, toposort
from ..graph.provenance import marking
from ..ops.control.cond import chosen
from ..ops.core.checks import by_position, describe, shown
from ..ops.core.operands import weak_kind
from ..ops.core.promotion import result_type
from ..ops.core.tensor import TensorVariable, as_tensor
from ..ops.core.tracing import comparing
from ..tree import flat, in_form, places, unflat


def cond(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return `then` if `condition` holds, else `otherwise`; only that branch is computed.

        ag.cond(n > 0, lambda: total / n, lambda: T.zeros_like(total))

    Args:
        condition: a scalar; numbers other than 0 hold.
        then, otherwise: functions without arguments, which use whatever variables they like, or values.  Both give a
            variable, or trees of the same structure: lists, tuples, dicts, dataclasses.

    A branch given as a function is evaluated only if it is taken, in all modes, and so are its derivatives: an error or
    a NaN of the other branch does no harm.  Of a branch given as a value, compiled functions compute the part that
    nothing else needs only if it is taken, and its derivative is multiplied by zero if it is not.

    Raises TypeError for values whose ranks differ or whose dtypes have none in common; dtypes are promoted as NumPy
    does it.  `T.where` chooses element by element and computes both.
    """
    test = as_tensor(condition)
    if test.ndim:
        raise TypeError(f"cond: the condition must be a scalar, got {describe(test)}; T.where chooses by element")
    test = test if test.dtype == "bool" else T.ne(test, 0)
    one, other = _Branch(then), _Branch(otherwise)
    try:
        other.values = in_form(other.given, one.form, "otherwise", anything=other.form is None)
    except TypeError as error:
        given = f"{shown(one.given)} and {shown(other.given)}"
        raise TypeError(f"cond: the branches give values of different forms, {given}: {error}") from None
    paths = places(one.form, "value" if type(one.form) is tuple else "value 0")
    values = [_alike(*each) for each in zip(paths, one.values, other.values, strict=True)]
    outside: dict[Variable, Variable] = {}
    inner = [branch.inner([pair[n] for pair in values], outside) for n, branch in enumerate((one, other))]
    return unflat(one.form, iter(chosen(test, list(outside.values()), list(outside), *inner)))


class _Branch:
    """The outputs of one branch, and the nodes that were built for it."""

    def __init__(self, given: Any) -> None:
        self.marks = marking()
        if callable(given):
            with comparing(), self.marks:
                given = given()
        self.given = given
        self.values: list[Any] = []
        if given is None:
            self.values.append(given)  # an error, which `_alike` raises
        self.form = None if given is None else flat(given, self.values)

    def inner(self, values: Sequence[Variable], outside: dict[Variable, Variable]) -> list[Variable]:
        """Return the values over leaves; `outside` maps each leaf to the variable it replaces."""
        foreign = self._foreign(values)
        read = [i for node in toposort(values, stop_at=foreign) for i in node.inputs]
        given = [v for v in dict.fromkeys([*read, *values]) if v in foreign and not isinstance(v, Constant)]
        for v in given:
            outside.setdefault(v, TensorVariable(v.type, name=v.name))
        return rebuild(values, {v: outside[v] for v in given})

    def _foreign(self, values: Sequence[Variable]) -> set[Variable]:
        """Return the variables that were not built for the branch and that it reads or gives."""
        foreign, met, stack = set(), set(values), list(values)
        while stack:
            v = stack.pop()
            if v.owner is None or not self.marks.made(v.owner.origin):
                foreign.add(v)
            else:
                stack += [i for i in v.owner.inputs if i not in met]
                met.update(v.owner.inputs)
        return foreign


def _alike(path: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two values as variables of one dtype and rank; `path`: what messages call them."""
    for branch, v in (("then", a), ("otherwise", b)):
        try:
            as_tensor(v)
        except (TypeError, ValueError):
            expected = f"expected a variable or numbers{by_position(v)}"
            raise TypeError(f"cond: {path} of {branch} is {shown(v)}; {expected}") from None
    kinds = [weak_kind(v) or as_tensor(v).dtype for v in (a, b)]
    dtype = result_type(kinds)
    found = [T.cast(v, dtype) if v.dtype != dtype else v for v in (as_tensor(a), as_tensor(b))]
    if found[0].ndim != found[1].ndim:
        raise TypeError(f"cond: {path} is {describe(found[0])} or {describe(found[1])}; expected one rank")
    return found[0], found[1]
