"""Every rule lowers a measure whenever it fires, or stands on a short list of those that refuse what they made."""

import pytest
import termination as by
from rewriting import graph_of, normalized, rewritten
from rule_trials import EXAMPLES, ON_NUMBERS, RULES

pytestmark = pytest.mark.usefixtures("on_wide_target")

GONE, INWARDS, OUTWARDS = (
    {rule: op for op, rules in table.items() for rule in rules} for table in (by.GONE, by.INWARDS, by.OUTWARDS)
)


@pytest.mark.parametrize("name", ON_NUMBERS)
def test_each_firing_lowers_the_measure_of_the_rule(name):
    for example in EXAMPLES[name]:
        before = graph_of(example)
        after = rewritten(before, RULES[name])
        if name in GONE:
            assert by.count(after, GONE[name]) < by.count(before, GONE[name])
        elif name in INWARDS:
            assert by.below(after, INWARDS[name]) < by.below(before, INWARDS[name])
        elif name in OUTWARDS:
            assert by.above(after, OUTWARDS[name]) < by.above(before, OUTWARDS[name])
        elif name in by.THINNER:
            assert by.operand_axes(after) < by.operand_axes(before)
        elif name in by.FLATTER:
            assert by.axes(after) < by.axes(before)
        elif name in by.NARROWER:
            assert by.positions(after) < by.positions(before)
        elif name in by.ROUNDED:
            assert by.unrounded(after) < by.unrounded(before)
        elif name in by.JOINED:
            assert by.stacked(after) < by.stacked(before)
        elif name in by.THROUGH_VIEWS:
            assert by.through_views(after) < by.through_views(before)
        elif name in by.SHIFTED:
            assert by.unshifted(after) < by.unshifted(before)
        elif name in by.MULTIPLIED:
            assert by.exponentials(after) < by.exponentials(before)
        elif name not in by.GUARDED:
            assert by.size(after) < by.size(before), f"{RULES[name]}: {by.size(before)} became {by.size(after)}"
        rest = normalized(before, [RULES[name]])
        assert rewritten(rest, RULES[name]) == rest, f"{RULES[name]} takes what it made"


def test_the_lists_are_short_and_of_rules_that_need_them():
    listed = [*GONE, *INWARDS, *OUTWARDS, *by.THINNER, *by.FLATTER, *by.NARROWER, *by.ROUNDED, *by.JOINED, *by.SHIFTED,
              *by.THROUGH_VIEWS, *by.GUARDED]  # fmt: skip
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(RULES)
    assert len(by.GUARDED) <= 10
    for name in listed:
        falls = []
        for example in EXAMPLES[name]:
            before = graph_of(example)
            falls.append(by.size(rewritten(before, RULES[name])) < by.size(before))
        assert not all(falls), f"{name} makes graphs smaller, and need not be listed"
