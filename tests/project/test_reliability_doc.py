"""docs/reliability.md: every guarantee is numbered once and names tests that exist; the campaign's are all in it."""

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest
from campaign.__main__ import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/reliability.md").read_text()
GUARANTEES = dict(re.findall(r"^- \*\*(G\d+)\*\*(.*?)(?=^- |^## |\Z)", TEXT, re.S | re.M))
HOLDS = re.compile(r"^ +- `(tests/[\w/]+\.py)::(\w+)(?:\[(\w+)\])?`$", re.M)


@lru_cache
def functions(path):
    return {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_a_guarantee_has_tests_that_exist(guarantee):
    tests = HOLDS.findall(GUARANTEES[guarantee])
    assert tests, f"{guarantee} names no test"
    assert len(tests) == GUARANTEES[guarantee].count("tests/"), f"{guarantee}: a test is named in another form"
    for path, function, case in tests:
        assert function.startswith("test_") and function in functions(path), f"{guarantee}: {path} has no {function}"
        assert not case or case in EXPERIMENTS, f"{guarantee}: no experiment is named {case}"


def test_every_test_that_is_named_exists():
    for path, function in re.findall(r"`(tests/[\w/]+\.py)::(\w+)", TEXT):
        assert function in functions(path), f"{path} has no {function}"


def test_no_number_is_used_twice():
    numbers = re.findall(r"^- \*\*(G\d+)\*\*", TEXT, re.M)
    assert numbers and len(numbers) == len(set(numbers))


def test_what_the_campaign_tries_is_guaranteed():
    for name, module in EXPERIMENTS.items():
        path = ROOT / "tests/campaign" / f"{module.replace('.', '/')}.py"
        named = set(re.findall(r'Trials\("(G\d+)"', path.read_text()))
        assert named and named <= set(GUARANTEES), f"{name}: {sorted(named)}"


def test_every_experiment_holds_a_guarantee():
    for name in EXPERIMENTS:
        assert f"`tests/project/test_campaign.py::test_experiment[{name}]`" in TEXT
