"""Errors of a call, in the user's words: from outcome and numbers of the driver to an exception.

The exception names the operands and the user's lines.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Op, Variable, inheriting
from ...graph.pointing import NAMED, NOWHERE, Names, Pointed, Shape, called, guilty_operands, pointing
from ...ops.control.element_bodies import nodes_within
from ...ops.control.scan_ops import Scan
from ...ops.lowered.fused import Fused, unmarked
from ...ops.lowered.fused_product import FusedProduct
from ...ops.lowered.pipeline import Pipeline
from ...ops.lowered.row_passes import Top
from ...ops.networks.convolution import Convolution
from ...ops.networks.functions import AlongAxis, LogSumExp
from ...ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ...ops.shapes.combining import AdvancedCombine
from ...ops.shapes.conditions import Check
from ...ops.shapes.specify import SpecifyShape
from ...ops.shapes.windows import no_window
from ...record.spelling import counted
from ..ir.kernel import Status
from ..program.outcome import Outcome
from ..program.program import Program

STAGE = 4
"""Index where a pipeline stores the stage that failed."""
_FIRST_INDEX = {AdvancedSubtensor: 1, AdvancedIncSubtensor: 2, AdvancedCombine: 2}
"""Position of the first index among the operands."""
ErrorParts = tuple[type[Exception], str, Pointed]
"""An exception's class, its message, and the operands to point at."""


def failure(name: str, program: Program, outcome: int, step: int, operand: int, remarked: Sequence[int]) -> Exception:
    """Return the exception for `outcome` of node number `step`; `remarked` holds the numbers that the driver noted.

    Raises nothing itself: IndexError, ValueError or MemoryError is returned.
    """
    kind, text, where = _error_parts(program, outcome, step, operand, remarked)
    return pointing(kind(f"{name}: {text}{where}"), where)


def _error_parts(program: Program, outcome: int, step: int, operand: int, remarked: Sequence[int]) -> ErrorParts:
    node, outcome, operand, remarked = _failed(program, outcome, step, operand, remarked)
    count = remarked[0] if remarked else 0
    values, rest = list(remarked[1 : 1 + count]), list(remarked[1 + count :])
    if outcome == Outcome.MEMORY:
        return MemoryError, f"no memory for an array of shape {tuple(values)}", _where(node)
    if outcome in (Outcome.INDEX, Outcome.KERNEL + Status.INDEX):
        return _bad_index(node, operand, values)
    found = None if node is None else _failure_of(program, node, outcome, operand, values, rest)
    if found is not None:
        return found
    if outcome in _UNSOLVABLE:
        return np.linalg.LinAlgError, _UNSOLVABLE[outcome], _where(node)
    numbers = _lengths_text(values) if outcome == Outcome.NEGATIVE_LENGTH else ""
    return ValueError, f"{_SENTENCES.get(outcome, f'failed with outcome {outcome}')}{numbers}", _where(node)


def _failed(
    program: Program, outcome: int, step: int, operand: int, remarked: Sequence[int]
) -> tuple[Apply | None, int, int, Sequence[int]]:
    """Return the node that failed, in a pipeline or the body of a loop, too, and its outcome as that of a step."""
    sites = program.all_sites if step >= len(program.sites) else program.sites
    site = sites[step] if 0 <= step < len(sites) else None
    node = site.node if site is not None else None
    if node is None or not Outcome.KERNEL < outcome < Outcome.CHANGED:
        return node, outcome, operand, remarked
    if isinstance(node.op, Pipeline):
        with inheriting(node.origin):
            node = node.op.stages(node)[remarked[STAGE]]
    if isinstance(op := unmarked(node.op), Scan):
        return _inner_failure(op, node, outcome, operand, remarked)
    return node, outcome, operand, remarked


