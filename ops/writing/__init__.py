"""Expressions as text: Python, NumPy, LaTeX.  Classes of ops say how they are written.  Begin with expressions.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...record import lazy

if TYPE_CHECKING:
    from . import code as code
else:
    code = lazy.module(".code", __name__)  # hardly any program writes an expression
