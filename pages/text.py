"""Text that shows itself unquoted at a prompt, and preformatted in a notebook."""

from __future__ import annotations

from typing import Any

from ..record import lazy

notebook: Any = lazy.module(".notebook", __package__)


class Text(str):
    """A string whose `repr` is the text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        form: str = notebook.text_form(self)
        return form
