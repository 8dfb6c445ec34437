"""PyTensor, with the linker that the importing module names."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

if os.environ.get("BENCH_CACHE"):
    os.environ["PYTENSOR_FLAGS"] = f"compiledir={os.environ['BENCH_CACHE']}"
    os.environ["NUMBA_CACHE_DIR"] = os.environ["BENCH_CACHE"]

import pytensor
import pytensor.tensor as pt

from ..cases import RATE, Case

EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "x+1": lambda x: x + 1,
    "exp(x)*y+sin(x)-y/3": lambda x, y: pt.exp(x) * y + pt.sin(x) - y / 3,
    "2.5*x+y": lambda x, y: 2.5 * x + y,
    "softmax": lambda x: pt.special.softmax(x, axis=1),
    "(x*x).sum(1)": lambda x: (x * x).sum(1),
    "relu(a@b+c)": lambda a, b, c: pt.maximum(a @ b + c, 0),
}


def version() -> str:
    return pytensor.__version__


def _logistic(x: Any, y: Any, w: Any, b: Any) -> Any:
    z = x @ w + b
    return (pt.softplus(z) - y * z).mean() + 0.01 * (w * w).sum()


def _mlp(x: Any, y: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    p = pt.special.softmax(pt.tanh(x @ w1 + b1) @ w2 + b2, axis=1)
    return -pt.log(p[pt.arange(y.shape[0]), y]).mean()


def build_with(mode: str, case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    arrays = case.inputs()
    variables = [pt.tensor(f"x{n}", dtype=a.dtype.name, shape=(None,) * a.ndim) for n, a in enumerate(arrays)]
    if not case.trains:
        return pytensor.function(variables, EXPRESSIONS[case.name.split(",")[0]](*variables), mode=mode), arrays
    parameters = [pytensor.shared(a) for a in arrays[2:]]
    loss = (_logistic if case.name.startswith("logistic") else _mlp)(*variables[:2], *parameters)
    rate = arrays[0].dtype.type(RATE)
    gradients = pytensor.grad(loss, parameters)
    updates = [(p, p - rate * g) for p, g in zip(parameters, gradients, strict=True)]
    return pytensor.function(variables[:2], loss, updates=updates, mode=mode), arrays[:2]
