"""A run profile as advice: the slow nodes, the causes and the fixes.

Each sentence names the kernel or node, how much it matters, the reason and the fix; what takes less than a twentieth
of the time is not worth a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .bodies import AROUND, entered

if TYPE_CHECKING:
    from .run import Roofline, RunProfile, StepProfile

WORTH = 5.0
"""The least share of the time, in percent."""
SLOW = 0.5
"""Less than this part of the roofline is slow."""
SMALL = 100_000
"""Bytes per run below which the bandwidth of a kernel is meaningless."""

SMALL_STEPS = 0.4
"""Part of a loop's steps around their kernels from which on the steps are small."""
MOST_AROUND = 2000.0
"""Most nanoseconds around the kernels of a step: beyond, something else took them."""
MOST_OVERHEAD = 200.0
"""Most microseconds around the nodes of a call: beyond, another program had the processor."""


def advice(profile: RunProfile) -> Iterator[str]:
    """The sentences, those on the slowest nodes first."""
    if not profile.calls:
        return
    yield from _overhead(profile)
    roofline = profile.roofline
    yield from _loops(profile)
    steps = [s for s in entered(profile.steps) if profile.share(s.seconds) >= WORTH]
    for step in steps:
        if step.kernel != AROUND:
            yield from _about(profile, step, roofline)
    yield from _remarks(profile, steps)


def _overhead(profile: RunProfile) -> Iterator[str]:
    around = profile.seconds - profile.step_seconds
    each = 1e6 * around / profile.calls
    if profile.step_seconds and around > 0.5 * profile.seconds and profile.calls > 1 and each < MOST_OVERHEAD:
        yield (
            f"{100 * around / profile.seconds:.0f} % of the time ({each:.1f} us a call) goes by around the nodes: the "
            "arrays are small; do more in one call, such as a whole batch"
        )


def _loops(profile: RunProfile) -> Iterator[str]:
    """Loops whose steps are too small for the work around them."""
    stack = list(profile.steps)
    while stack:
        loop = stack.pop()
        for body in loop.bodies:
            stack += body.nodes
            around = body.seconds - body.node_seconds
            if body.title != "step" or profile.share(around) < WORTH or around < SMALL_STEPS * body.seconds:
                continue
            each, own = (1e9 * seconds / body.steps for seconds in (around, body.node_seconds))
            if each > MOST_AROUND:
                continue
            where = f" at {loop.lines[0]}" if loop.lines else ""
            yield (
                f"{loop.text}{where} ({profile.share(loop.seconds):.0f} % of the time): its {body.steps:,} steps are "
                f"small; each spends {each:.0f} ns around its kernels, which take {own:.0f} ns; do more in a step, "
                "such as all sequences of a batch (`ag.vmap`), or write it without a loop (`T.cumsum`, `T.cumprod`)"
            )


def _about(profile: RunProfile, step: StepProfile, roofline: Roofline | None) -> Iterator[str]:
    what = f"{step.kernel.split(', ')[0] or step.text} ({profile.share(step.seconds):.0f} % of the time)"
    where = f", at {step.lines[0]}" if step.lines else ""
    if "numpy" in step.kernel.split(", "):
        yield f"{what} is run by NumPy: {step.text} has no C{where}"
        return
    if step.has_body:
        return
    if roofline is None or step.bytes < SMALL * step.calls or step.cost.bound(roofline) != "memory":
        return
    reached = step.cost.of_roofline(roofline)
    if reached >= SLOW:
        return
    slow = f"{what}: {100 * reached:.0f} % of bandwidth"
    odd = [name for name in step.reads if name in profile.strided_inputs]
    for name in odd:
        yield f"{slow}: input `{name}` is strided; give np.ascontiguousarray({name}), or transpose it once{where}"
    if step.strided and not odd:
        names = ", ".join(f"`{name}`" for name in step.strided)
        yield f"{slow}: it reads {names} along an axis of large stride; transpose once, or store it transposed{where}"


def _remarks(profile: RunProfile, steps: list[StepProfile]) -> Iterator[str]:
    """Missed optimizations of the slow kernels."""
    share = {kernel: profile.share(s.seconds) for s in reversed(steps) for kernel in s.kernel.split(", ") if kernel}
    for remark in profile.remarks() if profile.remarks is not None else ():
        if remark.kernel in share:
            fix = f"; try {remark.suggestion}" if remark.suggestion else ""
            name = f"{remark.kernel} ({share[remark.kernel]:.0f} % of the time)"
            yield f"{name} is {remark.kind}: {remark.what}, because {remark.reason}{fix}"
