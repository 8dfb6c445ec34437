"""Public names and signatures change only where somebody means it: docs/public-names.txt holds them."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_public_names_are_those_of_the_file():
    expected = (DOCS / "public-names.txt").read_text(encoding="utf-8").splitlines()
    found = runpy.run_path(str(DOCS / "make_public_names.py"))["text"]().splitlines()
    gone, new = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    assert not gone, f"{gone} are gone; docs/stability.md says how a name goes"
    assert not new, f"{new} are new: run `python docs/make_public_names.py`, and name them in CHANGELOG.md"
