"""Reproducers: the smallest graph, shapes and values on which a fault still shows, as a script to paste.

Delta debugging until no move helps.  A move takes an earlier value as the only output, replaces values by inputs that
hold their numbers, leaves a node out, shortens axes or simplifies numbers.  It counts if the fault still shows.
Source: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
"""

from __future__ import annotations

import io
import itertools
import json
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import later
from ..database import optdb
from ..function.function import parse
from ..function.mode import Mode, as_mode
from ..function.optimization import for_any_lengths
from ..function.rewriting import rewrite
from ..graph import Constant, FunctionGraph, TensorType, Variable, leaves, rebuild
from ..graph.text import ParseError
from ..ops.core.tensor import TensorOp
from ..optdb import Query
from ..optdb.query import as_query
from ..record import record

if TYPE_CHECKING:
    from ..function.compiled import Function
    from .bisect import Verdict

SECONDS = 20.0
"""Time for the reduction of one fault."""
MOST_TRIALS = 400
FORMAT = "arignote failure"
VERSION = 1

Arrays = tuple[np.ndarray, ...]
Fails = Callable[[FunctionGraph, Sequence[np.ndarray]], str]
"""The difference that a graph shows on arrays, as text; empty if there is none."""


class FailureError(ValueError):
    """A file that is no saved failure, or a damaged one; the message names the file and the damage."""


@record
class Failure:
    """A fault on record: the graph, the values of its inputs, and the query or the rule that shows it."""

    graph: FunctionGraph
    arrays: Arrays
    query: str
    """The query of the optimizer; the name of the rule alone, if that is enough."""
    compiled: bool
    """Whether the generated code is at fault, so that the reproducer compiles; else rewriting shows the fault."""
    difference: str
    rule: str = ""
    registered: str = ""
    """The rule that the query cannot name, since a program registered it."""

    @property
    def nodes(self) -> int:
        """The number of nodes of the graph."""
        return len(self.graph.order)

    def script(self) -> str:
        """The reproducer: a program that prints the expected result and the wrong one."""
        lines = ["import numpy as np", "import arignote as ag"]
        if self.registered:
            lines.append(f"# the rule {self.registered} is registered by the program: register it here")
        text = str(self.graph).splitlines()
        lines += [f"graph = ag.parse('''{text[0]}", *text[1:-1], f"{text[-1]}''')"]
        lines.append(f"arrays = [{', '.join(map(_literal, self.arrays))}]")
        lines.append('run = lambda g, mode="NUMPY": ag.function(g.inputs, g.outputs, mode=mode)(*arrays)')
        got = f"run(graph, {self.query!r})" if self.compiled else f"run(ag.rewrite(graph, {self.query!r}))"
        return "\n".join([*lines, f"print('expected', run(graph), 'got', {got})"])

    def __str__(self) -> str:
        count = f"{self.nodes} node{'s' if self.nodes != 1 else ''}"
        return f"reproducer of {count}, {self.difference}:\n{self.script()}"

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Write the failure to a zip file, which `python -m arignote reduce` reads; return its path."""
        path = Path(path)
        about = {
            "format": FORMAT, "version": VERSION, "query": self.query, "compiled": self.compiled,
            "difference": self.difference, "rule": self.rule, "registered": self.registered,
        }  # fmt: skip
        held = io.BytesIO()
        values: dict[str, Any] = {f"input{k}": a for k, a in enumerate(self.arrays)}
        np.savez(held, **values)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("failure.json", json.dumps(about, indent=1))
            file.writestr("graph.txt", str(self.graph))
            file.writestr("arrays.npz", held.getvalue())
            file.writestr("reproducer.py", self.script())
        return path


def load(path: str | Path) -> Failure:
    """Return the failure in a zip file.

    Raises FailureError, naming the file, if it cannot be read, is no saved failure, or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as file:
            about = json.loads(file.read("failure.json"))
            text, held = file.read("graph.txt").decode(), io.BytesIO(file.read("arrays.npz"))
    except OSError as error:
        raise FailureError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError):  # the last: encrypted
        raise FailureError(f"{path}: is no zip file of a failure") from None
    except KeyError as error:
        raise FailureError(f"{path}: is no saved failure: {error.args[0]}") from None
    except ValueError as error:  # of Unicode or JSON
        raise FailureError(f"{path}: is damaged: {error}") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT or about.get("version") != VERSION:
        raise FailureError(f"{path}: is no saved failure of version {VERSION}")
    missing = [name for name in ("query", "compiled", "difference", "rule", "registered") if name not in about]
    if missing:
        raise FailureError(f"{path}: is damaged: failure.json has no {', '.join(missing)}")
    try:
        graph = parse(text)
    except ParseError as error:
        raise FailureError(f"{path}: is damaged: graph.txt: {error}") from None
    failure = Failure(
        graph, _arrays(path, held, graph), str(about["query"]), bool(about["compiled"]), str(about["difference"]),
        str(about["rule"]), str(about["registered"]),
    )  # fmt: skip
    if not failure.registered:
        _check_query(path, failure)
    return failure


