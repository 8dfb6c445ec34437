"""The C text of a function: types, helpers, kernels, and the driver, which runs a program step by step.

preamble          scalar types, and the helpers that the kernels use            head.py
kernels           each once: what a reader looks for, so it comes before what only the driver needs
declarations      ag_runtime, ag_call                                           abi/call.h
folds             functions that combine results of parts                        nests.py
driver helpers    joint lengths, slices, copies: those that are used            helpers.py
nests             the facts that the runtime needs to run a kernel in parts      nests.py
struct frame      the buffers; in long programs all locals
part_0 ...        the steps, about 200 a C function: compilers take time that grows faster than a function
ag_entry          the frame, the parts, and what is left to give back
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ...graph.types import numpy_dtype
from ...record import lazy, record
from ...record.quoting import c_comment
from ...targets.current import current
from ..abi.declarations import declarations
from ..ctext.emit import helpers
from ..ctext.helper import storage_type
from ..kernels import user_function_of
from ..program import program as prog
from ..program.accounts import memory_at, moment_of, whole_call
from ..program.buffers import lives_of
from ..program.calls import table_kernels
from ..program.outcome import Outcome
from . import arena, undo
from .body_calls import body_name
from .head import Head
from .helpers import driver_helpers
from .nests import folds_of, nest_lines
from .page import CFile, Line, Mark, Page
from .rerolling import in_runs
from .steps import StepText
from .units import in_units

_user_calls: Any = lazy.module("..ctext.user_calls", __package__)
CALLS_BETWEEN_LOOKS = 16
"""Kernels in a row after which the driver checks for Ctrl-C, however short they are."""


def c_text(program: prog.Program, profile: bool = False) -> str:
    """Return the C file of `program`; equal programs give equal text.

    `profile`: time every node that does work.
    """
    return c_file(program, profile).text


def c_file(program: prog.Program, profile: bool = False) -> CFile:
    """Return the C file of `program`, and the lines that belong to each node."""
    folds, fold_helpers = folds_of(program.kernels)
    head = Head([*(name for kernel in program.kernels for name in helpers(kernel)), *fold_helpers, *_users(program)])
    drivers = list(_drivers(program, profile, head))
    *bodies, main = [driver.pieces() for driver in drivers]
    nests: list[Line] = [*nest_lines(program.kernels), "", *(line for pieces in bodies for line in pieces.lines())]
    called = driver_helpers(name for d in drivers for name in d.helpers)
    declared = declarations(types=False, tables=any(table_kernels(program)))
    divided = main.parts if len(main.parts) > 1 and not bodies else []
    rest = main.arena + main.frame + main.entry if divided else list(main.lines())
    around = f"{folds}\n{called}\n{_text(nests + rest)}"
    layout = in_units(program.kernels, declared, around, list(map(_text, divided)))
    page = Page(_launching_sites(program))
    page.add(head.text())
    for piece in layout.before:
        page.add(piece)
    page.add(f"{folds}\n{called}")
    page.add_lines(nests)
    page.add_lines(main.in_units(layout.first_parts) if layout.first_parts else main.lines())
    for piece in layout.behind:
        page.add(piece)
    return page.file()


def _text(lines: Iterable[Line]) -> str:
    return "\n".join(line for line in lines if isinstance(line, str))


def _users(program: prog.Program) -> Iterator[str]:
    """Yield the functions of users' ops that a program and its bodies call."""
    for part in program.all_parts:
        for step in part.steps:
            called = user_function_of(step.function) if isinstance(step, prog.Call) else None
            if called is not None:
                yield _user_calls.user_function(called, f"{int(Outcome.USER)} /* USER */")


def _launching_sites(program: prog.Program) -> dict[str, list[int]]:
    """Return the nodes that launch each kernel, themselves or in a body."""
    found: dict[str, dict[int, None]] = {}
    for step in program.steps:
        if isinstance(step, prog.Call) and step.kernel:
            found.setdefault(step.function, {})[step.site] = None
        for inner in (kernel for body in prog.bodies_of(step) for kernel in program.bodies[body].kernels):
            found.setdefault(inner.name, {})[step.site] = None  # type: ignore[union-attr]
    return {name: list(sites) for name, sites in found.items()}


