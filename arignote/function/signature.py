"""The signature of a function as a closed graph: inputs, givens, shared variables, outputs, updates."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ..calculus.differentiated import variables_of_derivatives
from ..control.scanned import require_unpacked
from ..graph import Constant, FunctionGraph, TensorType, Variable, leaves, rebuild
from ..graph.walk import nodes_and_leaves
from ..ops.core.checks import by_position
from ..ops.core.interpret import default_updates
from ..ops.core.shared import SharedVariable
from ..ops.core.tensor import as_tensor, constant
from ..ops.shapes.specify import anchored, as_promised, conflict
from ..record import record
from ..record.frames import users_frame, warn
from ..tree import Form, flat, has_variable, in_form, is_record, is_tree, places, symbolic_flat, unflat, wholes
from ..tree import leaves as leaves_of

Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None


@record
class Signature:
    """A closed graph, and the mapping of calls to its inputs.

    The graph's inputs are the user's, then the shared variables; its outputs are the user's, then the new values of
    updated shared variables.  `form` says how results are handed back: `"one"`, `"list"`, `"dict"`, `"tree"` or
    `"none"`.
    """

    graph: FunctionGraph
    names: tuple[str | None, ...]
    """The names of the user's inputs, for keyword arguments."""
    shared: tuple[SharedVariable, ...]
    form: str
    keys: tuple[str, ...] = ()
    """The keys of the results where `form` is "dict"."""
    result: Form = None
    """The form of the result where `form` is "tree"."""
    arguments: tuple[Form, ...] = ()
    """The form of each argument of a call if one of them is a tree; the inputs are their leaves."""
    argument_names: tuple[str | None, ...] = ()
    """The names of these arguments, for keywords; None for a tree."""
    argument_words: tuple[str, ...] = ()
    """Their names in messages: that of the variable that holds the tree, or "argument 0"."""
    views: tuple[int | None, ...] = ()
    """For each leaf of the result the input that it is, None if the graph computes it; empty if it computes all."""

    @property
    def n_inputs(self) -> int:
        return len(self.names)

    @property
    def containers(self) -> tuple[Any, ...]:
        """The container of each input of the graph; None for those that a call gives."""
        return (*[None] * self.n_inputs, *(s.container for s in self.shared))

    def formed(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Return the results of a call, without those of updates, in the form in which the function returns them.

        `inputs`: the arrays of the inputs, of which views are made.
        """
        if self.form == "dict":
            return dict(zip(self.keys, results, strict=True))
        if self.form == "tree":
            return unflat(self.result, self.with_views(iter(results), inputs))
        return results[0] if self.form == "one" else list(results) if self.form == "list" else None

    def with_views(self, results: Iterator[Any], inputs: Sequence[Any]) -> Iterator[Any]:
        """Return the leaves of the result: values of the graph, and inputs in the places of views."""
        return (next(results) if k is None else inputs[k] for k in self.views) if self.views else results

    def computed(self, found: list[Any]) -> list[Any]:
        """Return those leaves of the result that the graph computes."""
        return [v for v, k in zip(found, self.views, strict=True) if k is None] if self.views else found

    def unformed(self, result: Any) -> list[Any]:
        """Return the values of the graph in the result of a call, the inverse of `formed`."""
        if self.form == "tree":
            return self.computed(in_form(result, self.result))
        if self.form in ("one", "none"):
            return [result] if self.form == "one" else []
        return list(result.values() if self.form == "dict" else result)

    @property
    def has_trees(self) -> bool:
        """Whether an argument or the result is a tree."""
        return bool(self.arguments) or self.form == "tree"

    @property
    def outputs(self) -> Sequence[Variable]:
        """The results of a call, without those of updates."""
        return self.graph.outputs[: len(self.graph.outputs) - len(self.graph.updates)]

    def as_arguments(self, values: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call that gives the inputs these values."""
        leaves = iter(values)
        return [unflat(form, leaves) for form in self.arguments] if self.arguments else list(values)


def make_signature(inputs: Any, outputs: Any, updates: Pairs, givens: Pairs, on_unused_input: str) -> Signature:
    """The signature of `function`'s arguments.  Raises TypeError or ValueError that names the argument at fault."""
    variables, arguments, words = _inputs(inputs)
    form, keys, result, results = _outputs(outputs)
    new_values = _updates(updates)
    results = [*results, *new_values.values()]
    replaced = _givens(givens)
    promises = _promises(replaced, results, variables)
    images = _kept(replaced)
    results = rebuild(results, images) if replaced else results
    moved_on = default_updates(results, new_values, lambda v, new: rebuild([_default_update(v, new)], images)[0])
    new_values.update(moved_on)
    results = [*results, *moved_on.values()]
    results[:1] = [anchored(first, promises) for first in results[:1]]
    variables, results = _free(variables, results)
    found = leaves(results)
    given = set(variables)
    held = [leaf for leaf in found if isinstance(leaf, SharedVariable) and leaf not in given]
    shared = list(dict.fromkeys([*held, *new_values]))
    _check_leaves(variables, arguments, shared, found, results, on_unused_input)
    views = _views(result, results, variables, arguments) if form == "tree" else ()
    results = [v for v, k in zip_longest(results, views) if k is None]
    first_update = len(results) - len(new_values)
    place = {s: k for k, s in enumerate(shared, len(variables))}
    positions = [(place[s], first_update + n) for n, s in enumerate(new_values)]
    graph = FunctionGraph([*variables, *shared], results, positions)
    names = tuple(v.name for v in variables)
    counts = [len(places(a, "")) for a in arguments]
    firsts = [sum(counts[:k]) for k in range(len(counts))]
    keywords = tuple(names[first] if a is None else None for first, a in zip(firsts, arguments, strict=True))
    return Signature(graph, names, tuple(shared), form, keys, result, arguments, keywords, words, views)


def _views(
    result: Form, results: Sequence[Variable], inputs: Sequence[Variable], arguments: Sequence[Form]
) -> tuple[int | None, ...]:
    """Return for each leaf of the result the input that it is, if its sparse matrix has the parts of an argument.

    Such a result, `A.T`, shares the memory of the argument, as SciPy's does.  Empty if there is none.
    """
    place = {v: k for k, v in enumerate(inputs)}
    given = [set(whole) for whole in _wholes(arguments, len(inputs)) if len(whole) > 1]
    found: list[int | None] = []
    for whole in _wholes([result], 0):
        at = [place.get(results[k]) for k in whole]
        found += at if set(at) in given else [None] * len(at)
    return tuple(found) if any(k is not None for k in found) else ()


def _wholes(forms: Sequence[Form], leaves: int) -> Iterator[range]:
    """Yield the positions of the leaves of each sparse matrix, and that of each other leaf; `leaves`: without forms."""
    sizes, k = [n for form in forms for n in wholes(form)] or [1] * leaves, 0
    while k < len(sizes):
        yield range(k, k + sizes[k])
        k += sizes[k]


def _inputs(inputs: Any) -> tuple[list[Variable], tuple[Form, ...], tuple[str, ...]]:
    """Return the variables, and the forms and the words of arguments if one is a tree."""
    if isinstance(inputs, (Variable, Mapping)) or is_record(inputs):
        inputs = [inputs]
    if not isinstance(inputs, Sequence) or isinstance(inputs, str):
        raise TypeError(f"function: inputs is {_kind(inputs)}; expected a list of variables")
    forms: list[Form] = []
    found: list[Any] = []
    words: list[str] = []
    if any(is_tree(i) and i is not None for i in inputs):
        words = _words(inputs)
        forms = [None if i is None else flat(i, []) for i in inputs]
        paths = [path for form, word in zip(forms, words, strict=True) for path in places(form, word)]
        inputs = [leaf for i in inputs for leaf in ([i] if i is None else leaves_of(i))]
    else:
        paths = [f"input {n}" for n in range(len(inputs))]
    found = _checked_inputs(inputs, paths)
    return found, tuple(forms), tuple(words)


def _words(inputs: Sequence[Any]) -> list[str]:
    """Return names of arguments for messages: those of variables, and those of trees in the user's frame."""
    frame = users_frame(sys._getframe(1))
    known = {} if frame is None else {id(v): k for k, v in [*frame.f_globals.items(), *frame.f_locals.items()]}
    return [
        known.get(id(i), f"argument {n}") if is_tree(i) else getattr(i, "name", None) or f"argument {n}"
        for n, i in enumerate(inputs)
    ]


def _checked_inputs(inputs: Sequence[Any], paths: Sequence[str]) -> list[Variable]:
    """Return the inputs.  Raises TypeError or ValueError, with the path, for one that is no free variable."""
    given: set[int] = set()
    for path, i in zip(paths, inputs, strict=True):
        if not isinstance(i, Variable):
            raise TypeError(f"function: {path} is {_kind(i)}; expected a variable such as T.vector('x')")
        if isinstance(i, Constant):
            raise TypeError(
                f"function: {path} is a constant ({i.data}); expected a variable such as T.vector('x')"
            )
        if isinstance(i, SharedVariable):
            raise TypeError(
                f"function: {path} ({i.name or i.type}) is shared; its value is read from the shared "
                "variable at each call: leave it out of inputs, or give another variable in its place by givens"
            )
        if id(i) in given:
            raise ValueError(f"function: {path} ({i.name or i.type}) is given twice")
        given.add(id(i))
    return list(inputs)


def _outputs(outputs: Any) -> tuple[str, tuple[str, ...], Form, list[Variable]]:
    """Return how results are handed back, the keys of a dict, the form of a tree, and the results."""
    require_unpacked(outputs, "the outputs of function")
    if outputs is None:
        return "none", (), None, []
    if _is_nested(outputs):
        found: list[Any] = []
        form = symbolic_flat(outputs, found)
        paths = places(form, "outputs")
        return "tree", (), form, [_output(v, path) for v, path in zip(found, paths, strict=True)]
    if isinstance(outputs, Mapping):
        keys = list(map(str, outputs))
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise ValueError(f"function: two keys of outputs have the text {key!r}; expected distinct texts")
        return "dict", tuple(map(str, outputs)), None, [_output(v, f"output {k!r}") for k, v in outputs.items()]
    if isinstance(outputs, (list, tuple)):
        return "list", (), None, [_output(v, f"output {n}") for n, v in enumerate(outputs)]
    return "one", (), None, [_output(outputs, "output 0")]


def _is_nested(outputs: Any) -> bool:
    """Whether outputs are a tree besides a plain list, tuple or dict of variables."""
    if type(outputs) not in (list, tuple) and not isinstance(outputs, Mapping):
        return is_tree(outputs)
    parts = outputs.values() if isinstance(outputs, Mapping) else outputs
    return any(is_tree(v) and (not isinstance(v, (list, tuple)) or has_variable(v)) for v in parts)


def _output(value: Any, which: str) -> Variable:
    if isinstance(value, Variable):
        return value
    try:
        return as_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(f"function: {which} is {_kind(value)}; expected a variable") from None


def _pairs(pairs: Pairs, what: str) -> list[tuple[Any, Any]]:
    if isinstance(pairs, Variable) or not isinstance(pairs, (Iterable, type(None))):
        raise TypeError(f"function: {what}s is {_kind(pairs)}; expected pairs of variables, or a dict")
    items = list(pairs.items() if isinstance(pairs, Mapping) else pairs or ())
    for position, item in enumerate(items):
        if not isinstance(item, Sequence) or len(item) != 2:
            raise TypeError(f"function: {what} {position} is {_kind(item)}; expected a pair of variables")
    return [pair for n, (a, b) in enumerate(items) for pair in _leaf_pairs(a, b, f"function: {what} {n}")]


def _leaf_pairs(first: Any, second: Any, what: str) -> list[tuple[Any, Any]]:
    """Return a pair of variables, or those of two trees.  Raises TypeError, with the path, for different structures."""
    if first is None or not is_tree(first):
        return [(first, second)]
    found: list[Any] = []
    form = flat(first, found)
    return list(zip(found, in_form(second, form, what, anything=True), strict=True))


def _updates(updates: Pairs) -> dict[SharedVariable, Variable]:
    found: dict[SharedVariable, Variable] = {}
    for position, (target, value) in enumerate(_pairs(updates, "update")):
        if not isinstance(target, SharedVariable):
            raise TypeError(
                f"function: update {position} is for {_kind(target)}; expected a variable made by ag.shared(...)"
            )
        if target in found:
            raise ValueError(f"function: shared variable {target.name or f'number {position}'} is updated twice")
        found[target] = _as_update(target, value, f"the update of {target.name or f'number {position}'}")
    return found


def _as_update(target: SharedVariable, given: Any, what: str) -> Variable:
    """Return the new value of a shared variable, with checks of the promised lengths that it does not know.

    Raises TypeError for another dtype or rank, ValueError for another length.
    """
    value: Variable = given if isinstance(given, Variable) else _given_value(what, given, target)
    if value.type.dtype != target.type.dtype:
        raise TypeError(
            f"function: {what} has dtype {value.type.dtype}, "
            f"the shared variable {target.type.dtype}; write .astype({target.type.dtype!r}){_line(value)}"
        )
    if value.type.ndim != target.type.ndim:
        raise TypeError(f"function: {what} is {value.type}, the shared variable {target.type}{_line(value)}")
    notice = conflict(value.type, target.type)
    if notice:
        raise ValueError(
            f"function: {what} is {value.type}, the shared variable promises {target.type}: {notice}{_line(value)}"
        )
    return as_promised(value, target.type, f"updates[{target.name or target.type}]")


_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
"""Kinds of dtype in increasing order; values convert upwards only."""


def _given_value(what: str, value: Any, variable: Variable) -> Variable:
    """A value of Python or NumPy in the dtype of a variable.  Raises TypeError where it cannot hold the value."""
    kind = variable.type
    try:
        made: Any = as_tensor(value)
        if not isinstance(made, Constant):  # a list of variables
            return made  # type: ignore[no-any-return]
        held = constant(value, kind.dtype) if _KINDS[made.type.kind] <= _KINDS[kind.kind] else None
    except (TypeError, ValueError, OverflowError):
        held = None
    if held is not None and (kind.kind not in "iu" or np.array_equal(held.data, made.data)):
        return held
    raise TypeError(f"function: {what} is {_kind(value)}; expected a variable or numbers of {kind.dtype}")


def _default_update(variable: SharedVariable, value: Variable) -> Variable:
    return _as_update(variable, value, f"the default update of {variable.name or variable.type}")


def _givens(givens: Pairs) -> dict[Variable, Variable]:
    known: dict[Variable, Variable] = {}
    for position, (old, new) in enumerate(_pairs(givens, "given")):
        if not isinstance(old, Variable):
            raise TypeError(f"function: given {position} replaces {_kind(old)}; expected a variable")
        if not isinstance(new, Variable):
            new = _given_value(f"what givens puts in the place of {old.name or 'a variable'}", new, old)
        if new.type.dtype != old.type.dtype or new.type.ndim != old.type.ndim:
            raise TypeError(
                f"function: given {position} puts {new.type} in the place of {old.name or 'a variable'} ({old.type}); "
                f"dtype and number of dimensions must be the same"
            )
        if old in known:
            raise ValueError(f"function: {old.name or old.type} is given twice in givens")
        notice = conflict(new.type, old.type)
        if notice:
            raise ValueError(
                f"function: given {position} puts {new.type} in the place of {old.name or 'a variable'} ({old.type}): "
                f"{notice}; leave the length out of the type, or give a value that has it"
            )
        known[old] = new
    return known


def _kept(givens: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
    """Return the replacements, with checks of the lengths that the replaced variables promise."""
    return {old: as_promised(new, old.type, _given(n, old)) for n, (old, new) in enumerate(givens.items())}


def _promises(
    givens: Mapping[Variable, Variable], results: Sequence[Variable], variables: Sequence[Variable]
) -> list[tuple[Variable, TensorType, str]]:
    """Return the promises of replaced variables: (replacement, promised type, name).

    An expression may rely on a length without reading the variable, so these count as well, unless the replacement is
    computed from what the function does not have.
    """
    unsure = [(n, old, new) for n, (old, new) in enumerate(givens.items()) if not new.type.refines(old.type)]
    if not unsure:
        return []
    order, read = nodes_and_leaves(results)
    reached = read.union(*(node.outputs for node in order))
    given = set(variables)
    return [
        (new, old.type, _given(n, old)) for n, old, new in unsure if old in reached or _is_computable(new, given)
    ]


def _is_computable(value: Variable, given: Collection[Variable]) -> bool:
    """Whether a value is computed only from inputs, shared variables and constants."""
    _, read = nodes_and_leaves([value], stop_at=given)
    return all(v in given or isinstance(v, (Constant, SharedVariable)) for v in read)


def _given(position: int, old: Variable) -> str:
    return f"givens[{old.name or position}]"


def _free(variables: list[Variable], results: list[Variable]) -> tuple[list[Variable], list[Variable]]:
    """Return the graph with inputs that were computed from others as leaves: the call gives their values."""
    known = {v: type(v)(v.type, name=v.name) for v in variables if v.owner is not None}
    return ([known.get(v, v) for v in variables], rebuild(results, dict(known))) if known else (variables, results)


def _check_leaves(
    variables: list[Variable], arguments: Sequence[Form], shared: list[SharedVariable], found: list[Variable],
    results: list[Variable], on_unused_input: str,
) -> None:  # fmt: skip
    known = {*variables, *shared}
    for leaf in found:
        if leaf not in known and not isinstance(leaf, Constant):
            raise ValueError(
                f"function: the outputs depend on {leaf.name or 'a variable without name'} ({leaf.type}), "
                "which is not among the inputs; add it to inputs, or give it a value by givens"
            )
    if on_unused_input not in ("raise", "warn", "ignore"):
        raise ValueError(f"function: on_unused_input is {on_unused_input!r}; expected 'raise', 'warn' or 'ignore'")
    unused = _unused(variables, arguments, set(found))
    if unused and on_unused_input != "ignore":
        unused = _unused(variables, arguments, {*found, *variables_of_derivatives(results)})
    if unused and on_unused_input != "ignore":
        names = ", ".join(unused)
        message = f"function: nothing depends on {names}; drop it from inputs or pass on_unused_input='ignore'"
        if on_unused_input == "raise":
            raise ValueError(message)
        warn(message)


def _unused(variables: list[Variable], arguments: Sequence[Form], used: set[Variable]) -> list[str]:
    """Return the names of inputs that are not used; a sparse matrix is used if one of its parts is."""
    every = [[variables[k] for k in whole] for whole in _wholes(arguments, len(variables))]
    return [whole[0].name or f"input {variables.index(whole[0])}" for whole in every if used.isdisjoint(whole)]


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"[:80] + by_position(value)


def _line(value: Variable) -> str:
    return f"\n  built at {value.origin[0]}" if value.origin else ""
