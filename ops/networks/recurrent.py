"""Recurrent layers: plain, LSTM, GRU; stacked, in both directions, of examples that differ in length.

The products of all inputs with a layer's weights are one product before the loop; a step of the loop is one product of
the state with the weights of all gates, and one pass over it.  Weights and gates lie as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..control.along import along
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import in_joint_dtype, with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of
from .functions import dropout as dropped_out

__all__ = ["gru", "lstm", "rnn"]

Cell = Callable[[Any, list[Any]], Sequence[Any]]
"""The next states, the output first, from a slice of the inputs' products and the states."""


def rnn(
    x: TensorLike, weights: Sequence[Sequence[TensorLike]], initial: TensorLike | None = None, *,
    nonlinearity: str = "tanh", bidirectional: bool = False, batch_first: bool = False,
    lengths: TensorLike | None = None, dropout: TensorLike = 0.0, rng: Any = None,
) -> tuple[TensorVariable, TensorVariable]:  # fmt: skip
    """(outputs, last states) of h' = tanh(W x + b + U h + c), layer after layer.

    Args:
        x: (time, batch, features), or (batch, time, features) with `batch_first`.
        weights: for each layer `(W, U)` or `(W, U, b, c)`: W (hidden, features), U (hidden, hidden), b and c (hidden,),
            as PyTorch keeps them.  With `bidirectional` there are two for each layer, the second one for the way back.
        initial: the first states, (layers * directions, batch, hidden); by default zeros.
        nonlinearity: "tanh" or "relu".
        lengths: how many steps each example has; its state stays after them, and its outputs are 0.
        dropout, rng: the probability with which outputs between layers are set to 0, and a stream of random numbers.

    The outputs have x's form, with hidden * directions features.  Raises TypeError for other ranks and numbers of
    weights, ValueError for lengths that do not fit.  Source: J. L. Elman, "Finding structure in time", 1990.
    """
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f'rnn: nonlinearity must be "tanh" or "relu", got {shown(nonlinearity)}')
    function = T.tanh if nonlinearity == "tanh" else T.relu
    layers = _Stack("rnn", 1, x, weights, [initial], bidirectional, batch_first, lengths, dropout, rng)

    def cell_of(u: Any, c: Any) -> Cell:
        return lambda row, states: [function(T.add(row, _plus(T.dot(states[0], u), c)))]

    outputs, (last,) = layers.results(cell_of)
    return outputs, last


def lstm(
    x: TensorLike, weights: Sequence[Sequence[TensorLike]],
    initial: tuple[TensorLike | None, TensorLike | None] | None = None, *, bidirectional: bool = False,
    batch_first: bool = False, lengths: TensorLike | None = None, dropout: TensorLike = 0.0, rng: Any = None,
) -> tuple[TensorVariable, tuple[TensorVariable, TensorVariable]]:  # fmt: skip
    """(outputs, (last states, last cells)) of long short-term memory; arguments as those of `rnn`.

        i, f, o = sigmoid(gates);  c' = f c + i tanh(gate);  h' = o tanh(c')

    The gates lie as i, f, the new value, o: W is (4 hidden, features).  `initial`: the first states and cells.  Source:
    S. Hochreiter and J. Schmidhuber, "Long short-term memory", 1997.
    """
    firsts = (None, None) if initial is None else tuple(initial)
    if len(firsts) != 2:
        raise TypeError(f"lstm: initial must be a pair, the states and the cells, got {shown(initial)}")
    layers = _Stack("lstm", 4, x, weights, firsts, bidirectional, batch_first, lengths, dropout, rng)

    def cell_of(u: Any, c: Any) -> Cell:
        def cell(row: Any, states: list[Any]) -> list[Any]:
            h, before = states
            i, f, new, o = parts_of(T.add(row, _plus(T.dot(h, u), c)), 4)
            after = T.add(T.mul(T.sigmoid(f), before), T.mul(T.sigmoid(i), T.tanh(new)))
            return [T.mul(T.sigmoid(o), T.tanh(after)), after]

        return cell

    outputs, (last, cells) = layers.results(cell_of)
    return outputs, (last, cells)


