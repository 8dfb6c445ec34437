"""Plots of the benchmark page, drawn from its tables: a row for each case, a mark for each peer, a logarithmic axis."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

CAPTIONS = {
    "Steady time": "Time of each peer divided by that of Arignote: right of 1, Arignote is faster",
    "Compile time": "Seconds from the expression to the first result, with an empty cache",
}
"""Section -> caption of the plot of its first table."""
LEFT_OUT = ("ours / best",)
UNITS = {"": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
NUMBER = re.compile(r"^([\d.]+) ?(ns|us|ms|s|)(?: / .*)?$")
MARKS = (
    ("#1f77b4", "M0-4a4 4 0 1 0 .01 0z"), ("#d95f02", "M-3.5-3.5h7v7h-7z"), ("#2ca02c", "M0-4.5l4.5 8h-9z"),
    ("#9467bd", "M0-5l5 5-5 5-5-5z"), ("#e7298a", "M0 4.5l4.5-8h-9z"), ("#8c6d31", "M-4-1h3v-3h2v3h3v2h-3v3h-2v-3h-3z"),
    ("#17a2b8", "M-4-4l8 8m0-8l-8 8"),
)  # fmt: skip
"""Colour and path of each column's mark: they differ in both."""
WIDTH, LABELS, ROW, TOP, MARGIN = 820, 300, 19, 62, 16


def with_plots(text: str) -> str:
    """Return the page with a plot before the first table of each section in CAPTIONS."""
    sections = re.split(r"(?m)^(?=## )", text)
    return "".join(_with_plot(section) for section in sections)


def _with_plot(section: str) -> str:
    caption = CAPTIONS.get(section.partition("\n")[0].removeprefix("## "))
    table = re.search(r"(?m)^\|.*\n\| ?---.*\n(?:\|.*\n)+", section)
    if caption is None or table is None:
        return section
    return f"{section[: table.start()]}{plot(table.group(), caption)}\n\n{section[table.start() :]}"


def plot(table: str, caption: str) -> str:
    """Return the drawing of a table in Markdown whose first column names the cases."""
    head, _, *rows = [_cells(line) for line in table.strip().splitlines()]
    columns = [k for k in range(1, len(head)) if head[k] not in LEFT_OUT]
    numbers = {k: [_number(row[k]) for row in rows] for k in columns}
    ratios = any(re.fullmatch(r"[\d.]+", row[columns[-1]]) for row in rows)
    columns = [k for k in columns if not (ratios and head[k] == "Arignote")]
    found = [n for k in columns for n in numbers[k] if n is not None]
    low, high = (math.floor(math.log10(min(found))), math.ceil(math.log10(max(found))))

    def x(number: float) -> float:
        return LABELS + (math.log10(number) - low) / (high - low) * (WIDTH - LABELS - MARGIN)

    bottom = TOP + ROW * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 8}" role="img"',
        f'aria-label="{escape(caption)}" font-size="12" fill="currentColor">',
        f'<text x="0" y="14" font-weight="600">{escape(caption)}</text>',
    ]
    for power in range(low, high + 1):
        number, at, opacity = 10.0**power, x(10.0**power), 0.6 if power == 0 else 0.2
        lines += [
            f'<path d="M{at:.1f} {TOP - 8}V{bottom}" stroke="currentColor" stroke-opacity="{opacity}"/>',
            f'<text x="{at:.1f}" y="{TOP - 12}" text-anchor="middle">{number:g}</text>',
        ]
    for n, row in enumerate(rows):
        y = TOP + ROW * n + ROW / 2
        lines.append(f'<text x="{LABELS - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(row[0])}</text>')
        for mark, k in enumerate(columns):
            if (value := numbers[k][n]) is not None:
                lines.append(_mark(mark, x(value), y, f"{row[0]}, {head[k]}: {row[k]}"))
    at = 0.0
    for mark, k in enumerate(columns):
        lines += [_mark(mark, at + 6, 30, head[k]), f'<text x="{at + 16:.0f}" y="34">{escape(head[k])}</text>']
        at += 34 + 7 * len(head[k])
    return '<div class="plot">\n' + "\n".join([*lines, "</svg>"]) + "\n</div>"


def _cells(line: str) -> Sequence[str]:
    return [cell.strip().replace("\\", "") for cell in line.strip().strip("|").split("|")]


def _number(cell: str) -> float | None:
    """Return the first number of a cell in seconds, or a ratio as it is; None for a cell without one."""
    found = NUMBER.match(cell)
    return float(found[1]) * UNITS[found[2]] if found else None


def _mark(number: int, x: float, y: float, title: str) -> str:
    colour, path = MARKS[number % len(MARKS)]
    return (
        f'<path transform="translate({x:.1f} {y:.1f})" d="{path}" fill="{colour}" stroke="{colour}">'
        f"<title>{escape(title)}</title></path>"
    )
