"""Application of rules to one node: select them by match key, check their proposals, count their cost.

An idle rule must cost nothing: rules are found by op and by what computes the operands (index.py), and the answer is
kept for each such match key, of which a graph has few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from ..graph import (
    Apply,
    Constant,
    FunctionGraph,
    GraphEditor,
    MatchKey,
    Op,
    ReplacementRefused,
    Variable,
)
from ..profiling import Failure, RuleProfile
from ..record import lazy
from ..record.clock import ProcessorClock, processor_clock
from ..record.frames import warn
from ..record.spelling import counted
from .conform import Conform, conformed
from .index import Places, RuleIndex, rule_index
from .patterns import Users
from .rule import PatternRule, Proposal, Rule

traceback: Any = lazy.module("traceback")
Outputs = tuple[Union[Variable, None], ...]
"""Replacements of the outputs of a node; None keeps the output."""


class RuleError(RuntimeError):
    """A rule that raised, or proposed a value of another type than the one it replaces."""


class Divergence(RuntimeError):
    """Rules that undo one another; `rules` names them, the message shows the graph on which they cycle."""

    def __init__(self, message: str, rules: Sequence[str]) -> None:
        super().__init__(message)
        self.rules: tuple[str, ...] = tuple(rules)


class OptimizerWarning(UserWarning):
    """A rule or an optimizer failed or reached a limit; the graph is correct but not fully optimized."""


class Tally:
    """The running count of one rule."""

    created: int
    fired: int
    tried: int

    __slots__ = ("created", "fired", "first", "name", "rule", "time", "tried")

    def __init__(self, name: str, rule: Rule | None = None) -> None:
        self.name: str = name
        self.rule: Rule | None = rule
        self.first: Apply | None = None
        """The first node that it changed."""
        self.tried = self.fired = self.created = 0
        self.time: float = 0.0

    def row(self) -> RuleProfile:
        return RuleProfile(self.name, self.tried, self.fired, self.time, self.created)


class Failures:
    """Failures, once for each rule; a warning the first time, an error at once if `strict`."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self._found: dict[str, Failure] = {}

    def record(self, rule: str, node: str, error: Exception) -> None:
        if self.strict and isinstance(error, Divergence):
            raise error
        if self.strict:
            raise RuleError(f"{rule} failed on {node}: {error}") from error
        known = self._found.get(rule)
        if known is not None:
            self._found[rule] = Failure(rule, known.node, known.error, known.count + 1)
            return
        text = "".join(traceback.format_exception(error))
        self._found[rule] = Failure(rule, node, text)
        notice = str(error) if isinstance(error, Divergence) else f"{rule} failed and was left out on {node}: {error}"
        warn(notice, OptimizerWarning)

    def limit(self, optimizer: str, reason: str | None) -> None:
        """Warn that the optimizer stopped at a limit, if it did."""
        if reason is not None:
            warn(f"{optimizer} stopped early: {reason}", OptimizerWarning)

    def all(self) -> tuple[Failure, ...]:
        return tuple(self._found.values())


class Firing(NamedTuple):
    """A change that the editor has accepted."""

    tally: Tally
    outputs: Outputs
    fresh: list[Apply]
    """The nodes that the rule made, inputs before users."""


def endless(tallies: Sequence[Tally], failures: Failures) -> Rule | None:
    """The rule that made most nodes after the limit of nodes was reached; recorded as a failure.

    None if no rule made half of them.
    """
    most = max(tallies, key=lambda tally: tally.created, default=None)
    if most is None or most.rule is None or 2 * most.created < sum(tally.created for tally in tallies):
        return None
    made = f"it made {most.created} new nodes in {counted(most.fired, 'step')}, from {most.first!r} on"
    text = f"{most.rule} does not terminate: {made}; it is left out"
    failures.record(most.name, repr(most.first), Divergence(text, (most.name,)))
    return most.rule


Offers = tuple[tuple[Tally, ...], tuple[Tally, ...]]
"""The rules for a node: those that look at its operands, and those that look at its users."""


