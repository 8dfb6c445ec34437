"""Loops of expressions: `ag.scan` along sequences, as in Theano; `ag.while_loop` until a condition fails.

The function of a step is traced once, into the body of an op of ops/control/scan_ops.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from .. import later
from .. import ops as T
from ..graph import Older, Variable, rebuild
from ..graph.provenance import marking
from ..ops.control.scan_ops import ENDLESS, Scan, UnfitState, looped
from ..ops.control.while_ops import While
from ..ops.core.checks import describe, shown
from ..ops.core.tensor import TensorVariable, as_tensor
from ..ops.core.tracing import comparing
from ..ops.shapes.lengths import as_length, known_length, lengths_of
from ..record.spelling import counted, nearest
from ..tree import Form, flat, in_form, is_sequence, places, symbolic_flat, unflat
from .bodies import as_condition, moved_inside, require_arguments, require_one_argument, returned
from .scanned import Scanned, Updates, require_unpacked


def scan(
    fn: Callable[..., Any], sequences: Any = None, outputs_info: Any = None, non_sequences: Any = None,
    n_steps: Any = None, go_backwards: bool = False, truncate_gradient: int = -1, return_list: bool = False,
    checkpoint_every: int | str | None = None,
) -> Scanned:  # fmt: skip
    """Return `(outputs, updates)`: the values of `fn` for each step, each output along a new first axis.

        powers, _ = ag.scan(lambda before, x: before * x, outputs_info=T.ones_like(x), non_sequences=x, n_steps=k)

    Args:
        fn: called once, with a part of each sequence, then what outputs were before, then the non-sequences.  It
            returns an output, a list of them, updates, or a tuple of outputs and updates, each perhaps followed by
            until(condition).  Updates are a dict from shared variables to their next values, or a list of pairs.
        sequences: one or a list of what the loop goes along, by the first axis; `dict(input=x, taps=[-1, 0])` for
            x[t - 1] and x[t].  The shortest ends the loop.  Of another dict, or of a tree in the list, `fn` gets the
            rows in its form.
        outputs_info: for each output what it was before the first step, None if `fn` does not want to know, or
            `dict(initial=x, taps=[-2, -1])`: then `fn` gets the output of two steps ago and that of the last step, and
            the rows of `initial` are the values before the first step, the oldest first.  [] counts as None.  A
            tree, such as `{"h": h, "c": c}`, is one output, of which `fn` gets and returns such a tree.
        non_sequences: what `fn` gets besides; it may use any other variable without being given it.
        n_steps: how many steps; an integer or an integer scalar.
        go_backwards: whether to go along the sequences from their ends.
        truncate_gradient: how many of the last steps gradients go through; -1: all.
        return_list: whether outputs are a list even if there is one.
        checkpoint_every: the number of steps between the states that a gradient keeps; it computes those between again,
            one part of the loop at a time.  "sqrt" takes the root of the number of steps, which needs the least memory.
            Read the last value as `outputs[-1]`; all values together take their memory in any case.

    The result is a named tuple.  The outputs are one variable or tree if there is one, else a list.  `updates` maps
    the shared variables that `fn` updates to their values after the last step; give them to
    `ag.function(updates=...)`.  Draws of a RandomStream made in `fn` are new in every step, and need no updates.
    Values that do not depend on the step are computed once, before the loop.

    Raises TypeError for a state that becomes one of another dtype or rank, ValueError for taps that make no sense and
    where nothing says how long to go on; at run time ValueError for a negative number of steps, a sequence that is too
    short and a state that changes its shape.  Source of the conventions: `theano.scan`.
    """
    if not callable(fn):
        raise TypeError(f"scan: fn must be a function of variables, got {shown(fn)}")
    several = [_sequence(k, one, go_backwards) for k, one in enumerate(_as_list(sequences))]
    along = [row for one in several for row in one.parts]
    steps = _steps(n_steps, along)
    states = [_state(k, i) for k, i in enumerate(_as_list(outputs_info))]
    infos = [info for state in states for info in state.parts]
    others = [_non_sequence(v) for v in _as_list(non_sequences)]
    slices = [s for one in along for s in one.slices]
    require_arguments(fn, _called(several, states, others))
    with comparing() as trace, marking() as marks:
        trace.inside([(s, r, 1) for one in along for s, r in zip(one.slices, one.rows, strict=True)])
        trace.inside([(s, f, 0) for info in infos if info is not None for s, f in zip(info.states, info.firsts)])
        given = [value for one in several for value in one.values] + [value for one in states for value in one.values]
        made, updates, stop = returned(fn(*given, *others), [state.form for state in states])
    forms, outputs = _flat_outputs(made, states)
    infos = infos or [None] * len(outputs)
    drawn = {v: v.default_update for v in moved_inside([*outputs, *updates.values(), *stop], marks)}
    new = {**drawn, **updates}
    replaced: dict[Variable, Variable] = {v: TensorVariable(v.type, name=v.name) for v in new}
    changed = rebuild([*outputs, *new.values(), *stop], {**replaced}, stop_at=Older.than(replaced))
    body = _Body(changed[: len(outputs)], changed[len(outputs) : len(outputs) + len(new)], infos)
    parts = [r for one in along for r in one.rows], slices, [*body.firsts, *new], [*body.states, *replaced.values()]
    results_of_step = [*body.next, *body.updates], body.values
    traced = (*(True for _ in body.firsts), *(False for _ in new))
    try:
        if checkpoint_every is not None:
            every = later.segments.every(checkpoint_every, steps, bool(stop), truncate_gradient)
            results = later.segments.segmented(steps, every, *parts, *results_of_step, traced)
        else:
            end = changed[-1] if stop else None
            results = looped(Scan, steps, *parts, *results_of_step, end, traced, truncate_gradient)
    except UnfitState as error:
        raise _unfit(error, "scan", "fn") from None
    ends = Updates(zip(new, results[len(body.firsts) :], strict=False))
    for v in drawn:
        v.default_update = ends[v]
    leaves = iter(body.outputs(results, len(new)))
    found = [unflat(form, leaves) for form in forms]
    return Scanned(found if return_list or len(found) > 1 else found[0] if found else None, ends)


# --- arguments


def _as_list(given: Any) -> list[Any]:
    if given is None:
        return []
    require_unpacked(given, "an argument of scan")
    return list(given) if is_sequence(given) else [given]


class _Sequence(NamedTuple):
    """A sequence that the user gives: one with its taps, or the leaves of a tree."""

    form: Form
    parts: list[_Along]

    @property
    def values(self) -> list[Any]:
        """The arguments of fn that hold the rows of a step."""
        slices = [s for one in self.parts for s in one.slices]
        return slices if self.form is None else [unflat(self.form, iter(slices))]


class _State(NamedTuple):
    """An output that the user speaks of in outputs_info: one with its taps, or the leaves of a tree."""

    form: Form
    parts: list[_Info | None]

    @property
    def values(self) -> list[Any]:
        """The arguments of fn that hold earlier outputs."""
        wanted = [s for info in self.parts if info is not None for s in info.wanted]
        return wanted if self.form is None else [unflat(self.form, iter(wanted))]


def _called(along: Sequence[_Sequence], states: Sequence[_State], others: Sequence[Any]) -> list[str]:
    """Return the names of the arguments of fn in messages."""
    slices = [getattr(v, "name", None) or f"sequence {k}[t]" for k, one in enumerate(along) for v in one.values]
    before = [
        name if name not in (None, f"outputs[{k}]") else f"the output {k} before"
        for k, state in enumerate(states) for name in (getattr(v, "name", None) for v in state.values)
    ]  # fmt: skip
    return [*slices, *before, *(getattr(v, "name", None) or f"non-sequence {k}" for k, v in enumerate(others))]


def _non_sequence(value: Any) -> Any:
    """Return what fn gets of a non-sequence: a variable, or a tree of them."""
    found: list[Any] = []
    form = symbolic_flat(value, found)
    return unflat(form, iter([as_tensor(v) for v in found]))


def _unfit(error: UnfitState, loop: str, function: str) -> TypeError:
    """Return the error for a state that changes its type, with the line that returns it and the fix."""
    old, new = error.old, error.new
    fix = f"cast what {function} returns, or begin with a value of that type"
    if old.ndim != new.ndim:
        fix = f"begin with a value of rank {new.ndim}, as by T.zeros, or return one of rank {old.ndim}"
    return TypeError(f"{loop}: {error}; {fix}" + (f"\n  built at {new.origin[0]}" if new.origin else ""))


class _Along(NamedTuple):
    """A sequence: its rows for each tap, and the variables of one row in a step."""

    rows: list[Any]
    slices: list[Variable]


def _sequence(k: int, given: Any, go_backwards: bool) -> _Sequence:
    leaves: list[Any] = []
    form = None if _has_taps(given, "input") else symbolic_flat(given, leaves)
    if form is None:
        source, taps = _with_taps(given, "input", f"scan: sequence {k}", [0])
        return _Sequence(None, [_along(source, taps, f"scan: sequence {k}", go_backwards)])
    names = places(form, f"scan: sequence {k}")
    return _Sequence(form, [_along(v, [0], name, go_backwards) for v, name in zip(leaves, names, strict=True)])


def _along(source: Any, taps: Sequence[int], what: str, go_backwards: bool) -> _Along:
    x = as_tensor(source)
    if not x.ndim:
        raise TypeError(f"{what}, {describe(x)}, has no axis to iterate over")
    low, high = min(0, *taps), max(0, *taps)
    length: Any = lengths_of(x)[0]
    rows = [x if low == high else x[tap - low : T.maximum(length + tap - high, 0)] for tap in taps]
    rows = [r[::-1] for r in rows] if go_backwards else rows
    names = [f"{x.name}[t{tap:+}]" if tap else f"{x.name}[t]" for tap in taps] if x.name else [None] * len(taps)
    slices: list[Variable] = [
        TensorVariable(r.type.with_shape(r.type.shape[1:]), name=n) for r, n in zip(rows, names, strict=True)
    ]
    return _Along(rows, slices)


def _has_taps(given: Any, key: str) -> bool:
    """Whether a dict is of Theano's form, misspelt perhaps, no tree."""
    if not isinstance(given, Mapping):
        return False
    return key in given or "taps" in given or (len(given) == 1 and bool(nearest(str(next(iter(given))), [key], 1, 0.8)))


