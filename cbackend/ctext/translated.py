"""C of the special functions, written from their meaning in Python (`ops/special`).

    python -m arignote.cbackend.ctext.translated        # writes functions/special_*.h

A function marked `@scalar` is in a part of Python that reads as C: floats, `if`, `while`, `for k in range(...)`, calls
of other such functions, and tuples as results of two numbers.  A test compares the headers with this module's text.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ...ops.special.scalars import MODULES, calls_of
from .polynomials import LONG

FOLDER = Path(__file__).parent / "functions"
_WIDTH = 118
_LIBRARY = {
    "exp": "ag_exp_f64", "log": "ag_log_f64", "log1p": "ag_log1p_f64", "expm1": "ag_expm1_f64", "sin": "ag_sin_f64",
    "cos": "ag_cos_f64", "tan": "ag_tan_f64", "sqrt": "sqrt_F", "floor": "floor_F", "fabs": "fabs_F",
    "rint": "rint_F", "power": "pow_F", "copysign": "copysign_F", "gamma_of": "ag_gamma_f64",
    "log_gamma": "ag_log_gamma_f64", "digamma_of": "ag_digamma_f64", "erf": "ag_erf_f64", "erfc": "ag_erfc_f64",
    "fma": "__builtin_fma", "cosh": "ag_cosh_f64", "sinh": "ag_sinh_f64", "is_negative": "__builtin_signbit",
    "atan": "ag_atan_f64",
}  # fmt: skip
"""C of the functions that `ops/special/scalars.py` gives to scalar functions."""
_OPERATORS: Mapping[type, tuple[str, int]] = {
    ast.Add: ("+", 5), ast.Sub: ("-", 5), ast.Mult: ("*", 6), ast.Div: ("/", 6), ast.Mod: ("%", 6),
    ast.Lt: ("<", 4), ast.LtE: ("<=", 4), ast.Gt: (">", 4), ast.GtE: (">=", 4), ast.Eq: ("==", 3),
    ast.NotEq: ("!=", 3), ast.And: ("&&", 2), ast.Or: ("||", 2),
}  # fmt: skip
_NAMES = {"inf": "__builtin_inf()", "nan": '__builtin_nan("")', "True": "1", "False": "0"}


def header(module: ModuleType) -> str:
    """Return the text of the header of one family."""
    made = _in_order([_Function(function, module) for function in calls_of(module)])
    series = {name: numbers for f in made for name, numbers in f.series.items()}
    first = (module.__doc__ or "").partition("\n")[0]
    origin = f"ops/special/{module.__name__.rpartition('.')[2]}.py"
    comment = f"/* {first}\n\n   Written by ../translated.py from {origin}. */\n"
    parts = [f'{comment}#pragma once\n#include "float.h"\n#include "gamma.h"\n']
    defines = "".join(f"#define {name} \\\n{_joined(map(_number, n), 4, chr(92))}\n" for name, n in series.items())
    if defines:
        parts.append(defines)
    parts += [f.text for f in made]
    return "\n".join(parts)


def _in_order(functions: Sequence[_Function]) -> list[_Function]:
    """Return the functions so that each one calls earlier ones only, else as they are."""
    waiting, found = list(functions), []
    while waiting:
        names = {f.tree.name for f in waiting}
        ready = [f for f in waiting if not f.called & (names - {f.tree.name})]
        if not ready:
            raise SyntaxError(f"a circle of calls: {', '.join(sorted(names))}")
        found.append(ready[0])
        waiting.remove(ready[0])
    return found


class _Unrolled(ast.NodeTransformer):
    """The statements of each `for a, b in zip(A, B, strict=True)` once for each entry of the tables."""

    def __init__(self, space: Mapping[str, Any]) -> None:
        self.space = space

    def visit_For(self, node: ast.For) -> Any:
        if not isinstance(node.target, ast.Tuple):
            return self.generic_visit(node)
        names = [n.id for n in node.target.elts]  # type: ignore[attr-defined]
        tables = [self.space[t.id] for t in node.iter.args]  # type: ignore[attr-defined]
        return [
            _Bound(dict(zip(names, row, strict=True))).visit(copy.deepcopy(statement))
            for row in zip(*tables, strict=True)
            for statement in node.body
        ]


def _is_whole(node: ast.expr) -> bool:
    """Whether an operand is written as a whole number."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


