"""The verifier of programs: names are defined before use, memory is live where it is accessed, arguments match.

    verify_program(program)   raises InvalidProgram at the first step that breaks a rule

Planning runs it under ARIGNOTE_STRICT and in the tests.  The rules:

    names      an integer or a pointer gets its value once, before it is read
    memory     a buffer is allocated before it is touched and not after its slot is released; two live buffers share no
               slot; constants are never written, inputs if an output replaces them, behind `commit` or after `restore`
    shapes     an array has one stride for each length; quantities stand where integers are expected
    calls      kernels and intrinsics are known; a kernel gets the arguments of its signature, arrays of its dtypes; the
               effects are those of its arguments; an array that it reads may lie in one that it writes only element for
               element
    commit     nothing behind it can fail
    outputs    each is finished once
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ...graph.types import numpy_dtype
from ...record.spelling import counted
from ..ir.operands import Extent, Pointer, Stride
from ..kernels import spec_named, specs
from . import program as prog
from .calls import effects_of, flat, misfit
from .late import can_fail
from .text.names import memory_name
from .text.printing import Printer

OPERATORS: dict[str, int] = {
    "sum": 0, "product": 0, "either": -1, "join": 0, "broadcast": 2, "choose": 3, "differ": 2, "index": 2,
    "slice_count": 5, "slice_first": 5, "maximum": 2, "minimum": 2, "quotient": 2,
}  # fmt: skip
"""The operators of quantities, with the number of operands; 0: two or more, -1: any."""
TESTS: dict[str, int] = {
    "equal": 2, "not_negative": 1, "fits": 2, "reached": 2, "positive": 1, "has_room": 3, "reaches": 2, "holds": -1,
}  # fmt: skip
"""The tests of guards, with the number of operands."""


class InvalidProgram(ValueError):
    """A program that breaks a rule; the message has the rule and the step."""


def verify_program(program: prog.Program) -> None:
    """Raise InvalidProgram if the program or one of its bodies breaks a rule."""
    stack = [(program, "program")]
    while stack:
        inner, name = stack.pop()
        _Verifier(inner, name, is_body=inner is not program).run()
        stack += [(body, f"{name}, body {k}") for k, body in enumerate(inner.bodies)]


class _Verifier:
    """The state of the traversal of the steps: the names with values, and the live buffers."""

    def __init__(self, program: prog.Program, name: str, is_body: bool) -> None:
        self.program, self.name = program, name
        self.is_body = is_body
        """Whether the inputs that it overwrites are states of a loop, which need not survive a failure."""
        self.kernels = {kernel.name: kernel for kernel in program.kernels}
        self.known: set[str] = set()
        """Locals that have a value."""
        self.fixed = {str(a.base) for a in program.constants}
        self.given = {str(a.base) for a in program.inputs}
        self.replaced = {f"in{k}" for k in program.in_place.values()}
        self.live: dict[int, prog.Buffer] = {}
        """The buffer in each slot."""
        self.own: set[prog.Buffer] = set()
        """Buffers that were allocated, or have taken over a slot."""
        self.finished: set[int] = set(program.in_place)
        self.committed = False
        self.restored: set[prog.Array] = set()
        self.step: prog.Step | None = None
        for array in (*program.inputs, *program.constants):
            quantities = array.lengths if array.dense else array.lengths + array.strides
            self.known.update((str(array.base), *_names(quantities)))

    def run(self) -> None:
        for step in self.program.steps:
            self.step = step
            if self.committed and can_fail(step):
                self.fail("a step behind commit can fail")
            _RULES[type(step)](self, step)
        self.step = None
        for k in range(len(self.program.graph.outputs)):
            if k not in self.finished:
                self.fail(f"output {k} is never finished")

    def fail(self, rule: str) -> NoReturn:
        raise InvalidProgram(f"{self.name}: {rule}{self._where()}")

    def _where(self) -> str:
        """Return the line of the step."""
        if self.step is None:
            return ""
        printer = Printer(self.program, self.kernels)
        lines = printer.own_lines()
        return f"\n  in {next(line for step, line in lines if step is self.step)}"

    # --- names

    def reads(self, quantities: Iterable[prog.Quantity | None]) -> None:
        """Check that integers have values."""
        for quantity in quantities:
            if isinstance(quantity, str) and quantity.partition("[")[0] not in self.known:
                self.fail(f"{quantity} has no value yet")

    def defines(self, name: str, kind: str | None = None) -> None:
        """Record a local that gets its value."""
        if name not in self.program.locals:
            self.fail(f"{name} is not declared")
        if kind is not None and self.program.locals[name][0] != kind:
            self.fail(f"{name} is declared as {self.program.locals[name][0]}; expected {kind}")
        if name in self.known and not self.on_stack(name):
            self.fail(f"{name} has a value already")
        self.known.add(name)

    def on_stack(self, name: str) -> bool:
        """Whether a local is an array of the driver, which may have no elements."""
        return self.program.locals.get(name, (prog.INTEGER, 0))[0] not in (prog.INTEGER, prog.POINTER)

    # --- memory

    def takes(self, buffer: prog.Buffer) -> None:
        """Record a buffer that is allocated."""
        if buffer in self.own:
            self.fail(f"{memory_name(buffer)} is allocated already")
        self.own.add(buffer)
        if buffer.output is None:
            slot = self.slot(buffer)
            if slot in self.live:
                self.fail(f"{memory_name(buffer)} takes slot {slot} of {memory_name(self.live[slot])}, which is live")
            self.live[slot] = buffer

    def slot(self, buffer: prog.Buffer) -> int:
        if buffer not in self.program.slots:
            self.fail(f"{memory_name(buffer)} has no slot")
        return self.program.slots[buffer]

    def touches(self, array: prog.Array) -> None:
        """Check an array that is read or written: its quantities have values, its memory is live."""
        self.reads((*array.lengths, *array.strides))
        if len(array.lengths) != len(array.strides):
            self.fail(f"{len(array.strides)} strides for {counted(len(array.lengths), 'length')}")
        for memory in (array.base, *array.memory):
            if isinstance(memory, prog.Buffer):
                self._touches_buffer(memory)
            elif memory and memory not in self.known and not self.on_stack(memory):
                self.fail(f"{memory} has no value yet")

    def _touches_buffer(self, buffer: prog.Buffer) -> None:
        if buffer.output is not None:
            if buffer not in self.own:
                self.fail(f"{memory_name(buffer)} is not allocated")
            return
        slot = self.slot(buffer)
        if slot not in self.live:
            self.fail(f"{memory_name(buffer)} is not allocated, or its slot {slot} is released")
        if self.live[slot] != buffer:
            if buffer in self.own:
                self.fail(f"slot {slot} of {memory_name(buffer)} holds {memory_name(self.live[slot])} now")
            self.own.add(buffer)  # the slot, of the same size, is taken over
            self.live[slot] = buffer

    def writes(self, array: prog.Array) -> None:
        """Check an array that is written."""
        for memory in array.memory:
            if memory in self.fixed:
                self.fail(f"{memory} is a constant")
            allowed = memory in self.replaced and (self.is_body or self.committed or array in self.restored)
            if memory in self.given and not allowed:
                self.fail(f"{memory} is an input that is not to be overwritten here")

    # --- steps

    def let(self, step: prog.Compute) -> None:
        self._operands(step.operator, OPERATORS, step.operands)
        self.defines(step.result, prog.INTEGER)

    def guard(self, step: prog.Guard) -> None:
        self._operands(step.test, TESTS, step.operands)

    def _operands(self, word: str, table: dict[str, int], operands: tuple[prog.Quantity, ...]) -> None:
        if word not in table:
            self.fail(f"{word} is unknown; expected one of {', '.join(table)}")
        expected = table[word]
        if len(operands) != expected if expected > 0 else len(operands) < 2 + expected:
            self.fail(f"{word} has {counted(len(operands), 'operand')}; expected {expected or 'two or more'}")
        self.reads(operands)

    def read(self, step: prog.Read) -> None:
        self.touches(step.array)
        if step.array.lengths:
            self.fail("an array of rank 0 is expected")
        self.defines(step.result, prog.INTEGER)

    def fill(self, step: prog.Fill) -> None:
        self.reads(step.values)
        self.defines(step.local)
        if self.program.locals[step.local] != ("int64", len(step.values)):
            self.fail(f"{step.local} does not hold {len(step.values)} int64")

    def order(self, step: prog.Order) -> None:
        self.reads(step.lengths + step.strides)
        if len(step.strides) % max(len(step.lengths), 1):
            self.fail("strides along all loops are expected for each operand")
        self.defines(step.local)

    def allocate(self, step: prog.Allocate) -> None:
        self.reads(step.lengths)
        self.takes(step.buffer)

    def point(self, step: prog.Offset) -> None:
        self.touches(step.array)
        self.reads([step.offset])
        self.defines(step.result)

    def select(self, step: prog.Select) -> None:
        self.reads([step.condition])
        self.touches(step.first)
        self.touches(step.second)
        self.defines(step.result)

    def pack(self, step: prog.Pack) -> None:
        self.touches(step.array)
        self.takes(step.buffer)
        self.defines(step.result)

    def call(self, step: prog.Call) -> None:
        if step.kernel:
            self._launch(step.function, step.arguments)
        elif spec_named(step.function) is None:
            self.fail(f"{step.function} is no kernel of the runtime; expected one of {', '.join(specs())}")
        else:
            found = misfit(step.function, step.arguments)
            if found:
                self.fail(found)
        for argument in flat(step.arguments):
            if isinstance(argument, prog.Vector):
                self.reads(argument.values)
            elif isinstance(argument, str):
                self.reads([argument])
            elif isinstance(argument, prog.After):
                self._launch(argument.kernel, argument.arguments)
            elif isinstance(argument, prog.Stages):
                for stage in argument.stages:
                    self._launch(stage.kernel, stage.arguments)
        for array in dict.fromkeys(step.reads + step.writes):
            self.touches(array)
        for array in step.writes:
            self.writes(array)
        self._check_effects(step)

    def _launch(self, name: str, arguments: tuple[prog.Argument, ...]) -> None:
        kernel = self.kernels.get(name)
        if kernel is None:
            self.fail(f"{name} is no kernel of the program")
        if len(arguments) != len(kernel.arguments):
            self.fail(f"{name} is given {counted(len(arguments), 'argument')}; expected {len(kernel.arguments)}")
        for kind, argument in zip(kernel.arguments, arguments, strict=True):
            if isinstance(kind, Pointer):
                dtype = kernel.operands[kind.operand].dtype
                if not isinstance(argument, prog.Array) or not _fits(argument.dtype, dtype):
                    self.fail(f"{name} is given {_shown(argument)} for an array of {dtype}")
            elif isinstance(kind, (Extent, Stride)):
                if not isinstance(argument, (int, str)):
                    self.fail(f"{name} is given {_shown(argument)} for an integer")
                self.reads([argument])

    def _check_effects(self, step: prog.Call) -> None:
        writes, reads = effects_of(step, self.kernels)
        missing = [a for a in dict.fromkeys(writes) if a.base != "" and a not in step.writes]
        missing += [a for a in dict.fromkeys(reads) if a.base != "" and a not in step.reads + step.writes]
        if missing:
            self.fail(f"{_shown(missing[0])} is touched, but not among the effects")
        if not step.kernel:
            return
        for written in step.writes:
            for read in step.reads:
                if read.base == written.base and read.base != "" and _elsewhere(read, written):
                    self.fail(f"{_shown(read)} is read at other places than it is written at")

    def commit(self, step: prog.Commit) -> None:
        self.committed = True

    def restore(self, step: prog.Restore) -> None:
        for array in prog.arrays_of(step):
            self.touches(array)
        self.restored.add(step.array)

    def host(self, step: prog.Host) -> None:
        for array in step.reads:
            self.touches(array)
        for name in (*step.results, *step.lengths):
            self.defines(name)

    def loop(self, step: prog.Loop) -> None:
        self._runs(step.body)
        self.reads([step.steps])
        if step.count is not None:
            self.defines(step.count, prog.INTEGER)
        self._results(step)

    def choice(self, step: prog.Choice) -> None:
        for number in step.bodies:
            self._runs(number)
        self.reads([step.condition])
        self._results(step)

    def _runs(self, number: int) -> None:
        if number >= len(self.program.bodies):
            self.fail(f"there is no body {number}")

    def _results(self, step: prog.Loop | prog.Choice) -> None:
        results = set(step.results)
        for array, made in zip(step.results, step.made, strict=True):
            for name in _names(array.lengths):
                if name not in self.known:  # a length that the step finds out
                    self.defines(name, prog.INTEGER)
            if made and isinstance(array.base, prog.Buffer):
                self.takes(array.base)
            elif not made:
                self.touches(array)
            self.writes(array)
        for array in prog.arrays_of(step):
            if array not in results:
                self.touches(array)

    def finish(self, step: prog.Finish) -> None:
        self.touches(step.array)
        if step.output in self.finished:
            self.fail(f"output {step.output} is finished already")
        self.finished.add(step.output)

    def release(self, step: prog.Release) -> None:
        if step.slot not in self.live:
            self.fail(f"slot {step.slot} holds nothing")
        del self.live[step.slot]


def _names(quantities: Iterable[prog.Quantity]) -> Iterable[str]:
    return (n.partition("[")[0] for n in quantities if isinstance(n, str))


def _shown(argument: prog.Argument) -> str:
    """Return the address of an array; another argument as it is."""
    return memory_name(argument.base) if isinstance(argument, prog.Array) else str(argument)


def _fits(dtype: str, expected: str) -> bool:
    """Whether a kernel accepts elements of a dtype for another one: as plain bits, if it only moves them."""
    same_size = numpy_dtype(dtype).itemsize == numpy_dtype(expected).itemsize
    return dtype == expected or (expected.startswith("uint") and same_size)


def _elsewhere(read: prog.Array, written: prog.Array) -> bool:
    """Whether an element may be read after its memory was overwritten by another one."""
    return (read.lengths, read.strides) != (written.lengths, written.strides) and 0 not in read.strides


_RULES: dict[type[Any], Callable[[_Verifier, Any], None]] = {
    prog.Compute: _Verifier.let,
    prog.Guard: _Verifier.guard,
    prog.Read: _Verifier.read,
    prog.Fill: _Verifier.fill,
    prog.Order: _Verifier.order,
    prog.Allocate: _Verifier.allocate,
    prog.Offset: _Verifier.point,
    prog.Select: _Verifier.select,
    prog.Pack: _Verifier.pack,
    prog.Call: _Verifier.call,
    prog.Commit: _Verifier.commit,
    prog.Restore: _Verifier.restore,
    prog.Host: _Verifier.host,
    prog.Loop: _Verifier.loop,
    prog.Choice: _Verifier.choice,
    prog.Finish: _Verifier.finish,
    prog.Release: _Verifier.release,
}
