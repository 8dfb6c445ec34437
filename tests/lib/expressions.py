"""Expressions for the tests of printing, and the reader of printed text."""

import builtins
import re

import numpy as np

import arignote as ag
from arignote import ops as T

x, y, z = T.vectors("x y z")
w, t = T.vectors("w t")
A, B, X = T.matrices("A B X")
s, a, b = T.scalars("s a b")
i, j = (T.lvector(name) for name in "ij")
k = T.lscalar("k")
f = T.fvector("f")
c = T.vector("c", dtype="bool")
d = T.vector("d", dtype="bool")

EXPRESSIONS = [
    x + y - z, x - (y - z), (x + y) * 2, -x * y, -(x + y), x * -3.0, 2 * x * 3, x / y / z, x / (y / z), (x / y) ** 2,
    x**2, (x**2) ** 3, T.pow(-2.0, x), x**-y, -(x**2), (-x) ** 2, 1 / x, x // y % z, T.exp(-(x**2) / 2),
    T.exp(-((x - y) ** 2) / (2 * s**2)) / T.sqrt(2 * np.pi * s**2), T.sqrt(x**2 + y**2), abs(x - y),
    T.log(1 + T.exp(x)),
    (i | j) & k, i | (j & k), i ^ j, ~i, i << 2, (x < y) & (y < w), x < (y + z), T.where(x > 0, x, 0) * 2,
    x[:, None] * y, A[1:, 0], A[:, ::-1], A[i], A[i, 1:], A.T @ x, A @ B @ x, (A + B).T, T.outer(x, y), x @ y,
    A.sum(axis=0) * x, x.mean(), T.sum(x * y) / T.sum(y), T.max(A, axis=1), T.argmax(A, axis=1), T.softmax(A),
    T.linalg.inv(A) @ x, T.linalg.det(A) + 1, T.concatenate([x, y]), T.zeros((3, 4)) + s, T.set_subtensor(x[1:3], 0),
    T.constant([1.0, 2.0, 3.0]) + x, f * 0.1, T.cast(f, "float64") * x, x.reshape((3, -1)), T.cumsum(A, axis=1),
    T.maximum(x, 0) + T.clip(y, -1, 1), T.logsumexp(A, axis=1), T.tanh(x) * T.sigmoid(y),
]  # fmt: skip
"""Expressions that a person writes, and of which the text is to be what he wrote."""


def _loss():
    p = T.sigmoid(X @ w + b)
    return -(t * T.log(p) + (1 - t) * T.log(1 - p)).mean() + 0.01 * (w**2).sum()


def _mse(penalty=0):
    return ((X @ w - t) ** 2).mean() + penalty * (w**2).sum()


GRADIENTS = [
    (_loss(), w), (_loss(), b), (_loss(), X), (_mse(), w), (_mse(0.1), w), (_mse(), X), (T.sum(x), x),
    (T.sum(x * y), x), (x @ y, x), (T.sum(x**2), x), (T.sum(x**3), x), (T.sum(x**2 * y), x), (x.mean(), x),
    ((x**2).mean(), x), (T.sum(1 / x), x), (T.sum(x / y), x), (T.sum(x / y), y), (T.sum((x - y) ** 2), x),
    (T.sum((x - y) ** 2), y), (T.sqrt(T.sum(x**2)), x), (T.sum(T.sqrt(x)), x), (T.sum(abs(x)), x),
    (T.sum(T.exp(x)), x), (T.sum(T.exp(-x)), x), (T.sum(T.exp(-(x**2))), x), (T.sum(T.exp(s * x)), x),
    (T.sum(T.exp(s * x)), s), (T.sum(T.log(x)), x), (T.sum(T.log(1 + T.exp(x))), x), (T.log(T.sum(T.exp(x))), x),
    (T.sum(T.sin(x)), x), (T.sum(T.sin(x) * T.cos(y)), x), (T.sum(T.tan(x)), x), (T.sum(T.tanh(x)), x),
    (T.sum(T.tanh(X @ w)), w), (T.sum(T.sigmoid(x)), x), (T.sum(T.softplus(x)), x), (T.sum(T.maximum(x, y)), x),
    (T.sum(T.where(x > 0, x**2, 0)), x), (T.sum(T.arctan(x)), x), (T.sum(T.erf(x)), x), (x @ A @ x, x),
    (T.sum(A @ B), A), (T.sum((A @ x) ** 2), x), (T.sum(A * B), A), (T.sum(A, axis=0) @ x, A), (T.sum(x[1:]), x),
    (x[0] ** 2, x), (T.sum(x[i]), x), (T.sum(A.T @ x), x), (T.sum(x * y + y * z), y),
    (T.categorical_crossentropy(T.softmax(X), A).mean(), X), (T.sum(T.cumsum(x) ** 2), x),
    (T.log(T.linalg.det(A)), A), (T.sum(T.linalg.solve(A, x)), x), (T.sum(T.logaddexp(x, y)), x),
    (T.sum(x) ** 2, x), (T.prod(T.exp(x)), x), (a * s**2 + b * s, s),
    (T.prod(x), x), (T.sum(T.prod(A, axis=0)), A), (T.linalg.det(A), A),
]  # fmt: skip
"""(cost, variable) of derivatives."""


class Names(dict):
    """The names that printed text may use: variables, the vocabulary, NumPy's inf and nan, Python's own."""

    def __missing__(self, name):
        if name in ("inf", "nan"):
            return getattr(np, name)
        for place in (T, ag):
            if hasattr(place, name):
                return getattr(place, name)
        return {"T": T, "ag": ag, "np": np}.get(name) or getattr(builtins, name)


def read(text, more=()):
    """The value of printed text in Python: its definitions and its result."""
    result, _, where = str(text).partition("\n  where ")
    names = Names({**text.names, **dict(more)})
    for line in re.split(r"\n {8}(?=\w+ +=)", where) if where else ():
        name, _, value = line.partition("=")
        names[name.strip()] = eval(_joined(value), names)
    return eval(_joined(result), names)


def _joined(text):
    """The text without the ends of lines at which it was broken; those inside of quotes stay."""
    parts = text.strip().split('"""')
    parts[::2] = [part.replace("\n      ", "") for part in parts[::2]]
    return '"""'.join(parts)
