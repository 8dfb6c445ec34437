"""Liveness of names in structured code without jumps: which values a statement must hand on.

A name is live where its value may still be read.  Each `if`, `for` and `while` gets `_live`, the names whose values it
hands on; and `_reads`, the names that it reads.
Source: Aho, Lam, Sethi and Ullman, Compilers, section 9.2.5.
"""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

ENDS = frozenset((
    ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.alias,
    *ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(), *ast.cmpop.__subclasses__(),
    *ast.boolop.__subclasses__(), *ast.expr_context.__subclasses__(),
))  # fmt: skip
"""Nodes without nodes below them, but for contexts."""


def parts_of(node: Any) -> list[Any]:
    """Return the nodes directly below a node, in order, but for contexts; faster than `ast.iter_child_nodes`."""
    found: list[Any] = []
    for name in node._fields:
        part = getattr(node, name, None)
        if type(part) is list:
            found += [n for n in part if isinstance(n, ast.AST)]
        elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
            found.append(part)
    return found


def nodes_of(root: ast.AST) -> list[Any]:
    """Return a node and all those below it but for contexts, from the outside in; faster than `ast.walk`."""
    found: list[Any] = [root]
    for node in found:  # grows meanwhile
        if type(node) not in ENDS:
            found += parts_of(node)
    return found


_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parameters_of(function: Any) -> list[str]:
    """Return the names of the parameters in the syntax of a function."""
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    return [a.arg for a in every]


def assigned_in(body: list[ast.stmt]) -> list[str]:
    """Return the names that statements assign in their own scope, in order."""
    found: dict[str, None] = {}
    waiting: list[Any] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:
                found[node.id] = None
            continue
        if kind in _NAMED:
            found[node.name] = None
            continue
        if kind in ENDS or kind in _CLOSED:
            continue
        if kind is ast.Import or kind is ast.ImportFrom:
            found.update((a.asname or a.name.partition(".")[0], None) for a in node.names)
        elif kind is ast.ExceptHandler and node.name:
            found[node.name] = None
        elif kind in _CAPTURES and (node.rest if kind is ast.MatchMapping else node.name):
            found[node.rest if kind is ast.MatchMapping else node.name] = None
        waiting += reversed(parts_of(node))
    return list(found)


_CAPTURES = frozenset((ast.MatchAs, ast.MatchStar, ast.MatchMapping))
"""Patterns that may assign a name."""
_NAMED = frozenset((ast.FunctionDef, ast.ClassDef))
_CLOSED = frozenset((ast.Lambda, *_COMPREHENSIONS))
"""Expressions with a scope of their own."""


def reads_of(node: Any) -> set[str]:
    """Return the names that an expression or a statement reads, those of functions inside it as well."""
    found = set()
    for n in nodes_of(node):
        kind = type(n)
        if kind is ast.Name:
            if type(n.ctx) is ast.Load:
                found.add(n.id)
        elif kind is ast.AugAssign and type(n.target) is ast.Name:
            found.add(n.target.id)
    return found


def mark_live(body: list[ast.stmt], has_scopes: bool) -> list[str]:
    """Set `_live`, `_reads` and `_assigned` of the statements of a function with blocks; return what it assigns.

    `has_scopes`: whether there may be functions or classes inside.
    """
    captured = _captured(body) if has_scopes else set()
    known: _Known = {}
    _mark(body, captured, captured, known)
    return list(_of_block(body, known).assigns)


def live_before(body: list[ast.stmt], after: set[str]) -> set[str]:
    """Return the names whose values a block needs that it has not assigned itself; `after`: those read after it."""
    captured = _captured(body)
    return _of_block(body, {}).before(after | captured) | captured


def _captured(body: list[ast.stmt]) -> set[str]:
    """Return the names that functions and classes inside a block read, whenever they run."""
    scopes = (node for top in body for node in nodes_of(top) if isinstance(node, _SCOPES))
    return {n for node in scopes for n in reads_of(node)}


class _Block(NamedTuple):
    """Effect of a statement or block on names, whatever is live after it."""

    needs: frozenset[str] = frozenset()
    """The names that it reads before it assigns them."""
    kills: frozenset[str] = frozenset()
    """The names that it assigns in any case."""
    reads: frozenset[str] = frozenset()
    assigns: tuple[str, ...] = ()

    def before(self, after: AbstractSet[str]) -> set[str]:
        """Return the names that are live before it."""
        return (set(after) - self.kills) | self.needs


