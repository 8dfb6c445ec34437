"""`theano.function`: inputs with values and names of their own, givens, updates, and calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .... import later
from ....function.compiled import Function as CoreFunction
from ....function.function import function as core_function
from ....graph import Variable as CoreVariable
from ....graph import leaves
from ....ops.core.interpret import default_updates
from ....ops.core.shared import Container
from ....ops.core.shared import SharedVariable as CoreShared
from ....record.spelling import counted
from ..flags import config
from ..graphs.optimizers import with_registered
from ..stored.bundles import BundleVariable, Spreading, spread, spread_outputs
from ..tensors.dtypes import DISCRETE, autocast
from ..tensors.patterns import strict
from ..tensors.slopes import plain
from ..tensors.variables import Variable, as_tensor_variable, lower, wrap
from .modes import get_mode
from .shared_values import SharedVariable


class In:
    """An input with a name, a default value or an update."""

    variable: Any
    value: Any
    update: Any
    strict: bool
    allow_downcast: bool | None
    mutable: bool | None
    borrow: bool | None

    def __init__(
        self, variable: Any, name: str | None = None, value: Any = None, update: Any = None,
        mutable: bool | None = None, strict: bool = False, allow_downcast: bool | None = None,
        autoname: bool = True, implicit: bool | None = None, borrow: bool | None = None, shared: bool = False,
    ) -> None:  # fmt: skip
        self.variable, self.value, self.update = variable, value, update
        self.name: Any = name if name is not None else variable.name
        self.strict, self.allow_downcast, self.mutable, self.borrow = strict, allow_downcast, mutable, borrow

    def __repr__(self) -> str:
        return f"In({self.variable})"


SymbolicInput = In


def Param(variable: Any, default: Any = None, name: str | None = None, **options: Any) -> In:
    """Theano's older spelling of `In`, with `default` for `value`."""
    return In(variable, name=name, value=default, **{k: v for k, v in options.items() if k != "implicit"})


class Out:
    """An output; `borrow` has no effect, since results are never overwritten."""

    def __init__(self, variable: Any, borrow: bool = False) -> None:
        self.variable: Any = variable
        self.borrow: bool = borrow


SymbolicOutput = Out


class UnusedInputError(ValueError):
    """An input that no output depends on."""


class MissingInputError(ValueError):
    """A variable that outputs depend on and that is no input."""


