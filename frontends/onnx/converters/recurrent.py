"""RNN, GRU, LSTM: loops along time, forward, backward or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import ops as T
from ....control.scan import scan
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import own_lengths
from .elementwise import like

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "tanh": lambda x, a, b: T.tanh(x), "sigmoid": lambda x, a, b: T.sigmoid(x),
    "relu": lambda x, a, b: T.maximum(x, like(0, x)), "softsign": lambda x, a, b: x / (like(1, x) + T.abs(x)),
    "softplus": lambda x, a, b: T.softplus(x), "affine": lambda x, a, b: like(a or 1.0, x) * x + like(b or 0.0, x),
    "leakyrelu": lambda x, a, b: T.where(T.lt(x, like(0, x)), like(0.01 if a is None else a, x) * x, x),
    "thresholdedrelu": lambda x, a, b: T.where(T.gt(x, like(1.0 if a is None else a, x)), x, like(0, x)),
    "scaledtanh": lambda x, a, b: like(a or 1.0, x) * T.tanh(like(b or 1.0, x) * x),
    "hardsigmoid": lambda x, a, b: T.minimum(
        T.maximum(like(0.2 if a is None else a, x) * x + like(0.5 if b is None else b, x), like(0, x)), like(1, x)
    ),
    "elu": lambda x, a, b: T.where(T.lt(x, like(0, x)), like(1.0 if a is None else a, x) * T.expm1(x), x),
}  # fmt: skip


class _Layer:
    """The attributes of a recurrent node and its operands for one direction after the other."""

    def __init__(self, node: Node, count: int, defaults: Sequence[str]) -> None:
        self.node, self.count = node, count
        self.way = node.attr("direction", "forward")
        self.directions = 2 if self.way == "bidirectional" else 1
        names = node.attr("activations") or list(defaults) * self.directions
        alphas, betas = list(node.attr("activation_alpha") or []), list(node.attr("activation_beta") or [])
        with_alpha = {"affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu"}
        with_beta = {"affine", "scaledtanh", "hardsigmoid"}
        self._functions = []
        for name in names:
            key = name.lower()
            if key not in ACTIVATIONS:
                raise node.error(f"the activation {name} is not known; expected one of {', '.join(ACTIVATIONS)}")
            a = alphas.pop(0) if alphas and key in with_alpha else None
            b = betas.pop(0) if betas and key in with_beta else None
            self._functions.append((ACTIVATIONS[key], a, b))
        self.clip = node.attr("clip")

    def function(self, direction: int, k: int) -> Callable[[Any], Any]:
        """Activation k of a direction; its argument is clipped where the node says so."""
        call, a, b = self._functions[direction * self.count + k]

        def apply(x: Any) -> Any:
            x = x if not self.clip else T.clip(x, like(-self.clip, x), like(self.clip, x))
            return call(x, a, b)

        return apply

    def results(
        self, x: Any, lens: Any, states: Sequence[Any], hidden: int,
        step: Callable[[int], Callable[..., Sequence[Any]]],
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """Y and the last states; `step(direction)` is the function of a row of x and of the states."""
        batch_first = bool(self.node.attr("layout", 0))
        x = T.swapaxes(x, 0, 1) if batch_first else x
        outputs, last = [], []
        for d in range(self.directions):
            firsts = [
                T.zeros((own_lengths(x)[1], hidden), x.dtype) if s is None else (s[:, d] if batch_first else s[d])
                for s in states
            ]
            rows, ends = self._loop(x, lens, firsts, step(d), self.way == "reverse" or d == 1)
            outputs.append(rows)
            last.append(ends)
        y = T.stack(outputs, axis=1)
        ends = [T.stack([each[k] for each in last], axis=0) for k in range(len(states))]
        if batch_first:
            return T.transpose(y, (2, 0, 1, 3)), [T.swapaxes(e, 0, 1) for e in ends]
        return y, ends

    def _loop(
        self, x: Any, lens: Any, firsts: Sequence[Any], step: Callable[..., Sequence[Any]], backward: bool
    ) -> tuple[Any, list[Any]]:
        time = T.arange(own_lengths(x)[0])
        x, time = (x[::-1], time[::-1]) if backward else (x, time)

        def body(row: Any, t: Any, *before: Any) -> list[Any]:
            after = [T.cast(a, b.dtype) for a, b in zip(step(row, *before), before, strict=True)]
            if lens is None:
                return [*after, after[0]]
            runs = T.expand_dims(T.lt(t, T.cast(lens, "int64")), 1)
            kept = [T.where(runs, a, b) for a, b in zip(after, before, strict=True)]
            return [*kept, T.where(runs, after[0], like(0, after[0]))]

        found = scan(body, sequences=[x, time], outputs_info=[*firsts, None], return_list=True).outputs
        rows = found[-1][::-1] if backward else found[-1]
        return rows, [f[-1] for f in found[:-1]]


def _bias(b: Any, d: int, gates: int, hidden: int) -> tuple[list[Any], list[Any]]:
    """The biases of input and state for each gate; 0 where the node has none."""
    if b is None:
        return [0] * gates, [0] * gates
    row = b[d]
    parts = [row[k * hidden : (k + 1) * hidden] for k in range(2 * gates)]
    return parts[:gates], parts[gates:]


def _gates(w: Any, d: int, gates: int, hidden: int) -> list[Any]:
    return [T.transpose(w[d, k * hidden : (k + 1) * hidden]) for k in range(gates)]


@converter("RNN")
def rnn(node: Node, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, first: Any = None) -> Any:
    hidden, layer = node.need("hidden_size"), _Layer(node, 1, ["Tanh"])

    def step(d: int) -> Callable[..., Sequence[Any]]:
        (wi,), (ri,) = _gates(w, d, 1, hidden), _gates(r, d, 1, hidden)
        (bi,), (bh,) = _bias(b, d, 1, hidden)
        f = layer.function(d, 0)
        return lambda row, h: [f(T.dot(row, wi) + T.dot(h, ri) + bi + bh)]

    y, (last,) = layer.results(x, lens, [first], hidden, step)
    return y, last


@converter("GRU")
def gru(node: Node, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, first: Any = None) -> Any:
    hidden, layer = node.need("hidden_size"), _Layer(node, 2, ["Sigmoid", "Tanh"])
    reset_after = bool(node.attr("linear_before_reset", 0))

    def step(d: int) -> Callable[..., Sequence[Any]]:
        (wz, wr, wh), (rz, rr, rh) = _gates(w, d, 3, hidden), _gates(r, d, 3, hidden)
        (bz, br, bh), (cz, cr, ch) = _bias(b, d, 3, hidden)
        f, g = layer.function(d, 0), layer.function(d, 1)

        def apply(row: Any, h: Any) -> list[Any]:
            z = f(T.dot(row, wz) + T.dot(h, rz) + bz + cz)
            reset = f(T.dot(row, wr) + T.dot(h, rr) + br + cr)
            inner = reset * (T.dot(h, rh) + ch) if reset_after else T.dot(reset * h, rh) + ch
            return [(like(1, z) - z) * g(T.dot(row, wh) + inner + bh) + z * h]

        return apply

    y, (last,) = layer.results(x, lens, [first], hidden, step)
    return y, last


@converter("LSTM")
def lstm(
    node: Node, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, first: Any = None, cell: Any = None,
    peepholes: Any = None,
) -> Any:  # fmt: skip
    hidden, layer = node.need("hidden_size"), _Layer(node, 3, ["Sigmoid", "Tanh", "Tanh"])
    coupled = bool(node.attr("input_forget", 0))

    def step(d: int) -> Callable[..., Sequence[Any]]:
        wi, ri = _gates(w, d, 4, hidden), _gates(r, d, 4, hidden)
        bi, ci = _bias(b, d, 4, hidden)
        f, g, k = layer.function(d, 0), layer.function(d, 1), layer.function(d, 2)
        peeps = [0] * 3 if peepholes is None else [peepholes[d, n * hidden : (n + 1) * hidden] for n in range(3)]

        def apply(row: Any, h: Any, c: Any) -> list[Any]:
            i, o, forget, new = (T.dot(row, wi[n]) + T.dot(h, ri[n]) + bi[n] + ci[n] for n in range(4))
            gate = f(i + peeps[0] * c)
            keep = like(1, gate) - gate if coupled else f(forget + peeps[2] * c)
            after = keep * c + gate * g(new)
            return [f(o + peeps[1] * after) * k(after), after]

        return apply

    y, (last, last_cell) = layer.results(x, lens, [first, cell], hidden, step)
    return y, last, last_cell
