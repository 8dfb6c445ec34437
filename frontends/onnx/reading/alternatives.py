"""Values whose rank, or presence, only the run decides: a branch of `If`, a `Squeeze` of axes of open length.

A node that reads a choice is converted once for each alternative, and again there is a choice, until the alternatives
have one dtype and rank: then they are one variable, the result of a lazy `cond` over all nodes since the choice.  An
alternative that cannot be converted is an error of the call that would take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .... import ops as T
from ....graph import Constant, TensorType, Variable, rebuild, toposort
from ....ops.control.batching import on_last_axes
from ....ops.control.cond import chosen
from ....ops.core.tensor import HostOp, TensorVariable
from ....ops.shapes.specify import FirstOperand
from ....record import record
from .narrow import Narrow, format_of, narrow, value_of
from .node import OnnxError
from .values import shape_vector

MOST_ALTERNATIVES = 64
"""Alternatives of one value."""


@record(eq=False)
class Choice:
    """`then` where a bool scalar holds, else `otherwise`: values of a model, or further choices."""

    condition: Any
    then: Any
    otherwise: Any

    def mapped(self, function: Callable[[Any], Any]) -> Choice:
        """The choice of the function's values."""
        pair = (v.mapped(function) if isinstance(v, Choice) else function(v) for v in (self.then, self.otherwise))
        return Choice(self.condition, *pair)

    def leaves(self) -> list[Any]:
        """The alternatives."""
        sides = self.then, self.otherwise
        return [leaf for side in sides for leaf in (side.leaves() if isinstance(side, Choice) else [side])]


@record(eq=False)
class Impossible:
    """An alternative that a node cannot take, by its error."""

    error: OnnxError


