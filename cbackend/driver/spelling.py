"""The C spelling of operators of quantities, of tests, and of calls."""

from __future__ import annotations

from ..program.program import Call

FORMS = {
    "broadcast": "{} == 1 ? 0 : {}",
    "choose": "{} ? {} : {}",
    "differ": "{} != {}",
    "maximum": "{0} > {1} ? {0} : {1}",
    "minimum": "{0} < {1} ? {0} : {1}",
    "quotient": "{1} > 0 ? {0} / {1} - ({0} % {1} < 0) : 0",
}
FUNCTIONS = {"join": "ag_join", "index": "ag_index", "slice_count": "ag_slice_count", "slice_first": "ag_slice_first"}
"""Operators of quantities that are helpers."""
FAILS_IF = {
    "equal": "{0} != {1}",
    "not_negative": "{0} < 0",
    "fits": "{0} != {1} && {0} != 1",
    "reached": "{0} == 0 && {1} != 0",
    "positive": "{0} < 1",
    "has_room": "{1} < 1 || {0} - 1 > ({1} - 1) / {2}",
    "reaches": "{0} < {1}",
    "holds": "!{0}",
}


def spelled(step: Call) -> str:
    """Return the C name of a called kernel: its own, or `ag_` and that of a kernel of the runtime."""
    if step.kernel:
        return step.function
    return f"ag_{step.function}"