def gru(
    x: TensorLike, weights: Sequence[Sequence[TensorLike]], initial: TensorLike | None = None, *,
    bidirectional: bool = False, batch_first: bool = False, lengths: TensorLike | None = None,
    dropout: TensorLike = 0.0, rng: Any = None,
) -> tuple[TensorVariable, TensorVariable]:  # fmt: skip
    """(outputs, last states) of gated recurrent units; arguments as those of `rnn`.

        r, z = sigmoid(gates);  n = tanh(W x + b + r (U h + c));  h' = (1 - z) n + z h

    The gates lie as r, z, n: W is (3 hidden, features).  Source: K. Cho and others, "Learning phrase representations",
    2014, with the reset gate behind the product.
    """
    layers = _Stack("gru", 3, x, weights, [initial], bidirectional, batch_first, lengths, dropout, rng)

    def cell_of(u: Any, c: Any) -> Cell:
        def cell(row: Any, states: list[Any]) -> list[Any]:
            (h,) = states
            (r, z, n), (hr, hz, hn) = parts_of(row, 3), parts_of(_plus(T.dot(h, u), c), 3)
            reset, update = T.sigmoid(T.add(r, hr)), T.sigmoid(T.add(z, hz))
            return [mixed(update, T.tanh(T.add(n, T.mul(reset, hn))), h)]

        return cell

    outputs, (last,) = layers.results(cell_of)
    return outputs, last


def mixed(update: Any, new: Any, before: Any) -> Any:
    """Return (1 - update) new + update before, the state after a step of a GRU."""
    return T.add(T.mul(T.sub(1, update), new), T.mul(update, before))


def _plus(x: Any, bias: Any) -> Any:
    return x if bias is None else T.add(x, bias)


def parts_of(x: Any, count: int) -> list[Any]:
    """Return the columns of a matrix in `count` parts of equal length."""
    known = x.type.shape[-1]
    each: Any = known // count if known is not None else T.floor_div(lengths_of(x)[-1], count)
    return [x[:, k * each : (k + 1) * each] for k in range(count)]


