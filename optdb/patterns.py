"""Patterns: graphs with holes.  An op called with a hole, or with a pattern, is a pattern.

    Pattern ::= Wild                     any value; the same name twice is the same value
              | Number                   a constant all of whose elements equal a number
              | op(Pattern, ...)         that op, applied
              | op_like(Class)(Pattern, ...)    any op of a class, which is bound by name as well
              | Pattern operator Pattern        the op that Python's operator stands for between variables

    x, y = wilds("x y")
    neg(neg(x))    add(x, 0)    1 + abs(x)    op_like(Reduce, "r")(neg(x))

Commutative ops match in any order, with backtracking.  Numbers stand for themselves.  No op is known by name here:
`commutative` and `arity` are read from an op that has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Union
from weakref import WeakKeyDictionary

import numpy as np

from ..graph import Apply, Constant, ConstantHead, Head, Op, Variable
from ..graph.fgraph import Use
from ..record import record
from ..record.cached import cached_property
from ..record.spelling import counted
from .operators import WithOperators

Users = Callable[[Variable], Sequence[Use]]
"""Readers of a value, for patterns that ask for a single use.  Empty if unknown."""

Bound = dict[Any, Any]
"""Bindings of a match so far: names to values and ops, pattern nodes to values."""

Scalar = Union[bool, int, float, complex, np.generic]


def same_value(a: Any, b: Any) -> bool:
    """Return whether two bindings are equal: the same variable, constants of equal bits, or equal ops."""
    if a is b:
        return True
    if isinstance(a, Constant) and isinstance(b, Constant):
        return a.key == b.key
    return isinstance(a, Op) and isinstance(b, Op) and a == b


class Pattern(WithOperators):
    """A graph with holes.  Immutable; compared by identity."""

    if TYPE_CHECKING:  # a pattern stands where ops take a tensor

        def __array__(self) -> np.ndarray: ...

    def __apply_op__(self, op: Op | Callable[..., Any], operands: Sequence[Any]) -> Pattern:
        """The pattern of `op` applied to patterns, one of which is this one; called by `Op.__call__`.

        A function of variables may do so too; what it makes can stand on the right side of a rule alone.
        """
        return Applied(op, tuple(as_pattern(o) for o in operands))

    def match(self, variable: Variable, bound: Bound, users: Users) -> Iterator[None]:
        """Yield once for each way to match `variable`; `bound` holds the bindings until the generator resumes."""
        raise NotImplementedError

    def fits(self, kind: Head) -> bool:
        """Whether an operand of this kind could match at all: a cheap test before the real one."""
        return True

    @property
    def parts(self) -> tuple[Pattern, ...]:
        """The patterns directly inside."""
        return ()

    def walk(self) -> list[Pattern]:
        """This pattern and all inside it, from the root down."""
        return self._walked

    @cached_property
    def _walked(self) -> list[Pattern]:
        found: list[Pattern] = [self]
        for k, pattern in enumerate(found):  # parts come behind their pattern, and are reached next
            found[k + 1 : k + 1] = pattern.parts
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names it binds, in order of appearance."""
        return tuple(dict.fromkeys(name for p in self.walk() for name in p._own_names()))

    @property
    def looks_at_users(self) -> bool:
        """Whether it asks for values that are used once."""
        return any(getattr(p, "single_use", False) for p in self.walk())

    def _own_names(self) -> tuple[str, ...]:
        return ()


@record(eq=False)
class Wild(Pattern):
    """A wildcard.  `when(variable)` restricts the match; `single_use` requires a value with one reader."""

    name: str
    when: Callable[[Variable], bool] | None = None
    single_use: bool = False

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name == "node":
            raise ValueError(f"{self.name!r} cannot name a wild card; expected an identifier other than 'node'")

    def match(self, variable: Variable, bound: Bound, users: Users) -> Iterator[None]:
        known = bound.get(self.name)
        if known is not None:
            if same_value(known, variable):
                yield
            return
        if self.when is not None and not self.when(variable):
            return
        if self.single_use and len(users(variable)) != 1:
            return
        bound[self.name] = variable
        yield
        del bound[self.name]

    def _own_names(self) -> tuple[str, ...]:
        return (self.name,)

    def __str__(self) -> str:
        return self.name


