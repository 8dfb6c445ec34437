"""Recurrent layers as loops: LSTM, GRU, RNN with tanh or relu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .... import ops as T
from ....calculus.calculus import grad
from ....control.scan import scan
from ....graph import rebuild
from ....ops.core.tensor import TensorVariable
from ..symbols import lengths
from ..table import Call, converter

Step = Callable[..., list[Any]]


def _linear(x: Any, w: Any, bias: Any) -> Any:
    y = T.matmul(x, T.swapaxes(w, 0, 1))
    return y if bias is None else y + bias


def _linear_rows(x: Any, w: Any, bias: Any) -> Any:
    """Return the linear map of all steps as one product of matrices, whatever the order of axes in memory."""
    steps, batch, size = lengths(x)
    y = _linear(T.reshape(x, (steps * batch, size)), w, bias)
    return T.reshape(y, (steps, batch, lengths(w)[0]))


def _parts(gates: Any, count: int) -> list[Any]:
    size = gates.type.shape[-1] // count
    return [gates[..., k * size : (k + 1) * size] for k in range(count)]


def _lstm(gates: Any, h: Any, c: Any, w: Any, bias: Any, project: Any) -> list[Any]:
    every = gates + _linear(h, w, bias)
    i, f, g, o = _parts(every, 4)
    c = T.sigmoid(f) * c + T.sigmoid(i) * T.tanh(g)
    h = T.sigmoid(o) * T.tanh(c)
    return [h if project is None else T.matmul(h, T.swapaxes(project, 0, 1)), c, every]


def _gru(gates: Any, h: Any, w: Any, bias: Any, project: Any) -> list[Any]:
    reset, update, new = _parts(gates, 3)
    own = _linear(h, w, bias)
    own_reset, own_update, own_new = _parts(own, 3)
    z = T.sigmoid(update + own_update)
    n = T.tanh(new + T.sigmoid(reset + own_reset) * own_new)
    return [(h - n) * z + n, own]


def _plain(function: Callable[..., Any]) -> Step:
    def step(gates: Any, h: Any, w: Any, bias: Any, project: Any) -> list[Any]:
        every = gates + _linear(h, w, bias)
        return [function(every), every]

    return step


STEPS: dict[str, Step] = {
    "lstm": _lstm, "gru": _gru, "rnn_tanh": _plain(T.tanh), "rnn_relu": _plain(T.relu)
}  # fmt: skip
"""One step of a layer by the op's name: from gates of the input and the state to the next state and its gates."""


class _Outcome(NamedTuple):
    """The outputs of a layer, its last states, and the traces of each loop: states, gates."""

    outputs: Any
    ends: list[Any]
    traces: list[Any]


@converter("aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
def recurrent(
    call: Call, x: Any, states: Any, weights: Sequence[Any], has_biases: bool, layers: int, dropout: float, train: bool,
    bidirectional: bool, batch_first: bool,
) -> Any:  # fmt: skip
    name = call.node.target._schema.name.partition("::")[2]
    several = states if isinstance(states, (list, tuple)) else [states]
    found = _found(name, x, several, weights, has_biases, layers, dropout, train, bidirectional, batch_first)
    return found if found is NotImplemented else (found.outputs, *found.ends)


@converter("arignote.recurrent")
def kept(call: Call, name: str, *args: Any) -> Any:
    found = _found(name, *args)
    return found if found is NotImplemented else (found.outputs, *found.ends, *found.traces)


def _found(
    name: str, x: Any, states: Sequence[Any], weights: Sequence[Any], has_biases: bool, layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: bool,
) -> Any:  # fmt: skip
    """Return the outcome of a layer; NotImplemented if it drops values."""
    if dropout and train:
        return NotImplemented
    several = list(states)
    batched = x.ndim == 3
    if not batched:
        x, several = T.expand_dims(x, 0 if batch_first else 1), [T.expand_dims(s, 1) for s in several]
    x = T.swapaxes(x, 0, 1) if batch_first else x
    ways = 2 if bidirectional else 1
    each = len(weights) // (layers * ways)
    last: list[list[Any]] = [[] for _ in several]
    traces: list[Any] = []
    for layer in range(layers):
        found = []
        for way in range(ways):
            k = layer * ways + way
            own = weights[k * each : (k + 1) * each]
            mine = _layer(name, x, [s[k] for s in several], own, has_biases, way)
            found.append(mine[0][::-1] if way else mine[0])
            traces += mine
            for row, trace in zip(last, mine, strict=False):
                row.append(trace[-1])
        x = found[0] if ways == 1 else T.concatenate(found, axis=-1)
    ends = [T.stack(row, axis=0) for row in last]
    x = T.swapaxes(x, 0, 1) if batch_first else x
    if not batched:
        x, ends = T.squeeze(x, 0 if batch_first else 1), [T.squeeze(e, 1) for e in ends]
    return _Outcome(x, ends, traces)


@converter("arignote.recurrent_backward")
def gradients(
    call: Call, name: str, x: Any, states: Sequence[Any], weights: Sequence[Any], has_biases: bool, layers: int,
    dropout: float, train: bool, bidirectional: bool, batch_first: bool, traces: Sequence[Any],
    cotangents: Sequence[Any],
) -> Any:  # fmt: skip
    """The gradients by `x`, the states and the weights, which may be one and the same or depend on each other."""
    operands = [x, *states, *weights]
    own = [TensorVariable(v.type) for v in operands]
    first, rest = own[1 : len(states) + 1], own[len(states) + 1 :]
    found = _found(name, own[0], first, rest, has_biases, layers, dropout, train, bidirectional, batch_first)
    if found is NotImplemented:
        return NotImplemented
    # Not by `known_grads`: a last state is a part of the outputs, whose cotangents add up.
    cost: Any = sum(T.sum(v * g) for v, g in zip([found.outputs, *found.ends], cotangents, strict=True))
    by_operand = grad(cost, own, disconnected="zero", stable=False)
    # The forward pass gave the states and the gates of each step, so its loops do not run again.
    return tuple(rebuild(by_operand, dict(zip([*own, *found.traces], [*operands, *traces], strict=True))))


def _layer(name: str, x: Any, states: list[Any], weights: Sequence[Any], has_biases: bool, way: int) -> list[Any]:
    """Return the traces of one layer in one direction, in the order of its steps."""
    w_in, w, *rest = weights
    b_in, b = rest[:2] if has_biases else (None, None)
    project = rest[2 if has_biases else 0] if len(rest) > (2 if has_biases else 0) else None
    gates = _linear_rows(x, w_in, b_in)
    sequence = gates[::-1] if way else gates
    step = STEPS[name]
    traces = scan(
        lambda g, *s: step(g, *s, w, b, project), sequences=[sequence], outputs_info=[*states, None], return_list=True
    ).outputs
    return [*traces, gates] if name == "gru" else list(traces)
