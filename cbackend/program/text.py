"""The text form of a program: its arrays, then its steps, node by node.

    program    ::= "program" "{" array-line ... node ... body ... "}"
    array-line ::= ("input" | "constant" | "vector" | "buffer") ...
    node       ::= "#" NUMBER expression                     the node that the steps below it compute
    step       ::= NAME "=" operator "(" quantity,... ")" ["or" OUTCOME ["axis" INT]]
                 | "guard" test "(" quantity,... ")" "or" OUTCOME ["axis" INT]
                 | NAME "=" "read" array | NAME "=" "[" quantity,... "]"
                 | NAME "=" "order" "[" quantity,... "]" "of" "[" quantity,... "]"
                 | BUFFER "=" "allocate" dtype "[" quantity,... "]"
                 | NAME "=" "point" array "+" quantity
                 | NAME "=" "select" quantity "?" array ":" array
                 | NAME "=" "pack" array "into" BUFFER
                 | ("launch" | "call") FUNCTION "(" argument,... ")" ["may fail"]
                 | "commit" | "release" "slot" INT | "finish" "output" INT array
                 | NAME,... "=" "host" "(" array,... ")" | "loop" ... | "choice" ...
    array      ::= NAME | NAME "[" quantity,... "|" quantity,... "]"     lengths, and strides unless C-contiguous

A quantity is a number or the name of an int64 local; an array of rank 0 is its name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .program import (
    After,
    Allocate,
    Argument,
    Array,
    Buffer,
    Call,
    Choice,
    Commit,
    Fill,
    Finish,
    Guard,
    Host,
    Let,
    Loop,
    Memory,
    Number,
    Order,
    Outcome,
    Pack,
    Point,
    Program,
    Read,
    Release,
    Said,
    Select,
    Solvers,
    Stage,
    Stages,
    Step,
    Table,
    Vector,
)

INDENT = "  "


def program_text(program: Program) -> str:
    """The text form of a program, without its kernels; it ends in a newline."""
    return "\n".join(_program(program, "program", "")) + "\n"


def _program(program: Program, head: str, indent: str) -> Iterator[str]:
    inside = indent + INDENT
    yield f"{indent}{head} {{"
    for array in program.inputs:
        yield f"{inside}input {array.dtype} {array_text(array)}"
    for array in program.constants:
        yield f"{inside}constant {array.dtype} {array_text(array)}"
    for name, (kind, count) in program.locals.items():
        if kind not in ("i64", "void *"):
            yield f"{inside}vector {kind} {name}[{count}]"
    for buffer, slot in program.slots.items():
        yield f"{inside}buffer {_memory(buffer)} slot {slot}"
    for output, source in program.in_place.items():
        yield f"{inside}output {output} over input {source}"
    for number, body in enumerate(program.bodies):
        yield from _program(body, f"body {number}", inside)
    site = None
    for step in program.steps:
        own = getattr(step, "site", site)
        if own != site and own is not None:
            site = own
            yield f"{inside}# {site} {program.sites[site].text if site < len(program.sites) else 'outputs'}"
        yield inside + step_text(step)
    yield f"{indent}}}"


# --- operands


def _memory(base: Memory) -> str:
    if not isinstance(base, Buffer):
        return base or "nothing"
    return f"b{base.number}" if base.output is None else f"b{base.number}_output{base.output}"


def _list(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def array_text(array: Array) -> str:
    """An array by its address, with its lengths, and its strides if it may not be C-contiguous."""
    if not array.lengths:
        return _memory(array.base)
    strides = "" if array.dense else f" | {_list(array.strides)}"
    return f"{_memory(array.base)}[{_list(array.lengths)}{strides}]"


def _argument(argument: Argument) -> str:
    if isinstance(argument, Array):
        return array_text(argument)
    if isinstance(argument, Vector):
        return f"[{_list(argument.values)}]"
    if isinstance(argument, (Table, Solvers)):
        return f"{'products' if isinstance(argument, Table) else 'solvers'}:{argument.dtype}"
    if isinstance(argument, Number):
        return f"{argument.value}:{argument.dtype}"
    if isinstance(argument, After):
        return f"then {argument.kernel}({_list(map(_argument, argument.arguments))})"
    if isinstance(argument, Stages):
        return "; ".join(map(_stage, argument.stages)) + f"; {argument.rings} rings"
    return "said" if isinstance(argument, Said) else str(argument)


def _stage(stage: Stage) -> str:
    rows = ", ".join(f"ring {r.ring} row {r.row} + {r.element}" if r.ring >= 0 else "memory" for r in stage.rows)
    return f"{stage.kernel}({_list(map(_argument, stage.arguments))}) on {rows}"


def _or(failure: Outcome | None, axis: int) -> str:
    if failure is None:
        return ""
    return f" or {failure.name}" + (f" axis {axis}" if axis else "")


# --- steps


def step_text(step: Step) -> str:
    """The line of a step."""
    return _STEPS[type(step)](step)


def _call(step: Call) -> str:
    how = "launch" if step.kernel else "call"
    fails = " may fail" if step.fallible else ""
    return f"{how} {step.function}({_list(map(_argument, step.arguments))}){fails}"


def _host(step: Host) -> str:
    return f"{_list((*step.results, *step.lengths))} = host({_list(map(array_text, step.reads))})"


def _loop(step: Loop) -> str:
    parts = (("along", step.sequences), ("from", step.states), ("with", step.others), ("into", step.results))
    told = "".join(f" {word} {_list(map(array_text, arrays))}" for word, arrays in parts if arrays)
    count = f"{step.count} = " if step.count else ""
    return f"{count}loop body {step.body} steps {step.steps}{told}"


def _choice(step: Choice) -> str:
    one, other = step.bodies
    arrays = f"with {_list(map(array_text, step.operands))} into {_list(map(array_text, step.results))}"
    return f"choice {step.condition} ? body {one} : body {other} {arrays}"


_STEPS: dict[type[Any], Callable[[Any], str]] = {
    Let: lambda s: f"{s.result} = {s.operator}({_list(s.operands)}){_or(s.failure, s.axis)}",
    Guard: lambda s: f"guard {s.test}({_list(s.operands)}){_or(s.failure, s.axis)}",
    Read: lambda s: f"{s.result} = read {array_text(s.array)}",
    Fill: lambda s: f"{s.local} = [{_list(s.values)}]",
    Order: lambda s: f"{s.local} = order [{_list(s.lengths)}] of [{_list(s.strides)}]",
    Allocate: lambda s: f"{_memory(s.buffer)} = allocate {s.dtype}[{_list(s.lengths)}]",
    Point: lambda s: f"{s.result} = point {array_text(s.array)} + {s.offset}",
    Select: lambda s: f"{s.result} = select {s.condition} ? {array_text(s.first)} : {array_text(s.second)}",
    Pack: lambda s: f"{s.result} = pack {array_text(s.array)} into {_memory(s.buffer)}",
    Call: _call,
    Commit: lambda _: "commit",
    Host: _host,
    Loop: _loop,
    Choice: _choice,
    Finish: lambda s: f"finish output {s.output} {array_text(s.array)}",
    Release: lambda s: f"release slot {s.slot}",
}
