"""The cases as one formula each, in names that every peer has: `xp.exp`, `xp.softmax` ... (`Names` lists them).

A peer hands in its own names.  Code that a peer would write in another way (NumPy's hand-written gradients, numba's
loops) is in the module of that peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

RATE = 0.1
"""The learning rate of the training steps."""

Array = Any


class Names(Protocol):
    """The functions that a formula may use beside operators and the methods `sum`, `mean`, `reshape` of an array."""

    exp: Callable[[Array], Array]
    log: Callable[[Array], Array]
    sin: Callable[[Array], Array]
    tanh: Callable[[Array], Array]
    sqrt: Callable[[Array], Array]
    abs: Callable[[Array], Array]
    erf: Callable[[Array], Array]
    softplus: Callable[[Array], Array]
    relu: Callable[[Array], Array]
    softmax: Callable[[Array], Array]
    """Along the last axis, as are log_softmax and logsumexp."""
    log_softmax: Callable[[Array], Array]
    logsumexp: Callable[[Array], Array]
    pick: Callable[[Array, Array], Array]
    """`x[arange(len(x)), y]`."""
    scatter_add: Callable[[Array, Array, Array], Array]
    """`x` with `v[k]` added to the row `i[k]`, for every k: `(x, i, v)`."""


def plus_one(xp: Names, x: Array) -> Array:
    return x + 1


def chain(xp: Names, x: Array, y: Array) -> Array:
    return xp.exp(x) * y + xp.sin(x) - y / 3


def axpy(xp: Names, x: Array, y: Array) -> Array:
    return 2.5 * x + y


def long_chain(xp: Names, x: Array, y: Array) -> Array:
    """200 operations: for each square root two multiplications and an addition."""
    z, step = xp.abs(x), xp.abs(y)
    for k in range(50):
        z = 0.9 * xp.sqrt(z * step + (0.5 + 0.01 * k))
    return z


def softmax(xp: Names, x: Array) -> Array:
    return xp.softmax(x)


def logsumexp(xp: Names, x: Array) -> Array:
    return xp.logsumexp(x)


def layer_norm(xp: Names, x: Array, scale: Array, shift: Array) -> Array:
    centred = x - x.mean(1, keepdims=True)
    return centred / xp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5) * scale + shift


def cross_entropy(xp: Names, logits: Array, labels: Array) -> Array:
    return -xp.pick(xp.log_softmax(logits), labels).mean()


def row_sums(xp: Names, x: Array) -> Array:
    return (x * x).sum(1)


def column_sums(xp: Names, x: Array) -> Array:
    return (x * x).sum(0)


def stencil(xp: Names, x: Array) -> Array:
    """The five-point Laplacian of the inner points."""
    return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]


def black_scholes(xp: Names, price: Array, strike: Array, years: Array) -> tuple[Array, Array]:
    """Call and put of a European option, 2 % interest, 30 % volatility."""
    rate, volatility = 0.02, 0.3
    spread = volatility * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * xp.exp(-rate * years)
    n1 = 0.5 + 0.5 * xp.erf(d1 * 0.5**0.5)
    n2 = 0.5 + 0.5 * xp.erf(d2 * 0.5**0.5)
    return price * n1 - discounted * n2, discounted * (1 - n2) - price * (1 - n1)


def gather_scatter(xp: Names, table: Array, source: Array, target: Array) -> Array:
    """Messages along the edges of a graph: `table[target] += 0.5 * table[source]`."""
    return xp.scatter_add(table, target, 0.5 * table[source])


def adam(xp: Names, p: Array, g: Array, m: Array, v: Array) -> tuple[Array, Array, Array]:
    """One step (the 10th) of Adam (Kingma and Ba 2015): new parameters and moments."""
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * (g * g)
    return p - 0.001 * (m / (1 - 0.9**10)) / (xp.sqrt(v / (1 - 0.999**10)) + 1e-8), m, v


def relu_product(xp: Names, a: Array, b: Array, c: Array) -> Array:
    return xp.relu(a @ b + c)


def hierarchical(xp: Names, slopes: Array, levels: Array, scales: Array, x: Array, y: Array, group: Array) -> Array:
    """Log density, up to a constant, of a regression with a line a group (Gelman and Hill's radon model).

    `slopes` and `levels` are the lines of the groups, standardized; `scales` is (mean and log deviation of the
    levels, mean and log deviation of the slopes, log deviation of the noise).
    """
    level = scales[0] + xp.exp(scales[1]) * levels
    slope = scales[2] + xp.exp(scales[3]) * slopes
    error = (y - level[group] - slope[group] * x) * xp.exp(-scales[4])
    noise = -0.5 * (error * error).sum() - len_of(y) * scales[4]
    return noise - 0.5 * ((slopes * slopes).sum() + (levels * levels).sum() + (scales * scales).sum())


def len_of(y: Array) -> Array:
    return y.shape[0]


def logistic_loss(xp: Names, x: Array, y: Array, w: Array, b: Array) -> Array:
    z = x @ w + b
    return (xp.softplus(z) - y * z).mean() + 0.01 * (w * w).sum()


def mlp_loss(xp: Names, x: Array, y: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    return cross_entropy(xp, xp.tanh(x @ w1 + b1) @ w2 + b2, y)
