"""The search of `ag.tune` beside random search and a grid: python -m benchmarks.schedule_search [--schedules 30]

Measures random schedules of kernels once, each kernel alone.  Then it replays searches over these measurements, so that
all of them see the same times:

- rank correlation of a model's guesses with the times of a kernel that it never saw;
- measurements until a schedule within 5 % of the best one: in random order, in the order of a grid, and ranked by a
  model in rounds, with and without the records of other kernels.

Gradient-boosted trees are compared if scikit-learn is installed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ir.schedule import DEFAULT, Schedule
from arignote.tuning.alone import Alone, Stopwatch, kernels_alone
from arignote.tuning.model import Network, rank_correlation, row_of
from arignote.tuning.search import CHANCE, ROUND

GOAL = np.log2(1 / 0.95)
"""Distance of log2 of times to the best one that counts as found."""
ORDERS = 100
"""Random orders of which the mean counts."""


class Trees:
    """Gradient-boosted trees of scikit-learn."""

    def __init__(self) -> None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._new = lambda: HistGradientBoostingRegressor(
            max_iter=100, learning_rate=0.08, min_samples_leaf=5, max_leaf_nodes=15, random_state=0
        )
        self._made: Any = None

    def fit(self, rows: np.ndarray, targets: np.ndarray) -> None:
        self._made = self._new().fit(rows, targets) if len(rows) >= 20 else None

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return np.zeros(len(rows)) if self._made is None else self._made.predict(rows)


def cases() -> Iterator[tuple[str, list[Any], Any, list[np.ndarray]]]:
    """Yield name, inputs, output and values of each function."""
    rng = np.random.default_rng(0)

    def values(*shape: int, dtype: str = "float32") -> np.ndarray:
        return rng.uniform(0.1, 0.9, shape).astype(dtype)

    x, y, d = T.fmatrix("x"), T.fmatrix("y"), T.dmatrix("d")
    u, v, t = T.fvector("u"), T.fvector("v"), T.tensor("t", dtype="float32", shape=(None, None, None))
    cube = values(20, 50, 60)
    yield "columns", [x], (x * x * 3).sum(0), [values(500, 300)]
    yield "few columns", [x], (x * x * 3).sum(0), [values(64, 32)]
    yield "tanh columns", [x, u], T.tanh(x + u).sum(0), [values(200, 100), values(100)]
    yield "rows", [x], (x * x * 3).sum(1), [values(300, 500)]
    yield "exp and transposed", [x], T.exp(x) + x.T, [values(600, 600)]
    yield "small transposed", [x], T.exp(x) + x.T, [values(60, 60)]
    yield "transposed", [x], x.T + 1, [values(500, 700)]
    yield "bias", [x, u], x * 2 + u, [values(300, 400), values(400)]
    yield "softmax", [x], T.nn.softmax(x), [values(200, 150)]
    yield "square roots", [d], T.sqrt(d).sum(0), [values(400, 200, dtype="float64")]
    yield "doubles transposed", [d], d * d.T * 2, [values(300, 300, dtype="float64")]
    yield "middle axis", [t], t.sum(1), [cube]
    yield "last axis", [t], T.exp(t).sum(2), [cube]
    yield "first axis", [t], t.sum(0), [cube]
    yield "moved axes", [t], t.transpose(2, 0, 1) * 2, [cube]
    yield "two axes", [t], (t * t).sum((0, 2)), [cube]
    yield "maxima of columns", [x], x.max(0), [values(300, 200)]
    yield "maxima of rows", [x], x.max(1), [values(300, 200)]
    yield "norm", [v], (v * v).sum(), [values(10_000)]
    yield "outer", [u, v], u[:, None] * v[None, :] + 1, [values(400), values(300)]
    yield "outer sum", [u, v], T.exp(u[:, None] * v[None, :]).sum(1), [values(400), values(300)]
    yield "Fortran order", [x], x * 2 + 1, [np.asfortranarray(values(400, 500))]
    yield "two orders", [x, y], x * y + 1, [np.asfortranarray(values(400, 500)), values(400, 500)]


class Case:
    """The measurements of one kernel: rows of features, log2 of times over the default's, schedules."""

    def __init__(self, name: str, function: Any, alone: Alone, count: int) -> None:
        self.name, self.kernel = name, alone.own.name
        watch, space, rng = Stopwatch(function, alone), alone.space(), random.Random(1)
        candidates = [*space.singles(), *(space.uniform(rng) for _ in range(5 * count))]
        rng.shuffle(candidates)
        base = alone.row(alone.own)
        self.schedules: list[Schedule] = [DEFAULT]
        rows, times, met = [row_of(base, base)], [0.0], {alone.own.body}
        for schedule in candidates:
            kernel = alone.lowered(schedule)
            if len(times) >= count or kernel is None or kernel.body in met:
                continue
            met.add(kernel.body)
            found = watch(schedule, kernel)
            if found is not None:
                self.schedules.append(schedule)
                rows.append(row_of(alone.row(kernel), base))
                times.append(float(np.log2(found[1])))
        self.rows, self.times = np.array(rows), np.array(times)

    def needed(self, order: Sequence[int]) -> int:
        """Return the measurements in this order until one is within 5 % of the best."""
        goal = min(self.times.min(), 0.0) + GOAL
        return next((n for n, k in enumerate(order, start=1) if self.times[k] <= goal), len(order))


