"""`ag.ablate(f, inputs)`: the worth of each rule, pass and tag for one function, measured by leaving it out.

The function is optimized again without a rule and called in turns with the function itself.  Where the graph is the
same without a rule, nothing needs to be measured.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import later, pages
from ..cbackend import CompileError
from ..database import optdb
from ..engines.registry import title
from ..export.sources import function_of
from ..function.compiled import Function
from ..function.function import compiled_as, optimization_of
from ..function.mode import Mode
from ..graph import FunctionGraph
from ..ops.core.checks import shown
from ..ops.core.interpret import interpret
from ..profiling import RunProfile
from ..record import record
from ..record.cached import cached_property
from .forms import GAIN, Form, form_of, in_turns

KEPT = 0.95
"""Least share of the speed that the short query must keep."""
_ROUNDS = 40
_SEEN, _NEAR = 4, 1.02
"""Rounds that have to come near the least time before it counts as that of the form alone."""
_PASSES, _CALM, _STILL = 40, 3, 0.995
"""Most passes over all forms; how many in a row have to leave each time as it is; and what counts as that."""
_SHOWN = 20
_BAR, _LONGEST_GAIN = 20, 100.0
_STEP = 1.1
"""Ratio of gains that count as different in a list of the most valuable rules."""


@record
class Worth:
    """Loss of a function without a rule, a pass or a tag."""

    name: str
    kind: str
    """ "rule" for a rule or pass, "tag" for all of a tag."""
    fired: int
    """How often it fired in the function."""
    gain: float
    """Time of a call without it, over the time with it; 1.0 if the difference is noise or the graph is the same."""
    memory: int
    """Peak bytes of intermediate values in a call without it, less those with it."""
    difference: float
    """Largest difference of the results without it from NumPy's meaning of the user's graph, relative to the largest
    value.  A rule that stabilizes makes it larger, where NumPy's way is the less exact one."""
    rewriting: float
    """Seconds of rewriting without it, less those with it."""
    measured: bool = True
    """False if the time was over before."""

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "name": self.name, "kind": self.kind, "fired": self.fired, "gain": self.gain, "memory": self.memory,
            "difference": self.difference, "rewriting": self.rewriting, "measured": self.measured,
        }  # fmt: skip


