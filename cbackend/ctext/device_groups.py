"""Kernels of devices whose groups reduce: each item folds lanes of an output, then a tree in local memory.

    const i64 item = threadIdx.x, own = item / 32, lane = item % 32;
    const i64 place = (i64)blockIdx.x * 8 + own;                        the output; the last group may have too many
    f32 total0 = 0.0f;
    i64 at = lane;
    for (; at < end - 480; at += 512) {                                 sixteen elements at a time
    #pragma unroll
        for (int k = 0; k < 16; k++) { const i64 i1 = at + k * 32; ... total0 = total0 + x0_0[i1]; }
    }
    if (at < end) { the same for the rest: an element behind the end is neither read nor added }
    tree0[item] = total0; ...

Passes over rows follow one another.  All items of a row read the result of a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..ir.kernel import Kernel
from ..ir.loops import Assign, Body, Const, Expr, If, Let, Load, Local, ScalarOp, Statement, Store, every, index, plus
from ..ir.walk import substitute
from ..ir.work_items import HELD_STEP, Fold, Groups, Pass, WorkItems
from .device import Dialect, along_ones, kernel_text, lines_of, outer_indices, with_helpers
from .emit import INDENT, constant, expression, helpers, helpers_of
from .helper import C_TYPES, storage_type

_UNROLL = "#pragma unroll"
_GROUPS = 16
"""Most groups that share a processor on all devices."""
_WORDS = 32
"""Registers of held elements, none of 64 bits, that leave enough for the rest of a kernel."""
_IS_IN, _IS_OUTPUT = Local("bool", "is_in"), Local("bool", "is_output")


def group_source(found: WorkItems, dialect: Dialect, groups: Groups, dense: bool = False) -> str:
    """Return the text of a kernel with all that it needs.

    `dense`: the inputs have stride 1 along the last reduced loop.
    """
    kernel = found.kernel
    needed = {*helpers(kernel), *helpers_of(f.with_value(Const(f.dtype, 0)) for f in found.folds)}
    if dense:
        found = replace(found, passes=tuple(_along_ones(p, kernel, groups.loops[-1:]) for p in found.passes))
    further = (
        *(f"{letter}{loop}" for loop in groups.divided for letter in "mh"),
        *("parts", "part")[: 2 * groups.is_split],
    )
    lines = _Printer(found, dialect, groups).lines()
    is_wide = groups.held and (found.words * groups.held > _WORDS or found.words > len(found.held))
    resident = dialect.resident // 2 if is_wide else dialect.resident
    head = dialect.grouped.format(items=groups.items, groups=max(1, min(resident // groups.items, _GROUPS)))
    return with_helpers(needed, dialect, kernel, kernel_text(kernel, dialect, head, lines, further))


def _along_ones(each: Pass, kernel: Kernel, loops: tuple[int, ...]) -> Pass:
    once, body = (along_ones(part, kernel, loops) for part in (each.once, each.body))
    return replace(each, once=once, body=body)


class _Printer:
    """Printer of one kernel."""

    def __init__(self, found: WorkItems, dialect: Dialect, groups: Groups) -> None:
        self._found, self._dialect, self._groups = found, dialect, groups
        self._has_spare = groups.across > 1
        """Whether the last group may have more places than outputs are left."""
        self._index = "i32" if groups.is_narrow else "i64"
        """The type of positions of elements."""

    def lines(self) -> Iterator[str]:
        """Yield the statements of the kernel."""
        found, groups = self._found, self._groups
        yield from self._places()
        yield from self._bounds()
        if groups.along > 1:
            for fold in found.folds:
                yield f"{self._dialect.shared}{storage_type(fold.dtype)} {_tree(fold)}[{groups.items}];"
        if groups.held:
            for name, dtype in found.held:
                yield f"{storage_type(dtype)} {name}[{groups.held}];"
        if not groups.held:
            yield f"{self._index} at;"
        for each in found.passes:
            yield from self._pass(each)
        yield from self._ending()

    def _places(self) -> Iterator[str]:
        """Yield the place of an item in its group, and the indices of its output."""
        groups, group = self._groups, self._dialect.group
        yield f"const u32 item = {self._dialect.item};"
        if self._has_spare:
            own, lane = ("%", "/") if groups.adjacent else ("/", "%")
            number = groups.across if groups.adjacent else groups.along
            yield f"const i32 own = item {own} {number}, lane = item {lane} {number};"
        else:
            yield "const i32 lane = item;"
        across = group[0]
        if groups.is_split:
            yield f"const i64 group = {across};"
            yield "const i64 chunk = group % parts;"
            across = "group / parts"
        *outer, last = groups.kept or (None,)
        if last is None:
            return
        if self._has_spare:
            yield f"const i64 place = {across} * {groups.across} + own;"
            yield f"const bool is_output = place < n{last};"
            yield f"const i64 i{last} = is_output ? place : 0;"
        else:
            yield f"const i64 i{last} = {across};"
        if outer:
            yield f"const i64 i{outer[-1]} = {group[1]};"
        yield from outer_indices(tuple(outer[:-1]), group[2])

    def _bounds(self) -> Iterator[str]:
        """Yield the indices of the elements of a group, and of loops with one step."""
        groups = self._groups
        count = " * ".join(f"n{l}" for l in groups.loops) or "1"
        yield f"const {self._index} count = {count};"
        end = "count"
        if groups.is_split:
            yield f"const {self._index} first = chunk * part;"
            end = "(first + part < count ? first + part : count)"
        is_bounded = self._has_spare and not groups.held
        yield f"const {self._index} end = {f'is_output ? {end} : 0' if is_bounded else end};"
        for loop in self._found.reduced:
            if loop not in groups.loops:
                yield f"const i64 i{loop} = 0;"

    # --- a pass

    def _pass(self, each: Pass) -> Iterator[str]:
        groups, dialect = self._groups, self._dialect
        yield from lines_of(each.once, dialect)
        for fold in each.folds:
            start = constant(Const(fold.dtype, fold.identity.value))[0]
            sums = groups.sums
            array, values = (f"[{sums}]", f"{{{', '.join([start] * sums)}}}") if sums > 1 else ("", start)
            yield f"{C_TYPES[fold.dtype]} {fold.value}{array} = {values};"
        body = tuple(_on_sums(each.body, each.folds, groups.sums))
        if groups.held:
            stored = every([_IS_IN, _IS_OUTPUT]) if self._has_spare else _IS_IN
            nearby = self._nearby("lane", f"k < {groups.held - HELD_STEP} || ")
            yield from self._unrolled(groups.held, _only_inside(body, stored), nearby)
        else:
            yield f"at = {'first + ' if groups.is_split else ''}lane;"
            steps = groups.unroll * groups.along
            last = (groups.unroll - 1) * groups.along
            yield f"for (; at < end - {last}; at += {steps}) {{"
            whole = self._unrolled(groups.unroll, body, self._indices(f"at + k * {groups.along}"))
            yield from _indented(whole)
            yield "}"
            if groups.unroll > 1:
                yield "if (at < end) {"
                rest = self._unrolled(groups.unroll, _only_inside(body), self._nearby("at"))
                yield from _indented(rest)
                yield "}"
        yield from self._tree(each.folds)

    def _unrolled(self, count: int, body: Body, indices: Iterable[str]) -> Iterator[str]:
        """Yield a loop over elements that are read together."""
        yield _UNROLL
        yield f"for (int k = 0; k < {count}; k++) {{"
        yield from _indented(indices)
        yield from _indented(lines_of(body, self._dialect))
        yield "}"

    def _nearby(self, start: str, known: str = "") -> Iterator[str]:
        """Yield the indices of an element that may lie behind the end, unless it is `known` not to."""
        yield f"const {self._index} near = {start} + k * {self._groups.along};"
        yield f"const bool {_IS_IN.name} = {known}near < end;"
        yield from self._indices("near")

    def _indices(self, position: str) -> Iterator[str]:
        """Yield the indices of the reduced loops at a position."""
        rest, loops = position, self._groups.loops
        if len(loops) == 1:
            yield f"const {self._index} i{loops[0]} = {position};"
        if len(loops) < 2:
            return
        is_narrow = self._groups.is_narrow
        kind = "u32" if is_narrow else "i64"
        for loop in loops[:0:-1]:
            yield f"const {kind} left{loop} = {rest};"
            whole = f"{self._dialect.high_product}(left{loop}, (u32)m{loop}) >> (u32)h{loop}"
            yield f"const {kind} of{loop} = {whole if is_narrow else f'left{loop} / n{loop}'};"
            yield f"const {self._index} i{loop} = left{loop} - of{loop} * ({kind})n{loop};"
            rest = f"of{loop}"
        yield f"const {kind} i{loops[0]} = {rest};"

    # --- results

    def _tree(self, folds: tuple[Fold, ...]) -> Iterator[str]:
        """Yield the combination of the lanes, first those of an item, then those of the group."""
        groups = self._groups
        half = groups.sums // 2
        while half and folds:
            yield _UNROLL
            yield f"for (int k = 0; k < {half}; k++) {{"
            for fold in folds:
                one, other = (Local(fold.dtype, f"{fold.value}[{k}]") for k in ("k", f"k + {half}"))
                yield f"{INDENT}{one.name} = {expression(fold.combined(one, other))};"
            yield "}"
            half //= 2
        if groups.along == 1 or not folds:
            for fold in folds:
                yield f"const {C_TYPES[fold.dtype]} {fold.result} = {self._total(fold).name};"
            return
        yield from self._in_group(folds)

    def _in_group(self, folds: tuple[Fold, ...]) -> Iterator[str]:
        """Yield the tree over the items of an output, whose last steps take place among items near one another."""
        groups, barrier = self._groups, self._dialect.barrier
        near, near_barrier = (1, "") if groups.adjacent else self._dialect.near_barrier
        for fold in folds:
            yield f"{_tree(fold)}[item] = {self._total(fold).name};"
        half = groups.along // 2
        if half >= near:
            yield barrier
            yield from self._steps(folds, f"half = {half}; half >= {near}", barrier)
        else:
            yield near_barrier
        if near > 1:
            yield from self._steps(folds, f"half = {min(half, near // 2)}; half > 0", near_barrier)
        if near > 1 and groups.along > near:
            yield barrier
        base = "own" if groups.adjacent else f"own * {groups.along}" if self._has_spare else "0"
        for fold in folds:
            yield f"const {C_TYPES[fold.dtype]} {fold.result} = {_tree(fold)}[{base}];"

    def _steps(self, folds: tuple[Fold, ...], steps: str, barrier: str) -> Iterator[str]:
        """Yield steps of the tree, with a barrier after each."""
        spacing = self._groups.spacing
        distance = "half" if spacing == 1 else f"half * {spacing}"
        yield f"for (int {steps}; half /= 2) {{"
        yield f"{INDENT}if (lane < half) {{"
        for fold in folds:
            total, other = self._total(fold), Local(fold.dtype, f"{_tree(fold)}[item + {distance}]")
            yield f"{INDENT * 2}{total.name} = {expression(fold.combined(total, other))};"
            yield f"{INDENT * 2}{_tree(fold)}[item] = {total.name};"
        yield f"{INDENT}}}"
        yield INDENT + barrier
        yield "}"

    def _total(self, fold: Fold) -> Local:
        """Return the local in which an item has its total."""
        return Local(fold.dtype, fold.value if self._groups.sums == 1 else f"{fold.value}[0]")

    def _ending(self) -> Iterator[str]:
        """Yield the statements of one item of each output."""
        if not self._found.ending:
            return
        ending = self._found.ending
        if self._groups.is_split:
            chunk = index("chunk")
            ending = tuple(replace(s, index=plus(s.index, chunk)) if isinstance(s, Store) else s for s in ending)
        yield f"if (lane == 0{' && is_output' * self._has_spare}) {{"
        yield from _indented(lines_of(ending, self._dialect))
        yield "}"


def _tree(fold: Fold) -> str:
    """Return the name of the array in local memory in which the lanes of a fold are combined."""
    return fold.value.replace("total", "tree")


def _on_sums(body: Body, folds: tuple[Fold, ...], sums: int) -> Iterator[Statement]:
    """Yield the statements of element k, which adds to accumulator k % `sums`."""
    names = {f.value: Local(f.dtype, f"{f.value}[k % {sums}]" if sums > 1 else f.value) for f in folds}
    for s in body:
        if isinstance(s, Assign) and s.name in names:
            values: dict[str, Expr] = {s.name: names[s.name]}
            yield Assign(names[s.name].name, substitute(s.value, values))
        else:
            yield s


def _only_inside(body: Body, stored: Expr = _IS_IN) -> Body:
    """Return the statements of an element that may lie behind the end: it is not read, and changes no total.

    `stored`: the condition under which it is written.
    """
    return tuple(each for s in body for each in _guarded(s, stored))


def _guarded(s: Statement, stored: Expr) -> Iterator[Statement]:
    if isinstance(s, Assign):
        total = Local(s.value.dtype, s.name)
        new = Let(f"{s.name.partition('[')[0]}_new", s.value)
        yield new
        yield Assign(s.name, _if_in(Local(total.dtype, new.name), total))
    elif isinstance(s, Let) and isinstance(s.value, Load) and s.value.index != index("k"):
        yield replace(s, value=_if_in(s.value, Const(s.value.dtype, 0)))
    elif isinstance(s, Store) and s.index != index("k"):
        yield If(stored, (s,))
    else:
        yield s


def _if_in(value: Expr, otherwise: Expr) -> Expr:
    return ScalarOp("switch", value.dtype, (_IS_IN, value, otherwise))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (line if line.startswith("#") else INDENT + line for line in lines)
