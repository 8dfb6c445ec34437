"""The table of `ag.quantize`: each layer with its ranges, scales, error and, once measured, times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import pages
from ..record import record


@record(eq=False)
class LayerRow:
    """One product or convolution: range and scale of its input, scales of its weights, and its error in 8 bits."""

    number: int
    name: str
    line: str
    """The user's line that built it."""
    low: float
    high: float
    scale: float
    zero_point: int
    weight_scales: np.ndarray
    """A scale for each output channel."""
    error: float
    """The relative error of the results if this layer alone is in 8 bits."""
    kept: bool
    """Whether it stays in float32."""
    bits: int = 8
    """Bits of the weights; with 4 the input stays float32."""


class Layers(Sequence[LayerRow]):
    """The layers in the order in which they run.  `error`: the relative error of all results on the samples."""

    def __init__(
        self, rows: Sequence[LayerRow], error: float, build: Callable[[int, bool], tuple[Any, Sequence[np.ndarray]]]
    ) -> None:
        self._rows = list(rows)
        self.error: float = error
        self._build = build
        self.times: dict[int, tuple[float, float]] = {}
        """Number of a layer -> seconds in float32 and in 8 bits, after `measure`."""

    @property
    def words(self) -> str:
        """The format of the layers in words."""
        return f"{self._rows[0].bits if self._rows else 8} bits"

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]

    def measure(self, calls: int = 20, rounds: int = 5) -> Layers:
        """Return the table with times: each layer as a function of its own on its input from the first sample.

        The time in 8 bits includes the quantization of the input.
        """
        for row in self._rows:
            pair = [least_seconds(*self._build(row.number, narrow), calls, rounds) for narrow in (False, True)]
            self.times[row.number] = pair[0], pair[1]
        return self

    def _cells(self) -> Iterator[tuple[str, ...]]:
        head = ("layer", "name", "input range", "scale", "zero", "weight scales", "error", "")
        yield (*head, "float32", self.words) if self.times else head
        for row in self._rows:
            low, high = row.weight_scales.min(), row.weight_scales.max()
            rounded = (f"{row.scale:.4g}", str(row.zero_point)) if row.bits == 8 else ("", "")
            cells = (
                str(row.number), row.name, f"{row.low:.4g} to {row.high:.4g}", *rounded, f"{low:.3g} to {high:.3g}",
                f"{row.error:.2e}", "float32" if row.kept else f"int{row.bits}",
            )  # fmt: skip
            times = [f"{t * 1e6:.1f} us" for t in self.times.get(row.number, ())]
            yield (*cells, *times)

    def __str__(self) -> str:
        rows = list(self._cells())
        widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=False)).rstrip() for row in rows]
        kept = sum(row.kept for row in self._rows)
        narrow = f"{len(self) - kept} of {len(self)} layers in {self.words}"
        head = narrow if np.isnan(self.error) else f"{narrow}, relative error of the results {self.error:.2e}"
        return "\n".join([head, *lines])

    __repr__ = __str__

    def svg(self) -> str:
        """Return the error of each layer as bars; those that stay in float32 are pale."""
        rows = [(f"{row.number} {row.name}", row.error, "soft" if row.kept else "mark") for row in self._rows]
        return pages.bars.bars(rows, f"Error of the results with one layer in {self.words}")

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return self.svg() + pages.tables.table(head, rows)


def least_seconds(f: Callable[..., Any], values: Sequence[np.ndarray], calls: int, rounds: int) -> float:
    """The least mean time of a call, over some rounds of calls."""
    f(*values)
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            f(*values)
        found.append((time.perf_counter() - start) / calls)
    return min(found)
