"""Text that notebooks and IPython print verbatim: generated C, explanations."""

from __future__ import annotations

from typing import Any

from .notebook import text_form


class Text(str):
    """A multi-line string whose repr in IPython is its lines, not a Python literal."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_form(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
