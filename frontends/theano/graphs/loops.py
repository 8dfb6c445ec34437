"""`theano.scan` in all its forms, and lazy choices."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....control.bodies import returned
from ....control.bodies import until as core_until
from ....control.cond import cond
from ....control.scan import scan as core_scan
from ....graph import Variable as CoreVariable
from ....graph.walk import nodes_and_leaves
from ....ops.core.shared import SharedVariable as CoreShared
from ..tensors.variables import TensorConstant, as_tensor_variable, lower, wrap


class OrderedUpdates(OrderedDict):  # type: ignore[type-arg]
    """From shared variables to their new values."""

    def __add__(self, other: Any) -> OrderedUpdates:
        found = OrderedUpdates(self)
        found.update(other)
        return found


class until:  # noqa: N801  # Theano's name
    """The last result of a step: ends the loop after the step in which the condition holds."""

    def __init__(self, condition: Any) -> None:
        self.condition: Any = as_tensor_variable(condition)


def _several(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _sequence(given: Any) -> Any:
    """A sequence for the core.  Raises ValueError for a dict without input."""
    if not isinstance(given, Mapping):
        return as_tensor_variable(given).core
    if given.get("input") is None:
        raise ValueError(f"scan: a sequence given as a dict needs the key 'input', got {', '.join(map(repr, given))}")
    found = {"input": as_tensor_variable(given["input"]).core}
    return {**found, "taps": _taps(given["taps"])} if given.get("taps") is not None else found


def _taps(taps: Any) -> list[int]:
    return [int(t) for t in _several(taps)]


def _initial(given: Any) -> Any:
    """The state before the first step for the core; None for an output without one."""
    if given is None or (isinstance(given, Mapping) and given.get("initial") is None):
        if isinstance(given, Mapping) and given.get("taps"):
            raise ValueError("scan: outputs_info has taps without an initial value; give initial=")
        return None
    if not isinstance(given, Mapping):
        return as_tensor_variable(given).core
    found = {"initial": as_tensor_variable(given["initial"]).core}
    return {**found, "taps": _taps(given["taps"])} if given.get("taps") is not None else found


def _steps(n_steps: Any) -> Any:
    if isinstance(n_steps, TensorConstant):
        return int(n_steps.data)
    if isinstance(n_steps, float):
        raise ValueError(f"scan: n_steps is {n_steps}; expected an integer")
    return lower(n_steps)


class _Step:
    """The user's function over variables of the core."""

    def __init__(self, fn: Callable[..., Any], strict: bool, given: Sequence[Any]) -> None:
        self.fn, self.strict, self.given = fn, strict, given
        self.arguments: tuple[Any, ...] = ()
        plain = getattr(fn, "__func__", fn)
        if hasattr(plain, "__code__"):  # the core reads how many arguments it takes
            self.__code__, self.__defaults__ = plain.__code__, plain.__defaults__
            self.__dict__.update({"__self__": fn.__self__} if hasattr(fn, "__self__") else {})

    def __call__(self, *arguments: Any) -> Any:
        self.arguments = arguments
        found = _for_core(self.fn(*[wrap(a) for a in arguments]))
        if self.strict:
            self._require_given(found)
        return found

    def _require_given(self, found: Any) -> None:
        """Raises ValueError for shared variables that are read and not among the non-sequences."""
        outputs, new, stop = returned(found)
        allowed = {*self.given, *self.arguments}
        _, read = nodes_and_leaves([*outputs, *new.values(), *stop], stop_at=allowed)
        for leaf in read:
            if isinstance(leaf, CoreShared) and leaf not in allowed and leaf.default_update is None:
                raise ValueError(
                    f"scan: strict=True, and fn reads the shared variable {leaf.name or leaf.type}, which is not among "
                    "the non_sequences; add it"
                )


def _for_core(found: Any) -> Any:
    """The result of a step for the core: variables lowered, numbers as Theano's constants."""
    if isinstance(found, until):
        return core_until(found.condition.core)
    if isinstance(found, Mapping):
        return {_for_core(k): _for_core(v) for k, v in found.items()}
    if isinstance(found, (list, tuple)):
        parts = [_for_core(v) for v in found]
        return tuple(parts) if isinstance(found, tuple) else parts
    if isinstance(found, CoreVariable) or found is None:
        return found
    return as_tensor_variable(found).core


