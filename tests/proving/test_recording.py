"""Recorded rewrites: equal ones are kept once, up to the names of inputs, and are proved from their pickles."""

from types import SimpleNamespace

import pytest

pytest.importorskip("z3")

from prove.ends import Checker, ends_of, wrong_ends
from prove.functions import BOUNDED, PROVED, REFUTED, TESTED, proved, run_tests
from prove.recording import UNNAMED, kept, noting, recording

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import mul
from arignote.optdb import rule
from arignote.optdb.patterns import wilds

X, Y = T.vector("x"), T.vector("y")
(x,) = wilds("x")


def test_equal_rewrites_are_kept_once_and_proved(tmp_path):
    with recording(tmp_path):
        ag.function([X], T.log(1 + T.exp(X)) * 1)
        ag.function([Y], T.log(1 + T.exp(Y)) * 1)
    found = kept(tmp_path)
    assert found.functions == 2 and sum(found.seen.values()) == 8 and len(found.parts) == 5  # the ends have names
    rules = [rule for rule, _ in found.parts.values()]
    assert rules.count("local_log1p") == rules.count("local_mul_by_one") == 1
    made = proved(found, 2.0, 40, 1)
    assert made["counts"]["functions"] == 2 and made["rules"]["local_log1p"]["rewrites"] == 2
    assert made["counts"][PROVED] + made["counts"][BOUNDED] == made["counts"]["distinct"] == len(found.parts), made


def test_rules_of_a_test_are_not_recorded(tmp_path):
    own = rule("planted", mul(x, 1.0), x)
    with recording(tmp_path):
        ag.function([X], X * 1.0, mode=ag.Mode("merge1").register((own, 5)))
    assert not kept(tmp_path).parts


def test_a_part_that_is_not_kept_is_counted_with_its_reason():
    from prove.recording import Kept

    found = Kept(1)
    found.parts["key"], found.seen["key"] = ("local_x", UNNAMED), 3
    made = proved(found, 1.0, 1, 1)
    assert made["rules"]["local_x"] == {
        "rewrites": 3, "distinct": 1, PROVED: 0, BOUNDED: 0, TESTED: 1, REFUTED: 0, "reason": UNNAMED,
    }  # fmt: skip


def test_a_journal_that_leads_elsewhere_is_noted_with_its_body(tmp_path):
    def step(e, s):
        return s + T.neg(T.neg(e)) * 1

    with noting(Checker(tmp_path).note):
        f = ag.function([X, Y], ag.scan(step, X, [T.log(1 + T.exp(Y))])[0])
    assert len(list(ends_of(f))) > 1 and not list(wrong_ends(f))
    (path,) = tmp_path.iterdir()
    assert path.suffix == ".functions" and path.read_text() == "."
    early = SimpleNamespace(unoptimized_graph=f.unoptimized_graph, journal=f.journal[:1], graph=f.graph)
    (wrong,) = (text for text in wrong_ends(early) if not text.startswith("body"))
    assert "leads to" in wrong and "but what runs is" in wrong
    Checker(tmp_path).note(early)
    assert wrong in next(tmp_path.glob("*.wrong")).read_text()


FILES = ["tests/function/test_function.py", "tests/ops/shapes/test_layouts.py", "tests/ops/control/test_scan.py"]


@pytest.mark.long
def test_no_rewrite_in_a_share_of_the_tests_is_refuted(tmp_path):
    """A few rewrites of each rule; `python -m tests.prove.functions tests` proves those of all tests."""
    run_tests(FILES, tmp_path)
    found = kept(tmp_path)
    assert found.functions > 50 and len(found.parts) > 100
    counts = proved(found, 1.0, 3, 1)["counts"]
    assert counts[REFUTED] == 0 and counts[PROVED] + counts[BOUNDED] > 3 * counts[TESTED], counts


@pytest.mark.long
def test_a_value_that_fusion_replaces_for_its_shape_is_in_the_journal():
    """The gradient asks a difference inside a fused group for nothing but its lengths."""
    x = T.matrix("x")
    y = T.gradient(x, axis=1, edge_order=2)
    f = ag.function([x], [y, ag.grad(T.sum(y**2), x)])
    assert not list(wrong_ends(f))
    readers = [entry for entry in f.journal if entry.rule == "composite_elemwise_fusion" and entry.index]
    assert any(entry.before.owner.op.name == "sum_to" for entry in readers)
