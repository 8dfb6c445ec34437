"""The C lines of each kind of step: a table by class, independent of how steps are grouped into functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...graph.types import numpy_dtype
from ..ctext.helper import storage_type
from ..ir.kernel import Kernel
from ..ir.operands import Extent, Extra, Pointer, Stride
from ..program import accounts
from ..program import program as prog
from ..program.launches import is_launched, reduced_alone, runs_in_any_order, steps_alone
from ..program.outcome import Outcome
from ..program.planned import flops
from . import arena
from .body_calls import choice_lines, loop_lines
from .kernel_calls import kernel_call
from .spelling import FAILS_IF, FORMS, FUNCTIONS
from .undo import noted

DETAIL = 64
"""The length of ag_call.detail."""


class StepText:
    """Prints steps.  Locals are declared where they get their value, or else (`in_frame`) are fields of the frame."""

    def __init__(self, program: prog.Program, in_frame: bool, base: int = 0, has_places: bool = False) -> None:
        self.program = program
        self.has_places = has_places  # the buffers of a call share a block
        self.base = base
        """The number that messages give the first node."""
        self.prefix = "f->" if in_frame else ""
        self.kernels: dict[str, Kernel] = {kernel.name: kernel for kernel in program.kernels}
        self.launched: dict[str, Kernel] = {kernel.name: kernel for kernel in program.kernels if is_launched(kernel)}
        self.buffers: dict[prog.Buffer, int] = {buffer: n for n, buffer in enumerate(program.slots)}
        self.helpers: dict[str, None] = {}
        """The helpers of the driver that a line calls."""
        self.defined: str = ""
        """The length that a line computes, or the vector of lengths that it fills, if it does nothing else."""
        self.used: set[str] = set()
        """The locals that a line reads."""
        self.first_output: int = len(program.inputs)
        at = sum(len(i.lengths) for i in program.inputs)
        self.output_lengths: list[int] = []
        """Offset in ag_call.lengths of the lengths of each output."""
        for o in program.graph.outputs:
            self.output_lengths.append(at)
            at += o.ndim

    def lines(self, step: prog.Step, count: int = 1) -> Iterator[str]:
        """Yield the C of a step; with a `count`, of as many equal steps on consecutive slots."""
        if count == 1:
            yield from _PRINTERS[type(step)](self, step)
            return
        assert isinstance(step, (prog.Allocate, prog.Release))
        first = step.slot if isinstance(step, prog.Release) else self.program.slots[step.buffer]
        yield f"for (i32 k = {first}; k < {first + count}; k++) {{"
        yield from ("    " + line.replace(f"f->b[{first}]", "f->b[k]") for line in self.lines(step))
        yield "}"

    # --- facts of a line
    def begin_line(self) -> None:
        """Forget the facts of the last line."""
        self.defined = ""
        self.used.clear()
        self.helpers.clear()

    # --- names
    def helper(self, name: str) -> str:
        """The name of a helper that a line calls."""
        self.helpers[name] = None
        return name

    def new(self, name: str) -> str:
        """Return the left side of the assignment that defines a quantity or a pointer."""
        if self.prefix:
            return self.prefix + name
        self.defined = name
        return f"const i64 {name}" if self.program.locals[name][0] == prog.INTEGER else f"void *const {name}"

    def q(self, quantity: prog.Quantity) -> str:
        if not isinstance(quantity, str):
            return str(quantity)
        self.used.add(quantity.partition("[")[0])  # an element of a vector reads the vector
        return f"{self.prefix}{quantity}"

    def qs(self, quantities: prog.Lengths) -> list[str]:
        return [self.q(n) for n in quantities]

    def vector(self, quantities: prog.Lengths) -> str:
        return f"(const i64[]){{{', '.join(self.qs(quantities)) or '0'}}}"

    def memory(self, base: prog.Memory) -> str:
        if not isinstance(base, prog.Buffer):
            self.used.add(base)
            return self.prefix + base if base else "0"  # nothing is read where nothing was computed
        return f"f->b[{self.program.slots[base]}]" if base.output is None else f"f->o[{base.output}]"

    def argument(self, argument: prog.Argument) -> str:
        if isinstance(argument, prog.Array):
            return self.memory(argument.base)
        if isinstance(argument, prog.Vector):
            return self.vector(argument.values)
        if isinstance(argument, prog.Number):
            return f"(const {storage_type(argument.dtype)}[]){{{_bits(argument)}}}"
        if isinstance(argument, prog.After):
            extents, data, strides = self._places(argument.arguments, self.launched[argument.kernel])
            nest = f"&{argument.kernel}_nest, (const i64[]){{{', '.join(extents)}}}"
            return f"{nest}, (void *[]){{{', '.join(data)}}}, (const i64[]){{{', '.join(strides)}}}"
        if isinstance(argument, prog.Stages):
            stages, count = ",\n    ".join(map(self._stage, argument.stages)), len(argument.stages)
            return f"{count}, (const ag_stage[]){{\n    {stages}}}, {argument.line_buffers}"
        if isinstance(argument, prog.Detail):
            return "call->detail"
        if isinstance(argument, prog.Poll):
            return "rt->stopped"
        assert isinstance(argument, (int, str)), argument
        return self.q(argument)

    def _stage(self, stage: prog.Stage) -> str:
        extents, data, strides = self._places(stage.arguments, self.launched[stage.kernel])
        rows = ", ".join(f"{{{r.line_buffer}, {self.q(r.row)}, {self.q(r.element)}}}" for r in stage.rows)
        return (
            f"{{&{stage.kernel}_nest, (const i64[]){{{', '.join(extents)}}}, (void *[]){{{', '.join(data)}}},\n"
            f"        (const i64[]){{{', '.join(strides)}}},\n        (const ag_rows[]){{{rows}}}}}"
        )

    # --- failure
    def fail(self, outcome: Outcome, site: int, axis: int, operands: prog.Lengths) -> str:
        """Return the statement that ends the call with the lengths of the node's operands for the message."""
        shapes: prog.Lengths = ()
        if site < len(self.program.sites) and outcome in (Outcome.LENGTHS, Outcome.INDICES, Outcome.RESHAPE):
            shapes = tuple(n for array in self.program.sites[site].operands for n in array.lengths)
        numbers = (len(operands), *operands, *shapes)[:DETAIL]
        why = f"{int(outcome)} /* {outcome.name} */, {self.base + site}, {axis}"
        return f"return {self.helper('ag_fail')}(call, {why}, {len(numbers)}, {self.vector(numbers)});"

    # --- the kinds of steps
    def let(self, step: prog.Compute) -> Iterator[str]:
        yield f"{self.new(step.result)} = {self._value(step)};"
        if step.failure is not None:
            yield f"if ({self.q(step.result)} < 0) {self.fail(step.failure, step.site, step.axis, step.operands)}"

    def _value(self, step: prog.Compute) -> str:
        operands = self.qs(step.operands)
        if step.operator in ("sum", "product", "either"):
            return {"sum": " + ", "product": " * ", "either": " || "}[step.operator].join(operands)
        if step.operator in FORMS:
            return FORMS[step.operator].format(*operands)
        function = self.helper(FUNCTIONS[step.operator])
        if step.operator != "join":
            return f"{function}({', '.join(operands)})"
        text = operands[0]
        for operand in operands[1:]:
            text = f"{function}({text}, {operand})"
        return text

    def guard(self, step: prog.Guard) -> Iterator[str]:
        test = FAILS_IF[step.test].format(*self.qs(step.operands))
        yield f"if ({test}) {self.fail(step.failure, step.site, step.axis, step.operands)}"

    def read(self, step: prog.Read) -> Iterator[str]:
        yield f"{self.new(step.result)} = (i64)*(const {storage_type(step.array.dtype)} *){self.argument(step.array)};"

    def fill(self, step: prog.Fill) -> Iterator[str]:
        for k, value in enumerate(step.values):
            self.defined = step.local
            yield f"{self.prefix}{step.local}[{k}] = {self.q(value)};"

    def order(self, step: prog.Order) -> Iterator[str]:
        rank, operands = len(step.lengths), len(step.strides) // len(step.lengths)
        lengths, strides = self.vector(step.lengths), self.vector(step.strides)
        yield f"{self.helper('ag_order')}(call, {rank}, {lengths}, {operands}, {strides},"
        self.used.add(step.local)
        yield f"    {self.prefix}{step.local});"

    def allocate(self, step: prog.Allocate) -> Iterator[str]:
        item, lengths = numpy_dtype(step.dtype).itemsize, self.vector(step.lengths)
        address = self.memory(step.buffer)
        if step.buffer.output is None:
            yield f"{address} = {arena.taking(self, address)}{item}, {len(step.lengths)}, {lengths});"
        else:
            k = step.buffer.output
            at = self.output_lengths[k]
            rank = len(self.program.graph.outputs[k].type.shape)
            place = f"{self.first_output + k}, {at}, {rank}"
            yield f"{address} = {self.helper('ag_output')}(call, {place}, {item}, {len(step.lengths)}, {lengths});"
        yield f"if (!{address}) {self.fail(Outcome.MEMORY, step.site, 0, step.lengths)}"

    def point(self, step: prog.Offset) -> Iterator[str]:
        kind = storage_type(step.array.dtype)
        yield f"{self.new(step.result)} = ({kind} *){self.argument(step.array)} + {self.q(step.offset)};"

    def select(self, step: prog.Select) -> Iterator[str]:
        first, second = self.argument(step.first), self.argument(step.second)
        yield f"{self.new(step.result)} = {self.q(step.condition)} ? {first} : {second};"

    def pack(self, step: prog.Pack) -> Iterator[str]:
        array = step.array
        item, rank = numpy_dtype(array.dtype).itemsize, len(array.lengths)
        lengths, strides = self.vector(array.lengths), self.vector(array.strides)
        source = self.argument(array)
        shape = f"{item}, {rank}, {lengths}"
        pack, block = self.helper("ag_pack"), self.memory(step.buffer)
        yield f"{self.new(step.result)} = {pack}(rt, &{block}, {shape}, {source}, {strides});"
        yield f"if (!{self.q(step.result)}) {self.fail(Outcome.MEMORY, step.site, 0, array.lengths)}"

    def call(self, step: prog.Call) -> Iterator[str]:
        if not step.kernel:
            yield from kernel_call(self, step)
            return
        given = ", ".join(self._given(step))
        kernel = self.launched.get(step.function)
        if kernel is not None:
            yield from self._launch(step, kernel, f"{step.function}({given})")
            return
        if step.fallible:
            yield f"f->outcome = {step.function}({given});"
            polls = any(isinstance(a, prog.Poll) for a in step.arguments)
            status = _STOPPED if polls else f"{int(Outcome.KERNEL)} + f->outcome"
            yield f"if (f->outcome) {self.failed(status, step.site)}"
        else:
            yield f"{step.function}({given});"

    def _given(self, step: prog.Call) -> list[str]:
        """Return the arguments of a plain call; 0 for an array of which the kernel reads only the lengths.

        It may lie where the kernel's `restrict` output is written, of which compilers complain.
        """
        given = list(map(self.argument, step.arguments))
        kernel = self.kernels.get(step.function)
        for k, kind in enumerate(kernel.arguments if kernel is not None else ()):
            if isinstance(kind, Pointer) and kernel is not None:
                given[k] = self._pointer(given[k], step.arguments[k], kernel.operands[kind.operand].dtype)
                if not kernel.reads(kind.operand):
                    given[k] = "0"
        return given

    def _pointer(self, address: str, argument: prog.Argument, dtype: str) -> str:
        """Return the address for a kernel of elements of `dtype`, which moves some dtypes as words of their size."""
        if isinstance(argument, prog.Number):
            declared = argument.dtype
        elif isinstance(argument, prog.Array) and not isinstance(argument.base, prog.Buffer) and argument.base:
            declared = self.program.locals[argument.base][0]
        else:
            return address
        differs = declared != prog.POINTER and storage_type(declared) != storage_type(dtype)
        return f"(void *){address}" if differs else address

    def interrupted(self, site: int) -> str:
        return self.failed(f"{int(Outcome.INTERRUPTED)} /* INTERRUPTED */", site)

    def failed(self, status: str, site: int) -> str:
        """Return the statement that ends the call; its message needs no numbers."""
        return f"return {self.helper('ag_fail')}(call, {status}, {self.base + site}, 0, 0, 0);"

    def _launch(self, step: prog.Call, kernel: Kernel, alone: str) -> Iterator[str]:
        """Yield a plain call of the kernel if there is little work, else a launch, which may split it into chunks."""
        extents, data, strides = self._places(step.arguments, kernel)
        launch = [
            f"rt->launch(rt, &{kernel.name}_nest, (const i64[]){{{', '.join(extents)}}},",
            f"    (void *[]){{{', '.join(data)}}},",
            f"    (const i64[]){{{', '.join(strides)}}}, call->detail)",
        ]
        little = f"{' * '.join(extents)} < {steps_alone(kernel)}"
        if (reduced := reduced_alone(kernel)) is not None:
            loops, limit = reduced
            if limit < steps_alone(kernel):
                little += f" && {' * '.join(extents[l] for l in loops)} <= {limit}"
        if runs_in_any_order(kernel):  # the runtime finds the best one
            little += " && !call->strides"
        if kernel.fallible:
            yield f"if ({little}) f->outcome = {alone};"
            yield f"else f->outcome = {launch[0]}"
            yield from launch[1:-1]
            yield f"{launch[-1]};"
            yield f"if (f->outcome) {self.failed(_STOPPED, step.site)}"
        else:
            yield f"if ({little}) {alone};"
            yield f"else if ({launch[0]}"
            yield from launch[1:-1]
            yield f"{launch[-1]})"
            yield f"    {self.interrupted(step.site)}"

    def _places(self, arguments: Sequence[prog.Argument], kernel: Kernel) -> tuple[list[str], list[str], list[str]]:
        """Return the extents, the addresses of the arrays, and their strides along all loops."""
        extents, data = ["1"] * kernel.rank, ["0"] * len(kernel.operands)
        strides = ["0"] * (kernel.rank * len(kernel.operands))
        for kind, value in zip(kernel.arguments, arguments, strict=True):
            if isinstance(kind, Extent):
                extents[kind.loop] = self.argument(value)
            elif isinstance(kind, Pointer):
                data[kind.operand] = self.argument(value)
            elif isinstance(kind, Extra):
                strides.append(self.argument(value))
            elif isinstance(kind, Stride):
                strides[kind.operand * kernel.rank + kind.loop] = self.argument(value)
        return extents, data, strides

    def commit(self, step: prog.Commit) -> Iterator[str]:
        yield f"if (rt->commit()) {self.interrupted(step.site)}"

    def host(self, step: prog.Host) -> Iterator[str]:
        arrays = [*map(self.argument, step.reads), *("0" for _ in step.results)] or ["0"]
        shapes = [self.q(n) for a in step.reads for n in a.lengths]
        strides = tuple(n for a in step.reads for n in a.strides)
        lengths = [*shapes, *("0" for _ in step.lengths)] or ["0"]
        values, sizes = f"arrays{step.site}", f"lengths{step.site}"
        yield f"void *{values}[] = {{{', '.join(arrays)}}};"
        yield f"i64 {sizes}[] = {{{', '.join(lengths)}}};"
        yield f"{self.helper('ag_clear_upper_halves')}();"
        yield f"if (call->host(call, {self.base + step.site}, {values}, {sizes}, {self.vector(strides)}))"
        yield "    " + self.failed(f"{int(Outcome.HOST)} /* HOST */", step.site)
        yield from (f"{self.new(name)} = {values}[{k}];" for k, name in enumerate(step.results, start=len(step.reads)))
        yield from (f"{self.new(name)} = {sizes}[{k}];" for k, name in enumerate(step.lengths, start=len(shapes)))

    def loop(self, step: prog.Loop) -> Iterator[str]:
        self.helper("ag_looped")
        yield from loop_lines(self.program, self.base, step, self.q, self.argument, self.new)

    def choice(self, step: prog.Choice) -> Iterator[str]:
        self.helper("ag_looped")
        yield from choice_lines(self.program, self.base, step, self.q, self.argument, self.new)

    def finish(self, step: prog.Finish) -> Iterator[str]:
        address, k = self.memory(step.array.base), step.output
        base = step.array.base
        if isinstance(base, prog.Buffer) and base.output is None:  # a block of the pool becomes the output
            yield f"call->rt->release(f->o[{k}] == call->data[{self.first_output + k}] ? 0 : f->o[{k}]);"
            yield f"f->o[{k}] = {address}, {address} = 0;"
        rank, lengths = len(step.array.lengths), self.vector(step.array.lengths)
        if not step.array.dense:
            strides = self.vector(step.array.strides)
            yield f"{self.helper('ag_finish_strides')}(call, {self.output_lengths[k]}, {rank}, {strides});"
        place = f"{self.first_output + k}, {self.output_lengths[k]}, {rank}, {lengths}"
        yield f"if ({self.helper('ag_finish')}(call, f->o[{k}], {place})) f->outcome = {int(Outcome.OTHER_OUTPUTS)};"

    def release(self, step: prog.Release) -> Iterator[str]:
        yield arena.released(self, step.slot)

    # --- accounts of profiled functions: bytes, floating-point operations, memory held and saved
    def bytes_moved(self, steps: Sequence[prog.Step]) -> str:
        """The C expression of the bytes that these steps read and write, each array once."""
        moving = (s for s in steps if isinstance(s, (prog.Call, prog.Host, prog.Pack)))
        arrays = dict.fromkeys(a for s in moving for a in prog.arrays_of(s))
        return " + ".join(map(self.bytes_of, arrays)) or "0"

    def flops(self, site: int, steps: Sequence[prog.Step]) -> str:
        """The C expression of the floating-point operations of a node."""
        terms = flops(self.program, site, steps)
        texts = (
            " * ".join([str(each), *(self.q(n) for n in lengths if n != 1)]) + f" / {over}" * (over > 1)
            for each, lengths, over in terms
        )
        return " + ".join(texts) or "0"

    def held(self, step: prog.Step, in_body: bool) -> Iterator[str]:
        """The lines that count memory which a step takes or gives back."""
        for slot, array in accounts.held(self.program, step):
            held = "0" if array is None else self.bytes_of(array)
            if isinstance(step, prog.Pack):  # which takes memory only if it had to copy
                held = f"{self.memory(step.buffer)} ? {held} : 0"
            entry = f"f->held + {slot}" if in_body else f"call->memory + {accounts.TOTALS + slot}"
            yield f"{self.helper('ag_hold')}(call, {entry}, {held});"
            if array is not None and isinstance(array.base, prog.Buffer) and not in_body:
                yield f"call->profile[{accounts.sizes_at(self.program) + self.buffers[array.base]}] = {held};"

    def spared(self, site: int, steps: Sequence[prog.Step]) -> Iterator[str]:
        """Yield the lines that count memory saved by a node that overwrites an operand."""
        for array, lasting in accounts.spared(self.program, site, steps):
            yield f"{self.helper('ag_spared')}(call, {self.bytes_of(array)}, {int(lasting)});"

    def bytes_of(self, array: prog.Array) -> str:
        return " * ".join([str(numpy_dtype(array.dtype).itemsize), *(self.q(n) for n in array.lengths if n != 1)])


_STOPPED = f"f->outcome < 0 ? {int(Outcome.INTERRUPTED)} : {int(Outcome.KERNEL)} + f->outcome"
"""The outcome of a kernel that failed, or that Ctrl-C has ended."""


def _bits(number: prog.Number) -> int:
    """Return the stored form of a number: itself, but float16 as its bits."""
    return int(np.array(number.value, "float16").view("uint16")) if number.dtype == "float16" else number.value


_PRINTERS: dict[type[Any], Callable[[StepText, Any], Iterator[str]]] = {
    prog.Compute: StepText.let,
    prog.Guard: StepText.guard,
    prog.Read: StepText.read,
    prog.Fill: StepText.fill,
    prog.Order: StepText.order,
    prog.Allocate: StepText.allocate,
    prog.Offset: StepText.point,
    prog.Select: StepText.select,
    prog.Pack: StepText.pack,
    prog.Call: StepText.call,
    prog.Commit: StepText.commit,
    prog.Restore: noted,
    prog.Host: StepText.host,
    prog.Loop: StepText.loop,
    prog.Choice: StepText.choice,
    prog.Finish: StepText.finish,
    prog.Release: StepText.release,
}
