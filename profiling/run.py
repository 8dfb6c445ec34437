"""Run profiles: calls, time, share, memory traffic and arithmetic of each node of a compiled function.

The same is summed by kernel, op class and line of the user, and held against the roofline of the machine.  Clocks stand
only in the C of functions that are compiled with a profile.  Compiling is never counted as running.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..pages.text import Text
from ..record import lazy, record
from ..record.forks import ProcessLock
from .bodies import BodyProfile, counters_of, entered, measured
from .copies import Copies
from .last_call import CallReader, LastCall
from .memory import MemoryProfile, memory_of

advising, heads = lazy.module(".advice", __package__), lazy.module(".headline", __package__)
run_text: Any = lazy.module(".run_text", __package__)
forms: Any = lazy.module(".forms", __package__)

COLUMNS = 4
"""Numbers that the C keeps for each node: runs, ticks of its clock, bytes, floating-point operations."""


@record
class Roofline:
    """The peaks of the machine, on so many threads at once: GB/s of memory, GFLOP/s of arithmetic."""

    threads: int
    bandwidth: float
    float32: float
    float64: float

    def peak(self, dtype: str) -> float:
        """GFLOP/s for a dtype; float64's for all dtypes but float32."""
        return self.float32 if dtype in ("float32", "complex64", "float16") else self.float64

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "threads": self.threads, "bandwidth": self.bandwidth, "float32": self.float32, "float64": self.float64,
        }  # fmt: skip


