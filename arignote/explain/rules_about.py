"""Facts on rules for the page of a database: an example, and the work in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from .. import ops as variables
from ..graph import Constant, Variable
from ..optdb.entries import Entry
from ..optdb.patterns import Applied, Wild, instantiate
from ..optdb.rule import PatternRule
from ..profiling.headline import duration
from ..profiling.tally import TALLY
from ..record.spelling import counted
from .printing import pprint

KINDS = ("vector", "matrix", "lvector")
"""Constructors of the operands that are tried for an example, in this order."""
MOST_OPERANDS = 3
LONGEST = 120
"""Characters of a side of an example."""


def about(entries: Sequence[Entry]) -> Mapping[str, tuple[str, str]]:
    """Return the example and the work of each entry by its path; empty texts where there is none."""
    done = TALLY.totals()
    return {entry.path: (example(entry.object), _work(done.get(entry.name))) for entry in entries}


def _work(row: Any) -> str:
    if row is None or not row.tried:
        return "never tried"
    tried = f"tried {counted(row.tried, 'time')}"
    applied = f"applied {counted(row.fired, 'time')}" if row.fired else "never applied"
    return f"{tried}, {applied}, {duration(row.time)}"


@cache
def example(rule: Any) -> str:
    """Return an expression and what a rule makes of it; empty if none was found."""
    return next(_found(rule), "") if isinstance(rule, PatternRule) else ""


def _found(rule: PatternRule) -> Iterator[str]:
    """Yield examples of a rule on operands of some kinds."""
    names = list(dict.fromkeys(p.name for p in rule.pattern.walk() if isinstance(p, Wild)))
    ops = any(isinstance(p, Applied) and not hasattr(p.op, "infer") for p in rule.pattern.walk())
    if ops or len(names) > MOST_OPERANDS:
        return
    for kind in KINDS:
        bound = {name: getattr(variables, kind)(name) for name in names}
        try:
            before = instantiate(rule.pattern, bound)
            proposal = rule.propose(before.owner, lambda v: ())
        except Exception:  # operands of these kinds do not fit, or the rule may be anybody's
            continue
        after = None if proposal is None else proposal.outputs[0]
        if isinstance(after, Variable):
            texts = [str(v.data) if isinstance(v, Constant) else pprint(v) for v in (before, after)]
            if texts[0] != texts[1] and max(map(len, texts)) <= LONGEST:
                yield " \u2192 ".join(texts)
                return
