"""Scan: PyTensor's loops over buffers as loops over states.

A buffer of PyTensor holds the values before the first step, then those of each step.  Here a state goes from step to
step, and the buffer is the join of the first values and the trace.  A buffer with several taps that is read and
written (`mit_mot`, which gradients use) is resolved by lags: the element that a step reads was written so many steps
before, or was there from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
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


@converter(PyTensorScan)
def scan(call: Call, *outer: Any) -> Any:
    op, info = call.op, call.op.info
    steps = as_dtype(outer[0], "int64")
    graph = op.fgraph
    loop = _Loop()
    inner: list[Any] = [loop.along(s[:steps]) for s in op.outer_seqs(outer)]

    # buffers that are read and written at several places
    written: list[tuple[Any, Any]] = []  # buffer, taps by which steps write
    fills: list[tuple[int, int]] = []  # state, number of the written value
    number = 0
    for buffer, reads, writes in zip(
        op.outer_mitmot(outer), info.normalized_mit_mot_in_slices, info.normalized_mit_mot_out_slices, strict=True
    ):
        kind = buffer.type.with_shape(buffer.type.shape[1:])
        chains = {w: _Chain(loop, kind, buffer, number + k) for k, w in enumerate(writes)}
        number += len(writes)
        for tap in reads:
            later = [w for w in writes if w > tap]
            if later:
                inner.append(chains[min(later)].value_before(min(later) - tap, tap))
            else:
                inner.append(loop.along(buffer[tap : tap + steps]))
        written.append((buffer, writes))
        fills += [pair for chain in chains.values() for pair in chain.fills]

    # states with several taps into the past, then with one
    recurrent: list[tuple[Any, int, int]] = []  # buffer, depth, place of the newest state
    for buffer, taps in zip(
        (*op.outer_mitsot(outer), *op.outer_sitsot(outer)), (*info.mit_sot_in_slices, *info.sit_sot_in_slices),
        strict=True,
    ):  # fmt: skip
        depth = -min(taps)
        kind = buffer.type.with_shape(buffer.type.shape[1:])
        places = [loop.state(buffer[depth - 1 - back], kind, back == 0) for back in range(depth)]
        for back in range(1, depth):
            loop.next[places[back]] = loop.states[places[back - 1]]
        inner += [loop.states[places[-tap - 1]] for tap in taps]
        recurrent.append((buffer, depth, places[0]))

    # states without a trace, of any type
    untraced: list[tuple[Any, list[int]]] = []
    for term, v in zip(op.outer_untraced_sit_sot(outer), op.inner_untraced_sit_sot(graph.inputs), strict=True):
        form = form_of(v.type)
        places = [
            loop.state(first, kind, False) for first, kind in zip(form.variables(term), form.types(), strict=True)
        ]
        inner.append(form.term([loop.states[place] for place in places]))
        untraced.append((form, places))
    inner += list(op.outer_non_seqs(outer))

    found = call.conversion.inner(graph, inner)
    condition = None
    if info.as_while:
        condition = found[-1] if found[-1].dtype == "bool" else T.ne(found[-1], 0)
    mit_mot_values = found[: info.n_mit_mot_outs]
    for place, which in fills:
        loop.next[place] = mit_mot_values[which]
    newest = (*op.inner_mitsot_outs(found), *op.inner_sitsot_outs(found))
    for (_, _, place), value in zip(recurrent, newest, strict=True):
        loop.next[place] = value
    for (form, places), term in zip(untraced, op.inner_untraced_sit_sot_outs(found), strict=True):
        for place, value in zip(places, form.variables(term), strict=True):
            loop.next[place] = value
    values = [*mit_mot_values, *op.inner_nitsot_outs(found)]
    for k, (old, new) in enumerate(zip(loop.states, loop.next, strict=True)):
        loop.next[k] = as_dtype(new, old.dtype)
    results = looped(
        Scan, steps, loop.sequences, loop.slices, loop.firsts, loop.states, loop.next, values, condition,
        tuple(loop.traced),
    )  # fmt: skip

    ends, traces = results[: len(loop.states)], results[len(loop.states) :]
    run = steps
    if info.as_while:
        every = [r for r, traced in zip(ends, loop.traced, strict=True) if traced] + list(traces)
        run = T.lengths_of(every[0])[0] if every else steps
    outputs: list[Any] = []
    place = 0
    for buffer, writes in written:
        outputs.append(_filled(buffer, writes, traces[place : place + len(writes)], run))
        place += len(writes)
    for buffer, depth, newest_place in recurrent:
        whole = T.join(0, buffer[:depth], ends[newest_place])
        outputs.append(_in_room(whole, T.lengths_of(buffer)[0], run + depth, steps + depth))
    for trace, room in zip(traces[info.n_mit_mot_outs :], op.outer_nitsot(outer), strict=True):
        outputs.append(_in_room(trace, as_dtype(room, "int64"), run, steps))
    outputs += [form.term([ends[k] for k in places]) for form, places in untraced]
    return tuple(outputs)


class _Chain:
    """The values that steps write by one tap of a buffer, read by later steps."""

    def __init__(self, loop: _Loop, kind: Any, buffer: Any, which: int) -> None:
        self.loop, self.kind, self.buffer, self.which = loop, kind, buffer, which
        self.fills: list[tuple[int, int]] = []

    def value_before(self, lag: int, tap: int) -> Any:
        """Return what was written `lag` steps ago, in the first steps what the buffer has from `tap` on."""
        places = [self.loop.state(self.buffer[tap + lag - 1 - back], self.kind, False) for back in range(lag)]
        for back in range(1, lag):
            self.loop.next[places[back]] = self.loop.states[places[back - 1]]
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