@record
class _Printed:
    """A line of a C function.

    `defined`: the length that it computes, or the vector of lengths that it declares or fills, if nothing else: without
    a reader it is left out, since compilers complain of it.  `used`: the locals that it reads.  `helpers`: its calls.
    """

    line: Line
    defined: str
    used: frozenset[str]
    helpers: tuple[str, ...]


def _drivers(program: prog.Program, profile: bool, head: Head, body: str = "", base: int = 0) -> Iterator[_Driver]:
    """Yield the driver of a program after those of its bodies."""
    for number, inner in enumerate(program.bodies):
        yield from _drivers(inner, profile, head, body_name(program, base, number), program.body_base(base, number))
    yield _Driver(program, profile, head, body, base)


@record
class _Pieces:
    """The lines of a driver: the plan of its memory, the frame, the parts, and the entry."""

    arena: list[Line]
    frame: list[Line]
    parts: list[list[Line]]
    entry: list[Line]

    def lines(self) -> Iterator[Line]:
        """Yield all lines."""
        return chain(self.arena, self.frame, *self.parts, self.entry)

    def in_units(self, first: Collection[int]) -> Iterator[Line]:
        """Yield all lines with these parts in the first of two units; the frame stands in both."""
        shared = {k: self.parts[k][0].replace("static", "AG_SHARED", 1) for k in sorted(first)}  # type: ignore[union-attr]
        definitions = (line for k, head in shared.items() for line in (head, *self.parts[k][1:]))
        yield from self.frame
        yield from ("#if AG_UNIT != 2", *definitions, "#else", *(f"{head};" for head in shared.values()), "#endif", "")
        yield "#if AG_UNIT != 1"
        yield from chain(self.arena, *(part for k, part in enumerate(self.parts) if k not in first), self.entry)


