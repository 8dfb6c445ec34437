"""Ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from ..cases import RATE, Case


def version() -> str:
    return ag.__version__


def _like(array: np.ndarray, name: str) -> Any:
    return T.tensor(name, dtype=array.dtype.name, shape=(None,) * array.ndim)


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "x+1": lambda x: x + 1,
    "exp(x)*y+sin(x)-y/3": lambda x, y: T.exp(x) * y + T.sin(x) - y / 3,
    "2.5*x+y": lambda x, y: 2.5 * x + y,
    "softmax": lambda x: T.nn.softmax(x, axis=1),
    "(x*x).sum(1)": lambda x: (x * x).sum(1),
    "relu(a@b+c)": lambda a, b, c: T.maximum(a @ b + c, np.float32(0)),
}


def _logistic(x: Any, y: Any, w: Any, b: Any) -> Any:
    z = x @ w + b
    return (T.softplus(z) - y * z).mean() + 0.01 * (w * w).sum()


def _mlp(x: Any, y: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    return T.nn.categorical_crossentropy(T.nn.softmax(T.tanh(x @ w1 + b1) @ w2 + b2), y).mean()


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    arrays = case.inputs()
    if not case.trains:
        variables = [_like(a, f"x{n}") for n, a in enumerate(arrays)]
        return ag.function(variables, EXPRESSIONS[case.name.split(",")[0]](*variables)), arrays
    x, y = _like(arrays[0], "x"), _like(arrays[1], "y")
    parameters = [ag.shared(a, shape=a.shape) for a in arrays[2:]]
    loss = (_logistic if case.name.startswith("logistic") else _mlp)(x, y, *parameters)
    gradients = ag.grad(loss, parameters)
    rate = arrays[0].dtype.type(RATE)
    updates = [(p, p - rate * g) for p, g in zip(parameters, gradients, strict=True)]
    return ag.function([x, y], loss, updates=updates), arrays[:2]
