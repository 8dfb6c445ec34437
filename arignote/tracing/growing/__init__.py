"""Lists of Python that change by values: their items in arrays, and the room that these have."""

from __future__ import annotations
