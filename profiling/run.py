"""What running cost: calls, time, share and memory traffic of each node of a compiled function, and of its kernels.

Clocks stand in the C text of functions that are compiled with a profile, and nowhere else.  Compiling is never counted
as running.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..record import record
from .markup import escaped


@record
class StepProfile:
    """One node: `text` is its expression, `kernel` what ran it, `lines` the user's lines it comes from."""

    text: str
    kernel: str = ""
    lines: tuple[str, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    """Read and written, each array once a call."""

    @property
    def bandwidth(self) -> float:
        """GB/s; 0 where nothing was moved."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0


@record
class KernelProfile:
    """All nodes together that one kernel ran."""

    kernel: str
    nodes: int
    calls: int
    seconds: float
    bytes: int


class RunProfile:
    """The run profile of one function; calls from several threads are added up.

    `seconds` is the time in calls as Python sees them, `step_seconds` that of the nodes; what is between them is the
    entry: checks, outputs, and the driver.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0
        self.seconds = 0.0
        self.compile_seconds = 0.0
        """Generating, compiling and loading; no part of `seconds`."""
        self._nodes: tuple[StepProfile, ...] = ()
        self._counts = np.zeros((0, 3), np.int64)
        """For each node its runs, nanoseconds and bytes."""
        self._lock = threading.Lock()

    # --- filled in by the backend
    def begin(self, nodes: Sequence[StepProfile], compile_seconds: float) -> None:
        """Say which nodes there are, and what compiling them took."""
        self._nodes, self.compile_seconds = tuple(nodes), compile_seconds
        self._counts = np.zeros((len(nodes), 3), np.int64)

    def record(self, seconds: float, counts: np.ndarray | None = None) -> None:
        """Add one call: its seconds, and for each node its runs, nanoseconds and bytes in a row (int64), if there are
        clocks.
        """
        with self._lock:
            self.calls += 1
            self.seconds += seconds
            if counts is not None:
                self._counts += counts.reshape(self._counts.shape)

    def reset(self) -> None:
        """Forget all calls."""
        with self._lock:
            self.calls, self.seconds = 0, 0.0
            self._counts[:] = 0

    # --- what it says
    @property
    def steps(self) -> list[StepProfile]:
        """The nodes that ran, those that took longest first."""
        with self._lock:
            counts = self._counts.tolist()
        ran = [
            replace(node, calls=calls, seconds=nanoseconds / 1e9, bytes=moved)
            for node, (calls, nanoseconds, moved) in zip(self._nodes, counts, strict=True)
            if calls
        ]
        return sorted(ran, key=lambda s: -s.seconds)

    @property
    def step_seconds(self) -> float:
        """The time of all nodes."""
        return float(self._counts[:, 1].sum()) / 1e9

    def kernels(self) -> list[KernelProfile]:
        """The kernels (and BLAS routines, copies) that ran, those that took longest first."""
        groups: dict[str, list[StepProfile]] = {}
        for step in self.steps:
            groups.setdefault(step.kernel, []).append(step)
        rows = [
            KernelProfile(name, len(g), sum(s.calls for s in g), sum(s.seconds for s in g), sum(s.bytes for s in g))
            for name, g in groups.items()
        ]
        return sorted(rows, key=lambda row: -row.seconds)

    def share(self, seconds: float) -> float:
        """The part of the time of all nodes, in percent."""
        total = self.step_seconds
        return 100 * seconds / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name, "calls": self.calls, "seconds": self.seconds, "step_seconds": self.step_seconds,
            "compile_seconds": self.compile_seconds,
            "steps": [
                {"text": s.text, "kernel": s.kernel, "lines": list(s.lines), "calls": s.calls, "seconds": s.seconds,
                 "share": self.share(s.seconds), "bytes": s.bytes, "bandwidth": s.bandwidth}
                for s in self.steps
            ],
            "kernels": [
                {"kernel": k.kernel, "nodes": k.nodes, "calls": k.calls, "seconds": k.seconds,
                 "share": self.share(k.seconds), "bytes": k.bytes}
                for k in self.kernels()
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        each = self.seconds / self.calls if self.calls else 0.0
        outside = max(self.seconds - self.step_seconds, 0.0)
        lines = [
            "Run Profile",
            "-----------",
            f" {self.name}  {self.calls} calls  {self.seconds:.6f}s in calls ({1e6 * each:.1f} us each)",
            f"   {self.step_seconds:.6f}s in {len(self.steps)} nodes, {outside:.6f}s around them",
            f"   {self.compile_seconds:.3f}s to compile, not part of the above",
            f"   share        time   calls   us each    GB/s  {'node':<{_NODE}}  {'kernel':<{_KERNEL}}  line",
        ]
        lines += [self._row(s) for s in self.steps]
        return "\n".join(lines)

    def _row(self, s: StepProfile) -> str:
        times = f"{self.share(s.seconds):5.1f}% {s.seconds:10.6f}s {s.calls:7d} {1e6 * s.seconds / s.calls:9.2f}"
        node, kernel = _short(s.text, _NODE), _first(s.kernel.split(", "), _KERNEL)
        line = _first(s.lines, _LINE)
        return f"  {times} {s.bandwidth:7.2f}  {node:<{_NODE}}  {kernel:<{_KERNEL}}  {line}".rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(str(self))}</pre>"

    def __repr__(self) -> str:
        return f"<run profile of {self.name}: {self.calls} calls, {self.seconds:.6f} s>"


_NODE, _KERNEL, _LINE = 40, 19, 29
"""Columns: with those of the figures, rows are at most 140 wide."""


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _first(texts: Sequence[str], width: int) -> str:
    """The first of the texts, cut on the left, and how many more there are."""
    more = f" +{len(texts) - 1}" if len(texts) > 1 else ""
    room = width - len(more)
    first = texts[0] if texts else ""
    return (first if len(first) <= room else f"...{first[3 - room :]}") + more