def ranked_order(case: Case, others: Sequence[Case], new: Callable[[], Any]) -> list[int]:
    """Return the order in which a search with a model measures the schedules of a case."""
    done, left, rng = [0], list(range(1, len(case.times))), random.Random(0)
    while left:
        model = new()
        model.fit(np.vstack([*(o.rows for o in others), case.rows[done]]),
                  np.concatenate([*(o.times for o in others), case.times[done]]))  # fmt: skip
        guesses = model.predict(case.rows[left])
        order = [left[k] for k in np.argsort(guesses, kind="stable")]
        if np.ptp(guesses) == 0:
            rng.shuffle(order)
        rest = order[ROUND - CHANCE :]
        chosen = [*order[: ROUND - CHANCE], *rng.sample(rest, min(CHANCE, len(rest)))]
        done += chosen
        left = [k for k in left if k not in chosen]
    return done[1:]


def report(found: Sequence[Case]) -> None:
    """Print the correlations and the numbers of measurements."""
    models: dict[str, Callable[[], Any]] = {"network": Network}
    try:
        Trees()
        models["trees"] = Trees
    except ImportError:
        print("scikit-learn is not installed: no trees")
    foreign = {id(c): [o for o in found if o.kernel != c.kernel] for c in found}
    for name, new in models.items():
        correlations = []
        for case in found:
            model, others = new(), foreign[id(case)]
            model.fit(np.vstack([o.rows for o in others]), np.concatenate([o.times for o in others]))
            correlations.append(rank_correlation(model.predict(case.rows[1:]), case.times[1:]))
        mean, median = np.mean(correlations), np.median(correlations)
        print(f"{name}: rank correlation on kernels that it never saw: mean {mean:.2f}, median {median:.2f}")
    worth = [case for case in found if case.times.min() < -GOAL]
    print(f"measurements to 95 % of the best, {len(worth)} kernels of {len(found)} with something to find:")
    orders: dict[str, list[float]] = {"random": [], "grid": []}
    for case in worth:
        every = list(range(1, len(case.times)))
        shuffled = [random.Random(seed).sample(every, len(every)) for seed in range(ORDERS)]
        orders["random"].append(float(np.mean([case.needed(order) for order in shuffled])))
        orders["grid"].append(case.needed(sorted(every, key=lambda k, c=case: str(c.schedules[k]))))
        for name, new in models.items():
            orders.setdefault(name, []).append(case.needed(ranked_order(case, [], new)))
            with_others = ranked_order(case, foreign[id(case)], new)
            orders.setdefault(f"{name}, other kernels known", []).append(case.needed(with_others))
    for name, counts in orders.items():
        ratio = np.exp(np.mean(np.log(np.array(counts) / orders["random"])))
        print(f"  {name:32} mean {np.mean(counts):5.1f}  median {np.median(counts):5.1f}  of random {ratio:.2f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--schedules", type=int, default=30, help="schedules that are measured for a kernel")
    count = options.parse_args().schedules
    found = []
    for name, inputs, output, values in cases():
        function = ag.function(inputs, output, name=name, threads=1)
        program = function.program
        for alone in kernels_alone(function, values, program.kernels if program is not None else ()):
            found.append(Case(name, function, alone, count))
            best = found[-1].times.min()
            print(f"{name:20} {len(found[-1].times):3} measured, best {2**-best:.2f} times as fast", flush=True)
    report([case for case in found if len(case.times) >= 12])


if __name__ == "__main__":
    main()