_Known = dict[int, _Block]


def _of_block(body: list[ast.stmt], known: _Known) -> _Block:
    needs: set[str] = set()
    kills: set[str] = set()
    several = [_of_statement(s, known) for s in body]
    for one in reversed(several):
        needs = (needs - one.kills) | one.needs
        kills |= one.kills
    reads = frozenset(n for one in several for n in one.reads)
    assigns = dict.fromkeys(n for one in several for n in one.assigns)
    return _Block(frozenset(needs), frozenset(kills), reads, tuple(assigns))


def _of_statement(s: ast.stmt, known: _Known) -> _Block:
    """Return what a statement does; `known` keeps the answers."""
    if id(s) not in known:
        known[id(s)] = _found(s, known)
    return known[id(s)]


def _found(s: Any, known: _Known) -> _Block:
    if isinstance(s, ast.If):
        test = frozenset(reads_of(s.test))
        then, other = _of_block(s.body, known), _of_block(s.orelse, known)
        assigns = tuple(dict.fromkeys((*then.assigns, *other.assigns)))
        needs = then.needs | other.needs | test
        return _Block(needs, then.kills & other.kills, then.reads | other.reads | test, assigns)
    if type(s) in (ast.For, ast.While):
        is_for = type(s) is ast.For
        header = frozenset(reads_of(s.iter if is_for else s.test))
        targets = assigned_in([ast.Assign([s.target], ast.Constant(None))]) if is_for else ()
        body, other = _of_block(s.body, known), _of_block(s.orelse, known)
        needs = (body.needs - frozenset(targets)) | header | frozenset(getattr(s, "_flags", ())) | other.needs
        reads = body.reads | header | other.reads | (frozenset(reads_of(s.target)) if is_for else frozenset())
        return _Block(needs, frozenset(), reads, tuple(dict.fromkeys((*targets, *body.assigns, *other.assigns))))
    reads, assigns = _names_of(s)
    kills = frozenset(assigns) if isinstance(s, (ast.Assign, ast.AnnAssign)) else frozenset()
    return _Block(reads, kills, reads, assigns)


def _names_of(s: ast.stmt) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names that a statement without blocks reads, and those that it assigns."""
    reads: set[str] = set()
    assigns: dict[str, None] = {}
    for n in nodes_of(s):
        kind = type(n)
        if kind is ast.Name:
            if type(n.ctx) is ast.Store:
                assigns[n.id] = None
            elif type(n.ctx) is ast.Load:
                reads.add(n.id)
        elif kind is ast.AugAssign and type(n.target) is ast.Name:
            reads.add(n.target.id)
        elif kind in _BINDING:
            return frozenset(reads_of(s)), tuple(assigned_in([s]))
    return frozenset(reads), tuple(assigns)


_BINDING = frozenset((*_NAMED, *_CLOSED, ast.Import, ast.ImportFrom, ast.ExceptHandler, *_CAPTURES))
"""Nodes that assign names in other ways, or have a scope of their own."""


def _mark(body: list[ast.stmt], after: set[str], always: set[str], known: _Known) -> None:
    """Set what the statements of a block hand on, given the names that are live after it."""
    live = set(after)
    for s in reversed(body):
        _mark_one(s, live, always, known)
        live = _of_statement(s, known).before(live)


def _mark_one(statement: ast.stmt, after: set[str], always: set[str], known: _Known) -> None:
    s: Any = statement  # with attributes of ours
    is_loop = type(s) in (ast.For, ast.While)
    if is_loop or type(s) is ast.If:
        block = _of_statement(s, known)
        s._reads, s._assigned = sorted(block.reads), list(block.assigns)
    if isinstance(statement, ast.If):
        s._live = after | always
        _mark(s.body, after, always, known)
        _mark(s.orelse, after, always, known)
    elif is_loop:
        s._flags = getattr(s, "_flags", [])
        targets = set(assigned_in([ast.Assign([s.target], ast.Constant(None))])) if type(s) is ast.For else set()
        test = reads_of(s.test) if type(s) is ast.While else set()
        live = after | (_of_block(s.body, known).needs - targets) | test | set(s._flags)
        s._live = live | always
        _mark(s.body, live, always, known)
    elif type(s) in (ast.With, ast.Try, ast.Match):
        inner = after | _of_statement(s, known).reads
        parts = [s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())]
        for within in (getattr(p, name, ()) for p in parts for name in ("body", "orelse", "finalbody")):
            _mark(list(within), inner, always, known)
