"""The planner of each op, and its count of operations: one table, collected from the planner modules.

A planner module lives in `planners/`, or is `plan*.py` in the folder of a kernel.  Its tables are by classes of ops,
which its text names: PLANNERS; CONDITIONS, where a planner takes only some nodes; WORK, where the calls do not tell the
operations.  Modules that do not name a class are not imported for it.  Host steps say in their classes why they have no
planner, and classes from outside bring one with `ag.register_op`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ...graph import Apply, Op
from ...graph.facets import own_answer
from ...ops.lowered.fused import unmarked
from ...record import record
from ...record.package_files import package_files, package_text
from ..kernels import files, modules_in
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
def planners(name: str = "") -> Mapping[type[Op], Planned]:
    """Return what the planner modules say, by class; of those alone that name the class `name`, which are imported."""
    with package_files():
        modules = [import_module(module) for module, text in _texts().items() if _names(text, name)]
        return {kind: found for module in modules for kind, found in _of_module(module)}


def _names(text: str, name: str) -> bool:
    return name in text and (not name or re.search(rf"\b{name}\b", text) is not None)


@cache
def _texts() -> Mapping[str, str]:
    """Return the texts of the planner modules by their names."""
    found = {**modules_in(planner_modules.__path__[0], planner_modules.__name__), **files("plan")}
    return {module: package_text(path) for module, path in found.items()}


def _of_module(module: ModuleType) -> Iterator[tuple[type[Op], Planned]]:
    tables: list[Mapping[type[Op], Any]] = [getattr(module, name, {}) for name in ("PLANNERS", "WORK", "CONDITIONS")]
    plans, work, conditions = tables
    for kind, plan in plans.items():
        yield kind, Planned(plan, work.get(kind, of_calls), conditions.get(kind))


def planned(kind: type[Op]) -> Planned | None:
    """Return what the nearest class of a hierarchy says; None for ops that Python runs as host steps."""
    for parent in kind.__mro__:
        answer = own_answer(parent, "planner")
        if answer is not None:
            counted = own_answer(parent, "work")
            return Planned(answer[0], counted[0] if counted else None) if answer[0] is not None else None
        table = planners(parent.__name__)
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
