"""Proofs of rules: right ones are proved, planted wrong ones never are, and the verdicts on file are well-formed."""

import pytest

pytest.importorskip("z3")

from prove import functions, page
from prove.verdicts import RULES, TESTED, counted, load, stale, verdict_on
from prove.wrong_rules import WRONG

from arignote.proving.check import BOUNDED, PROVED, REFUTED

pytestmark = pytest.mark.usefixtures("on_wide_target")

SOON = {
    "local_neg_neg": PROVED, "local_not_lt": PROVED, "local_mul_neg_neg": PROVED, "local_log1p": PROVED,
    "local_exp_of_log": PROVED, "local_mod_by_power_of_two": PROVED, "local_switch_of_not": PROVED,
    "local_pow_half": PROVED, "local_conj_of_conj": PROVED, "local_quantize_of_dequantize": PROVED,
    "local_sum_of_neg": BOUNDED, "local_join_1": BOUNDED,
}  # fmt: skip
"""A rule of each kind: signs, order, powers of two, logarithms, choices, complex numbers, bytes, sums, arrays."""
SECONDS = 5.0
FEWEST = 200
"""Rules that must be proved or bounded in the file."""


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "wanted"), SOON.items())
def test_a_rule_is_proved(name, wanted):
    found = verdict_on(RULES[name], SECONDS, most=8)
    assert found.verdict in (wanted, PROVED), found
    assert found.theory and found.instances, found


@pytest.mark.few(10)
@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.name)
def test_a_wrong_rule_is_refuted(rule):
    found = verdict_on(rule, SECONDS)
    assert found.verdict == REFUTED and found.reason, found


def test_the_verdicts_on_file_are_complete_and_refute_nothing():
    known = load()
    count = counted(known.values())
    assert not [name for name, v in known.items() if v.verdict == REFUTED]
    assert count[PROVED] + count[BOUNDED] >= FEWEST, count
    for v in known.values():
        assert v.reason if v.verdict in (TESTED, REFUTED) else v.theory and v.instances, v


def test_the_page_says_what_the_file_does():
    text = page.PAGE.read_text(encoding="utf-8")
    known = load()
    assert page.table(known) in text, "run `python -m tests.prove --page`"
    assert functions.page(functions.load()) in text, "run `python -m tests.prove --page`"


@pytest.mark.long
def test_no_rule_that_changed_is_refuted():
    """Rules without a verdict of their present text, and each twentieth; `python -m tests.prove` proves all.

    Which rules are proved in a second depends on the machine; a counterexample is one everywhere.
    """
    names = dict.fromkeys([*stale(load()), *list(RULES)[::20]])
    refuted = [found for found in (verdict_on(RULES[name], 1.0) for name in names) if found.verdict == REFUTED]
    assert not refuted
