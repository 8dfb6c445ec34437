"""Pictures and pages: plain data in, SVG and HTML text out.  Standard library only, so every other folder may draw.

Hardly any program draws, so a module is loaded when it is first asked for, as in `pages.graph_svg.graph_svg(boxes)`:
`import arignote` would take 5 ms longer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import bars, boxes, curves, database_form, graph_svg, markup, mathml, notebook, page, tables, theme

__all__ = [
    "bars", "boxes", "curves", "database_form", "graph_svg", "markup", "mathml", "notebook", "page", "tables", "theme",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
