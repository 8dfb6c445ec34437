"""Planted faults of the mutation score: each applies to its file, and the kept figures are those of the page."""

import hashlib

import pytest
from mutants.faults import ROOT, Fault, Malformed, all_faults, parse
from mutants.scores import load, table

FEWEST = 200
"""Faults that the data holds at least."""
GUIDE = ROOT / "docs/mutants.md"


def test_every_fault_applies_once_and_its_tests_exist():
    faults = all_faults()
    assert len(faults) >= FEWEST
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in {fault.file for fault in faults}}
    changed = [hashlib.sha256(fault.planted(texts[fault.file]).encode()).digest() for fault in faults]
    assert len(set(changed)) == len(faults), "two faults make the same change"
    assert not [fault.name for fault in faults if fault.old == fault.new]
    missing = {file for fault in faults for file in fault.test_files if not (ROOT / file).is_file()}
    assert not missing


def test_kept_verdicts_are_of_known_faults_and_stand_in_the_guide():
    faults, kept = all_faults(), load()
    assert set(kept) <= {fault.name for fault in faults}
    assert table(faults, kept) in GUIDE.read_text(encoding="utf-8"), "put the table of --table into docs/mutants.md"


TEXT = """# A comment.

== first
file: a.py
tests: tests/b.py -k c
- x = 1
-     y
+ x = 2
"""


def test_a_paragraph_is_a_fault():
    assert parse(TEXT, "rules") == [
        Fault("first", "rules", "a.py", ("tests/b.py", "-k", "c"), "x = 1\n    y", "x = 2", "ordinary")
    ]
    (fault,) = parse(TEXT, "rules")
    assert fault.test_files == ["tests/b.py"]
    assert fault.planted("x = 1\n    y\nz") == "x = 2\nz"
    for text in ("", "x = 1\n    y\nx = 1\n    y\n"):
        with pytest.raises(Malformed, match=r"first: the old text stands [02] times in a\.py, not once"):
            fault.planted(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("file: a.py\n", "", "first: a fault has a file"),
        ("tests: tests/b.py -k c\n", "", "first: a fault has a file, tests or a rule"),
        ("file: a.py", "flie: a.py", "first: expected one of file, tests, rule, suite"),
        ("== first\n", "== first\nsuite: short\n", "a suite of"),
    ],
)
def test_a_malformed_paragraph_is_named(old, new, message):
    with pytest.raises(Malformed, match=message):
        parse(TEXT.replace(old, new), "rules")
