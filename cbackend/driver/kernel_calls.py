"""Calls of kernels of the runtime, with designated initializers: each argument stands under the name of its field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ..kernels import SOLVERS, KernelSpec, specs
from ..program.calls import given
from ..program.program import After, Argument, Call, Inner, Vector

if TYPE_CHECKING:
    from .steps import StepText

WIDTH = 110
"""Columns of a line of a call."""
MEMBERS = {"float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128", "int8": "i8"}
"""The table of each dtype in the runtime."""


def kernel_call(text: StepText, step: Call, spec: KernelSpec) -> Iterator[str]:
    """Yield the lines of the call of a kernel of the runtime, and of the checks behind it."""
    struct = f"&(const {spec.c_struct}){{{members(text, step.function, step.arguments)}}}"
    table = f"rt->{'solve_' * (spec.table == SOLVERS)}{MEMBERS[step.dtype]}"
    if spec.through:
        call = f"{text.helper(spec.through)}(rt, &{table}, {struct})"
    else:
        call = f"{table}.{spec.name}(rt, {struct})"
    result = "f->outcome = " * step.fallible
    yield from wrap(f"{result}{call};", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    if step.fallible:
        yield f"if (f->outcome) {text.failed('f->outcome', step.site)}"
    if spec.stops:
        yield f"if (*rt->stop && rt->stopped()) {text.interrupted(step.site)}"


def members(text: StepText, function: str, arguments: Sequence[Argument]) -> str:
    """Return the initializers of a struct."""
    return ", ".join(_members(text, function, arguments))


def _members(text: StepText, function: str, arguments: Sequence[Argument]) -> Iterator[str]:
    for field, argument in given(function, arguments):
        if isinstance(argument, Vector):
            if field.counted:
                yield f".{field.counted} = {len(argument.values)}"
            yield f".{field.name} = " + (
                f"{{{', '.join(text.qs(argument.values))}}}" if field.size else text.vector(argument.values)
            )
        elif isinstance(argument, float):
            yield f".{field.name} = {argument.hex()}{'f' * (field.c == 'float')}"
        elif isinstance(argument, After):
            yield f".{field.name} = {{{text.argument(argument)}}}"
        elif isinstance(argument, Inner):
            inside = members(text, argument.function, argument.arguments)
            yield f".{field.name} = &(const {specs()[argument.function].c_struct}){{{inside}}}"
        else:
            yield f".{field.name} = {text.argument(argument)}"
