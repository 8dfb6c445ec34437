"""The reliability campaign at the size of a test: what `python -m tests.campaign --small` tries holds."""

import pytest
from campaign.__main__ import EXPERIMENTS
from campaign.children import experiment
from campaign.scorecard import Row, Trials, from_json, table, to_json


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
