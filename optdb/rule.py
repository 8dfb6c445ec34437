"""Rules: named values that state which expression may replace which.

    rule("local_neg_neg", neg(neg(x)), x)
    node_rule("local_join_1", Join, only_operand, formula="join(x) -> x")

A rule proposes; the engine (applier.py) conforms the proposal to the type and shape of what it replaces, checks it and
counts it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, Union

from ..graph import Apply, ConstantHead, Head, Op, Origin, Variable, inheriting, union
from ..record import record
from ..record.spelling import counted
from .contract import Contract, exact, relaxes
from .patterns import Applied, Bound, OpLike, Pattern, Users, Wild, as_pattern, instantiate
from .query import can_be_asked_for

OpKey = Union[Op, type[Op]]
"""Index key of a rule: an op or a class of ops."""


@record(slots=True)
class Proposal:
    """The result of a rule for a node: one value per output (None keeps it, a Python number is a constant)."""

    outputs: tuple[Any, ...]
    leaves: tuple[Variable, ...]
    """Operands of the original node: one that the result no longer reads may still determine its shape."""
    inner: tuple[Variable, ...] = ()
    """The values that were matched between the leaves and the node."""


@record(eq=False)
class Rule:
    """A rewrite of one node: the interface of every rule.  Compared by identity."""

    name: str
    contract: Contract
    ops: tuple[OpKey, ...]
    """Ops or classes of ops whose nodes the rule is tried on; none: every node."""
    uses: bool
    """Whether the rule looks at the readers of a value; then each sweep tries it again."""
    lossy: bool
    """Whether its result may be cast to a dtype that does not hold all its values."""
    reason: str | None
    origin: str
    """file:line of the definition."""

    @property
    def needs(self) -> tuple[Op, ...]:
        """Ops that a graph must contain for the rule to fire."""
        return ()

    @property
    def before(self) -> Any:
        """The left side: a pattern, or text for people."""
        raise NotImplementedError

    @property
    def after(self) -> Any:
        """The right side: a pattern, a function, or text for people."""
        raise NotImplementedError

    def may_match(self, op: Op, heads: Sequence[Head]) -> bool:
        """Return whether the rule may match a node of `op` with operands of these kinds; cheap and cached."""
        raise NotImplementedError

    def propose(self, node: Apply, users: Users) -> Proposal | None:
        """The replacements of the outputs of `node`, or None."""
        raise NotImplementedError

    def in_dtype(self, node: Apply, users: Users, cast: Callable[[Variable], Variable]) -> Variable | None:
        """The right side on wild values that `cast` converts; None if it is a function, which knows its dtypes."""
        return None

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"

    def __repr__(self) -> str:
        return f"<rule {self}>"


# --- rules with a pattern


@record(eq=False, repr=False)
class PatternRule(Rule):
    """A rule from a pattern to a pattern, a number, or a function of the bound values."""

    pattern: Applied
    right: Pattern | Callable[..., Any]
    when: Callable[..., Any] | None
    formula: str | None
    _names: tuple[str, ...] = field(repr=False)
    """The arguments of the right side, if it is a function."""
    _when_names: tuple[str, ...] = field(repr=False)

    @property
    def before(self) -> Pattern:
        return self.pattern

    @property
    def after(self) -> Any:
        return self.right

    def may_match(self, op: Op, heads: Sequence[Head]) -> bool:
        return self.pattern.fits(op) and self.pattern.may_match(op, heads)

    def _matches(self, node: Apply, users: Users) -> Iterator[Bound]:
        """The bound values of each match that satisfies the condition; one dict, which the next match changes."""
        bound: Bound = {}
        for _ in self.pattern.match(node.outputs[0], bound, users):
            if self.when is None or self.when(*[node if n == "node" else bound[n] for n in self._when_names]):
                yield bound

    def propose(self, node: Apply, users: Users) -> Proposal | None:
        for bound in self._matches(node, users):
            result = self._build(node, bound)
            if result is not None:
                outputs = result if isinstance(result, tuple) else (result,)
                leaves = [v for p, v in bound.items() if not isinstance(p, Applied) and _gives_shape(v)]
                inner = [v for p, v in bound.items() if isinstance(p, Applied) and p is not self.pattern]
                return Proposal(outputs, tuple(leaves), tuple(inner))
        return None

    def in_dtype(self, node: Apply, users: Users, cast: Callable[[Variable], Variable]) -> Variable | None:
        if not isinstance(self.right, Pattern):
            return None
        for bound in self._matches(node, users):
            wild = {n: cast(v) if isinstance(v, Variable) else v for n, v in bound.items() if isinstance(n, str)}
            made = self._build(node, {**bound, **wild})
            return made if isinstance(made, Variable) else None
        return None

    def _build(self, node: Apply, bound: Bound) -> Any:
        with inheriting(_lines_of(bound)):
            if isinstance(self.right, Pattern):
                return instantiate(self.right, bound)
            return self.right(**{n: node if n == "node" else bound[n] for n in self._names})

    def __str__(self) -> str:
        formula = self.formula or f"{self.before} -> {_right_text(self.right)}"
        guards = [f"{w.name}: {w.when.__name__}" for w in _guarded(self.pattern)]
        kinds = [f"{p.op.name}: {_kind_text(p.op)}" for p in _likes(self.pattern)]
        return ", ".join([f"{self.name}: {formula}", *dict.fromkeys(guards + kinds)])


def rule(
    name: str,
    before: Pattern | Variable,
    after: Pattern | Variable | complex | Callable[..., Any],
    *,
    contract: Contract = exact,
    when: Callable[..., Any] | None = None,
    uses: bool = False,
    lossy: bool = False,
    reason: str | None = None,
    formula: str | None = None,
) -> PatternRule:
    """Make a rule that replaces a match of `before` by `after`.

    `after`: a pattern, a wild card, a number, or a function that is called with the bound values by name (an argument
    called `node` gets the matched node) and returns a Variable, a number, a tuple of those, or None where it does not
    apply.  `when`: a function of the same arguments that has the last word.  `formula`: what to show where a function
    says little.  A rule whose right side lacks a value of the left one relaxes "errors", too: the computation of that
    value may have raised.

    Raises ValueError if `after` or `when` asks for a name that `before` does not bind.
    """
    if not isinstance(before, Applied):
        raise ValueError(f"rule {name!r}: the left side is {before}; expected an op applied to patterns")
    known = before.names
    values = _values_of(name, before)
    right = after if callable(after) and not isinstance(after, Pattern) else as_pattern(after)
    wanted = right.names if isinstance(right, Pattern) else _parameters(right, known)
    guard = _parameters(when, known) if when is not None else ()
    for side, names in (("right side", wanted), ("condition", guard)):
        loose = [n for n in names if n not in (*known, "node")]
        if loose:
            raise ValueError(
                f"rule {name!r}: the {side} asks for {', '.join(loose)}; the left side {before} binds "
                f"{', '.join(known) or 'no names'}"
            )
    if not values <= {*wanted}:  # dropped operands no longer raise
        contract |= relaxes("errors")
    return PatternRule(
        name=_askable(name), contract=contract, ops=_index(before), uses=uses or before.looks_at_users, lossy=lossy,
        reason=reason, origin=_caller(), pattern=before, right=right, when=when, formula=formula,
        _names=wanted, _when_names=guard,
    )  # fmt: skip


# --- rules with a function


@record(eq=False, repr=False)
class NodeRule(Rule):
    """A rule that is a function of the node, with a formula for people."""

    function: Callable[..., Any]
    formula: str
    having: tuple[OpKey, ...]
    needs: tuple[Op, ...] = ()
    constants: bool = False
    lacking: Callable[[], str] | None = None
    """Return what the current target lacks for the rule, in words; empty if nothing."""

    @property
    def before(self) -> str:
        return self.formula.partition(" -> ")[0]

    @property
    def after(self) -> str:
        return self.formula.partition(" -> ")[2]

    def may_match(self, op: Op, heads: Sequence[Head]) -> bool:
        if self.constants and not any(isinstance(kind, ConstantHead) for kind in heads):
            return False
        return not self.having or any(is_of(kind, key) for kind in heads if isinstance(kind, Op) for key in self.having)

    def propose(self, node: Apply, users: Users) -> Proposal | None:
        result = self.function(node, users) if self.uses else self.function(node)
        outputs = None if result is None else _as_outputs(result, node)
        return None if outputs is None else Proposal(outputs, tuple([i for i in node.inputs if i.type.shape]))


def node_rule(
    name: str,
    ops: OpKey | Sequence[OpKey] | None,
    function: Callable[..., Any],
    *,
    formula: str,
    contract: Contract = exact,
    having: OpKey | Sequence[OpKey] = (),
    needs: Sequence[Op] = (),
    constants: bool = False,
    uses: bool = False,
    lossy: bool = False,
    reason: str | None = None,
    lacking: Callable[[], str] | None = None,
) -> NodeRule:
    """Make a rule that calls `function(node)` for nodes of `ops`: an op, a class of ops, several, or None for all.

    The function returns None (does not apply), a Variable or number for the only output, a sequence with an entry an
    output (None: leave it), or a dict from outputs of the node to values.  With `uses` it is called as
    `function(node, users)`, where `users(variable)` lists who reads a value.  `having`: only nodes with an operand
    computed by one of these; `constants`: only nodes with a constant operand; `needs`: only in graphs in which all of
    these are applied.  `formula` is the rule in the form "before -> after".  `lacking` returns what the current target
    lacks for the rule, which `why_not` names; empty if it lacks nothing.

    Raises ValueError for a formula without the arrow.
    """
    if " -> " not in formula:
        raise ValueError(f"rule {name!r}: the formula is {formula!r}; expected 'before -> after'")
    return NodeRule(
        name=_askable(name), contract=contract, ops=_keys(name, ops), uses=uses, lossy=lossy, reason=reason,
        origin=_caller(), function=function, formula=formula, having=_keys(name, having), needs=tuple(needs),
        constants=constants, lacking=lacking,
    )  # fmt: skip


def is_of(op: Op, key: OpKey) -> bool:
    """Return whether the op equals the key, or is of the class that the key names."""
    return isinstance(op, key) if isinstance(key, type) else op == key


def keys_text(keys: Iterable[OpKey]) -> str:
    """Names of ops and of classes of ops, separated by commas."""
    names = (key.__name__ if isinstance(key, type) else getattr(key, "name", "") or str(key) for key in keys)
    return ", ".join(names)


# --- definition


def _askable(name: str) -> str:
    """Return the name.  Raises ValueError for one that no query can contain."""
    if not can_be_asked_for(name):
        raise ValueError(f"{name!r} cannot name a rule, since no query can contain it")
    return name


def _caller() -> str:
    """file:line of the caller's caller."""
    frame = sys._getframe(2)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _index(pattern: Applied) -> tuple[OpKey, ...]:
    if not isinstance(pattern.op, OpLike):
        assert isinstance(pattern.op, Op)  # only the right side of a rule may call what builds expressions
        return (pattern.op,)
    return pattern.op.kind if isinstance(pattern.op.kind, tuple) else (pattern.op.kind,)


