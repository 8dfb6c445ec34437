"""Programs that overwrite inputs: steps that can fail run before the first irreversible write to an input.

        allocate a; overwrite in2; check lengths; allocate b; overwrite in3    -->
        allocate a; check lengths; allocate b; commit; overwrite in2; overwrite in3

The order of the nodes is such already (graph/ordering.py); this is about the steps inside them.  A part that a
failing call restores (`Restore`) may be overwritten at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from . import program as prog


def cannot_fail_late(steps: Sequence[prog.Step], mutable: Collection[str]) -> bool:
    """Whether no step can fail after an irreversible write to an input."""
    return not any(can_fail(step) for step in steps[_first_overwrite(steps, mutable) + 1 :])


_MOVED = (prog.Compute, prog.Guard, prog.Allocate, prog.Offset, prog.Read, prog.Pack, prog.Fill, prog.Order)


def checks_first(steps: Sequence[prog.Step], mutable: Collection[str]) -> list[prog.Step]:
    """Return the steps with checks, lengths and allocations moved before the first irreversible write to an input."""
    start = _first_overwrite(steps, mutable)
    moved: list[prog.Step] = []
    rest: list[prog.Step] = []
    late: set[prog.Memory] = set()  # quantities, pointers and memory that get their value in `rest`
    for step in steps[start:]:
        if isinstance(step, _MOVED) and late.isdisjoint(_needs(step)):
            moved.append(step)
        else:
            rest.append(step)
            late.update(_makes(step))
    commit = [prog.Commit(step.site) for step in rest[:1] if isinstance(step, prog.Call)]
    return [*steps[:start], *moved, *commit, *rest]


def _first_overwrite(steps: Sequence[prog.Step], mutable: Collection[str]) -> int:
    return next((at for at, _ in _overwrites(steps, mutable)), len(steps))


def overwritten_for_good(steps: Sequence[prog.Step], mutable: Collection[str]) -> set[prog.Memory]:
    """Return the inputs of which a part is overwritten that a failing call does not restore."""
    return {memory for _, memory in _overwrites(steps, mutable)}


def _overwrites(steps: Sequence[prog.Step], mutable: Collection[str]) -> Iterator[tuple[int, prog.Memory]]:
    """Yield the numbers of the steps that irreversibly overwrite an input, and these inputs."""
    restored: set[prog.Array] = set()
    for at, step in enumerate(steps):
        if isinstance(step, prog.Restore):
            restored.add(step.array)
        elif isinstance(step, prog.Call):
            written = (array for array in step.writes if array not in restored)
            yield from ((at, m) for array in written for m in array.memory if m in mutable)


def can_fail(step: prog.Step) -> bool:
    """Whether a step can end the call."""
    if isinstance(step, prog.Compute):
        return step.failure is not None
    if isinstance(step, prog.Call):
        return step.fallible
    return isinstance(step, (prog.Guard, prog.Allocate, prog.Pack, prog.Host, prog.Loop, prog.Choice))


def _needs(step: prog.Step) -> Iterator[prog.Memory]:
    """Yield the values that a step reads."""
    for quantity in _quantities(step):
        if isinstance(quantity, str):
            yield quantity
    for array in prog.arrays_of(step):
        yield array.base
        yield from array.memory
        yield from (n for n in array.lengths + array.strides if isinstance(n, str))


def _quantities(step: prog.Step) -> tuple[prog.Quantity, ...]:
    match step:
        case prog.Compute() | prog.Guard(): return step.operands
        case prog.Allocate(): return step.lengths
        case prog.Fill(): return step.values
        case prog.Order(): return step.lengths + step.strides
    return (step.offset,) if isinstance(step, prog.Offset) else ()


def _makes(step: prog.Step) -> Iterator[prog.Memory]:
    """Yield the values that a step changes."""
    if isinstance(step, (prog.Compute, prog.Read, prog.Offset, prog.Select, prog.Pack)):
        yield step.result
    elif isinstance(step, prog.Fill):
        yield step.local
    elif isinstance(step, prog.Order):
        yield from (f"{step.local}[{k}]" for k in range(len(step.lengths)))
    elif isinstance(step, prog.Call):
        yield from (m for array in step.writes for m in array.memory)
    elif isinstance(step, prog.Host):
        yield from (*step.results, *step.lengths)
    elif isinstance(step, (prog.Loop, prog.Choice)):
        for array in step.results:
            yield from array.memory
            yield from (n for n in array.lengths if isinstance(n, str))
    if isinstance(step, (prog.Allocate, prog.Pack)):
        yield step.buffer
