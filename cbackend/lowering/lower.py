"""From graph nodes to kernels: one for an elementwise op, a fused group, a reduction, a softmax or a running sum.

lower(node)  ->  Group, Nests over it (nest.py, lower_reduce.py, lower_rows.py ...)  ->  Kernel (its body in loop IR),
and how it may be cut (splitting.py)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...graph import Apply, Variable
from ...graph.text import op_text
from ...ops.lowered.fused import Fused, InPlace
from ...ops.lowered.row_passes import is_row_graph
from ...ops.networks.functions import AlongAxis
from ...ops.networks.pooling import Pool
from ...ops.reductions.cumulative import Cumulative
from ..ir.kernel import Kernel, Status
from ..ir.loops import ZERO, Body, Const, Expr, For, If, Outlined, Return, Statement, Var, equal, index
from ..ir.operands import parameter_names
from ..ir.schedule import DEFAULT, Schedule, ScheduleError, check
from ..ir.walk import own_statements, pruned
from .arrange import arranged, in_vectors
from .describe import describe
from .fold import folded_loops
from .group import Group, Result, group_of
from .halves import on_halves
from .lanes import sums_in_lanes
from .lookups import checked, signature_of
from .nest import FAILED, Nest, Operands
from .nests.columns import column_group, column_nest
from .nests.cumulative import cumulative_group, cumulative_nest
from .nests.pool import pool_kernel
from .nests.position import ORDER_OF, POSITIONS
from .nests.reduce import nest_order, reduction_nest
from .nests.rows import Rows, row_body, rows_of
from .nests.short_rows import are_short, loops_across, short_positions, short_rows, unfilled_vectors
from .splitting import splits_of
from .strips import costly_in_strips, is_costly
from .tiles import tiled

SHORT_FUNCTIONS = ("short", "short_outer")
"""The outlined functions for short rows: vectors across rows run along the last loop but one, or but two."""


class OverwriteRefusedError(ValueError):
    """No order of the loops of a kernel allows an output to share the memory of an input."""


Alias = tuple[int, int]
"""(output, input): positions of a node's output and input that are exactly the same memory."""


def lower(node: Apply, aliases: tuple[Alias, ...] = (), schedule: Schedule = DEFAULT) -> Kernel:
    """Return the kernel that computes `node`; an `InPlace` op brings its own aliases.

    Raises TypeError for an op that has no kernel, OverwriteRefusedError for aliases that no order of its loops allows,
    and ScheduleError for a schedule that its loops do not allow.
    """
    if isinstance(node.op, InPlace):
        return lower(node.with_op(node.op.op), (*node.op.pairs, *aliases), schedule)
    body, group, operands, comment, whole = _pieces(node, aliases, schedule)
    body = in_vectors(sums_in_lanes(on_halves(body)), schedule.vector)
    kernel = Kernel(
        comment if schedule == DEFAULT else f"{comment}\n   schedule: {schedule}",
        group.rank,
        operands.outputs,
        operands.inputs,
        pruned(body),
        fallible=isinstance(body[-1], Return),
        shared=frozenset(output for output, _ in aliases),
        signature=signature_of(operands, group.rank) if group.lookups else (),
    )
    if len(group.results) > 1 and not whole and all(r.fold is None for r in group.results):
        kernel = replace(kernel, feeds=operands.feeding([(r.value, r.place) for r in group.results]))
    if not _are_rows_separate(operands, aliases):
        return kernel
    return replace(kernel, splits=splits_of(group, operands, whole, schedule))


def _are_rows_separate(operands: Operands, aliases: Sequence[Alias]) -> bool:
    """Whether no chunk of the loops reads an element that another chunk overwrites."""
    return all(
        operand.axes == operands.outputs[output].axes
        for output, source in aliases
        for operand in operands.inputs
        if operand.source == source
    )


_Pieces = tuple[Body, Group, Operands, str, frozenset[int]]
"""Parts of a kernel: statements and operands; a comment; the loops that it iterates more than once."""


def _pieces(node: Apply, aliases: Sequence[Alias], schedule: Schedule) -> _Pieces:
    in_rows = isinstance(node.op, Fused) and is_row_graph(node.op.graph)
    if not in_rows and not isinstance(node.op, (Cumulative, AlongAxis, Pool)):
        return _group_kernel(node, aliases, schedule)
    check(schedule, 0, frozenset(), movable=False)
    if in_rows:
        if aliases:
            raise OverwriteRefusedError("a kernel that reads rows more than once cannot overwrite them")
        return _row_kernel(node)
    if isinstance(node.op, Pool):
        return pool_kernel(node)
    if isinstance(node.op, AlongAxis) and node.op.axis == node.inputs[0].ndim - 1:
        return _row_kernel(node)
    return _along_kernel(node)