def _keys(name: str, ops: Any) -> tuple[OpKey, ...]:
    keys = () if ops is None else tuple(ops) if isinstance(ops, (list, tuple, set, frozenset)) else (ops,)
    for key in keys:
        if not (isinstance(key, Op) or (isinstance(key, type) and issubclass(key, Op))):
            raise ValueError(f"rule {name!r}: {key!r} is neither an op nor a class of ops")
    return keys


def _parameters(function: Callable[..., Any], known: Sequence[str]) -> tuple[str, ...]:
    """The names of a function's parameters; all known names if it takes any keyword."""
    if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
        return _parameters_of_code(function, known)
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return tuple(known)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return tuple(p.name for p in named if p.default is p.empty)


def _parameters_of_code(function: FunctionType, known: Sequence[str]) -> tuple[str, ...]:
    """The same for a plain function, in 1 us instead of 20: there are 100 when the rules are imported."""
    code = function.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return tuple(known)
    last = code.co_argcount - len(function.__defaults__ or ())
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__kwdefaults__ or {}
    return (*code.co_varnames[code.co_posonlyargcount : last], *(name for name in keywords if name not in defaults))


def _values_of(name: str, pattern: Pattern) -> set[str]:
    """Return the names of the values on a left side.  Raises ValueError for one of an op, and for functions."""
    values, ops = set(), set()
    for p in pattern.walk():
        if isinstance(p, Wild):
            values.add(p.name)
        elif isinstance(p, Applied) and isinstance(p.op, OpLike):
            ops.add(p.op.name)
        elif isinstance(p, Applied) and not isinstance(p.op, Op):
            raise ValueError(f"rule {name!r}: the left side has {p}, a function of values; expected ops")
    if values & ops:
        raise ValueError(f"rule {name!r}: {', '.join(values & ops)} names both a value and an op")
    return values


