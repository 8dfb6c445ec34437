"""Instances of a rule: graphs on which it fires, before and after, over dtypes, ops and ranks.

A rule with a pattern gets its pattern with each dtype in all places, each op that an `op_like` accepts, and mixed
dtypes; every rule gets its examples (tests/lib/rules/rule_rows*.py), as they are and with other dtypes.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from rewriting import graph_of, rewritten
from rule_trials import CANDIDATES, EXAMPLES, UNWRITABLE, Maker, varied

from arignote.graph import DTYPES
from arignote.optdb import PatternRule, Rule
from arignote.optdb.patterns import OpLike
from arignote.proving.claims import Instance

MIXED = 40
"""Graphs of mixed dtypes that are tried."""
MOST_CHOICES = 40
"""Combinations of ops that are tried in the places of `op_like`."""


def instances(rule: Rule) -> Iterator[Instance]:
    """The instances of a rule, the plainest first; the same in every run."""
    rng = np.random.default_rng(zlib.crc32(rule.name.encode()))
    met: set[str] = set()
    for output in _outputs(rule, rng):
        try:
            made = output()
            before = graph_of(made) if getattr(made, "owner", None) is not None else None
        except UNWRITABLE:
            continue
        if before is None:
            continue
        key = f"{before}{[(v.name, v.type) for v in before.inputs]}"
        if key in met:
            continue
        met.add(key)
        after = rewritten(before, rule)
        if after is not before:
            yield Instance(before, after)


def _outputs(rule: Rule, rng: np.random.Generator) -> Iterator[Any]:
    """Functions that make the outputs to try."""
    for example in EXAMPLES.get(rule.name, []):
        yield lambda example=example: example
    if isinstance(rule, PatternRule):
        likes = list(
            {p.op.name: p.op for p in rule.pattern.walk() if isinstance(getattr(p, "op", None), OpLike)}.values()
        )
        fitting = [[op for op in CANDIDATES if like.accepts(op) and getattr(op, "arity", None) != 3] for like in likes]
        choices = list(itertools.islice(itertools.product(*fitting), MOST_CHOICES))
        for dtype, choice, strong in itertools.product(_dtypes(), choices, (False, True)):
            yield lambda d=dtype, c=choice, s=strong: _from_pattern(rule, rng, d, likes, c, s, False)
        for _ in range(MIXED):
            choice = choices[rng.integers(len(choices))]
            dtype = str(rng.choice(DTYPES))
            yield lambda d=dtype, c=choice: _from_pattern(rule, rng, d, likes, c, bool(rng.random() < 0.5), True)
    for example, dtype in itertools.product(EXAMPLES.get(rule.name, []), _dtypes()):
        yield lambda e=example, d=dtype: varied(rng, e, d)


def _dtypes() -> list[str]:
    first = ["float32", "int8", "bool", "uint8", "int64", "complex64", "float64"]
    return [*first, *(d for d in DTYPES if d not in first)]


def _from_pattern(
    rule: PatternRule, rng: np.random.Generator, dtype: str, likes: list[OpLike], choice: Any, strong: bool, mixed: bool
) -> Any:
    maker = Maker(rng, dtype)
    maker.strong, maker.mixed = strong, mixed
    maker.known.update({like.name: op for like, op in zip(likes, choice, strict=True)})
    return maker.build(rule.pattern)