class _Driver:
    """Prints everything after the kernels."""

    def __init__(self, program: prog.Program, profile: bool, head: Head, body: str = "", base: int = 0) -> None:
        self.program = program
        self.head = head
        self.profile = profile
        self.body = body
        """The name of the function, for the body of a loop; empty for the driver itself."""
        self.base = base
        self.frame = f"{body}_frame" if body else "frame"
        self.part = f"{body}_part" if body else "part"
        self.parts = _parts(_by_site(program.steps))
        self.long = len(self.parts) > 1
        self.lives = [] if body else lives_of(program)
        """The life of each slot, if the buffers of a call share a block."""
        self.text = StepText(program, self.long, base, bool(self.lives))
        self.slots = max(program.slots.values(), default=-1) + 1
        self.helpers: dict[str, None] = {}
        """The helpers that the lines so far call."""

    def pieces(self) -> _Pieces:
        """Return the lines of the driver.  `helpers` is complete then."""
        frame = list(self._frame())
        parts: list[list[Line]] = []
        for number, sites in enumerate(self.parts):
            printed = list(self._part(number, sites))
            kept = printed if self.long else _without_unread(printed)
            for p in kept:
                self.helpers.update(dict.fromkeys(p.helpers))
            parts.append([p.line for p in kept])
        self.text.helpers.clear()
        entry = [*self._entry(), ""]
        self.helpers.update(self.text.helpers)
        return _Pieces(list(arena.plan(self.lives)), frame, parts, entry)

    def _printed(self, lines: Iterable[Line], defined: str = "") -> Iterator[_Printed]:
        """Yield each line with the facts that `text` noted while it was printed."""
        source = iter(lines)
        while True:
            self.text.begin_line()
            try:
                line = next(source)
            except StopIteration:
                return
            yield _Printed(line, defined or self.text.defined, frozenset(self.text.used), tuple(self.text.helpers))

    # --- the frame
    def _frame(self) -> Iterator[Line]:
        yield f"struct {self.frame} {{"
        yield "    i32 outcome;"
        yield f"    void *o[{max(len(self.program.graph.outputs), 1)}]; /* outputs */"
        if self.slots:
            yield f"    void *b[{self.slots}]; /* buffers */"
            if self.profile and self.body:
                yield f"    i64 held[{self.slots}]; /* their bytes */"
        yield from ("    " + line for line in arena.fields(self.lives))
        yield from ("    " + line for line in undo.fields(self.program))
        if self.long:
            yield from (line for _, line in self._declarations())
        yield "};"
        yield ""

    def _declarations(self) -> Iterator[tuple[str, str]]:
        """Yield the declarations: of arrays on the stack and, with a frame, of all locals by name."""
        for name, (kind, count) in self.program.locals.items():
            if kind not in (prog.INTEGER, prog.POINTER):
                yield name, f"    {storage_type(kind)} {name}[{max(count, 1)}];"
            elif self.long:
                yield name, f"    {'void *' if kind == prog.POINTER else 'i64 '}{name};"

    # --- a part
    def _part(self, number: int, sites: Sequence[tuple[int, Sequence[prog.Step]]]) -> Iterator[_Printed]:
        yield from self._printed(self._part_head(number))
        if not self.long:
            for name, line in self._declarations():
                yield from self._printed([line], name if self.program.locals[name][0] == "int64" else "")
        if number == 0:
            if self.profile and not self.body:
                yield from self._printed(self._begin())
            yield from self._inputs()
            yield from self._constants()
        if self.profile:
            now = "call->profile ? rt->clock() : 0" if self.body else "rt->clock()"
            yield from self._printed([f"    i64 start = {now};", "    (void)start;"])
        calls = 0
        for site, steps in sites:
            yield from self._site(site, steps)
            before, calls = calls, calls + sum(isinstance(s, prog.Call) for s in steps)
            if before // CALLS_BETWEEN_LOOKS < calls // CALLS_BETWEEN_LOOKS:
                yield from self._printed(self._look(site))
        yield from self._printed([*self._mark(None), "    return 0;", "}", ""])

    def _begin(self) -> Iterator[Line]:
        yield f"    {self.text.helper('ag_begin')}(call, {memory_at(self.program)}, {self.slots});"

    def _part_head(self, number: int) -> Iterator[Line]:
        effort = "AG_EFFORT " if self.body else ""
        yield f"{effort}static i32 {self.part}_{number}(ag_call *call, struct {self.frame} *f)"
        yield "{"
        yield "    const ag_runtime *const rt = call->rt;"
        yield "    (void)rt;"

    def _inputs(self) -> Iterator[_Printed]:
        """Yield the lines that read the arguments of the call; an unusable address or length ends the call."""
        at = 0
        for k, array in enumerate(self.program.inputs):
            yield from self._printed(self._address(f"in{k}", f"call->data[{k}]"))
            yield from self._lengths(array, "lengths", at)
            for axis in reversed(range(0 if array.dense else len(array.lengths))):
                yield from self._printed(self._stride(array, axis, at))
            yield from self._printed(self._input_checks(k, array, at))
            at += len(array.lengths)
        yield from self._printed(self._overlaps())

    def _address(self, name: str, value: str) -> Iterator[Line]:
        """Yield the declaration of an argument of the call."""
        yield f"    {self.text.new(name)} = {value};"

    def _look(self, site: int) -> Iterator[Line]:
        """Yield the check for Ctrl-C."""
        yield f"    if (rt->stopped()) {self.text.interrupted(site)}"

    def _stride(self, array: prog.Array, axis: int, at: int) -> Iterator[Line]:
        packed = self._packed_stride(array, axis)
        stride = self.text.new(str(array.strides[axis]))
        yield f"    {stride} = call->strides ? call->strides[{at + axis}] : {packed};"

    def _overlaps(self) -> Iterator[Line]:
        """Yield the checks that overwritten inputs overlap no other input."""
        if not self.program.in_place:
            return
        arrays = self.program.inputs
        starts = ", ".join(self.text.argument(a) for a in arrays)
        sizes = ", ".join(self.text.bytes_of(a) for a in arrays)
        written = ", ".join(map(str, self.program.in_place.values()))
        yield f"    const void *const starts[] = {{{starts}}};"
        yield f"    const i64 sizes[] = {{{sizes}}};"
        yield f"    const i32 written[] = {{{written}}};"
        given = f"{len(arrays)}, starts, sizes, {len(self.program.in_place)}, written"
        yield f"    if ({self.text.helper('ag_overlap')}({given})) {self._input_failure(Outcome.MISALIGNED, 0)}"

    def _packed_stride(self, array: prog.Array, axis: int) -> str:
        if axis == len(array.lengths) - 1:
            return "1"
        return f"{self.text.q(array.lengths[axis + 1])} * {self.text.q(array.strides[axis + 1])}"

    def _input_checks(self, k: int, array: prog.Array, at: int) -> Iterator[Line]:
        unit = numpy_dtype(array.dtype).alignment
        if unit > 1:
            yield f"    if ((u64){self.text.q(f'in{k}')} % {unit}) {self._input_failure(Outcome.MISALIGNED, k)}"
        if array.lengths:
            kept = f"{self.text.helper('ag_as_declared')}(call, {at}, {len(array.lengths)})"
            yield f"    if (!{kept}) {self._input_failure(Outcome.DECLARED, k)}"

    def _input_failure(self, outcome: Outcome, k: int) -> str:
        why = f"{int(outcome)} /* {outcome.name} */"
        return f"return {self.text.helper('ag_fail')}(call, {why}, -1, {k}, 0, 0);"

    def _constants(self) -> Iterator[_Printed]:
        at = 0
        for k, array in enumerate(self.program.constants):
            yield from self._printed(self._address(f"k{k}", f"call->constants[{k}]"))
            yield from self._lengths(array, "constant_lengths", at)
            at += len(array.lengths)

    def _lengths(self, array: prog.Array, field: str, at: int) -> Iterator[_Printed]:
        for axis, length in enumerate(array.lengths):
            if isinstance(length, str):
                yield from self._printed(self._address(length, f"call->{field}[{at + axis}]"))

    # --- a node
    def _site(self, site: int, steps: Sequence[prog.Step]) -> Iterator[_Printed]:
        yield from self._printed(self._site_head(site))
        working = (prog.Call, prog.Host, prog.Pack, prog.Loop, prog.Choice)
        works = self.profile and any(isinstance(s, working) for s in steps)
        looped = self.long and not self.profile
        for step, count in in_runs(steps, self.program.slots) if looped else ((step, 1) for step in steps):
            yield from self._printed("    " + line for line in self.text.lines(step, count))
            if self.profile:
                yield from self._printed("    " + line for line in self.text.held(step, bool(self.body)))
        if works:
            yield from self._printed(self._counted(site, steps))

    def _site_head(self, site: int) -> Iterator[Line]:
        known = self.program.sites
        yield ""
        yield from self._mark(site if site < len(known) else None)
        number = f"{self.body}, {site}" if self.body else str(site)
        yield f"    /* {number}: {_comment(known[site].text) if site < len(known) else 'outputs'} */"

    def _mark(self, site: int | None) -> list[Line]:
        """Return the mark of the lines of a node; bodies have none, since their nodes are not the function's."""
        return [] if self.body else [Mark(site)]

    def _counted(self, site: int, steps: Sequence[prog.Step]) -> Iterator[Line]:
        counted = f"{site}, start, {self.text.bytes_moved(steps)}, {self.text.flops(site, steps)}"
        if self.body:
            even = int(not any(prog.bodies_of(step) for step in steps))
            yield f"    if (call->profile) start = {self.text.helper('ag_step_count')}(call, {counted}, {even});"
            return
        yield f"    start = {self.text.helper('ag_count')}(call, {counted}, {moment_of(self.program, site)});"
        yield from ("    " + line for line in self.text.spared(site, steps))

    # --- the entry
    def _entry(self) -> Iterator[Line]:
        outputs, first = len(self.program.graph.outputs), len(self.program.inputs)
        yield f"AG_EFFORT static i32 {self.body}(ag_call *call)" if self.body else "i32 ag_entry(ag_call *call)"
        yield "{"
        yield "    const ag_runtime *const rt = call->rt;"
        if not self.body:
            yield from self.head.noted()
        if self.long:
            yield f"    struct {self.frame} *const f = rt->alloc(sizeof *f);"
            yield f"    if (!f) return {int(Outcome.MEMORY)};"
            yield "    __builtin_memset(f, 0, sizeof *f);"
        else:
            yield f"    struct {self.frame} frame = {{0}}, *const f = &frame;"
        yield from ("    " + line for line in arena.opened(self.lives))
        yield f"    i32 outcome = {self.part}_0(call, f);"
        for number in range(1, len(self.parts)):
            yield f"    if (!outcome) outcome = {self.part}_{number}(call, f);"
        yield from (f"    if (outcome) {{ {line} }}" for line in undo.restored(self.text))
        yield from ("    " + line for line in arena.emptied(self.text, self.lives))
        buffers = f"{self.slots}, {'f->b' if self.slots else '0'}"
        yield f"    {self.text.helper('ag_leave')}(rt, call, outcome, {buffers}, {outputs}, f->o, {first});"
        yield from ("    " + line for line in arena.closed(self.lives, self.program, self.profile and not self.body))
        if self.profile and self.body and self.slots:
            yield f"    for (i32 k = 0; k < {self.slots}; k++) {self.text.helper('ag_hold')}(call, f->held + k, 0);"
        yield "    if (!outcome) outcome = f->outcome;"
        listening = (prog.Call, prog.Commit, prog.Loop, prog.Choice)
        if not self.body and any(isinstance(step, listening) for step in self.program.steps):
            yield "    rt->end();"
        if self.long:
            yield "    rt->release(f);"
        if self.profile and not self.body:
            done = f"outcome == 0 || outcome == {int(Outcome.OTHER_OUTPUTS)} /* OTHER_OUTPUTS */"
            row = whole_call(self.program)
            counted = f"{memory_at(self.program) + 3}, {moment_of(self.program, row)}"
            yield f"    {self.text.helper('ag_called')}(call, {row}, {done}, {counted});"
        yield "    return call->outcome = outcome;"
        yield "}"


