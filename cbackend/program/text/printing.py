"""The text form of a program; `parsing.py` reads it back.

    program   ::= "program" "{" line ... "}"
    line      ::= ("input" | "constant") dtype array        arrays of the caller, and of the graph
                | "integer" NAME, ... | "pointer" NAME, ...  locals, in the order of their declaration
                | "vector" dtype NAME "[" INT "]"            an array on the stack
                | "buffer" BUFFER "slot" INT                 the slot in which a buffer lives
                | "output" INT "over" "input" INT            an output that is written over an input
                | "dense" "inputs" | "products" LIBRARY, ... | "solvers" dtype, ... | "kernels" KERNEL, ...
                | "body" INT "{" line ... "}"                the program of an inner graph
                | "#" INT ...                                the node to which the steps below belong
                | step
                | "node" INT "is" INT STRING "of" array, ... a node, its number in the graph's text, and its operands
    step      ::= NAME "=" operator "(" quantity, ... ")" or
                | "guard" test "(" quantity, ... ")" or
                | NAME "=" "read" array | NAME "=" "[" quantity, ... "]"
                | NAME "=" "order" "[" quantity, ... "]" "of" "[" quantity, ... "]"
                | BUFFER "=" "allocate" dtype "[" quantity, ... "]"
                | NAME "=" "point" array "+" quantity
                | NAME "=" "select" quantity "?" array "or" array
                | NAME "=" "pack" array "into" BUFFER
                | "launch" KERNEL "(" argument, ... ")" ["may" "fail"] [effects]
                | "call" FUNCTION [":" dtype] "(" FIELD "=" argument, ... ")" ["may" "fail"] [effects]
                | "commit" | "restore" array "from" array | "release" "slot" INT | "finish" "output" INT array
                | NAME, ... "=" "host" "(" array, ... ")"
                | [NAME "="] "loop" "body" INT "steps" quantity "along" arrays "from" arrays "with" arrays results
                  "traced" "[" INT, ... "]" ["held" "[" INT, ... "]"]
                | "choice" quantity "?" "body" INT ":" "body" INT "with" arrays results
    results   ::= "into" arrays "made" "[" INT, ... "]" "kept" "[" length, ... "]" ...
    or        ::= ["or" OUTCOME] ["axis" INT]
    effects   ::= "writes" arrays "reads" arrays             where they do not follow from the arguments: calls.py
    argument  ::= quantity | array | "[" quantity, ... "]" | INT ":" dtype
                | "then" KERNEL "(" argument, ... ")" | FUNCTION "(" FIELD "=" argument, ... ")" | "detail" | "poll"
                | "{" stage ";" ... INT "line_buffers" "}"
    stage     ::= KERNEL "(" argument, ... ")" "on" (place, ...) "cost" INT "over" "[" quantity, ... "]"
    place     ::= "memory" | "line_buffer" INT "row" quantity "+" quantity
    array     ::= MEMORY ["[" quantity, ... ["|" quantity, ... ["dense"]] "]"] [":" dtype] ["in" arrays]
    arrays    ::= "(" array, ... ")"
    quantity  ::= INT | NAME | NAME "[" INT "]"
    length    ::= quantity | "-"

`|` stands before strides, which are left out if the array is C-contiguous and they follow from its lengths; dtype and
memory are left out if they follow from the lines above (names.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...ir.kernel import Kernel
from .. import program as prog
from ..calls import effects_of, given
from ..outcome import Outcome
from .names import Names, implied_locals, memory_name

INDENT = "  "


def program_text(program: prog.Program) -> str:
    """The text form of a program, without its graph and its kernels; it ends in a newline."""
    numbers = {kernel.name: kernel for kernel in program.kernels}
    return "\n".join(Printer(program, numbers).lines("program", "")) + "\n"


def _list(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def _or(failure: Outcome | None, axis: int) -> str:
    return (f" or {failure.name}" if failure is not None else "") + (f" axis {axis}" if axis else "")


class Printer:
    """Prints one program, line after line."""

    def __init__(self, program: prog.Program, kernels: Mapping[str, Kernel]) -> None:
        self.program: prog.Program = program
        self.kernels: Mapping[str, Kernel] = kernels
        self.names: Names = Names(program.locals)

    def lines(self, head: str, indent: str) -> Iterator[str]:
        """The lines of the program."""
        inside = indent + INDENT
        yield f"{indent}{head} {{"
        yield from (inside + line for line in self._declarations())
        for number, body in enumerate(self.program.bodies):
            yield from Printer(body, self.kernels).lines(f"body {number}", inside)
        yield from (inside + line for line in self._steps())
        numbers = {node: k for k, node in enumerate(self.program.graph.order)}
        for k, site in enumerate(self.program.sites):
            operands = f" of {self.several(site.operands)}" if site.operands else ""
            yield f"{inside}node {k} is {numbers[site.node]} {json.dumps(site.text, ensure_ascii=False)}{operands}"
        yield f"{indent}}}"

    def _declarations(self) -> Iterator[str]:
        program = self.program
        for word, arrays in (("input", program.inputs), ("constant", program.constants)):
            for array in arrays:
                yield f"{word} {array.dtype} {self._bare(array)}"
                self.names.met(array)
        implied = implied_locals((*program.inputs, *program.constants))
        rest = [(name, *kind) for name, kind in program.locals.items() if name not in implied]
        for plain, group in groupby(rest, lambda local: local[1] if local[1] in (prog.INTEGER, prog.POINTER) else ""):
            if plain:
                yield f"{plain} {_list(name for name, *_ in group)}"
            else:
                yield from (f"vector {kind} {name}[{count}]" for name, kind, count in group)
        yield from (f"buffer {memory_name(buffer)} slot {slot}" for buffer, slot in program.slots.items())
        yield from (f"output {output} over input {source}" for output, source in program.in_place.items())
        if program.dense_inputs:
            yield "dense inputs"
        kernels = [kernel.name for kernel in program.kernels]
        for word, names in (("products", program.products), ("solvers", program.solvers), ("kernels", kernels)):
            if names:
                yield f"{word} {_list(names)}"

    def own_lines(self) -> Iterator[tuple[prog.Step, str]]:
        """Yield each step with its line."""
        list(self._declarations())
        for step in self.program.steps:
            yield step, self.step(step)

    def _steps(self) -> Iterator[str]:
        site = None
        for step in self.program.steps:
            own = getattr(step, "site", site)
            if own != site and own is not None:
                site = own
                text = self.program.sites[site].text if site < len(self.program.sites) else "outputs"
                yield f"# {site} {text}"
            yield self.step(step)

    def step(self, step: prog.Step) -> str:
        """The line of a step."""
        text = _STEPS[type(step)](self, step)
        self.names.passed(step)
        return text

    # --- operands

    def _bare(self, array: prog.Array) -> str:
        """Return an array by its address, with its lengths, and its strides if they do not follow."""
        follows = array.dense and self.names.strides(array.lengths) == array.strides
        if follows and not array.lengths:
            return memory_name(array.base)
        words = [] if follows else ["|", *filter(None, [_list(array.strides)]), *["dense"] * array.dense]
        return f"{memory_name(array.base)}[{' '.join([_list(array.lengths), *words])}]"

    def array(self, array: prog.Array) -> str:
        """Return an array, with its dtype and memory unless earlier lines declare them."""
        text, place = self._bare(array), self.names.place(array.base)
        if place is None or place.dtype != array.dtype:
            text += f":{array.dtype}"
        if array.memory != (place.memory if place is not None else (array.base,)):
            text += f" in ({_list(map(memory_name, array.memory))})"
        self.names.met(array)
        return text

    def several(self, arrays: Iterable[prog.Array]) -> str:
        """Arrays in parentheses."""
        return f"({_list(map(self.array, arrays))})"

    def argument(self, argument: prog.Argument) -> str:
        """An argument of a call."""
        match argument:
            case prog.Array(): return self.array(argument)
            case prog.Vector(): return f"[{_list(argument.values)}]"
            case prog.Number(): return f"{argument.value}:{argument.dtype}"
            case prog.After(): return f"then {argument.kernel}({_list(map(self.argument, argument.arguments))})"
            case prog.Stages():
                return f"{{{'; '.join(map(self._stage, argument.stages))}; {argument.line_buffers} line_buffers}}"
            case prog.Inner(): return f"{argument.function}({self.fields(argument.function, argument.arguments)})"
            case prog.Detail(): return "detail"
            case prog.Poll(): return "poll"
        return str(argument)

    def fields(self, function: str, arguments: Sequence[prog.Argument]) -> str:
        """Return the arguments of a kernel of the runtime by the names of its fields."""
        return _list(f"{field.name}={self.argument(argument)}" for field, argument in given(function, arguments))

    def _stage(self, stage: prog.Stage) -> str:
        rows = map(_rows, stage.rows)
        arguments = _list(map(self.argument, stage.arguments))
        return f"{stage.kernel}({arguments}) on ({_list(rows)}) cost {stage.cost} over [{_list(stage.extents)}]"

    # --- steps

    def call(self, step: prog.Call) -> str:
        fails = " may fail" if step.fallible else ""
        if step.kernel:
            text = f"launch {step.function}({_list(map(self.argument, step.arguments))}){fails}"
        else:
            dtype = f":{step.dtype}" if step.dtype else ""
            text = f"call {step.function}{dtype}({self.fields(step.function, step.arguments)}){fails}"
        if effects_of(step, self.kernels) == (step.writes, step.reads):
            return text
        return f"{text} writes {self.several(step.writes)} reads {self.several(step.reads)}"

    def host(self, step: prog.Host) -> str:
        return f"{_list((*step.results, *step.lengths))} = host({_list(map(self.array, step.reads))})"

    def loop(self, step: prog.Loop) -> str:
        parts = (("along", step.sequences), ("from", step.states), ("with", step.others))
        given = " ".join(f"{word} {self.several(arrays)}" for word, arrays in parts)
        count = f"{step.count} = " if step.count else ""
        traced = f"traced [{_list(map(int, step.traced))}]"
        if any(step.held):
            traced += f" held [{_list(map(int, step.held))}]"
        return f"{count}loop body {step.body} steps {step.steps} {given} {self._results(step)} {traced}"

    def choice(self, step: prog.Choice) -> str:
        one, other = step.bodies
        arrays = f"with {self.several(step.operands)}"
        return f"choice {step.condition} ? body {one} : body {other} {arrays} {self._results(step)}"

    def _results(self, step: prog.Loop | prog.Choice) -> str:
        kept = " ".join(f"[{_list(map(_length, lengths))}]" for lengths in step.kept)
        return f"into {self.several(step.results)} made [{_list(map(int, step.made))}] kept {kept}"


def _length(length: prog.Length) -> str:
    return "-" if length is None else str(length)


_STEPS: dict[type[Any], Callable[[Printer, Any], str]] = {
    prog.Compute: lambda p, s: f"{s.result} = {s.operator}({_list(s.operands)}){_or(s.failure, s.axis)}",
    prog.Guard: lambda p, s: f"guard {s.test}({_list(s.operands)}){_or(s.failure, s.axis)}",
    prog.Read: lambda p, s: f"{s.result} = read {p.array(s.array)}",
    prog.Fill: lambda p, s: f"{s.local} = [{_list(s.values)}]",
    prog.Order: lambda p, s: f"{s.local} = order [{_list(s.lengths)}] of [{_list(s.strides)}]",
    prog.Allocate: lambda p, s: f"{memory_name(s.buffer)} = allocate {s.dtype}[{_list(s.lengths)}]",
    prog.Offset: lambda p, s: f"{s.result} = point {p.array(s.array)} + {s.offset}",
    prog.Select: lambda p, s: f"{s.result} = select {s.condition} ? {p.array(s.first)} or {p.array(s.second)}",
    prog.Pack: lambda p, s: f"{s.result} = pack {p.array(s.array)} into {memory_name(s.buffer)}",
    prog.Call: Printer.call,
    prog.Commit: lambda p, s: "commit",
    prog.Restore: lambda p, s: f"restore {p.array(s.array)} from {p.array(s.kept)}",
    prog.Host: Printer.host,
    prog.Loop: Printer.loop,
    prog.Choice: Printer.choice,
    prog.Finish: lambda p, s: f"finish output {s.output} {p.array(s.array)}",
    prog.Release: lambda p, s: f"release slot {s.slot}",
}


def _rows(rows: prog.Rows) -> str:
    return "memory" if rows.line_buffer < 0 else f"line_buffer {rows.line_buffer} row {rows.row} + {rows.element}"
