"""Known names that are spelled nearly as an unknown one, for errors that ask what was meant."""

from __future__ import annotations

from collections.abc import Iterable

from . import lazy

difflib = lazy.module("difflib")


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return at most so many of the known names, the nearest first; none if all differ much."""
    found: list[str] = difflib.get_close_matches(name, list(known), most)
    return found


def meant(name: str, known: Iterable[str]) -> str:
    """Return the question whether the nearest known name was meant, behind a semicolon; empty if all differ much."""
    near = nearest(name, known)
    return f"; did you mean {near[0]!r}?" if near else ""
