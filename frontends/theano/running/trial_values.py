"""`theano.config.compute_test_value`: expressions computed while they are built, for values noted on their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.interpret import evaluate
from ....ops.core.shared import SharedVariable
from ....record.frames import warn


def value_of(core: Variable, noted: Callable[[Variable], Any], mode: str) -> np.ndarray | None:
    """The value for the test values that `noted` gives; None where one is missing, unless `mode` raises or warns.

    Raises AttributeError for a missing value if `mode` is "raise", and the error of the computation, whose traceback
    ends at the line that builds the expression.
    """
    given: dict[Variable, Any] = {}
    waiting = list(core.owner.inputs) if core.owner is not None else []
    seen: set[Variable] = set()
    while waiting:
        v = waiting.pop()
        if v in seen or isinstance(v, (Constant, SharedVariable)):
            continue
        seen.add(v)
        value = noted(v)
        if value is not None:
            given[v] = value
        elif v.owner is not None:
            waiting += v.owner.inputs
        else:
            _missing(v, mode)
            return None
    return evaluate([core], given)[0]


def _missing(leaf: Variable, mode: str) -> None:
    message = f"{leaf.name or 'a variable without name'} ({leaf.type}) has no test value; set x.tag.test_value"
    if mode in ("raise", "pdb"):
        raise AttributeError(message)
    if mode == "warn":
        warn(message)
