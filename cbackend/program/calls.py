"""Calls of kernels of the runtime as their specs describe them: values by field, forms that fit, effects, work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

from ...record.spelling import counted
from ..ir.kernel import Kernel
from ..ir.operands import Pointer
from ..kernels import (
    AFTER,
    ARRAY,
    INNER,
    NUMBER,
    QUANTITIES,
    QUANTITY,
    REAL,
    STAGES,
    VECTOR,
    WRITE,
    Field,
    KernelSpec,
    Work,
    spec_named,
)
from .program import After, Argument, Array, Call, Inner, Number, Program, Stages, Vector

FORMS: Mapping[str, tuple[type, ...]] = {
    QUANTITY: (int, str), QUANTITIES: (Vector,), VECTOR: (Vector,), ARRAY: (Array,), NUMBER: (Number, Array),
    REAL: (float,), AFTER: (After,), INNER: (Inner,),
    STAGES: (Stages,),
}  # fmt: skip
"""The classes of the arguments that each kind of field takes."""

Effects = tuple[tuple[Array, ...], tuple[Array, ...]]
"""The arrays that a call writes, and those that it reads."""


def known_spec(name: str) -> KernelSpec:
    """Return the spec of a kernel.  Raises KeyError if there is none."""
    found = spec_named(name)
    if found is None:
        raise KeyError(name)
    return found


def given(function: str, arguments: Sequence[Argument]) -> Iterator[tuple[Field, Argument]]:
    """Yield the fields that have a value, with it."""
    for field, argument in zip(known_spec(function).fields, arguments, strict=True):
        if argument is not None:
            yield field, argument


def flat(arguments: Sequence[Argument]) -> Iterator[Argument]:
    """Yield arguments, those of a call inside in its place."""
    for argument in arguments:
        if isinstance(argument, Inner):
            yield from argument.arguments
        else:
            yield argument


def misfit(function: str, arguments: Sequence[Argument]) -> str:
    """Return what is wrong with the arguments of a kernel of the runtime; empty if nothing is."""
    fields = known_spec(function).fields
    if len(arguments) != len(fields):
        return f"{function} is given {counted(len(arguments), 'argument')}; expected {len(fields)}"
    for field, argument in zip(fields, arguments, strict=True):
        if argument is None:
            if not field.optional:
                return f"{function} needs {field.name}"
        elif not isinstance(argument, FORMS[field.kind]):
            return f"{field.name} of {function} takes no {type(argument).__name__}"
        elif isinstance(argument, Vector) and field.size not in (0, len(argument.values)):
            return f"{field.name} of {function} takes {counted(field.size, 'number')}, not {len(argument.values)}"
        elif isinstance(argument, Inner):
            found = misfit(argument.function, argument.arguments)
            if found:
                return found
    return ""


def effects(function: str, arguments: Sequence[Argument], kernels: Mapping[str, Kernel]) -> Effects:
    """Return the arrays that a kernel of the runtime writes and reads, by the roles of its fields."""
    writes: list[Array] = []
    reads: list[Array] = []
    for field, argument in given(function, arguments):
        more: Effects = ((), ())
        if isinstance(argument, Array):
            more = ((argument,), ()) if field.role == WRITE else ((), (argument,))
        elif isinstance(argument, After):
            more = effects_of_kernel(argument.arguments, kernels[argument.kernel])
        elif isinstance(argument, Stages):
            more = effects_of_stages(argument, kernels)
        elif isinstance(argument, Inner):
            more = effects(argument.function, argument.arguments, kernels)
        writes += more[0]
        reads += more[1]
    return tuple(dict.fromkeys(writes)), tuple(dict.fromkeys(reads))


def effects_of(step: Call, kernels: Mapping[str, Kernel]) -> Effects:
    """Return the arrays that a call writes and reads.  Raises KeyError for an unknown kernel."""
    if step.kernel:
        return effects_of_kernel(step.arguments, kernels[step.function])
    return effects(step.function, step.arguments, kernels)


def effects_of_kernel(arguments: Sequence[Argument], kernel: Kernel) -> Effects:
    """Return the arrays that a generated kernel writes and reads."""
    pairs = zip(kernel.arguments, arguments, strict=False)
    found = {k.operand: a for k, a in pairs if isinstance(k, Pointer) and isinstance(a, Array)}
    arrays, first_input = sorted(found.items(), key=lambda pair: pair[0]), len(kernel.outputs)
    return tuple(a for k, a in arrays if k < first_input), tuple(a for k, a in arrays if k >= first_input)


def effects_of_stages(stages: Stages, kernels: Mapping[str, Kernel]) -> Effects:
    """Return the arrays of a pipeline that lie in memory; its line buffers belong to the runtime."""
    found = [effects_of_kernel(stage.arguments, kernels[stage.kernel]) for stage in stages.stages]
    writes = dict.fromkeys(a for written, _ in found for a in written if a.base != "")
    return tuple(writes), tuple(dict.fromkeys(a for _, read in found for a in read if a.base != ""))


def spec_of(step: Call) -> KernelSpec | None:
    """Return the spec of a call; None for a generated kernel."""
    return None if step.kernel else spec_named(step.function)


def table_kernels(program: Program) -> Iterator[KernelSpec]:
    """Yield the kernel of each call by a table of the runtime, in a program and its bodies."""
    calls = (step for part in program.all_parts for step in part.steps if isinstance(step, Call))
    return (spec for spec in map(spec_of, calls) if spec is not None and spec.table)


def values(function: str, arguments: Sequence[Argument]) -> SimpleNamespace:
    """Return the values of a call by field: vectors as tuples, a call inside as an object like this one."""
    found = {}
    for field, argument in zip(known_spec(function).fields, arguments, strict=True):
        plain: object = argument
        if isinstance(argument, Vector):
            plain = argument.values
        elif isinstance(argument, Inner):
            plain = values(argument.function, argument.arguments)
        found[field.name] = plain
    return SimpleNamespace(**found)


def work_of(function: str, arguments: Sequence[Argument]) -> Iterator[Work]:
    """Yield the operations of a call, and of the calls inside."""
    work = known_spec(function).work
    if work is not None:
        yield from work(values(function, arguments))
    for argument in arguments:
        if isinstance(argument, Inner):
            yield from work_of(argument.function, argument.arguments)