# --- firing


def _gives_shape(value: Any) -> bool:
    return isinstance(value, Variable) and value.ndim > 0


def _lines_of(bound: Bound) -> Origin:
    """The user's lines of every node that was matched."""
    return union(*(v.origin for p, v in bound.items() if isinstance(p, Applied)))


def _as_outputs(result: Any, node: Apply) -> tuple[Any, ...] | None:
    """Normalize a rule's result to one entry per output; None if it does not apply.  Raises ValueError if malformed."""
    if isinstance(result, Variable) and len(node.outputs) == 1:
        return (result,)
    if result is None or result is False:
        return None
    if isinstance(result, Mapping):
        strange = [v for v in result if v not in node.outputs]
        if strange:
            raise ValueError(f"the rule replaces {strange[0]!r}, which is not an output of the node")
        return tuple(result.get(o) for o in node.outputs)
    outputs = tuple(result) if isinstance(result, (list, tuple)) else (result,)
    if len(outputs) != len(node.outputs):
        raise ValueError(f"the rule gives {counted(len(outputs), 'value')} for {counted(len(node.outputs), 'output')}")
    return outputs


# --- text


def _right_text(right: Any) -> str:
    if isinstance(right, Pattern):
        return str(right)
    name = getattr(right, "__name__", type(right).__name__)
    return "..." if name == "<lambda>" else f"{name}({', '.join(inspect.signature(right).parameters)})"


def _guarded(pattern: Pattern) -> list[Any]:
    found = [p for p in pattern.walk() if isinstance(p, Wild) and p.when is not None]
    return [w for w in found if getattr(w.when, "__name__", "<lambda>") != "<lambda>"]


def _likes(pattern: Pattern) -> list[Any]:
    return [p for p in pattern.walk() if isinstance(p, Applied) and isinstance(p.op, OpLike)]


def _kind_text(op: OpLike) -> str:
    kinds = op.kind if isinstance(op.kind, tuple) else (op.kind,)
    return " or ".join(kind.__name__ for kind in kinds)