def _failure_of(
    program: Program, node: Apply, outcome: int, operand: int, values: list[int], rest: list[int]
) -> ErrorParts | None:
    """Return the failure of a node whose op has words of its own for it; None for another one."""
    op = unmarked(node.op)
    match outcome:
        case Outcome.LENGTHS | Outcome.INDICES:
            shapes = _shapes(node, rest)
            of_indices = outcome == Outcome.INDICES or _index_together(program, node, guilty_operands(shapes, operand))
            return IndexError if of_indices else ValueError, *_disagreement(node, shapes, operand, values)
        case Outcome.RESHAPE:
            x, shape = called(node.inputs[0]), _shapes(node, rest)[0]
            text = f"{x} of shape {shape} has {counted(values[0], 'element')}, not the {values[1]} of its new shape"
            return ValueError, text, _where(node, (0,), [shape])
        case Outcome.PROMISED | Outcome.REFUSED:
            return _broken(node, op, operand, values)
        case Outcome.USER:
            return ValueError, op.definition.text_of(values[0]), _where(node)  # type: ignore[attr-defined]
        case Outcome.WINDOW:
            kernel, length, dilation = (*values, 0, 1)[:3]
            text = no_window(operand, kernel, dilation * (kernel - 1) + 1, length)
            return ValueError, text, _where(_product_in(node))
    text = _loop_failure(op, outcome, operand, values) if isinstance(op, Scan) else ""
    return (ValueError, text, _where(node)) if text else None


def _bad_index(node: Apply | None, operand: int, values: list[int]) -> ErrorParts:
    """Return the failure of an index; `values` begins with the index, the size and the axis, else `operand`."""
    if node is not None and isinstance(unmarked(node.op), Fused):
        node = _lookup_in(unmarked(node.op), node, values[3:])  # type: ignore[arg-type]
    index, size, axis = (*values, operand)[:3]
    known = None if node is None or isinstance(node.op, Fused) else node
    whole = called(known.inputs[0]) if known else "an array"
    text = f"index {index} is out of bounds for axis {axis} of {whole} with size {size}"
    return IndexError, text, _where(known or node, _indices(known))


def _lookup_in(op: Fused, node: Apply, number: Sequence[int]) -> Apply:
    """Return the node of a group whose index failed, by its number among those that look up elements.

    A loop over elements notes no number: where several look up elements, it is the group.
    """
    found = [inner for inner in op.over(node) if isinstance(inner.op, AdvancedSubtensor)]
    return found[number[0]] if number else found[0] if len(found) == 1 else node


def _inner_failure(
    op: Scan, node: Apply, outcome: int, operand: int, remarked: Sequence[int]
) -> tuple[Apply, int, int, Sequence[int]]:
    """Return the node of a loop's body that failed in the kernel of the loop, and the outcome as that of a step."""
    if outcome - Outcome.KERNEL not in _OF_ELEMENTS:
        return node, outcome, operand, remarked
    numbers = list(remarked[1 : remarked[0]])  # behind them stands the number of the node
    place = remarked[remarked[0]]
    if place < 0:
        return node, int(Outcome.CHANGED), operand, [len(numbers), *numbers]
    inner = nodes_within(op.graph)[place]
    outcome = _OF_ELEMENTS[Status(outcome - Outcome.KERNEL)] or outcome
    if outcome == Outcome.LENGTHS:  # the axis, two lengths, and those of all operands
        return inner, outcome, numbers[0], [2, *numbers[1:]]
    if outcome in (Outcome.TOO_SHORT, Outcome.PROMISED):
        operand = numbers.pop(0)
    return inner, outcome, operand, [len(numbers), *numbers]


def _broken(node: Apply, op: Any, operand: int, values: list[int]) -> ErrorParts:
    """Return the failure of an op that checks lengths or a condition; numbers of a condition are noted as 64 bits."""
    if not isinstance(op, Check):
        return op.error, op.broken(operand, *values), _where(node, (0,) if isinstance(op, SpecifyShape) else ())
    got = np.array(values[1:], np.int64)
    return op.error, op.broken([n.view(i.dtype) for n, i in zip(got, node.inputs[2:], strict=True)]), _where(node, (1,))


def _loop_failure(op: Scan, outcome: int, operand: int, values: list[int]) -> str:
    if outcome == Outcome.NEGATIVE_STEPS:
        return op.negative(values[0])
    if outcome == Outcome.TOO_SHORT:
        return op.too_short(operand, *values)
    if outcome == Outcome.CHANGED:
        k, t, rank, *lengths = values
        return op.changed(k, tuple(lengths[:rank]), tuple(lengths[rank:]), t)
    return ""


