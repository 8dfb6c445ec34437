"""Division of a function that cannot be traced as a whole: parts that can are functions of their own, compiled.

    def f(x):                        def f(x):
        y = np.exp(x) * 2                y = part1(x)
        print(y.sum())        -->        print(y.sum())
        return y - y.mean()              return part2(y)

A statement runs in Python if it has effects, jumps out of a block, or cannot be traced; the blocks of such a loop or
branch are divided in turn.  A part takes the variables that it reads and returns those that it assigns.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from types import CellType, FunctionType
from typing import Any

from .effects import Effects
from .rewriting.liveness import assigned_in, live_before, parameters_of, reads_of
from .rewriting.source import code_of, give_tree
from .undefined import Undefined

_PARTS, _UNDEFINED, _RESULT = "_ag_parts", "_ag_undefined", "_ag_returned"
_BLOCKS = ("body", "orelse", "finalbody")
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete)
_WORKS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.For, ast.While, ast.comprehension)


class Division:
    """One division of a function: the statements that run in Python, and the parts."""

    def __init__(self, function: Any, tree: Any, outside: set[int]) -> None:
        self.function: Any = function
        self.tree: Any = tree
        self.outside: set[int] = outside
        """The identities of the statements that run in Python."""
        self.parts: list[Any] = []
        self.parameters: list[str] = parameters_of(tree)
        self.locals: set[str] = {*self.parameters, *assigned_in(tree.body)}
        self.definitions: dict[str, ast.FunctionDef] = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
        self.given: set[str] = set()

    def outside_statements(self) -> list[ast.stmt]:
        """Return the statements that run in Python."""
        return [s for s in _statements(self.tree.body) if id(s) in self.outside]

    def driver(self, wrap: Callable[[Any], Any]) -> Any:
        """Return the function that runs in Python, and calls the parts; `wrap` makes a part of a function."""
        body = self._block(self.tree.body, False)
        first = [
            ast.parse(f"{n} = {_UNDEFINED}({n!r})").body[0] for n in sorted(self.given) if n not in self.parameters
        ]
        node = ast.FunctionDef(self.tree.name, self.tree.args, [*first, *body], [])
        values = {_PARTS: [wrap(part) for part in self.parts], _UNDEFINED: Undefined}
        return compiled(self.function, node, self.tree, values)

    def _block(self, body: Sequence[ast.stmt], repeats: bool) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for s in [*body, None]:
            if s is not None and self._is_inside(s):
                run.append(s)
                continue
            found += self._part(run, repeats)
            run = []
            if s is not None:
                found.append(self._outside(s, repeats))
        return found

    def _is_inside(self, s: ast.stmt) -> bool:
        """Whether a statement may be one of a part."""
        jumps = (ast.Return, ast.Break, ast.Continue, ast.Try, ast.With, *_DEFINITIONS)
        return not any(id(n) in self.outside or isinstance(n, jumps) for n in ast.walk(s))

    def _outside(self, s: ast.stmt, repeats: bool) -> ast.stmt:
        """Return a statement that runs in Python, its blocks divided."""
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            return s
        made = copy.copy(s)
        again = repeats or isinstance(s, (ast.For, ast.While))
        for name in _BLOCKS:
            if getattr(s, name, None):
                setattr(made, name, self._block(getattr(s, name), again))
        if isinstance(s, ast.Try):
            made.handlers = [copy.copy(h) for h in s.handlers]  # type: ignore[attr-defined]
            for h in made.handlers:  # type: ignore[attr-defined]
                h.body = self._block(h.body, again)
        return made

    def _part(self, run: list[ast.stmt], repeats: bool) -> list[ast.stmt]:
        """Return the call of a part; the statements themselves if they compute nothing."""
        if not any(isinstance(n, _WORKS) for s in run for n in ast.walk(s)):
            return run
        own = copy.deepcopy(run)
        used, waiting = {}, [n for s in run for n in reads_of(s)]
        while waiting:
            name = waiting.pop()
            if name in self.definitions and name not in used:
                used[name] = self.definitions[name]
                waiting += reads_of(self.definitions[name])
        own = [*copy.deepcopy([d for d in self.tree.body if d in used.values()]), *own]
        others = self._reads_elsewhere(run) | (live_before(own, set()) if repeats else set())
        results = [n for n in assigned_in(own) if n in others and n not in used]
        given = sorted((live_before(own, set(results)) & self.locals) - set(used))
        self.given.update(given)
        values = ast.Tuple([ast.Name(n, ast.Load()) for n in results], ast.Load())
        args = ast.arguments(
            posonlyargs=[], args=[ast.arg(n) for n in given], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        node = ast.FunctionDef(f"{self.tree.name}_{run[0].lineno}", args, [*own, ast.Return(values)], [])
        self.parts.append(compiled(self.function, node, run[0], {}))
        which = ast.Subscript(ast.Name(_PARTS, ast.Load()), ast.Constant(len(self.parts) - 1), ast.Load())
        call = ast.Call(which, [ast.Name(n, ast.Load()) for n in given], [])
        targets = ast.Tuple([ast.Name(n, ast.Store()) for n in results], ast.Store())
        statement: ast.stmt = ast.Assign([targets], call) if results else ast.Expr(call)
        return [placed(statement, run[0])]

    def _reads_elsewhere(self, run: list[ast.stmt]) -> set[str]:
        """Return the names that the function reads outside of some statements."""
        inside = {id(n) for s in run for n in ast.walk(s)}
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if id(node) not in inside and isinstance(node, (ast.Name, ast.AugAssign)):
                found |= reads_of(node)
        return found


def divided(function: Any, tree: Any, cause: Exception | None) -> Division | None:
    """Return the division of a function that could not be traced because of `cause`; None if it all runs in Python.

    Without a cause the statements with effects decide.
    """
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(tree)):
        return None
    _name_results(tree)
    effects = Effects(function, tree)
    outside = {id(s) for s in _statements(tree.body) if _is_simple(s) and effects.has(s)}
    outside |= {id(s) for s in _statements(tree.body) if isinstance(s, ast.Try)}  # a compiled part ends by an error
    outside |= {id(s) for s in _statements(tree.body) if not _is_simple(s) and any(map(effects.has, _header(s)))}
    if cause is not None:
        culprit = _culprit(tree.body, lines_of(cause, function.__code__.co_filename))
        if culprit is not None:
            outside.add(id(culprit))
        elif not outside:
            working = [s for s in tree.body if any(isinstance(n, _WORKS) for n in ast.walk(s))]
            if len(working) < 2:
                return None
            outside.add(id(working[len(working) // 2]))
    return Division(function, tree, outside) if outside else None


def _name_results(tree: Any) -> None:
    """Give the value of each `return` a name first, so that a part may compute it."""
    for node in _statements(tree.body):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                block[:] = [one for s in block for one in _named_result(s)]
        for handler in getattr(node, "handlers", ()):
            handler.body = [one for s in handler.body for one in _named_result(s)]
    tree.body = [one for s in tree.body for one in _named_result(s)]


def _named_result(s: ast.stmt) -> list[ast.stmt]:
    if not isinstance(s, ast.Return) or s.value is None or isinstance(s.value, (ast.Name, ast.Constant)):
        return [s]
    first = placed(ast.Assign([ast.Name(_RESULT, ast.Store())], s.value), s)
    return [first, placed(ast.Return(ast.Name(_RESULT, ast.Load())), s)]


def _is_simple(s: ast.stmt) -> bool:
    return not any(isinstance(getattr(s, name, None), list) for name in _BLOCKS)


def _header(s: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement that are not in its blocks."""
    if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
        return [s]
    return [n for n in ast.iter_child_nodes(s) if not isinstance(n, (ast.stmt, ast.ExceptHandler))]


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks inside it; functions and classes inside count as one."""
    waiting: list[Any] = list(reversed(body))
    while waiting:
        s = waiting.pop()
        if isinstance(s, ast.stmt):
            yield s
        if not isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            inner = [n for n in ast.iter_child_nodes(s) if isinstance(n, (ast.stmt, ast.ExceptHandler))]
            waiting += reversed(inner)


def _culprit(body: Sequence[ast.stmt], lines: Sequence[int]) -> ast.stmt | None:
    """Return the innermost statement with one of some lines, the last ones first; a call, not the lines it calls."""
    for number in reversed(lines):
        at = [s for s in _statements(body) if s.lineno <= number <= _last_line(s)]
        if at:
            return min(at, key=lambda s: (_last_line(s) - s.lineno, -s.lineno))
    return None


def _last_line(s: ast.stmt) -> int:
    """Return the last line of what a statement runs itself: of a function, the one before its body."""
    return s.body[0].lineno - 1 if isinstance(s, ast.FunctionDef) else s.end_lineno or s.lineno


def lines_of(error: BaseException, file: str) -> list[int]:
    """Return the lines of a file in the traceback of an error, the innermost last."""
    found, at = [], error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == file:
            found.append(at.tb_lineno)
        at = at.tb_next
    return found


def placed(node: Any, like: ast.AST) -> Any:
    """Give the new parts of a node the place of another."""
    for inner in ast.walk(node):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            ast.copy_location(inner, like)
    return node


def compiled(function: Any, node: ast.FunctionDef, like: ast.AST, values: dict[str, Any]) -> Any:
    """Return a function with the variables of another, and further ones, of the syntax `node`."""
    code, name = function.__code__, node.name
    inner = code_of(placed(node, like), code, values).replace(co_name=name)
    node.name = name
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells |= {n: CellType(v) for n, v in values.items()}
    made = FunctionType(inner, function.__globals__, name, function.__defaults__ if values else None,
                        tuple(cells[n] for n in inner.co_freevars))  # fmt: skip
    if values:
        made.__kwdefaults__ = function.__kwdefaults__
    else:
        give_tree(inner, node)
    return made