class Ablation:
    """The result of `ablate`: rows by worth, and the shortest query found that keeps the speed."""

    def __init__(
        self, name: str, rows: Sequence[Worth], seconds: float, difference: float, query: str, query_seconds: float,
        source: Function | None = None,
    ) -> None:  # fmt: skip
        self.name: str = name
        self.rows: tuple[Worth, ...] = tuple(rows)
        """Those of most worth first, then by name."""
        self.seconds: float = seconds
        """Seconds of a call of the function."""
        self.difference: float = difference
        """Largest difference of its results from NumPy's meaning of the user's graph, relative to the largest value."""
        self.query: str = query
        """A query for `mode=` with few rules."""
        self.query_seconds: float = query_seconds
        """Seconds of a call under this query."""
        self._source = source

    def most(self, count: int = 10) -> tuple[str, ...]:
        """Return the names of the most valuable rules.

        Gains of less than a tenth do not count: times of one form vary by some hundredths.  Those that differ by less
        than that are equal here, and names decide: so two measurements of one function give the same names.
        """
        rules = [row for row in self.of("rule") if row.gain >= _STEP]
        return tuple(row.name for row in sorted(rules, key=lambda row: (-_step(row.gain), row.name))[:count])

    @cached_property
    def function(self) -> Function:
        """The function under the short query.  Pickled, or given to `ag.export`, it keeps the query."""
        if self._source is None:
            raise ValueError(f"{self.name}: the result was made without its function; pass mode={self.query!r}")
        return compiled_under(self._source, self.query)

    def of(self, kind: str) -> tuple[Worth, ...]:
        """Return the rows of "rule" or "tag"."""
        return tuple(row for row in self.rows if row.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "name": self.name, "seconds": self.seconds, "difference": self.difference, "query": self.query,
            "query_seconds": self.query_seconds, "rows": [row.to_dict() for row in self.rows],
        }  # fmt: skip

    def _head(self) -> str:
        count = len(self.query.split())
        return (
            f"{self.name}: {self.seconds * 1e6:.1f} us a call; {self.query_seconds * 1e6:.1f} us with {count} of "
            f"{len(self.of('rule'))} rules: mode={self.query!r}"
        )

    def _drawn(self) -> list[tuple[str, str, int, str, str, str, str, str]]:
        """Return the rows of the table with bars of their times."""
        table = self._table()
        gains = [min(float(row[3]), _LONGEST_GAIN) for row in table]
        return [
            (*row, "#" * round(_BAR * (g - 1) / max(max(gains) - 1, 0.01))) for row, g in zip(table, gains, strict=True)
        ]

    def _table(self) -> list[tuple[str, str, int, str, str, str, str]]:
        """Return the rows that change something, as text."""
        chosen = [row for row in self.rows if row.gain > 1.0 or row.memory or row.difference > 2 * self.difference]
        return [
            (row.name, row.kind, row.fired, f"{row.gain:.2f}", f"{row.memory:+,}" if row.memory else "",
             f"{row.difference:.1e}", f"{row.rewriting * 1e3:+.1f} ms") for row in chosen[:_SHOWN]
        ]  # fmt: skip

    def __str__(self) -> str:
        heads = f"  {'without':36} {'kind':5} {'fired':>5} {'time':>6} {'memory':>12} {'differs':>8} {'rewriting':>10}"
        lines = [self._head(), heads]
        lines += [
            f"  {n:36} {k:5} {c:5} {g:>6} {m:>12} {e:>8} {r:>10}  {b}" for n, k, c, g, m, e, r, b in self._drawn()
        ]
        late = sum(not row.measured for row in self.rows)
        rest = len(self.rows) - len(lines) + 2 - late
        lines += [f"  {rest} more change{'s' * (rest == 1)} nothing, or less"] * bool(rest)
        lines += [f"  {late} {'was' if late == 1 else 'were'} not measured; give more seconds="] * bool(late)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The rows as a picture and a table."""
        most = [row for row in self.rows if row.gain > 1.0][:_SHOWN]
        picture = pages.bars.bars([(r.name, r.gain, "mark") for r in most], "time of a call without it") if most else ""
        heads = ("without", "kind", "fired", "time", "memory", "differs", "rewriting")
        head = pages.markup.element("div", pages.markup.escaped(self._head()))
        return head + picture + pages.notebook.scrolled(heads, self._table())


def ablate(function: Function, inputs: Sequence[Any], seconds: float = 30.0) -> Ablation:
    """Measure what each rule, pass and tag is worth for a function, by leaving it out.

    Args:
        function: one that runs as C, or one of `ag.jit`, of which the trace of these inputs is measured; it stays what
            it is, and so do its shared variables.
        inputs: arguments of a call, such as will be typical.
        seconds: about how long to measure; then rules that were not reached count as of no worth.

    The result prints as a table and has `.query`, which keeps 95 % of the speed with few rules:
    `ag.function(..., mode=result.query)`.

    Raises TypeError for what is no function of `ag.function`, ValueError for one that is divided among engines or run
    by NumPy, and for seconds that are not positive.
    """
    if isinstance(function, later.jitted.Jitted):
        trace, inputs = function.trace_of(inputs)
        function = trace.function
    function = function_of(function)
    if not isinstance(function, Function):
        raise TypeError(f"ablate: expected a function of ag.function or ag.jit, or a model, got {shown(function)}")
    if not seconds > 0:
        raise ValueError(f"ablate: seconds is {seconds}; expected a positive number")
    if function.backend != "c" or function.mode.divides or function.mode.optimizer is None:
        raise ValueError(
            f"{function.name} is run by {title(function.backend)}: only functions that are optimized and run as C have "
            "rules to leave out"
        )
    return _Ablating(function, inputs, time.perf_counter() + 0.75 * seconds).result()


_Kind = tuple[str, str, int]
"""A name, whether it is that of a rule or a tag, and how often it fired."""
_Optimized = tuple[FunctionGraph, float]
"""A graph, and the seconds of rewriting it."""


class _Ablating:
    """One measurement in the making."""

    def __init__(self, function: Function, inputs: Sequence[Any], end: float) -> None:
        self.function, self.end = function, end
        self.arrays: list[Any] = function.arrays(list(inputs))[: len(function.inputs)]
        values = [*self.arrays, *(np.array(s.container.value) for s in function.shared)]
        self.wanted = interpret(function.compilation.signature.graph, values)
        self.base = self._form(function.graph)
        self.times = LeastTimes(self.base, self.arrays)
        self.memory, self.rewriting = self._memory(function.graph), function.optimizer_profile.time
        self.difference = self._difference(self.base)
        self.forms: dict[str, Form | None] = {str(function.graph): self.base}

    def result(self) -> Ablation:
        fired = Counter(rewrite.rule for rewrite in function_rewrites(self.function))
        tags = _tags_of(fired)
        kinds = [(name, "rule", count) for name, count in sorted(fired.items())]
        kinds += [(tag, "tag", sum(fired[n] for n in names)) for tag, names in sorted(tags.items())]
        left_out = [(self._worth(*kind, found), self._form_of(found)) for kind, found in self._by_price(kinds)]
        self.times.settle(self.end)
        rows = [replace(row, gain=self.times.gain(form)) if form else row for row, form in left_out]
        rows.sort(key=lambda row: (-row.gain, -row.memory, row.name))
        query, seconds = self._query([row for row in rows if row.kind == "rule"])
        return Ablation(
            self.function.name, rows, self._seconds(self.base), self.difference, query, seconds, self.function
        )

    def _by_price(self, kinds: Sequence[_Kind]) -> list[tuple[_Kind, _Optimized | None]]:
        """Return the names with the graphs without them: rules before tags, and the dearest graphs first.

        So those are left for which the time may be over that the cost model finds of least worth.
        """
        prices, found = dict[str, float](), dict[str, _Optimized | None]()
        half = (time.perf_counter() + self.end) / 2
        for name, *_ in kinds:  # rules come first here as well
            late = time.perf_counter() > half
            found[name] = None if late else self._optimized(self.function.mode.excluding(name))
            prices[name] = self._price(found[name])
        return [(kind, found[kind[0]]) for kind in sorted(kinds, key=lambda kind: (kind[1], -prices[kind[0]], kind[0]))]

    def _price(self, found: _Optimized | None) -> float:
        """Return picoseconds of a call by the cost model; 0 for a graph that is unknown, or the one of the function."""
        if found is None or str(found[0]) == str(self.function.graph):
            return 0.0
        return later.pass_budget.price_of(found[0])

    def _worth(self, name: str, kind: str, fired: int, found: _Optimized | None) -> Worth:
        """Return the worth of one name; that of a rule without which nothing compiles is infinite."""
        if found is None or time.perf_counter() > self.end:
            return Worth(name, kind, fired, 1.0, 0, self.difference, 0.0, measured=False)
        graph, rewriting = found
        form = self._of(graph)
        if form is None:
            return Worth(name, kind, fired, float("inf"), 0, self.difference, rewriting - self.rewriting)
        if form is self.base:
            return Worth(name, kind, fired, 1.0, 0, self.difference, rewriting - self.rewriting)
        memory = self._memory(graph) - self.memory
        self.times.measure(form)
        difference = self._difference(form)
        return Worth(name, kind, fired, 1.0, memory, difference, rewriting - self.rewriting)

    def _form_of(self, found: _Optimized | None) -> Form | None:
        """Return the measured form of a graph; None if there is none."""
        form = self.forms.get(str(found[0])) if found else None
        return form if form in self.times else None

    def _optimized(self, mode: Mode) -> _Optimized:
        """Return the graph under another mode, and seconds of rewriting."""
        optimization = optimization_of(replace(self.function.compilation, mode=mode))
        return optimization.graph, optimization.profile.time

    def _form(self, graph: FunctionGraph, profile: RunProfile | None = None) -> Form:
        return form_of(self.function, {}, profile, graph)

    def _of(self, graph: FunctionGraph) -> Form | None:
        """Return the compiled form of a graph, once for equal graphs; None if it cannot be compiled."""
        text = str(graph)
        if text not in self.forms:
            try:
                self.forms[text] = self._form(graph)
            except CompileError:
                self.forms[text] = None
        return self.forms[text]

    def _memory(self, graph: FunctionGraph) -> int:
        profile = RunProfile(self.function.name)
        self._form(graph, profile).seconds(self.arrays, 1)
        return profile.memory.peak

    def _difference(self, form: Form) -> float:
        """Return the largest difference of the results from NumPy's meaning, relative to the largest value."""
        found, worst = form.results(self.arrays), 0.0
        for got, want in zip(found, self.wanted, strict=False):
            if want.dtype.kind in "fc" and want.size:
                finite = np.isfinite(want) & np.isfinite(got)
                scale = float(np.max(np.abs(want[finite]), initial=0.0)) or 1.0
                worst = max(worst, float(np.max(np.abs(got[finite] - want[finite]), initial=0.0)) / scale)
        return worst

    def _seconds(self, form: Form) -> float:
        return min(a for a, _ in in_turns(form, self.base, self.arrays, _ROUNDS))

    # --- the short query
    def _query(self, rows: Sequence[Worth]) -> tuple[str, float]:
        """Return the query with the fewest of the rules that keeps the speed, and seconds of a call under it.

        Rules are left out in the order of their worth, as many as the speed allows.
        """
        names = [row.name for row in rows]
        low, high = min(1, len(names)), len(names)
        best = self._under(names) or self.base
        while low < high:
            middle = (low + high) // 2
            form = self._under(names[:middle])
            if form is not None and self._keeps(form):
                high, best = middle, form
            else:
                low = middle + 1
        kept = names[:high]
        return " ".join(sorted(kept)), self._seconds(best)

    def _under(self, names: Sequence[str]) -> Form | None:
        """Return the function under a query of names alone."""
        if not names:
            return None
        graph, _ = self._optimized(replace(self.function.mode, optimizer=" ".join(names), name=""))
        return self._of(graph)

    def _keeps(self, form: Form) -> bool:
        return form is self.base or settled_ratio(in_turns(form, self.base, self.arrays, _ROUNDS)) <= 1 / KEPT