@record(eq=False)
class Number(Pattern):
    """A constant of any shape, not empty, all of whose elements NumPy finds equal to `value`.

    Zero matches the zero of its own sign alone, unless `any_sign`.
    """

    value: Scalar
    any_sign: bool = False

    def match(self, variable: Variable, bound: Bound, users: Users) -> Iterator[None]:
        if not isinstance(variable, Constant) or not self.equals(variable):
            return
        known = bound.get(self)
        if known is None:
            bound[self] = variable
            yield
            del bound[self]
        elif same_value(known, variable):
            yield

    def equals(self, constant: Constant) -> bool:
        """Whether all elements of the constant are this number."""
        item = uniform(constant)
        if item is None or not (item == self.value or item == _rounded(self.value, constant.data.dtype)):
            return False
        return bool(item != 0) or self.any_sign or _signs(item) == _signs(self.value)

    def fits(self, kind: Head) -> bool:
        return isinstance(kind, ConstantHead) and kind.may_be(self.value)

    def __str__(self) -> str:
        return repr(self.value.item() if isinstance(self.value, np.generic) else self.value)


@record(eq=False)
class OpLike:
    """Any op of a class that `when(op)` accepts; calling it makes a pattern, and the op is bound to `name`."""

    kind: type[Op] | tuple[type[Op], ...]
    name: str
    when: Callable[[Any], bool] | None = None

    def __call__(self, *operands: Any) -> Applied:
        return Applied(self, tuple(as_pattern(o) for o in operands))

    def accepts(self, op: Op) -> bool:
        return isinstance(op, self.kind) and (self.when is None or bool(self.when(op)))

    def __str__(self) -> str:
        return self.name


@record(eq=False)
class Applied(Pattern):
    """An op (or any like it) applied to patterns; matches the only output of a node with as many inputs.

    On the right side of a rule it may be a function of variables, such as `zeros_like`; that matches nothing.
    """

    op: Op | OpLike | Callable[..., Any]
    operands: tuple[Pattern, ...]
    single_use: bool = False
    _by_rarity: tuple[Pattern, ...] = field(init=False, repr=False)
    _twins: bool = field(init=False, repr=False)
    """Whether two of its operands must be one value."""

    def __post_init__(self) -> None:
        arity = getattr(self.op, "arity", None)
        if arity is not None and arity != len(self.operands):
            raise ValueError(
                f"{self.op} takes {counted(arity, 'operand')}; the pattern {self} gives {len(self.operands)}"
            )
        # Backtracking is short if what fits few operands chooses first.
        object.__setattr__(self, "_by_rarity", tuple(sorted(self.operands, key=lambda o: isinstance(o, Wild))))
        holes = [o.name for o in self.operands if isinstance(o, Wild)]
        object.__setattr__(self, "_twins", len(set(holes)) < len(holes))

    @property
    def parts(self) -> tuple[Pattern, ...]:
        return self.operands

    def match(self, variable: Variable, bound: Bound, users: Users) -> Iterator[None]:
        node = variable.owner
        if node is None or len(node.outputs) != 1 or len(node.inputs) != len(self.operands) or not self.fits(node.op):
            return
        if (self._twins and not _has_twins(node.inputs)) or (self.single_use and len(users(variable)) != 1):
            return
        if self in bound:
            if same_value(bound[self], variable):
                yield
            return
        bound[self] = variable
        if isinstance(self.op, OpLike):
            yield from self._match_like(self.op.name, node, bound, users)
        else:
            yield from self._match_operands(node, bound, users)
        del bound[self]

    def _match_like(self, name: str, node: Apply, bound: Bound, users: Users) -> Iterator[None]:
        if name in bound:
            if same_value(bound[name], node.op):
                yield from self._match_operands(node, bound, users)
            return
        bound[name] = node.op
        yield from self._match_operands(node, bound, users)
        del bound[name]

    def _match_operands(self, node: Apply, bound: Bound, users: Users) -> Iterator[None]:
        if getattr(node.op, "commutative", False) and len(self.operands) > 1:
            return _match_in_any_order(self._by_rarity, node.inputs, bound, users)
        return _match_in_order(self.operands, node.inputs, bound, users)

    def fits(self, kind: Head) -> bool:
        if isinstance(self.op, OpLike):
            return isinstance(kind, Op) and self.op.accepts(kind)
        return kind is self.op or kind == self.op

    def may_match(self, op: Op, heads: Sequence[Head]) -> bool:
        """Whether a node of `op` with operands of these kinds could match: necessary, not sufficient."""
        if len(heads) != len(self.operands) or (self._twins and not _may_be_twins(heads)):
            return False
        if getattr(op, "commutative", False):
            return _may_share_out([part for part in self._by_rarity if not isinstance(part, Wild)], heads)
        return all(part.fits(kind) for part, kind in zip(self.operands, heads, strict=True))

    def _own_names(self) -> tuple[str, ...]:
        return (self.op.name,) if isinstance(self.op, OpLike) else ()

    def __str__(self) -> str:
        name = str(self.op) if isinstance(self.op, (Op, OpLike)) else self.op.__name__
        return f"{name}({', '.join(map(str, self.operands))})"


