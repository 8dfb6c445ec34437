"""Movement towards the inputs: a view of an elementwise result becomes the same ops on views of their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ....graph import Apply, Variable
from ....ops.elementwise.records import Cast, Elementwise
from ...patterns import Users

How = TypeVar("How")

MOST_PASSED = 32
"""Most ops that a view passes, so that the views of a long chain do not pass one another's ops link by link."""


def lifted_over_elementwise(
    result: Variable,
    how: How,
    users: Users,
    below: Callable[[Apply, How], Sequence[tuple[Variable, How]] | None],
    moved: Callable[[Variable, How], Variable],
) -> Variable | None:
    """Return `result` computed from moved operands; None if its op is not elementwise or has another reader.

    `below` returns the value that stands for each operand of an op and how it is moved, or None if nothing may pass
    the op; `moved` moves a value that is not passed.  All ops that nothing else reads are passed at once.
    """
    passed: list[tuple[Apply, Sequence[tuple[Variable, How]]]] = []
    asked: dict[Variable, list[How]] = {}
    waiting = [(result, how)]
    while waiting:
        value, here = waiting.pop()
        made = value.owner
        if made is None or not isinstance(made.op, (Elementwise, Cast)):
            continue
        alike = asked.setdefault(value, [])
        alike.append(here)
        if len(users(value)) != len(alike) or any(other != here for other in alike):
            continue
        operands = below(made, here)
        if operands is None:
            continue
        if len(passed) == MOST_PASSED:
            return None
        passed.append((made, operands))
        waiting += operands
    images: dict[Variable, Variable] = {}
    for made, operands in reversed(passed):
        images[made.out] = made.op(*(images[i] if i in images else moved(i, h) for i, h in operands))
    return images.get(result)
