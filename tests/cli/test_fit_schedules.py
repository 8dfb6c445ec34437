"""The fit of schedule limits: values that win, and the text that has them."""

from dataclasses import replace
from pathlib import Path

import pytest

from arignote.targets import limits
from arignote.targets.named import host
from benchmarks.fit_schedules import CHOICES, Row, cases, rewritten, with_limit

TEXT = """\
class Tiles:
    rows: int = 16


class Columns:
    elements: int = 4
    rows: int = 16
    last: int = 1
"""


def test_a_value_wins_that_makes_kernels_faster_and_none_slower():
    row = Row("columns.rows", 16, 32, {"sum": 1.3, "maximum": 0.97})
    assert row.wins and row.mean == pytest.approx((1.3 * 0.97) ** 0.5)
    assert not replace(row, gains={"sum": 1.5, "maximum": 0.9}).wins
    assert not replace(row, gains={"sum": 1.05, "maximum": 1.05}).wins
    assert not replace(row, gains={}).wins and "changes none" in str(replace(row, gains={}))


def test_the_default_of_one_field_is_rewritten():
    made = rewritten(TEXT, "Columns", "rows", (8, 4))
    assert made == TEXT.replace("rows: int = 16\n    last", "rows: int = (8, 4)\n    last")
    with pytest.raises(ValueError, match="Tiles has no field last"):
        rewritten(TEXT, "Tiles", "last", 1)


def test_every_limit_exists_and_has_another_value():
    base, text = host(), Path(limits.__file__).read_text()
    for name, values in CHOICES.items():
        group, field = name.split(".")
        now = getattr(getattr(base.limits, group), field)
        assert [v for v in values if v != now], name
        assert getattr(getattr(with_limit(base, name, values[0]).limits, group), field) == values[0]
        kind = type(getattr(limits.Limits(), group)).__name__
        assert rewritten(text, kind, field, now) == rewritten(rewritten(text, kind, field, values[0]), kind, field, now)
    assert len({name for name, *_ in cases()}) == len([*cases()])
