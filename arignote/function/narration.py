"""`ARIGNOTE_DEBUG=1..5`: lines on standard error about compilation and calls; see `options.DEBUG_LEVELS`.

    level 1    arignote: step: 12 nodes became 4 in 0.011 s, C compiled in 0.142 s, 3 kernels
    level 2    arignote: step: call 1: 0.310 ms
               arignote:     92.10 us   17.40 GB/s     2.10 GFLOP/s  k_3fbac1df54924322  v0 = exp(x)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..cbackend.program.text.printing import program_text
from ..engines.registry import title
from ..profiling import RunProfile, StepProfile
from ..profiling.summary import passes
from ..record.quoting import lines_of_text
from ..record.spelling import counted

if TYPE_CHECKING:
    from .compiled import Function

COMPILED, CALLS, PASSES, PROGRAM, C = 1, 2, 3, 4, 5
"""The level from which each kind of line is printed."""


def tell(lines: Iterator[str] | Sequence[str]) -> None:
    """Write lines to standard error; if it is closed, do nothing."""
    try:
        sys.stderr.write("".join(f"arignote: {lines_of_text(line)}\n" for line in lines))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


def narrate(function: Function, level: int) -> None:
    """Print the result of compiling a function."""
    tell(_compiled(function))
    if level >= PASSES and function.optimizer_profile is not None:
        tell(_passes(function))
    if level >= PROGRAM:
        tell(_program(function))
    if level >= C:
        tell(function.c_source().splitlines())


def _compiled(f: Function) -> Iterator[str]:
    if not f.ready:
        yield f"{f.name}: run by NumPy until {title(f.mode.backend)} is ready"
        return
    if f.from_cache and not f._optimization.is_done:
        yield f"{f.name}: found in the cache with its C, loaded in {f.compile_seconds:.3f} s"
        return
    profile = f.optimizer_profile
    seconds = f" in {profile.time:.3f} s" if profile is not None else ""
    by = f"run by {title(f.backend)}"
    how = f"C {'found in the cache, loaded' if f.from_cache else 'compiled'} in {f.compile_seconds:.3f} s"
    code = f"{how}, {counted(len(f.program.kernels), 'kernel')}" if f.program is not None else by
    yield f"{f.name}: {counted(len(f.unoptimized_graph), 'node')} became {len(f.graph):,}{seconds}, {code}"


def _passes(f: Function) -> Iterator[str]:
    """Yield the lines of the passes that changed something, in order."""
    order = {id(p): number for number, p in enumerate(f.optimizer_profile.walk())}
    for name, p in sorted(passes(f.optimizer_profile), key=lambda pair: order[id(pair[1])]):
        if p.replacements:
            sizes = f"{p.nodes_before:,} -> {p.nodes_after:,} nodes"
            rules = ", ".join(f"{row.fired} x {row.name}" for row in p.rules() if row.fired)
            yield f"  {name}: {counted(p.replacements, 'change')}, {sizes}, {p.time:.4f} s: {rules}"


def _program(f: Function) -> Iterator[str]:
    """Yield the optimized graph, the program and its kernels, each in its text form."""
    forms = [str(f.graph)]
    if f.program is not None:
        forms += [program_text(f.program), *(f"{kernel.name} is {kernel}" for kernel in f.program.kernels)]
    yield from (f"  {line}" for form in forms for line in form.splitlines())


class Narrated:
    """An executable that prints each call, with the kernels that ran and their times."""

    def __init__(self, executable: Any, profile: RunProfile, name: str) -> None:
        self._executable, self._profile, self._name = executable, profile, name

    def __call__(self, *arguments: Any) -> Any:
        calls, seconds, before = self._profile.calls, self._profile.seconds, _by_text(self._profile)
        try:
            return self._executable(*arguments)
        finally:
            if self._profile.calls > calls:
                tell(self._lines_of_call(seconds, before))

    def _lines_of_call(self, seconds: float, before: dict[str, StepProfile]) -> Iterator[str]:
        yield f"{self._name}: call {self._profile.calls:,}: {1e3 * (self._profile.seconds - seconds):.3f} ms"
        for text, step in _by_text(self._profile).items():
            old = before.get(text)
            took = step.seconds - (old.seconds if old else 0.0)
            moved, flops = (getattr(step, k) - (getattr(old, k) if old else 0) for k in ("bytes", "flops"))
            if step.calls > (old.calls if old else 0):
                rates = f"{_rate(moved, took):7.2f} GB/s {_rate(flops, took):8.2f} GFLOP/s"
                yield f"{1e6 * took:12.2f} us {rates}  {step.kernel or 'no kernel'}  {text}"

    def native(self, other: Any, as_list: bool) -> None:
        """None: a native entry would bypass the printing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executable, name)


def _by_text(profile: RunProfile) -> dict[str, StepProfile]:
    return {step.text: step for step in profile.steps}


def _rate(amount: int, seconds: float) -> float:
    return amount / seconds / 1e9 if seconds > 0 else 0.0
