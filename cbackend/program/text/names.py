"""Implied facts: a program's text omits what follows from earlier lines; printer and parser derive it alike.

dtype and memory    of the array behind a name: those of the line that makes it
strides             of a C-contiguous array: products of its lengths, which are numbers or names of products
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....record import record
from .. import program as prog

Kinds = dict[str, tuple[str, int]]


@record(slots=True)
class Place:
    """The dtype of the elements at an address, and the memory that they lie in."""

    dtype: str
    memory: tuple[prog.Memory, ...]


class Names:
    """The names that a text has mentioned so far."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds: Kinds = kinds
        """The kinds of locals."""
        self._places: dict[prog.Memory, Place] = {}
        self._products: dict[prog.Lengths, str] = {}

    def is_quantity(self, name: str) -> bool:
        """Whether a name stands for an integer, not for an array."""
        return self.kinds.get(name, ("", 0))[0] == prog.INTEGER

    def place(self, base: prog.Memory) -> Place | None:
        """Return the place of an address; None if no line declares it."""
        found = self._places.get(base)
        if found is None and isinstance(base, str) and self.kinds.get(base, ("", 0))[1]:
            return Place(self.kinds[base][0], (base,))
        return found

    def strides(self, lengths: prog.Lengths) -> prog.Lengths | None:
        """Return the strides of a C-contiguous array; None if one of them has no name yet."""
        found = []
        for axis in range(len(lengths)):
            stride = self._product(lengths[axis + 1 :])
            if stride is None:
                return None
            found.append(stride)
        return tuple(found)

    def _product(self, factors: Sequence[prog.Quantity]) -> prog.Quantity | None:
        number = math.prod(f for f in factors if isinstance(f, int))
        names = tuple(f for f in factors if isinstance(f, str))
        if number == 0 or not names:
            return number
        terms: prog.Lengths = names if number == 1 else (*names, number)
        return names[0] if len(terms) == 1 else self._products.get(terms)

    def met(self, array: prog.Array) -> None:
        """Note the place of an address at its first mention."""
        if self.place(array.base) is None:
            self._places[array.base] = Place(array.dtype, array.memory)

    def passed(self, step: prog.Step) -> None:
        """Record the facts that a line states about the names it defines."""
        if isinstance(step, prog.Compute) and step.operator == "product":
            self._products.setdefault(step.operands, step.result)
        elif isinstance(step, prog.Allocate):
            self._places.setdefault(step.buffer, Place(step.dtype, (step.buffer,)))
        elif isinstance(step, prog.Offset):
            self._places.setdefault(step.result, Place(step.array.dtype, step.array.memory))
        elif isinstance(step, prog.Pack):
            self._places.setdefault(step.result, Place(step.array.dtype, (*step.array.memory, step.buffer)))
        elif isinstance(step, prog.Select):
            memory = tuple(dict.fromkeys(step.first.memory + step.second.memory))
            self._places.setdefault(step.result, Place(step.first.dtype, memory))
        elif isinstance(step, prog.Fill):
            self._places.setdefault(step.local, Place("int64", (step.local,)))


def memory_name(base: prog.Memory) -> str:
    """Return the name of memory in the text: `b3`, `b3_output0` for that of an output, a local, or `nothing`."""
    if not isinstance(base, prog.Buffer):
        return base or "nothing"
    return f"b{base.number}" if base.output is None else f"b{base.number}_output{base.output}"


def implied_locals(arrays: Sequence[prog.Array]) -> Kinds:
    """Return the locals that the lines of inputs and constants declare."""
    found: Kinds = {}
    for array in arrays:
        found[str(array.base)] = (prog.POINTER, 0)
        found.update((n, (prog.INTEGER, 0)) for n in array.lengths + array.strides if isinstance(n, str))
    return found
