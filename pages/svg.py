"""An SVG picture that stands alone: its style, its own background, a title for readers of the screen."""

from __future__ import annotations

from collections.abc import Iterable

from .markup import element, escaped
from .theme import STYLE

CHARACTER = 7.23
"""The width of a character of 12 pixels in a monospaced font."""
SMALL_CHARACTER = 6.03
"""The same for 10 pixels."""


def picture(content: Iterable[str], width: float, height: float, title: str, *, style: bool = True) -> str:
    """The SVG element of this size in pixels.  `style=False` leaves the style sheet to the page it stands in."""
    parts = [element("title", escaped(title))]
    parts += [element("style", STYLE)] if style else []
    parts.append(element("rect", class_="paper", width=number(width), height=number(height), rx=6))
    return element(
        "svg", [*parts, *content], xmlns="http://www.w3.org/2000/svg", class_="ag-figure", role="img",
        viewBox=f"0 0 {number(width)} {number(height)}", width=number(width), height=number(height),
        style="max-width:100%;height:auto" if style else None,
    )  # fmt: skip


def number(value: float) -> str:
    """A length with at most one decimal, written short."""
    written = f"{value:.1f}".removesuffix(".0")
    return "0" if written == "-0" else written


def text(content: str, x: float, y: float, *classes: str) -> str:
    """A line of text whose base line begins (or by its class ends, or is centred) there."""
    return element("text", escaped(content), x=number(x), y=number(y), class_=" ".join(classes) or None)


def shortened(content: str, characters: int) -> str:
    """The text, cut in its middle to at most so many characters."""
    if len(content) <= characters:
        return content
    head = (characters - 1) // 2
    return f"{content[:head]}…{content[len(content) - (characters - 1 - head) :]}"