class LeastTimes:
    """The least times of a call of each form and of one of them, the base, measured in turns until none falls.

    Other work on the machine only adds to times, for a while: a form that was unlucky once is met again later.  Each
    form has a least time of the base of its own, from as many rounds as its own: the least of more rounds is less.
    """

    def __init__(self, base: Form, arrays: Sequence[np.ndarray]) -> None:
        self._base, self._arrays = base, arrays
        self._least = dict[Form, tuple[float, float]]()

    def __contains__(self, form: Form | None) -> bool:
        return form in self._least

    def measure(self, form: Form, rounds: int = _ROUNDS) -> None:
        """Measure a form in turns with the base."""
        for a, b in until_met(in_turns(form, self._base, self._arrays, rounds)):
            first, second = self._least.get(form, (a, b))
            self._least[form] = (min(first, a), min(second, b))

    def settle(self, end: float) -> None:
        """Measure all forms again, until no time fell in several passes, or the time is over."""
        calm = 0
        for _ in range(_PASSES):
            before = dict(self._least)
            for form in before:
                if time.perf_counter() > end:
                    return
                self.measure(form, _SEEN)
            still = (now > _STILL * then for f in before for now, then in zip(self._least[f], before[f], strict=True))
            calm = calm + 1 if all(still) else 0
            if calm == _CALM:
                return

    def gain(self, form: Form) -> float:
        """Return the time of a form over that of the base; 1.0 if it is not slower."""
        first, second = self._least[form]
        return first / second if first >= GAIN * second else 1.0


