"""The cost of rewriting one training step of a small network, of one folded constant, and of idle rules."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T


def mlp_step() -> ag.FunctionGraph:
    """784-512-10 with tanh and softmax: the loss, and the new values of four parameters."""
    rng = np.random.default_rng(0)
    x, y = T.matrix("x", dtype="float32"), T.vector("y", dtype="int64")
    shapes = ((784, 512), (512,), (512, 10), (10,))
    parameters = [T.tensor(f"p{n}", dtype="float32", shape=s) for n, s in enumerate(shapes)]
    w1, b1, w2, b2 = parameters
    p = T.nn.softmax(T.dot(T.tanh(T.dot(x, w1) + b1), w2) + b2)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    rate = np.float32(rng.uniform())
    steps = [v - rate * g for v, g in zip(parameters, ag.grad(loss, parameters), strict=True)]
    return ag.FunctionGraph([x, y, *parameters], [loss, *steps], [(n + 2, n + 1) for n in range(4)])


def foldings(count: int) -> ag.FunctionGraph:
    """A sum with `count` constants to be folded, each `exp(c)`."""
    x = T.vector("x")
    total = x
    for n in range(count):
        total = total * T.exp(T.constant(n / count))
    return ag.FunctionGraph([x], [total])


def quickest(what: Any, rounds: int = 15) -> float:
    """Seconds of processor time of the quickest of `rounds` calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        what()
        times.append(time.process_time() - start)
    return min(times)


def step_figures() -> dict[str, str]:
    """The figures, as text, by their names."""
    step, folded = mlp_step(), foldings(500)
    seconds = quickest(lambda: ag.rewrite(step, "fast_run"))
    optimizer = ag.optdb.query("fast_run")
    idle = []
    for _ in range(41):
        _, profile = optimizer(step)
        rules = [r for r in profile.rules() if not r.fired]
        idle.append((sum(r.time for r in rules) / profile.time, sum(r.tried for r in rules)))
    share, tried = statistics.median(idle)
    only = ag.optdb.query("canonicalize")
    _, profile = only(folded)
    row = next(r for r in profile.rules() if r.name == "constant_folding")
    return {
        f"MLP step, {len(step)} nodes, rewriting": f"{seconds * 1e3:.1f} ms",
        "rules that fired nowhere in it": f"{100 * share:.1f} % of that, {tried} tries",
        f"one constant folded, of {row.fired}": f"{row.time / max(row.fired, 1) * 1e6:.0f} us",
    }
