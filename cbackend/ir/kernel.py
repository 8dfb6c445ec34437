"""A kernel: one C function over strided arrays, and what a caller must know to launch it.

A kernel runs `rank` loops.  Each operand is an array whose axes each run along one loop; strides are counted in
elements. The extent of a loop is the joint (broadcast) length of the input axes that run along it; an axis of length 1
against a longer extent has stride 0.  An output has the extents of its loops as lengths, and 1 where an axis runs
along none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from enum import IntEnum

from ...record import record
from ...record.cached import cached_property
from .schedule import DEFAULT, Schedule


class Status(IntEnum):
    """What a fallible kernel returns.  The outputs are garbage unless it is OK."""

    OK = 0
    NEGATIVE_POWER = 1
    """An integer was raised to a negative integer power (NumPy: ValueError)."""
    EMPTY_REDUCTION = 2
    """The maximum or minimum, or its position, of nothing was asked for (NumPy: ValueError)."""
    INDEX = 3
    """An index lies outside its axis (NumPy: IndexError)."""


@record
class Operand:
    """One array argument.  `axes` gives for each axis of the array the loop it runs along; None: its length is 1.

    `source` is the position among the node's inputs (or outputs) of the array.  Two operands may have one source: `x +
    x.T` reads `x` along two orders of loops.
    """

    dtype: str
    axes: tuple[int | None, ...]
    source: int

    @cached_property
    def loops(self) -> tuple[int, ...]:
        """The loops along which the operand moves, ascending."""
        return tuple(sorted(loop for loop in self.axes if loop is not None))


@record
class Extent:
    """The argument that holds the extent of a loop (int64)."""

    loop: int


@record
class Pointer:
    """The argument that points to the first element of operand number `operand` (outputs first, then inputs)."""

    operand: int


@record
class Stride:
    """The argument that holds the stride, in elements, of an operand along a loop (int64)."""

    operand: int
    loop: int


@record
class Extra:
    """Another int64 argument, of which a launch knows nothing but its value."""

    number: int


@record
class Report:
    """The argument that points to the place for what a message says."""


Argument = Extent | Pointer | Stride | Extra | Report


@record
class Cutting:
    """How the loops of a kernel may be cut into parts that run one by one, in any order, or side by side.

    `free`: loops along which every output moves.  `reduced`: further loops, one of which may be cut if each part has
    its own of the outputs that do not move along it; these are then combined by `folds`: for each output sum, prod,
    max, min, any or all, None for one that is not reduced, argmax or argmin where the other of two is its extremum.
    `picoseconds`: an estimate for one step of the innermost loop.  `in_turn`: the loops that are not free may be cut,
    too, into parts that run one after the other.
    """

    free: tuple[int, ...]
    reduced: tuple[int, ...]
    folds: tuple[str | None, ...]
    picoseconds: int
    in_turn: bool = False


@record
class Kernel:
    """One static, header-free C function.  Its text uses only the types of preamble.py and the helpers that it names.

    `name` is `k_` and a hash of the text, so equal kernels have one name, in any function and on any machine.
    """

    name: str
    text: str
    helpers: tuple[str, ...]
    rank: int
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    fallible: bool
    """Whether it returns a Status (as i32) instead of nothing."""
    cutting: Cutting | None = None
    """None: its loops run whole."""
    signature: tuple[Argument, ...] = ()
    """Its arguments, where they are others than the extents, pointers and strides of its operands."""
    feeds: tuple[tuple[int, ...], ...] = ()
    """For each output the numbers of the inputs that its value is made of; empty: all outputs have all loops."""
    schedule: Schedule = DEFAULT
    default: str = ""
    """The name that it has under the default schedule, by which schedules are told; empty: this is it."""

    @property
    def comment(self) -> str:
        """What it computes, as its text begins."""
        return self.text.removeprefix("/* ").splitlines()[0].removesuffix(" */")

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Outputs, then inputs."""
        return self.outputs + self.inputs

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the C function, in order."""
        return self.signature or tuple(arguments(self.rank, self.operands))


def arguments(rank: int, operands: tuple[Operand, ...]) -> Iterator[Argument]:
    """The extents; then for each operand its pointer and one stride for each loop along which it moves."""
    yield from map(Extent, range(rank))
    for k, operand in enumerate(operands):
        yield Pointer(k)
        for loop in operand.loops:
            yield Stride(k, loop)


NAMELESS = "k_"
"""What stands for the name in a text that has none yet."""
_NAMELESS = re.compile(rf"\b{NAMELESS}([a-z]*)\(")


def named(text: str) -> tuple[str, str]:
    """The name that a kernel's text gives itself, and the text with that name in the place of `k_(`.

    Functions of its own, `k_part(`, are called so with `_part` behind it.
    """
    name = NAMELESS + hashlib.sha256(text.encode()).hexdigest()[:16]
    return name, _NAMELESS.sub(lambda found: f"{name}{'_' * bool(found[1])}{found[1]}(", text)