def _without_unread(printed: Sequence[_Printed]) -> list[_Printed]:
    """Return the lines without lengths and addresses that no later line reads."""
    kept: list[_Printed] = []
    used: set[str] = set()
    for p in reversed(printed):
        if not p.defined or p.defined in used:
            used |= p.used
            kept.append(p)
    return kept[::-1]


def _comment(text: str) -> str:
    return c_comment(text if len(text) <= 100 else f"{text[:97]}...")


def _by_site(steps: Sequence[prog.Step]) -> list[tuple[int, list[prog.Step]]]:
    """Return the steps grouped by node; a release belongs to the node before it."""
    groups: list[tuple[int, list[prog.Step]]] = []
    for step in steps:
        site = groups[-1][0] if isinstance(step, prog.Release) else step.site
        if not groups or groups[-1][0] != site:
            groups.append((site, []))
        groups[-1][1].append(step)
    return groups


def _parts(sites: list[tuple[int, list[prog.Step]]]) -> list[list[tuple[int, list[prog.Step]]]]:
    """Return the sites in groups of about `limits.driver_steps` steps; one group for up to twice as many."""
    most = current().limits.programs.driver_steps
    if sum(len(steps) for _, steps in sites) <= 2 * most:
        return [sites]
    parts: list[list[tuple[int, list[prog.Step]]]] = [[]]
    size = 0
    for site, steps in sites:
        if size >= most:
            parts.append([])
            size = 0
        parts[-1].append((site, steps))
        size += len(steps)
    return parts
