"""Operands and arguments of a kernel: the arrays, the numbers that a call passes, and their names in the body.

A parameter is named by its argument: `n0` an extent, `y0` and `x0` the pointers to the first output and the first
input, `y0_s1` the stride of that output along loop 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...record import record
from ...record.cached import cached_property


@record
class Operand:
    """One array argument.  `axes` has for each axis the loop that it runs along; None: its length is 1.

    `source` is the position among the node's inputs (or outputs) of the array.  Two operands may have one source: `x +
    x.T` reads `x` along two orders of loops.
    """

    dtype: str
    axes: tuple[int | None, ...]
    source: int
    indexed: bool = False
    """Whether its elements are looked up by computed indices: no axis runs along a loop, whatever its length is."""

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
    """Another int64 argument, of which a launch knows only the value.  `number`: its index among the kernel's."""

    number: int
    name: str


@record
class Bits:
    """The argument that holds the bits of the only element of an operand, extended to 64."""

    operand: int


@record
class Report:
    """The argument that points to the int64 numbers of a message."""


@record
class Poll:
    """The argument that is a function: whether Ctrl-C was pressed, so that a long loop ends."""


Argument = Extent | Pointer | Stride | Bits | Extra | Report | Poll
CALLBACK = "callback"
"""The dtype of a parameter that is a function without arguments."""


@record
class Splits:
    """Loops of a kernel that may be split into chunks, which run sequentially, in any order, or in parallel.

    `free`: loops along which every output moves.  `reduced`: further loops, one of which may be cut if each part has
    its own of the outputs that do not move along it; these are then combined by `folds`: for each output sum, prod,
    max, min, any or all, None for one that is not reduced, argmax or argmin where the other of two is its extremum.
    `picoseconds`: an estimate for one step of the innermost loop.  `sequential`: loops that are not free may be split,
    too, into chunks that run one after the other.
    """

    free: tuple[int, ...]
    reduced: tuple[int, ...]
    folds: tuple[str | None, ...]
    picoseconds: int
    sequential: bool = False


@record
class Parameter:
    """A parameter of a kernel as its body sees it: an int64, or a pointer to elements of `dtype`."""

    name: str
    dtype: str = "int64"
    is_pointer: bool = False
    const: bool = True
    """Whether the pointer is read-only."""
    restrict: bool = False
    """No other pointer reaches the elements that are stored through it."""


def arguments(rank: int, operands: tuple[Operand, ...]) -> Iterator[Argument]:
    """The extents; then for each operand its pointer and one stride for each loop along which it moves."""
    yield from map(Extent, range(rank))
    for k, operand in enumerate(operands):
        yield Pointer(k)
        for loop in operand.loops:
            yield Stride(k, loop)


def table_arguments(operands: tuple[Operand, ...], outputs: int) -> Iterator[Extra]:
    """The length and the stride of each axis of the operands that are looked up in, by operand and axis."""
    number = 0
    for k, operand in enumerate(operands):
        for axis in range(len(operand.axes) if operand.indexed else 0):
            yield Extra(number, length_name(operand_name(k, outputs), axis))
            yield Extra(number + 1, step_name(operand_name(k, outputs), axis))
            number += 2


def operand_name(position: int, outputs: int) -> str:
    """y0, y1, ... for outputs and x0, x1, ... for inputs."""
    return f"y{position}" if position < outputs else f"x{position - outputs}"


def stride_name(array: str, loop: int) -> str:
    """The stride of an array along a loop."""
    return f"{array}_s{loop}"


def length_name(array: str, axis: int) -> str:
    """The length of an axis of an array that is looked up in."""
    return f"{array}_n{axis}"


def step_name(array: str, axis: int) -> str:
    """The stride of an axis of an array that is looked up in."""
    return f"{array}_m{axis}"


def parameter_names(rank: int, outputs: tuple[Operand, ...], inputs: tuple[Operand, ...]) -> tuple[str, ...]:
    """The names of the parameters of a kernel without a signature of its own, in order."""
    operands = outputs + inputs
    return tuple(parameter(a, operands, len(outputs), frozenset()).name for a in arguments(rank, operands))


def parameter(argument: Argument, operands: tuple[Operand, ...], outputs: int, shared: frozenset[int]) -> Parameter:
    """The parameter of an argument, among `outputs` outputs of which some are `shared`."""
    match argument:
        case Extent(): return Parameter(f"n{argument.loop}")
        case Extra(): return Parameter(argument.name)
        case Report(): return Parameter("detail", is_pointer=True, const=False)
        case Poll(): return Parameter("stopped", CALLBACK)
    name = operand_name(argument.operand, outputs)
    if isinstance(argument, Bits):
        return Parameter(f"{name}_bits")
    if isinstance(argument, Stride):
        return Parameter(stride_name(name, argument.loop))
    is_output = argument.operand < outputs
    dtype, restrict = operands[argument.operand].dtype, is_output and argument.operand not in shared
    return Parameter(name, dtype, True, const=not is_output, restrict=restrict)
