"""Text that a prompt and a notebook show as it is, with its lines, and not as a quoted string."""

from __future__ import annotations

from .. import pages


class Shown(str):
    """A string whose `repr` is itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return pages.notebook.text_form(self)
