"""Expressions of a traced function, rewritten: calls, choices, truth values, comparisons and displays become calls.

    f(x) if a and b else [*c, 1]   -->   _ag.choice(_ag.and_(...), lambda: _ag.call(f, x), lambda: _ag.spliced(...))
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from .liveness import ENDS, nodes_of
from .plainer import NEW, as_test

AG = "_ag"
"""The name of the module statements.py in a rewritten function."""
_KEYS = ast.Name, ast.Call, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Slice, ast.Attribute, ast.Subscript
"""Keys with which a list may be asked for an item."""
_PLAIN_CALLS = frozenset(("super", "locals", "globals", "vars", "eval", "exec", "dir", "isinstance"))
_SPEAKING = frozenset(("warnings", "logging", "logger", "log", "LOG", "LOGGER", "_logger"))
"""Names whose methods make texts for people, as `print` does."""
_COMPARISONS = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is_", ast.IsNot: "is_not",
}  # fmt: skip


def name_of(word: str, store: bool = False) -> ast.Name:
    """Return a name that is read, or stored to."""
    return ast.Name(word, ast.Store() if store else ast.Load())


def ag_call(function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """Return a call of a function of statements.py."""
    return ast.Call(
        ast.Attribute(name_of(AG), function, ast.Load()), list(args), [ast.keyword(k, v) for k, v in keywords.items()]
    )


def lambda_of(body: ast.expr, *parameters: str) -> ast.Lambda:
    """Return a function that gives an expression."""
    own = [ast.arg(p) for p in parameters]
    return ast.Lambda(ast.arguments(posonlyargs=[], args=own, kwonlyargs=[], kw_defaults=[], defaults=[]), body)


def key_of(key: Any) -> ast.expr:
    """Return an index as a value: slices by the builtin."""
    if isinstance(key, ast.Slice):
        return ag_call("slice", *(ast.Constant(None) if b is None else b for b in (key.lower, key.upper, key.step)))
    if isinstance(key, ast.Tuple):
        return ast.Tuple([key_of(k) for k in key.elts], ast.Load())
    return key  # type: ignore[no-any-return]


class Expressions(ast.NodeTransformer):
    """Calls, choices and truth values of expressions as calls of statements.py."""

    def __init__(self, writes: bool) -> None:
        self.word = "call_writing" if writes else "call"

    def visit(self, node: Any) -> Any:
        kind = type(node)
        if kind in ENDS:
            return node
        method = getattr(self, f"visit_{kind.__name__}", None)
        return self.generic_visit(node) if method is None else method(node)

    def generic_visit(self, node: Any) -> Any:
        for name in node._fields:
            part = getattr(node, name, None)
            if type(part) is list:
                part[:] = [self.visit(p) if isinstance(p, ast.AST) else p for p in part]
            elif isinstance(part, ast.AST) and type(part) not in ENDS:
                setattr(node, name, self.visit(part))
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        plain = isinstance(node.func, ast.Name) and (node.func.id in _PLAIN_CALLS or node.func.id.startswith("_ag"))
        if not plain and node.args and _is_simple(node.args[0]):
            return self._consumed(node, node.args[0])
        self.generic_visit(node)
        if _speaks(node.func) and not any(isinstance(n, ast.NamedExpr) for n in nodes_of(node)):
            return ast.copy_location(ag_call("showing", lambda_of(node)), node)
        if plain or (isinstance(node.func, ast.Attribute) and _is_ag(node.func.value)):
            return node
        return ast.copy_location(_ag_call(node, self.word), node)

    def _consumed(self, node: ast.Call, items: Any) -> ast.expr:
        """Return the call of a function with a generator or a list that only this call has."""
        again = ast.Attribute(name_of(AG), self.word, ast.Load())
        word = "consumed" if isinstance(items, ast.GeneratorExp) else "consumed_list"
        node.args = [again, node.func, *self._loops(items), *[self.visit(a) for a in node.args[1:]]]
        node.func = ast.Attribute(name_of(AG), word, ast.Load())
        for k in node.keywords:
            k.value = self.visit(k.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        node.keys = [k if k is None or isinstance(k, ast.Constant) else ag_call("hashed", k) for k in node.keys]
        return node

    def visit_Set(self, node: ast.Set) -> Any:
        self.generic_visit(node)
        node.elts = [e if isinstance(e, (ast.Constant, ast.Starred)) else ag_call("hashed", e) for e in node.elts]
        return node

    def visit_List(self, node: ast.List) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not any(isinstance(e, ast.Starred) for e in node.elts):
            return node
        parts = [e.value if isinstance(e, ast.Starred) else ast.List([e], ast.Load()) for e in node.elts]
        return ast.copy_location(ag_call("spliced", *parts), node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """Return a list of one loop by its test and its item as functions of what the loop gives."""
        if not _is_simple(node):
            return self.generic_visit(node)
        if len(node.generators) > 1:
            return ast.copy_location(ag_call("collected", *self._loops(node)), node)
        loop = node.generators[0]
        tests = loop.ifs if len(loop.ifs) < 2 else [ast.BoolOp(ast.And(), loop.ifs)]
        test = _of_item(loop.target, self.visit(tests[0])) if tests else ast.Constant(None)
        items = self.visit(loop.iter)
        return ast.copy_location(ag_call("listed", items, test, _of_item(loop.target, self.visit(node.elt))), node)

    def _loops(self, node: ast.GeneratorExp | ast.ListComp) -> tuple[ast.expr, ast.expr]:
        """Return Python's generator, of loops of at most `_ag_most` steps, and the loops of a fold, as functions."""
        plain = self._plain(copy.deepcopy(node))
        row = self._loops(copy.deepcopy(node.elt)) if _is_row(node.elt) else None  # type: ignore[arg-type]
        item = self.visit(node.elt)
        body: ast.expr = _of_fold("emit", item if row is None else _of_fold("row", *row, lambda_of(item)))
        for loop in reversed(node.generators):
            if loop.ifs:
                test = self.visit(loop.ifs[0] if len(loop.ifs) == 1 else ast.BoolOp(ast.And(), loop.ifs))
                body = _of_fold("when", test, lambda_of(body))
            body = _of_fold("each", self.visit(loop.iter), _of_item(loop.target, body))
        return lambda_of(ast.copy_location(plain, node), "_ag_most"), lambda_of(body, "_ag_fold")

    def _plain(self, node: Any) -> ast.expr:
        """Return Python's generator or list, of loops of at most `_ag_most` steps."""
        row = self._plain(node.elt) if _is_row(node.elt) else None
        if row is not None:
            node.elt = ast.Constant(None)
        self.generic_visit(node)
        node.elt = node.elt if row is None else row
        for loop in node.generators:
            loop.iter.args.append(name_of("_ag_most"))
        return node  # type: ignore[no-any-return]

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        self.generic_visit(node)
        node.key = ag_call("hashed", node.key)
        return node

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        self.generic_visit(node)
        node.elt = ag_call("hashed", node.elt)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and isinstance(node.slice, _KEYS):
            return ast.copy_location(ag_call("item", node.value, key_of(node.slice)), node)
        joins = isinstance(node.value, ast.Attribute) and node.value.attr in ("r_", "c_", "mgrid", "ogrid")
        return ast.copy_location(ag_call("joined", node.value, key_of(node.slice)), node) if joins else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        is_new = ast.Constant(all(isinstance(v, NEW) for v in (node.body, node.orelse)))
        as_test(node.test)
        self.generic_visit(node)
        sides = lambda_of(node.body), lambda_of(node.orelse)
        return ast.copy_location(ag_call("choice", node.test, *sides, is_new), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        values = [ag_call("has_items", v) if getattr(node, "_is_test", False) else v for v in node.values]
        word = "and_" if isinstance(node.op, ast.And) else "or_"
        return ast.copy_location(ag_call(word, values[0], *map(lambda_of, values[1:])), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ag_call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        joins = _may_join(node)
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return ast.copy_location(ag_call("written", node.left, node.right), node)
        return ast.copy_location(ag_call("plus", node.left, node.right), node) if joins else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        plain = len(node.ops) == 1 and not isinstance(node.ops[0], (ast.In, ast.NotIn))
        if plain:
            sides, word = (node.left, node.comparators[0]), _COMPARISONS[type(node.ops[0])]
            if word in ("is_", "is_not") or any(isinstance(s, (ast.Constant, ast.BinOp, ast.UnaryOp)) for s in sides):
                return node
            return ast.copy_location(ag_call("compared", ast.Constant(word), *sides), node)
        words = ast.Tuple([ast.Constant(_COMPARISONS[type(op)]) for op in node.ops], ast.Load())
        return ast.copy_location(ag_call("compare", words, node.left, *map(lambda_of, node.comparators)), node)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        self.generic_visit(node)
        node.iter = ag_call("items", node.iter)
        node.ifs = [ag_call("kept", test) for test in node.ifs]
        return node


def _may_join(e: ast.expr) -> bool:
    """Whether an expression may be the sum of two lists."""
    if not isinstance(e, ast.BinOp) or not isinstance(e.op, ast.Add):
        return False
    sides = e.left, e.right
    return all(isinstance(s, ast.Name) for s in sides) or any(_may_be_list(s) or _may_join(s) for s in sides)


def _may_be_list(e: ast.expr) -> bool:
    if isinstance(e, ast.Call):
        return isinstance(e.func, ast.Name) and e.func.id in ("list", "sorted")
    return isinstance(e, (ast.List, ast.ListComp)) or (isinstance(e, ast.Subscript) and isinstance(e.slice, ast.Slice))


def _of_item(target: ast.expr, value: ast.expr) -> ast.Lambda:
    """Return a function of one item of a loop, which has the scope of a comprehension."""
    one = ast.Tuple([name_of("_ag_item")], ast.Load())
    inside = ast.ListComp(value, [ast.comprehension(target, one, [], 0)])
    return lambda_of(ast.Subscript(inside, ast.Constant(0), ast.Load()), "_ag_item")


def _of_fold(method: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(name_of("_ag_fold"), method, ast.Load()), list(args), [])


def _is_simple(node: ast.expr) -> bool:
    """Whether it is a generator or a list comprehension whose parts can be functions."""
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or any(loop.is_async for loop in node.generators):
        return False
    return not any(isinstance(n, (ast.NamedExpr, ast.Await)) for n in nodes_of(node))


def _is_row(node: ast.expr) -> bool:
    """Whether an item of a comprehension is a list comprehension of one loop without a test."""
    if not isinstance(node, ast.ListComp) or len(node.generators) > 1:
        return False
    return _is_simple(node) and not node.generators[0].ifs


def _speaks(function: ast.expr) -> bool:
    """Whether a call makes texts for people alone."""
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id in _SPEAKING
    return isinstance(function, ast.Name) and function.id == "print"


def _is_ag(e: ast.expr) -> bool:
    return isinstance(e, ast.Name) and e.id == AG


def _ag_call(node: ast.Call, word: str) -> ast.Call:
    return ast.Call(ast.Attribute(name_of(AG), word, ast.Load()), [node.func, *node.args], node.keywords)
