"""JAX on the CPU, jitted; each call waits for its result."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import jax
import jax.numpy as jnp

from ..cases import RATE, Case

if os.environ.get("BENCH_CACHE"):
    jax.config.update("jax_compilation_cache_dir", os.environ["BENCH_CACHE"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def version() -> str:
    return jax.__version__


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "x+1": lambda x: x + 1,
    "exp(x)*y+sin(x)-y/3": lambda x, y: jnp.exp(x) * y + jnp.sin(x) - y / 3,
    "2.5*x+y": lambda x, y: 2.5 * x + y,
    "softmax": lambda x: jax.nn.softmax(x, axis=1),
    "(x*x).sum(1)": lambda x: (x * x).sum(1),
    "relu(a@b+c)": lambda a, b, c: jnp.maximum(a @ b + c, 0),
}


def _logistic(parameters: Any, x: Any, y: Any) -> Any:
    w, b = parameters
    z = x @ w + b
    return (jax.nn.softplus(z) - y * z).mean() + 0.01 * (w * w).sum()


def _mlp(parameters: Any, x: Any, y: Any) -> Any:
    w1, b1, w2, b2 = parameters
    logits = jnp.tanh(x @ w1 + b1) @ w2 + b2
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    arrays = [jnp.asarray(a) for a in case.inputs()]
    if not case.trains:
        jitted = jax.jit(EXPRESSIONS[case.name.split(",")[0]])
        return lambda *a: jitted(*a).block_until_ready(), tuple(arrays)
    loss = _logistic if case.name.startswith("logistic") else _mlp

    def step(parameters: Any, x: Any, y: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        return value, jax.tree.map(lambda p, g: p - RATE * g, parameters, gradient)

    jitted_step = jax.jit(step, donate_argnums=0)
    state = list(arrays[2:])

    def call(x: Any, y: Any) -> Any:
        nonlocal state
        value, state = jitted_step(state, x, y)
        return value.block_until_ready()

    return call, tuple(arrays[:2])