def _has_twins(variables: Sequence[Variable]) -> bool:
    """Return whether two of them may be the same value: one variable, or constants."""
    return len(set(variables)) < len(variables) or sum([isinstance(v, Constant) for v in variables]) > 1


def _may_be_twins(heads: Sequence[Head]) -> bool:
    """Whether two operands of these kinds may be one value."""
    return len(set(heads)) < len(heads) or sum([isinstance(kind, ConstantHead) for kind in heads]) > 1


def _may_share_out(parts: Sequence[Pattern], heads: Sequence[Head]) -> bool:
    """Return whether the parts can be matched to distinct operands."""
    if not parts:
        return True
    first, *rest = parts
    return any(
        first.fits(kind) and _may_share_out(rest, (*heads[:k], *heads[k + 1 :])) for k, kind in enumerate(heads)
    )


def _match_in_order(
    patterns: Sequence[Pattern], variables: Sequence[Variable], bound: Bound, users: Users
) -> Iterator[None]:
    if not patterns:
        yield
        return
    for _ in patterns[0].match(variables[0], bound, users):
        yield from _match_in_order(patterns[1:], variables[1:], bound, users)


def _match_in_any_order(
    patterns: Sequence[Pattern], variables: Sequence[Variable], bound: Bound, users: Users
) -> Iterator[None]:
    if not patterns:
        yield
        return
    for k, variable in enumerate(variables):
        for _ in patterns[0].match(variable, bound, users):
            yield from _match_in_any_order(patterns[1:], (*variables[:k], *variables[k + 1 :]), bound, users)


# --- making patterns


def wilds(names: str, when: Callable[[Variable], bool] | None = None) -> tuple[Wild, ...]:
    """One Wild a name: `x, y = wilds("x y")`."""
    return tuple(Wild(name, when) for name in names.split())


def op_like(
    kind: type[Op] | tuple[type[Op], ...], name: str = "op", when: Callable[[Any], bool] | None = None
) -> OpLike:
    """Any op of a class: `op_like(Reduce, "r")(neg(x))` matches each reduction of a negation and binds the op to `r`.

    On the right of a rule the same OpLike stands for the op that was found; functions get it as the argument `r`.
    """
    if not name.isidentifier() or name == "node":
        raise ValueError(f"{name!r} cannot name an op of a pattern; expected an identifier other than 'node'")
    return OpLike(kind, name, when)


def once(pattern: Pattern | Variable) -> Pattern:
    """Restrict the pattern to values with a single reader, so that nothing is computed twice."""
    if isinstance(pattern, (Wild, Applied)):
        return replace(pattern, single_use=True)
    raise TypeError(f"once({pattern}): expected a wild card or an op applied to patterns")


def as_pattern(value: Any) -> Pattern:
    """Convert an operand to a pattern.  Raises TypeError unless it is a pattern or a number."""
    if isinstance(value, Pattern):
        return value
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Number(value)
    raise TypeError(f"{value!r} cannot stand in a pattern; expected a wild card, a number, or an op applied to those")


def instantiate(pattern: Pattern, bound: Bound) -> Any:
    """Instantiate the pattern with the values of `bound`; a bare number stays a number."""
    if isinstance(pattern, Wild):
        return bound[pattern.name]
    if isinstance(pattern, Number):
        return pattern.value
    assert isinstance(pattern, Applied)
    op = bound[pattern.op.name] if isinstance(pattern.op, OpLike) else pattern.op
    return op(*(instantiate(operand, bound) for operand in pattern.operands))


# --- constants

_uniform: WeakKeyDictionary[Constant, Any] = WeakKeyDictionary()
"""Memo of `uniform` for constants that are not small; constants are immutable."""


def uniform(constant: Constant) -> Any:
    """The Python number that all elements of a constant are (by bits), or None."""
    data = constant.data
    if data.size == 1:
        return data.item()
    if data.size == 0:
        return None
    if constant not in _uniform:
        first = data.flat[:1].tobytes()
        _uniform[constant] = data.flat[0].item() if data.tobytes() == first * data.size else None
    return _uniform[constant]


def _rounded(value: Scalar, dtype: np.dtype[Any]) -> Any:
    """`value` as NumPy reads it beside an array of this dtype (0.1 beside float32 is float32(0.1)); else NaN."""
    if not isinstance(value, (float, complex)) or dtype.kind not in ("c" if isinstance(value, complex) else "fc"):
        return math.nan
    with np.errstate(over="ignore"):
        rounded = dtype.type(value)
    return rounded.item() if np.isfinite(rounded) else math.nan


def _signs(value: Any) -> tuple[bool, bool]:
    """Whether the real and the imaginary part carry a minus sign."""
    number = complex(value)
    return math.copysign(1.0, number.real) < 0, math.copysign(1.0, number.imag) < 0
