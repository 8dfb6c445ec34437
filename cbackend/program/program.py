"""A function as steps of the driver, before it is C text: plan.py builds it from a graph, `driver.py` prints it.

Its text form, whose grammar is in text/printing.py, names every step.

An array is a descriptor, as in NumPy: an address, lengths, and strides, which count elements.  Views are new
descriptors and cost nothing.  Names count up in the order of the graph, so equal graphs give equal programs, hence
equal C.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ... import pages
from ...graph import Apply, Constant, FunctionGraph
from ...ops.control.outside_numbers import with_numbers_outside
from ...record import record
from ...record.cached import cached_property
from ...record.spelling import counted
from ..ir.kernel import Kernel
from .outcome import Outcome

Quantity = int | str
Length = Quantity | None
"""A length; None if it is known only at run time."""
Lengths = tuple[Quantity, ...]


INTEGER, POINTER = "integer", "pointer"
"""The kinds of locals besides arrays on the stack, whose kind is their dtype."""


# --- descriptors


@record(slots=True)
class Buffer:
    """Memory that the program allocates.  `output`: the output of the function that it becomes."""

    number: int
    output: int | None = None


Memory = Buffer | str
"""Base of an address: a buffer, or an input, constant or local by name."""


@record(slots=True)
class Array:
    """An array of the program: address, dtype, lengths, strides.

    `base` is its address: a buffer, or the name of a pointer or of an array on the stack.  `dense`: it is certainly
    C-contiguous. `memory`: all that it may lie in.
    """

    base: Memory
    dtype: str
    lengths: Lengths
    strides: Lengths
    dense: bool
    memory: tuple[Memory, ...]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(m for m in self.memory if isinstance(m, Buffer))


@record(slots=True)
class Vector:
    """A constant array of i64, as an argument."""

    values: Lengths


@record(slots=True)
class Number:
    """An argument of a call: the address of a constant number of a dtype."""

    dtype: str
    value: int


@record(slots=True)
class After:
    """The epilogue of a product as arguments: the nest of a kernel, its extents, addresses and strides.

    `arguments` are those of the kernel.
    """

    kernel: str
    arguments: tuple[Quantity | Array, ...]


@record(slots=True)
class Rows:
    """Address of an array of a stage: `element` elements into a row of a line buffer; -1: in memory."""

    line_buffer: int
    row: Quantity
    element: Quantity


@record(slots=True)
class Stage:
    """A kernel of a pipeline: its arguments, the rows of each array, additions an element, the extents of its loops."""

    kernel: str
    arguments: tuple[Argument, ...]
    rows: tuple[Rows, ...]
    cost: int
    extents: Lengths


@record(slots=True)
class Stages:
    """The stages of a pipeline as arguments, and the number of line buffers between them."""

    stages: tuple[Stage, ...]
    line_buffers: int


@record(slots=True)
class Inner:
    """The call of a kernel of the runtime that runs inside another one, as an argument."""

    function: str
    arguments: tuple[Argument, ...]


@record(slots=True)
class Detail:
    """Argument of a kernel that fails: the array into which it writes the numbers of the error message."""


@record(slots=True)
class Poll:
    """Argument of a kernel with long loops: the function that tells whether Ctrl-C was pressed."""


Argument = Quantity | float | Array | Vector | Number | After | Stages | Detail | Poll | Inner | None
"""None stands for a field without a value."""


# --- steps; `site` is the number of the node that a step belongs to


@record(slots=True)
class Compute:
    """An i64 computed from others.  `failure`: the outcome if the result is negative; `axis`: where."""

    site: int
    result: str
    operator: str
    operands: Lengths
    failure: Outcome | None = None
    axis: int = 0


@record(slots=True)
class Guard:
    site: int
    test: str
    operands: Lengths
    failure: Outcome
    axis: int = 0


@record(slots=True)
class Read:
    site: int
    result: str
    array: Array


@record(slots=True)
class Fill:
    site: int
    local: str
    values: Lengths


@record(slots=True)
class Order:
    """`strides`: those of the operands, along all loops for each."""

    site: int
    local: str
    lengths: Lengths
    strides: Lengths


@record(slots=True)
class Allocate:
    site: int
    buffer: Buffer
    lengths: Lengths
    dtype: str


@record(slots=True)
class Offset:
    site: int
    result: str
    array: Array
    offset: Quantity


@record(slots=True)
class Select:
    """Makes `result` the address of `first` if `condition` is not 0, else that of `second`."""

    site: int
    result: str
    condition: Quantity
    first: Array
    second: Array


@record(slots=True)
class Pack:
    site: int
    result: str
    buffer: Buffer
    array: Array


@record(slots=True)
class Call:
    """A call of a generated kernel or of one of the runtime; one that is `fallible` returns a Status or an Outcome.

    The arguments of a kernel of the runtime stand in the order of the fields of its spec, None for one that is left
    out; `dtype` selects the table of the runtime.
    """

    site: int
    function: str
    arguments: tuple[Argument, ...]
    writes: tuple[Array, ...]
    reads: tuple[Array, ...]
    fallible: bool = False
    kernel: bool = False
    dtype: str = ""


@record(slots=True)
class Commit:
    """Mark after which no step can fail."""

    site: int


@record(slots=True)
class Restore:
    """Note that a failure from here on writes `kept` back over `array`, a part of an input."""

    site: int
    array: Array
    kept: Array


@record(slots=True)
class Host:
    """A host step: the NumPy meaning of the node's op.

    `results` become pointers, `lengths` are the names of the lengths of all results, one after the other.
    """

    site: int
    results: tuple[str, ...]
    lengths: tuple[str, ...]
    reads: tuple[Array, ...]


@record(slots=True)
class Loop:
    """Runs body number `body`, with a row of each sequence, the states and the others, `steps` times at most.

    `held`: for each state whether the body writes it in place, in the memory of its result.  `kept`: the lengths of
    each output of the body, as far as they are known; `made`: whether the loop allocates a result itself; `count`: the
    name of how many steps it took, where a condition ends it.
    """

    site: int
    body: int
    steps: Quantity
    sequences: tuple[Array, ...]
    states: tuple[Array, ...]
    others: tuple[Array, ...]
    traced: tuple[bool, ...]
    held: tuple[bool, ...]
    kept: tuple[tuple[Length, ...], ...]
    results: tuple[Array, ...]
    made: tuple[bool, ...]
    count: str | None


@record(slots=True)
class Choice:
    """Runs the first of two bodies if `condition` is not 0, else the second; see Loop."""

    site: int
    bodies: tuple[int, int]
    condition: Quantity
    operands: tuple[Array, ...]
    kept: tuple[tuple[Length, ...], ...]
    results: tuple[Array, ...]
    made: tuple[bool, ...]


@record(slots=True)
class Finish:
    site: int
    output: int
    array: Array


@record(slots=True)
class Release:
    """Return of the memory of a slot to the pool."""

    slot: int


Step = (
    Compute | Guard | Read | Fill | Order | Allocate | Offset | Select | Pack | Call | Commit | Restore | Host | Loop
    | Choice | Finish | Release
)  # fmt: skip


def arrays_of(step: Step) -> tuple[Array, ...]:
    """The arrays whose memory a step touches."""
    found: tuple[Array, ...] = _ARRAYS.get(type(step), lambda _: ())(step)
    return found


_ARRAYS: dict[type[Any], Any] = {
    Call: lambda s: s.writes + s.reads, Host: lambda s: s.reads, Choice: lambda s: s.operands + s.results,
    Loop: lambda s: s.sequences + s.states + s.others + s.results, Restore: lambda s: (s.array, s.kept),
    Select: lambda s: (s.first, s.second), **dict.fromkeys((Read, Offset, Pack, Finish), lambda s: (s.array,)),
}  # fmt: skip


def bodies_of(step: Step) -> tuple[int, ...]:
    """Return the numbers of the bodies that a step runs."""
    return step.bodies if isinstance(step, Choice) else (step.body,) if isinstance(step, Loop) else ()


# --- the whole


@record
class Site:
    """One node, for messages and profiles: its operands as arrays, in the node's order.

    `results`: its outputs as arrays, unknown in a program that was parsed.
    """

    node: Apply
    operands: tuple[Array, ...]
    text: str
    results: tuple[Array, ...] = field(default=(), compare=False)


@record
class Program:
    """A planned function: inputs, steps, sites, outputs, kernels.

    `locals` are the kinds of local names: INTEGER, POINTER, or a dtype and a count for arrays on the stack.  `slots`:
    the slot that each buffer lives in; several share one if their lives do not overlap and their sizes agree.
    """

    graph: FunctionGraph
    inputs: tuple[Array, ...]
    constants: tuple[Array, ...]
    steps: tuple[Step, ...]
    sites: tuple[Site, ...]
    kernels: tuple[Kernel, ...]
    locals: dict[str, tuple[str, int]]
    slots: dict[Buffer, int]
    products: tuple[str, ...]
    """Dtypes for which it needs the runtime's matrix products."""
    solvers: tuple[str, ...]
    """Dtypes for which it needs the runtime's LAPACK."""
    in_place: dict[int, int]
    """Outputs that are written over an input: output -> input."""
    dense_inputs: bool
    """Whether all inputs must be C-contiguous."""
    bodies: tuple[Program, ...] = ()
    """The inner graphs of loops and choices."""

    def __repr__(self) -> str:
        return f"<program of {counted(len(self.steps), 'step')}, {counted(len(self.kernels), 'kernel')}>"

    def _repr_html_(self) -> str:
        """The steps as text."""
        return pages.notebook.facts(repr(self).strip("<>"), ()) + pages.notebook.text_form(str(self))

    @cached_property
    def own_constants(self) -> tuple[Constant, ...]:
        """The constants of the program itself: those of its graph, and numbers of loops that are one kernel."""
        return with_numbers_outside(self.graph).constants

    @property
    def all_constants(self) -> list[Constant]:
        """The constants, and then those of the bodies, one body after the other."""
        return [*self.own_constants, *(c for body in self.bodies for c in body.all_constants)]

    @property
    def all_sites(self) -> list[Site | None]:
        """The nodes by their numbers in messages: the nodes of the program, an unused number, the nodes of bodies."""
        return [*self.sites, None, *(site for body in self.bodies for site in body.all_sites)]

    @property
    def all_parts(self) -> list[Program]:
        """The program, and then its bodies, each before its own."""
        found: list[Program] = []
        stack = [self]
        while stack:
            found.append(stack.pop())
            stack += reversed(found[-1].bodies)
        return found

    @property
    def calls_back(self) -> bool:
        """Whether the program or one of its bodies calls Python."""
        return any(isinstance(step, Host) for part in self.all_parts for step in part.steps)

    def body_base(self, base: int, number: int) -> int:
        """The number of the first node of a body, where that of the program is `base`."""
        return base + len(self.sites) + 1 + sum(len(body.all_sites) for body in self.bodies[:number])

    def constants_before(self, number: int) -> tuple[int, int]:
        """Return the number of constants before those of a body, and of their lengths."""
        before = [*self.own_constants, *(c for body in self.bodies[:number] for c in body.all_constants)]
        return len(before), sum(c.ndim for c in before)
