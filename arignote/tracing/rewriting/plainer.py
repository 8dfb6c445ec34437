"""Statements in plainer form: assignments inside expressions become statements, `assert` and `if: raise` calls.

    if (n := f(x)) > 3: ...        -->   n = f(x);  if n > 3: ...
    while (n := f(x)) > 3: ...     -->   while True:  n = f(x);  if not n > 3: break; ...
    if test: raise error           -->   _ag.raise_if(test, lambda: error)
    del x                          -->   x = _ag.Undefined("x")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .matching import as_branches

_CONDITIONAL = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)
"""Expressions whose parts may be computed later, more than once or not at all."""
NEW = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.BinOp, ast.Call, ast.Constant)
"""Expressions whose lists no name has yet."""


def plainer(body: list[ast.stmt], assigns: bool) -> list[ast.stmt]:
    """Return a block in plainer form; functions and classes inside it are left as they are.

    `assigns`: whether an expression may assign.
    """
    found: list[ast.stmt] = []
    for s in body:
        branches = as_branches(s) if isinstance(s, ast.Match) else None
        if branches is not None:
            found += plainer(branches, assigns)
            continue
        for part, name in _blocks(s):
            setattr(part, name, plainer(getattr(part, name), assigns))
        if assigns and isinstance(s, ast.While) and not s.orelse and _assignments(s.test):
            found.append(_endless(s))
            continue
        deleted = _deleted(s) if isinstance(s, ast.Delete) else None
        found += [*(_hoisted(s) if assigns else ()), *(deleted or checked(s) or [s])]
    return found


def _blocks(s: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """Yield the blocks of a statement, each as an object and the attribute that holds it; a definition has none."""
    if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
        return
    for part in [s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())]:
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(part, name, None), list):
                yield part, name


def holds_assignment(tree: ast.AST) -> bool:
    """Whether an assignment stands in an expression where it cannot become a statement before it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        own = [n for part in _expressions(node) for n in ast.walk(part) if isinstance(n, ast.NamedExpr)]
        if len(own) != len(_assignments(node)) or (own and isinstance(node, (ast.For, ast.With, ast.ClassDef))):
            return True
        if own and isinstance(node, ast.While) and node.orelse:
            return True
    return False


def _expressions(s: ast.AST) -> list[ast.AST]:
    """Return the expressions of a statement, but for those of statements inside it."""
    if isinstance(s, ast.expr):
        return [s]
    return [p for p in ast.iter_child_nodes(s) if not isinstance(p, (ast.stmt, ast.ExceptHandler))]


def _assignments(s: ast.AST) -> list[Any]:
    """Return the assignments in the expressions of a statement that certainly happen, in order.

    There are none if something is computed before one of them that it could change.
    """
    found: list[Any] = []
    names: set[str] = set()
    waiting: list[Any] = list(reversed(_expressions(s)))
    while waiting:
        node = waiting.pop()
        if type(node) is tuple:
            found.append(node[0])
        elif isinstance(node, ast.NamedExpr):
            names.add(node.target.id)
            waiting += [(node,), node.value]  # the value first
        elif isinstance(node, _CONDITIONAL):
            if isinstance(node, ast.BoolOp):
                waiting.append(node.values[0])
            elif isinstance(node, ast.IfExp):
                waiting.append(node.test)
        else:
            waiting += reversed(list(ast.iter_child_nodes(node)))
    if not found:
        return []
    parts = [n for part in _expressions(s) for n in ast.walk(part)]
    calls = [n for n in parts if isinstance(n, ast.Call) and not any(n in ast.walk(f.value) for f in found)]
    first = min(((f.lineno, f.col_offset) for f in found), default=(0, 0))
    early = [n for n in calls if (n.end_lineno or 0, n.end_col_offset or 0) <= first]
    read = [n for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names
            and (n.lineno, n.col_offset) < first]  # fmt: skip
    return [] if early or read else found