class _Bound(ast.NodeTransformer):
    """A tree with numbers in place of names."""

    def __init__(self, numbers: Mapping[str, float]) -> None:
        self.numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.numbers[node.id]) if node.id in self.numbers else node


class _Function:
    """The C of one scalar function."""

    def __init__(self, function: Any, module: ModuleType) -> None:
        self.space = vars(import_module(function.__module__))
        self.series: dict[str, Sequence[float]] = {}
        self.tables: dict[str, Sequence[float]] = {}
        self.powers: dict[str, int] = {}
        tree = _Unrolled(self.space).visit(ast.parse(textwrap.dedent(inspect.getsource(function))).body[0])
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        calls = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
        self.called = {f.id for f in calls if isinstance(f, ast.Name)}
        self.doc = ast.get_docstring(tree) or ""
        body = tree.body[1:] if self.doc else tree.body
        self.arguments = {a.arg: self._type(a.annotation) for a in tree.args.args}
        self.pair = isinstance(tree.returns, ast.Subscript)
        self.straight = not any(isinstance(n, (ast.If, ast.While, ast.For)) for n in ast.walk(tree))
        self.places: dict[str, list[tuple[int, ...]]] = {}
        self.assigned: dict[str, int] = {}
        self.types: dict[str, str] = {}
        self.loops: set[str] = set()
        self.read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        self._survey(body, ())
        self.declared: set[str] = set(self.arguments)
        lines = list(self._block(body, (), 1))
        given = [f"{kind} {name}" for name, kind in self.arguments.items()] + ["f64 *second"] * self.pair
        inline = "INLINE" if self.straight else "static inline"
        tables = [f"    static const f64 {n}[] = {{\n{_joined(map(_number, v), 8)}}};" for n, v in self.tables.items()]
        comment = textwrap.fill(" ".join(self.doc.split()), _WIDTH - 6, subsequent_indent="   ")
        head = f"{inline} f64 ag_{tree.name}_f64({', '.join(given)})"
        self.text = f"/* {comment} */\n{head}\n{{\n" + "\n".join([*tables, *lines]) + "\n}\n"

    # --- where variables live

    def _type(self, annotation: ast.expr | None) -> str:
        return "i32" if isinstance(annotation, ast.Name) and annotation.id in ("int", "bool") else "f64"

    def _survey(self, body: Sequence[ast.stmt], block: tuple[int, ...]) -> None:
        """Note the blocks in which each variable is used, and how often it is assigned."""
        for number, statement in enumerate(body):
            inner = [getattr(statement, field, []) for field in ("body", "orelse")]
            if any(inner):
                test = getattr(statement, "test", None) or getattr(statement, "iter", None)
                if test is not None:
                    self._note(test, block)
                if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                    self.loops.add(statement.target.id)
                for side, part in enumerate(inner):
                    self._survey(part, (*block, 2 * number + side))
                continue
            self._note(statement, block)

    def _note(self, tree: ast.AST, block: tuple[int, ...]) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                self.places.setdefault(node.id, []).append(block)
                if isinstance(node.ctx, ast.Store):
                    self.assigned[node.id] = self.assigned.get(node.id, 0) + 1
        if isinstance(tree, ast.AugAssign):
            self.assigned[tree.target.id] += 1  # type: ignore[union-attr]
        if isinstance(tree, ast.AnnAssign):
            self.types[tree.target.id] = self._type(tree.annotation)  # type: ignore[union-attr]

    def _home(self, name: str) -> tuple[int, ...]:
        """Return the innermost block that has all uses of a variable."""
        first, *others = self.places[name]
        for other in others:
            common = 0
            while common < min(len(first), len(other)) and first[common] == other[common]:
                common += 1
            first = first[:common]
        return first

    # --- statements

    def _block(self, body: Sequence[ast.stmt], block: tuple[int, ...], depth: int) -> Iterator[str]:
        pad = "    " * depth
        for number, statement in enumerate(body):
            for name in self._wanted(statement, block):
                self.declared.add(name)
                yield f"{pad}{self.types.get(name, 'f64')} {name} = 0;"
            yield from self._statement(statement, block, number, depth)

    def _wanted(self, statement: ast.stmt, block: tuple[int, ...]) -> Iterator[str]:
        """Yield the variables that must be declared in front of a statement of their home block."""
        single = isinstance(statement, (ast.Assign, ast.AnnAssign)) and not self._is_pair(statement)
        stored = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        pairs = [n.targets[0].elts for n in ast.walk(statement) if self._is_pair(n)]  # type: ignore[attr-defined]
        unread = {first.id for first, _ in pairs} - {second.id for _, second in pairs} - self.read
        for name in dict.fromkeys(stored):
            counter = name in self.loops and name not in self.assigned  # declared by each loop
            if name in self.declared or single or counter or name in unread or self._home(name) != block:
                continue
            yield name

    def _is_pair(self, statement: ast.AST) -> bool:
        return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)

    def _statement(self, s: ast.stmt, block: tuple[int, ...], number: int, depth: int) -> Iterator[str]:
        pad = "    " * depth
        if isinstance(s, ast.Return):
            if isinstance(s.value, ast.Tuple):
                first, second = s.value.elts
                yield f"{pad}*second = {self._text(second)};"
                yield f"{pad}return {self._text(first)};"
            elif self.pair and isinstance(s.value, ast.Call):
                yield from self._wrapped(f"{pad}return {self._call(s.value, 'second')};")
            else:
                assert s.value is not None
                yield from self._wrapped(f"{pad}return {self._text(s.value)};")
        elif isinstance(s, (ast.Assign, ast.AnnAssign)):
            yield from self._assignment(s, block, pad)
        elif isinstance(s, ast.AugAssign):
            yield f"{pad}{s.target.id} {_OPERATORS[type(s.op)][0]}= {self._text(s.value)};"  # type: ignore[union-attr]
        elif isinstance(s, ast.If):
            yield from self._wrapped(f"{pad}if ({self._text(s.test)}) {{")
            yield from self._block(s.body, (*block, 2 * number), depth + 1)
            yield f"{pad}}}"
            if s.orelse:
                yield f"{pad}else {{"
                yield from self._block(s.orelse, (*block, 2 * number + 1), depth + 1)
                yield f"{pad}}}"
        elif isinstance(s, ast.While):
            yield from self._wrapped(f"{pad}while ({self._text(s.test)}) {{")
            yield from self._block(s.body, (*block, 2 * number), depth + 1)
            yield f"{pad}}}"
        elif isinstance(s, ast.For):
            yield self._for(s, pad)
            yield from self._block(s.body, (*block, 2 * number), depth + 1)
            yield f"{pad}}}"
        elif isinstance(s, ast.Break):
            yield f"{pad}break;"
        elif isinstance(s, ast.Continue):
            yield f"{pad}continue;"
        else:
            raise SyntaxError(f"{self.tree.name}: no C for {ast.unparse(s)}")

    def _for(self, s: ast.For, pad: str) -> str:
        assert isinstance(s.target, ast.Name) and isinstance(s.iter, ast.Call)
        name, bounds = s.target.id, [self._text(a) for a in s.iter.args]
        start, stop, step = (["0"] * (len(bounds) == 1) + bounds + ["1"])[:3]
        compare = ">" if step.startswith("-") else "<"
        moved = f"{name}++" if step == "1" else f"{name}--" if step == "-1" else f"{name} += {step}"
        return f"{pad}for (i32 {name} = {start}; {name} {compare} {stop}; {moved}) {{"

    def _assignment(self, s: ast.Assign | ast.AnnAssign, block: tuple[int, ...], pad: str) -> Iterator[str]:
        target = s.targets[0] if isinstance(s, ast.Assign) else s.target
        assert s.value is not None
        if isinstance(target, ast.Tuple):
            if isinstance(s.value, ast.Tuple):
                raise SyntaxError(f"{self.tree.name}: assign one variable at a time: {ast.unparse(s)}")
            first, second = (e.id for e in target.elts)  # type: ignore[attr-defined]
            start = f"{first} = " if first in self.read else ""
            yield from self._wrapped(f"{pad}{start}{self._call(s.value, '&' + second)};")
            return
        assert isinstance(target, ast.Name)
        name = target.id
        start = ""
        if name not in self.declared:
            self.declared.add(name)
            const = "const " if self.assigned[name] == 1 else ""
            start = f"{const}{self.types.get(name, 'f64')} "
        if isinstance(s.value, ast.Call) and isinstance(s.value.func, ast.Name) and s.value.func.id == "polynomial":
            series, variable = (a.id for a in s.value.args)  # type: ignore[attr-defined]
            self.series[series] = self.space[series]
            levels = sum(len(self.series[series]) >= length for length in (LONG, 2 * LONG))
            have = self.powers.setdefault(variable, 0)
            if 0 < have < levels:
                raise SyntaxError(f"{self.tree.name}: sum the longest series in {variable} first")
            self.powers[variable] = max(have, levels)
            again = "_AGAIN" if have else ""
            yield f"{pad}POLYNOMIAL{again}(f64, {name}, {variable}, {series});"
            return
        yield from self._wrapped(f"{pad}{start}{name} = {self._text(s.value)};")

    def _wrapped(self, line: str) -> Iterator[str]:
        pad = " " * (len(line) - len(line.lstrip()) + 4)
        yield from textwrap.wrap(line, _WIDTH, subsequent_indent=pad, break_long_words=False) or [line]

    # --- expressions

    def _call(self, node: ast.expr, extra: str = "") -> str:
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        name = node.func.id
        given = [self._text(a) for a in node.args]
        if name in ("float", "int"):
            return f"({'f64' if name == 'float' else 'i32'}){self._text(node.args[0], 7)}"
        if name == "scaled":
            return f"__builtin_ldexp({given[0]}, (i32)({given[1]}))"
        called = _LIBRARY.get(name) or f"ag_{name}_f64"
        return f"{called}({', '.join([*given, *([extra] if extra else [])])})"

    def _text(self, node: ast.expr, place: int = 0) -> str:
        text, binding = self._expression(node)
        return f"({text})" if binding < place else text

    def _expression(self, node: ast.expr) -> tuple[str, int]:
        if isinstance(node, ast.Constant):
            return (str(node.value) if isinstance(node.value, int) else _number(float(str(node.value)))), 8
        if isinstance(node, ast.Name):
            return self._named(node.id), 8
        if isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.Not):
                return f"!{self._text(node.operand, 7)}", 7
            inner = self._text(node.operand, 7)
            return f"-({inner})" if inner.startswith("-") else f"-{inner}", 7
        if isinstance(node, ast.BinOp):
            sign, binding = _OPERATORS[type(node.op)]
            if isinstance(node.op, ast.Div) and _is_whole(node.left) and _is_whole(node.right):
                raise SyntaxError(f"{ast.unparse(node)}: C divides whole numbers without a rest; write one as a float")
            return f"{self._text(node.left, binding)} {sign} {self._text(node.right, binding + 1)}", binding
        if isinstance(node, ast.BoolOp):
            sign, binding = _OPERATORS[type(node.op)]
            return f" {sign} ".join(self._text(v, binding + 1) for v in node.values), binding
        if isinstance(node, ast.Compare):
            parts, left = [], node.left
            for op, right in zip(node.ops, node.comparators, strict=True):
                sign, _ = _OPERATORS[type(op)]
                parts.append(f"{self._text(left, 5)} {sign} {self._text(right, 5)}")
                left = right
            return " && ".join(parts), 3 if len(parts) == 1 else 2
        if isinstance(node, ast.IfExp):
            test, body = self._text(node.test, 2), self._text(node.body, 2)
            return f"{test} ? {body} : {self._text(node.orelse, 1)}", 1
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            self.tables[node.value.id] = self.space[node.value.id]
            return f"{node.value.id}[{self._text(node.slice)}]", 8
        if isinstance(node, ast.Call):
            return self._call(node), 7 if getattr(node.func, "id", "") in ("float", "int") else 8
        raise SyntaxError(f"{self.tree.name}: no C for {ast.unparse(node)}")

    def _named(self, name: str) -> str:
        if name in self.arguments or name in self.assigned or name in self.loops:
            return name
        if name in _NAMES:
            return _NAMES[name]
        value = self.space[name]
        if isinstance(value, (int, float)):
            return f"({_number(value)})" if value < 0 else _number(value) if isinstance(value, float) else str(value)
        raise SyntaxError(f"{self.tree.name}: {name} is no number")


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 2**53:
        return f"{value:.1f}"
    return float(value).hex() if len(repr(value)) > 8 else repr(value)


def _joined(numbers: Any, indent: int, end: str = "") -> str:
    """Return numbers with commas, in lines."""
    lines = textwrap.wrap(", ".join(numbers), _WIDTH - 4, initial_indent=" " * indent, subsequent_indent=" " * indent)
    return f" {end}\n".join(lines) if end else "\n".join(lines)


def write() -> None:
    """Write the headers of all families."""
    for name in MODULES:
        module = import_module(f"arignote.ops.special.{name}")
        (FOLDER / f"special_{name}.h").write_text(header(module), encoding="utf-8")


if __name__ == "__main__":
    write()
