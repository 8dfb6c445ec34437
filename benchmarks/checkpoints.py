"""Memory and time of the gradient of a scan of 1,000 steps, by how many steps lie between two states that are kept.

    python -m benchmarks.checkpoints

Each step is tanh(s @ w) for 256 states of 64 numbers.  Memory: the peak of the run profile.  Time: processor time, the
best of five calls that take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

STEPS, EXAMPLES, WIDTH, ROUNDS = 1000, 256, 64, 5
INTERVALS = (None, 10, 25, 50)
"""Steps between two states that are kept; None: every state is."""


def slopes(every: int | None, profile: bool) -> Callable[..., Any]:
    """Return the function of the cost and its gradients."""
    start, w = T.matrix("start"), T.matrix("w")
    states, _ = ag.scan(
        lambda s, w: T.tanh(s @ w), outputs_info=start, non_sequences=[w], n_steps=STEPS, checkpoint_every=every
    )
    cost = T.sum(T.square(states[-1]))
    mode = ag.Mode("fast_run", backend="c")
    return ag.function([start, w], [cost, *ag.grad(cost, [start, w])], mode=mode, profile=profile)


def main() -> None:
    """Print a row of the table for each interval."""
    rng = np.random.default_rng(0)
    given = rng.normal(size=(EXAMPLES, WIDTH)), 0.9 * rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH)
    functions, peaks = [slopes(every, False) for every in INTERVALS], []
    for every in INTERVALS:
        profiled = slopes(every, True)
        profiled(*given)
        peaks.append(profiled.profile.memory.peak)  # type: ignore[attr-defined]
    best = [np.inf] * len(functions)
    for _ in range(ROUNDS):
        for k, function in enumerate(functions):
            begun = time.process_time()
            function(*given)
            best[k] = min(best[k], time.process_time() - begun)
    print("| steps between two kept states | MB | of all | ms | of all |\n| --- | --- | --- | --- | --- |")
    for every, peak, seconds in zip(INTERVALS, peaks, best, strict=True):
        shares = f"{peak / 1e6:.1f} | {peak / peaks[0]:.1%} | {seconds * 1e3:.0f} | {seconds / best[0]:.2f}"
        print(f"| {every or 'every state is kept'} | {shares} |")


if __name__ == "__main__":
    main()