class _Stack:
    """The checked arguments of stacked layers."""

    def __init__(
        self, name: str, gates: int, x: Any, weights: Any, firsts: Any, bidirectional: bool, batch_first: bool,
        lengths: Any, dropout: Any, rng: Any,
    ) -> None:  # fmt: skip
        self.name, self.directions, self.batch_first = name, 2 if bidirectional else 1, batch_first
        self.x = as_tensor(x)
        if self.x.ndim != 3 or self.x.type.kind != "f":
            form = "(batch, time, features)" if batch_first else "(time, batch, features)"
            raise TypeError(f"{name}: x must be floats of rank 3, {form}, got {describe(self.x)}")
        self.layers = self._layers(gates, weights)
        joint = in_joint_dtype([self.x, *(v for layer in self.layers for v in layer)])
        self.x, flat = (T.swapaxes(joint[0], 0, 1) if batch_first else joint[0]), iter(joint[1:])
        self.layers = [[next(flat) for _ in layer] for layer in self.layers]
        self.firsts = [None if v is None else self._first(v) for v in firsts]
        self.lengths = None if lengths is None else self._checked_lengths(lengths)
        self.dropout, self.rng = dropout, rng
        if rng is None and dropout != 0.0:
            raise TypeError(f"{name}: dropout needs rng, a stream as T.random.RandomStream(seed)")

    def _layers(self, gates: int, weights: Any) -> list[list[Any]]:
        """Return the weights of each layer and direction.  Raises TypeError and ValueError for other forms."""
        if isinstance(weights, (str, dict)) or not hasattr(weights, "__iter__") or not (found := list(weights)):
            raise TypeError(f"{self.name}: weights must be a list with (W, U) or (W, U, b, c) for each layer, got "
                            f"{shown(weights)}")  # fmt: skip
        if len(found) % self.directions:
            raise ValueError(f"{self.name}: bidirectional layers take weights in pairs, got {len(found)} of them")
        layers = []
        for k, given in enumerate(found):
            layer = [as_tensor(v) for v in given] if isinstance(given, (tuple, list)) else []
            if [v.ndim for v in layer] not in ([2, 2], [2, 2, 1, 1]):
                raise TypeError(f"{self.name}: weights[{k}] must be (W, U) or (W, U, b, c), matrices and vectors, got "
                                f"{', '.join(map(describe, layer)) or shown(given)}")  # fmt: skip
            rows, hidden = layer[0].type.shape[0], layer[1].type.shape[1]
            if rows is not None and hidden is not None and rows != gates * hidden:
                raise ValueError(f"{self.name}: weights[{k}]: W has {rows} rows, expected {gates} times {hidden}, the "
                                 f"columns of U")  # fmt: skip
            layers.append(layer)
        return layers

    def _first(self, v: TensorLike) -> TensorVariable:
        v, count = with_dtype(as_tensor(v), self.x.dtype), len(self.layers)
        if v.ndim != 3 or v.type.shape[0] not in (None, count):
            raise TypeError(f"{self.name}: initial must be ({count}, batch, hidden), a state a layer and direction, "
                            f"got {describe(v)}")  # fmt: skip
        return v

    def _checked_lengths(self, lengths: TensorLike) -> TensorVariable:
        found = as_tensor(lengths)
        if found.ndim != 1 or found.type.kind not in "iu":
            raise TypeError(f"{self.name}: lengths must be a vector of integers, one an example, got {describe(found)}")
        return with_dtype(found, "int64")

    def results(self, cell_of: Callable[[Any, Any], Cell]) -> tuple[TensorVariable, list[TensorVariable]]:
        """Return the outputs and the last states; `cell_of(u, c)` makes the cell of a layer."""
        rows, ends, count = self.x, [], len(self.layers) // self.directions
        for n in range(count):
            ways = []
            for d in range(self.directions):
                place = n * self.directions + d
                w, u, *biases = self.layers[place]
                batch, hidden = lengths_of(rows)[1], lengths_of(u)[1]
                firsts = [T.zeros((batch, hidden), rows.dtype) if s is None else s[place] for s in self.firsts]
                products = projected(rows, w, *biases[:1])
                cell = cell_of(T.transpose(u), biases[1] if biases else None)
                found, last = recurrent(cell, [products], firsts, self.lengths, backward=d == 1)
                ways.append(found)
                ends.append(last)
            rows = ways[0] if len(ways) == 1 else T.concatenate(ways, axis=2)
            rows = dropped_out(rows, self.dropout, self.rng) if self.rng is not None and n < count - 1 else rows
        states = [T.stack([last[k] for last in ends], axis=0) for k in range(len(self.firsts))]
        return (T.swapaxes(rows, 0, 1) if self.batch_first else rows), states


def projected(rows: Any, w: Any, bias: Any = None) -> Any:
    """Return the product of all inputs (time, batch, features) and the rows of `w`, plus the bias."""
    time, batch, features = lengths_of(rows)
    flat = T.dot(T.reshape(rows, (T.mul(time, batch), features)), T.transpose(w))
    return T.reshape(_plus(flat, bias), (time, batch, lengths_of(w)[0]))


def recurrent(
    cell: Callable[..., Sequence[Any]], sequences: Sequence[Any], firsts: Sequence[Any], lengths: Any = None,
    backward: bool = False,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Return the first state after every step, and the last states.

    `cell(*slices, states)` gives the next states.  Examples whose `lengths` are over keep their states, and their
    outputs are 0; on the way back they begin at their own ends.
    """
    time = [T.arange(lengths_of(sequences[0])[0])] if lengths is not None else []
    rows = [r[::-1] if backward else r for r in (*sequences, *time)]

    def step(slices: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
        found = cell(*slices[: len(sequences)], states)
        after = [with_dtype(a, b.dtype) for a, b in zip(found, states, strict=True)]
        if lengths is None:
            return after, [after[0]]
        runs = T.expand_dims(T.lt(slices[-1], lengths), 1)
        kept = [T.switch(runs, a, b) for a, b in zip(after, states, strict=True)]
        return kept, [T.switch(runs, after[0], T.constant(0, after[0].dtype))]

    last, (outputs,) = along(step, rows, firsts)
    return (outputs[::-1] if backward else outputs), last
