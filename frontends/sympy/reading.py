"""Reading of SymPy's expressions: each distinct subexpression becomes one variable."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...ops.core.checks import shown
from ...record.spelling import counted, meant
from ...tracing.jitted import jit
from ...tree import leaves
from .table import FUNCTIONS


def from_sympy(expression: Any, symbols: Any, functions: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Return SymPy's expression as an expression of variables, or as a function of arrays.

        x, y = sympy.symbols("x y")
        f = ag.from_sympy(sympy.sin(x) * y + sympy.sin(x), [x, y])     # a jitted function; f(1.0, array)
        v = ag.from_sympy(sympy.sin(x), {x: T.vector("x")})            # an expression

    Equal subexpressions are computed once.  Values are real floating-point numbers unless a symbol has complex values;
    where SymPy leaves the reals, as for the root of -1, the result is NaN.  Integers of any size become floats in
    quotients and powers.  Relations and logic give bools, `Piecewise` without a true condition gives NaN.

    Args:
        expression: an expression, relation or matrix of SymPy, or a tree of them.  `Sum` and `Product` have integer
            bounds.  An expression of vectors is elementwise; elements of a matrix are broadcast together, and its rows
            and columns are the last two axes.
        symbols: a list of symbols, for a function of as many arguments, or a dict from symbols (or their names) to
            variables, arrays and numbers.  A MatrixSymbol takes a matrix, an IndexedBase an array.
        functions: meanings of functions that SymPy does not know, or that we do not have, by their names.

    Raises TypeError for what is no SymPy expression and for a function without a meaning, ValueError for a symbol
    without a value and for sums without integer bounds, ImportError if SymPy is not installed.
    """
    sympy = _required()
    known = dict(functions or {})
    if isinstance(symbols, Mapping):
        return _read(sympy, expression, {_name(sympy, s): value for s, value in symbols.items()}, known)
    several = list(symbols) if isinstance(symbols, (list, tuple)) else [symbols]
    names = [_name(sympy, s) for s in several]
    if len(set(names)) < len(names):
        raise ValueError(f"from_sympy: symbols are {', '.join(names)}; expected distinct names")
    _require_symbols(sympy, expression, names)

    def evaluated(*values: Any) -> Any:
        if len(values) != len(names):
            takes = f"{counted(len(names), 'argument')} ({', '.join(names)})"
            raise TypeError(f"from_sympy: the function takes {takes}, got {len(values)}")
        return _read(sympy, expression, dict(zip(names, values, strict=True)), known)

    return jit(evaluated, name="sympy")


def _required() -> Any:
    try:
        import sympy
    except ImportError:
        raise ImportError("from_sympy: SymPy is not installed; pip install sympy") from None
    return sympy


def _name(sympy: Any, symbol: Any) -> str:
    if isinstance(symbol, str):
        return symbol
    kinds = (sympy.Symbol, sympy.MatrixSymbol, sympy.IndexedBase)
    if not isinstance(symbol, kinds):
        raise TypeError(f"from_sympy: symbols has {shown(symbol)}; expected symbols of SymPy")
    return str(symbol.label) if isinstance(symbol, sympy.IndexedBase) else str(symbol.name)


def _require_symbols(sympy: Any, expression: Any, names: Sequence[str]) -> None:
    """Raise ValueError for a symbol of the expression that is not among the names."""
    for one in leaves(_plain(sympy, expression)):
        for symbol in getattr(one, "free_symbols", ()):
            if not isinstance(symbol, sympy.Indexed) and _name(sympy, symbol) not in names:
                raise _unknown(_name(sympy, symbol), names)


def _unknown(name: str, names: Sequence[str]) -> ValueError:
    return ValueError(f"from_sympy: symbol {name} has no value; add it to symbols{meant(name, names)}")


def _plain(sympy: Any, expression: Any) -> Any:
    """Return the expression with matrices of elements as nested lists, which are trees."""
    if isinstance(expression, (list, tuple)):
        return type(expression)([_plain(sympy, e) for e in expression])
    if isinstance(expression, Mapping):
        return {k: _plain(sympy, e) for k, e in expression.items()}
    return expression


