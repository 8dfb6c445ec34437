"""The numbers of the cost model, measured on this machine: python -m benchmarks.fit [--dry] [--schedules]

Rewrites `targets/table_x86_64.py` and prints each number beside the one before.  Takes two to four minutes; keep the
machine quiet.  The bits of long sums depend on the table: commit it, and ship it to all machines.

- Elementwise ops: the time of a fused loop with the op, less that of the loop without it, over operands in the
  first-level cache.  The loop is a chain of multiplications and additions, so that reading and writing cost nothing
  beside it.  An addition is the slope between a long and a short chain.
- Bytes: copies within the second-level cache and in memory; gathers of rows and of elements; rows of a softmax.
- Launches: kernels of little work, called and launched.  Threads: two threads beside one.
- The C compiler: least squares of the times of kernels over their characters, loops, accumulators and copies.

Times are the least of many short rounds, on one thread.  `--schedules`: the limits of schedules; see fit_schedules.py.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import argparse
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.emit import functions, helpers
from arignote.cbackend.ctext.preamble import preamble
from arignote.cbackend.driver.units import features, in_units
from arignote.cbackend.ir.kernel import Kernel
from arignote.cbackend.program.plan import plan
from arignote.function.function import find_toolchain
from arignote.graph import FunctionGraph
from arignote.ops.elementwise import records as elementwise_ops
from arignote.ops.elementwise.records import Elementwise
from arignote.targets import processor, table_x86_64
from arignote.targets.named import host

from . import fit_schedules

TABLE = Path(table_x86_64.__file__)
SIZE = 2048
"""Elements of a vector in the first-level cache."""
ROUNDS, ROUND_SECONDS = 60, 1e-3
DOMAINS = {"arccosh": (1.5, 3.0), "log1mexp": (-3.0, -0.1), "arctanh": (-0.9, 0.9)}
"""Where operands lie, if not between 0.1 and 0.9."""
UNMEASURED = {"fill", "identity", "stop_gradient", "conj", "real", "imag", "switch", "polygamma"}
"""Ops that compute nothing of real numbers, or not of any two: they have the estimate that they are registered with."""
COPIES = 4
"""Results of an op in a loop, so that an error in the time of the loop counts a quarter."""
DRIVER = 5
"""Characters of a driver, which is not optimized, that take a compiler as long as one of a kernel."""
KEPT, BROADCAST = 12, 4
"""Additions that are worth a byte written and read again; those that a loop may do again in every step."""
CALLED, TIE = 4e9, 0.02
"""A first estimate of the compiler's time for functions that a kernel calls; how much factors are drawn together."""
LONG, SHORT = 24, 8
"""Multiplications and additions of the chains."""


def least(run: Callable[[], object]) -> float:
    """Picoseconds of processor time of a call: the least of many rounds."""
    run()
    begun = time.perf_counter()
    run()
    once = max(time.perf_counter() - begun, 1e-7)
    calls = max(1, int(ROUND_SECONDS / once))
    best = float("inf")
    for _ in range(ROUNDS if once < 1e-2 else 5):
        begun = time.thread_time()
        for _ in range(calls):
            run()
        best = min(best, (time.thread_time() - begun) / calls)
    return best * 1e12


def timed(inputs: list[Any], output: Any, *values: Any, threads: int = 1) -> float:
    """Picoseconds of a call of a function bound to its arrays."""
    return least(ag.function(inputs, output, threads=threads, name="fit").bind(*values))


# --- elementwise ops


