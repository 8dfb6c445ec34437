"""A database of rules, shown: the page with a script, and the table that style sheets filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from . import form, page

__all__ = ["form", "page"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy.modules_of(__name__, ".form", ".page")
