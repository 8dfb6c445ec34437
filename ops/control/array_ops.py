"""Ops of whole arrays from outside the package, in NumPy and in C: `ag.array_op`.

    op(*operands, *lengths)

`lengths` are those of the results, axis by axis.  `ag.vmap` keeps the op: its C runs once an example, so operands and
results have further axes in front, those of the `levels`.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...graph import DTYPES, Apply, Dim, Kind, Lacks, NoGradient, TensorType, Variable
from ...graph.provenance import here
from ...graph.types import dtype_name
from ...record import record
from ...record.spelling import counted
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import weak_kind
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..elementwise.c_forms import NOT_LOADED
from ..elementwise.code_digest import code_digest
from ..elementwise.records import ELEMENTWISE, array_definition, define_array
from ..elementwise.user_ops import derivative_row
from ..shapes.lengths import as_length, known_length, lengths_of, tensor_to_dim
from .batching import Examples, Flags, carried, require_shared
from .callbacks import fitted
from .linked import Library

__all__ = ["array_op"]

Loop = tuple[str, ...]
"""The dtypes of the operands in which an op computes."""
_FLOATS = ("float32", "float64")


_KINDS: Mapping[type, str] = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}
"""The kinds of dtypes that hold the Python numbers of a type."""
_nameless = itertools.count()
"""Numbers of the ops whose Python code has no digest."""


@record(repr=False, eq=False)
class ArrayDefinition:
    """A user's op: its meaning, its C, and what is derived from them.  A call applies it.

    `operands`: their names in C.  `loops`: the dtypes that it computes in, best first.  `result`: declares the results.
    """

    name: str
    function: Callable[..., Any]
    operands: tuple[str, ...]
    loops: tuple[Loop, ...]
    result: Any
    c: str | None
    c_functions: str
    library: Library | None
    strided: bool
    errors: Mapping[int, str]
    derivative: Sequence[Callable[..., Any] | None] | None
    defined_at: str
    symbol: str = ""
    fingerprint: str | None = ""

    def __repr__(self) -> str:
        return f"<array_op {self.name}({', '.join(self.operands)})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayDefinition) and other.symbol == self.symbol

    def __hash__(self) -> int:
        return hash(self.symbol)

    def __reduce__(self) -> Any:
        return _found, (self.name, self.symbol)

    def __call__(self, *inputs: Any) -> Any:
        """Return the results of the op: one variable, or a tuple of them."""
        if len(inputs) != len(self.operands):
            raise TypeError(f"{self.name} takes {counted(len(self.operands), 'operand')}, got {len(inputs)}")
        given = self._converted(inputs)
        declared = self.result(*given) if callable(self.result) else self.result
        several = isinstance(declared, (list, tuple))
        dtypes, ranks, lengths = [], [], []  # type: list[str], list[int], list[Variable]
        for k, one in enumerate(declared if several else (declared,)):
            if not hasattr(one, "dtype") or not hasattr(one, "shape"):
                raise TypeError(
                    f"{self.name}: result= declares result {k} by {shown(one)}; expected a value with shape and dtype, "
                    "such as ag.ShapeDtypeStruct((3,), 'float64')"
                )
            own = lengths_of(one) if isinstance(one, Variable) else one.shape
            lengths += [as_length(n, f"{self.name}: the shape of result {k}", least=0) for n in own]
            dtypes.append(str(dtype_name(one.dtype)))
            ranks.append(len(own))
        made = Apply(self.op(tuple(dtypes), tuple(ranks)), (*given, *lengths)).outputs
        return tuple(made) if several else made[0]

    def op(self, dtypes: tuple[str, ...], ranks: tuple[int, ...], levels: tuple[tuple[bool, ...], ...] = ()) -> ArrayOp:
        """Return the op for results of these dtypes and ranks."""
        return ArrayOp(self, dtypes, ranks, levels)

    def _converted(self, inputs: Sequence[Any]) -> list[Variable]:
        """Return the operands in the first dtypes that hold them.  Raises TypeError if there are none."""
        given = [as_tensor(i) for i in inputs]
        kinds = [weak_kind(i) or v.dtype for i, v in zip(inputs, given, strict=True)]
        for loop in self.loops:
            if all(map(_holds, loop, kinds)):
                return [v if v.dtype == d else T.cast(v, d) for v, d in zip(given, loop, strict=True)]
        expected = " or ".join(f"({', '.join(loop)})" for loop in self.loops)
        raise TypeError(f"{self.name}: expected operands of {expected}, got {', '.join(map(describe, given))}")

    def text_of(self, status: int) -> str:
        """Return the message for a status that the C returned."""
        if status == NOT_LOADED and self.library is not None:
            return f"the library {self.library.path} or one of its functions cannot be loaded"
        return self.errors.get(status, f"its C returned {status}")


def _holds(dtype: str, given: Any) -> bool:
    """Return whether a dtype holds values of another one, or a Python number of a type."""
    if isinstance(given, str):
        return np.can_cast(given, dtype)
    return np.dtype(dtype).kind in _KINDS[given]


def _found(name: str, symbol: str) -> ArrayDefinition:
    found: ArrayDefinition | None = array_definition(symbol)
    if found is None:
        raise ValueError(
            f"the op {name!r} is not defined here, or has changed since it was pickled; import the module that calls "
            f"ag.array_op({name!r}, ...) first"
        )
    return found


@record(repr=False)
class ArrayOp(TensorOp):
    """A user's op for results of some dtypes and ranks.

    `levels`: the `ag.vmap`s around it, the outermost first: which operands have the axis of the examples.
    """

    definition: ArrayDefinition
    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    levels: tuple[tuple[bool, ...], ...] = ()
    fallible: ClassVar[bool] = True
    picture: ClassVar[Kind] = Kind.OTHER
    lacks: ClassVar[Lacks] = Lacks(operations="its function says nothing of them")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.definition.name

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        return self.definition.fingerprint

    def parameters(self) -> dict[str, Any]:
        found: dict[str, Any] = {"dtypes": self.dtypes, "ranks": self.ranks}
        return {**found, "levels": self.levels} if self.levels else found

    @property
    def add_c(self) -> str:
        """How to give it C."""
        return f"pass c= to ag.array_op({self.name!r}, ...)"

    @property
    def count(self) -> int:
        """The number of operands, without the lengths of the results."""
        return len(self.definition.operands)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if len(inputs) != self.count + sum(self.ranks):
            raise TypeError(f"{self.name}: expected {self.count + sum(self.ranks)} inputs, got {len(inputs)}")
        loop = tuple(v.dtype for v in inputs[: self.count])
        if loop not in self.definition.loops:
            raise TypeError(f"{self.name} has no form for operands of {', '.join(loop)}")
        lead = [inputs[k].type.shape[axis] for k, axis in self.leading()]
        own = iter(map(known_length, inputs[self.count :]))
        return tuple(
            TensorType(d, (*lead, *(next(own) for _ in range(rank))))
            for d, rank in zip(self.dtypes, self.ranks, strict=True)
        )

    def leading(self) -> list[tuple[int, int]]:
        """Return for each axis of examples an operand that has it, and its axis there."""
        found = []
        for level, flags in enumerate(self.levels):
            k = flags.index(True)
            found.append((k, sum(above[k] for above in self.levels[:level])))
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        lead = tuple(inputs[k][axis] for k, axis in self.leading())
        own = iter(node.inputs[self.count :])
        return tuple((*lead, *(tensor_to_dim(next(own)) for _ in range(rank))) for rank in self.ranks)

    # --- meaning
    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        own = iter(map(int, values[self.count :]))
        shapes = [tuple(next(own) for _ in range(rank)) for rank in self.ranks]
        if any(n < 0 for shape in shapes for n in shape):
            raise ValueError(f"{self.name}: a length of a result is negative: {', '.join(map(str, shapes))}")
        lead = tuple(values[k].shape[axis] for k, axis in self.leading())
        if 0 in lead:
            return tuple(np.zeros((*lead, *s), d) for s, d in zip(shapes, self.dtypes, strict=True))
        return tuple(self._evaluated(self.levels, values[: self.count], shapes))

    def _evaluated(
        self, levels: Sequence[tuple[bool, ...]], values: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]
    ) -> list[np.ndarray]:
        """Return the results for the examples of `levels`, one at least each."""
        if not levels:
            found = self.definition.function(*(v.copy() for v in values))
            each = found if isinstance(found, (list, tuple)) else (found,)
            if len(each) != len(shapes):
                raise TypeError(
                    f"{self.name}: its NumPy function returned {counted(len(each), 'result')}; "
                    f"declared are {len(shapes)}"
                )
            return [
                fitted(self.name, k, v, TensorType(d, shape), shape)
                for k, (v, d, shape) in enumerate(zip(each, self.dtypes, shapes, strict=True))
            ]
        flags = levels[0]
        count = next(len(v) for v, f in zip(values, flags, strict=True) if f)
        rows = [
            self._evaluated(levels[1:], [v[e] if f else v for v, f in zip(values, flags, strict=True)], shapes)
            for e in range(count)
        ]
        return [np.array(column) for column in zip(*rows, strict=True)]

    # --- derivative and examples
    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        row = self.definition.derivative
        if row is None:
            raise NoGradient(
                f"{self.name} has no derivative; pass derivative= to ag.array_op({self.name!r}, ...), "
                f"{self.definition.defined_at}"
            )
        if self.levels:
            return self._vjp_of_examples(node, cotangents)
        g = [T.zeros_like(o) if c is None else c for o, c in zip(node.outputs, cotangents, strict=True)]
        single, operands = len(g) == 1, node.inputs[: self.count]
        given = (g[0], node.outputs[0]) if single else (tuple(g), tuple(node.outputs))
        found = [None if of is None else of(*given, *operands) for of in row]
        own = [None if v is None else self._fits(k, as_tensor(v), operands[k]) for k, v in enumerate(found)]
        return [*own, *(None for _ in node.inputs[self.count :])]

    def _fits(self, k: int, cotangent: Any, operand: Variable) -> Variable:
        """Return a cotangent in the dtype of its operand.  Raises TypeError for one of another rank."""
        if cotangent.ndim != operand.type.ndim:
            raise TypeError(
                f"{self.name}: derivative {k} gave {describe(cotangent)}; expected the shape of operand "
                f"{self.definition.operands[k]}, {operand.type}"
            )
        made: Variable = cotangent if cotangent.dtype == operand.dtype else T.cast(cotangent, operand.dtype)
        return made

    def _vjp_of_examples(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return the derivative of one example of the outermost level, for all of them."""
        flags, operands = self.levels[0], node.inputs[: self.count]
        images: dict[Variable, Variable] = {}

        def example(x: Variable) -> Variable:
            leaf = TensorVariable(x.type.with_shape(x.type.shape[1:]))
            images[leaf] = x
            return leaf

        leaves = [example(x) if f else x for x, f in zip(operands, flags, strict=True)]
        inner = Apply(replace(self, levels=self.levels[1:]), (*leaves, *node.inputs[self.count :]))
        found = inner.op.vjp(inner, [None if c is None else example(c) for c in cotangents])
        asked = [v for v in found if v is not None]
        batched = iter(carried(asked, images) if asked else ())
        each = [None if v is None else next(batched) for v in found]
        summed = [v if v is None or f else T.sum(v, axis=0) for v, f in zip(each, flags, strict=False)]
        return [*summed, *each[self.count :]]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[self.count :], "the declared lengths")
        op = replace(self, levels=(tuple(flags[: self.count]), *self.levels))
        return list(Apply(op, tuple(inputs)).outputs)


