"""torch.compile on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

if os.environ.get("BENCH_CACHE"):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["BENCH_CACHE"]

import torch

from ..cases import RATE, Case

EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "x+1": lambda x: x + 1,
    "exp(x)*y+sin(x)-y/3": lambda x, y: torch.exp(x) * y + torch.sin(x) - y / 3,
    "2.5*x+y": lambda x, y: 2.5 * x + y,
    "softmax": lambda x: torch.softmax(x, 1),
    "(x*x).sum(1)": lambda x: (x * x).sum(1),
    "relu(a@b+c)": lambda a, b, c: torch.relu(a @ b + c),
}


def version() -> str:
    return torch.__version__


def _logistic(x: Any, y: Any, w: Any, b: Any) -> Any:
    z = x @ w + b
    return (torch.nn.functional.softplus(z) - y * z).mean() + 0.01 * (w * w).sum()


def _mlp(x: Any, y: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    return torch.nn.functional.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, y)


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    tensors = [torch.from_numpy(a.copy()) for a in case.inputs()]
    if not case.trains:
        return torch.compile(EXPRESSIONS[case.name.split(",")[0]]), tuple(tensors)
    parameters = [t.requires_grad_() for t in tensors[2:]]
    loss = torch.compile(_logistic if case.name.startswith("logistic") else _mlp)

    def step(x: Any, y: Any) -> Any:
        value = loss(x, y, *parameters)
        gradients = torch.autograd.grad(value, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p -= RATE * g
        return value.detach()

    return step, tuple(tensors[:2])