def _hoisted(s: ast.stmt) -> list[ast.stmt]:
    """Return the assignments of a statement as statements before it; it reads their names then."""
    found = _assignments(s)
    if not found:
        return []
    statements: list[ast.stmt] = [
        ast.copy_location(ast.Assign([ast.Name(f.target.id, ast.Store())], f.value), f) for f in found
    ]
    _Named(found).visit(s)
    for one in statements:
        _Named(found).visit(one)
    return statements


class _Named(ast.NodeTransformer):
    """Names in the place of assignments."""

    def __init__(self, found: list[Any]) -> None:
        self.found: list[Any] = found

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node) if node in self.found else node


def _endless(s: ast.While) -> ast.stmt:
    """Return a loop whose test assigns as one that tests in its body."""
    test = ast.Expr(s.test)
    ast.copy_location(test, s)
    before = _hoisted(test)
    end = ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), test.value), [ast.Break()], []), s)
    return ast.copy_location(ast.While(ast.Constant(True), [*before, end, *s.body], []), s)  # type: ignore[no-any-return]


def _deleted(s: ast.Delete) -> list[ast.stmt] | None:
    """Return assignments in the place of `del` of names; None for one of items or attributes."""
    names = [t.id for t in s.targets if isinstance(t, ast.Name)]
    if len(names) < len(s.targets):
        return None
    undefined = ast.Attribute(ast.Name("_ag", ast.Load()), "Undefined", ast.Load())
    return [
        ast.copy_location(ast.Assign([ast.Name(n, ast.Store())], ast.Call(undefined, [ast.Constant(n)], [])), s)
        for n in names
    ]


def checked(s: Any) -> list[ast.stmt] | None:
    """Return a statement that checks as a call, and what it does otherwise; None for other statements."""
    if isinstance(s, ast.Assert):
        return [_check("require", s.test, s.msg if s.msg is not None else ast.Constant(""), s)]
    if not isinstance(s, ast.If):
        return None
    error = _error_of(s.body)
    if error is not None:
        return [_check("raise_if", s.test, error, s), *s.orelse]
    error = _error_of(s.orelse)
    if error is not None:
        return [_check("raise_if", ast.copy_location(ast.UnaryOp(ast.Not(), s.test), s.test), error, s), *s.body]
    return None


def _error_of(body: list[ast.stmt]) -> ast.expr | None:
    """Return what a block raises that does nothing else but name texts for it; None for other blocks."""
    if not body or not isinstance(body[-1], ast.Raise) or body[-1].exc is None or body[-1].cause is not None:
        return None
    texts: dict[str, ast.expr] = {}
    for s in body[:-1]:
        is_text = isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
        if not is_text or not isinstance(s.value, (ast.Constant, ast.JoinedStr)):  # type: ignore[attr-defined]
            return None
        texts[s.targets[0].id] = s.value  # type: ignore[attr-defined]
    return _Texts(texts).visit(body[-1].exc)  # type: ignore[no-any-return]


class _Texts(ast.NodeTransformer):
    """Texts in the place of their names."""

    def __init__(self, texts: dict[str, ast.expr]) -> None:
        self.texts: dict[str, ast.expr] = texts

    def visit_Name(self, node: ast.Name) -> Any:
        return self.texts.get(node.id, node)


def _check(word: str, test: ast.expr, error: ast.expr, like: ast.stmt) -> ast.stmt:
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.Attribute(ast.Name("_ag", ast.Load()), word, ast.Load())
    call = ast.Call(function, [test, ast.copy_location(ast.Lambda(none, error), like)], [])
    return ast.copy_location(ast.Expr(call), like)


def as_test(node: Any) -> Any:
    """Return the expression, of which only the truth value counts: operands of `and` and `or` in it are marked."""
    if isinstance(node, ast.BoolOp):
        node._is_test = True  # type: ignore[attr-defined]
        for value in node.values:
            as_test(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        as_test(node.operand)
    return node