_OF_ELEMENTS = {
    Status.NEGATIVE_POWER: 0,
    Status.INDEX: int(Outcome.INDEX),
    Status.NEGATIVE_STEPS: int(Outcome.NEGATIVE_STEPS),
    Status.TOO_SHORT: int(Outcome.TOO_SHORT),
    Status.LENGTHS: int(Outcome.LENGTHS),
    Status.EMPTY_REDUCTION: 0,
    Status.CHANGED: int(Outcome.CHANGED),
    Status.PROMISED: int(Outcome.PROMISED),
    Status.NEGATIVE_LENGTH: int(Outcome.NEGATIVE_LENGTH),
}
"""Failures of the kernel of a loop over elements, and the outcomes of the same failures of a step; 0: none."""
_UNSOLVABLE = {
    int(Outcome.SINGULAR): "Singular matrix",
    int(Outcome.NOT_POSITIVE_DEFINITE): "Matrix is not positive definite",
}
"""Message of NumPy for a singular matrix."""
_SENTENCES = {
    int(Outcome.ZERO_STEP): "the step of a slice is 0",
    int(Outcome.NEGATIVE_LENGTH): "a length is negative",
    int(Outcome.RANGE): "arange has a step of 0, or bounds that are not finite",
    Outcome.KERNEL
    + Status.NEGATIVE_POWER: "integers to negative integer powers are not allowed; cast to a float first",
    Outcome.KERNEL + Status.EMPTY_REDUCTION: "the maximum or minimum of no elements is not defined",
}


def _lengths_text(values: list[int]) -> str:
    return f" ({', '.join(map(str, values))})" if len(values) == 1 else ""


def _where(node: Apply | None, guilty: Collection[int] = (), shapes: Sequence[Shape] = ()) -> Pointed:
    if node is None:
        return NOWHERE
    return _at(node, unmarked(node.op), node.inputs, guilty, shapes, NAMED)


def _product_in(node: Apply) -> Apply:
    """Return the product of matrices within a fused node; other nodes as they are."""
    if not isinstance(node.op, FusedProduct):
        return node
    with inheriting(node.origin):
        product = node.op.split(node.inputs)[0].owner
    return product or node


def _at(
    node: Apply, op: Op, operands: Sequence[Variable], guilty: Collection[int], shapes: Sequence[Shape], names: Names
) -> Pointed:
    line = node.origin[0] if node.origin else None
    remarked = tuple(called(v, names) for v in operands)
    return Pointed(op.name, remarked, tuple(shapes), tuple(guilty), line)


def _indices(node: Apply | None) -> list[int]:
    """Return the operands that the message about a bad index points at: the array and its indices."""
    return [k for k, i in enumerate(node.inputs) if k == 0 or i.type.kind in "iu"] if node is not None else []


# --- lengths that do not agree


def _index_together(program: Program, node: Apply, guilty: Collection[int]) -> bool:
    """Return whether one read or write indexes by all the guilty operands: NumPy raises IndexError for those.

    A rule may broadcast the arrays of indices against each other before that read runs.
    """
    values = {node.inputs[k] for k in guilty}
    users = [site.node for site in program.all_sites if site is not None]
    together = (u.inputs[_FIRST_INDEX[op]:] for u in users if (op := type(unmarked(u.op))) in _FIRST_INDEX)
    return len(values) > 1 and any(values <= set(indices) for indices in together)


def _shapes(node: Apply, lengths: list[int]) -> list[tuple[int, ...]]:
    """Return the shapes of the inputs of `node`, as far as the driver had space to note them."""
    shapes, at = [], 0
    for i in node.inputs:
        shapes.append(tuple(lengths[at : at + i.ndim]))
        at += i.ndim
    return [s for s, i in zip(shapes, node.inputs, strict=True) if len(s) == i.ndim]


def _disagreement(node: Apply, shapes: list[tuple[int, ...]], axis: int, values: list[int]) -> tuple[str, Pointed]:
    """Return message and operands for lengths that disagree; in a fused group, those of the operation inside."""
    op = unmarked(node.op)
    if len(shapes) == len(node.inputs):
        inner = _inside(op, node, shapes, axis, values)
        if inner is not None:
            return inner
    summed = getattr(op, "factors", (0, 1))
    guilty = summed if axis < 0 else guilty_operands(shapes, axis)
    text = _sentence(list(zip(node.inputs, shapes, strict=False)), values, axis, len(node.inputs))
    return text, _where(node, guilty, shapes)


