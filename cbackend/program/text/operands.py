"""The operands of a program's text: quantities, arrays, arguments.  The grammar is in text.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from typing import TypeVar

import numpy as np

from ...ir.kernel import Kernel
from ...ir.reader import Reader
from ...kernels import INNER, REAL, KernelSpec, specs
from ..program import (
    After,
    Argument,
    Array,
    Buffer,
    Inner,
    Lengths,
    Memory,
    Number,
    Quantity,
    Rows,
    Said,
    Stage,
    Stages,
    Vector,
)
from .names import Kinds, Names

T = TypeVar("T")
_BUFFER = re.compile(r"b(\d+)(?:_output(\d+))?")


class OperandParser:
    """A parser of operands: the base of the parser of programs."""

    def __init__(self, reader: Reader, kernels: Mapping[str, Kernel]) -> None:
        self.r: Reader = reader
        self.kernels: Mapping[str, Kernel] = kernels
        self.locals: Kinds = {}
        self.names: Names = Names(self.locals)

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

    def kernel(self) -> str:
        """The name of a kernel."""
        return self._known(self.kernels, "the name of a kernel of the file")

    def runtime_kernel(self) -> str:
        """The name of a kernel of the runtime."""
        return self._known(specs(), f"a kernel of the runtime: {', '.join(specs())}")

    def _known(self, names: Container[str], expected: str) -> str:
        name = self.r.name()
        if name not in names:
            self.r.back()
            self.r.fail(expected)
        return name

    def quantity(self) -> Quantity:
        """A number, a name, or an element of a vector."""
        if self.r.sees_number():
            return self.r.integer()
        name = self.r.name()
        if not self.r.accept("["):
            return name
        place = self.r.integer()
        self.r.expect("]")
        return f"{name}[{place}]"

    def quantities(self, opening: str = "[", closing: str = "]") -> Lengths:
        """Quantities in brackets."""
        return self.r.several(self.quantity, opening, closing)

    def as_buffer(self, name: str) -> Buffer:
        """Return the buffer of a name."""
        match = _BUFFER.fullmatch(name)
        if match is None:
            self.r.back()
            self.r.fail("a buffer such as b0 or b0_output1")
        return Buffer(int(match[1]), None if match[2] is None else int(match[2]))

    def buffer(self) -> Buffer:
        """A buffer by name."""
        return self.as_buffer(self.r.name())

    def _memory(self) -> Memory:
        name = self.r.name()
        if name == "nothing":
            return ""
        return name if _BUFFER.fullmatch(name) is None else self.as_buffer(name)

    def arrays(self) -> tuple[Array, ...]:
        """Arrays in parentheses."""
        return self.r.several(self.array, "(", ")")

    def array(self, new: str = "") -> Array:
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
        array = Array(base, dtype, lengths, strides, dense, memory)
        self.names.met(array)
        return array

    def _lengths(self) -> tuple[Lengths, Lengths | None, bool]:
        """Return lengths, strides if they are given, and whether the array is C-contiguous."""
        found: list[list[Quantity]] = [[]]
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

    def arguments(self) -> tuple[Argument, ...]:
        """Arguments in parentheses."""
        return self.r.several(self._argument, "(", ")")

    def fields(self, spec: KernelSpec) -> tuple[Argument, ...]:
        """Return the arguments of a kernel of the runtime, `name=argument` in parentheses."""
        kinds = {field.name: field.kind for field in spec.fields}
        found: dict[str, Argument] = {}

        def field() -> None:
            name = self._known(kinds, f"a field of {spec.name}: {', '.join(kinds)}")
            self.r.expect("=")
            found[name] = self._field(kinds[name])

        self.r.several(field, "(", ")")
        try:
            return spec.arguments(found)
        except TypeError as error:
            self.r.fail(str(error))

    def _field(self, kind: str) -> Argument:
        if kind == REAL:
            return float(self.r.take("number", "a number"))
        if kind == INNER:
            spec = specs()[self.runtime_kernel()]
            return Inner(spec.name, self.fields(spec))
        return self._argument()

    def _argument(self) -> Argument:
        if self.r.sees_number():
            value = self.r.integer()
            return Number(self.dtype(), value) if self.r.accept(":") else value
        if self.r.sees("["):
            return Vector(self.quantities())
        if self.r.accept("then"):
            return After(self.kernel(), self.arguments())  # type: ignore[arg-type]
        if self.r.accept("said"):
            return Said()
        if self.r.accept("{"):
            return self._stages()
        return self.quantity() if self._sees_quantity() else self.array()

    def _sees_quantity(self) -> bool:
        """Whether the next name is an integer, or an element of a vector of quantities."""
        name = self.r.name()
        self.r.back()
        return self.names.is_quantity(name) or name.startswith("order")

    def _stages(self) -> Stages:
        stages = []
        while not self.r.sees_number():
            stages.append(self._stage())
            self.r.expect(";")
        line_buffers = self.r.integer()
        self.r.expect("line_buffers")
        self.r.expect("}")
        return Stages(tuple(stages), line_buffers)

    def _stage(self) -> Stage:
        kernel, arguments = self.kernel(), self.arguments()
        self.r.expect("on")
        rows = self.r.several(self._rows, "(", ")")
        self.r.expect("cost")
        cost = self.r.integer()
        self.r.expect("over")
        return Stage(kernel, arguments, rows, cost, self.quantities())

    def _rows(self) -> Rows:
        if self.r.accept("memory"):
            return Rows(-1, 0, 0)
        self.r.expect("line_buffer")
        line_buffer = self.r.integer()
        self.r.expect("row")
        row = self.quantity()
        self.r.expect("+")
        return Rows(line_buffer, row, self.quantity())
