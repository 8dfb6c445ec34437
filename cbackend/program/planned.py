"""The planner of each op, and its count of operations: one table, collected from the planner modules.

A planner module lives in `planners/`, or is `plan*.py` in the folder of a kernel.  Its tables are by classes of ops:
PLANNERS; CONDITIONS, where a planner takes only some nodes; WORK, where the calls do not tell the operations.  Host
steps say in their classes why they have no planner, and classes from outside bring one with `ag.register_op`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from os import listdir
from pathlib import Path
from types import ModuleType
from typing import Any

from ...graph import Apply, Op
from ...graph.facets import own_answer
from ...ops.lowered.fused import unmarked
from ...record import record
from ...record.package_files import package_files
from ..kernels import modules
from . import planners as planner_modules
from .accounts import Count, Term, of_calls
from .planner import Planner
from .program import Program, Step

Plan = Callable[[Planner, Apply], None]


@record
class Planned:
    """The planner of a class of ops and its count of operations.

    `takes`: whether the planner takes a node; None if it takes all.  `work`: None if the operations are unknown.
    """

    plan: Plan
    work: Count | None
    takes: Callable[[Apply], bool] | None = None


@cache
def planners() -> Mapping[type[Op], Planned]:
    """Return what the planner modules say, by class."""
    with package_files():
        return {kind: found for module in _modules() for kind, found in _of_module(module)}


def _modules() -> Iterator[ModuleType]:
    for name in sorted(listdir(Path(planner_modules.__file__).parent)):
        if name.endswith(".py"):
            yield import_module(f".planners.{name.removesuffix('.py')}", __package__)
    yield from modules("plan")


def _of_module(module: ModuleType) -> Iterator[tuple[type[Op], Planned]]:
    tables: list[Mapping[type[Op], Any]] = [getattr(module, name, {}) for name in ("PLANNERS", "WORK", "CONDITIONS")]
    plans, work, conditions = tables
    for kind, plan in plans.items():
        yield kind, Planned(plan, work.get(kind, of_calls), conditions.get(kind))


def planned(kind: type[Op]) -> Planned | None:
    """Return what the nearest class of a hierarchy says; None for ops that Python runs as host steps."""
    table = planners()
    for parent in kind.__mro__:
        answer = own_answer(parent, "planner")
        if answer is not None:
            counted = own_answer(parent, "work")
            return Planned(answer[0], counted[0] if counted else None) if answer[0] is not None else None
        if parent in table:
            return table[parent]
    return None


def plan_of(node: Apply) -> Plan | None:
    """Return the planner of a node; None if Python runs it as a host step."""
    found = planned(type(unmarked(node.op)))
    return found.plan if found is not None and (found.takes is None or found.takes(node)) else None


def flops(program: Program, site: int, steps: Sequence[Step]) -> list[Term]:
    """Return the floating-point operations of a node as terms to be added up; no terms for a node without any."""
    if site >= len(program.sites):
        return []
    found = planned(type(unmarked(program.sites[site].node.op)))
    return found.work(program, program.sites[site], steps) if found is not None and found.work is not None else []
