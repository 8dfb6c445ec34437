"""Theano's optimizers as rules of our database: `local_optimizer`, `PatternSub`, `optdb.register`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....graph import Apply as CoreApply
from ....graph import Op as CoreOp
from ....optdb.contract import exact
from ....optdb.rule import NodeRule
from ..tensors.elementwise import ElementwiseFunction
from ..tensors.variables import TensorConstant, Variable, as_tensor_variable, lower, wrap
from .graphs import as_list
from .user_ops import Op, PythonOp

POSITIONS = {"canonicalize": 1.0, "stabilize": 1.5, "specialize": 2.0, "uncanonicalize": 3.0, "fast_compile": 1.0}
"""Where a rule of a group stands among the passes."""


class LocalOptimizer(NodeRule):
    """A rule that is a function of Theano's view of a node."""

    def transform(self, node: Any) -> Any:
        """Replacements of the outputs of a node; False or None if there are none."""
        view: Any = self.function
        return view.transform(node)


class _View:
    """A function of a node of the core that asks one of Theano's view of it."""

    def __init__(self, transform: Callable[..., Any], ops: Sequence[Any]) -> None:
        self.transform, self.ops = transform, ops

    def __call__(self, node: CoreApply) -> Any:
        if self.ops and not any(is_of(node.op, op) for op in self.ops):
            return None
        output = wrap(node.outputs[0])
        found = self.transform(output.owner)
        if found is None or found is False or (isinstance(found, list) and not found):
            return None
        if isinstance(found, Mapping):
            return {lower(old): lower(new) for old, new in found.items()}
        return [v if v is None else as_tensor_variable(v).core for v in as_list(found)]


def is_of(core: Any, op: Any) -> bool:
    """Whether an op of the core is the one that a program names: a function, an op, or a class of ops."""
    if isinstance(op, ElementwiseFunction):
        return core in op.ops
    if isinstance(op, Op):
        return isinstance(core, PythonOp) and core.theano_op == op
    if isinstance(op, type):
        return isinstance(getattr(core, "theano_op", core), op)
    return bool(core == op)


def _keys(ops: Sequence[Any]) -> tuple[Any, ...]:
    """The ops of the core that a rule is offered; () for all."""
    found: list[Any] = []
    for op in ops:
        if isinstance(op, ElementwiseFunction):
            found += op.ops
        elif isinstance(op, Op) or (isinstance(op, type) and issubclass(op, Op)):
            found.append(PythonOp)
        elif isinstance(op, CoreOp) or (isinstance(op, type) and issubclass(op, CoreOp)):
            found.append(op)
        else:
            return ()
    return tuple(found)


def _rule(name: str, ops: Sequence[Any] | None, transform: Callable[..., Any], formula: str) -> LocalOptimizer:
    code = getattr(transform, "__code__", None)
    return LocalOptimizer(
        name=name, contract=exact, ops=_keys(ops or ()), uses=False, lossy=False, reason=None,
        origin=f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "",
        function=_View(transform, ops or ()), formula=formula, having=(),
    )  # fmt: skip


def local_optimizer(tracks: Any, inplace: bool = False, requirements: Any = ()) -> Callable[[Any], LocalOptimizer]:
    """Decorator that makes a rule of a function of a node; `tracks` lists the ops of these nodes, or is None."""
    if tracks is not None and (isinstance(tracks, Op) or not isinstance(tracks, Sequence)):
        raise TypeError(f"local_optimizer takes a list of ops, got {tracks!r}")
    return lambda f: _rule(f.__name__, tracks, f, f"node -> {f.__name__}(node)")


class OpSub:
    """A rule that puts another op in the place of one."""

    def __new__(cls, op1: Any, op2: Any, transfer_tags: bool = True) -> Any:
        name = f"{_name(op1)}_to_{_name(op2)}"
        return _rule(name, [op1], lambda node: as_list(op2(*node.inputs)), f"{_name(op1)} -> {_name(op2)}")


class OpRemove:
    """A rule that puts the inputs of an op in the place of its outputs."""

    def __new__(cls, op: Any) -> Any:
        return _rule(f"remove_{_name(op)}", [op], lambda node: list(node.inputs), f"{_name(op)}(x) -> x")


def _name(op: Any) -> str:
    return str(getattr(op, "__name__", None) or getattr(op, "name", None) or type(op).__name__)