# --- definitions


def array_op(
    name: str,
    function: Callable[..., Any],
    *,
    result: Any,
    c: str | None = None,
    c_functions: str = "",
    library: str | None = None,
    prototypes: str = "",
    strided: bool = False,
    errors: Mapping[int, str] | None = None,
    derivative: Callable[..., Any] | Sequence[Callable[..., Any] | None] | None = None,
    dtypes: Sequence[str] | None = None,
    doc: str = "",
) -> ArrayDefinition:
    """Define an op of whole arrays; it is called like the functions of `T`.

    Args:
        name: The name in graphs, messages and profiles.
        function: The meaning in NumPy: arrays to an array, or to a tuple of them.
        result: Declares the results: a function of the operands that returns a value with shape and dtype, such as
            `ag.ShapeDtypeStruct`, or a tuple of them.  For a result like an operand it returns the operand.
        c: The same in C: the body of a function.  An operand x is the pointer `x` with `x_shape`, `x_strides` (in
            elements) and `x_ndim`; an operand of rank 0 is a number.  The result is `y`, several are `y1`, `y2`, ...
            `return n` with n > 0 is a failure.  `{T}` is the C type of the first operand, `{R}` that of the first
            result, `{f}` the suffix of math functions.
        c_functions: C functions that `c` calls, with the same gaps.
        library: The path of a shared library that has functions which `c` calls.
        prototypes: The C declarations of these functions.
        strided: Whether the C reads operands of any strides; otherwise they are C-contiguous.  Results always are.
        errors: The message of the ValueError for each number that `c` returns.
        derivative: A function of the cotangent g, the result y and the operands; it gives the cotangent of its operand.
            For several operands one each, None for a derivative of zero.  For several results g and y are tuples.
        dtypes: The dtypes it computes in, best first: "float64", or one for each operand as in "float64, int64".
            Operands are cast to the first that holds them.  Default: float32 or float64 for all.
        doc: The docstring.

    Compiled functions run the C in the calling thread, without the interpreter lock, and several threads may run it at
    once: it has no state of its own.  Ctrl-C waits for its end.  Without `c`, or under NumPy, the function runs.
    """
    operands = _operand_names(name, function)
    loops = _loops(name, dtypes, len(operands), c is not None)
    linked = None if library is None else Library.opened(name, library, prototypes)
    if c is None and (c_functions or library is not None):
        raise TypeError(f"array_op: {name!r}: {'library' if library is not None else 'c_functions'} needs c=")
    if c is not None and (not isinstance(c, str) or not c.strip()):
        raise TypeError(f"array_op: {name!r}: c must be the body of a C function, got {shown(c)}")
    made = ArrayDefinition(
        name, function, operands, loops, result, c, c_functions, linked, strided, dict(errors or {}),
        derivative_row("array_op", name, derivative, len(operands)), next(map(str, here()), ""),
    )  # fmt: skip
    meaning, declared = code_digest(function), code_digest(result) if callable(result) else repr(result)
    facts = (name, operands, loops, c, c_functions, linked and linked.key, strided, sorted(made.errors.items()))
    named = meaning is not None and declared is not None
    digest = hashlib.sha256(repr((facts, meaning, declared, None if named else next(_nameless))).encode()).hexdigest()
    made = replace(made, symbol=f"{name}_{digest[:10]}", fingerprint=digest if named else None)
    object.__setattr__(made, "__doc__", f"{name}({', '.join(operands)})\n\n{doc or inspect.getdoc(function) or ''}")
    define_array(made)
    return made