def _with_taps(given: Any, key: str, what: str, default: list[int]) -> tuple[Any, list[int]]:
    """Return the value under `key`, and the taps.  Raises TypeError or ValueError for a dict of another form."""
    if not isinstance(given, Mapping):
        return given, default
    unknown = [k for k in given if k not in (key, "taps")]
    if unknown or key not in given:
        raise ValueError(f'{what}: expected dict({key}=..., taps=[...]), got the keys {", ".join(map(repr, given))}')
    taps = given.get("taps")
    try:
        found = default if taps is None else [operator.index(t) for t in _as_list(taps)]
    except TypeError:
        raise TypeError(f"{what}: taps must be integers, got {shown(taps)}") from None
    if not found or len(set(found)) < len(found):
        raise ValueError(f"{what}: taps must be distinct integers, at least one; got {shown(taps)}")
    return given[key], found


def _steps(n_steps: Any, along: Sequence[_Along]) -> Any:
    """The number of steps as an int64 scalar."""
    if n_steps is None:
        lengths = [lengths_of(r)[0] for one in along for r in one.rows]
        if not lengths:
            raise ValueError("scan: the number of steps is unknown; give sequences or n_steps")
        return reduce(lambda a, b: a if a is b else T.minimum(a, b), lengths)
    steps = as_length(n_steps, "scan: n_steps")
    known = known_length(steps)
    if known is not None and known < 0:
        raise ValueError(f"scan: n_steps is {known}; expected 0 or more (go_backwards=True reverses the sequences)")
    return steps


