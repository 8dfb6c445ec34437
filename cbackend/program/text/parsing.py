"""The text form of a program (see printing.py), read back: `parse_program(program_text(p), graph, kernels) == p`."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ....graph import FunctionGraph
from ....ops.control.cond import Cond
from ....ops.control.scan_ops import Scan
from ....ops.lowered.fused import unmarked
from ...ir.kernel import Kernel
from ...ir.reader import Reader
from ...kernels import (
    INNER,
    OF_ALL_DTYPES,
    REAL,
    KernelSpec,
    convolution_libraries,
    packed_libraries,
    spec_named,
    specs,
)
from .. import program as prog
from ..calls import effects_of, known_spec
from ..outcome import Outcome
from .names import Kinds, Names, implied_locals

T = TypeVar("T")
_BUFFER = re.compile(r"b(\d+)(?:_output(\d+))?")


def parse_program(text: str, graph: FunctionGraph, kernels: Sequence[Kernel]) -> prog.Program:
    """The program of a text form, of the graph and with the kernels that it names.

    Raises IRSyntaxError for any other text: the line, the column, and what was expected there.
    """
    reader = Reader(text)
    found = _Parser(reader, {kernel.name: kernel for kernel in kernels}, graph)
    program = found.program("program")
    reader.end_of_text()
    return program


class _Parser:
    """The parser of one program; its bodies have parsers of their own, which share the reader."""

    def __init__(self, reader: Reader, kernels: Mapping[str, Kernel], graph: FunctionGraph | None) -> None:
        self.r: Reader = reader
        self.kernels: Mapping[str, Kernel] = kernels
        self.locals: Kinds = {}
        self.names: Names = Names(self.locals)
        self.graph = graph
        self.inputs: list[prog.Array] = []
        self.constants: list[prog.Array] = []
        self.slots: dict[prog.Buffer, int] = {}
        self.in_place: dict[int, int] = {}
        self.dense = False
        self.products: tuple[str, ...] = ()
        self.solvers: tuple[str, ...] = ()
        self.used: tuple[str, ...] = ()
        self.steps: list[prog.Step] = []
        self.nodes: list[tuple[int, str, tuple[prog.Array, ...]]] = []
        self.bodies: list[_Parser] = []
        self.site = 0

    def program(self, head: str) -> prog.Program:
        """The program that begins here."""
        self.read(head)
        return self.made()

    def read(self, head: str) -> None:
        """Read the lines; bodies become programs once the nodes that run them are known."""
        self.r.next_line()
        self.r.expect(head)
        if head == "body":
            self.r.integer()
        self.r.expect("{")
        self.r.end_of_line()
        while not self.r.accept("}"):
            self._line()

    def made(self) -> prog.Program:
        """Return the program; its bodies have the inner graphs of its nodes."""
        graph = self.graph
        assert graph is not None
        order = graph.order
        for number, _, _ in self.nodes:
            if number >= len(order):
                self.r.fail(f"a node of the graph, which has {len(order)}")
        sites = tuple(prog.Site(order[number], operands, text) for number, text, operands in self.nodes)
        self._give_graphs(sites)
        return prog.Program(
            graph, tuple(self.inputs), tuple(self.constants), tuple(self.steps), sites,
            tuple(self.kernels[name] for name in self.used), self.locals, self.slots, self.products, self.solvers,
            self.in_place, self.dense, tuple(body.made() for body in self.bodies),
        )  # fmt: skip

    def _give_graphs(self, sites: Sequence[prog.Site]) -> None:
        for step in self.steps:
            if not isinstance(step, (prog.Loop, prog.Choice)):
                continue
            if any(number >= len(self.bodies) for number in prog.bodies_of(step)):
                self.r.fail(f"bodies {prog.bodies_of(step)} of node {step.site}")
            op = unmarked(sites[step.site].node.op) if step.site < len(sites) else None
            if isinstance(step, prog.Loop) and isinstance(op, Scan):
                self.bodies[step.body].graph = op.graph
            elif isinstance(step, prog.Choice) and isinstance(op, Cond):
                for number, graph in zip(step.bodies, (op.then, op.otherwise), strict=True):
                    self.bodies[number].graph = graph
            else:
                self.r.fail(f"a loop or a choice as node {step.site}")
        if any(body.graph is None for body in self.bodies):
            self.r.fail("a step for each body")

    # --- lines

    def _line(self) -> None:
        heading = self.r.heading()
        if heading is not None:
            self.site = heading
            return
        for word, read in _LINES.items():
            if self.r.accept(word):
                read(self)
                break
        else:
            self._step()
        self.r.end_of_line()

    def _input(self) -> None:
        self.inputs.append(self._leaf())

    def _constant(self) -> None:
        self.constants.append(self._leaf())

    def _leaf(self) -> prog.Array:
        dtype = self.dtype()
        array = replace(self.array(new=dtype), dtype=dtype)
        self.locals.update(implied_locals([array]))
        return array

    def _integers(self) -> None:
        self.locals.update((name, (prog.INTEGER, 0)) for name in self.separated(self.r.name))

    def _pointers(self) -> None:
        self.locals.update((name, (prog.POINTER, 0)) for name in self.separated(self.r.name))

    def _vector(self) -> None:
        dtype, name = self.dtype(), self.r.name()
        self.r.expect("[")
        self.locals[name] = (dtype, self.r.integer())
        self.r.expect("]")

    def _buffer_line(self) -> None:
        buffer = self.buffer()
        self.r.expect("slot")
        self.slots[buffer] = self.r.integer()

    def _output(self) -> None:
        number = self.r.integer()
        self.r.expect("over")
        self.r.expect("input")
        self.in_place[number] = self.r.integer()

    def _dense(self) -> None:
        self.r.expect("inputs")
        self.dense = True

    def _products(self) -> None:
        self.products = self.separated(self.library)

    def _solvers(self) -> None:
        self.solvers = self.separated(self.dtype)

    def _kernels(self) -> None:
        self.used = self.separated(self.kernel)

    def _body(self) -> None:
        self.r.back()
        body = _Parser(self.r, self.kernels, None)
        body.read("body")
        self.bodies.append(body)

    def _node(self) -> None:
        number = self.r.integer()
        if number != len(self.nodes):
            self.r.fail(f"node {len(self.nodes)}")
        self.r.expect("is")
        place, text = self.r.integer(), self.r.string()
        self.nodes.append((place, text, self.arrays() if self.r.accept("of") else ()))

    # --- steps

    def _step(self) -> None:
        step = self._new_step()
        self.names.passed(step)
        self.steps.append(step)

    def _new_step(self) -> prog.Step:
        for word, read in _STEPS.items():
            if self.r.accept(word):
                return read(self)
        names = self.separated(self.r.name)
        self.r.expect("=")
        if self.r.accept("host"):
            return self._host(names)
        (name,) = names if len(names) == 1 else (self.r.fail("'host' for several names"),)
        for word, define in _DEFINITIONS.items():
            if self.r.accept(word):
                return define(self, name)
        if self.r.sees("["):
            return prog.Fill(self.site, name, self.quantities())
        operator = self.r.name()
        operands = self.quantities("(", ")")
        return prog.Compute(self.site, name, operator, operands, *self._or())

    def _or(self) -> tuple[Outcome | None, int]:
        failure = None
        if self.r.accept("or"):
            word = self.r.name()
            if word not in Outcome.__members__:
                self.r.back()
                self.r.fail("an outcome such as LENGTHS")
            failure = Outcome[word]
        return failure, self.r.integer() if self.r.accept("axis") else 0

    def _guard(self) -> prog.Step:
        test = self.r.name()
        operands = self.quantities("(", ")")
        failure, axis = self._or()
        if failure is None:
            self.r.fail("'or' and an outcome")
        return prog.Guard(self.site, test, operands, failure, axis)

    def _order(self, name: str) -> prog.Step:
        lengths = self.quantities()
        self.r.expect("of")
        return prog.Order(self.site, name, lengths, self.quantities())

    def _allocate(self, name: str) -> prog.Step:
        dtype = self.dtype()
        return prog.Allocate(self.site, self.as_buffer(name), self.quantities(), dtype)

    def _point(self, name: str) -> prog.Step:
        array = self.array()
        self.r.expect("+")
        return prog.Offset(self.site, name, array, self.quantity())

    def _select(self, name: str) -> prog.Step:
        condition = self.quantity()
        self.r.expect("?")
        first = self.array()
        self.r.expect("or")
        return prog.Select(self.site, name, condition, first, self.array())

    def _pack(self, name: str) -> prog.Step:
        array = self.array()
        self.r.expect("into")
        return prog.Pack(self.site, name, self.buffer(), array)

    def _call(self) -> prog.Step:
        return self._called(False)

    def _launch(self) -> prog.Step:
        return self._called(True)

    def _called(self, is_kernel: bool) -> prog.Step:
        function = self.kernel() if is_kernel else self.runtime_kernel()
        dtype = self.dtype() if not is_kernel and self.r.accept(":") else ""
        arguments = self.arguments() if is_kernel else self.fields(known_spec(function))
        fallible = self.r.accept("may")
        if fallible:
            self.r.expect("fail")
        step = prog.Call(self.site, function, arguments, (), (), fallible, is_kernel, dtype)
        if self.r.accept("writes"):
            writes = self.arrays()
            self.r.expect("reads")
            return replace(step, writes=writes, reads=self.arrays())
        writes, reads = effects_of(step, self.kernels)
        return replace(step, writes=writes, reads=reads)

    def _host(self, names: Sequence[str]) -> prog.Step:
        reads = self.r.several(self.array, "(", ")")
        lengths = tuple(name for name in names if self.names.is_quantity(name))
        return prog.Host(self.site, tuple(name for name in names if name not in lengths), lengths, reads)

    def _loop(self, count: str | None = None) -> prog.Step:
        body = self._after("body", self.r.integer)
        steps = self._after("steps", self.quantity)
        sequences, states, others = (self._after(word, self.arrays) for word in ("along", "from", "with"))
        results, made, kept = self._results()
        traced = self._after("traced", self.flags)
        held = self.flags() if self.r.accept("held") else (False,) * len(states)
        return prog.Loop(self.site, body, steps, sequences, states, others, traced, held, kept, results, made, count)

    def _after(self, word: str, read: Callable[[], T]) -> T:
        """Return what stands behind a word."""
        self.r.expect(word)
        return read()

    def _choice(self) -> prog.Step:
        condition = self.quantity()
        numbers = []
        for sign in "?:":
            self.r.expect(sign)
            self.r.expect("body")
            numbers.append(self.r.integer())
        self.r.expect("with")
        operands = self.arrays()
        results, made, kept = self._results()
        return prog.Choice(self.site, (numbers[0], numbers[1]), condition, operands, kept, results, made)

    def _results(self) -> tuple[tuple[prog.Array, ...], tuple[bool, ...], tuple[tuple[prog.Quantity | None, ...], ...]]:
        self.r.expect("into")
        results = self.arrays()
        self.r.expect("made")
        made = self.flags()
        self.r.expect("kept")
        kept = tuple(self.r.several(lambda: self.r.or_none(self.quantity)) for _ in results)
        return results, made, kept

    def _finish(self) -> prog.Step:
        self.r.expect("output")
        return prog.Finish(self.site, self.r.integer(), self.array())

    def _restore(self) -> prog.Step:
        array = self.array()
        self.r.expect("from")
        return prog.Restore(self.site, array, self.array())

    def _release(self) -> prog.Step:
        self.r.expect("slot")
        return prog.Release(self.r.integer())

    # --- operands

    def separated(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Return one or more items with commas between them."""
        found = [item()]
        while self.r.accept(","):
            found.append(item())
        return tuple(found)

    def flags(self) -> tuple[bool, ...]:
        """Return a list of 0 and 1."""
        return tuple(map(bool, self.r.several(self.r.integer)))

    def dtype(self) -> str:
        """The name of a dtype."""
        name = self.r.name()
        try:
            np.dtype(name)
        except TypeError:
            self.r.back()
            self.r.fail("a dtype")
        return name

    def library(self) -> str:
        """The name of a library of products: a dtype, with convolutions, a format of packed weights, or a table."""
        name = self.r.name()
        if name in packed_libraries() or name in convolution_libraries() or name in OF_ALL_DTYPES:
            return name
        self.r.back()
        return self.dtype()

    def kernel(self) -> str:
        """The name of a kernel."""
        return self._known(self.kernels, "the name of a kernel of the file")

    def runtime_kernel(self) -> str:
        """The name of a kernel of the runtime."""
        name = self.r.name()
        if spec_named(name) is None:
            self.r.back()
            self.r.fail(f"a kernel of the runtime: {', '.join(specs())}")
        return name

    def _known(self, names: Container[str], expected: str) -> str:
        name = self.r.name()
        if name not in names:
            self.r.back()
            self.r.fail(expected)
        return name

    def quantity(self) -> prog.Quantity:
        """A number, a name, or an element of a vector."""
        if self.r.sees_number():
            return self.r.integer()
        name = self.r.name()
        if not self.r.accept("["):
            return name
        place = self.r.integer()
        self.r.expect("]")
        return f"{name}[{place}]"

    def quantities(self, opening: str = "[", closing: str = "]") -> prog.Lengths:
        """Quantities in brackets."""
        return self.r.several(self.quantity, opening, closing)

    def as_buffer(self, name: str) -> prog.Buffer:
        """Return the buffer of a name."""
        match = _BUFFER.fullmatch(name)
        if match is None:
            self.r.back()
            self.r.fail("a buffer such as b0 or b0_output1")
        return prog.Buffer(int(match[1]), None if match[2] is None else int(match[2]))

    def buffer(self) -> prog.Buffer:
        """A buffer by name."""
        return self.as_buffer(self.r.name())

    def _memory(self) -> prog.Memory:
        name = self.r.name()
        if name == "nothing":
            return ""
        return name if _BUFFER.fullmatch(name) is None else self.as_buffer(name)

    def arrays(self) -> tuple[prog.Array, ...]:
        """Arrays in parentheses."""
        return self.r.several(self.array, "(", ")")

    def array(self, new: str = "") -> prog.Array:
        """Return an array; `new`: its dtype, where the line declares it."""
        base = self._memory()
        lengths, strides, dense = self._lengths() if self.r.sees("[") else ((), None, True)
        if strides is None:
            strides = self.names.strides(lengths)
            if strides is None:
                self.r.fail("'|' and strides, which are products that no line above names")
        place = self.names.place(base)
        dtype = self.dtype() if self.r.accept(":") else new or (place.dtype if place is not None else "")
        if not dtype:
            self.r.fail("':' and a dtype, which no line above tells")
        memory = place.memory if place is not None else (base,)
        if self.r.accept("in"):
            memory = self.r.several(self._memory, "(", ")")
        array = prog.Array(base, dtype, lengths, strides, dense, memory)
        self.names.met(array)
        return array

    def _lengths(self) -> tuple[prog.Lengths, prog.Lengths | None, bool]:
        """Return lengths, strides if they are given, and whether the array is C-contiguous."""
        found: list[list[prog.Quantity]] = [[]]
        self.r.expect("[")
        dense = False
        while not self.r.accept("]"):
            if self.r.accept("|"):
                found.append([])
            elif self.r.accept("dense"):
                dense = True
            elif not self.r.accept(","):
                found[-1].append(self.quantity())
        if len(found) > 2:
            self.r.fail("lengths and strides")
        return (tuple(found[0]), tuple(found[1]), dense) if len(found) == 2 else (tuple(found[0]), None, True)

    def arguments(self) -> tuple[prog.Argument, ...]:
        """Arguments in parentheses."""
        return self.r.several(self._argument, "(", ")")

    def fields(self, spec: KernelSpec) -> tuple[prog.Argument, ...]:
        """Return the arguments of a kernel of the runtime, `name=argument` in parentheses."""
        kinds = {field.name: field.kind for field in spec.fields}
        found: dict[str, prog.Argument] = {}

        def field() -> None:
            name = self._known(kinds, f"a field of {spec.name}: {', '.join(kinds)}")
            self.r.expect("=")
            found[name] = self._field(kinds[name])

        self.r.several(field, "(", ")")
        try:
            return spec.arguments(found)
        except TypeError as error:
            self.r.fail(str(error))

    def _field(self, kind: str) -> prog.Argument:
        if kind == REAL:
            return float(self.r.take("number", "a number"))
        if kind == INNER:
            spec = known_spec(self.runtime_kernel())
            return prog.Inner(spec.name, self.fields(spec))
        return self._argument()

    def _argument(self) -> prog.Argument:
        if self.r.sees_number():
            value = self.r.integer()
            return prog.Number(self.dtype(), value) if self.r.accept(":") else value
        if self.r.sees("["):
            return prog.Vector(self.quantities())
        if self.r.accept("then"):
            return prog.After(self.kernel(), self.arguments())  # type: ignore[arg-type]
        if self.r.accept("detail"):
            return prog.Detail()
        if self.r.accept("poll"):
            return prog.Poll()
        if self.r.accept("{"):
            return self._stages()
        return self.quantity() if self._sees_quantity() else self.array()

    def _sees_quantity(self) -> bool:
        """Whether the next name is an integer, or an element of a vector of quantities."""
        name = self.r.name()
        self.r.back()
        return self.names.is_quantity(name) or name.startswith("order")

    def _stages(self) -> prog.Stages:
        stages = []
        while not self.r.sees_number():
            stages.append(self._stage())
            self.r.expect(";")
        line_buffers = self.r.integer()
        self.r.expect("line_buffers")
        self.r.expect("}")
        return prog.Stages(tuple(stages), line_buffers)

    def _stage(self) -> prog.Stage:
        kernel, arguments = self.kernel(), self.arguments()
        self.r.expect("on")
        rows = self.r.several(self._rows, "(", ")")
        cost = self._after("cost", self.r.integer)
        self.r.expect("over")
        return prog.Stage(kernel, arguments, rows, cost, self.quantities())

    def _rows(self) -> prog.Rows:
        if self.r.accept("memory"):
            return prog.Rows(-1, 0, 0)
        line_buffer = self._after("line_buffer", self.r.integer)
        row = self._after("row", self.quantity)
        self.r.expect("+")
        return prog.Rows(line_buffer, row, self.quantity())


