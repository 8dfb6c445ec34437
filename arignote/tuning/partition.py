"""`f.explain("partition")`: the engines of the parts of a function, and the estimates behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..engines.registry import title
from ..profiling.partition import PartitionProfile, RegionPlan

if TYPE_CHECKING:
    from ..function.compiled import Function


def profile_of(f: Function) -> PartitionProfile | None:
    """The profile of the pass `partition` of a function; None if it did not run."""
    profile = f.optimizer_profile
    return next((p for p in profile.walk() if isinstance(p, PartitionProfile)), None) if profile is not None else None


def lines(f: Function) -> Iterator[str]:
    """The lines of the explanation."""
    found = profile_of(f)
    if found is None:
        yield f"{f.name}: not divided; ag.function(..., engines=[...]) divides it among engines"
        return
    names = [title(name) for name in dict.fromkeys((found.host, *(r.engine for r in found.regions)))]
    nodes = found.on_host + sum(r.nodes for r in found.regions)
    yield f"{f.name}: {_count(nodes)}, {' and '.join(names)}; estimated {_time(found.divided)} a call"
    missing = dict(found.unsupported)
    for name, price in found.alone:
        less = f", but for {_count(missing[name])} not supported" if missing[name] else ""
        yield f"  {_time(price)} with all on {title(name)}{less}"
    yield f"host, {title(found.host)}: {_count(found.on_host)}"
    for number, region in enumerate(found.regions):
        yield from _region(number, region)


def _region(number: int, region: RegionPlan) -> Iterator[str]:
    ops = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in region.ops)
    more = ", ..." if sum(count for _, count in region.ops) < region.nodes else ""
    yield f"region {number}, {title(region.engine)}: {_count(region.nodes)}: {ops}{more}"
    known = f"{region.measured:,} of them measured" if region.measured else "not measured"
    yield f"  {_time(region.price)}, {known}; {region.copied:,} bytes cross its border"
    yield from (f"  {line}" for line in region.lines)


def _count(nodes: int) -> str:
    """A number of nodes."""
    return f"{nodes:,} node{'s' * (nodes != 1)}"


def _time(picoseconds: int) -> str:
    """A time in microseconds."""
    return f"{picoseconds / 1e6:,.1f} us"