@record
class Refused(FirstOperand, HostOp):
    """`refused(x, condition)`: x as a view; a call in which the condition holds raises ValueError."""

    message: str
    name = "refused"
    fallible = True
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (inputs[0].type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        if values[1]:
            raise ValueError(self.message)
        return (values[0],)


def by_alternative(convert: Callable[[Sequence[Any]], list[Any]], given: Sequence[Any]) -> list[Any]:
    """The outputs of a node on operands, for each alternative of its first choice separately."""
    first = next((g for g in given if isinstance(g, Choice)), None)
    if first is None:
        broken = next((g for g in given if isinstance(g, Impossible)), None)
        if broken is not None:
            raise broken.error
        return convert(given)
    found: list[Any] = []
    for side in (True, False):
        taken = [_side(g, first.condition, side) for g in given]
        try:
            found.append(by_alternative(convert, taken))
        except OnnxError as error:
            found.append(error)
    if all(isinstance(f, OnnxError) for f in found):
        raise found[0]
    count = next(len(f) for f in found if not isinstance(f, OnnxError))
    then, otherwise = ([Impossible(f)] * count if isinstance(f, OnnxError) else f for f in found)
    return [Choice(first.condition, a, b) for a, b in zip(then, otherwise, strict=True)]


def _side(value: Any, condition: Any, holds: bool) -> Any:
    """The value where a condition is known to hold, or not to."""
    if not isinstance(value, Choice):
        return value
    if value.condition is condition:
        return _side(value.then if holds else value.otherwise, condition, holds)
    return Choice(value.condition, *(_side(v, condition, holds) for v in (value.then, value.otherwise)))


# --- joining


def joined(outputs: Sequence[Any], scope: Mapping[str, Any], separate: bool = True) -> list[Any]:
    """The outputs of a node; choices between values of one dtype and rank are variables.

    `scope` has the values that are computed in any case.  `separate`: vectors of integers of other lengths, which may
    be shapes of different ranks, stay choices.
    """
    if not any(isinstance(o, Choice) for o in outputs):
        return list(outputs)
    outside = frozenset(v for value in scope.values() for v in _variables(value))
    found, groups = list(outputs), dict[Any, list[int]]()
    for k, o in enumerate(outputs):
        if isinstance(o, Choice):
            o = found[k] = Choice(o.condition, *joined([o.then, o.otherwise], scope, separate))
            if len(o.leaves()) > MOST_ALTERNATIVES:
                raise OnnxError(f"a value has more than {MOST_ALTERNATIVES} alternatives; give `shapes`")
            if _is_alike(o.then, o.otherwise, separate):
                groups.setdefault(o.condition, []).append(k)
    for condition, places in groups.items():
        pairs = [_spared(found[k]) for k in places]
        for k, value in zip(places, _lazily(condition, pairs, outside), strict=True):
            found[k] = value
    return found


def _variables(value: Any) -> Iterable[Variable]:
    value = value_of(value)
    return [value] if isinstance(value, Variable) else filter(_is_variable, value) if isinstance(value, list) else []


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_alike(a: Any, b: Any, separate: bool) -> bool:
    """Whether a choice between two values is one value: variables of one dtype and rank, or lists of such."""
    if isinstance(a, Impossible) or isinstance(b, Impossible):
        return not isinstance(b if isinstance(a, Impossible) else a, (Choice, Impossible))
    x, y = value_of(a), value_of(b)
    if format_of(a) != format_of(b):
        return False
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(_is_alike(v, w, separate) for v, w in zip(x, y))
    if not (isinstance(x, Variable) and isinstance(y, Variable) and x.dtype == y.dtype and x.ndim == y.ndim):
        return False
    one, other = x.type.shape, y.type.shape
    return not separate or x.ndim != 1 or x.type.kind not in "iu" or one == other or None in (*one, *other)


def _spared(choice: Choice) -> tuple[Any, Any]:
    """The two sides of a choice; for one that is impossible the other one, whose use is an error."""
    a, b = choice.then, choice.otherwise
    if isinstance(a, Impossible):
        return (_refused(b, choice.condition, a.error),) * 2
    if isinstance(b, Impossible):
        return (_refused(a, T.logical_not(choice.condition), b.error),) * 2
    return a, b


def _refused(value: Any, condition: Any, error: OnnxError) -> Any:
    form, value = format_of(value), value_of(value)
    op = Refused(f"the call takes an alternative that its model cannot compute: {error}")
    return narrow([op(v, condition) for v in value] if isinstance(value, list) else op(value, condition), form)


def _lazily(condition: Any, pairs: Sequence[tuple[Any, Any]], outside: frozenset[Variable]) -> list[Any]:
    """One value for each pair: the first where the condition holds; only the nodes of one side are computed."""
    flat = [[v for pair in pairs for v in _as_list(pair[side])] for side in (0, 1)]
    order = toposort([v for side in flat for v in side], stop_at=outside)
    read = dict.fromkeys([*(i for node in order for i in node.inputs), *flat[0], *flat[1]])
    given = [v for v in read if not isinstance(v, Constant) and (v in outside or v.owner is None)]
    leaves: dict[Variable, Variable] = {v: TensorVariable(v.type, name=v.name) for v in given}
    inner = [rebuild(side, dict(leaves)) for side in flat]
    rest = iter(chosen(condition, list(leaves.values()), list(leaves), *inner))
    found = []
    for one, _ in pairs:
        form, value = format_of(one), value_of(one)
        found.append(narrow([next(rest) for _ in value] if isinstance(value, list) else next(rest), form))
    return found


def _as_list(value: Any) -> list[Any]:
    value = value_of(value)
    return value if isinstance(value, list) else [value]


# --- outputs of a model


@record
class AnyRank:
    """Form of an output whose rank the run decides: its elements in one vector, and its lengths in another."""

    form: Any

    ml_name = "tensor of any rank"

    def described(self, elements: np.ndarray, shape: np.ndarray, words: Any) -> Any:
        found = np.asarray(elements).reshape(shape)
        return found if self.form is None else self.form.described(found, words)


def of_any_rank(choice: Choice, scope: Mapping[str, Any], fail: Callable[[str], Exception]) -> Any:
    """An output that is a choice: one value, or its elements and its lengths."""
    (found,) = joined([choice], scope, separate=False)
    if not isinstance(found, Choice):
        return found
    leaves = [v for v in choice.leaves() if not isinstance(v, Impossible)]
    kinds = {(getattr(value_of(v), "dtype", None), format_of(v)) for v in leaves}
    if len(kinds) > 1 or not isinstance(value_of(leaves[0]), Variable):
        raise fail("is of one kind in a branch and of another one in the other; expected tensors of one dtype")

    def part(function: Callable[[Any], Any]) -> Choice:
        return choice.mapped(lambda v: v if isinstance(v, Impossible) else function(value_of(v)))

    return Narrow(joined([part(T.ravel), part(shape_vector)], scope, separate=False), AnyRank(format_of(leaves[0])))
