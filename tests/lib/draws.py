"""Campaigns: the ordinary tests take a few examples or cases, the long tests all.

A test of hypothesis that asks for more than `FEW` examples is two items: itself, which draws that many, and one of the
long tests, called `..._with_all_examples`, which draws what the test asks for.  A test marked `few(n)` runs n of its
cases; the others are long tests.  Long tests can be run in shares.  Ordinary tests draw no constants that
stand in modules of the product: to read a thousand modules takes each process 7 s, for four examples of a test.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

FEW = 5
ALL = "_with_all_examples"
_SETTINGS = "_hypothesis_internal_use_settings"


def with_all_examples(item: pytest.Function) -> Iterator[pytest.Function]:
    """Yield the item, and if it is ordinary and draws many examples its twin among the long tests."""
    yield item
    if _asked(item) > FEW and not any(item.iter_markers("long")):
        own = item.originalname + ALL
        twin: pytest.Function = pytest.Function.from_parent(
            item.parent, name=own + item.name.removeprefix(item.originalname), originalname=own, callobj=item.obj,
            callspec=getattr(item, "callspec", None), fixtureinfo=item._fixtureinfo,
        )  # fmt: skip
        twin.add_marker("long")
        yield twin


def _asked(item: pytest.Function) -> int:
    """Return the number of examples that a test asks for; 0 if it draws none."""
    if not getattr(item.obj, "is_hypothesis_test", False):
        return 0
    asked: Any = getattr(item.obj, _SETTINGS, None) or hypothesis.settings.default
    return int(asked.max_examples)


@contextmanager
def few_examples(item: pytest.Item) -> Iterator[None]:
    """A block in which an ordinary test draws `FEW` examples at most."""
    if not isinstance(item, pytest.Function) or any(item.iter_markers("long")) or _asked(item) <= FEW:
        yield
        return
    test = getattr(item.obj, "__func__", item.obj)
    asked = getattr(test, _SETTINGS, None)
    setattr(test, _SETTINGS, hypothesis.settings(asked, max_examples=FEW))
    try:
        yield
    finally:
        setattr(test, _SETTINGS, asked)


def draw_no_constants() -> None:
    """Let hypothesis draw examples without the constants of the modules that are loaded."""
    providers._get_local_constants = lambda: providers._local_constants


def leave_few(items: Iterable[pytest.Item]) -> None:
    """Make long tests of the cases of each test marked `few(n)`, but for n that stand at equal distances."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few") is not None and item.get_closest_marker("long") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_test in cases.values():
        (few,) = of_test[0].get_closest_marker("few").args  # type: ignore[union-attr]
        ordinary = {k * len(of_test) // few for k in range(few)}
        for k in {*range(len(of_test))} - ordinary:
            of_test[k].add_marker("long")


MANY = 10
"""Cases of one long test from which on shares divide it; one of fewer cases is in one share whole."""


def share_of_cases(items: Iterable[pytest.Item], share: str) -> list[pytest.Item]:
    """Return the items without the long tests of other shares; `share` is "K/N", the K-th of N parts, from 1 on.

    Long tests are divided by their names, those of many cases by the names of these.  Ordinary tests are in each share.
    """
    part, parts = (int(number) for number in share.split("/"))
    if not 1 <= part <= parts:
        raise pytest.UsageError(f"--share={share}: expected K/N with K from 1 to N")
    items = list(items)
    tests = [item.nodeid.partition("[")[0] for item in items]
    counts = Counter(tests)

    def is_here(item: pytest.Item, test: str) -> bool:
        name = item.nodeid if counts[test] >= MANY else test
        return not any(item.iter_markers("long")) or zlib.crc32(name.encode()) % parts == part - 1

    return [item for item, test in zip(items, tests, strict=True) if is_here(item, test)]


RARE = ("int16", "int32", "uint16", "uint32")
"""Dtypes whose C is that of narrower and wider integers with another type: tests of all dtypes are long for these."""


def mostly_long(cases: Iterable[Any], ordinary: Container[Any]) -> list[Any]:
    """Return the cases as parameters of a test; all but those in `ordinary` are long tests."""
    return [case if case in ordinary else _long(case) for case in cases]


def rarely_long(cases: Iterable[Any], long: Container[Any] = RARE) -> list[Any]:
    """Return the cases as parameters of a test; those in `long` are long tests."""
    return [_long(case) if case in long else case for case in cases]


def _long(case: Any) -> Any:
    return pytest.param(case, marks=pytest.mark.long)
