"""Notices: warnings that point at the user's line, however deep in this library they arise."""

from __future__ import annotations

import warnings
from typing import Any

from .graph.provenance import SourceLine, here
from .record.quoting import lines_of_text

_given_notices: dict[Any, Any] = {}
"""Notices that were issued, by text and line; the filters of `warnings` show each once."""


def notice(text: str) -> None:
    """Warn of a loss of speed or comfort; results are right."""
    place = next(iter(here()), SourceLine("<unknown>", 1))
    message = f"arignote: {lines_of_text(text)}"
    warnings.warn_explicit(message, UserWarning, place.file, place.line, registry=_given_notices)