class Applier:
    """Applies the rules of one optimizer.

    `known` and `inputs` belong to the walk: the nodes that it has seen (those of its graph first of all), and the
    inputs of its graph, on which alone the result of a rule may depend.
    """

    def __init__(self, rules: Iterable[Rule], editor: GraphEditor, conform: Conform | None, failures: Failures) -> None:
        self.index: RuleIndex = rule_index(tuple(rules))
        self._tallies: dict[int, Tally] = {}
        """The counts of the rules that a node has selected, by position."""
        self.editor = editor
        self.conform = conform
        self.failures = failures
        self.clock: ProcessorClock = processor_clock()
        self.known: set[Apply] = set()
        self.inputs: Collection[Variable] = ()
        self.looks_at_users: bool = self.index.looks_at_users
        self.offers: dict[MatchKey, Offers] = {}
        """Cache of `offers_to`."""
        self._absent = self.index.needed
        """Ops that some rule requires and that no graph has had yet; the rule is not tried until then."""

    @property
    def tallies(self) -> list[Tally]:
        """The counts of the rules that a node has selected, in the order in which they are tried."""
        return [self._tallies[place] for place in sorted(self._tallies)]

    def rows(self) -> tuple[RuleProfile, ...]:
        """The rules in the profile of the run."""
        rows = [*self.index.untried]
        for place, tally in self._tallies.items():
            rows[place] = tally.row()
        return tuple(rows) if self._tallies else self.index.untried

    def fired(self) -> dict[str, int]:
        """The rules that have fired, with their counts."""
        return {tally.name: tally.fired for tally in self.tallies if tally.fired}

    def busy(self, graph: FunctionGraph) -> set[MatchKey]:
        """The match keys of the graph that select at least one rule."""
        self._meet(graph.ops)
        if self.index.is_idle(graph):
            return set()
        idle = self.index.idle
        return {key for key in graph.kinds if key not in idle and any(self.offers_to(key))}

    def _tally(self, place: int) -> Tally:
        """The count of the rule at this position."""
        found = self._tallies.get(place)
        if found is None:
            rule = self.index.rules[place]
            found = self._tallies[place] = Tally(rule.name, rule)
        return found

    def _meet(self, ops: Iterable[Op]) -> None:
        """Enable the rules that require these ops."""
        met = self._absent.intersection(ops) if self._absent else ()
        if met:
            self._absent = self._absent.difference(met)
            self.offers.clear()

    def offers_to(self, key: MatchKey) -> Offers:
        """The rules that may match nodes with this match key."""
        found = self.offers.get(key)
        if found is None:
            upwards, by_users = self.index.of_match_key(key, self._failed)
            found = self.offers[key] = self._able(upwards), self._able(by_users)
        return found

    def _able(self, places: Places) -> tuple[Tally, ...]:
        """The rules at these positions, without those that require an absent op."""
        if not places:
            return ()
        if self._absent:
            rules, absent = self.index.rules, self._absent
            places = tuple([p for p in places if not rules[p].needs or absent.isdisjoint(rules[p].needs)])
        return tuple(map(self._tally, places))

    def _failed(self, rule: Rule, op: Op, error: Exception) -> None:
        self.failures.record(rule.name, f"a node of {op}", error)

    def fire(self, node: Apply, tallies: Sequence[Tally], users: Users) -> Firing | None:
        """The change of the first rule that fires."""
        clock = self.clock
        now = clock.read()
        for tally in tallies:
            tally.tried += 1
            rule: Any = tally.rule
            try:
                proposal = rule.propose(node, users)
                change = None if proposal is None else self._taken(rule, node, users, proposal)
            except MemoryError:  # no fault of the rule
                raise
            except Exception as error:  # a rule may be anybody's; what it raises must not cost the user his program
                self.failures.record(rule.name, repr(node), error)
                change = None
            then = clock.read()
            tally.time += then - now
            now = then
            if change is not None:
                outputs, fresh = change
                if tally.first is None:
                    tally.first = node
                tally.fired += 1
                tally.created += len(fresh)
                return Firing(tally, outputs, fresh)
        return None

    def _taken(self, rule: Rule, node: Apply, users: Users, proposal: Proposal) -> tuple[Outputs, list[Apply]] | None:
        """Return the proposed change and the nodes made for it, if it fits and the editor accepts it."""
        outputs = self._fitted(rule, node, users, proposal)
        if outputs is None:
            return None
        fresh = fresh_nodes(outputs, self.known)
        self._refuse_strangers(outputs, fresh)
        admitted = self._admitted(rule, node, outputs)
        if admitted is None:
            return None
        self.known.update(fresh)
        self._meet([new.op for new in fresh])
        hand_on_names(node, admitted, fresh)
        return admitted, fresh

    def _fitted(self, rule: Rule, node: Apply, users: Users, proposal: Proposal) -> Outputs | None:
        """Conform the proposal to dtypes and shapes; None if it changes nothing or only loses known lengths."""
        if len(proposal.outputs) != len(node.outputs):
            raise ValueError(
                f"the rule gives {counted(len(proposal.outputs), 'value')} for {counted(len(node.outputs), 'output')}"
            )
        how = self.conform
        if how is not None and isinstance(rule, PatternRule) and not rule.lossy:
            dtype = node.outputs[0].type.dtype
            if any(how.wraps(value, dtype) for value in proposal.inner):
                return None  # an identity within one dtype does not hold across two
        outputs: list[Variable | None] = []
        changes = forgets = False
        for after, before in zip(proposal.outputs, node.outputs, strict=True):
            if after is None or after is before:
                outputs.append(None)
                continue
            if isinstance(after, Variable) and not rule.lossy:
                after = self._with_all_digits(rule, node, users, after, before)
            leaves, inner = proposal.leaves, proposal.inner
            new = conformed(after, before, leaves, inner, self.conform, rule.lossy, self.known)
            changes = changes or not _is_output_of(new, node, before.index)
            forgets = forgets or (new.type != before.type and new.type.forgets(before.type))
            outputs.append(new)
        return tuple(outputs) if changes and not forgets else None

    def _with_all_digits(
        self, rule: Rule, node: Apply, users: Users, after: Variable, before: Variable
    ) -> Variable:
        """The new value, computed in the dtype of the one that it replaces.

        Operands of another dtype are cast where the right side is a pattern.  Raises ReplacementRefused otherwise.
        """
        dtype, how = before.type.dtype, self.conform
        if after.owner is None or after.owner in self.known:
            return after
        narrower = how.computed_narrower(after, before, self.known) if how is not None else None
        if how is not None and narrower is not None:
            wider = rule.in_dtype(node, users, lambda v: v if v.type.dtype == dtype else how.cast(v, dtype))
            if wider is not None and how.computed_narrower(wider, before, self.known) is None:
                return wider
            fix = f"cast the operands to {dtype} in the rule, or define the rule with lossy=True, if that is meant"
            raise ReplacementRefused(f"{narrower!r} is computed as {narrower.type} for {before.type}; {fix}")
        if after.type.dtype != dtype:
            self._refuse_other_digits(after, before)
        return after

    def _refuse_other_digits(self, after: Variable, before: Variable) -> None:
        """Raise ReplacementRefused for a new value computed in a narrower dtype, or as 64-bit integers for floats.

        A cast afterwards would have the right type without the digits; NumPy's "safe" casts take int64 to float64,
        which does not hold all of them.  A value of the graph is what it is: widening it loses nothing that the node
        did not lose.
        """
        new, old = np.dtype(after.dtype), np.dtype(before.dtype)
        if new.kind == old.kind and new.itemsize < old.itemsize:
            raise ReplacementRefused(f"the result is computed as {after.type}; {before.type} holds more digits")
        if new.kind in "iu" and new.itemsize == 8 and old.kind in "fc":
            fix = f"cast it to {before.dtype} in the rule, or define the rule with lossy=True, if that is meant"
            raise ReplacementRefused(f"the result is computed as {after.type} for {before.type}; {fix}")

    def _refuse_strangers(self, outputs: Outputs, fresh: Sequence[Apply]) -> None:
        """Raise ValueError if a result depends on an input that is not one of the graph."""
        leaves = [i for node in fresh for i in node.inputs if i.owner is None]
        leaves += [o for o in outputs if o is not None and o.owner is None]
        for leaf in leaves:
            if not isinstance(leaf, Constant) and leaf not in self.inputs:
                name = leaf.name or "a new variable"
                raise ValueError(f"the result depends on {name} ({leaf.type}), which is no input of the graph")

    def _admitted(self, rule: Rule, node: Apply, outputs: Outputs) -> Outputs | None:
        admit, name = self.editor.admit, rule.name
        admitted = tuple(
            [o if o is not None and admit(name, old, o) else None for old, o in zip(node.outputs, outputs, strict=True)]
        )
        return None if all(o is None for o in admitted) else admitted


