"""torch.compile on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

if os.environ.get("BENCH_CACHE"):
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["BENCH_CACHE"]

import torch

from ..cases import Case
from ..formulas import RATE, Names

NAMES: Names = SimpleNamespace(
    exp=torch.exp, log=torch.log, sin=torch.sin, tanh=torch.tanh, sqrt=torch.sqrt, abs=torch.abs, erf=torch.erf,
    softplus=torch.nn.functional.softplus,
    relu=torch.relu,
    softmax=lambda x: torch.softmax(x, -1),
    log_softmax=lambda x: torch.log_softmax(x, -1),
    logsumexp=lambda x: torch.logsumexp(x, -1),
    pick=lambda x, y: x.gather(1, y[:, None])[:, 0],
    scatter_add=lambda x, i, v: x.index_add(0, i, v),
)  # fmt: skip


def version() -> str:
    return torch.__version__


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    tensors = [torch.from_numpy(a.copy()) for a in case.inputs()]
    compiled = torch.compile(partial(case.formula, NAMES))
    if case.trains:
        return _training(compiled, tensors)
    if not case.gradients:
        return compiled, tuple(tensors)
    leaves = [t.requires_grad_() for t in tensors[: case.gradients]]

    def with_gradient(*arguments: Any) -> Any:
        value = compiled(*arguments)
        return value.detach(), *torch.autograd.grad(value, leaves)

    return with_gradient, tuple(tensors)


def _training(loss: Callable[..., Any], tensors: list[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    parameters = [t.requires_grad_() for t in tensors[2:]]

    def step(x: Any, y: Any) -> Any:
        value = loss(x, y, *parameters)
        gradients = torch.autograd.grad(value, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p -= RATE * g
        return value.detach()

    return step, tuple(tensors[:2])
