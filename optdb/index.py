"""Rule index: the rules that may match a node, looked up by its match key (the op and the ops of its operands).

The graphs of one program share most match keys, so answers are kept from run to run: on a training step of 50 nodes
asking the rules took a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..graph import FunctionGraph, MatchKey, Op
from ..profiling import RuleProfile
from .rule import OpKey, Rule

Places = tuple[int, ...]
"""Positions of rules in the order in which they are tried."""

Failed = Callable[[Rule, Op, Exception], None]
"""Callback for a rule that raised when it was asked."""

MOST_KEPT = 20_000
"""Limit of cached answers; ops with parameters of their own could otherwise fill the memory of a long program."""


class RuleIndex:
    """The positions of `rules`, by op and by match key."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.looks_at_users: bool = any(rule.uses for rule in rules)
        self.needed: frozenset[Op] = frozenset(op for rule in rules for op in rule.needs)
        """Ops that some rule requires in a graph."""
        self.untried: tuple[RuleProfile, ...] = tuple(RuleProfile(rule.name) for rule in rules)
        """The rows of the rules in the profile of a run that tried none of them."""
        self._by_key = _by_key(rules)
        self._by_op: dict[Op, Places] = {}
        self._by_match_key: dict[MatchKey, tuple[Places, Places]] = {}
        self.idle: set[MatchKey] = set()
        """The keys that were found to select no rule, in whatever graph."""

    def of_op(self, op: Op) -> Places:
        """The rules that name the op or a class of it, or no op at all."""
        found = self._by_op.get(op)
        if found is None:
            found = tuple(sorted({p for key in (None, op, *type(op).__mro__) for p in self._by_key.get(key, ())}))
            if len(self._by_op) < MOST_KEPT:
                self._by_op[op] = found
        return found

    def is_idle(self, graph: FunctionGraph) -> bool:
        """Return whether it is known already that no rule may match a node of the graph."""
        return self.idle.issuperset(graph.kinds)

    def of_match_key(self, key: MatchKey, failed: Failed) -> tuple[Places, Places]:
        """The rules that may match nodes with this key: rules that look at operands, and rules that look at users.

        No answer is cached if a rule raised: `failed` is called again in each run.
        """
        found = self._by_match_key.get(key)
        if found is not None:
            return found
        fitting, sound = [], True
        for place in self.of_op(key.op):
            rule = self.rules[place]
            try:
                if rule.may_match(key.op, key.heads):
                    fitting.append(place)
            except MemoryError:  # no fault of the rule
                raise
            except Exception as error:  # a rule may be anybody's
                sound = False
                failed(rule, key.op, error)
        upwards = tuple(place for place in fitting if not self.rules[place].uses)
        found = upwards, tuple(place for place in fitting if self.rules[place].uses)
        if sound and len(self._by_match_key) < MOST_KEPT:
            self._by_match_key[key] = found
            if not fitting:
                self.idle.add(key)
        return found


@lru_cache(maxsize=256)
def rule_index(rules: tuple[Rule, ...]) -> RuleIndex:
    """The index of these rules: one for all runs."""
    return RuleIndex(rules)


def _by_key(rules: tuple[Rule, ...]) -> dict[OpKey | None, list[int]]:
    """The positions of the rules by the ops and classes of ops that they name; None for rules that name no op."""
    places: dict[OpKey | None, list[int]] = {}
    for place, rule in enumerate(rules):
        for key in rule.ops or (None,):
            places.setdefault(key, []).append(place)
    return places