class _Info(NamedTuple):
    """An output that its next values depend on: its initial values, and the variables that stand for them.

    Both begin with the last one; `wanted`: what fn is given, in the order of the taps.
    """

    firsts: list[Any]
    states: list[Variable]
    wanted: list[Variable]


def _flat_outputs(made: Sequence[Any], states: Sequence[_State]) -> tuple[list[Form], list[Any]]:
    """Return the forms of the outputs of fn, and their leaves.  Raises TypeError for another form than a state's."""
    if states and len(states) != len(made):
        raise ValueError(
            f"scan: outputs_info has {counted(len(states), 'entry')}, and fn returns {counted(len(made), 'output')}"
        )
    found: list[Any] = []
    forms: list[Form] = []
    for k, output in enumerate(made):
        form = states[k].form if states else None
        if form is not None:
            found += in_form(output, form, f"scan: fn: output {k}")
        elif states and states[k].parts[0] is not None:
            found.append(output)
        else:
            form = symbolic_flat(output, found)
            if states and type(form) is tuple:
                raise TypeError(
                    f"scan: output {k} of fn is {shown(output)}, a tree; leave outputs_info out, or give its initial "
                    "values as such a tree"
                )
        forms.append(form)
    return forms, [as_tensor(v) for v in found]


def _state(k: int, given: Any) -> _State:
    what = f"scan: outputs_info[{k}]"
    leaves: list[Any] = []
    form = None if given is None or _has_taps(given, "initial") else symbolic_flat(given, leaves)
    if form is None:
        return _State(None, [_info(what, f"outputs[{k}]", given)])
    paths, names = places(form, what), places(form, f"outputs[{k}]")
    return _State(form, [_info(*part) for part in zip(paths, names, leaves, strict=True)])


def _info(what: str, called: str, given: Any) -> _Info | None:
    """Return the output with these initial values; `called`: the name of its variable if `given` has none."""
    if given is None:
        return None
    initial, taps = _with_taps(given, "initial", what, [-1])
    if initial is None:
        return None
    if max(taps) >= 0:
        raise ValueError(f"{what}: taps of outputs must be negative, got {taps}")
    first = as_tensor(initial)
    depth = -min(taps)
    if taps == [-1]:
        firsts = [first]
    elif not first.ndim or (first.type.shape[0] or depth) < depth:
        raise ValueError(
            f"{what}: taps {taps} take {counted(depth, 'value')} before the first step, got {describe(first)}"
        )
    else:
        firsts = [first[depth - 1 - j] for j in range(depth)]
    name = first.name or called
    states: list[Variable] = [TensorVariable(f.type, name=name) for f in firsts]
    return _Info(firsts, states, [states[-1 - tap] for tap in taps])


