"""The lengths of outputs before a call, where the shape rules of a graph derive them from lengths of inputs.

Both ways into a function know a length as a program in postfix: entry_text.py writes it as Python, native.py hands it
to native_entry.c.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...graph import Dim, FunctionGraph, Variable, dims_of
from ...ops.lowered.assumed import assumed_lengths
from ...ops.shapes.lengths import tensor_to_dim

Step = tuple[str, Any]
"""("number", n), ("extent", (input, axis)), or (operation, None), which takes the two lengths before it."""

OPERATIONS = ("add", "sub", "mul", "floordiv", "maximum", "minimum", "broadcast")
_DEEPEST = 50
"""Most nesting of a length that has a program."""
LONGEST = 100
"""Most steps of a program.  A longer one would not pay: the length is assumed to be that of the last call."""


def output_lengths(graph: FunctionGraph) -> list[list[list[Step]] | None]:
    """Return for each output a program per length; None for an output with a length that only the call knows."""
    places = {variable: k for k, variable in enumerate(graph.inputs)}
    found: list[list[list[Step]] | None] = []
    for output in graph.outputs:
        programs = [p for dim in dims_of(output) if (p := _program(dim, places, {})) is not None]
        found.append(programs if len(programs) == output.ndim else None)
    return found


def assumptions(graph: FunctionGraph) -> Iterator[tuple[list[Step], list[Step]]]:
    """Yield programs for the pairs of lengths that `graph` takes as equal."""
    places = {variable: k for k, variable in enumerate(graph.inputs)}
    for pair in assumed_lengths(graph):
        have, want = (_program(tensor_to_dim(n), places, {}) for n in pair)
        if have is not None and want is not None:
            yield have, want


def evaluated(program: Sequence[Step], shapes: Sequence[tuple[int, ...]]) -> int:
    """Return the length that a program computes from the shapes of the inputs."""
    stack: list[int] = []
    for operation, operand in program:
        if operation == "number":
            stack.append(operand)
        elif operation == "extent":
            stack.append(shapes[operand[0]][operand[1]])
        else:
            last = stack.pop()
            stack.append(_MEANING[operation](stack.pop(), last))
    return stack.pop()


def stack_of(program: Sequence[Step]) -> int:
    """Return the most values that a program has on its stack."""
    pushed = {"number": 1, "extent": 1, "value": 1, "not": 0, "select": -2}
    return max(itertools.accumulate(pushed.get(operation, -1) for operation, _ in program))


_MEANING: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "maximum": max,
    "minimum": min, "broadcast": lambda a, b: b if a == 1 else a,
}  # fmt: skip


def _program(
    dim: Dim, places: dict[Variable, int], made: dict[Dim, list[Step] | None], depth: int = _DEEPEST
) -> list[Step] | None:
    """Return the program of a length, None if it has none.  made: the programs of lengths that occur in it."""
    if isinstance(dim, int):
        return [("number", dim)]
    if dim not in made:
        made[dim] = _joined(dim, places, made, depth)
    return made[dim]


def _joined(
    dim: Any, places: dict[Variable, int], made: dict[Dim, list[Step] | None], depth: int
) -> list[Step] | None:
    """Return the program of a length that is no number."""
    if dim.kind == "extent":
        variable, axis = dim.args
        return [("extent", (places[variable], axis))] if variable in places else None
    if dim.kind not in OPERATIONS or depth == 0:
        return None
    found: list[Step] = []
    for number, part in enumerate(dim.args):
        operand = _program(part, places, made, depth - 1)
        if operand is None or len(found) + len(operand) >= LONGEST:
            return None
        found += operand
        if number:
            found.append((dim.kind, None))
    return found
