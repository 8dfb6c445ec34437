"""Scan: PyTensor's loops over buffers as loops over states.

A buffer of PyTensor holds the values before the first step, then those of each step.  Here a state goes from step to
step, and the buffer is the join of the first values and the trace.  A buffer with several taps that is read and
written (`mit_mot`, which gradients use) is resolved by lags: the element that a step reads was written so many steps
before, or was there from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pytensor.scan.op import Scan as PyTensorScan

from .... import ops as T
from ....graph import Variable
from ....ops.control.scan_ops import Scan, looped
from ....ops.core.tensor import TensorVariable
from ....ops.shapes.lengths import tensor_to_dim
from ..forms import form_of
from ..table import Call, converter
from .scalars import as_dtype


class _Loop:
    """The loop that is built: its sequences, and its states with their first and next values."""

    def __init__(self) -> None:
        self.sequences: list[Any] = []
        self.slices: list[Variable] = []
        self.firsts: list[Any] = []
        self.states: list[Variable] = []
        self.traced: list[bool] = []
        self.next: list[Any] = []

    def along(self, rows: Any) -> Any:
        """Return the variable of one row of a sequence."""
        self.sequences.append(rows)
        self.slices.append(TensorVariable(rows.type.with_shape(rows.type.shape[1:])))
        return self.slices[-1]

    def state(self, first: Any, kind: Any, traced: bool) -> int:
        """Add a state and return its place; its next value is None until it is set."""
        self.firsts.append(first)
        self.states.append(TensorVariable(kind))
        self.traced.append(traced)
        self.next.append(None)
        return len(self.states) - 1

    def delayed(self, firsts: Sequence[Any], traced: bool) -> list[int]:
        """Add one state for each of the last steps, the newest first.  Returns their places."""
        kinds = [f.type for f in firsts]
        places = [self.state(f, kind, traced and k == 0) for k, (f, kind) in enumerate(zip(firsts, kinds))]
        for newer, older in pairwise(places):
            self.next[older] = self.states[newer]
        return places

    def results(self, steps: Any, values: Sequence[Any], condition: Any) -> tuple[Any, Any]:
        """Return the states after the loop, and the traces of the values of a step."""
        found = looped(
            Scan, steps, self.sequences, self.slices, self.firsts, self.states, self.next, values, condition,
            tuple(self.traced),
        )  # fmt: skip
        return found[: len(self.states)], found[len(self.states) :]


@converter(PyTensorScan)
def scan(call: Call, *outer: Any) -> Any:
    op, info, loop = call.op, call.op.info, _Loop()
    steps = as_dtype(outer[0], "int64")
    inner: list[Any] = [loop.along(s[:steps]) for s in op.outer_seqs(outer)]
    written, fills = _add_buffers(op, outer, steps, loop, inner)
    recurrent = _add_recurrent(op, outer, loop, inner)
    untraced = _add_untraced(op, outer, loop, inner)
    inner += op.outer_non_seqs(outer)

    found = call.conversion.inner(op.fgraph, inner)
    condition = None
    if info.as_while:
        condition = found[-1] if found[-1].dtype == "bool" else T.ne(found[-1], 0)
    at_taps = found[: info.n_mit_mot_outs]
    newest = (*op.inner_mitsot_outs(found), *op.inner_sitsot_outs(found))
    changes = [(place, at_taps[which]) for place, which in fills]
    changes += [(place, value) for (_, _, place), value in zip(recurrent, newest, strict=True)]
    for (form, places), term in zip(untraced, op.inner_untraced_sit_sot_outs(found), strict=True):
        changes += zip(places, form.variables(term), strict=True)
    for place, value in changes:
        loop.next[place] = as_dtype(value, loop.states[place].dtype)
    ends, traces = loop.results(steps, [*at_taps, *op.inner_nitsot_outs(found)], condition)

    run = steps
    if info.as_while:
        every = [r for r, traced in zip(ends, loop.traced, strict=True) if traced] + list(traces)
        run = T.lengths_of(every[0])[0] if every else steps
    outputs, first = [], 0
    for buffer, writes in written:
        outputs.append(_filled(buffer, writes, traces[first : first + len(writes)], run))
        first += len(writes)
    for buffer, depth, place in recurrent:
        whole = T.join(0, buffer[:depth], ends[place])
        outputs.append(_in_room(whole, T.lengths_of(buffer)[0], run + depth, steps + depth))
    for trace, room in zip(traces[first:], op.outer_nitsot(outer), strict=True):
        outputs.append(_in_room(trace, as_dtype(room, "int64"), run, steps))
    return (*outputs, *(form.term([ends[k] for k in places]) for form, places in untraced))


def _add_buffers(
    op: Any, outer: Any, steps: Any, loop: _Loop, inner: list[Any]
) -> tuple[list[tuple[Any, Any]], list[tuple[int, int]]]:
    """Add what the steps read of buffers that they read and write at several places.

    Returns the buffers with the taps by which steps write, and the states with the numbers of the values they get.
    """
    info = op.info
    written, fills, number = [], [], 0
    for buffer, reads, writes in zip(
        op.outer_mitmot(outer), info.normalized_mit_mot_in_slices, info.normalized_mit_mot_out_slices, strict=True
    ):
        chains = {tap: _Chain(loop, buffer, number + k) for k, tap in enumerate(writes)}
        number += len(writes)
        for tap in reads:
            later = [w for w in writes if w > tap]
            if later:
                inner.append(chains[min(later)].value_before(min(later) - tap, tap))
            else:
                inner.append(loop.along(buffer[tap : tap + steps]))
        written.append((buffer, writes))
        fills += [pair for chain in chains.values() for pair in chain.fills]
    return written, fills


def _add_recurrent(op: Any, outer: Any, loop: _Loop, inner: list[Any]) -> list[tuple[Any, int, int]]:
    """Add the states with taps into the past.  Returns for each its buffer, its depth, and the place of the newest."""
    found = []
    buffers = (*op.outer_mitsot(outer), *op.outer_sitsot(outer))
    for buffer, taps in zip(buffers, (*op.info.mit_sot_in_slices, *op.info.sit_sot_in_slices), strict=True):
        depth = -min(taps)
        places = loop.delayed([buffer[depth - 1 - back] for back in range(depth)], traced=True)
        inner += [loop.states[places[-tap - 1]] for tap in taps]
        found.append((buffer, depth, places[0]))
    return found


def _add_untraced(op: Any, outer: Any, loop: _Loop, inner: list[Any]) -> list[tuple[Any, list[int]]]:
    """Add the states of any type that have no trace.  Returns for each its form and the places of its arrays."""
    found = []
    for term, v in zip(op.outer_untraced_sit_sot(outer), op.inner_untraced_sit_sot(op.fgraph.inputs), strict=True):
        form = form_of(v.type)
        pairs = zip(form.variables(term), form.types(), strict=True)
        places = [loop.state(first, kind, False) for first, kind in pairs]
        inner.append(form.term([loop.states[place] for place in places]))
        found.append((form, places))
    return found


class _Chain:
    """The values that steps write by one tap of a buffer, read by later steps."""

    def __init__(self, loop: _Loop, buffer: Any, which: int) -> None:
        self.loop, self.buffer, self.which = loop, buffer, which
        self.fills: list[tuple[int, int]] = []

    def value_before(self, lag: int, tap: int) -> Any:
        """Return what was written `lag` steps ago, in the first steps what the buffer has from `tap` on."""
        places = self.loop.delayed([self.buffer[tap + lag - 1 - back] for back in range(lag)], traced=False)
        self.fills.append((places[0], self.which))
        return self.loop.states[places[-1]]


def _filled(buffer: Any, writes: Sequence[int], traces: Sequence[Any], run: Any) -> Any:
    """Return a buffer after the loop: the smallest tap wrote last to each place."""
    for tap, trace in sorted(zip(writes, traces, strict=True), key=lambda pair: -pair[0]):
        buffer = T.set_subtensor(buffer[tap : tap + run], as_dtype(trace, buffer.dtype))
    return buffer


def _in_room(values: Any, room: Any, run: Any, most: Any) -> Any:
    """Return the last of `run` values that a buffer has room for, and zeros where it has more room than for `most`."""
    if _equal(room, most):
        return values
    kept = values[T.maximum(run - room, 0) :]
    rest = T.zeros((T.maximum(room - most, 0), *T.lengths_of(values)[1:]), values.dtype)
    return T.join(0, kept, rest)


def _equal(a: Any, b: Any) -> bool:
    """Return whether two lengths are known to be equal."""
    return tensor_to_dim(a) == tensor_to_dim(b)
