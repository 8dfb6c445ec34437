"""If, Loop, Scan: subgraphs as branches and loops, unrolled where the iteration count is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....control.bodies import until
from ....control.cond import cond
from ....control.scan import scan, while_loop
from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ..reading.alternatives import Choice
from ..reading.free_loops import free_loop, is_steady
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import known_array

MOST_TURNS = 256
"""Turns of a loop that is unrolled."""


@converter("If")
def if_(node: Node, condition: Any) -> Any:
    known = known_array(condition)
    if known is not None:
        return tuple(node.body("then_branch" if bool(known.reshape(())) else "else_branch", []))
    branches = [node.body(name, []) for name in ("then_branch", "else_branch")]
    return tuple(Choice(T.reshape(condition, ()), *pair) for pair in zip(*branches, strict=True))


@converter("Loop")
def loop(node: Node, most: Any, condition: Any, *initial: Any) -> Any:
    body = node.need("body")
    carried, scanned = len(initial), len(body.output) - 1 - len(initial)
    turns = None if most is None else known_array(most)
    going = True if condition is None else known_array(condition)
    if turns is not None and going is not None and (int(turns) <= MOST_TURNS or not _are_fixed(initial)):
        found = _unrolled(node, int(turns), bool(going), initial, scanned)
        if found is not None:
            return found
    if not _are_fixed(initial):
        raise node.error("has a sequence as the state of a loop whose trip count is not known when the model is read")
    if (most is None and scanned) or not is_steady(node, initial):
        return free_loop(node, most, condition, initial)
    if most is None:
        return _while(node, condition, initial)
    count = T.maximum(T.reshape(most, ()), 0)
    if condition is not None:
        count = T.where(T.reshape(condition, ()), count, 0)

    def step(k: Any, *state: Any) -> Any:
        goes, *rest = node.body("body", [k, constant(np.array(True)), *state])
        after = [T.cast(a, b.dtype) for a, b in zip(rest[:carried], state, strict=True)]
        values = [*after, *rest[carried:]]
        return values if _is_true(goes) else (values, until(T.logical_not(T.reshape(goes, ()))))

    infos = [*initial, *[None] * scanned]
    found = scan(step, sequences=[T.arange(count)], outputs_info=infos, return_list=True).outputs
    empty = T.eq(count, 0)
    last = [cond(empty, lambda a=a: a, lambda f=f: f[-1]) for a, f in zip(initial, found[:carried], strict=True)]
    return (*last, *found[carried:])


def _are_fixed(initial: Sequence[Any]) -> bool:
    return all(isinstance(v, Variable) for v in initial)


def _is_true(value: Any) -> bool:
    return isinstance(value, Constant) and bool(value.data.reshape(()))


def _unrolled(node: Node, turns: int, going: bool, initial: Sequence[Any], scanned: int) -> tuple[Any, ...] | None:
    """The unrolled loop; None if its iteration count is unknown before the run."""
    state, rows = list(initial), [[] for _ in range(scanned)]  # type: list[Any], list[list[Any]]
    for k in range(turns):
        if not going:
            break
        goes, *rest = node.body("body", [constant(np.array(k, "int64")), constant(np.array(True)), *state])
        known = known_array(goes)
        if known is None:
            return None
        going = bool(known)
        state = rest[: len(state)]
        for row, value in zip(rows, rest[len(state) :], strict=True):
            row.append(value)
    if any(not row for row in rows):
        return None
    return (*state, *(T.stack(row) for row in rows))


def _while(node: Node, condition: Any, initial: Sequence[Any]) -> tuple[Any, ...]:
    def body(state: Any) -> Any:
        k, _, *values = state
        goes, *rest = node.body("body", [k, constant(np.array(True)), *values])
        return (k + 1, T.reshape(goes, ()), *(T.cast(a, b.dtype) for a, b in zip(rest, values, strict=True)))

    start = constant(np.array(True)) if condition is None else T.reshape(condition, ())
    found = while_loop(lambda state: state[1], body, (constant(np.array(0, "int64")), start, *initial))
    return tuple(found[2:])


@converter("Scan")
def scan_(node: Node, *operands: Any) -> Any:
    body, count = node.need("body"), node.need("num_scan_inputs")
    if node.version < 9:
        return _scan_by_example(node, operands, count)
    return _scanned(node, operands[: len(operands) - count], operands[len(operands) - count :], len(body.output))


def _scan_by_example(node: Node, operands: Sequence[Any], count: int) -> tuple[Any, ...]:
    """Scan of version 8: the first axis is a batch of known length."""
    _, *given = operands
    examples = given[0].type.shape[0]
    if examples is None or operands[0] is not None:
        raise node.error("of version 8 needs a known number of examples, and no lengths of sequences")
    each = []
    for k in range(examples):
        values = [v[k] for v in given]
        states, sequences = values[: len(values) - count], values[len(values) - count :]
        each.append(_scanned(node, states, sequences, len(node.need("body").output)))
    return tuple(T.stack([row[n] for row in each]) for n in range(len(each[0])))


def _scanned(node: Node, states: Sequence[Any], sequences: Sequence[Any], outputs: int) -> tuple[Any, ...]:
    axes = node.attr("scan_input_axes") or [0] * len(sequences)
    ways = node.attr("scan_input_directions") or node.attr("directions") or [0] * len(sequences)
    rows = [T.moveaxis(s, a, 0) for s, a in zip(sequences, axes, strict=True)]
    rows = [r[::-1] if way else r for r, way in zip(rows, ways, strict=True)]

    def step(*args: Any) -> list[Any]:
        parts, before = args[: len(rows)], args[len(rows) :]
        found = node.body("body", [*before, *parts])
        return [*(T.cast(a, b.dtype) for a, b in zip(found, before)), *found[len(before) :]]

    infos = [*states, *[None] * (outputs - len(states))]
    found = scan(step, sequences=rows, outputs_info=infos, return_list=True).outputs
    last = [f[-1] for f in found[: len(states)]]
    collected = found[len(states) :]
    out_axes = node.attr("scan_output_axes") or [0] * len(collected)
    out_ways = node.attr("scan_output_directions") or [0] * len(collected)
    collected = [c[::-1] if way else c for c, way in zip(collected, out_ways, strict=True)]
    return (*last, *(T.moveaxis(c, 0, a) for c, a in zip(collected, out_axes, strict=True)))