class PatternSub:
    """A rule from a pattern to another: tuples (op, operand, ...), text for any value, numbers for constants."""

    def __new__(
        cls, in_pattern: Any, out_pattern: Any, allow_multiple_clients: bool = False, name: str | None = None,
        skip_identities_fn: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        def transform(node: Any) -> Any:
            bound: dict[str, Any] = {}
            return [_built(out_pattern, bound)] if _matches(in_pattern, node.outputs[0], bound) else None

        formula = f"{_shown(in_pattern)} -> {_shown(out_pattern)}"
        plain = "".join(c if c.isalnum() else "_" for c in formula)
        return _rule(name or plain[:60], [in_pattern[0]], transform, formula)


def _matches(pattern: Any, variable: Any, bound: dict[str, Any]) -> bool:
    if isinstance(pattern, str):
        return bound.setdefault(pattern, variable) is variable
    if isinstance(pattern, Mapping):
        constraint = pattern.get("constraint")
        return _matches(pattern["pattern"], variable, bound) and (constraint is None or bool(constraint(variable)))
    if isinstance(pattern, tuple):
        node = variable.owner
        if node is None or not is_of(node.op, pattern[0]) or len(node.inputs) != len(pattern) - 1:
            return False
        return all(_matches(p, v, bound) for p, v in zip(pattern[1:], node.inputs, strict=True))
    if isinstance(variable, TensorConstant) and not isinstance(pattern, Variable):
        return bool((variable.data == pattern).all())
    return pattern is variable


def _built(pattern: Any, bound: Mapping[str, Any]) -> Any:
    if isinstance(pattern, tuple):
        return pattern[0](*[_built(p, bound) for p in pattern[1:]])
    return bound[pattern] if isinstance(pattern, str) else as_tensor_variable(pattern)


def _shown(pattern: Any) -> str:
    if isinstance(pattern, tuple):
        return f"{_name(pattern[0])}({', '.join(_shown(p) for p in pattern[1:])})"
    return _shown(pattern["pattern"]) if isinstance(pattern, Mapping) else str(pattern)


def several(*optimizers: Any, **options: Any) -> list[Any]:
    """The rules of optimizers that run others: the database finds their order and repeats them by itself."""
    found: list[Any] = []
    for part in optimizers:
        found += several(*part) if isinstance(part, (list, tuple)) else [part]
    for rule in found:
        if not isinstance(rule, NodeRule):
            raise TypeError(
                f"{type(rule).__name__} {rule!r} is no rule of a node; a function of a whole graph goes into a query: "
                "ag.Query().register((function, position))"
            )
    return found


class Database:
    """Theano's `optdb`, or a group in it: what is registered joins the functions that are compiled after it."""

    def __init__(self, position: float = 2.0) -> None:
        self.position = position

    def register(self, name: str, optimizer: Any, *tags: Any, **options: Any) -> None:
        """Let functions run a rule whose mode includes one of the tags; a number among them is its position."""
        position = next((float(t) for t in tags if isinstance(t, (int, float))), self.position)
        words = tuple(t for t in tags if isinstance(t, str))
        position = next((POSITIONS[t] for t in words if t in POSITIONS), position)
        for rule in several(optimizer):
            registered[name] = (rule, position, words or ("fast_run",))

    def __getitem__(self, name: str) -> Database:
        """The group of a name.  Raises KeyError for one that does not exist."""
        if name not in POSITIONS:
            raise KeyError(f"optdb has no group {name!r} for rules of programs; expected one of {', '.join(POSITIONS)}")
        return Database(POSITIONS[name])


registered: dict[str, tuple[Any, float, tuple[str, ...]]] = {}
"""Rules of programs: name -> (rule, position, tags)."""
optdb = Database()


def register_into(group: str) -> Callable[..., Any]:
    """`register_canonicalize` and its kin: a decorator, with tags or without."""

    def register(lopt: Any, *tags: str, **options: Any) -> Any:
        if isinstance(lopt, str):
            return lambda found: register(found, lopt, *tags, **options)
        optdb[group].register(options.get("name") or lopt.name, lopt, "fast_run", *tags)
        return lopt

    return register


def with_registered(mode: Any) -> Any:
    """A mode with the rules of programs that it includes."""
    query = getattr(mode, "optimizer", None)
    if query is None or not registered:
        return mode
    included = set(query.include) | {"fast_run"} if "fast_run" in query.include else set(query.include)
    chosen = [
        (rule, position) for name, (rule, position, tags) in registered.items()
        if (included & {name, *tags}) and not set(query.exclude) & {name, *tags}
    ]  # fmt: skip
    return mode.register(*chosen) if chosen else mode