def _operand_names(name: str, function: Any) -> tuple[str, ...]:
    """Return the names of the operands, those of the parameters of the function."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise ValueError(f"array_op: the name must be an identifier, got {name!r}")
    if name in ELEMENTWISE or hasattr(T, name):
        raise ValueError(f"array_op: {name!r} is an op of Arignote, T.{name}; choose another name")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(
            f"array_op: {name!r}: the parameters of {function!r} are not known; wrap it in a lambda"
        ) from None
    names = tuple(p.name for p in parameters if p.default is p.empty)
    if not names or any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        raise TypeError(f"array_op: {name!r}: the function must have a parameter for each operand")
    taken = [n for n in names if re.fullmatch(r"y\d*|.*_(shape|strides|ndim)", n) or not n.isascii()]
    if taken:
        raise ValueError(f"array_op: {name!r}: the operand {taken[0]!r} has a name of the C; rename the parameter")
    return names


def _loops(name: str, dtypes: Any, arity: int, in_c: bool) -> tuple[Loop, ...]:
    given = _FLOATS if dtypes is None else (dtypes,) if isinstance(dtypes, str) else tuple(dtypes)
    loops = []
    for text in given:
        parts = tuple(dtype_name(part.strip()) for part in str(text).split(","))
        if len(parts) not in (1, arity):
            raise ValueError(f"array_op: {name!r}: expected a dtype, or one for each of {arity} operands; got {text!r}")
        loops.append(parts * arity if len(parts) == 1 else parts)
    if not loops:
        raise ValueError(f"array_op: {name!r}: dtypes is empty; name one at least, such as 'float64'")
    unknown = [d for loop in loops for d in loop if d not in DTYPES or (in_c and d == "float16")]
    if unknown:
        raise ValueError(f"array_op: {name!r}: C has no arrays of {unknown[0]}; use float32, to which they are cast")
    return tuple(loops)