_LINES: dict[str, Callable[[_Parser], None]] = {
    "input": _Parser._input,
    "constant": _Parser._constant,
    "integer": _Parser._integers,
    "pointer": _Parser._pointers,
    "vector": _Parser._vector,
    "buffer": _Parser._buffer_line,
    "output": _Parser._output,
    "dense": _Parser._dense,
    "products": _Parser._products,
    "solvers": _Parser._solvers,
    "kernels": _Parser._kernels,
    "body": _Parser._body,
    "node": _Parser._node,
}
_STEPS: dict[str, Callable[[_Parser], prog.Step]] = {
    "guard": _Parser._guard,
    "launch": _Parser._launch,
    "call": _Parser._call,
    "commit": lambda p: prog.Commit(p.site),
    "restore": _Parser._restore,
    "loop": _Parser._loop,
    "choice": _Parser._choice,
    "finish": _Parser._finish,
    "release": _Parser._release,
}
_DEFINITIONS: dict[str, Callable[[_Parser, str], prog.Step]] = {
    "read": lambda p, name: prog.Read(p.site, name, p.array()),
    "order": _Parser._order,
    "allocate": _Parser._allocate,
    "point": _Parser._point,
    "select": _Parser._select,
    "pack": _Parser._pack,
    "loop": _Parser._loop,
}