def _row_kernel(node: Apply) -> _Pieces:
    rows = rows_of(node)
    operands = rows.operands()
    body, fallible = row_body(rows, operands)
    order = range(rows.group.rank)
    along = frozenset((rows.along,))
    guards = tuple(_guards([*rows.group.results, *itertools.chain(*rows.folds)]))
    # Transposing a row twice takes longer than one sum and a cheap second pass where it lies.
    is_light = len(rows.reductions) == 1 and not _are_costly(body)
    is_light = is_light and any(rows.along in r.kept for r in rows.group.results)
    unfilled = unfilled_vectors(rows.reductions, operands, rows.along) if is_light else None
    short = _with_short_rows(rows, operands, body, fallible, unfilled)
    body = (*guards, *folded_loops(order, operands, along), *short)
    return _answering(body, fallible, bool(guards)), rows.group, operands, describe(rows.shown), along


def _with_short_rows(
    rows: Rows, operands: Operands, body: Body, fallible: bool = False, unfilled: Expr | None = None
) -> Body:
    """Return `body` with alternatives for short rows.

    `unfilled`: whether vectors of `body` are not full; it is the faster one for other short rows.
    """
    for across in loops_across(rows, operands):
        short = short_rows(rows, operands, across)
        body = _or_short(body, short, rows.reductions, operands, rows.group.rank, across, fallible, unfilled)
    return body


def _or_short(
    body: Body, short: Body | None, reductions: Sequence[Result], operands: Operands, rank: int, across: int,
    fallible: bool = False, unfilled: Expr | None = None,
) -> Body:  # fmt: skip
    """Return `body`, or the statements for short rows: outlined, to save compile time, unless they may fail."""
    if short is None:
        return body
    if not fallible:
        names = parameter_names(rank, operands.outputs, operands.inputs)
        short = (Outlined(SHORT_FUNCTIONS[rank - 2 - across], names, short),)
    return (If(are_short(reductions, operands, rank - 1, across, unfilled), short, body),)


def _along_kernel(node: Apply) -> _Pieces:
    """Return the parts of a running sum, or of a softmax along an axis other than the last."""
    cumulative = isinstance(node.op, Cumulative)
    group = (cumulative_group if cumulative else column_group)(node)
    operands = Operands(group)
    nest, along, body = (cumulative_nest if cumulative else column_nest)(node, group, operands)
    prologue = folded_loops(nest.order, operands, along)
    return (*prologue, *body), group, operands, f"y0 = {op_text(node.op)}(x0)", along


def _group_kernel(node: Apply, aliases: Sequence[Alias], schedule: Schedule) -> _Pieces:
    group = group_of(node)
    operands = Operands(group)
    parts = _parts(group.results)
    _check_aliases(aliases, group, operands, parts)
    names = (f"v{n}" for n in itertools.count())
    one = len(parts) == 1 and not any(r.fold in POSITIONS for r in group.results)
    check(schedule, group.rank, parts[0][1], one and _are_rows_separate(operands, aliases))
    nests = [Nest(schedule.order or nest_order(loops, reduced), operands, names) for loops, reduced, _ in parts]
    bodies = [
        _nest(nest, [(k, group.results[k]) for k in numbers], schedule, len(parts) == 1, group.rank)
        for nest, (_, _, numbers) in zip(nests, parts, strict=True)
    ]
    # The loops of several nests share extents and strides, so only a lone nest may change them.
    prologue = folded_loops(nests[0].order, operands, parts[0][1]) if len(nests) == 1 else ()
    guards = tuple(_guards(group.results))
    fallible = any(nest.fallible for nest in nests)
    body = tuple(itertools.chain(*bodies))
    if group.lookups:
        body = checked(body, group, operands)
    if not (aliases or fallible) and len(parts) == 1 and parts[0][1] == {group.rank - 1} and schedule == DEFAULT:
        body = _by_rows(node, group, operands, body)
    body = _answering((*guards, *prologue, *body), fallible, bool(guards))
    return body, group, operands, describe(group), frozenset()


def _by_rows(node: Apply, group: Group, operands: Operands, body: Body) -> Body:
    """Return `body`, which reduces the last loop, with an alternative for short rows."""
    if any(r.fold in POSITIONS for r in group.results):
        short = short_positions(group, operands)
        return _or_short(body, short, group.results, operands, group.rank, group.rank - 2)
    rank = max(len(r.place) for r in group.results)
    if any(r.fold is not None and (len(r.place), r.axes) != (rank, (rank - 1,)) for r in group.results):
        return body  # axes of length 1, which have no loops, stand in front of some operand or follow the reduced axis
    rows = rows_of(node)
    own = rows.operands()
    same = rows.group.rank == group.rank and (own.outputs, own.inputs) == (operands.outputs, operands.inputs)
    if not same:
        return body
    unfilled = None if _are_costly(body) else unfilled_vectors(group.results, operands, group.rank - 1)
    return _with_short_rows(rows, own, body, unfilled=unfilled)