def _arrays(path: str | Path, held: io.BytesIO, graph: FunctionGraph) -> Arrays:
    """The arrays of a file, each of which is one of the type of its input."""
    try:
        with np.load(held) as file:
            arrays = tuple(file[f"input{k}"] for k in range(len(graph.inputs)))
    except KeyError as error:
        raise FailureError(f"{path}: is damaged: arrays.npz: {error.args[0]}") from None
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error):
        raise FailureError(f"{path}: is damaged: arrays.npz holds no arrays of numbers") from None
    for v, a in zip(graph.inputs, arrays, strict=True):
        fits = a.ndim == v.type.ndim and all(n in (None, m) for n, m in zip(v.type.shape, a.shape, strict=True))
        if a.dtype != v.type.dtype or not fits:
            raise FailureError(f"{path}: is damaged: {v.name} is {v.type}; its array is {a.dtype}{list(a.shape)}")
    return arrays


def _check_query(path: str | Path, failure: Failure) -> None:
    """Raise FailureError if this version has no rule or optimizer that the query names."""
    try:
        if failure.compiled:
            as_mode(failure.query)
        optdb.query(for_any_lengths(as_query((failure.query,), {}), optdb))
    except ValueError as error:
        raise FailureError(f"{path}: its query fails: {error}") from None


# --- from a verdict


def failure_of(f: Function, arrays: Sequence[np.ndarray], verdict: Verdict, exact: bool = False) -> Failure | None:
    """The fault that a search found, reduced; None if there is none, or if it does not show apart from the function."""
    if verdict.fault == "none":
        return None
    mode = f.mode
    graph, values = _plain(f.unoptimized_graph, arrays)
    if verdict.fault == "backend":
        return reduced(Failure(graph, values, str(mode.optimizer or ""), True, verdict.difference), mode, exact)
    rewriting = verdict.rewrite
    assert rewriting is not None
    rule = verdict.rule
    alone = _query_of(rule, mode)
    registered = rule if rule not in optdb else ""
    whole = mode.optimizer if isinstance(mode.optimizer, Query) else None
    state = None if rewriting.body else f.trace.graph(rewriting.index)
    for start, query in ((state, alone), (graph, alone), (graph, whole)):
        if start is None or query is None:
            continue
        begun, given = _plain(start, arrays)
        name = rule if query is alone else str(query)
        found = reduced(Failure(begun, given, name, False, verdict.difference, rule, registered), mode, exact, query)
        if found is not None:
            return found
    return None


def _query_of(rule: str, mode: Mode) -> Query:
    """The query that takes this rule alone, and what the mode registers."""
    query = mode.optimizer if isinstance(mode.optimizer, Query) else Query.parse(rule)
    plain = replace(query, include=frozenset({rule}), require=frozenset(), exclude=frozenset(), subquery=(), name="")
    extra = tuple(pair for pair in plain.extra if getattr(pair[0], "name", rule) == rule)
    return replace(plain, extra=extra, position_cutoff=None)


