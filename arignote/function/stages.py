"""The stages between an optimized graph and machine code as text, for `python -m arignote opt --emit`.

graph -> program (steps over arrays) -> loops (kernels in the loop IR) -> c -> asm

Each text but the last two is read back: a file of the stage "program" holds the graph, the program and its kernels, one
of the stage "loops" the kernels alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..cbackend.build.assembly import assembly_of
from ..cbackend.build.compiler_process import CompileError
from ..cbackend.ctext.emit import helpers, kernel_c
from ..cbackend.ctext.preamble import preamble
from ..cbackend.driver.driver import c_text
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.parse import parse_kernels
from ..cbackend.ir.reader import IRSyntaxError
from ..cbackend.ir.verify import verify
from ..cbackend.program.plan import plan
from ..cbackend.program.program import Program
from ..cbackend.program.text.parsing import parse_program
from ..cbackend.program.text.printing import program_text
from ..cbackend.program.verify import verify_program
from ..engines.compiler import find_toolchain, process_cache
from ..graph import FunctionGraph
from ..graph import parse as parse_graph
from ..ops.core.vocabulary import vocabulary

STAGES = ("graph", "program", "loops", "c", "asm")


def emitted(graph: FunctionGraph, stage: str) -> str:
    """The text of an optimized graph at a stage; it ends in a newline.

    Raises CompileError where the assembly is asked for and no compiler works.
    """
    if stage == "graph":
        return f"{graph}\n"
    return _of_program(plan(graph, strict=True), stage)


def emitted_program(text: str, stage: str) -> str:
    """The text of a program, given as the stage "program", at that stage or a later one.

    Raises ValueError for a text that does not parse or verify: IRSyntaxError, InvalidProgram or InvalidKernel.
    """
    return _of_program(read_program(text), stage)


def emitted_kernels(text: str, stage: str) -> str:
    """The text of kernels, given in the loop IR, at that stage or a later one.

    Raises ValueError for a text that does not parse or verify: IRSyntaxError or InvalidKernel.
    """
    kernels = _verified(text)
    if stage == "loops":
        return "\n".join(map(str, kernels))
    c = _c_of(kernels)
    return c if stage == "c" else _assembly(c)


def read_program(text: str) -> Program:
    """The program of a file of the stage "program".  Raises ValueError for any other text."""
    begin = re.search(r"^program \{$", text, re.M)
    end = re.search(r"^\}$", text[begin.start() :], re.M) if begin is not None else None
    if begin is None or end is None:
        raise IRSyntaxError("expected a graph, then lines from 'program {' to '}', then the kernels")
    place = begin.start() + end.end()
    graph = parse_graph(text[: begin.start()], vocabulary())
    kernels = _verified(text[place:]) if text[place:].strip() else []
    # Lines in front are kept as empty ones, so that messages have the numbers of the file.
    program = parse_program("\n" * text.count("\n", 0, begin.start()) + text[begin.start() : place], graph, kernels)
    verify_program(program)
    return program


STARTS: dict[str, Callable[[str, str], str]] = {"program": emitted_program, "loops": emitted_kernels}
"""The stages besides a graph from which `opt --from` begins."""


def _of_program(program: Program, stage: str) -> str:
    loops = "\n".join(map(str, program.kernels))
    if stage == "program":
        return "\n".join(filter(None, [f"{program.graph}\n", program_text(program), loops]))
    if stage == "loops":
        return loops
    text = c_text(program)
    return text if stage == "c" else _assembly(text)


def _verified(text: str) -> list[Kernel]:
    kernels = parse_kernels(text)
    for kernel in kernels:
        verify(kernel)
    return kernels


def _c_of(kernels: list[Kernel]) -> str:
    used = (name for kernel in kernels for name in helpers(kernel))
    return "\n".join([preamble(used), *(kernel_c(kernel).replace("static ", "", 1) for kernel in kernels)])


def _assembly(text: str) -> str:
    toolchain = find_toolchain()
    if toolchain is None:
        raise CompileError("no working C compiler; `python -m arignote doctor` says what was tried and what helps")
    return assembly_of(text, toolchain, process_cache())
