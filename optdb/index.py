"""Which rules a node may be offered to, by its op and by what computes its operands.

A graph has few such neighbourhoods and those of one program are much alike, so answers are kept from run to run: on a
training step of 50 nodes asking the rules took a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..graph import Neighbourhood, Op
from .rule import OpKey, Rule

Places = tuple[int, ...]
"""Rules by their places in the order in which they are tried."""

Failed = Callable[[Rule, Op, Exception], None]
"""Told of a rule that raised when it was asked."""

MOST_KEPT = 20_000
"""Answers that are kept; ops with parameters of their own could else fill the memory of a long program."""


class RuleIndex:
    """The places of `rules` by what they may match."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.looks_at_users: bool = any(rule.uses for rule in rules)
        self._by_key = _by_key(rules)
        self._by_op: dict[Op, Places] = {}
        self._by_neighbourhood: dict[Neighbourhood, tuple[Places, Places]] = {}

    def of_op(self, op: Op) -> Places:
        """The rules that name the op or a class of it, or no op at all."""
        found = self._by_op.get(op)
        if found is None:
            found = tuple(sorted({p for key in (None, op, *type(op).__mro__) for p in self._by_key.get(key, ())}))
            if len(self._by_op) < MOST_KEPT:
                self._by_op[op] = found
        return found

    def of_neighbourhood(self, around: Neighbourhood, failed: Failed) -> tuple[Places, Places]:
        """The rules that may match a node that looks so: those that look upwards, those that look at users.

        What a rule that raised would have said is not kept: `failed` hears of it in each run.
        """
        found = self._by_neighbourhood.get(around)
        if found is not None:
            return found
        fitting, sound = [], True
        for place in self.of_op(around.op):
            rule = self.rules[place]
            try:
                if rule.may_match(around.op, around.heads):
                    fitting.append(place)
            except MemoryError:  # no fault of the rule
                raise
            except Exception as error:  # a rule may be anybody's
                sound = False
                failed(rule, around.op, error)
        upwards = tuple(place for place in fitting if not self.rules[place].uses)
        found = upwards, tuple(place for place in fitting if self.rules[place].uses)
        if sound and len(self._by_neighbourhood) < MOST_KEPT:
            self._by_neighbourhood[around] = found
        return found


@lru_cache(maxsize=256)
def rule_index(rules: tuple[Rule, ...]) -> RuleIndex:
    """The index of these rules: one for all runs."""
    return RuleIndex(rules)


def _by_key(rules: tuple[Rule, ...]) -> dict[OpKey | None, list[int]]:
    """The places of the rules by the ops and classes of ops that they name; those that name none stand under None."""
    places: dict[OpKey | None, list[int]] = {}
    for place, rule in enumerate(rules):
        for key in rule.ops or (None,):
            places.setdefault(key, []).append(place)
    return places
