"""The source of a traced function, rewritten: control flow becomes calls that trace it.

    for i in range(n):          def _ag_body1(_ag_item): nonlocal i, s; i = _ag_item; s = s + x[i]
        s = s + x[i]       -->  _ag.for_(range(n), _ag_body1, ...)

The steps: jumps.py writes `break`, `continue` and `return` as flags, liveness.py says which names a statement must hand
on, and this module writes the calls of statements.py.  Every node keeps its line, so errors and profiles name the
user's.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

from ...graph.collector import gc_paused
from ...record.frames import OWN
from .expressions import Expressions, ag_call, key_of, lambda_of, name_of
from .jumps import without_jumps
from .liveness import ENDS, mark_live, nodes_of, parameters_of, parts_of
from .plainer import as_test, holds_assignment, plainer

_FLOW = (
    ast.For, ast.While, ast.If, ast.IfExp, ast.BoolOp, ast.AugAssign, ast.comprehension, ast.Subscript, ast.Call,
    ast.Compare, ast.UnaryOp, ast.Assert, ast.Raise, ast.Try, ast.Match,
)  # fmt: skip
_BEYOND = {ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor}
"""Nodes of generators and coroutines, which stay as they are."""
_SCOPES = frozenset((ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.Assert, ast.Raise))
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.MatMult: "matmul",
}  # fmt: skip
@lru_cache(maxsize=4096)
def rewritten(code: CodeType) -> CodeType | None:
    """Return the code of a function with its control flow as calls; None without flow or source, and for ours."""
    with gc_paused:
        return _rewritten(code)


def _rewritten(code: CodeType) -> CodeType | None:
    tree = None if OWN[code.co_filename] else tree_of(code)
    if tree is None:
        return None
    lambdas = isinstance(tree, ast.Lambda)
    nodes = nodes_of(tree)
    kinds = {type(node) for node in nodes}
    if kinds & _BEYOND:
        inner = (n for n in nodes[1:] if isinstance(n, ast.FunctionDef) and _is_generator(n))
        skipped = {id(part) for n in inner for part in nodes_of(n)}
        kinds = {type(node) for node in nodes if id(node) not in skipped}
    if kinds.isdisjoint(_FLOW) or kinds & _BEYOND or (ast.NamedExpr in kinds and holds_assignment(tree)):
        return None
    body: Any = tree
    if lambdas:
        body = ast.FunctionDef("_ag_lambda", tree.args, [ast.copy_location(ast.Return(tree.body), tree)], [])  # type: ignore[attr-defined]
        ast.copy_location(body, tree)
    body.decorator_list = []
    _Function(body, set(code.co_freevars), ast.NamedExpr in kinds, nodes).write()
    names = {n: getattr(code, n) for n in ("co_name", "co_qualname") if hasattr(code, n)}
    return code_of(body, code).replace(**names)


def _is_generator(function: ast.FunctionDef) -> bool:
    """Whether a function, or one inside it, is a generator or a coroutine; it stays as it is."""
    return any(type(n) in _BEYOND for n in nodes_of(function))


def code_of(body: Any, like: CodeType, more: Iterable[str] = ()) -> CodeType:
    """Return the code of a function in the file of `like`, with its outer variables and `more` of them."""
    if "type_params" in body._fields and not hasattr(body, "type_params"):
        body.type_params = []
    body.name = "_ag_function"  # a recursive function reads its own name as a global, or from outside
    body.args.defaults = [ast.Constant(None) for _ in body.args.defaults]  # the function object keeps its own
    body.args.kw_defaults = [d and ast.Constant(None) for d in body.args.kw_defaults]
    outer = ast.parse(f"def _ag_outer({', '.join([*more, *like.co_freevars])}):\n    pass")
    outer.body[0].body = [body]  # type: ignore[attr-defined]
    _give_lines(body)
    return _inner(_inner(compile(outer, like.co_filename, "exec"), "_ag_outer"), body.name)


def _give_lines(root: Any) -> None:
    """Give nodes without a line those of the node around them; faster than `ast.fix_missing_locations`."""
    waiting: list[Any] = [(root, (1, 0, 1, 0))]
    while waiting:
        node, place = waiting.pop()
        if "lineno" in node._attributes:
            own = node.__dict__
            if "lineno" in own:
                line, column = own["lineno"], own["col_offset"]
                place = line, column, own.get("end_lineno") or line, own.get("end_col_offset") or column
            if "lineno" not in own or own.get("end_col_offset") is None:  # `copy_location` copies a None
                node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = place
        if type(node) not in ENDS:
            waiting += [(n, place) for n in parts_of(node)]


def _inner(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


_given: WeakKeyDictionary[CodeType, Any] = WeakKeyDictionary()


def give_tree(code: CodeType, tree: Any) -> None:
    """Say what the syntax of a function is that no file has."""
    _given[code] = tree


def tree_of(code: CodeType) -> Any:
    """Return the syntax of a function with the lines of its file; None if there is no source."""
    if code in _given:
        return copy.deepcopy(_given[code])
    if code.co_name == "<lambda>":
        return _lambda_of(code)
    for lines_of in (_lines_by_code, inspect.getsourcelines):
        try:
            lines, first = lines_of(code)
            tree = ast.parse("\n" * (first - 1) + textwrap.dedent("".join(lines)))
        except (OSError, TypeError, IndexError, ValueError, SyntaxError):
            continue
        return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == code.co_name), None)
    return None


def _lines_by_code(code: CodeType) -> tuple[list[str], int]:
    """Return the lines of a function up to the last one that has an instruction.

    `inspect` looks at all modules, and reads the lines word by word.  Raises ValueError where instructions have no
    places (Python 3.10), and for a file without lines.
    """
    lines, first = _lines_of_file(code), code.co_firstlineno - 1
    if not hasattr(code, "co_positions") or len(lines) <= first:
        raise ValueError("no lines")
    last, waiting = code.co_firstlineno, [code]
    while waiting:
        one = waiting.pop()
        last = max(last, *(end or 0 for _, end, _, _ in one.co_positions()))
        waiting += [c for c in one.co_consts if isinstance(c, CodeType)]
    return lines[first:last], first + 1


def _lines_of_file(code: CodeType) -> list[str]:
    """Return the lines of the file of a function, as it is now."""
    linecache.checkcache(code.co_filename)
    return linecache.getlines(code.co_filename)


def _lambda_of(code: CodeType) -> Any:
    """Return the syntax of a lambda, which its place in the file tells from others in its line."""
    try:
        lines = _lines_of_file(code) or inspect.findsource(code)[0]
    except (OSError, TypeError, IndexError):
        return None
    found = [n for n in _lambdas("".join(lines)) if n.lineno == code.co_firstlineno and _is_at(n, code)]
    return copy.deepcopy(min(found, key=_span)) if found else None


def _is_at(node: Any, code: CodeType) -> bool:
    """Whether a lambda is where the code says; without places of instructions (Python 3.10), if it has the names."""
    own = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    if tuple(own) != code.co_varnames[: len(own)]:
        return False
    if not hasattr(code, "co_positions"):
        return True
    exact = [(a, c) for a, b, c, d in code.co_positions() if None not in (a, c) and (a, c) != (b, d)]
    first, last = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return not exact or (min(exact) >= first and max(exact) < last)


def _span(node: Any) -> tuple[int, int]:
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


@lru_cache(maxsize=16)
def _lambdas(text: str) -> tuple[Any, ...]:
    """Return the lambdas of a file."""
    try:
        return tuple(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Lambda))
    except SyntaxError:
        return ()


# --- writing


def _def(name: str, parameters: list[str], body: list[ast.stmt], outer: list[str]) -> ast.FunctionDef:
    declared: list[ast.stmt] = [ast.Nonlocal(list(outer))] if outer else []
    args = ast.arguments(
        posonlyargs=[], args=[ast.arg(p) for p in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    made_def: Any = ast.FunctionDef(name, args, [*declared, *(body or [ast.Pass()])], [])
    if hasattr(made_def, "type_params") or "type_params" in ast.FunctionDef._fields:
        made_def.type_params = []
    return made_def  # type: ignore[no-any-return]


class _Function:
    """One function in the making; functions inside it are written by their own."""

    def __init__(self, node: Any, free: set[str], assigns: bool, nodes: list[Any]) -> None:
        """`nodes`: those of the function."""
        self.node, self.count = node, 0
        self.has_scopes: bool = any(type(n) in _SCOPES for n in nodes[1:])
        """Whether there are functions inside, those that plainer.py makes among them."""
        self.assigns = assigns
        """Whether an expression may assign."""
        self.writes = any(
            isinstance(n, ast.AugAssign) or (isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
            for n in nodes
        )
        """Whether it writes to parts of arrays, or by an operator such as `+=`."""
        self.outer = {name for s in nodes if isinstance(s, ast.Nonlocal) for name in s.names}
        self.parameters = set(parameters_of(node))
        declared = {name for s in nodes if isinstance(s, ast.Global) for name in s.names} | self.outer
        self.foreign = declared | (free - self.parameters)
        self.flows = any(isinstance(n, (ast.For, ast.While, ast.If, ast.Match)) for n in nodes)
        self.locals: set[str] = set()
        """The names that are assigned, parameters among them."""
        inner = (s for n in nodes[1:] if isinstance(n, ast.FunctionDef) for s in nodes_of(n))
        self.shared: set[str] = {name for s in inner if isinstance(s, ast.Nonlocal) for name in s.names}
        """The names that functions inside assign, of this function and of those around it."""

    def write(self) -> None:
        node = self.node
        docstring = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = without_jumps(plainer(node.body[len(docstring) :], self.assigns))
        assigned = mark_live(body, self.has_scopes)
        self.locals = {*assigned, *self.parameters}
        first: list[ast.stmt] = []
        if self.flows:
            first = [
                ast.copy_location(ast.Assign([name_of(n, True)], ag_call("Undefined", ast.Constant(n))), node)
                for n in assigned if n not in self.parameters and n not in self.foreign
            ]
        self.shared &= self.locals - self.foreign
        for word, names in (("owns", self.shared), ("assigns", self.outer)):
            first += [ast.copy_location(ast.Expr(ag_call(word, lambda_of(name_of(n)))), node) for n in sorted(names)]
        node.body = [*docstring, *first, *self.statements(body)]

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for s in body:
            made_here = self.statement(s)
            found += [ast.copy_location(one, s) for one in made_here]
        return found

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        kind = type(s)
        if kind in (ast.If, ast.For, ast.While):
            return getattr(self, f"_{kind.__name__.lower()}")(s)  # type: ignore[no-any-return]
        if isinstance(s, ast.ClassDef) or (isinstance(s, ast.FunctionDef) and _is_generator(s)):
            return [s]
        if isinstance(s, ast.FunctionDef):
            s.args.defaults = [self.value(d) for d in s.args.defaults]
            _Function(s, self.foreign | self.parameters, self.assigns, nodes_of(s)).write()
            return [s]
        if isinstance(s, ast.AugAssign):
            return self._augmented(s)
        if isinstance(s, ast.AnnAssign) and s.simple:  # a name of an outer function takes no annotation
            name = ast.Name(s.target.id, ast.Store())  # type: ignore[union-attr]
            return self._assigned(ast.Assign([name], s.value)) if s.value is not None else [ast.Pass()]
        if isinstance(s, ast.Raise) and s.exc is not None:
            error = lambda_of(self.value(s.exc))
            if s.cause is None:
                return [ast.Expr(ag_call("fail", error))]
            s.exc = ag_call("showing", error)
            return [s]
        if isinstance(s, ast.Assign):
            return self._assigned(s)
        return self._try(s) if isinstance(s, ast.Try) and s.handlers else self._by_fields(s)

    def _by_fields(self, s: ast.stmt) -> list[ast.stmt]:
        """Return a statement that stays one, with its expressions and blocks rewritten."""
        for name, field in ast.iter_fields(s):
            if isinstance(field, list) and field and isinstance(field[0], ast.stmt):
                setattr(s, name, self.statements(field))
            elif isinstance(field, ast.expr) and not isinstance(getattr(field, "ctx", None), (ast.Store, ast.Del)):
                setattr(s, name, self.value(field))
            elif isinstance(field, list):
                for item in field:
                    if isinstance(item, ast.withitem):
                        item.context_expr = self.value(item.context_expr)
                    elif isinstance(item, ast.match_case):
                        item.guard, item.body = self.value(item.guard), self.statements(item.body)
        return [s]

    def _try(self, s: ast.Try) -> list[ast.stmt]:
        """Return a `try` that says what it catches, and whose handlers look at the error."""
        types = [h.type if h.type is not None else ast.Name("Exception", ast.Load()) for h in s.handlers]
        parts = [t.elts if isinstance(t, ast.Tuple) else [t] for t in types]
        kinds = ast.Tuple([copy.deepcopy(t) for several in parts for t in several], ast.Load())
        first = ast.copy_location(ast.Expr(ag_call("trying", lambda_of(kinds))), s)
        s.body = [first, *self.statements(s.body)]
        for h in s.handlers:
            h.name = h.name or self._new("error")
            h.body = [ast.copy_location(ast.Expr(ag_call("caught", name_of(h.name))), h), *self.statements(h.body)]
        s.orelse, s.finalbody = self.statements(s.orelse), self.statements(s.finalbody)
        return [s]

    def value(self, e: Any) -> Any:
        return None if e is None else Expressions(self.writes).visit(e)

    # --- assignments
    def _assigned(self, s: ast.Assign) -> list[ast.stmt]:
        s.value = self.value(s.value)
        plain = all(not isinstance(n, (ast.Subscript, ast.Attribute)) for t in s.targets for n in nodes_of(t))
        if plain:
            return [s]
        if len(s.targets) == 1 and isinstance(s.targets[0], (ast.Subscript, ast.Attribute)):
            return [self._into(s.targets[0], s.value)]
        word = self._new("value")
        found: list[ast.stmt] = [ast.Assign([name_of(word, True)], s.value)]
        for t in s.targets:
            found += self._unpacked(t, name_of(word))
        return found

    def _unpacked(self, target: Any, value: ast.expr) -> list[ast.stmt]:
        """Return the assignments of a value to a target, parts of arrays among them."""
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            return [self._into(target, value)]
        if isinstance(target, (ast.Tuple, ast.List)):
            words = [self._new("part") for _ in target.elts]
            parts: list[Any] = [
                ast.Starred(name_of(w, True), ast.Store()) if isinstance(t, ast.Starred) else name_of(w, True)
                for w, t in zip(words, target.elts, strict=True)
            ]
            found: list[ast.stmt] = [ast.Assign([ast.Tuple(parts, ast.Store())], value)]
            for w, t in zip(words, target.elts, strict=True):
                found += self._unpacked(t.value if isinstance(t, ast.Starred) else t, name_of(w))
            return found
        return [ast.Assign([target], value)]

    def _into(self, target: Any, value: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Attribute):
            return ast.Expr(ag_call("set_attribute", self.value(target.value), ast.Constant(target.attr), value))
        return ast.Expr(ag_call("set_item", self.value(target.value), key_of(self.value(target.slice)), value))

    def _augmented(self, s: ast.AugAssign) -> list[ast.stmt]:
        value, word = self.value(s.value), ast.Constant(_OPERATORS[type(s.op)])
        t: Any = s.target
        if isinstance(t, ast.Name) and isinstance(s.op, ast.Add):
            return [ast.Assign([t], ag_call("added", name_of(t.id), value))]
        if isinstance(t, ast.Name):
            s.value = value
            return [s]
        if isinstance(t, ast.Subscript):
            return [ast.Expr(ag_call("change_item", self.value(t.value), key_of(self.value(t.slice)), word, value))]
        return [ast.Expr(ag_call("change_attribute", self.value(t.value), ast.Constant(t.attr), word, value))]

    # --- control flow
    def _new(self, word: str) -> str:
        self.count += 1
        return f"_ag_{word}{self.count}"

    def _state(self, names: list[str], kept: Sequence[str] = ()) -> tuple[list[ast.stmt], list[ast.expr]]:
        """Return the functions that read and set some variables and then `kept`, and the arguments that hand them over.

        `kept` have no reader after the statement.
        """
        get, put = self._new("get"), self._new("set")
        every = [*names, *kept]
        values = ast.Tuple([name_of(n) for n in every], ast.Load())
        targets = ast.Tuple([name_of(n, True) for n in every], ast.Store())
        reader = _def(get, [], [ast.Return(values)], [])
        body: list[ast.stmt] = [ast.Assign([targets], name_of("_ag_values"))] if every else []
        writer = _def(put, ["_ag_values"], body, every)
        shown = ast.Tuple([ast.Constant(n) for n in names], ast.Load())
        return [reader, writer], [shown, name_of(get), name_of(put)]

    def _if(self, s: ast.If) -> list[ast.stmt]:
        live = s._live  # type: ignore[attr-defined]
        own = self._own(s)
        names = [n for n in own if n in live]
        test = self.value(as_test(s.test))
        then, other = self._new("then"), self._new("else")
        # Each branch begins with the values from before it, which the other one may assign.
        defs, state = self._state(names, [n for n in own if n not in live and n in s._reads])  # type: ignore[attr-defined]
        self._see(s, defs, state)
        return [
            _def(then, [], self.statements(s.body), own), _def(other, [], self.statements(s.orelse), own), *defs,
            ast.Expr(ag_call("if_", test, name_of(then), name_of(other), *state)),
        ]  # fmt: skip

    def _own(self, s: ast.stmt) -> list[str]:
        """Return the names that a statement assigns, or functions that it may call; not those of this module."""
        own = [n for n in s._assigned if n not in self.foreign or n in self.outer]  # type: ignore[attr-defined]
        calls = self.shared and any(isinstance(n, ast.Call) for n in nodes_of(s))
        return [*own, *(n for n in sorted(self.shared) if n not in own)] if calls else own

    def _loop(self, s: Any) -> tuple[list[str], list[ast.stmt], list[ast.expr]]:
        own = self._own(s)
        defs, state = self._state([n for n in own if n in s._live])
        self._see(s, defs, state)
        return own, defs, state

    def _see(self, s: Any, defs: list[ast.stmt], state: list[ast.expr]) -> None:
        """Add a function that gives the values that a statement reads."""
        seen = self._new("seen")
        known = [n for n in s._reads if n in self.parameters or (n in self.locals and n not in self.foreign)]
        defs.append(_def(seen, [], [ast.Return(ast.Tuple([name_of(n) for n in known], ast.Load()))], []))
        state.append(name_of(seen))

    def _stop(self, s: Any) -> ast.expr:
        return lambda_of(ag_call("any_of", *(name_of(f) for f in s._flags))) if s._flags else ast.Constant(None)

    def _for(self, s: ast.For) -> list[ast.stmt]:
        own, defs, state = self._loop(s)
        items = self.value(s.iter)
        body = self._new("body")
        given = ast.Assign([s.target], name_of("_ag_item"))
        ast.copy_location(given, s)
        inside = self.statements([given, *s.body])
        return [
            _def(body, ["_ag_item"], inside, own), *defs,
            ast.Expr(ag_call("for_", items, name_of(body), self._stop(s), *state)),
        ]  # fmt: skip

    def _while(self, s: ast.While) -> list[ast.stmt]:
        own, defs, state = self._loop(s)
        test = lambda_of(self.value(as_test(s.test)))
        body = self._new("body")
        return [
            _def(body, [], self.statements(s.body), own), *defs,
            ast.Expr(ag_call("while_", test, name_of(body), self._stop(s), *state)),
        ]  # fmt: skip
