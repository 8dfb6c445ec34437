"""The limits of schedules, measured on common shapes: python -m benchmarks.fit --schedules [--dry]

A limit decides on tiles, unrolling and short rows of every kernel that nobody tuned.  Each other value of each limit is
measured beside the value in use, on the kernels whose C it changes, in alternating rounds on one thread.  A value wins
if these kernels are 10 % faster in the geometric mean and none is 5 % slower; it is written to `targets/limits.py`.

None of these limits changes a bit of a result.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.record import record
from arignote.targets import limits
from arignote.targets.named import host
from arignote.targets.target import Target

GAIN, LOSS = 1.10, 0.95
"""Least speed-up in the geometric mean of a value that wins, and least of any kernel."""
CHOICES: dict[str, Sequence[Any]] = {
    "columns.accumulator_bytes": (12 << 10, 24 << 10, 96 << 10),
    "columns.plane_bytes": (64 << 10, 1 << 20),
    "columns.plane_tile": ((32, 8), (64, 64), (256, 16)),
    "columns.unrolled_rows": (1, 2, 8, 16),
    "columns.unrolled_body": (4, 16, 32),
    "tiles.strip_bytes": (4 << 10, 8 << 10, 32 << 10),
    "tiles.bytes": (12 << 10, 48 << 10),
    "tiles.rows": (8, 32, 64),
    "tiles.elements": ((64, 256), (256, 4096), (1024, 4096)),
    "short_rows.rows": (4, 8, 32, 64),
    "short_rows.tile_bytes": (8 << 10, 16 << 10, 64 << 10),
    "short_rows.tile_rows": ((16, 32), (16, 64), (16, 256)),
    "searches.columns": (128, 2048),
    "searches.accumulators": (2, 8),
    "searches.bytes": (64, 256),
    "searches.body": (2, 8),
    "searches.block": ((1024, 128), (4096, 1024)),
}
"""Limits and the values to measure beside the one in use."""
SHAPES = ((64, 64), (1000, 300), (5000, 16), (3000, 6), (16, 20_000))
ROUNDS, ROUND_SECONDS = 15, 5e-4


@record
class Row:
    """One value of a limit: its speed-up over the value in use, for each kernel that it changes."""

    limit: str
    before: Any
    value: Any
    gains: dict[str, float]

    @property
    def mean(self) -> float:
        """The geometric mean; 1.0 if no kernel changes."""
        return math.exp(sum(map(math.log, self.gains.values())) / max(len(self.gains), 1))

    @property
    def wins(self) -> bool:
        return self.mean >= GAIN and min(self.gains.values(), default=0.0) >= LOSS

    def __str__(self) -> str:
        head = f"{self.limit:26} {self.before!s:>12} -> {self.value!s:12}"
        if not self.gains:
            return f"{head} changes none"
        worst, best = (f(self.gains.items(), key=lambda item: item[1]) for f in (min, max))
        spread = f"{worst[1]:.2f} ({worst[0]}) to {best[1]:.2f} ({best[0]})"
        return f"{head} {self.mean:.2f} in {len(self.gains):2} kernels, {spread}{'  wins' * self.wins}"


def cases() -> Iterator[tuple[str, list[Any], Any, list[np.ndarray]]]:
    """Yield name, inputs, output and values of common kernels."""
    rng = np.random.default_rng(0)

    def values(*shape: int, dtype: str = "float32") -> np.ndarray:
        return rng.uniform(0.1, 0.9, shape).astype(dtype)

    x, y, d = T.fmatrix("x"), T.fmatrix("y"), T.dmatrix("d")
    t = T.tensor("t", dtype="float32", shape=(None, None, None))
    for r, c in SHAPES:
        v, w, double = values(r, c), values(c, r), values(r, c, dtype="float64")
        shape = f"{r}x{c}"
        yield f"sum of columns {shape}", [x], x.sum(0), [v]
        yield f"sum of columns, float64 {shape}", [d], d.sum(0), [double]
        yield f"variance of columns {shape}", [x], x.var(0), [v]
        yield f"maximum of columns {shape}", [x], x.max(0), [v]
        yield f"sum of rows {shape}", [x], x.sum(1), [v]
        yield f"maximum of rows {shape}", [x], x.max(1), [v]
        yield f"argmax of rows {shape}", [x], x.argmax(1), [v]
        yield f"argmax of columns {shape}", [x], x.argmax(0), [v]
        yield f"softmax {shape}", [x], T.nn.softmax(x), [v]
        yield f"variance of rows {shape}", [x], x.var(1), [v]
        yield f"transposed {shape}", [x], x.T * 2, [v]
        yield f"sum with a transposed {shape}", [x, y], x + y.T, [v, w]
        yield f"tanh of Fortran order {shape}", [x], T.tanh(x), [np.asfortranarray(v)]
        yield f"running sum of columns {shape}", [x], T.cumsum(x, 0), [v]
    for shape in ((32, 64, 128), (128, 64, 8)):
        cube, name = values(*shape), "x".join(map(str, shape))
        for axis in (0, 1, (0, 2)):
            yield f"sum of axis {axis} {name}", [t], t.sum(axis), [cube]
        yield f"axes 2 0 1 {name}", [t], t.transpose(2, 0, 1) * 2, [cube]


def with_limit(target: Target, name: str, value: Any) -> Target:
    """Return the target with another value of one limit."""
    group, field = name.split(".")
    part = replace(getattr(target.limits, group), **{field: value})
    return replace(target, limits=replace(target.limits, **{group: part}))


def seconds_of(first: Any, second: Any) -> tuple[float, float]:
    """Return processor time of a call of both, the least of alternating rounds."""
    first()
    begun = time.thread_time()
    first()
    calls = max(1, int(ROUND_SECONDS / max(time.thread_time() - begun, 1e-7)))
    best = [math.inf, math.inf]
    for _ in range(ROUNDS):
        for k, run in enumerate((first, second)):
            begun = time.thread_time()
            for _ in range(calls):
                run()
            best[k] = min(best[k], (time.thread_time() - begun) / calls)
    return best[0], best[1]


def measured() -> Iterator[Row]:
    """Yield a row for each other value of each limit."""
    base = host()
    known = [(case, _made(case, base)) for case in cases()]
    for limit, every in CHOICES.items():
        group, field = limit.split(".")
        before = getattr(getattr(base.limits, group), field)
        for value in every:
            if value == before:
                continue
            gains = {}
            for case, (names, run) in known:
                own, other = _made(case, with_limit(base, limit, value), names)
                if own != names:
                    now, then = seconds_of(run, other)
                    gains[case[0]] = now / then
            yield Row(limit, before, value, gains)


def _made(case: Any, target: Target, names: Sequence[str] | None = None) -> tuple[list[str], Any]:
    """Return the names of the kernels of a case, and a call; no call if the names are those given."""
    _, inputs, output, values = case
    function = ag.function(inputs, output, threads=1, target=target, name="fit")
    found = [k.name for k in function.program.kernels] if function.program is not None else []
    return found, None if found == names else function.bind(*values)


def main(dry: bool) -> None:
    """Measure, print and, unless `dry`, write what wins."""
    best: dict[str, Row] = {}
    for row in measured():
        print(row, flush=True)
        if row.wins and row.mean > best.get(row.limit, row).mean - (row.limit not in best):
            best[row.limit] = row
    path = Path(limits.__file__)
    text = path.read_text()
    for row in best.values():
        group, field = row.limit.split(".")
        text = rewritten(text, type(getattr(limits.Limits(), group)).__name__, field, row.value)
    if best and not dry:
        path.write_text(text)
        print(f"written to {path}: {', '.join(best)}")


def rewritten(text: str, group: str, field: str, value: Any) -> str:
    """Return the text of the limits with another default of one field.  Raises ValueError if there is none."""
    pattern = re.compile(rf"(class {group}:(?:(?!\nclass ).)*?\n    {field}: [^=\n]+ = )[^\n]+", re.DOTALL)
    made, count = pattern.subn(rf"\g<1>{value!r}", text, count=1)
    if not count:
        raise ValueError(f"{group} has no field {field}")
    return made
