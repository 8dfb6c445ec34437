"""Random graphs with arrays for their inputs: what the optimizers of whole graphs are tried on.

Values are small whole numbers (and halves), so that sums and products are exact in float64 in whatever order they are
computed, and a test may compare bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from arignote import ops as T
from arignote.graph import Constant, FunctionGraph, Variable

EXACT = 2.0**45
"""No value of a random graph is larger."""


@dataclass
class Sketch:
    """Variables of a graph that is being made, with the arrays that stand for them."""

    random: Random
    known: float = 0.25
    """How likely the graph knows the length of an axis of an input."""
    array: dict[Variable, np.ndarray] = field(default_factory=dict)
    inputs: list[Variable] = field(default_factory=list)

    def input(self, shape: tuple[int, ...]) -> Variable:
        """An input of this shape, of which the graph knows a part."""
        known = tuple(n if self.random.random() < self.known else None for n in shape)
        variable = T.tensor(f"x{len(self.inputs)}", "float64", known)
        data = np.array([self.random.randint(-3, 3) for _ in range(int(np.prod(shape)))], dtype="float64")
        self.array[variable] = data.reshape(shape)
        self.inputs.append(variable)
        return variable

    def pick(self, fits: Callable[[np.ndarray], bool] = lambda _: True) -> Variable | None:
        """A variable whose array `fits`; newer ones more often."""
        found = [v for v, a in self.array.items() if fits(a)]
        if not found:
            return None
        return (
            found[-1 - min(self.random.randint(0, 5), len(found) - 1)]
            if self.random.random() < 0.6
            else self.random.choice(found)
        )

    def value(self, variable: Variable) -> np.ndarray:
        """The array of `variable`, which may be some nodes away from what is known."""
        if isinstance(variable, Constant):
            return variable.data
        if variable in self.array:
            return self.array[variable]
        return variable.owner.op.evaluate(*map(self.value, variable.owner.inputs))[0]

    def add(self, variable: Variable) -> None:
        """Keep `variable` if its values stay exact."""
        value = self.value(variable)
        if value.size <= 400 and (value.size == 0 or np.abs(value).max() < EXACT):
            self.array[variable] = value


def _pointwise(s: Sketch) -> Variable | None:
    x = s.pick()
    if s.random.random() < 0.3:
        return s.random.choice([T.neg, T.abs, T.sign, T.floor])(x)
    y = s.pick(lambda a: _broadcasts(a, s.array[x]))
    return s.random.choice([T.add, T.sub, T.mul, T.maximum, T.fill])(x, y)


def _broadcasts(a: np.ndarray, b: np.ndarray) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a.shape[::-1], b.shape[::-1], strict=False))


def _broadcasts_to(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return len(shape) <= len(whole) and all(m in (1, n) for m, n in zip(shape[::-1], whole[::-1], strict=False))


def _sum(s: Sketch) -> Variable | None:
    """A matrix or vector, and a product of the same shape, both perhaps scaled."""
    x = s.pick(lambda a: a.ndim in (1, 2))
    a = None if x is None else s.pick(lambda v: v.ndim == 2 and v.shape[0] == s.array[x].shape[0])
    if a is None:
        return None
    b = s.pick(lambda v: v.shape == (s.array[a].shape[1], *s.array[x].shape[1:]))
    if b is None:
        return None
    scales = [s.random.choice([0.5, 2.0, -1.0, None, None]) for _ in range(2)]
    terms = [v if scale is None else T.mul(scale, v) for v, scale in zip((x, T.dot(a, b)), scales, strict=True)]
    s.random.shuffle(terms)
    return s.random.choice([T.add, T.sub])(*terms)


def _dimshuffle(s: Sketch) -> Variable | None:
    x = s.pick(lambda a: a.ndim > 0)
    if x is None:
        return None
    order: list[int | str] = list(range(x.ndim))
    s.random.shuffle(order)
    if x.ndim < 3 and s.random.random() < 0.5:
        order.insert(s.random.randint(0, x.ndim), "x")
    return T.dimshuffle(x, order)


def _reduce(s: Sketch) -> Variable | None:
    x = s.pick(lambda a: a.ndim > 0)
    if x is None:
        return None
    axis = tuple(k for k in range(x.ndim) if s.random.random() < 0.6)
    return s.random.choice([T.sum, T.max])(x, axis=axis or None)


def _dot(s: Sketch) -> Variable | None:
    x = s.pick(lambda a: a.ndim in (1, 2))
    if x is None:
        return None
    y = s.pick(lambda a: a.ndim in (1, 2) and a.shape[0] == s.array[x].shape[-1])
    return None if y is None else T.dot(x, y)


def _part(s: Sketch) -> Variable | None:
    x = s.pick(lambda a: a.ndim > 0 and a.shape[0] > 1)
    if x is None:
        return None
    if s.random.random() < 0.4:
        return x[1:]
    change = s.random.choice([T.set_subtensor, T.inc_subtensor])
    return change(x[:1], 2.0)


POINTWISE = (_pointwise, _pointwise, _pointwise, _dimshuffle, _reduce)
PRODUCTS = (_pointwise, _dimshuffle, _dot, _sum, _sum, _sum)
EVERYTHING = (_pointwise, _pointwise, _pointwise, _pointwise, _dimshuffle, _reduce, _dot, _sum, _part)
Step = Callable[[Sketch], "Variable | None"]


def random_graph(
    random: Random, updates: bool = False, steps: Sequence[Step] = EVERYTHING, known: float = 0.25
) -> tuple[FunctionGraph, list[np.ndarray]]:
    """A graph of up to 25 steps and arrays for its inputs; with `updates`, some inputs are replaced by results."""
    s = Sketch(random, known)
    n, m = random.choice([(2, 3), (3, 3), (1, 3), (2, 1)])
    for shape in random.sample([(n, m), (n, m), (m, n), (n, 1), (1, m), (m,), (n,), (), (m, m)], 4):
        s.input(shape)
    for _ in range(random.randint(3, 25)):
        made = random.choice(steps)(s)
        if made is not None and made not in s.array:
            s.add(made)
    results = [v for v in s.array if v.owner is not None] or s.inputs
    outputs = random.sample(results, min(len(results), random.randint(1, 4)))
    pairs = []
    for position, i in enumerate(s.inputs if updates else ()):
        new = _update(s, i, results)
        if new is not None:
            pairs.append((position, len(outputs)))
            outputs.append(new)
    return FunctionGraph(s.inputs, outputs, pairs), [s.array[i] for i in s.inputs]


def _update(s: Sketch, i: Variable, results: Sequence[Variable]) -> Variable | None:
    """A value to replace the input `i` by, often one computed from it."""
    if s.random.random() < 0.2:
        same = [v for v in results if s.array[v].shape == s.array[i].shape]
        return s.random.choice(same) if same else None
    if i.ndim and s.array[i].shape[0] > 1 and s.random.random() < 0.2:
        return T.inc_subtensor(i[1:], 1.0)
    shape = s.array[i].shape
    fits = [v for v in results if _broadcasts_to(s.array[v].shape, shape)]
    return T.sub(i, T.mul(0.5, s.random.choice(fits) if fits else i))