def _are_costly(body: Body) -> bool:
    """Whether a loop computes a costly function of floats."""
    return any(isinstance(s, For) and is_costly(s) for s in own_statements(body))


def _answering(body: Body, fallible: bool, guarded: bool) -> Body:
    """Return `body` with the status that it returns, if it may refuse an element or an empty array."""
    if fallible:
        return (Var(FAILED.name, Const("int32", 0)), *body, Return(FAILED))
    return (*body, Return(_status(Status.OK))) if guarded else body


_Part = tuple[tuple[int, ...], frozenset[int], tuple[int, ...]]
"""One nest: its loops, the reduced ones among them, and the numbers of its results."""
_Searched = tuple[Variable, str] | None
"""Operand of a nest for argmax or argmin, and the comparison."""


def _parts(results: Sequence[Result]) -> list[_Part]:
    """Return the nests that compute all results.

    Results over the same loops with the same ones reduced share a nest, and elementwise results over these loops join
    the last such nest; positions share one with their extremum alone. Nests that write elementwise results come last,
    since these may overwrite an input that others read.
    """
    searched = {_searched(r) for r in results if r.fold in POSITIONS}
    parts: dict[tuple[tuple[int, ...], frozenset[int], _Searched], list[int]] = {}
    for k, r in enumerate(results):
        if r.reduced:
            own = _searched(r)
            parts.setdefault((tuple(sorted(r.loops)), r.reduced, own if own in searched else None), []).append(k)
    for k, r in enumerate(results):
        if not r.reduced:
            loops = tuple(sorted(r.loops))
            host = next((key for key in reversed(parts) if (key[0], key[2]) == (loops, None)), (loops, r.reduced, None))
            parts[host] = [*parts.pop(host, []), k]
    return [(loops, reduced, tuple(sorted(numbers))) for (loops, reduced, _), numbers in parts.items()]


def _searched(result: Result) -> _Searched:
    return (result.value, ORDER_OF[result.fold]) if result.fold in ORDER_OF else None


def _check_aliases(
    aliases: Sequence[Alias], group: Group, operands: Operands, parts: Sequence[_Part]
) -> None:
    for output, source in aliases:
        if any(operand.indexed for operand in operands.inputs if operand.source == source):
            raise OverwriteRefusedError(f"output {output} cannot overwrite input {source}, which is looked up in")
        if group.results[output].reduced or output not in parts[-1][2]:
            raise OverwriteRefusedError(
                f"output {output} cannot overwrite input {source}: it is not computed element by element at the end"
            )


def _nest(nest: Nest, results: Sequence[tuple[int, Result]], schedule: Schedule, alone: bool, rank: int) -> Body:
    """Return the statements of one nest of `rank` loops, which may stand `alone` in its kernel."""
    if any(r.reduced for _, r in results):
        if schedule.unroll > 1 and all(any(l in r.reduced for _, r in results) for l in nest.order[-2:]):
            raise ScheduleError(f"unroll is {schedule.unroll}; both innermost loops are reduced")
        return arranged(reduction_nest(nest, results, schedule), nest.order, schedule)
    stores = [nest.store(k, _element(nest, r)) for k, r in results]
    if not nest.order:
        return (*nest.at[0], *stores)
    general = nest.inner_loop(stores)
    if schedule.rearranges or not alone or len(nest.order) == 1:
        inner = costly_in_strips(general)
        return arranged((*nest.at[0], *nest.looped(inner, len(nest.order) - 1)), nest.order, schedule)
    operands = nest.operands
    return tiled(nest, general, parameter_names(rank, operands.outputs, operands.inputs))


def _element(nest: Nest, result: Result) -> Expr:
    """Return the value of an output that is not reduced, or only along axes of length 1."""
    if result.fold in POSITIONS:
        return ZERO
    return nest.cast(nest.value(result.value, result.place), result.dtype)


def _guards(results: Iterable[Result]) -> Iterator[Statement]:
    """Yield the checks that refuse the extremum of an empty array."""
    checked: set[int] = set()
    for r in results:
        if r.fold in ORDER_OF and not r.empty:
            for loop in sorted(r.reduced - checked):
                yield If(equal(index(f"n{loop}"), ZERO), (Return(_status(Status.EMPTY_REDUCTION)),))
            checked |= r.reduced


def _status(status: Status) -> Expr:
    return Const("int32", int(status))
