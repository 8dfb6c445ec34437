"""Pictures and pages: plain data in, SVG and HTML text out.  Standard library only, so every other folder may draw.

Hardly any program draws, so a module is loaded when it is first asked for, as in `pages.graph_svg.graph_svg(boxes)`:
`import arignote` would take 5 ms longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..record import lazy

if TYPE_CHECKING:
    from . import (
        bars,
        boxes,
        curves,
        database,
        figure,
        graph_svg,
        markup,
        mathml,
        notebook,
        page,
        tables,
        theme,
        values,
    )

__all__ = [
    "bars", "boxes", "curves", "database", "figure", "graph_svg", "markup", "mathml", "notebook",
    "page", "tables", "theme", "values",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy.modules_of(__name__, *(f".{name}" for name in __all__))
