"""The C text of a function: types, helpers, kernels, and the driver that runs a Program step by step.

preamble          scalar types, and the helpers that the kernels use            preamble.py
kernels           each once: what a reader looks for, so it comes before what only the driver needs
declarations      ag_runtime, ag_call                                           abi.py
folds             what combines results of parts                                nest_text.py
driver helpers    joint lengths, slices, copies: those that are used            driver_helpers.py
nests             what the runtime must know to run a kernel in parts           nest_text.py
struct frame      the buffers; in long programs all locals
part_0 ...        the steps, about 200 a C function: compilers take time that grows faster than a function
ag_entry          the frame, the parts, and what is left to give back
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...graph.types import numpy_dtype
from ..abi import declarations as abi
from ..ctext.helper import storage_type
from ..ctext.preamble import preamble, used
from .accounts import memory_at, whole_call
from .driver_helpers import driver_helpers
from .like_steps import in_runs
from .loop_text import body_name
from .nest_text import fold_lines, nest_lines
from .program import Array, Call, Choice, Commit, Host, Loop, Outcome, Pack, Program, Release, Step
from .step_text import StepText
from .units import in_units

STEPS_A_PART = 200
CALLS_BETWEEN_LOOKS = 16
"""Kernels after which a chain of them looks whether Ctrl-C was pressed, however short each is."""


def c_text(program: Program, profile: bool = False) -> str:
    """The C file of `program`: equal programs give equal text.  `profile`: with a clock around every node that does
    work.
    """
    folds = "\n".join(fold_lines(program.kernels))
    driver = "\n".join([*nest_lines(program.kernels), "", *_Driver(program, profile).lines()])
    sections = [
        preamble([*(name for kernel in program.kernels for name in kernel.helpers), *used(folds), *used(driver)]),
        in_units(program.kernels, _DECLARATIONS, f"{folds}\n{driver_helpers(driver)}\n{driver}"),
    ]
    return "\n".join(sections)


_DECLARATIONS = f"{abi.RUNTIME_DECLARATIONS}\n{abi.CALL_DECLARATIONS}"
_LENGTH = re.compile(r"    (?:const i64 (\w+) = |i64 (v\d+)\[\d+\];|(v\d+)\[\d+\] = )")
_WORD = re.compile(r"[A-Za-z_]\w*")


class _Driver:
    """Prints everything after the kernels."""

    def __init__(self, program: Program, profile: bool, body: str = "", base: int = 0) -> None:
        self.program = program
        self.profile = profile
        self.body = body
        """The name of the function, for the body of a loop; empty for the driver itself."""
        self.base = base
        self.frame = f"{body}_frame" if body else "frame"
        self.part = f"{body}_part" if body else "part"
        self.parts = _parts(_by_site(program.steps))
        self.long = len(self.parts) > 1
        self.text = StepText(program, self.long, base)
        self.slots = max(program.slots.values(), default=-1) + 1

    def lines(self) -> Iterator[str]:
        for number, body in enumerate(self.program.bodies):
            name = body_name(self.program, self.base, number)
            yield from _Driver(body, False, name, self.program.body_base(self.base, number)).lines()
        yield from self._frame()
        for number, sites in enumerate(self.parts):
            yield from self._part(number, sites) if self.long else _without_unused(list(self._part(number, sites)))
        yield from self._entry()
        yield ""

    # --- the frame
    def _frame(self) -> Iterator[str]:
        yield f"struct {self.frame} {{"
        yield "    i32 outcome;"
        yield f"    void *o[{max(len(self.program.graph.outputs), 1)}]; /* outputs */"
        if self.slots:
            yield f"    void *b[{self.slots}]; /* buffers */"
        if self.long:
            yield from self._declarations()
        yield "};"
        yield ""

    def _declarations(self) -> Iterator[str]:
        """Arrays on the stack; in a frame all locals."""
        for name, (kind, count) in self.program.locals.items():
            if kind not in ("i64", "void *"):
                yield f"    {storage_type(kind)} {name}[{max(count, 1)}];"
            elif self.long:
                yield f"    {kind}{'' if kind.endswith('*') else ' '}{name};"

    # --- a part
    def _part(self, number: int, sites: Sequence[tuple[int, Sequence[Step]]]) -> Iterator[str]:
        effort = "AG_EFFORT " if self.body else ""
        yield f"{effort}static i32 {self.part}_{number}(ag_call *call, struct {self.frame} *f)"
        yield "{"
        yield "    const ag_runtime *const rt = call->rt;"
        yield "    (void)rt;"
        if not self.long:
            yield from self._declarations()
        if number == 0:
            if self.profile:
                yield f"    ag_begin(call, {memory_at(self.program)}, {self.slots});"
            yield from self._inputs()
            yield from self._constants()
        if self.profile:
            yield "    i64 start = rt->clock();"
            yield "    (void)start;"
        calls = 0
        for site, steps in sites:
            yield from self._site(site, steps)
            before, calls = calls, calls + sum(isinstance(s, Call) for s in steps)
            if before // CALLS_BETWEEN_LOOKS < calls // CALLS_BETWEEN_LOOKS:
                yield f"    if (rt->stopped()) {self.text.interrupted(site)}"
        yield "    return 0;"
        yield "}"
        yield ""

    def _inputs(self) -> Iterator[str]:
        """What the caller hands over.  An address or a length that will not do ends the call."""
        at = 0
        for k, array in enumerate(self.program.inputs):
            yield f"    {self.text.new(f'in{k}')} = call->data[{k}];"
            yield from self._lengths(array, "lengths", at)
            for axis in reversed(range(0 if array.dense else len(array.lengths))):
                packed = self._packed_stride(array, axis)
                stride = self.text.new(str(array.strides[axis]))
                yield f"    {stride} = call->strides ? call->strides[{at + axis}] : {packed};"
            yield from self._input_checks(k, array, at)
            at += len(array.lengths)
        yield from self._overlaps()

    def _overlaps(self) -> Iterator[str]:
        """Inputs that are overwritten must lie apart from all others."""
        if not self.program.in_place:
            return
        arrays = self.program.inputs
        starts = ", ".join(self.text.argument(a) for a in arrays)
        sizes = ", ".join(self.text.bytes_of(a) for a in arrays)
        written = ", ".join(map(str, self.program.in_place.values()))
        yield f"    const void *const starts[] = {{{starts}}};"
        yield f"    const i64 sizes[] = {{{sizes}}};"
        yield f"    const i32 written[] = {{{written}}};"
        count = f"{len(arrays)}, starts, sizes, {len(self.program.in_place)}"
        yield f"    if (ag_overlap({count}, written)) {self._input_failure(Outcome.MISALIGNED, 0)}"

    def _packed_stride(self, array: Array, axis: int) -> str:
        if axis == len(array.lengths) - 1:
            return "1"
        return f"{self.text.q(array.lengths[axis + 1])} * {self.text.q(array.strides[axis + 1])}"

    def _input_checks(self, k: int, array: Array, at: int) -> Iterator[str]:
        unit = numpy_dtype(array.dtype).alignment
        if unit > 1:
            yield f"    if ((u64){self.text.q(f'in{k}')} % {unit}) {self._input_failure(Outcome.MISALIGNED, k)}"
        if array.lengths:
            kept = f"ag_as_declared(call, {at}, {len(array.lengths)})"
            yield f"    if (!{kept}) {self._input_failure(Outcome.DECLARED, k)}"

    def _input_failure(self, outcome: Outcome, k: int) -> str:
        return f"return ag_fail(call, {int(outcome)} /* {outcome.name} */, -1, {k}, 0, 0);"

    def _constants(self) -> Iterator[str]:
        at = 0
        for k, array in enumerate(self.program.constants):
            yield f"    {self.text.new(f'k{k}')} = call->constants[{k}];"
            yield from self._lengths(array, "constant_lengths", at)
            at += len(array.lengths)

    def _lengths(self, array: Array, field: str, at: int) -> Iterator[str]:
        for axis, length in enumerate(array.lengths):
            if isinstance(length, str):
                yield f"    {self.text.new(length)} = call->{field}[{at + axis}];"

    # --- a node
    def _site(self, site: int, steps: Sequence[Step]) -> Iterator[str]:
        known = self.program.sites
        yield ""
        number = f"{self.body}, {site}" if self.body else str(site)
        yield f"    /* {number}: {_comment(known[site].text) if site < len(known) else 'outputs'} */"
        works = self.profile and any(isinstance(s, (Call, Host, Pack, Loop, Choice)) for s in steps)
        looped = self.long and not self.profile
        for step, count in in_runs(steps, self.program.slots) if looped else ((step, 1) for step in steps):
            yield from ("    " + line for line in self.text.lines(step, count))
            if self.profile:
                yield from ("    " + line for line in self.text.held(step))
        if works:
            counted = f"{self.text.bytes_moved(steps)}, {self.text.flops(site, steps)}"
            yield f"    start = ag_count(call, {site}, start, {counted});"
            yield from ("    " + line for line in self.text.spared(site, steps))

    # --- the entry
    def _entry(self) -> Iterator[str]:
        outputs, first = len(self.program.graph.outputs), len(self.program.inputs)
        yield f"AG_EFFORT static i32 {self.body}(ag_call *call)" if self.body else "i32 ag_entry(ag_call *call)"
        yield "{"
        yield "    const ag_runtime *const rt = call->rt;"
        if self.long:
            yield f"    struct {self.frame} *const f = rt->alloc(sizeof *f);"
            yield f"    if (!f) return {int(Outcome.MEMORY)};"
            yield "    __builtin_memset(f, 0, sizeof *f);"
        else:
            yield f"    struct {self.frame} frame = {{0}}, *const f = &frame;"
        yield f"    i32 outcome = {self.part}_0(call, f);"
        for number in range(1, len(self.parts)):
            yield f"    if (!outcome) outcome = {self.part}_{number}(call, f);"
        buffers = f"{self.slots}, {'f->b' if self.slots else '0'}"
        yield f"    ag_leave(rt, call, outcome, {buffers}, {outputs}, f->o, {first});"
        yield "    if (!outcome) outcome = f->outcome;"
        if not self.body and any(isinstance(step, (Call, Commit, Loop, Choice)) for step in self.program.steps):
            yield "    rt->end();"
        if self.long:
            yield "    rt->release(f);"
        if self.profile:
            done = f"outcome == 0 || outcome == {int(Outcome.OTHER_OUTPUTS)} /* OTHER_OUTPUTS */"
            yield f"    ag_called(call, {whole_call(self.program)}, {done});"
        yield "    return call->outcome = outcome;"
        yield "}"


def _without_unused(lines: list[str]) -> list[str]:
    """The lines of a C function without the lengths that it computes, or keeps in memory, and never uses: compilers
    complain of them.
    """
    kept: list[str] = []
    words: set[str] = set()
    for line in reversed(lines):
        found = _LENGTH.match(line)
        if found is None or not words.isdisjoint(found.groups()):
            words.update(_WORD.findall(line))
            kept.append(line)
    return kept[::-1]


def _comment(text: str) -> str:
    short = text if len(text) <= 100 else text[:97] + "..."
    return short.replace("*/", "* /")


def _by_site(steps: Sequence[Step]) -> list[tuple[int, list[Step]]]:
    """The steps of each node together; a release belongs to the node before it."""
    groups: list[tuple[int, list[Step]]] = []
    for step in steps:
        site = groups[-1][0] if isinstance(step, Release) else step.site
        if not groups or groups[-1][0] != site:
            groups.append((site, []))
        groups[-1][1].append(step)
    return groups


def _parts(sites: list[tuple[int, list[Step]]]) -> list[list[tuple[int, list[Step]]]]:
    """The sites in runs of about STEPS_A_PART steps; one run if that is not much more."""
    if sum(len(steps) for _, steps in sites) <= 2 * STEPS_A_PART:
        return [sites]
    parts: list[list[tuple[int, list[Step]]]] = [[]]
    size = 0
    for site, steps in sites:
        if size >= STEPS_A_PART:
            parts.append([])
            size = 0
        parts[-1].append((site, steps))
        size += len(steps)
    return parts
