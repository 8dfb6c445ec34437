"""Tables: plain HTML, whose columns a page may sort; numbers are written for people and kept exactly for sorting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .markup import element, escaped

Cell = str | int | float | None
SHORT = 24
"""Characters of a cell that is not broken into lines."""
NARROW = 12
"""The same without our style sheet, where a table is often 400 pixels wide: a number with its unit.

Other cells up to SHORT are broken at blanks alone, longer ones anywhere.
"""
UNBROKEN, BROKEN = "white-space:nowrap", "overflow-wrap:anywhere"
"""Styles of text that stays on one line, and of text that is broken within words where a page is narrow."""


def table(
    header: Sequence[str], rows: Iterable[Sequence[Cell]], *, class_: str = "sortable", text_style: str | None = None
) -> str:
    """The table; numbers stand to the right.  A cell that is None is empty.

    `text_style`: what a page without our style sheet needs to hear about cells of text.
    """
    shown = list(rows)
    numbers = {k for row in shown for k, value in enumerate(row) if isinstance(value, (int, float))}
    head = element("tr", [_head(name, k in numbers, text_style) for k, name in enumerate(header)])
    body = [element("tr", [_cell(value, text_style) for value in row]) for row in shown]
    return element("table", [element("thead", head), element("tbody", body)], class_=class_)


def _head(name: str, of_numbers: bool, text_style: str | None) -> str:
    return element("th", escaped(name), scope="col", class_="number" if of_numbers else None,
                   style=None if of_numbers else text_style)  # fmt: skip


def _cell(value: Cell, text_style: str | None) -> str:
    if isinstance(value, (int, float)):
        return element("td", escaped(figure(value)), class_="number", data_value=repr(value))
    length = len(value or "")
    measured = (value or "")[:1].isdigit() and length <= NARROW
    breaks = f";{UNBROKEN}" if measured else f";{BROKEN}" if length > SHORT else ""
    style = text_style + breaks if text_style else None
    return element("td", escaped(value or ""), class_="short" if length <= SHORT else None, style=style)


def figure(value: float) -> str:
    """A number with four digits that count, or whole: 12,345 or 0.01235."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def seconds(value: float) -> str:
    """A time for people: 1.25 s, 3.4 ms, 15 us."""
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.2f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


def amount(count: float, unit: str = "B") -> str:
    """A size for people: 512 B, 1.5 MB."""
    for prefix in ("", "k", "M", "G"):
        if abs(count) < 1000:
            return f"{count:.3g} {prefix}{unit}"
        count /= 1000
    return f"{count:.3g} T{unit}"
