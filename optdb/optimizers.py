"""Optimizers: callables from a graph to an equivalent graph and a profile.

    optimizer(graph, editor=None) -> (graph, profile)

SeqOptimizer runs others in order; TopoOptimizer walks once; MergeOptimizer makes equal nodes one; FromFunctionOptimizer
wraps a function; EquilibriumOptimizer has a file of its own.  Optimizers are frozen dataclasses whose fields are their
options.  The result keeps the inputs of the graph, and the number and types of its outputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, TypeVar

from ..graph import FunctionGraph, GraphEditor, InconsistencyError, execution_order, gc_paused
from ..profiling import MergeProfile, OptimizerProfile, SeqProfile, TopoProfile
from ..record import record, replaced
from ..record.clock import processor_clock
from ..record.spelling import counted
from ..record.stages import in_turn
from .applier import Applier, Divergence, Failures, RuleError, endless
from .conform import Conform
from .contract import Contract, exact
from .index import rule_index
from .rule import Rule
from .sweep import MERGE, Sweep
from .top_down import TopDownWalk

Result = tuple[FunctionGraph, OptimizerProfile]
Self = TypeVar("Self", bound="Optimizer")


@record(kw_only=True)
class Optimizer:
    """Base class: a subclass implements `optimize`; `__call__` does the shared accounting.

    `strict`: rules and members that fail raise at once instead of being left out with a warning.
    """

    contract: ClassVar[Contract | None] = None
    """Numerics contract of the optimizer, if declared."""
    in_bodies: ClassVar[bool] = True
    """Whether it optimizes inner graphs of loops and branches by themselves, too."""

    name: str = ""
    strict: bool = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        """Optimize the graph; return it and a profile with the fields of this class.

        Every change passes `editor`: `graph.replace(pairs, by, editor)`, or `editor.admit` then `graph.substituted`.
        """
        raise NotImplementedError(f"{type(self).__name__}.optimize")

    def __call__(self, graph: FunctionGraph, editor: GraphEditor | None = None) -> Result:
        """The optimized graph and its profile; `editor` keeps the journal and asks the watcher.

        Raises TypeError if the optimizer gives a graph of other inputs, or of outputs of other types.
        """
        editor = GraphEditor() if editor is None else editor
        entries, validate, callback = len(editor.journal), editor.validate_time, editor.callback_time
        clock = processor_clock()
        start, waited = clock.read(), clock.waited
        with gc_paused:
            result, profile = self.optimize(graph, editor)
        elapsed = clock.read() - start
        if result is not graph:
            self._check(graph, result)
        return result, replaced(
            profile,
            name=self.name or type(self).__name__,
            optimizer=type(self).__name__,
            time=profile.time if profile.adds_up else elapsed,
            waiting=clock.waited - waited,
            validate_time=editor.validate_time - validate,
            callback_time=editor.callback_time - callback,
            nodes_before=len(graph),
            nodes_after=len(result),
            replacements=len(editor.journal) - entries,
            nodes_created=0 if result is graph else len(result.nodes - graph.nodes),
        )

    def among(self: Self, members: tuple[Optimizer, ...]) -> Self:
        """Return the optimizer as a member of a sequence; one for inner graphs runs the other `members` on them."""
        return self

    def _check(self, graph: FunctionGraph, result: FunctionGraph) -> None:
        if not isinstance(result, FunctionGraph):
            raise TypeError(f"{self.name or type(self).__name__} gave {result!r}; expected a FunctionGraph")
        if result.inputs != graph.inputs:
            raise TypeError(f"{self.name or type(self).__name__} changed the inputs of the graph")
        if len(result.outputs) != len(graph.outputs):
            counts = f"{len(graph.outputs)} to {len(result.outputs)}"
            raise TypeError(f"{self.name or type(self).__name__} changed the number of outputs from {counts}")
        pairs = zip([o.type for o in result.outputs], [o.type for o in graph.outputs])
        for k, new, old in [(k, new, old) for k, (new, old) in enumerate(pairs) if new is not old]:
            if not new.refines(old):
                raise TypeError(f"{self.name or type(self).__name__} changed output {k} from {old} to {new}")

    def named(self: Self, name: str) -> Self:
        """The same optimizer under another name."""
        return self if self.name == name else replace(self, name=name)


@record(kw_only=True, repr=False)
class SeqOptimizer(Optimizer):
    """Optimizers in sequence.  A failing one is skipped with a warning, and its entry says so."""

    optimizers: tuple[Optimizer, ...] = ()

    def __repr__(self) -> str:
        """The name and the number of members: all fields of all members would be 120,000 characters."""
        return f"<{type(self).__name__} {self.name!r}: {counted(len(self.optimizers), 'optimizer')} in sequence>"

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        failures = Failures(self.strict)
        children: list[OptimizerProfile] = []
        with in_turn() as report:
            for number, member in enumerate(self.optimizers, start=1):
                report(f"optimizing: {member.name or type(member).__name__}", number, len(self.optimizers))
                graph, profile = attempted(member, graph, editor, failures)
                children.append(profile)
        total = sum(child.time for child in children)
        return graph, SeqProfile(time=total, children=tuple(children), failures=failures.all())


def attempted(member: Optimizer, graph: FunctionGraph, editor: GraphEditor, failures: Failures) -> Result:
    """Run `member`; if it raises, return the unchanged graph and an empty profile."""
    clock = processor_clock()
    start, waited = clock.read(), clock.waited
    try:
        return member(graph, editor)
    except (Divergence, RuleError, MemoryError):  # the process is out of memory, whichever member asked for it
        raise
    except Exception as error:  # members may be anybody's; one that fails must not cost the user his program
        name = member.name or type(member).__name__
        failures.record(name, repr(graph), error)
        elapsed = clock.read() - start
        size = len(graph)
        return graph, OptimizerProfile(
            name=name, optimizer=type(member).__name__, time=elapsed, waiting=clock.waited - waited,
            nodes_before=size, nodes_after=size,
        )  # fmt: skip


@record(kw_only=True)
class TopoOptimizer(Optimizer):
    """Rules tried in one walk over the graph, from the inputs on ("in_to_out") or from the outputs ("out_to_in").

    What a rule returns is visited in the same walk.
    """

    rules: tuple[Rule, ...]
    order: str = "in_to_out"
    conform: Conform | None = None

    def __post_init__(self) -> None:
        if self.order not in ("in_to_out", "out_to_in"):
            raise ValueError(f"order={self.order!r}; expected 'in_to_out' or 'out_to_in'")
        object.__setattr__(self, "rules", tuple(self.rules))

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        index = rule_index(self.rules)
        if index.is_idle(graph):
            return graph, TopoProfile(table=index.untried)
        failures = Failures(self.strict)
        applier = Applier(self.rules, editor, self.conform, failures)
        if not applier.busy(graph):
            return graph, TopoProfile(table=applier.rows(), failures=failures.all())
        entries, limit = len(editor.journal), node_limit(len(graph))
        inwards = self.order == "out_to_in"
        walk = TopDownWalk(applier, max_nodes=limit) if inwards else Sweep(applier, max_nodes=limit)
        clock = processor_clock()
        start = clock.read()
        result = walk.walk(graph)
        loop_time = clock.read() - start
        failures.limit(self.name or type(self).__name__, walk.stop)
        rule = None if walk.stop is None else endless(applier.tallies, failures)
        if rule is not None:
            del editor.journal[entries:]
            result, rest = replace(self, rules=tuple(r for r in self.rules if r is not rule)).optimize(graph, editor)
            return result, replace(rest, failures=(*failures.all(), *rest.failures))
        return result, TopoProfile(
            loop_time=loop_time,
            table=applier.rows(),
            failures=failures.all(),
            stop=walk.stop or "",
        )


@record(kw_only=True)
class MergeOptimizer(Optimizer):
    """Merges equal nodes: the same op on the same inputs, constants of the same dtype, shape and bits."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not graph.has_repeats:
            return graph, MergeProfile()
        entries = len(editor.journal)
        sweep = Sweep(Applier((), editor, None, Failures(self.strict)), merging=True, merge_name=self.name or MERGE)
        result = sweep.walk(graph)
        if result is not graph and not can_be_run(result):  # two values that are overwritten would be one
            del editor.journal[entries:]
            return graph, MergeProfile(nb_fail=sweep.refused_merges + sweep.merge.fired, replace_time=sweep.merge.time)
        return result, MergeProfile(
            nb_fail=sweep.refused_merges,
            nb_merged=sweep.merge.fired - sweep.merged_constants,
            nb_constant=sweep.merged_constants,
            replace_time=sweep.merge.time,
        )


def can_be_run(graph: FunctionGraph) -> bool:
    """Return whether a safe order of the nodes exists: no value is overwritten before its last reader."""
    try:
        execution_order(graph)
    except InconsistencyError:
        return False
    return True


@record(kw_only=True)
class FromFunctionOptimizer(Optimizer):
    """A function from a graph to a graph, or of (graph, editor) if it calls the editor itself.

    Without an editor its outputs pass through one, one by one, each under the name of the optimizer.
    """

    function: Callable[..., FunctionGraph]

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        takes_editor = len(inspect.signature(self.function).parameters) > 1
        result = self.function(graph, editor) if takes_editor else self.function(graph)
        if result is None:
            result = graph
        if takes_editor:
            return result, OptimizerProfile()
        if result == graph:
            return graph, OptimizerProfile()
        self._check(graph, result)
        name = self.name or getattr(self.function, "__name__", type(self).__name__)
        pairs = [(old, new) for old, new in zip(graph.outputs, result.outputs, strict=True) if old is not new]
        return (result if editor.admit_together(name, pairs) else graph), OptimizerProfile()


def node_limit(size: int) -> int:
    """The limit of new nodes for a graph of `size` nodes; above it a rule must be diverging."""
    return 10_000 + 20 * size
