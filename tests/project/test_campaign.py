"""The reliability campaign at the size of a test: what `python -m tests.campaign --small` tries holds."""

import pytest
from campaign.__main__ import EXPERIMENTS
from campaign.children import experiment
from campaign.scorecard import Row, Trials, from_json, table, to_json
from campaign.values.fuzz import Total
from campaign.values.fuzz_trials import COMPILED_ONCE_IN, INTERPRETED, SETTINGS, Case, is_compiled, settings_of
from random_programs import LETTERS, Input, Program


@pytest.mark.long
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment(name):
    rows = experiment(name, full=False, timeout=900)
    assert all(row.trials for row in rows)
    assert not any(row.failures for row in rows), "\n" + table(rows)


def test_the_scorecard_shows_failures_and_the_bound_of_none():
    trials = Trials("G2", "tries")
    trials.check(True, "", 3000)
    assert trials.row().bound() == "< 0.001"
    trials.check(False, "the third of May")
    rows = from_json(to_json([trials.row("5 ms")]))
    assert rows == [Row("G2", "tries", 3001, 1, ("the third of May",), "5 ms")]
    assert rows[0].bound() == ""
    assert "the third of May" in table(rows)


def test_fuzzing_goes_on_from_the_file_of_a_total(tmp_path):
    total = Total(64, 128, seconds=2.0)
    total.add([64, 32, 100, ["add", "exp"], ["add exp"], [{"cause": "rule local_x", "text": "program"}]])
    total.save(tmp_path / "total.json")
    again = Total.load(tmp_path / "total.json")
    assert again.figures() == total.figures() and again.causes == total.causes
    assert again.add([96, 32, 100, ["add", "log"], [], [{"cause": "rule local_x", "text": "other"}]]) == {}
    assert again.figures() == {
        "first": 64, "next": 128, "programs": 64, "compiled": 0, "steps": 200, "settings": 16, "ops": 3, "pairs": 1,
        "differences": 2, "causes": 1, "seconds": 2,
    }  # fmt: skip


@pytest.mark.parametrize("known", [False, True])
def test_lengths_are_refused_where_an_update_does_not_fit_its_shared_value(known):
    """A square matrix has sums as long as its rows and its columns; others have not."""
    s = Input("s", "float64", LETTERS[1], (known,), "", (1.0,), shared=True)
    x = Input("x", "float64", LETTERS[:2], (False, False), "", (0.5, 2.0))
    program = Program((2, 2, 2), (s, x), (("v", "T.sum({0}, axis=1)", ("x",)),), ("v",), (("s", "v"),))
    made = program.made()
    assert not Case.of(program, made, (2, 2, 2)).refused
    assert Case.of(program, made, (3, 2, 2)).refused == known


def test_each_setting_of_fuzzing_has_its_turn():
    turns = [settings_of(number) for number in range(12 * COMPILED_ONCE_IN)]
    assert {setting for turn in turns for setting in turn} == set(SETTINGS)
    assert all(turn[-len(INTERPRETED) :] == INTERPRETED for turn in turns)
    assert [len(turn) > len(INTERPRETED) for turn in turns] == [is_compiled(number) for number in range(len(turns))]