def until_met(times: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield times of two forms until the least one of each was nearly met in several rounds."""
    found: list[tuple[float, float]] = []
    for pair in times:
        found.append(pair)
        yield pair
        if all(sum(t < _NEAR * min(each) for t in each) >= _SEEN for each in zip(*found, strict=True)):
            return


def settled_ratio(times: Iterable[tuple[float, float]]) -> float:
    """Return the least time of the first form over that of the second, once both were nearly met in several rounds.

    Other work on the machine only adds to times, so the least ones repeat themselves.
    """
    found = list(until_met(times))
    return min(a for a, _ in found) / min(b for _, b in found)


def compiled_under(function: Function, query: str) -> Function:
    """Return the function compiled under another query."""
    how = replace(function.compilation, mode=replace(function.mode, optimizer=query, name=""))
    return compiled_as(how)


def _step(gain: float) -> float:
    """Return the number of steps between a gain and none."""
    return round(math.log(gain) / math.log(_STEP)) if math.isfinite(gain) else math.inf


def function_rewrites(function: Function) -> Sequence[Any]:
    """Return the rewrites of a function, those in bodies of loops among them."""
    trace = function.trace
    return [*trace.every, *trace._every_inside()]


def _tags_of(fired: Mapping[str, int]) -> dict[str, list[str]]:
    """Return the tags that several of the rules have, with these rules; of tags of the same rules the first."""
    tags = {entry.name: entry.tags for entry in optdb.entries()}
    found: dict[str, list[str]] = {}
    for name in sorted(fired):
        for tag in tags.get(name, ()):
            if tag != name:
                found.setdefault(tag, []).append(name)
    met: set[tuple[str, ...]] = set()
    chosen = {}
    for tag, names in sorted(found.items()):
        if tuple(names) not in met and 1 < len(names) < len(fired):
            met.add(tuple(names))
            chosen[tag] = names
    return chosen