def _plain(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> tuple[FunctionGraph, Arrays]:
    """The graph over plain inputs with names of their own, as a text can say it, and their arrays."""
    others = {v: _input(f"x{k}", v.type) for k, v in enumerate(graph.inputs)}
    outputs = rebuild(graph.outputs, dict(others))
    return FunctionGraph(list(others.values()), outputs), tuple(np.array(a) for a in arrays)


def _input(name: str, kind: TensorType) -> Variable:
    variable = TensorOp.variable_class(kind)
    variable.name = name
    return variable  # type: ignore[no-any-return]


# --- reduction


def reduced(
    failure: Failure, mode: Mode | None = None, exact: bool = False, query: Query | None = None
) -> Failure | None:
    """The failure on a graph, shapes and values that are as small as the moves make them; None if it does not show.

    `mode`, `query`: objects in the place of the failure's text, with rules that a program registered.
    """
    reducer = _Reducer(_shows(failure, mode, exact, query))
    graph, arrays = failure.graph, failure.arrays
    difference = reducer.fails(graph, arrays)
    if not difference:
        return None
    graph, arrays = reducer.reduce(graph, arrays)
    graph, arrays = _plain(graph, arrays)
    return replace(failure, graph=graph, arrays=arrays, difference=reducer.fails(graph, arrays) or difference)


def _shows(failure: Failure, mode: Mode | None, exact: bool, query: Query | None) -> Fails:
    """The test of a smaller graph: by rewriting it, or by compiling it."""
    bisect = later.bisect

    def by_rewriting(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> str:
        try:
            after = rewrite(graph, query or failure.query)
        except (TypeError, ValueError, NotImplementedError):
            return ""
        return str(bisect.graphs_differ(graph, after, arrays, exact))

    def by_running(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> str:
        how = mode or as_mode(failure.query)
        how = replace(how, check=False)
        try:
            f = later.function.function(list(graph.inputs), list(graph.outputs), mode=how, on_unused_input="ignore")
        except (TypeError, ValueError, NotImplementedError):
            return ""
        return str(bisect.function_differs(f, graph, arrays, exact))

    return by_running if failure.compiled else by_rewriting


class _Reducer:
    """The moves, each tried while trials and time are left."""

    def __init__(self, test: Fails) -> None:
        self.test = test
        self.trials = 0
        self.end = time.monotonic() + SECONDS

    def fails(self, graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> str:
        """The difference on this graph; empty if there is none, or no trial is left."""
        if self.trials >= MOST_TRIALS or time.monotonic() > self.end:
            return ""
        self.trials += 1
        return self.test(graph, arrays)

    def reduce(self, graph: FunctionGraph, arrays: Arrays) -> tuple[FunctionGraph, Arrays]:
        """The smallest failing graph that is found, and its arrays."""
        size = None
        while size != (size := (len(graph.order), sum(a.size for a in arrays))):
            for move in (_outputs, _frontiers, _cuts, _bypasses, _lengths):
                graph, arrays = self._first(move, graph, arrays)
        return self._first(_values, graph, arrays)

    def _first(self, move: Any, graph: FunctionGraph, arrays: Arrays) -> tuple[FunctionGraph, Arrays]:
        """The graph after the move has been made as often as the fault stays."""
        again = True
        while again:
            again = False
            for candidate in move(graph, arrays):
                if candidate is not None and self.fails(*candidate):
                    graph, arrays = candidate
                    again = True
                    break
        return graph, arrays


def _with(outputs: Sequence[Variable], known: dict[Variable, np.ndarray]) -> tuple[FunctionGraph, Arrays] | None:
    """The graph of the outputs over the leaves that they read, with their arrays."""
    read = [v for v in leaves(outputs) if not isinstance(v, Constant)]
    if any(v not in known for v in read) or all(o.owner is None for o in outputs):
        return None
    return FunctionGraph(read, outputs), tuple(known[v] for v in read)


def _given(graph: FunctionGraph, arrays: Arrays) -> dict[Variable, np.ndarray]:
    return dict(zip(graph.inputs, arrays, strict=True))


def _outputs(graph: FunctionGraph, arrays: Arrays) -> Iterator[Any]:
    """One output alone, or an earlier value as the only output: the earliest first, in growing steps."""
    known = _given(graph, arrays)
    if len(graph.outputs) > 1:
        yield from (_with([o], known) for o in graph.outputs)
        yield from (_with([o for o in graph.outputs if o is not out], known) for out in graph.outputs)
    made = [o for node in graph.order for o in node.outputs if o not in graph.outputs]
    step = max(len(made) // 2, 1)
    positions = list(range(min(len(made), 8)))
    while step > 1:
        positions += range(0, len(made), step)
        step //= 2
    yield from (_with([made[k]], known) for k in dict.fromkeys(positions))


def _frontiers(graph: FunctionGraph, arrays: Arrays) -> Iterator[Any]:
    """All values at a distance from the outputs as inputs: the nearest first."""
    values = _values_of(graph, arrays)
    at = {o.owner for o in graph.outputs if o.owner is not None}
    for _ in range(12):
        above = list(dict.fromkeys(i for node in at for i in node.inputs if i.owner is not None))
        if not above:
            return
        yield _cut(graph, arrays, values, above)
        at = {v.owner for v in above if v.owner is not None}


def _cuts(graph: FunctionGraph, arrays: Arrays) -> Iterator[Any]:
    """One value as an input: the one nearest to the outputs first."""
    values = _values_of(graph, arrays)
    made = [o for node in reversed(graph.order) for o in node.outputs if o not in graph.outputs]
    yield from (_cut(graph, arrays, values, [v]) for v in made)


def _values_of(graph: FunctionGraph, arrays: Arrays) -> dict[Variable, np.ndarray]:
    """The values of all variables that can be computed."""
    return later.bisect.every_value(graph, arrays)  # type: ignore[no-any-return]


def _cut(graph: FunctionGraph, arrays: Arrays, values: dict[Variable, np.ndarray], at: Sequence[Variable]) -> Any:
    """The graph with these values as inputs that hold their numbers."""
    if any(v not in values for v in at):
        return None
    fresh = {v: _input(f"v{k}", v.type) for k, v in enumerate(at)}
    outputs = rebuild(graph.outputs, dict(fresh))
    return _with(outputs, _given(graph, arrays) | {fresh[v]: values[v] for v in at})


def _bypasses(graph: FunctionGraph, arrays: Arrays) -> Iterator[Any]:
    """A node left out: an operand of the type of its result in its place."""
    for node in reversed(graph.order):
        for out in node.outputs:
            for i in node.inputs:
                if i.type == out.type:
                    yield _with(rebuild(graph.outputs, {out: i}), _given(graph, arrays))


def _lengths(graph: FunctionGraph, arrays: Arrays) -> Iterator[Any]:
    """A length of all arrays made smaller: what is as long elsewhere is shortened with it."""
    lengths = sorted({n for a in arrays for n in a.shape if n > 1}, reverse=True)
    for n in lengths:
        for m in dict.fromkeys((1, 2, n // 2, n - 1)):
            if m < n:
                yield _shortened(graph, arrays, n, m)


def _shortened(graph: FunctionGraph, arrays: Arrays, n: int, m: int) -> Any:
    fresh, given = {}, {}
    for v, a in zip(graph.inputs, arrays, strict=True):
        shape = tuple(m if k == n else k for k in v.type.shape)
        fresh[v] = _input(str(v.name), v.type.with_shape(shape))
        given[fresh[v]] = np.ascontiguousarray(a[tuple(slice(m) if k == n else slice(None) for k in a.shape)])
    try:
        return _with(rebuild(graph.outputs, dict(fresh)), given)
    except (TypeError, ValueError):
        return None


def _values(graph: FunctionGraph, arrays: Arrays) -> Iterator[Any]:
    """Numbers made plainer: those of an array all at once, then one by one."""
    for k, a in enumerate(arrays):
        for plain in (*_all_plainer(a), *(_one_plainer(a) if a.size <= 32 else ())):
            yield graph, (*arrays[:k], plain, *arrays[k + 1 :])


def _all_plainer(a: np.ndarray) -> Iterator[np.ndarray]:
    for plain in (np.zeros_like(a), np.ones_like(a), *_rounded(a)):
        if plain.tobytes() != a.tobytes() and _plainness(plain) < _plainness(a):
            yield plain


def _one_plainer(a: np.ndarray) -> Iterator[np.ndarray]:
    for place, number in itertools.product(np.ndindex(a.shape), (0, 1)):
        if _plainness(a[place]) > number:
            plain = a.copy()
            plain[place] = number
            yield plain


def _rounded(a: np.ndarray) -> list[np.ndarray]:
    return [np.round(a), np.round(a, 1)] if a.dtype.kind in "fc" and np.isfinite(a).all() else []


def _plainness(a: np.ndarray) -> int:
    """A measure of how much there is to write: 0 for zeros."""
    return sum(0 if v == 0 else 1 if v == 1 else len(repr(v)) for v in np.ravel(a).tolist())


# --- text


def _literal(a: np.ndarray) -> str:
    """The array as Python."""
    if a.size and a.size > 8 and a.tobytes() == a.ravel()[:1].tobytes() * a.size:
        return f"np.full({a.shape}, {_number(a.flat[0])}, {a.dtype.name!r})"
    if not a.size:
        return f"np.zeros({a.shape}, {a.dtype.name!r})"
    text = np.array2string(a, separator=", ", threshold=a.size + 1, max_line_width=10**6, floatmode="unique")
    text = " ".join(text.split()).replace("nan", "np.nan").replace("inf", "np.inf")
    return f"np.array({text}, {a.dtype.name!r})"


def _number(value: Any) -> str:
    text = repr(value.item())
    return text.replace("nan", "np.nan").replace("inf", "np.inf")