class Function:
    """A compiled function.  `f.core` is the function of Arignote: its profile, C and optimized graph."""

    def __init__(
        self, core: CoreFunction, inputs: Sequence[In], name: str | None, states: Sequence[Any],
        spreading: Spreading | None = None, regroup: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self._spreading, self._regroup = spreading, regroup
        self.core: CoreFunction = core
        self.inputs: tuple[In, ...] = tuple(inputs)
        self.name: str | None = name
        self.states: tuple[Any, ...] = tuple(states)
        """Shared variables that hold the default values of inputs that are updated."""
        self.trust_input = False
        self._names = [i.name for i in inputs]
        kinds = [(k, i.variable.type) for k, i in enumerate(inputs)]
        self._discrete = [(k, kind) for k, kind in kinds if kind.dtype in DISCRETE and spreading is None]
        """Inputs of integers: these take floats of Python without a fraction."""
        self._has_defaults = any(i.value is not None for i in inputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        options = {k: kwargs.pop(k) for k in ("output_subset",) if k in kwargs}
        if kwargs or self._has_defaults:
            args = self._filled(args, kwargs)
        for k, kind in self._discrete:
            if k < len(args) and not isinstance(args[k], (int, np.ndarray)):
                args = (*args[:k], kind.filter(args[k]), *args[k + 1 :])
        if self._spreading is not None:
            args = self._spreading(args)
        found = self.core(*args)
        if self._regroup is not None:
            found = self._regroup(found)
        subset = options.get("output_subset")
        if subset is None:
            return found
        return {k: found[k] for k in subset} if isinstance(found, dict) else [found[k] for k in subset]

    def _filled(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in order, defaults where none is given.  Raises TypeError for missing or unknown ones."""
        unknown = [k for k in kwargs if k not in self._names]
        if unknown or len(args) > len(self.inputs):
            takes = f"takes {counted(len(self.inputs), 'input')}, got {len(args)}"
            message = f"has no input {unknown[0]!r}" if unknown else takes
            raise TypeError(f"function {self.name or ''} {message}; inputs are {', '.join(map(str, self._names))}")
        found = list(args)
        for place, given in enumerate(self.inputs[len(args) :], len(args)):
            if given.name is not None and given.name in kwargs:
                found.append(kwargs[given.name])
            elif given.value is not None:
                value = given.value
                found.append(value.get_value(borrow=True) if hasattr(value, "get_value") else value)
            else:
                raise TypeError(f"function {self.name or ''}: input {given.name or place} has no value; give it one")
        return tuple(found)

    @property
    def maker(self) -> Maker:
        """The optimized graph, as `f.maker.fgraph`."""
        return Maker(self)

    @property
    def profile(self) -> Any:
        """The run profile."""
        return self.core.profile

    def get_shared(self) -> list[Any]:
        """The shared variables that the function reads or updates."""
        return [wrap(v) for v in self.core.shared]

    def free(self) -> None:
        """Nothing: a function keeps no results."""

    def copy(self, share_memory: bool = False, swap: Any = None, delete_updates: bool = False, **options: Any) -> Any:
        """Refused but for a plain copy, which is the function itself: functions do not change."""
        if swap or delete_updates:
            raise NotImplementedError("Function.copy with swap or delete_updates; call theano.function with givens")
        return self

    def __getitem__(self, name: str) -> Any:
        """The default value of an input."""
        return next(i.value for i in self.inputs if name in (i.name, i.variable))

    def __repr__(self) -> str:
        return f"<theano function {self.name or ''}({', '.join(map(str, self._names))})>"


class Maker:
    """The parts of `f.maker` that programs read."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.inputs, self.mode = list(function.inputs), function.core.mode
        self.profile = function.core.profile

    @property
    def fgraph(self) -> FunctionGraph:
        """The optimized graph."""
        graph = self.function.core.graph
        return FunctionGraph([wrap(v) for v in graph.inputs], [wrap(v) for v in graph.outputs])


class FunctionGraph:
    """A graph from inputs to outputs, to be looked at."""

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any], features: Any = None, clone: bool = True) -> None:
        self.inputs: list[Any] = list(inputs)
        self.outputs: list[Any] = list(outputs)

    def toposort(self) -> list[Any]:
        """The nodes, producers before users."""
        order: dict[Any, None] = {}
        waiting = [(v.owner, False) for v in reversed(self.outputs) if v.owner is not None]
        while waiting:
            node, ready = waiting.pop()
            if node in order:
                continue
            if ready:
                order[node] = None
            else:
                waiting.append((node, True))
                waiting += [(i.owner, False) for i in reversed(node.inputs) if i.owner is not None]
        return list(order)

    @property
    def apply_nodes(self) -> set[Any]:
        """The nodes."""
        return set(self.toposort())

    @property
    def variables(self) -> set[Any]:
        """All values."""
        return {*self.inputs, *(v for node in self.toposort() for v in (*node.inputs, *node.outputs))}


def _as_input(given: Any) -> In:
    if isinstance(given, In):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return In(given[0], value=given[1])
    if not isinstance(given, Variable):
        got = f"{type(given).__name__} {given!r}"
        raise TypeError(f"theano.function: an input is a variable or theano.In(...), got {got}")
    return In(given)


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    if given is None:
        return []
    items: Iterable[Any] = given.items() if isinstance(given, Mapping) else given
    return [(a, b) for a, b in items]


def _output(given: Any) -> Any:
    variable = given.variable if isinstance(given, Out) else given
    return lower(as_tensor_variable(variable))


def _outputs(outputs: Any) -> Any:
    if outputs is None:
        return None
    if isinstance(outputs, Mapping):
        return {k: _output(v) for k, v in outputs.items()}
    return [_output(v) for v in outputs] if isinstance(outputs, (list, tuple)) else _output(outputs)


def _replacement(old: Any, new: Any, strict: bool, what: str) -> Any:
    """The new value in the type of the old one.  Raises TypeError where it does not fit."""
    wanted = old.core.type.dtype
    if not isinstance(new, Variable):
        return np.asarray(autocast(new, wanted))
    if new.core.type.dtype != wanted and not strict:
        new = new.astype(wanted)
    if new.core.type.dtype != wanted:
        raise TypeError(
            f"theano.function: {what} {old} is {old.type}, and gets {new} of type {new.type}; write .astype({wanted!r})"
        )
    return new.core


def function(
    inputs: Any, outputs: Any = None, mode: Any = None, updates: Any = None, givens: Any = None,
    no_default_updates: Any = False, accept_inplace: bool = False, name: str | None = None,
    rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: Any = None,
    on_unused_input: str | None = None,
) -> Function:  # fmt: skip
    """The function that computes `outputs` from `inputs`, optimized and compiled.

    Args:
        inputs: variables, or `In` for a default value, a name or an update.
        outputs: a variable, a list or dict of them, or None.
        mode: the name of a mode, or `theano.compile.Mode(...)`.
        updates: pairs (shared variable, new value), or a dict.
        givens: pairs (variable, replacement), or a dict.
        no_default_updates: True, or the shared variables whose default update is left out.
        rebuild_strict: whether a given must have the dtype of what it replaces; otherwise it is cast.
        allow_input_downcast: whether arrays are cast to a narrower dtype; by default Python numbers alone are.
        on_unused_input: "raise", "warn" or "ignore" inputs that nothing depends on.

    Raises TypeError or ValueError that names the argument at fault.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"theano.function: inputs must be a list of variables, got {type(inputs).__name__} {inputs!r}; "
                        "write theano.function([x], ...)")  # fmt: skip
    given = [_as_input(i) for i in inputs]
    states = [i for i in given if i.update is not None]
    for v, _ in _pairs(updates):
        if not isinstance(v, SharedVariable):
            raise TypeError(f"theano.function: updates has the key {v}; expected a variable made by theano.shared(...)")
    changes, swaps = spread(_pairs(updates), "the update of"), spread(_pairs(givens), "the given")
    new = {lower(v): _replacement(v, value, True, "the update of") for v, value in changes}
    replaced = {lower(v): _replacement(v, value, rebuild_strict, "the given") for v, value in swaps}
    tensors, regroup = spread_outputs(outputs)
    results = _outputs(tensors)
    for state in states:
        _keep(state, new, replaced)
    _hold_still(no_default_updates, results, new, replaced)
    results, new = _finished(results, new, replaced)
    unused = config.on_unused_input if on_unused_input is None else on_unused_input
    called = [i for i in given if i.update is None]
    spreading = _spreading(called, results, new, replaced)
    variables = [i.variable.core for i in called] if spreading is None else spreading.variables
    try:
        core = core_function(
            variables, results, updates=new, givens=replaced,
            mode=with_registered(get_mode(mode)), name=name,
            profile=bool(profile) if profile is not None else config.profile or None, on_unused_input=unused,
            allow_input_downcast=_downcast(allow_input_downcast, called),
        )  # fmt: skip
        if profile is None and config.profile:
            later.at_exit.at_exit().add(core.profile)
    except ValueError as error:
        kind = UnusedInputError if "nothing depends on" in str(error) else MissingInputError
        if kind is MissingInputError and "which is not among the inputs" not in str(error):
            raise
        raise kind(str(error).replace("function:", "theano.function:", 1)) from None
    return Function(core, called, name, states, spreading, regroup)


def _spreading(called: Sequence[In], results: Any, *changes: Mapping[Any, Any]) -> Spreading | None:
    """The way from arguments to arrays; None if no input is a bundle."""
    if not any(isinstance(i.variable, BundleVariable) for i in called):
        return None
    values = results.values() if isinstance(results, dict) else results if isinstance(results, list) else [results]
    return Spreading([i.variable for i in called], [*values, *(v for some in changes for v in some.values())])


def _finished(results: Any, new: dict[Any, Any], replaced: Mapping[Any, Any]) -> tuple[Any, dict[Any, Any]]:
    """Results and updates by the core's own ops, lengths checked; as they are where a computed value is replaced."""
    if any(old.owner is not None for old in replaced):
        return results, new
    values = list(results.values()) if isinstance(results, dict) else results
    listed = values if isinstance(values, list) else [] if values is None else [values]
    symbolic = {k: v for k, v in new.items() if isinstance(v, CoreVariable)}
    moved = default_updates([*listed, *symbolic.values()], new, lambda _, update: update)
    found = strict(plain([*listed, *symbolic.values(), *moved.values()]))
    updated = {**new, **dict(zip([*symbolic, *moved], found[len(listed) :], strict=True))}
    if isinstance(results, dict):
        return dict(zip(results, found, strict=False)), updated
    return (found[: len(listed)] if isinstance(results, list) else found[0] if listed else None), updated


def _downcast(asked: bool | None, inputs: Sequence[In]) -> bool | None:
    return True if any(i.allow_downcast for i in inputs) else asked


def _keep(state: In, new: dict[Any, Any], replaced: dict[Any, Any]) -> None:
    """An input with an update is a shared variable."""
    if isinstance(state.value, Variable):
        holder = state.value.core
    else:
        kind = state.variable.type
        holder = CoreShared(kind.core, Container(np.array(kind.filter(state.value), order="C")), state.name)
    replaced[state.variable.core] = holder
    new[holder] = lower(as_tensor_variable(state.update))


def _hold_still(asked: Any, results: Any, new: dict[Any, Any], replaced: Mapping[Any, Any]) -> None:
    """Updates that keep the value of shared variables whose default update is left out."""
    if asked is False or asked is None:
        return
    if asked is not True:
        new.update({lower(v): lower(v) for v in asked if lower(v) not in new})
        return
    values = results.values() if isinstance(results, dict) else results if isinstance(results, list) else [results]
    roots = [v for v in [*values, *new.values(), *replaced.values()] if hasattr(v, "owner")]
    waiting = [leaf for leaf in leaves(roots) if isinstance(leaf, CoreShared)]
    new.update({v: v for v in waiting if v.default_update is not None and v not in new})