@record
class Cost:
    """The cost of some runs.  `bytes` are read and written, each array once a run; float operations count in additions.

    An exp counts as 12 of them, a division as 4; integers count nothing.
    """

    name: str
    nodes: int = 1
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    flops: int = 0
    dtype: str = "float64"

    @property
    def bandwidth(self) -> float:
        """GB/s; 0 where nothing was moved."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gflops(self) -> float:
        """GFLOP/s; 0 where nothing was computed."""
        return self.flops / self.seconds / 1e9 if self.seconds else 0.0

    def bound(self, roofline: Roofline) -> str:
        """The limiting resource: "memory" or "compute"."""
        moving = self.bytes / roofline.bandwidth if roofline.bandwidth else 0.0
        peak = roofline.peak(self.dtype)
        return "compute" if peak and self.flops / peak > moving else "memory"

    def of_roofline(self, roofline: Roofline) -> float:
        """The part of the roofline that was reached, 0 to 1; above 1 where the data stays in caches."""
        if self.bound(roofline) == "compute":
            return self.gflops / roofline.peak(self.dtype)
        return self.bandwidth / roofline.bandwidth if roofline.bandwidth else 0.0

    def figures(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "calls": self.calls, "seconds": self.seconds, "bytes": self.bytes, "flops": self.flops,
            "bandwidth": self.bandwidth, "gflops": self.gflops,
        }  # fmt: skip


@record
class StepProfile:
    """One node: `text` is its expression, `kernel` the C function that ran it, `lines` the user's lines."""

    text: str
    kernel: str = ""
    lines: tuple[str, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    """Read and written, each array once a call."""
    flops: int = 0
    op: str = ""
    """The class of the op."""
    dtype: str = "float64"
    reads: tuple[str, ...] = ()
    """The inputs of the function that it reads."""
    strided: tuple[str, ...] = ()
    """Operands that it reads with a stride along its inner loop, for inputs of any layout."""
    has_body: bool = False
    """Whether it runs steps of its own (a loop, a choice), which may read an array once, often, or never."""
    engine: str = ""
    """The engine of a region; empty for a node of the function's own engine."""
    copied: int = 0
    """Bytes that crossed the border of a region."""
    copy_seconds: float = 0.0
    """Time for copies at that border."""
    copies: Copies | None = None
    """The counters of a region."""
    bodies: tuple[BodyProfile, ...] = ()
    """The nodes inside a loop (one body) or a choice (two)."""
    modules: tuple[str, ...] = ()
    """The paths of the modules of a network that it computes, such as "layer1.0.conv1"."""

    @property
    def cost(self) -> Cost:
        """The figures alone."""
        return Cost(self.text, 1, self.calls, self.seconds, self.bytes, self.flops, self.dtype)

    @property
    def bandwidth(self) -> float:
        """GB/s; 0 where nothing was moved."""
        return self.cost.bandwidth

    @property
    def gflops(self) -> float:
        """GFLOP/s; 0 where nothing was computed."""
        return self.cost.gflops

    def to_dict(self) -> dict[str, Any]:
        """The node as plain data, with those of its bodies."""
        found: dict[str, Any] = {"text": self.text, "kernel": self.kernel, "op": self.op, "dtype": self.dtype}
        found |= {"lines": list(self.lines)} | ({"modules": list(self.modules)} if self.modules else {})
        inner = {"bodies": [body.to_dict() for body in self.bodies]} if self.bodies else {}
        return found | _of_region(self) | self.cost.figures() | inner


def _module(step: StepProfile, depth: int | None) -> str:
    """The path of the first module of a node, cut to so many parts."""
    return ".".join(step.modules[0].split(".")[:depth]) if step.modules else "no module"


def _module_line(step: StepProfile) -> str:
    """The first line of a node's first module, else its first line; empty if it has none."""
    ending = f"({step.modules[0]})" if step.modules else ""
    return next((text for text in step.lines if text.endswith(ending)), "".join(step.lines[:1]))


@record
class KernelProfile:
    """All nodes together that one kernel ran."""

    kernel: str
    nodes: int
    calls: int
    seconds: float
    bytes: int
    flops: int = 0


@record
class ModuleProfile:
    """All nodes together of one module of a network; `line` is the first of the user's lines."""

    module: str
    line: str
    nodes: int
    calls: int
    seconds: float
    bytes: int
    flops: int = 0

    def __str__(self) -> str:
        return f"{1e3 * self.seconds:10.3f} ms  {self.module}  {self.line}"


class RunProfile:
    """The run profile of one function; calls from several threads are added up.

    `seconds` is the time in calls, `step_seconds` that of the nodes; what is between them is the entry: checks,
    outputs, and the driver.  `calls` are those that gave results.  The C counts by itself; Python looks at the counters
    on demand.
    """

    compile_seconds: float

    def __init__(self, name: str) -> None:
        self.name = name
        self.compile_seconds = 0.0
        """Generating, compiling and loading; no part of `seconds`."""
        self.warm_up: np.ndarray = np.zeros(1, np.int64)
        """How many calls are yet to be left out: the C counts down."""
        self.remarks: Callable[[], Iterable[Any]] | None = None
        """Source of the remarks on the function, for the advice."""
        self._measure: Callable[[], Roofline | None] | None = None
        self._measure_early = False
        self._roofline: Roofline | None = None
        self._nodes: tuple[StepProfile, ...] = ()
        self._counters: list[np.ndarray] = []
        """Counters of the C code, one array for each concurrent call."""
        self._tick: Callable[[], float] = lambda: 1e-9
        self._recorded = np.zeros(2)
        """Calls and seconds in them that Python has seen, where no C counts."""
        self._reader: CallReader | None = None
        self._strided: dict[str, int] = {}
        self._left_out = 0
        self._lock = ProcessLock()

    # --- filled in by the backend
    def begin(
        self, nodes: Sequence[StepProfile], compile_seconds: float,
        measure: Callable[[], Roofline | None] | None = None, tick: Callable[[], float] | None = None,
    ) -> None:  # fmt: skip
        """Say which nodes there are, what compiling them took, how to find out what the machine can do, and how many
        seconds a tick of the counters is; None: a nanosecond.
        """
        self._nodes, self.compile_seconds, self._measure = tuple(nodes), compile_seconds, measure
        self._tick = tick or self._tick
        if self._measure_early:
            self.measure_early()

    def watch(self, at: int, buffers: int, team: np.ndarray) -> None:
        """Set the positions of the last call and of the team's work in the counters, and the number of buffers."""
        self._reader = CallReader(at, buffers, team)

    def measure_early(self) -> None:
        """Measure the roofline right after compilation: the profile is printed when the interpreter shuts down."""
        self._measure_early = True
        _ = self.roofline

    def attach(self, counters: np.ndarray) -> None:
        """Read these int64 counters too; the C adds to them.

        For each node its runs, ticks, bytes and operations in a row, and a row of calls and their ticks; then the same
        for each body; then the bytes held now, their peak, and the peak as it would be without in-place work.
        """
        with self._lock:
            self._counters.append(counters)

    def record(self, seconds: float) -> None:
        """Add one call without C counters."""
        with self._lock:
            if self.warm_up[0] > 0:
                self.warm_up[0] -= 1
            else:
                self._recorded += 1, seconds

    def note_strided(self, names: Iterable[str]) -> None:
        """Count these inputs: they were not C-contiguous in a call."""
        with self._lock:
            for name in names if self.warm_up[0] <= 0 else ():
                self._strided[name] = self._strided.get(name, 0) + 1

    def reset(self, warm_up: int = 0) -> None:
        """Forget all calls, and leave out the next `warm_up` ones as well."""
        with self._lock:
            for counters in (*self._counters, self._recorded):
                counters[:] = 0
            for node in self._nodes:
                if node.copies is not None:
                    node.copies.reset()
            self._left_out = self.warm_up[0] = warm_up
            self._strided = {}

    def _rows(self) -> np.ndarray:
        """For each node, and then for the calls, runs, ticks, bytes and floating-point operations."""
        return self._all_counters()[: COLUMNS * (len(self._nodes) + 1)].reshape(-1, COLUMNS)

    def _all_counters(self) -> np.ndarray:
        """The rows of all nodes, of the calls, and of bodies."""
        size = counters_of(self._nodes)
        with self._lock:
            return sum((counters[:size] for counters in self._counters), np.zeros(size, np.int64))

    def _counts(self) -> np.ndarray:
        """For each node its runs, ticks, bytes and floating-point operations."""
        return self._rows()[:-1]

    # --- copies
    def snapshot(self) -> RunProfile:
        """A copy that later calls do not change."""
        made = RunProfile.__new__(RunProfile)
        made.__dict__.update(self.__dict__)
        with self._lock:
            made._counters = [counters.copy() for counters in self._counters]
            made._recorded, made.warm_up = self._recorded.copy(), self.warm_up.copy()
            made._strided = dict(self._strided)
            made._nodes = tuple(
                node if node.copies is None else replace(node, copies=node.copies.snapshot()) for node in self._nodes
            )
        made._reader = None if self._reader is None else self._reader.snapshot()
        made._tick, made._lock = partial(float, self._tick()), ProcessLock()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """The state of a snapshot without what belongs to this process: its remarks are made now, its roofline too."""
        roofline, state = self.roofline, dict(self.snapshot().__dict__)
        remarks = None if self.remarks is None else partial(tuple, list(self.remarks()))
        return state | {"_roofline": roofline, "_measure": None, "remarks": remarks}

    # --- what it says
    @property
    def calls(self) -> int:
        """The calls that gave results, without those that were left out."""
        return int(self._rows()[-1, 0] + self._recorded[0])

    @property
    def seconds(self) -> float:
        """The time in calls."""
        return float(self._rows()[-1, 1] * self._tick() + self._recorded[1])

    @property
    def skipped(self) -> int:
        """Calls that were left out as warm-up."""
        return int(self._left_out - max(self.warm_up[0], 0))

    @property
    def steps(self) -> list[StepProfile]:
        """The nodes that ran, the slowest first."""
        tick, counters = self._tick(), self._all_counters()
        counts = counters[: COLUMNS * len(self._nodes)].reshape(-1, COLUMNS).tolist()
        ran = [
            replace(
                node, calls=calls, seconds=ticks * tick, bytes=moved, flops=flops,
                bodies=measured(node, counters, ticks, tick), **_copied(node),
            )
            for node, (calls, ticks, moved, flops) in zip(self._nodes, counts, strict=True)
            if calls
        ]  # fmt: skip
        return sorted(ran, key=lambda s: -s.seconds)

    @property
    def texts(self) -> list[str]:
        """The expression of each node, in the order of the program."""
        return [node.text for node in self._nodes]

    @property
    def node_seconds(self) -> list[float]:
        """The time of each node, in the same order."""
        return (self._counts()[:, 1] * self._tick()).tolist()  # type: ignore[no-any-return]

    @property
    def last_call(self) -> LastCall | None:
        """Nodes, threads and buffers of the last call; None before the first, and where NumPy runs the function."""
        with self._lock:
            counters = list(self._counters)
        return self._reader(counters, self._tick) if self._reader is not None else None

    @property
    def step_seconds(self) -> float:
        """The time of all nodes."""
        return float(self._counts()[:, 1].sum() * self._tick())

    @property
    def memory(self) -> MemoryProfile:
        """The peak of memory for intermediate values, over all calls."""
        at = counters_of(self._nodes)
        with self._lock:
            return memory_of([counters[at:] for counters in self._counters])

    @property
    def strided_inputs(self) -> dict[str, int]:
        """How often each input was not C-contiguous."""
        return dict(self._strided)

    @property
    def roofline(self) -> Roofline | None:
        """The peaks of the machine: measured once a machine, 0.3 s; None where NumPy runs the function."""
        if self._roofline is None and self._measure is not None:
            self._roofline = self._measure()
        return self._roofline

    @property
    def advice(self) -> list[str]:
        """Advice that would make it faster, the most worthwhile first."""
        return list(advising.advice(self))

    def kernels(self) -> list[KernelProfile]:
        """The kernels (and BLAS routines, copies) that ran, those of bodies included, the slowest first."""
        return [
            KernelProfile(c.name, c.nodes, c.calls, c.seconds, c.bytes, c.flops)
            for c in self.costs(lambda step: step.kernel)
        ]

    def ops(self) -> list[Cost]:
        """The op classes that ran, the slowest first."""
        return self.costs(lambda step: step.op or "copies")

    def user_lines(self) -> list[Cost]:
        """The user's lines, the slowest first; a node of several lines counts for the first of them."""
        return self.costs(lambda step: step.lines[0] if step.lines else "no line")

    def by_module(self, depth: int | None = None) -> list[ModuleProfile]:
        """The modules of a network that `ag.from_torch` or `torch.compile` gave, the slowest first.

        A node of several modules counts for the first of them.  `depth`: how many parts of a path tell modules apart,
        such as 1 for "layer1" in the place of "layer1.0.conv1".
        """
        lines: dict[str, str] = {}
        for step in entered(self.steps):
            name = _module(step, depth)
            lines[name] = lines.get(name) or _module_line(step)
        return [
            ModuleProfile(c.name, lines[c.name], c.nodes, c.calls, c.seconds, c.bytes, c.flops)
            for c in self.costs(lambda step: _module(step, depth))
        ]

    def costs(self, key: Callable[[StepProfile], str]) -> list[Cost]:
        """The sums of the nodes with equal keys, the largest first; nodes of bodies count in the place of loops."""
        groups: dict[str, list[StepProfile]] = {}
        for step in entered(self.steps):
            groups.setdefault(key(step), []).append(step)
        found = [
            Cost(
                name, len(g), sum(s.calls for s in g), sum(s.seconds for s in g), sum(s.bytes for s in g),
                sum(s.flops for s in g), g[0].dtype,
            )
            for name, g in groups.items()
        ]  # fmt: skip
        return sorted(found, key=lambda cost: -cost.seconds)

    def share(self, seconds: float) -> float:
        """The part of the time of all nodes, in percent."""
        total = self.step_seconds
        return 100 * seconds / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain data, ready for JSON."""
        roofline = self.roofline if self.calls else None
        return {
            "name": self.name, "calls": self.calls, "seconds": self.seconds, "step_seconds": self.step_seconds,
            "compile_seconds": self.compile_seconds, "skipped": self.skipped,
            "roofline": roofline.to_dict() if roofline is not None else None, "memory": self.memory.to_dict(),
            "steps": [
                s.to_dict() | self._figures(s.cost, roofline)
                for s in self.steps
            ],
            "kernels": self._groups("kernel", self.costs(lambda s: s.kernel), roofline),
            "ops": self._groups("op", self.ops(), roofline),
            "lines": self._groups("line", self.user_lines(), roofline),
            "advice": self.advice, "headline": self.headline,
        }  # fmt: skip

    def _groups(self, key: str, costs: Sequence[Cost], roofline: Roofline | None) -> list[dict[str, Any]]:
        return [{key: c.name, "nodes": c.nodes} | self._figures(c, roofline) for c in costs]

    def _figures(self, cost: Cost, roofline: Roofline | None) -> dict[str, Any]:
        found = cost.figures() | {"share": self.share(cost.seconds)}
        if roofline is not None:
            found |= {"bound": cost.bound(roofline), "of_roofline": cost.of_roofline(roofline)}
        return found

    def to_json(self) -> str:
        """`to_dict()` as JSON, indented."""
        return json.dumps(self.to_dict(), indent=1)

    def summary(self) -> str:
        """One screen of 80 columns: the three things that matter, the slowest nodes, rates, memory, advice."""
        return Text("\n".join(run_text.summary_lines(self)))

    @property
    def headline(self) -> list[str]:
        """Where most of the time goes, in one sentence, and what to do first in another."""
        return list(heads.headline(self))

    def __str__(self) -> str:
        return "\n".join(run_text.run_lines(self))

    def _repr_html_(self) -> str:
        form: str = forms.run_form(self.to_dict(), str(self))
        return form

    def __repr__(self) -> str:
        more = "  `.summary()` shows a table; printing shows all." if self.calls else ""
        return f"<run profile of {next(heads.headline(self))}{more}>"


def _copied(node: StepProfile) -> dict[str, Any]:
    """The present counts of a region."""
    return {"copied": node.copies.bytes, "copy_seconds": node.copies.seconds} if node.copies is not None else {}


def _of_region(step: StepProfile) -> dict[str, Any]:
    """The figures specific to a region, as plain data."""
    if not step.engine:
        return {}
    return {"engine": step.engine, "copied_bytes": step.copied, "copy_seconds": step.copy_seconds}