def _inside(
    op: Op, node: Apply, shapes: list[tuple[int, ...]], axis: int, values: list[int]
) -> tuple[str, Pointed] | None:
    """Return the message about an operation inside a group, or after a product; None if none is at fault."""
    if isinstance(op, Fused):
        return _culprit(op, node.inputs, shapes)
    if not isinstance(op, FusedProduct):
        return None
    with inheriting(node.origin):
        product, others = op.split(node.inputs)
    first = shapes[: len(shapes) - len(others)]
    if axis < 0 and product.owner is not None:
        return _disagreement(product.owner, first, axis, values)
    if isinstance(op.product, Convolution):
        if first[0][1] != first[1][1] * op.product.groups or first[1][0] % op.product.groups:
            return _disagreement(product.owner, first, axis, values)  # type: ignore[arg-type]
        counts = op.product.positions(first[0], first[1][2:])
        shape: tuple[int, ...] = (first[0][0], first[1][0], *(n or 0 for n in counts))
        return _culprit(op.group, (product, *others), [shape, *shapes[len(first) :]])
    matrices = [s for s in first if len(s) == 2][-2:]
    if product.ndim != 2 or len(matrices) < 2:
        return None
    shape = (matrices[0][0], matrices[1][1])
    return _culprit(op.group, (product, *others), [shape, *shapes[len(first) :]])


def _sentence(
    operands: list[tuple[Variable, tuple[int, ...]]], values: list[int], axis: int, count: int, names: Names = NAMED
) -> str:
    shown = ", ".join(f"{called(v, names)} {shape}" for v, shape in operands if shape)
    lengths = " and ".join(map(str, dict.fromkeys(values)))
    place = f"do not agree on axis {axis}" if axis >= 0 else "of the axes that are summed over do not agree"
    return f"lengths {lengths} {place}: {shown}{', ...' * (len(operands) < count)}"


def _culprit(op: Fused, inputs: Sequence[Variable], shapes: list[tuple[int, ...]]) -> tuple[str, Pointed] | None:
    """Return the message about the operation inside a group whose operands disagree, found by tracing shapes."""
    known = dict(zip(op.graph.inputs, shapes, strict=True))
    names = dict(zip(op.graph.inputs, inputs, strict=True))
    for inner in op.graph.order:
        operands = [known.get(i, getattr(getattr(i, "data", None), "shape", ())) for i in inner.inputs]
        result = _shape_of(inner, operands)
        if result is None:
            variables = [names.get(i, i) for i in inner.inputs]
            axis, lengths = _first_conflict(operands)
            text = _sentence(list(zip(variables, operands, strict=True)), lengths, axis, len(variables), names)
            return text, _at(inner, inner.op, variables, guilty_operands(operands, axis), operands, names)
        known.update((o, result) for o in inner.outputs)
    return None


def _shape_of(inner: Apply, operands: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the shape of a value inside a group; None if the operands do not broadcast."""
    order = getattr(inner.op, "order", None)
    if order is not None:
        return tuple(operands[0][o] if isinstance(o, int) else 1 for o in order)
    axes = getattr(inner.op, "axis", None)
    if isinstance(inner.op, AlongAxis) and not isinstance(inner.op, (LogSumExp, Top)):
        return operands[0]
    if axes is not None:
        gone = (axes,) if isinstance(axes, int) else axes
        return tuple(n for k, n in enumerate(operands[0]) if k not in gone)
    try:
        return np.broadcast_shapes(*operands)
    except ValueError:
        return None


def _first_conflict(shapes: list[tuple[int, ...]]) -> tuple[int, list[int]]:
    """Return the axis of the joint shape on which lengths differ, and the lengths there."""
    rank = max(map(len, shapes))
    for axis in range(rank):
        lengths = [s[axis - rank] for s in shapes if len(s) >= rank - axis and s[axis - rank] != 1]
        if len(set(lengths)) > 1:
            return axis, lengths
    return 0, []
