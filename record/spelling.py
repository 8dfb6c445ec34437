"""Words of messages: known names that are spelled nearly as an unknown one, numbers with what they count."""

from __future__ import annotations

from collections.abc import Iterable

from . import lazy

difflib = lazy.module("difflib")


def nearest(name: str, known: Iterable[str], most: int = 1, least: float = 0.6) -> list[str]:
    """Return at most so many of the known names, the nearest first; none if all differ much.

    `least`: the least share of equal characters (`difflib.SequenceMatcher.ratio`).
    """
    every = list(known)
    same = [each for each in every if each.lower() == name.lower()][:most]
    found: list[str] = difflib.get_close_matches(name, every, most, least)
    return [*same, *(each for each in found if each not in same)][:most]


def meant(name: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest known name was meant, behind a semicolon; empty if all differ much."""
    near = nearest(name, known)
    return f"; did you mean {near[0]!r}?" if near else ""


_PLURALS = {
    "entry": "entries", "library": "libraries", "body": "bodies", "leaf": "leaves", "axis": "axes", "index": "indices",
    "pass": "passes", "class": "classes", "batch": "batches", "branch": "branches",
}  # fmt: skip


def counted(count: int, word: str) -> str:
    """Return a number with what it counts: 1 buffer, 1,200 entries."""
    return f"{count:,} {word if count == 1 else _PLURALS.get(word, word + 's')}"
