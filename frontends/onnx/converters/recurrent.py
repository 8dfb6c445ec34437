"""RNN, GRU, LSTM: loops along time, forward, backward or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import ops as T
from ....ops.networks.recurrent import mixed, parts_of, projected, recurrent
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
        self, x: Any, w: Any, b: Any, lens: Any, states: Sequence[Any], hidden: int,
        cell: Callable[[int], Callable[..., Sequence[Any]]],
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """Y and the last states; `cell(direction)` is a function of the products of a row and of the states.

        The weights w and half of the biases b are those of the rows, which are multiplied before the loop.
        """
        batch_first = bool(self.node.attr("layout", 0))
        x = T.swapaxes(x, 0, 1) if batch_first else x
        ends = None if lens is None else T.cast(lens, "int64")
        outputs, last = [], []
        for d in range(self.directions):
            firsts = [
                T.zeros((own_lengths(x)[1], hidden), x.dtype) if s is None else (s[:, d] if batch_first else s[d])
                for s in states
            ]
            products = projected(x, w[d], None if b is None else _halves(b[d])[0])
            rows, final = recurrent(cell(d), [products], firsts, ends, self.way == "reverse" or d == 1)
            outputs.append(rows)
            last.append(final)
        y = T.stack(outputs, axis=1)
        found = [T.stack([each[k] for each in last], axis=0) for k in range(len(states))]
        if batch_first:
            return T.transpose(y, (2, 0, 1, 3)), [T.swapaxes(e, 0, 1) for e in found]
        return y, found


def _halves(biases: Any) -> list[Any]:
    """The biases of the rows and those of the states."""
    half = own_lengths(biases)[0] // 2
    return [biases[:half], biases[half:]]


def _from_state(r: Any, b: Any, d: int) -> Callable[[Any], Any]:
    """The products of a state with the weights of all gates, plus their biases."""
    weights, bias = T.transpose(r[d]), None if b is None else _halves(b[d])[1]
    return lambda h: T.dot(h, weights) if bias is None else T.dot(h, weights) + bias


@converter("RNN")
def rnn(node: Node, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, first: Any = None) -> Any:
    hidden, layer = node.need("hidden_size"), _Layer(node, 1, ["Tanh"])

    def cell(d: int) -> Callable[..., Sequence[Any]]:
        f, product = layer.function(d, 0), _from_state(r, b, d)
        return lambda row, states: [f(row + product(states[0]))]

    y, (last,) = layer.results(x, w, b, lens, [first], hidden, cell)
    return y, last


@converter("GRU")
def gru(node: Node, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, first: Any = None) -> Any:
    hidden, layer = node.need("hidden_size"), _Layer(node, 2, ["Sigmoid", "Tanh"])
    reset_after = bool(node.attr("linear_before_reset", 0))

    def cell(d: int) -> Callable[..., Sequence[Any]]:
        f, g = layer.function(d, 0), layer.function(d, 1)
        whole, weights = _from_state(r, b, d), T.transpose(r[d])
        late = weights[:, 2 * hidden :]
        bias = None if b is None else _halves(b[d])[1]

        def after(row: Any, states: list[Any]) -> list[Any]:
            (h,), (z, reset, new) = states, parts_of(row, 3)
            hz, hr, hn = parts_of(whole(h), 3)
            z, reset = f(z + hz), f(reset + hr)
            return [mixed(z, g(new + reset * hn), h)]

        def before(row: Any, states: list[Any]) -> list[Any]:
            (h,), (z, reset, new) = states, parts_of(row, 3)
            early = T.dot(h, weights[:, : 2 * hidden])
            hz, hr = parts_of(early if bias is None else early + bias[: 2 * hidden], 2)
            z, reset = f(z + hz), f(reset + hr)
            inner = T.dot(reset * h, late)
            return [mixed(z, g(new + (inner if bias is None else inner + bias[2 * hidden :])), h)]

        return after if reset_after else before

    y, (last,) = layer.results(x, w, b, lens, [first], hidden, cell)
    return y, last


@converter("LSTM")
def lstm(
    node: Node, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, first: Any = None, cell: Any = None,
    peepholes: Any = None,
) -> Any:  # fmt: skip
    hidden, layer = node.need("hidden_size"), _Layer(node, 3, ["Sigmoid", "Tanh", "Tanh"])
    coupled = bool(node.attr("input_forget", 0))

    def cell_of(d: int) -> Callable[..., Sequence[Any]]:
        product = _from_state(r, b, d)
        f, g, k = layer.function(d, 0), layer.function(d, 1), layer.function(d, 2)
        peeps = [0] * 3 if peepholes is None else [peepholes[d, n * hidden : (n + 1) * hidden] for n in range(3)]

        def apply(row: Any, states: list[Any]) -> list[Any]:
            h, c = states
            i, o, forget, new = parts_of(row + product(h), 4)
            gate = f(i + peeps[0] * c)
            keep = like(1, gate) - gate if coupled else f(forget + peeps[2] * c)
            after = keep * c + gate * g(new)
            return [f(o + peeps[1] * after) * k(after), after]

        return apply

    y, (last, last_cell) = layer.results(x, w, b, lens, [first, cell], hidden, cell_of)
    return y, last, last_cell
