"""Time budgets of `ag.tune`: numbers of seconds, or texts such as "2min"."""

from __future__ import annotations

import math
import re
from typing import Any

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 1e-3, "min": 60.0, "m": 60.0, "h": 3600.0}
_TEXT = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*")


def as_seconds(who: str, value: Any) -> float:
    """Return a budget in seconds.  Raises TypeError or ValueError for anything else than a time of at least 0."""
    if isinstance(value, str):
        match = _TEXT.fullmatch(value.lower())
        if match is None or match[2] not in _UNITS:
            raise ValueError(f'{who}: budget is {value!r}; expected a time such as "30s", "2min" or "1h"')
        return float(match[1]) * _UNITS[match[2]]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f'{who}: budget is {value!r}; expected seconds, or a time such as "2min"')
    if not value >= 0 or math.isinf(value):
        raise ValueError(f"{who}: budget is {value}; expected finite seconds, at least 0")
    return float(value)
