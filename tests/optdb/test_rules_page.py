"""The page of rules says what the database holds."""

import runpy
from pathlib import Path

MAKER = Path(__file__).parents[2] / "docs" / "make_rules.py"


def test_the_page_is_up_to_date():
    made = runpy.run_path(str(MAKER))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run `python docs/make_rules.py`"