# --- what fn returns


class _Body:
    """The outputs of a step by kind: states, values, updates of shared variables."""

    def __init__(self, outputs: Sequence[Any], updates: Sequence[Any], infos: Sequence[_Info | None]) -> None:
        self.updates = updates
        self.values = [o for o, info in zip(outputs, infos, strict=True) if info is None]
        self.firsts, self.states, self.next = [], [], []  # type: list[Any], list[Variable], list[Any]
        self.places: list[int | None] = []
        """For each output its place among the states, None for a value."""
        for output, info in zip(outputs, infos, strict=True):
            self.places.append(None if info is None else len(self.firsts))
            if info is not None:
                self.firsts += info.firsts
                self.states += info.states
                self.next += [output, *info.states[:-1]]

    def outputs(self, results: Sequence[Variable], updates: int) -> list[Variable]:
        """The outputs in order."""
        values = iter(results[len(self.firsts) + updates :])
        return [next(values) if place is None else results[place] for place in self.places]


# --- while


def while_loop(
    condition: Callable[[Any], Any], body: Callable[[Any], Any], initial: Any, *, max_steps: Any = None
) -> Any:
    """Return the state after `body` was applied repeatedly to `initial`, as long as `condition` holds.

        ag.while_loop(lambda s: s["x"] > 1, lambda s: {"x": s["x"] / 2, "n": s["n"] + 1}, {"x": x, "n": 0})

    The state is a variable, or a tree of them (list, tuple, dict, dataclass), nested as you like; `condition` gives a
    scalar and is asked before every step.  All parts keep dtype and rank (TypeError, naming the part) and their lengths
    (ValueError at run time).  Draws of a RandomStream made in `body` are new in every step.

    `max_steps`: an integer or an integer scalar; the loop ends after as many steps even if `condition` still holds.

    A derivative goes back along the states of all steps, which it holds in memory: bound them by `max_steps`.  For a
    loop that searches for a solution, `ag.fixed_point` and `ag.root` take its derivative without the steps.  Under
    `ag.vmap` the loop goes on until all examples have ended; those that have keep their states.
    Source: JAX's `while_loop`.
    """
    for f, role in ((condition, "condition"), (body, "body")):
        if not callable(f):
            raise TypeError(f"while_loop: {role} must be a function of the state, got {shown(f)}")
    found: list[Any] = []
    form = flat(initial, found)
    firsts = [as_tensor(v) for v in found]
    states = [TensorVariable(v.type, name=n) for v, n in zip(firsts, places(form, "state"), strict=True)]
    for f, role in ((condition, "condition"), (body, "body")):
        require_one_argument(f, role)
    with comparing() as trace, marking() as marks:
        trace.inside([(s, f, 0) for s, f in zip(states, firsts, strict=True)])
        made = body(unflat(form, iter(states)))
    new = [as_tensor(v) for v in _in_form(made, form, initial)]
    with comparing():
        goes_on = [as_condition(condition(unflat(form, iter(v))), "while_loop: condition") for v in (firsts, new)]
    most = T.constant(ENDLESS, "int64") if max_steps is None else as_length(max_steps, "while_loop: max_steps")
    known = known_length(most)
    if known is not None and known < 0:
        raise ValueError(f"while_loop: max_steps is {known}; expected 0 or more")
    steps = T.switch(goes_on[0], T.maximum(most, 0), T.constant(0, "int64"))
    drawn = {v: v.default_update for v in moved_inside(new, marks)}
    replaced: dict[Variable, Variable] = {v: TensorVariable(v.type, name=v.name) for v in drawn}
    ended = T.logical_not(goes_on[1])
    end, *changed = rebuild([ended, *new, *drawn.values()], {**replaced}, stop_at=Older.than(replaced))
    try:
        results = looped(
            While, steps, (), (), [*firsts, *drawn], [*states, *replaced.values()], changed, (), end,
            (False,) * len(changed),
        )  # fmt: skip
    except UnfitState as error:
        raise _unfit(error, "while_loop", "body") from None
    for v, moved in zip(drawn, results[len(firsts) :], strict=True):
        v.default_update = moved
    return unflat(form, iter(results[: len(firsts)]))


def _in_form(made: Any, form: Form, initial: Any) -> list[Any]:
    """Return the leaves of the next state.  Raises TypeError, with the path of the difference, for another form."""
    try:
        return in_form(made, form, "state")
    except TypeError as error:
        form_of = f"{shown(made)}, a state of another form than {shown(initial)}"
        raise TypeError(f"while_loop: body gives {form_of}: {error}") from None
