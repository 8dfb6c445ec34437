"""Text that notebooks and IPython show as it is: generated C, explanations."""

from __future__ import annotations

from typing import Any

from .notebook import text_form


class Text(str):
    """A string of several lines; where an ordinary one is shown as a Python literal, this one shows its lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_form(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
