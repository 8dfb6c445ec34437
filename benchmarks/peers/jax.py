"""JAX on the CPU, jitted; each call waits for its result."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import jax
import jax.numpy as jnp

from ..cases import Case
from ..formulas import RATE, Names

if os.environ.get("BENCH_CACHE"):
    jax.config.update("jax_compilation_cache_dir", os.environ["BENCH_CACHE"])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def version() -> str:
    return jax.__version__


NAMES: Names = SimpleNamespace(
    exp=jnp.exp, log=jnp.log, sin=jnp.sin, tanh=jnp.tanh, sqrt=jnp.sqrt, abs=jnp.abs, erf=jax.scipy.special.erf,
    softplus=jax.nn.softplus,
    relu=lambda x: jnp.maximum(x, 0),
    softmax=jax.nn.softmax,
    log_softmax=jax.nn.log_softmax,
    logsumexp=lambda x: jax.nn.logsumexp(x, axis=-1),
    pick=lambda x, y: jnp.take_along_axis(x, y[:, None], 1)[:, 0],
    scatter_add=lambda x, i, v: x.at[i].add(v),
)  # fmt: skip


def _flat(result: tuple[Any, tuple[Any, ...]]) -> tuple[Any, ...]:
    return result[0], *result[1]


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    arrays = [jnp.asarray(a) for a in case.inputs()]
    formula = partial(case.formula, NAMES)
    if not case.trains:
        wrt = tuple(range(case.gradients))
        computed = (lambda *a: _flat(jax.value_and_grad(formula, wrt)(*a))) if wrt else formula
        jitted = jax.jit(computed)
        return lambda *a: jax.block_until_ready(jitted(*a)), tuple(arrays)

    def step(parameters: Any, x: Any, y: Any) -> Any:
        value, gradient = jax.value_and_grad(lambda p: formula(x, y, *p))(parameters)
        return value, jax.tree.map(lambda p, g: p - RATE * g, parameters, gradient)

    jitted_step = jax.jit(step, donate_argnums=0)
    state = list(arrays[2:])

    def call(x: Any, y: Any) -> Any:
        nonlocal state
        value, state = jitted_step(state, x, y)
        return value.block_until_ready()

    return call, tuple(arrays[:2])
