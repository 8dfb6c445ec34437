"""`ag.bisect(f, inputs)`: the first rewrite that changes what a function computes by more than its rule may.

Each state between the user's graph and the optimized one can be had from the trace and evaluated by NumPy, so the
search needs no compilation: about log2(rewrites) evaluations.  If every state is right and the compiled function is
not, the fault lies in the generated C.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import later, pages
from ..database import optdb
from ..function.compiled import Function
from ..graph import Constant, FunctionGraph, Replacement, Variable
from ..graph.editor import Budget, InnerRun
from ..ops.control.laziness import with_bodies
from ..ops.core.interpret import evaluate_node, interpret, unwatched
from ..record import record
from ..record.spelling import counted
from .assumptions import for_lengths_of

if TYPE_CHECKING:
    from .reducing import Failure
    from .trace import Rewrite, Trace

ULPS = 2048
"""Differences of floats below this are taken for rounding, as in mode DEBUG: a sum in another order, a few ulp a
rule."""


@record
class Verdict:
    """The result of a search.  `fault`: "none", "rewrite" (see `rewrite`) or "backend" (the C differs)."""

    fault: str
    rewrite: Rewrite | None
    difference: str
    contract: str
    evaluations: int
    reproducer: Failure | None = None
    """The fault on the smallest graph that was found: a script to paste, or to `save` in a file."""

    @property
    def rule(self) -> str:
        """The name of the rule at fault; empty if none is."""
        return self.rewrite.rule if self.rewrite is not None else ""

    def blame(self) -> str:
        """Text that names the first wrong rewrite and how to exclude it; without one, the generated C is at fault."""
        if self.rewrite is None:
            return "every rewrite is right for these inputs, so the generated code is wrong: please report it"
        promise = f", whose contract is {self.contract}" if self.contract else ""
        return (
            f"the first wrong rewrite is number {self.rewrite.place}, made by {self.rule}{promise}: {self.difference}\n"
            f'{self.rewrite}\nwithout it: mode.excluding("{self.rule}")'
        )

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        rewrite = self.rewrite.to_dict() if self.rewrite is not None else None
        return {
            "fault": self.fault, "rule": self.rule, "rewrite": rewrite, "difference": self.difference,
            "contract": self.contract, "evaluations": self.evaluations,
            "reproducer": "" if self.reproducer is None else self.reproducer.script(),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        """The verdict, and the rewrite at fault as lines removed and added."""
        head, *_ = self._head().split("\n")
        advice = f'without it: mode.excluding("{self.rule}")' if self.rule else ""
        parts = [pages.markup.element("b", pages.markup.escaped(head))]
        parts += [] if self.rewrite is None else [self.rewrite._repr_html_()]
        code = pages.markup.element("code", pages.markup.escaped(advice))
        parts += [pages.markup.element("div", code)] if advice else []
        return "".join(parts)

    def __str__(self) -> str:
        return self._head() if self.reproducer is None else f"{self._head()}\n{self.reproducer}"

    def _head(self) -> str:
        """The verdict without the reproducer."""
        tried = f"({self.evaluations} {'states were' if self.evaluations != 1 else 'state was'} evaluated)"
        if self.fault == "none":
            return f"no rewrite changes the result beyond rounding {tried}"
        if self.fault == "backend" or self.rewrite is None:
            return f"every rewrite is right, the compiled function is not: {self.difference} {tried}"
        promise = f", whose contract is {self.contract}" if self.contract else ""
        number = self.rewrite.index
        states = f"right: f.trace.graph({number})   wrong: f.trace.graph({number + 1})"
        return (
            f"rewrite {self.rewrite.place} is the first to change the result: {self.difference} {tried}\n"
            f"made by {self.rule}{promise}\n{self.rewrite}\n"
            f'without it: mode.excluding("{self.rule}")' + (f"\n{states}" if not self.rewrite.body else "")
        )

    __repr__ = __str__


def bisect(f: Function, inputs: Sequence[Any], exact: bool = False, reduce: bool = True) -> Verdict:
    """The first rewrite of `f` that changes its results for these inputs, found by halving.

    Of a fault the verdict has a reproducer: a script on as few nodes, as short axes and as plain numbers as show it.

    Args:
        f: a compiled function.
        inputs: its arguments, in order.
        exact: whether every change of a bit counts; otherwise differences of up to 2048 ulp of the largest value are
            rounding.
        reduce: whether to look for the reproducer, which may take 20 seconds.

    Raises:
        TypeError, ValueError: `f` is no compiled function, or the inputs do not fit it.
    """
    if not hasattr(f, "unoptimized_graph"):
        raise TypeError(f"bisect: f is {f!r}; expected a function of ag.function")
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"bisect: inputs is {type(inputs).__name__}; expected a list of the arguments, in order")
    arrays = f.arrays(inputs)
    f = for_lengths_of(f, arrays)
    verdict, states = _searched(f, arrays, exact)
    if verdict.fault != "rewrite":
        backend = _backend_difference(f, arrays, states)
        verdict = replace(verdict, fault="backend", difference=backend) if backend else verdict
    return with_reproducer(f, arrays, verdict, exact) if reduce else verdict


def with_reproducer(f: Function, arrays: Sequence[np.ndarray], verdict: Verdict, exact: bool = False) -> Verdict:
    """The verdict with the smallest graph that shows its fault; as it is if there is no fault, or none found."""
    return replace(verdict, reproducer=later.reducing.failure_of(f, arrays, verdict, exact))


def first_fault(f: Function, arrays: Sequence[np.ndarray]) -> Verdict:
    """The first rewrite of `f` that changes its results for the values of its inputs and shared variables.

    The compiled function is not run: a verdict without fault means that the graph is right.
    """
    return _searched(for_lengths_of(f, arrays), arrays, False)[0]


def _searched(f: Function, arrays: Sequence[np.ndarray], exact: bool) -> tuple[Verdict, _States]:
    """The verdict on the rewrites of `f`, and the states that were evaluated for it."""
    trace = f.trace
    states = _States(trace.graph, arrays, f.unoptimized_graph, exact)
    wrong = states.difference(len(trace.journal))
    if not wrong:
        return Verdict("none", None, "", "", states.evaluations), states
    bad, wrong = _first_wrong(states, len(trace.journal), wrong)
    rewrite = trace.every[bad - 1]
    group = [e for e in trace.journal if e.inside and e.rule == rewrite.rule and e.index < bad]
    if group:
        rewrite, wrong = _searched_inside(trace, group[-1], states, wrong) or (rewrite, wrong)
    return Verdict("rewrite", rewrite, wrong, _contract(rewrite.rule), states.evaluations), states


def _first_wrong(states: _States, bad: int, wrong: str) -> tuple[int, str]:
    """The first position whose results differ, and how; they do at `bad`, and not at 0."""
    good = 0
    while bad - good > 1:
        middle = (good + bad) // 2
        difference = states.difference(middle)
        if difference:
            bad, wrong = middle, difference
        else:
            good = middle
    return bad, wrong


def _searched_inside(trace: Trace, entry: Replacement, states: _States, wrong: str) -> tuple[Rewrite, str] | None:
    """The first wrong rewrite of the bodies that an entry puts in place, and how results differ; None if no one is."""
    before = trace.graph(entry.index)
    changes = [change for run in entry.inside for change in run.changes()]

    def after(count: int) -> FunctionGraph:
        budget = Budget(count)
        return with_bodies(before, lambda body: _body_after(entry.inside, body, budget))

    inner = _States(after, states.arrays, before, states.exact)
    inner.expected = states.expected
    found = inner.difference(len(changes)) and _first_wrong(inner, len(changes), wrong)
    states.evaluations += inner.evaluations
    if not found:
        return None
    run, change = changes[found[0] - 1]
    return later.trace.Trace(run.before, run.journal, run.profile, run.title).every[change.index], found[1]


def _body_after(runs: Sequence[InnerRun], body: FunctionGraph, budget: Budget) -> FunctionGraph:
    """A body after as many changes as the budget has left."""
    return next((run.again(budget) for run in runs if run.before == body), body)


class _States:
    """The states of a rewriting, compared with the first of them; `evaluations` are counted."""

    def __init__(self, graph_at: Any, arrays: Sequence[np.ndarray], start: FunctionGraph, exact: bool) -> None:
        self.graph_at, self.arrays, self.exact = graph_at, arrays, exact
        self.evaluations = 0
        self.expected = _results(start, arrays)

    def difference(self, position: int) -> str:
        """The difference of the results after `position` rewrites, as text; empty if there is none."""
        self.evaluations += 1
        return self.compared(_results(self.graph_at(position), self.arrays))

    def compared(self, got: Sequence[np.ndarray] | Exception) -> str:
        """The differences from the expected results, as text."""
        expected = self.expected
        if isinstance(got, Exception) or isinstance(expected, Exception):
            same = type(got) is type(expected)
            return "" if same else f"{_shown(got)} instead of {_shown(expected)}"
        for k, (mine, theirs) in enumerate(zip(got, expected, strict=False)):
            found = _difference(mine, theirs, self.exact)
            if found:
                return f"output {k}: {found}"
        return ""


def _results(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | Exception:
    with warnings.catch_warnings(), np.errstate(all="ignore"), unwatched():
        warnings.simplefilter("ignore")
        try:
            return [np.array(r) for r in interpret(graph, [a.copy() for a in arrays])]
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:
            return error


def _shown(result: Any) -> str:
    return f"{type(result).__name__}: {str(result).splitlines()[0]}" if isinstance(result, Exception) else "a result"


def _difference(got: np.ndarray, expected: np.ndarray, exact: bool) -> str:
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "biu" or exact:
        wrong = got.view(f"V{got.itemsize}") != expected.view(f"V{got.itemsize}") if exact else got != expected
    else:
        finite = np.abs(expected[np.isfinite(expected)])
        eps = float(np.finfo(expected.dtype).eps)
        scale = float(finite.max()) if finite.size else 0.0
        wrong = ~np.isclose(got, expected, rtol=ULPS * eps, atol=ULPS * eps * scale, equal_nan=True)
    return reported(got, expected, wrong) if np.any(wrong) else ""


def reported(got: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> str:
    """The number of wrong elements, and the first of them with its values."""
    at = np.unravel_index(int(np.argmax(wrong)), got.shape)
    place = f"[{', '.join(map(str, at))}]" if got.ndim else ""
    elements = counted(got.size, "element")
    return f"{int(np.sum(wrong))} of {elements}, {got[at]} instead of {expected[at]} at {place or 'its value'}"


def _backend_difference(f: Function, arrays: Sequence[np.ndarray], states: _States) -> str:
    """Return how the compiled function itself differs; empty if it does not.  Shared variables keep their values."""
    if f.backend == "numpy":  # the graph itself, as it was evaluated
        return ""
    kept = [shared.get_value() for shared in f.shared]
    try:
        results = f.results(*(a.copy() for a in arrays[: len(arrays) - len(kept)]))
        updates = dict(f.unoptimized_graph.updates)
        first = len(arrays) - len(kept)
        results += [f.shared[i - first].get_value() for i in sorted(updates, key=updates.__getitem__)]
        return states.compared(results)
    except (ArithmeticError, IndexError, TypeError, ValueError) as error:
        return states.compared(error)
    finally:
        for shared, value in zip(f.shared, kept, strict=True):
            shared.set_value(value)


def graphs_differ(graph: FunctionGraph, after: FunctionGraph, arrays: Sequence[np.ndarray], exact: bool) -> str:
    """How the results of a graph differ from those of another over the same inputs; empty if they do not."""
    return _States(lambda position: after, arrays, graph, exact).difference(0)


def function_differs(f: Function, graph: FunctionGraph, arrays: Sequence[np.ndarray], exact: bool) -> str:
    """How the results of compiled code differ from those of the graph; empty if they do not."""
    return _backend_difference(f, arrays, _States(None, arrays, graph, exact))


def every_value(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> dict[Variable, np.ndarray]:
    """The values of all variables of a graph that can be computed for these arrays."""
    known: dict[Variable, Any] = dict(zip(graph.inputs, arrays, strict=True))
    with warnings.catch_warnings(), np.errstate(all="ignore"), unwatched():
        warnings.simplefilter("ignore")
        for node in graph.order:
            if all(isinstance(i, Constant) or i in known for i in node.inputs):
                inputs = [i.data.copy() if isinstance(i, Constant) else known[i].copy() for i in node.inputs]
                try:
                    known.update(zip(node.outputs, map(np.array, evaluate_node(node, inputs)), strict=True))
                except (ArithmeticError, IndexError, TypeError, ValueError):
                    continue
    return known


def _contract(rule: str) -> str:
    """The numerics contract of a rule of the database; empty if it has none, or is not there."""
    contract = getattr(optdb[rule], "contract", None) if rule in optdb else None
    return str(contract) if contract is not None else ""


def beyond_rounding(got: np.ndarray, expected: np.ndarray) -> str:
    """How a result differs from the expected one by more than rounding; empty if it does not."""
    tolerance = 0.0 if expected.dtype.kind in "biu" else ULPS * float(np.finfo(expected.dtype).eps)
    same = got.shape == expected.shape and np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if got.dtype == expected.dtype and same:
        return ""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    wrong = ~np.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return reported(got, expected, wrong)
