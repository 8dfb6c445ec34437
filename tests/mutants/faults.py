"""The planted faults, read from the text files of this folder.

The name of a file begins with the kind of its faults. A fault is a paragraph: its name, the file, the tests that
should fail, the old lines and the new ones.

    == drop-guard-of-add-neg
    file: optdb/rules/elementwise/arithmetic.py
    tests: tests/optdb/rules/test_rules.py -k local_add_neg_to_sub
    - the old text, as it stands in the file
    + the new text

`rule: NAME` stands for the tests of that rule. `suite: long` marks tests that the ordinary run leaves out. Lines of
code follow "- " or "+ " with their indentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FIELDS = ("file", "tests", "rule", "suite")
OF_RULES = ("tests/optdb/rules/test_rules.py", "tests/optdb/rules/test_rules_values.py", "-k")
"""Tests of one rule; its name follows."""
SUITES = ("ordinary", "long")


class Malformed(ValueError):
    """Error of a paragraph that describes no fault."""


@dataclass(frozen=True)
class Fault:
    """One change of one file, and the tests that should notice it."""

    name: str
    kind: str
    file: str
    tests: tuple[str, ...]
    old: str
    new: str
    suite: str = "ordinary"

    @property
    def test_files(self) -> list[str]:
        """The files of the tests, without the options of pytest."""
        return [word.split("::")[0] for word in self.tests if word.startswith("tests/")]

    def planted(self, text: str) -> str:
        """Return the text of the file with the fault; the old text must stand there once."""
        if text.count(self.old) != 1:
            raise Malformed(f"{self.name}: the old text stands {text.count(self.old)} times in {self.file}, not once")
        return text.replace(self.old, self.new)


def all_faults() -> list[Fault]:
    """Every planted fault, in the order of the files."""
    texts = [(path.read_text("utf-8"), path.stem.split("_")[0]) for path in sorted(HERE.glob("*.txt"))]
    faults = [fault for text, kind in texts for fault in parse(text, kind)]
    names = [fault.name for fault in faults]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Malformed(f"two faults have the name {twice[0]}")
    return faults


def parse(text: str, kind: str) -> list[Fault]:
    """Return the faults of a text."""
    _, *paragraphs = ("\n" + text).split("\n== ")
    return [_fault(paragraph.splitlines(), kind) for paragraph in paragraphs]


def _fault(lines: Sequence[str], kind: str) -> Fault:
    name = lines[0].strip()
    given: dict[str, str] = {}
    sides: dict[str, list[str]] = {"-": [], "+": []}
    for line in lines[1:]:
        if line[:2].strip() in sides:
            sides[line[0]].append(line[2:])
        elif line.strip() and not line.startswith("#"):
            field, _, value = line.partition(": ")
            if field not in FIELDS:
                raise Malformed(f"{name}: expected one of {', '.join(FIELDS)}, or a line of code, got {line!r}")
            given[field] = value
    suite = given.get("suite", SUITES[0])
    tests = (*OF_RULES, given["rule"]) if "rule" in given else tuple(given.get("tests", "").split())
    if not sides["-"] or "file" not in given or not tests or suite not in SUITES:
        raise Malformed(f"{name}: a fault has a file, tests or a rule, old lines, and a suite of {SUITES}")
    old, new = ("\n".join(sides[side]) for side in "-+")
    return Fault(name, kind, given["file"], tests, old, new, suite)
