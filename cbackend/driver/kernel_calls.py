"""Calls of kernels of the runtime, with designated initializers: each argument stands under the name of its field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ..kernels import LAUNCH, OF_ALL_DTYPES, PACKED, SOLVERS, STOPS, KernelSpec
from ..program.calls import given, known_spec
from ..program.outcome import Outcome
from ..program.program import After, Argument, Call, Inner, Vector

if TYPE_CHECKING:
    from .steps import StepText

MEMBERS = {"float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128", "int8": "i8"}
"""The table of each dtype in the runtime."""
_PREFIXES = {SOLVERS: "solve_", PACKED: "packed_"}


def kernel_call(text: StepText, step: Call) -> Iterator[str]:
    """Yield the lines of the call of a kernel of the runtime, and of the checks behind it."""
    spec = known_spec(step.function)
    call = _of_slot(text, step, spec) if spec.table else _of_function(text, step, spec)
    if spec.status == STOPS:
        yield f"if ({call}) {text.interrupted(step.site)}"
        return
    line = f"{'f->outcome = ' * step.fallible}{call};"
    yield from _wrapped(line) if spec.table else line.split("\n")
    if step.fallible:
        yield f"if (f->outcome) {text.failed(_LAUNCHED if spec.status == LAUNCH else 'f->outcome', step.site)}"
    if spec.table:  # it may have ended early
        yield f"if (*rt->stop && rt->stopped()) {text.interrupted(step.site)}"


def _wrapped(line: str) -> list[str]:
    """Return the lines of a long call; a member stays beside the beginning of its value."""
    protected = line.replace(" = ", "\0=\0").replace("(const ", "(const\0")
    lines = wrap(protected, 110, subsequent_indent="    ", break_on_hyphens=False)
    return [part.replace("\0", " ") for part in lines]


_NEGATIVE = f"f->outcome == AG_STOPPED ? {int(Outcome.INTERRUPTED)} : {int(Outcome.MEMORY)}"
_LAUNCHED = f"f->outcome < 0 ? {_NEGATIVE} : {int(Outcome.KERNEL)} + f->outcome"
"""The outcome of a launch that failed."""


def _of_slot(text: StepText, step: Call, spec: KernelSpec) -> str:
    struct = f"&(const {spec.c_struct}){{{members(text, step.function, step.arguments)}}}"
    table = spec.table if spec.table in OF_ALL_DTYPES else f"{_PREFIXES.get(spec.table, '')}{MEMBERS[step.dtype]}"
    return f"rt->{table}.{spec.name}(rt, {struct})"


def _of_function(text: StepText, step: Call, spec: KernelSpec) -> str:
    function = spec.function if "->" in spec.function else text.helper(spec.function)
    given_ = [initializer.partition(" = ")[2] for initializer in _members(text, step.function, step.arguments)]
    return f"{function}({', '.join([*['rt'] * spec.runtime, *given_, *['call->detail'] * spec.says])})"


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
            yield f".{field.name} = &(const {known_spec(argument.function).c_struct}){{{inside}}}"
        else:
            yield f".{field.name} = {text.argument(argument)}"