def scan(
    fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None,
    n_steps: Any = None, truncate_gradient: int = -1, go_backwards: bool = False, mode: Any = None,
    name: str | None = None, profile: bool = False, allow_gc: Any = None, strict: bool = False,
    return_list: bool = False, options: Any = None,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """`(outputs, updates)` of the loop that calls `fn` in each step.

    The arguments of `fn` are the parts of the sequences, the earlier outputs, and the non-sequences.  It returns
    outputs, updates, `until(condition)`, in Theano's forms.  `mode`, `profile` and `allow_gc` have no effect: a loop is
    compiled with the function around it.
    """
    others = [as_tensor_variable(v).core for v in _several(non_sequences)]
    along = [_sequence(s) for s in _several(sequences)]
    infos = [_initial(i) for i in _several(outputs_info)]
    step = _Step(fn, strict, others)
    found = core_scan(
        step, along, infos or None, others, n_steps=_steps(n_steps), go_backwards=go_backwards,
        truncate_gradient=int(truncate_gradient), return_list=return_list,
    )  # fmt: skip
    outputs, updates = found[0], found[1]
    parents = tuple(wrap(v) for v in others)
    wrapped = [wrap(v, *parents) for v in outputs] if isinstance(outputs, list) else outputs
    if isinstance(outputs, CoreVariable):
        wrapped = wrap(outputs, *parents)
    return wrapped, OrderedUpdates((wrap(v), wrap(new)) for v, new in updates.items())


def map(
    fn: Any, sequences: Any, non_sequences: Any = None, truncate_gradient: int = -1, go_backwards: bool = False,
    mode: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """`fn` of the parts of sequences."""
    return scan(fn, sequences, [], non_sequences, None, truncate_gradient, go_backwards, mode, name)


def reduce(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, go_backwards: bool = False,
    mode: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The last result of `fn` along sequences."""
    found, updates = scan(fn, sequences, outputs_info, non_sequences, None, -1, go_backwards, mode, name)
    return ([v[-1] for v in found] if isinstance(found, list) else found[-1]), updates


def foldl(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None, name: str | None = None
) -> Any:
    """`reduce` from the first part on."""
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name)


def foldr(
    fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None, name: str | None = None
) -> Any:
    """`reduce` from the last part on."""
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name)


def scan_checkpoints(
    fn: Any, sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None,
    name: str = "checkpointscan_fn", n_steps: Any = None, save_every_N: int = 10, padding: bool = True,
) -> Any:  # fmt: skip
    """`scan`; memory is managed by the compiler, so nothing is saved less often."""
    return scan(fn, sequences, outputs_info, non_sequences, n_steps, name=name)


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """One of two expressions, or of two lists of them; only that one is computed."""
    one, two = _several(then_branch), _several(else_branch)
    if len(one) != len(two):
        raise ValueError(f"ifelse: the branches give {len(one)} and {len(two)} values; expected equal numbers")
    test = as_tensor_variable(condition)
    if test.ndim:
        message = f"got {test} of type {test.type}; use T.switch for elements"
        raise TypeError(f"ifelse: the condition must be a scalar, {message}")
    pairs = [_alike(as_tensor_variable(a), as_tensor_variable(b)) for a, b in zip(one, two, strict=True)]
    found = cond(test.core, [a.core for a, _ in pairs], [b.core for _, b in pairs])
    results = [wrap(v, test, *pair) for v, pair in zip(found, pairs, strict=True)]
    for variable in results:
        variable.name = name
    return results if isinstance(then_branch, (list, tuple)) else results[0]


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two branches of one dtype: a constant takes that of the other."""
    if a.dtype != b.dtype and (isinstance(a, TensorConstant) or isinstance(b, TensorConstant)):
        other = b.dtype if isinstance(a, TensorConstant) else a.dtype
        a, b = a.astype(other), b.astype(other)
    if a.ndim != b.ndim or a.dtype != b.dtype:
        raise TypeError(f"ifelse: the branches are {a} of type {a.type} and {b} of type {b.type}; expected equal types")
    return a, b