def node_key(node: Apply) -> tuple[Any, ...]:
    """A key that equal nodes share: the op and the inputs, constants by their bits."""
    return (node.op, *[i.key if isinstance(i, Constant) else i for i in node.inputs])


def fresh_nodes(outputs: Outputs, known: Collection[Apply]) -> list[Apply]:
    """Return the new nodes of a proposal, inputs before users."""
    if len(outputs) == 1 and outputs[0] is not None:  # most proposals are one new node on known values
        top = outputs[0].owner
        if top is None or top in known:
            return []
        if not [i for i in top.inputs if i.owner is not None and i.owner not in known]:
            return [top]
    order: list[Apply] = []
    entered: set[Apply] = set()
    stack = [(o.owner, False) for o in outputs if o is not None and o.owner is not None]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            order.append(node)
        elif node not in entered and node not in known:
            entered.add(node)
            stack.append((node, True))
            stack.extend((i.owner, False) for i in reversed(node.inputs) if i.owner is not None)
    return order


def hand_on_names(node: Apply, after: Outputs, fresh: Sequence[Apply]) -> None:
    """Copy the user's names of a node's outputs to their replacements."""
    for before, new in zip(node.outputs, after, strict=True):
        if before.name is not None and new is not None and new.name is None and new.owner in fresh:
            new.name = before.name


def _is_output_of(variable: Variable, node: Apply, index: int) -> bool:
    """Return whether the variable equals output `index` of the node: the same op on the same inputs."""
    made = variable.owner
    if made is None or variable.index != index or made.op != node.op:
        return False
    return made is node or node_key(made) == node_key(node)
