"""Notices: warnings that point at the user's line, however deep in this library they arise."""

from __future__ import annotations

import warnings
from typing import Any

from .graph.provenance import here
from .record.quoting import lines_of_text

_given_notices: dict[Any, Any] = {}
"""Notices that were issued, by text and line; the filters of `warnings` show each once."""


def notice(text: str) -> None:
    """Warn of a loss of speed or comfort; results are right."""
    file, line = next(iter(here()), ("<unknown>", 1))
    warnings.warn_explicit(f"arignote: {lines_of_text(text)}", UserWarning, file, line, registry=_given_notices)
