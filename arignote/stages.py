"""The stages between an optimized graph and machine code, each as text: what `python -m arignote opt --emit` prints.

graph -> program (steps over arrays) -> loops (kernels in the loop IR) -> c -> asm
"""

from __future__ import annotations

from .cbackend.build.assembly import assembly_of
from .cbackend.build.compiler_process import CompileError
from .cbackend.ctext.emit import helpers, kernel_c
from .cbackend.ctext.preamble import preamble
from .cbackend.driver.driver import c_text
from .cbackend.ir.kernel import Kernel
from .cbackend.ir.parse import parse_kernels
from .cbackend.ir.verify import verify
from .cbackend.program.plan import plan
from .cbackend.program.text import program_text
from .engines.compiler import find_toolchain, process_cache
from .graph import FunctionGraph

STAGES = ("graph", "program", "loops", "c", "asm")


def emitted(graph: FunctionGraph, stage: str) -> str:
    """The text of an optimized graph at a stage; it ends in a newline.

    Raises CompileError where the assembly is asked for and no compiler works.
    """
    if stage == "graph":
        return f"{graph}\n"
    program = plan(graph, strict=True)
    if stage == "program":
        return program_text(program)
    if stage == "loops":
        return "\n".join(map(str, program.kernels))
    text = c_text(program)
    return text if stage == "c" else _assembly(text)


def emitted_kernels(text: str, stage: str) -> str:
    """The text of kernels, given in the loop IR, at a later stage.

    Raises IRSyntaxError or InvalidKernel, which are ValueErrors, for a text that does not parse or verify.
    """
    kernels = parse_kernels(text)
    for kernel in kernels:
        verify(kernel)
    if stage == "loops":
        return "\n".join(map(str, kernels))
    c = _c_of(kernels)
    return c if stage == "c" else _assembly(c)


def _c_of(kernels: list[Kernel]) -> str:
    used = (name for kernel in kernels for name in helpers(kernel))
    return "\n".join([preamble(used), *(kernel_c(kernel).replace("static ", "", 1) for kernel in kernels)])


def _assembly(text: str) -> str:
    toolchain = find_toolchain()
    if toolchain is None:
        raise CompileError("no working C compiler; `python -m arignote doctor` says what was tried and what helps")
    return assembly_of(text, toolchain, process_cache())