def _read(sympy: Any, expression: Any, values: dict[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Return the value of an expression or of a tree of them."""
    for name, value in values.items():
        if not isinstance(value, (Variable, np.ndarray, np.generic, int, float, complex, list, tuple)):
            raise TypeError(f"from_sympy: the value of {name} is {shown(value)}; expected a variable or numbers")
    held = {name: v if isinstance(v, Variable) else T.as_tensor(v) for name, v in values.items()}
    reader = _Reader(sympy, held, functions)

    def of(part: Any) -> Any:
        if isinstance(part, (list, tuple)):
            return type(part)([of(p) for p in part])
        if isinstance(part, Mapping):
            return {k: of(p) for k, p in part.items()}
        return T.as_tensor(reader.value_of(part))

    return of(expression)


class _Reader:
    """Values of expressions, each distinct one once."""

    def __init__(self, sympy: Any, values: dict[str, Any], functions: Mapping[str, Callable[..., Any]]) -> None:
        self._sympy, self._values, self._functions = sympy, values, functions
        self._known: dict[Any, Any] = {}

    def value_of(self, expression: Any) -> Any:
        """Return the value; arguments are computed before what is made of them, without recursion."""
        if isinstance(expression, (int, float, complex, bool)):
            return expression
        if isinstance(expression, self._sympy.MatrixBase):
            expression = expression.as_immutable()
        if not isinstance(expression, self._sympy.Basic):
            raise TypeError(f"from_sympy: got {shown(expression)}; expected an expression of SymPy")
        known, waiting = self._known, [expression]
        while waiting:
            one = waiting[-1]
            if one in known:
                waiting.pop()
                continue
            parts = self._parts(one)
            missing = [p for p in parts if p not in known]
            if missing:
                waiting += missing
            else:
                known[one] = self._made(one, [known[p] for p in parts])
        return known[expression]

    def _parts(self, one: Any) -> Sequence[Any]:
        """Return the subexpressions whose values are needed first."""
        sp = self._sympy
        if isinstance(one, (sp.Sum, sp.Product, sp.MatrixSymbol, sp.Symbol, sp.IndexedBase, sp.Derivative)):
            return ()
        if isinstance(one, sp.Pow):
            base, exponent = one.as_base_exp() if one.exp == -1 else (one.base, one.exp)
            return (base,) if exponent.is_Rational else (base, exponent)
        if isinstance(one, (sp.ImmutableDenseMatrix, sp.ImmutableSparseMatrix)):
            return list(one)
        if isinstance(one, sp.Indexed):
            return list(one.indices)
        if isinstance(one, sp.Mul):
            numerator, denominator = one.as_numer_denom() if one.is_commutative else (one, sp.S.One)
            is_plain = numerator == one or denominator == one
            return one.args if is_plain or denominator == 1 else (numerator, denominator)
        return one.args  # type: ignore[no-any-return]

    def _made(self, one: Any, values: list[Any]) -> Any:
        """Return the value of an expression from those of its parts."""
        sp = self._sympy
        number = self._number(one)
        if number is not None:
            return number
        if isinstance(one, (sp.Symbol, sp.MatrixSymbol, sp.IndexedBase)):
            return self._symbol(_name(sp, one))
        if isinstance(one, sp.Add) and not isinstance(one, sp.MatrixExpr):
            return reduce(operator.add, values)
        if isinstance(one, sp.Mul) and not isinstance(one, sp.MatrixExpr):
            if len(values) == 2 and tuple(self._parts(one)) != one.args:
                return T.true_div(*values)
            return reduce(operator.mul, values)
        if isinstance(one, sp.Pow):
            return _power(values, one.exp)
        if isinstance(one, sp.Tuple):
            return tuple(values)
        if isinstance(one, (sp.Sum, sp.Product)):
            return self._folded(one)
        return self._function(one, values)

    def _number(self, one: Any) -> Any:
        sp = self._sympy
        if one is sp.true or one is sp.false:
            return bool(one)
        if one is sp.zoo:
            return float("nan")
        if not one.is_Atom or not (one.is_number or one is sp.nan):
            return None
        if one is sp.I:
            return 1j
        if one.is_Integer:
            return int(one) if -(2**63) <= int(one) < 2**63 else float(one)
        return float(one)

    def _symbol(self, name: str) -> Any:
        if name not in self._values:
            raise _unknown(name, list(self._values))
        return self._values[name]

    def _function(self, one: Any, values: list[Any]) -> Any:
        sp, name = self._sympy, type(one).__name__
        if isinstance(one, sp.Piecewise):
            return _chosen(values)
        if name == "ExprCondPair":
            return tuple(values)
        if isinstance(one, sp.Derivative):
            done = one.doit()
            if isinstance(done, sp.Derivative):
                raise TypeError(f"from_sympy: {shown(one)} has no closed form; give its function a meaning")
            return self.value_of(done)
        if isinstance(one, sp.Indexed):
            return self._symbol(_name(sp, one.base))[tuple(values)]
        if isinstance(one, (sp.ImmutableDenseMatrix, sp.ImmutableSparseMatrix)):
            return _matrix(values, one.shape)
        if name in ("Identity", "ZeroMatrix", "OneMatrix"):
            shape = tuple(int(n) for n in one.shape)
            return T.eye(shape[0]) if name == "Identity" else T.zeros(shape) if name == "ZeroMatrix" else T.ones(shape)
        if name == "MatrixElement":
            return values[0][values[1], values[2]]
        meaning = self._functions.get(name) or FUNCTIONS.get(name)
        if meaning is None:
            raise TypeError(
                f"from_sympy: there is no meaning of {name}, in {shown(one)}; write it by other functions, or give "
                f"functions={{{name!r}: function}}"
            )
        return meaning(*values)

    def _folded(self, one: Any) -> Any:
        """Return a sum or product: its terms are one array along a new first axis."""
        sp = self._sympy
        is_sum, body = isinstance(one, sp.Sum), one.function
        for index, low, high in one.limits:
            if not (low.is_Integer and high.is_Integer):
                bounds = f"the bounds {low} and {high} of {index}"
                raise ValueError(f"from_sympy: {shown(one)} has {bounds}; expected integers")
        if len(one.limits) > 1:
            inner = one.func(body, *one.limits[:-1])
            return self._along(one.limits[-1], inner, is_sum)
        return self._along(one.limits[0], body, is_sum)

    def _along(self, limit: Any, body: Any, is_sum: bool) -> Any:
        index, low, high = limit
        low, high = int(low), int(high)
        fold = T.sum if is_sum else T.prod
        if high < low:
            return 0 if is_sum else 1
        read = {_name(self._sympy, s) for s in body.free_symbols if not isinstance(s, self._sympy.Indexed)}
        rank = max((v.ndim for name, v in self._values.items() if name in read), default=0)
        terms = T.reshape(T.arange(low, high + 1), (-1, *[1] * rank))
        inner = _Reader(self._sympy, {**self._values, _name(self._sympy, index): terms}, self._functions)
        value = T.as_tensor(inner.value_of(body))
        if index not in body.free_symbols:
            return value * (high - low + 1) if is_sum else value ** (high - low + 1)
        return fold(value, axis=0)


def _power(values: list[Any], exponent: Any) -> Any:
    """Return a power; those by a half and by a negative number are roots and quotients."""
    base = values[0]
    if not exponent.is_Rational:
        return T.power(T.cast(base, "float64") if _is_integer(base) else base, values[1])
    top, bottom = int(abs(exponent.p)), int(exponent.q)
    if bottom == 1:
        found = base if top == 1 else base**top
    elif bottom == 2:
        found = T.sqrt(base) if top == 1 else T.sqrt(base) ** top
    else:
        found = T.power(T.as_tensor(base), top / bottom)
    return T.true_div(1, found) if exponent < 0 else found


def _is_integer(value: Any) -> bool:
    return T.as_tensor(value).type.kind in "iub"


def _chosen(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return the value of the first pair whose condition holds; NaN if none does."""
    found: Any = float("nan")
    for value, condition in reversed(pairs):
        found = value if condition is True else found if condition is False else T.where(condition, value, found)
    return found


def _matrix(values: Sequence[Any], shape: tuple[int, int]) -> Any:
    """Return elements, row by row, as a matrix along the last two axes."""
    elements = [T.as_tensor(v) for v in values]
    rank = max(e.ndim for e in elements)
    if rank:
        zero = reduce(operator.add, [e * 0 for e in elements if e.ndim])
        elements = [e + zero for e in elements]
    joined = T.stack(elements, axis=-1)
    return T.reshape(joined, (*T.lengths_of(joined)[:-1], *shape))
