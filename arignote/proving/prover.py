"""The prover of journals: instances of each rewrite, from the smallest part on, until one is proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..database import optdb
from ..graph import FunctionGraph, GraphEditor, Replacement
from ..graph.ordering import InconsistencyError
from ..ops.control.laziness import with_bodies
from ..ops.lowered.assumed import BrokenAssumption
from ..optdb import Contract, Rule, TopoOptimizer, exact
from ..optdb.rules.conforming import TensorConform
from ..record.spelling import counted
from .check import NEVER, Clock, Found, check
from .claims import Claim, Instance, judged, outcome
from .draws import abstracted, unrunnable
from .expansion import same_ops
from .lengths import shapes_of
from .memory import violations
from .proof import BOUNDED, PROVED, REFUTED, TESTED, StepProof
from .steps import End, Step, opened, parts_of
from .values import trial

DRAWS = 12
"""Sets of arrays on which a rewrite without proof is evaluated."""


class Prover:
    """Proofs of many rewrites; equal ones are proved once."""

    def __init__(self, seconds: float, own: Sequence[Any] = ()) -> None:
        self.seconds = seconds
        self._own = {getattr(what, "name", ""): what for what in own}
        """Rules of the mode, which no database has."""
        self._entries: dict[str, Any] = {}
        """Rules and optimizers by name, once one is asked for."""
        self._known: dict[Any, Found] = {}

    def journal(
        self, graph: FunctionGraph, journal: Sequence[Replacement], result: FunctionGraph
    ) -> Iterator[StepProof]:
        """Yield the results for a journal and for those of the bodies inside, and for the memory of the last graph."""
        for part in parts_of(graph, journal, result):
            yield from self.part(part)

    def part(self, part: Step | End) -> Iterator[StepProof]:
        """Yield the results for a step, or for the end of a journal."""
        if isinstance(part, End):
            yield from _ends(part)
        else:
            yield _result(part, self.step(part), self.contract_of(part.rule))

    def step(self, step: Step) -> Found:
        """The result for one step."""
        found = settled(step)
        if found is not None:
            return found
        first = step.instances[0]
        key = (step.rule, first, tuple(i.type for i in first.before.inputs), len(step.instances), step.instances[-1])
        if key not in self._known:
            self._known[key] = self._searched(step)
        return self._known[key]

    def _entry(self, name: str) -> Any:
        """The rule or optimizer of this name; None if there is none."""
        if not self._entries:
            self._entries = {entry.name: entry.object for entry in optdb.entries()} | self._own
        return self._entries.get(name)

    def contract_of(self, name: str) -> Contract:
        """The contract of a rule or an optimizer; that of equal bits if it states none."""
        return getattr(self._entry(name), "contract", None) or exact

    def _is_made(self, name: str, instance: Instance) -> bool:
        """Whether the rule makes the replacement of the part alone, for any values of its inputs."""
        rule = self._entry(name)
        if not isinstance(rule, Rule):
            return False
        result, _ = TopoOptimizer(rules=(rule,), conform=TensorConform())(instance.before, GraphEditor())
        return result == instance.after

    def _searched(self, step: Step) -> Found:
        """The result of the first instance that is proved; else of evaluations."""
        if any(map(same_ops, step.instances)):
            return Found(PROVED, {"the same ops on the same operands"})
        claim = Claim(self.contract_of(step.rule), judged)
        clock = Clock(self.seconds)
        reason = ""
        instances = list(map(abstracted, _every(step)))
        runnable = [n for n, instance in enumerate(instances) if not unrunnable(instance)]
        if not runnable:
            return Found(TESTED, reason=unrunnable(instances[0]))
        for n in runnable:
            if n > runnable[0] and clock.over:
                break
            instance = instances[n]
            found = check(claim, instance, clock)
            if found.status in (PROVED, BOUNDED):
                if n >= len(step.instances):
                    found.status = BOUNDED
                    found.bounds.add("small lengths in the place of the known ones")
                return found
            if found.status == REFUTED and (
                self._is_made(step.rule, instance) or (step.whole and instance == step.instances[-1])
            ):
                return Found(REFUTED, reason=f"{found.reason}\n{instance.before}\nbecomes\n{instance.after}")
            if found.status == REFUTED:
                reason = reason or "a difference, for values that the graph may not reach"
            elif found.status != NEVER:
                reason = found.reason if not reason or reason == "time" else reason
        ends = (instances[runnable[0]], instances[runnable[-1]])
        return _evaluated(step, claim, reason or "no lengths at which the part runs", self.seconds, ends)


def _every(step: Step) -> Iterator[Instance]:
    """The instances of a step, and those with long known lengths left open."""
    yield from step.instances
    for instance in step.instances[:2]:
        other = opened(instance)
        if other is not None:
            yield other


def settled(step: Step) -> Found | None:
    """The result of a step that needs no solver: it exchanges no value, or does nothing but to put bodies in place."""
    if not step.instances:
        return Found(PROVED, {"equal values"})
    return _by_bodies(step) if step.runs else None


def _by_bodies(step: Step) -> Found | None:
    """Proved by the steps of bodies, if the step does nothing but to put them in place."""
    after = {run.before: run.after for run in step.runs}
    first = step.instances[-1]
    if with_bodies(first.before, lambda body: after.get(body, body)) != first.after:
        return None
    return Found(PROVED, {"the steps of its bodies"})


def _evaluated(step: Step, claim: Claim, reason: str, seconds: float, instances: Sequence[Instance]) -> Found:
    """The result of evaluations on drawn arrays: of the whole part where a difference is to be found."""
    rng, clock = np.random.default_rng(0), Clock(seconds)
    runs = 0
    for instance in instances:
        for shapes in shapes_of(instance.before, lambda: clock.over):
            for _ in range(3):
                arrays = [_drawn(rng, v.dtype, s) for v, s in zip(instance.before.inputs, shapes, strict=True)]
                want, got = outcome(instance.before, arrays), outcome(instance.after, arrays)
                if isinstance(want, Exception) or isinstance(got, BrokenAssumption):
                    continue
                wrong = (
                    str(got) if isinstance(got, Exception) else claim.judge(claim.contract, instance, arrays, want, got)
                )
                if wrong and step.whole and instance == step.instances[-1]:
                    return Found(REFUTED, reason=f"{wrong} for {[a.tolist() for a in arrays]}")
                runs += not wrong
            if runs >= DRAWS or clock.over:
                break
    return Found(TESTED, reason=f"{reason}; {counted(runs, 'evaluation')} on drawn values agree")


def _drawn(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Small numbers; integers that may be indices."""
    made = trial(dtype, shape)
    if made.dtype.kind in "iu":
        return rng.integers(0, 3, made.shape).astype(dtype)
    if made.dtype.kind in "fc":
        return np.asarray(made + rng.standard_normal(made.shape) / 8, dtype=dtype)
    return rng.integers(0, 2, made.shape).astype(dtype)


def _ends(end: End) -> Iterator[StepProof]:
    """The results for the graph at the end: whether it is the one that runs, and what it overwrites."""
    place = f"end of {end.inside}" if end.inside else "end"
    if _plain(end.last) != _plain(end.result):
        yield StepProof(place, "the journal", "exact", TESTED, "the last state", "the optimized graph",
                        reason="the journal does not lead to the graph that runs")  # fmt: skip
    if not end.in_place:
        return
    try:
        found = next(violations(end.result, end.private), "")
    except InconsistencyError as error:
        found = str(error)
    yield StepProof(
        place, end.in_place, "exact", REFUTED if found else PROVED, "values that are overwritten", "their readers",
        "order of reads and writes", reason=found,
    )  # fmt: skip


def _plain(graph: FunctionGraph) -> FunctionGraph:
    """The graph without its updates."""
    return FunctionGraph(graph.inputs, graph.outputs) if graph.updates else graph


def _result(step: Step, found: Found, contract: Contract) -> StepProof:
    return StepProof(
        step.place, step.rule, str(contract), found.status, step.before, step.after,
        ", ".join(sorted(found.theory)), tuple(sorted(found.bounds)), tuple(sorted(found.facts)), found.reason,
    )  # fmt: skip