def chain(x: Any, scale: Any, shift: Any, steps: int) -> Any:
    """Values beside `shift`, by many multiplications and additions."""
    for _ in range(steps // 2):
        x = x * scale + shift
    return x


def candidates() -> dict[str, Elementwise]:
    """The ops that may be in the table, by name."""
    found = {op.name: op for op in vars(elementwise_ops).values() if isinstance(op, Elementwise)}
    return {name: op for name, op in sorted(found.items()) if name not in UNMEASURED}


def measured_ops(dtype: str) -> Iterator[tuple[str, float]]:
    """Each op that computes floats, and its picoseconds an element."""
    x, other = (T.tensor(name, dtype=dtype, shape=(None,)) for name in ("x", "other"))
    scale, shift = (T.tensor(name, dtype=dtype, shape=()) for name in ("scale", "shift"))
    inputs = [x, other, scale, shift]
    base: dict[tuple[float, float], float] = {}
    values: dict[tuple[float, float], list[Any]] = {}

    def seconds(output: Any, domain: tuple[float, float]) -> float:
        if domain not in values:
            low, high = domain
            numbers = np.linspace(low, high, SIZE).astype(dtype)
            values[domain] = [numbers, numbers[::-1].copy(), np.asarray(1e-3, dtype), np.asarray(low, dtype)]
        return timed(inputs, output, *values[domain]) / SIZE

    usual = (0.1, 0.9)
    plain = {steps: seconds(chain(x, scale, shift, steps) * other, usual) for steps in (SHORT, LONG)}
    addition = (plain[LONG] - plain[SHORT]) / (LONG - SHORT)
    yield "add", addition
    for name, op in candidates().items():
        domain = DOMAINS.get(name, usual)
        operands = [chain(x, scale, shift, LONG) + other * scale]
        while len(operands) < COPIES:
            operands.append(chain(operands[-1], scale, shift, 2))
        try:
            made = [op(*([o, other, other][: op.arity or 2])) for o in operands]
        except TypeError:
            continue  # of integers
        if name == "add" or made[0].dtype != dtype:
            continue
        if domain not in base:
            base[domain] = seconds(T.add(*operands), domain)
        yield name, max((seconds(T.add(*made), domain) - base[domain]) / COPIES, 0.0)


def elementwise() -> dict[str, tuple[int, int]]:
    """The table: picoseconds in float32 and in float64."""
    found = {dtype: dict(measured_ops(dtype)) for dtype in ("float32", "float64")}
    both = found["float32"].keys() & found["float64"].keys()
    return {name: (round(found["float32"][name]), round(found["float64"][name])) for name in sorted(both)}


def additions(table: Mapping[str, tuple[int, int]]) -> Iterator[tuple[str, float]]:
    """An addition or one of its like a byte, and the thresholds that are so many of them."""
    simple = [name for name, op in candidates().items() if name in table and op.cost == 1]
    each = float(np.median([part / item for name in simple for part, item in zip(table[name], (4, 8), strict=True)]))
    yield "addition_byte", each
    yield "again_byte", KEPT * round(each)
    yield "broadcast_byte", BROADCAST * round(each)


# --- bytes


def copies(elements: int) -> float:
    """Picoseconds a byte that is read or written by a copy of so many float64."""
    x = T.vector("x")
    return timed([x], -x, np.ones(elements)) / (16 * elements)


def gathers() -> tuple[float, float]:
    """Return the picoseconds a byte of a gather of rows, and the picoseconds of a jump to an element."""
    x, i, v = T.matrix("x"), T.lvector("i"), T.vector("v")
    rng = np.random.default_rng(1)
    rows, picked = np.ones((1 << 14, 64)), rng.integers(0, 1 << 14, 1 << 12)
    each = timed([x, i], x[i], rows, picked) / (picked.size * 64 * 8)
    many, where = np.ones(1 << 21), rng.integers(0, 1 << 21, 1 << 15)
    return each, max(timed([v, i], v[i], many, where) / where.size - 8 * each, 0.0)


def softmax_row(moved: float) -> float:
    """Picoseconds a byte of a row's softmax, beside the moving of it."""
    x = T.fmatrix("x")
    value = np.random.default_rng(1).standard_normal((16, 1024)).astype("float32")
    return timed([x], T.nn.softmax(x), value) / value.nbytes - 2 * moved


# --- launches and threads


def launch() -> float:
    """Picoseconds of a launch beside a plain call, of a kernel with hardly any work."""
    x, value = T.vector("x"), np.ones(8)
    found = {}
    for alone in (0, 10**12):
        target = replace(host(), costs=replace(host().costs, alone=alone))
        found[alone] = least(ag.function([x], T.exp(x), threads=1, target=target).bind(value))
    return found[0] - found[10**12]


def thread() -> float:
    """Picoseconds until a thread that sleeps helps: the work of two threads, less half of that of one."""
    x, value = T.vector("x"), np.ones(1 << 17)
    alone, shared = (ag.function([x], T.tanh(x), threads=count).bind(value) for count in (1, 2))
    best = float("inf")
    for _ in range(100):
        time.sleep(1e-3)  # so that the other sleeps
        begun = time.perf_counter()
        shared()
        best = min(best, time.perf_counter() - begun)
    return best * 1e12 - least(alone) / 2


# --- the C compiler


def kernels() -> list[Kernel]:
    """Kernels of all kinds."""
    m, n, v, f = T.matrix("m"), T.matrix("n"), T.vector("v"), T.fmatrix("f")
    t = m.T
    values = [
        m + n, m * n + v, T.exp(m), T.exp(m) + T.sin(n), T.tanh(m) * n + T.sqrt(v), T.arctan(f), T.sigmoid(f) * f,
        m.sum(), m.sum(0), m.sum(1), (m * n).sum(1), T.exp(f).sum(0), m.max(1), m.min(0), m.argmax(1), m.argmin(0),
        T.nn.softmax(m), T.nn.log_softmax(f), m.var(1), f.mean(0), t + n, T.exp(t) * n, t * n + t, T.cumsum(m, 1),
        T.cumsum(m, 0), T.where(m > n, m, n), T.clip(m, 0, 1) + n, m // n, m % n, m**n, T.log(m) * T.log(n) - v,
        sum((T.sin(m * k) for k in range(1, 9)), m), sum((m + k * n for k in range(1, 30)), m * n),
    ]  # fmt: skip
    graphs = [ag.rewrite(FunctionGraph([m, n, v, f], [value]), "fast_run") for value in values]
    made = {k.name: k for graph in graphs for k in plan(graph).kernels}
    return list(made.values())


def spent() -> float:
    """Seconds of processor time that processes took which ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compilation(folder: Path) -> dict[str, float]:
    """Return the compiler's start-up time, and its time per unit that `Costs.compilation` counts."""
    found = find_toolchain()
    assert found is not None
    toolchain = found

    def seconds(text: str) -> float:
        (folder / "code.c").write_text(text)
        command = toolchain.object_argv("code.c", "code.o")
        best = float("inf")
        for _ in range(3):
            begun = spent()
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            best = min(best, spent() - begun)
        return best

    rows, times = [], []
    for kernel in kernels():
        head = preamble(helpers(kernel))
        made = [features(function) for function in functions(kernel)]
        layout = in_units([kernel], "", "")
        pieces = [*layout.before, f"void *caller = {kernel.name};", *layout.behind]
        body = "\n".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
        times.append(seconds(f"{head}{body}\n") - seconds(head))
        drivers, rest = [f for f in made if f.drives_tiles], [f for f in made if not f.drives_tiles]
        size = sum(f.size for f in drivers) / DRIVER + sum(f.size for f in rest)
        counts = [sum(getattr(f, name) for f in rest) for name in ("loops", "reductions", "copies")]
        rows.append([size, *counts, 1])  # the last for functions that it calls, which each unit has
    names = ("character", "loop", "reduction", "copy")
    before = np.array([*(table_x86_64.COSTS[name] for name in names), CALLED])
    character, loop, reduction, copy, _ = before * factors(np.array(rows) * before / 1e12, np.array(times))
    start = seconds("") * 1e12
    return {
        "compiler": start, "character": character, "driver_character": character / DRIVER, "loop": loop,
        "reduction": reduction, "copy": copy,
    }  # fmt: skip


def factors(parts: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The factor of each column of `parts`, estimates of shares of the times, by least squares of relative errors.

    Long functions have more of everything, so that columns hardly differ: factors are drawn to a common one.
    """
    common = np.median(times / parts.sum(1))
    ties = np.eye(parts.shape[1]) * (TIE * len(times)) ** 0.5
    rows = np.vstack([parts / times[:, None], ties])
    wanted = np.concatenate([np.ones(len(times)), ties.sum(1) * common])
    return np.maximum(np.linalg.lstsq(rows, wanted, rcond=None)[0], common / 10)


# --- the table


def measured() -> Iterator[tuple[str, float]]:
    """Each number of the cost model beside the ops: its name, and picoseconds."""
    near, far = copies(1 << 14), copies(1 << 23)
    moved = (near * far) ** 0.5  # operands lie in the caches as often as not
    yield "moved_byte", moved
    yield "row_byte", softmax_row(moved)
    yield from zip(("gathered_byte", "jump"), gathers(), strict=True)
    launched, started = launch(), thread()
    yield "launch", launched
    yield "alone", 200 * launched  # half a percent
    yield "thread", started
    yield "task", 2 * started
    yield "shared", 5 * started
    with tempfile.TemporaryDirectory() as folder:
        yield from compilation(Path(folder)).items()


def page(costs: Mapping[str, int], table: Mapping[str, tuple[int, int]]) -> str:
    """The text of the table's module."""
    numbers = "\n".join(f'    "{name}": {value:_},' for name, value in costs.items())
    ops = "\n".join(f'    "{name}": {each},' for name, each in table.items())
    return f"""{HEAD}
COSTS: dict[str, int] = {{
{numbers}
}}
\"\"\"Fields of Costs.\"\"\"
ELEMENTWISE: dict[str, tuple[int, int]] = {{
{ops}
}}
\"\"\"Picoseconds an element of elementwise ops in float32 and in float64.\"\"\"
"""


HEAD = TABLE.read_text().partition("\nCOSTS")[0]


def rounded(value: float) -> int:
    """The number in three digits."""
    return int(float(f"{value:.3g}"))


def beside(name: str, now: float, before: float) -> None:
    ratio = f"{now / before:8.2f}" if before else "       -"
    print(f"{name:20} {now:16,.0f} ps {before:16,.0f} ps {ratio}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dry", action="store_true", help="print the numbers, and leave the table as it is")
    options.add_argument(
        "--keep", nargs="*", default=[], metavar="NAME", help="numbers to leave as they are: a busy machine cannot tell"
    )
    options.add_argument("--schedules", action="store_true", help="measure the limits of schedules instead")
    message = options.parse_args()
    if message.schedules:
        fit_schedules.main(message.dry)
        return
    if processor.architecture() != "x86_64":
        raise SystemExit(f"fit: there is a table for x86_64, none for {processor.architecture()}; see targets/costs.py")
    print(f"{'':20} {'measured':>19} {'before':>19}    ratio")
    costs, table = dict(table_x86_64.COSTS), elementwise()
    for name, value in (*additions(table), *measured()):
        beside(name, value, costs[name])
        if name not in message.keep:
            costs[name] = max(1, rounded(value))
    for name, each in table.items():
        old = table_x86_64.ELEMENTWISE.get(name, (0, 0))
        for dtype, now, before in zip(("float32", "float64"), each, old, strict=True):
            beside(f"{name} {dtype}", now, before)
    if not message.dry:
        TABLE.write_text(page(costs, table))
        print(f"written to {TABLE}")


if __name__ == "__main__":
    main()
