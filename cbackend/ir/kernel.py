"""A kernel: one function over strided arrays in the loop IR, and the facts that a launch needs.

A kernel runs `rank` loops.  Each operand is an array whose axes each run along one loop; strides are counted in
elements. The extent of a loop is the joint (broadcast) length of the input axes that run along it; an axis of length 1
against a longer extent has stride 0.  An output has the extents of its loops as lengths, and 1 where an axis runs
along none.
"""

from __future__ import annotations

import hashlib
from enum import IntEnum

from ...record import record
from ...record.cached import cached_property
from .loops import Body, For
from .operands import Argument, Operand, Parameter, Splits, arguments, operand_name, parameter
from .schedule import DEFAULT, Schedule
from .text import kernel_text
from .walk import all_statements, outlined_in, own_names_in


class Status(IntEnum):
    """The return value of a fallible kernel.  The outputs are garbage unless it is OK."""

    OK = 0
    NEGATIVE_POWER = 1
    """An integer was raised to a negative integer power (NumPy: ValueError)."""
    EMPTY_REDUCTION = 2
    """The maximum or minimum of an empty array, or its position, was asked for (NumPy: ValueError)."""
    INDEX = 3
    """An index lies outside its axis (NumPy: IndexError)."""
    NEGATIVE_STEPS = 4
    """An inner loop has a negative number of steps."""
    TOO_SHORT = 5
    """A sequence ends before an inner loop does."""
    LENGTHS = 6
    """Vectors in a loop have different lengths."""
    CHANGED = 7
    """A vector of a step has another length than in earlier steps."""
    PROMISED = 8
    """A length in a loop is not the promised one."""
    NEGATIVE_LENGTH = 9
    """A vector in a loop would have a negative length."""


@record
class Kernel:
    """One function over strided arrays: operands, parameters, and a body in the loop IR.

    Its text form is `str(kernel)` (text.py); its name is a digest of that text, so equal kernels have one name, in any
    function and on any machine.
    """

    comment: str
    """One line: the result as an expression of the operands; a schedule, if it has one, on a second line."""
    rank: int
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    body: Body
    fallible: bool = False
    """Whether it returns a Status (as int32) instead of nothing."""
    shared: frozenset[int] = frozenset()
    """The outputs that may share the memory of an input."""
    splits: Splits | None = None
    """The loops that may be split into chunks; None: loops run whole."""
    signature: tuple[Argument, ...] = ()
    """Its arguments, if they differ from the extents, pointers and strides of its operands."""
    feeds: tuple[tuple[int, ...], ...] = ()
    """For each output the numbers of the inputs it is computed from; empty: all outputs have all loops."""
    schedule: Schedule = DEFAULT
    default: str = ""
    """Its name under the default schedule, by which schedules are found; empty: this is the default one."""

    @cached_property
    def name(self) -> str:
        """`k_` and the first 16 digits of the SHA-256 of its text form."""
        return "k_" + hashlib.sha256(kernel_text(self).encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        """The first line of its comment."""
        return self.comment.split("\n", 1)[0]

    @property
    def takes_schedule(self) -> bool:
        """Whether a schedule chooses its loops; a kernel with a signature of its own has fixed ones."""
        return self.splits is not None and not self.signature

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Outputs, then inputs."""
        return self.outputs + self.inputs

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a call, in order."""
        return self.signature or tuple(arguments(self.rank, self.operands))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments as the body sees them."""
        return tuple(parameter(a, self.operands, len(self.outputs), self.shared) for a in self.arguments)

    @cached_property
    def bodies(self) -> dict[str, Body]:
        """Return the bodies of its functions: outlined ones by name, then its own under the empty name."""
        return {**{s.name: s.body for s in outlined_in(self.body)}, "": self.body}

    @cached_property
    def unread(self) -> dict[str, tuple[str, ...]]:
        """The parameters that each of its functions does not read, by the name of the function."""
        read = {name: own_names_in(body) for name, body in self.bodies.items()}
        return {name: tuple(p.name for p in self.parameters if p.name not in names) for name, names in read.items()}

    def reads(self, operand: int) -> bool:
        """Whether the elements of an operand are read or written, not only its lengths."""
        name = operand_name(operand, len(self.outputs))
        return not any(name in unread for unread in self.unread.values())

    @property
    def is_vectorized(self) -> bool:
        """Whether a loop of it is marked for vectors."""
        return any(isinstance(s, For) and s.simd for s in all_statements(self.body))

    def __str__(self) -> str:
        return kernel_text(self)
