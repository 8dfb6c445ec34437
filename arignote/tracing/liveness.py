"""Liveness of names in structured code without jumps: which values a statement must hand on.

A name is live where its value may still be read.  Each `if`, `for` and `while` gets `_live`, the names whose values it
hands on; and `_reads`, the names that it reads.
Source: Aho, Lam, Sethi and Ullman, Compilers, section 9.2.5.
"""

from __future__ import annotations

import ast
from typing import Any

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def assigned_in(body: list[ast.stmt]) -> list[str]:
    """Return the names that statements assign in their own scope, in order."""
    found: dict[str, None] = {}
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = None
            continue
        if isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name.partition(".")[0], None) for a in node.names)
        if isinstance(node, ast.ExceptHandler) and node.name:
            found[node.name] = None
        waiting += reversed(list(ast.iter_child_nodes(node)))
    return list(found)


def reads_of(node: Any) -> set[str]:
    """Return the names that an expression or a statement reads, those of functions inside it as well."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return found | {n.target.id for n in ast.walk(node)
                    if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}  # fmt: skip


def mark_live(body: list[ast.stmt]) -> None:
    """Set `_live` and `_reads` of the statements of a function."""
    captured: set[str] = set()
    for top in body:
        for node in ast.walk(top):
            if isinstance(node, _SCOPES):
                captured |= reads_of(node)
    _before(body, captured, captured)


def live_before(body: list[ast.stmt], after: set[str]) -> set[str]:
    """Return the names whose values a block needs that it has not assigned itself; `after`: those read after it."""
    captured = {n for top in body for node in ast.walk(top) if isinstance(node, _SCOPES) for n in reads_of(node)}
    return _before(body, after | captured, captured)


def _before(body: list[ast.stmt], after: set[str], always: set[str]) -> set[str]:
    """Return the names that are live before a block, given those after it."""
    live = set(after)
    for s in reversed(body):
        live = _before_one(s, live, always)
    return live


def _before_one(s: ast.stmt, after: set[str], always: set[str]) -> set[str]:
    node: Any = s  # with attributes of ours
    if isinstance(s, ast.If):
        node._live, node._reads = after | always, sorted(reads_of(s))
        then, other = _before(s.body, after, always), _before(s.orelse, after, always)
        return then | other | reads_of(s.test)
    if isinstance(s, (ast.For, ast.While)):
        node._flags = getattr(node, "_flags", [])
        flags = set(node._flags)
        test = reads_of(s.iter) if isinstance(s, ast.For) else reads_of(s.test)
        again = set() if isinstance(s, ast.For) else test
        targets = set(assigned_in([ast.Assign([s.target], ast.Constant(None))])) if isinstance(s, ast.For) else set()
        live = after | flags | again
        while True:
            before = _before(s.body, live, always) - targets
            if before <= live:
                break
            live |= before
        node._live = live | always
        node._reads = sorted(set().union(*(reads_of(b) for b in s.body), test))
        return live | test
    if isinstance(s, (ast.With, ast.Try)):
        inner = set().union(*(reads_of(c) for c in ast.iter_child_nodes(s)))
        _before(s.body, after | inner, always)
        for handler in getattr(s, "handlers", ()):
            _before(handler.body, after | inner, always)
        for part in (getattr(s, "orelse", ()), getattr(s, "finalbody", ())):
            _before(list(part), after | inner, always)
        return after | inner
    killed = set(assigned_in([s])) if isinstance(s, (ast.Assign, ast.AnnAssign)) else set()
    return (after - killed) | reads_of(s)
