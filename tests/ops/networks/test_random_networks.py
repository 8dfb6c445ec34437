"""Random networks of images: value and gradient of the compiled function are those of the unoptimized graph in NumPy.

Any warning is an error, so no rule fails, and no choice of the backend is refused without another one in its place.
"""

from random import Random

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

PLAIN = ag.Mode(None, backend="numpy")
ACTIVATIONS = (
    T.tanh, T.nn.relu, T.nn.sigmoid, T.nn.softplus, T.nn.silu, lambda y: T.nn.leaky_relu(y, 0.1), T.nn.elu, T.nn.gelu,
    lambda y: T.maximum(y, -y * 0.5), lambda y: T.clip(y, -1, 1), lambda y: y * y, lambda y: T.nn.softmax(y, axis=1),
)  # fmt: skip
BATCH = 5
"""The number of seeds of one test."""


class Network:
    """A network drawn from `seed`: `x`, `weights`, `output` and the arrays for both."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        self.rng = np.random.default_rng(seed)
        self.dtype = chance.choice(["float32", "float64"])
        self.is_known = chance.random() < 0.5
        shape = (chance.randint(1, 3), chance.choice([1, 2, 3, 4, 8, 16]), chance.randint(5, 9), chance.randint(5, 9))
        self.x, self.values = self.variable("x", shape, 1.0), [self.array(shape, 1.0)]
        self.weights: list[T.TensorVariable] = []
        y = self.x
        for _ in range(chance.randint(1, 6)):
            y, shape = self.layer(y, shape)
        self.output = y

    def array(self, shape, scale):
        return (self.rng.normal(size=shape) * scale).astype(self.dtype)

    def variable(self, name, shape, scale):
        return T.tensor(name, self.dtype, shape if self.is_known else (None,) * len(shape))

    def weight(self, shape, scale=1.0):
        self.values.append(self.array(shape, scale))
        self.weights.append(self.variable(f"w{len(self.weights)}", shape, scale))
        return self.weights[-1]

    def layer(self, y, shape):
        """A layer behind `y` of this shape, and the shape of its result."""
        kind = self.chance.choice(["convolution", "convolution", "pool", "pool", "activation", "activation", "norm",
                                   "residual", "join", "pad", "crop", "turn"])  # fmt: skip
        weights = len(self.weights)
        made = getattr(self, kind)(y, shape)
        probe = ag.function([self.x, *self.weights], T.shape(made), mode=PLAIN, on_unused_input="ignore")
        found = tuple(int(n) for n in probe(*self.values))
        if 0 in found:
            del self.weights[weights:], self.values[weights + 1 :]
            return y, shape
        return made, found

    def convolution(self, y, shape):
        channels, *lengths = shape[1:]
        groups = self.chance.choice([g for g in (1, 1, 1, 2, channels) if channels % g == 0])
        outputs = groups * self.chance.choice([1, 2, 3, 4, 8])
        kernel = [self.chance.randint(1, min(3, n)) for n in lengths]
        w = self.weight((outputs, channels // groups, *kernel), (channels // groups * kernel[0] * kernel[1]) ** -0.5)
        bias = self.weight((outputs,)) if self.chance.random() < 0.6 else None
        stride, padding = self.chance.choice([1, 1, 2]), self.chance.choice([0, 1, 1, "valid"])
        return T.nn.conv2d(y, w, bias, stride=stride, padding=padding, groups=groups)

    def pool(self, y, shape):
        kernel = [self.chance.randint(1, min(3, n)) for n in shape[2:]]
        stride = tuple(self.chance.randint(1, 2) for _ in kernel)
        padding = tuple(self.chance.randint(0, k // 2) for k in kernel)
        function = self.chance.choice([T.nn.max_pool2d, T.nn.max_pool2d, T.nn.avg_pool2d])
        return function(y, tuple(kernel), stride, padding, ceil_mode=self.chance.random() < 0.5)

    def activation(self, y, shape):
        return self.chance.choice(ACTIVATIONS)(y)

    def norm(self, y, shape):
        axes = self.chance.choice([(0, 2, 3), (1, 2, 3), (2, 3)])
        rest = (1, shape[1], 1, 1)
        centred = y - T.mean(y, axis=axes, keepdims=True)
        return centred / T.sqrt(T.mean(centred**2, axis=axes, keepdims=True) + 0.1) * self.weight(rest) + self.weight(
            rest
        )

    def residual(self, y, shape):
        return y + T.nn.conv2d(self.activation(y, shape), self.weight((shape[1], shape[1], 1, 1), shape[1] ** -0.5))

    def join(self, y, shape):
        other = T.nn.conv2d(y, self.weight((self.chance.randint(1, 8), shape[1], 1, 1), shape[1] ** -0.5))
        return T.concatenate([y, self.activation(other, shape)], axis=1)

    def pad(self, y, shape):
        return T.pad(y, ((0, 0), (0, 0), *((self.chance.randint(0, 1), self.chance.randint(0, 2)) for _ in "hw")))

    def crop(self, y, shape):
        return y[:, :, min(1, shape[2] - 1) :, : max(1, shape[3] - 1)]

    def turn(self, y, shape):
        return self.chance.choice(
            [lambda v: T.transpose(v, (0, 1, 3, 2)), lambda v: T.flip(v, 3), lambda v: T.roll(v, 1, 2)]
        )(y)

    def outputs(self):
        """A value and the gradient of a cost, some of each."""
        y = self.output
        cost = self.chance.choice([T.sum, T.mean, lambda v: T.sum(v * v), lambda v: T.sum(v * T.shape(v)[0])])(y)
        wanted = self.chance.choice([[self.x], [self.x, *self.weights], self.weights or [self.x]])
        gradient = ag.grad(cost, wanted)
        return [self.chance.choice([cost, y]), *gradient]


def agree(seeds: range) -> None:
    """Compare networks that are compiled as one function; each has inputs of its own."""
    networks = [Network(seed) for seed in seeds]
    inputs = [v for network in networks for v in (network.x, *network.weights)]
    values = [v for network in networks for v in network.values]
    results = [network.outputs() for network in networks]
    outputs = [y for those in results for y in those]
    expected = ag.function(inputs, outputs, mode=PLAIN, on_unused_input="ignore")(*values)
    found = ag.function(inputs, outputs, on_unused_input="ignore")(*values)
    drawn = [(seed, network.dtype) for seed, network, those in zip(seeds, networks, results) for _ in those]
    for got, want, (seed, dtype) in zip(found, expected, drawn, strict=True):
        rounding = 1e-3 if dtype == "float32" else 1e-9
        assert got.shape == want.shape and got.dtype == want.dtype
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(got, want, rtol=rounding, atol=rounding * scale, err_msg=f"seed {seed}")


@pytest.mark.long
def test_a_few_networks():
    agree(range(4))


@pytest.mark.long
@pytest.mark.parametrize("start", range(4, 1664, BATCH))
def test_networks(start):
    agree(range(start, start + BATCH))


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_convolution_behind_a_pool_whose_result_may_not_lie_in_the_memory_of_the_product(dtype):
    x, w, b = (T.tensor(*row) for row in (
        ("x", dtype, (1, 4, 8, 5)), ("w", dtype, (3, 4, 3, 3)), ("b", dtype, (3,))))  # fmt: skip
    pooled = T.nn.max_pool2d(x, (3, 2), (2, 1), 0, ceil_mode=True)
    y = T.nn.conv2d(T.tanh(pooled), w, b, padding=1)
    outputs = [y, *ag.grad(T.sum(y * T.shape(y)[0]), [x, w, b])]
    values = [np.random.default_rng(5).normal(size=v.type.shape).astype(dtype) for v in (x, w, b)]
    expected = ag.function([x, w, b], outputs, mode=PLAIN)(*values)
    for got, want in zip(ag.function([x, w, b], outputs)(*values), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
