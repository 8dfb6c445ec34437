"""`match` as branches, where its patterns compare values and take sequences to pieces.

    match f(x):                     _ag_subject = f(x)
        case 0: a                   if _ag_subject == 0: a
        case 1 | 2: b         -->   elif _ag_subject == 1 or _ag_subject == 2: b
        case (n, _) if n > 3: c     elif _ag.is_sequence(_ag_subject, 2) and _ag_subject[0] > 3: n = _ag_subject[0]; c

Patterns of classes and mappings ask for what no array has, and names in alternatives have a place in each of them; a
`match` with one of these stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

_BEYOND = (ast.MatchClass, ast.MatchMapping)


def as_branches(s: ast.Match) -> list[ast.stmt] | None:
    """Return the statements that stand for a `match`; None for one that stays as it is."""
    if any(_stays(n) for case in s.cases for n in ast.walk(case.pattern)):
        return None
    name = f"_ag_subject{s.lineno}_{s.col_offset}"
    subject = ast.Name(name, ast.Load())
    rest: list[ast.stmt] = []
    for case in reversed(s.cases):
        found = _Pattern()
        found.add(case.pattern, subject)
        if case.guard is not None:
            found.tests.append(_Values(found.names).visit(copy.deepcopy(case.guard)))
        named: list[ast.stmt] = [ast.Assign([ast.Name(n, ast.Store())], value) for n, value in found.names.items()]
        body = [*(ast.copy_location(one, case.pattern) for one in named), *case.body]
        rest = [ast.copy_location(ast.If(_all_of(found.tests), body, rest), case.pattern)] if found.tests else body
    first = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], s.subject), s)
    return [first, *rest]


def _stays(pattern: ast.AST) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(getattr(n, "name", None) is not None for n in ast.walk(pattern))
    return isinstance(pattern, _BEYOND)


class _Pattern:
    """The tests of a pattern, and the values of the names that it gives."""

    def __init__(self) -> None:
        self.tests: list[ast.expr] = []
        self.names: dict[str, ast.expr] = {}

    def add(self, pattern: Any, value: ast.expr) -> None:
        """Add the tests and names of a pattern for a value."""
        value = copy.deepcopy(value)  # what is rewritten stands in one place
        if isinstance(pattern, ast.MatchValue):
            self.tests.append(ast.Compare(value, [ast.Eq()], [pattern.value]))
        elif isinstance(pattern, ast.MatchSingleton):
            self.tests.append(ast.Compare(value, [ast.Is()], [ast.Constant(pattern.value)]))
        elif isinstance(pattern, ast.MatchOr):
            self._either(pattern.patterns, value)
        elif isinstance(pattern, ast.MatchSequence):
            self._sequence(pattern.patterns, value)
        else:
            if pattern.pattern is not None:
                self.add(pattern.pattern, value)
            if pattern.name is not None:
                self.names[pattern.name] = copy.deepcopy(value)

    def _either(self, patterns: Sequence[ast.pattern], value: ast.expr) -> None:
        sides = []
        for one in patterns:
            side = _Pattern()
            side.add(one, value)
            sides.append(_all_of(side.tests))
        self.tests.append(ast.BoolOp(ast.Or(), sides))

    def _sequence(self, patterns: Sequence[ast.pattern], value: ast.expr) -> None:
        count = len(patterns)
        star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
        least = count if star is None else count - 1
        test = ast.Attribute(ast.Name("_ag", ast.Load()), "is_sequence", ast.Load())
        asked = [copy.deepcopy(value), ast.Constant(least), ast.Constant(star is not None)]
        self.tests.append(ast.Call(test, asked, []))
        for k, one in enumerate(patterns):
            if k != star:
                place = ast.Constant(k if star is None or k < star else k - count)
                self.add(one, ast.Subscript(value, place, ast.Load()))
            elif one.name is not None:  # type: ignore[attr-defined]
                end = ast.Constant(k + 1 - count or None)
                part = ast.Subscript(copy.deepcopy(value), ast.Slice(ast.Constant(k), end), ast.Load())
                self.names[one.name] = ast.Call(ast.Name("list", ast.Load()), [part], [])  # type: ignore[attr-defined]


def _all_of(tests: Sequence[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests)) if tests else ast.Constant(True)


class _Values(ast.NodeTransformer):
    """Values in the place of the names that a pattern gives; its guard is asked before they are assigned."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self.names: dict[str, ast.expr] = names

    def visit_Name(self, node: ast.Name) -> Any:
        return copy.deepcopy(self.names.get(node.id, node))
