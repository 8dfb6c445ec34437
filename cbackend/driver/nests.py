"""C text for launching a kernel in parallel chunks: a function that runs one chunk, and the kernel's nest.

    static i32 k_ab12_part(const ag_nest *nest, const i64 *n, void *const *a, const i64 *s, i64 *detail)
    {
        k_ab12(n[0], n[1], a[0], s[0], s[1], a[1], s[2], s[3]);
        return 0;
    }
    static const ag_nest k_ab12_nest = {k_ab12_part, 2, 1, 2, 721, 3, 0, (const i32[]){8, 8}, (const i64[]){3}, ...};

The strides of array k along loop l stand at s[k * rank + l], other numbers that the kernel wants behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...graph.types import numpy_dtype
from ...ops.elementwise.records import Elementwise, add, bitwise_and, bitwise_or, maximum, minimum, mul
from ..ctext.emit import expression, helpers_of
from ..ctext.helper import C_TYPES, storage_type
from ..ir.kernel import Kernel
from ..ir.loops import Expr, Load, ScalarOp, index
from ..ir.operands import Extent, Extra, Pointer, Report, Splits, Stride
from ..lowering.nests.position import ORDER_OF, POSITIONS, is_better
from ..program.launches import is_launched, runs_in_any_order

_COMBINED: dict[str, Elementwise] = {
    "sum": add, "prod": mul, "max": maximum, "min": minimum, "any": bitwise_or, "all": bitwise_and,
}  # fmt: skip
_COMBINED_BOOLS = {"max": bitwise_or, "min": bitwise_and}


def folds_of(kernels: Iterable[Kernel]) -> tuple[str, tuple[str, ...]]:
    """Return the functions that combine the results of parallel chunks, and the helpers that they use.

    They run over elements, as kernels do.
    """
    folds = (
        (fold, k.outputs[_extremum(n, cut)].dtype if fold in POSITIONS else o.dtype)
        for k, cut in _launched(kernels)
        for n, (fold, o) in enumerate(zip(cut.folds, k.outputs, strict=True))
        if fold
    )
    lines: list[str] = []
    used: list[str] = []
    for fold, dtype in dict.fromkeys(folds):
        if fold in POSITIONS:
            better, worse = _comparisons(fold, dtype)
            lines += _pick(fold, dtype, better, worse)
            used += helpers_of((better, worse))
        else:
            value = _combined(fold, dtype)
            lines += _fold(fold, dtype, value)
            used += helpers_of((value,))
    return "\n".join(lines), tuple(used)


def nest_lines(kernels: Iterable[Kernel]) -> Iterator[str]:
    """Yield the functions that run chunks, and the nests, of the kernels that the runtime launches."""
    for kernel, splits in _launched(kernels):
        yield from _part(kernel)
        yield from _nest(kernel, splits)


def _launched(kernels: Iterable[Kernel]) -> list[tuple[Kernel, Splits]]:
    return [(kernel, kernel.splits) for kernel in kernels if kernel.splits is not None and is_launched(kernel)]


def _combined(fold: str, dtype: str) -> Expr:
    """Return the C that combines the results of two chunks, `y[i]` and `x[i]`."""
    op = _COMBINED_BOOLS.get(fold, _COMBINED[fold]) if dtype == "bool" else _COMBINED[fold]
    return ScalarOp(op.name, dtype, (Load(dtype, "y", index("i")), Load(dtype, "x", index("i"))))


def _fold(fold: str, dtype: str, value: Expr) -> Iterator[str]:
    storage = storage_type(dtype)
    yield f"static void {_fold_name(fold, dtype)}(i64 n, void *into, const void *from)"
    yield "{"
    yield f"    {storage} *const y = into;"
    yield f"    const {storage} *const x = from;"
    yield f"    for (i64 i = 0; i < n; i++) y[i] = {expression(value)};"
    yield "}"


def _comparisons(fold: str, dtype: str) -> tuple[Expr, Expr]:
    """Return the tests whether the other chunk's extremum is better than the best so far, and whether it is worse."""
    here = index("0")
    best, other = Load(dtype, "x", here), Load(dtype, "y", here)
    return is_better(other, best, ORDER_OF[fold]), is_better(best, other, ORDER_OF[fold])


def _pick(fold: str, dtype: str, better: Expr, worse: Expr) -> Iterator[str]:
    """Yield the C that keeps the position of the better extremum, and of equal ones the lower position."""
    yield f"static void {_fold_name(fold, dtype)}(i64 *into, const i64 *from, const void *best, const void *other)"
    yield "{"
    yield f"    const {storage_type(dtype)} *const x = best, *const y = other;"
    yield f"    const b8 better = {expression(better)}, worse = {expression(worse)};"
    yield "    if (better || (!worse && *from < *into)) *into = *from;"
    yield "}"


def _extremum(position: int, splits: Splits) -> int:
    """Return the output that holds the extremum whose position another output is: the only other one."""
    assert len(splits.folds) == 2
    return 1 - position


def _fold_name(fold: str, dtype: str) -> str:
    return f"fold_{fold}_{C_TYPES[dtype]}"


def _part(kernel: Kernel) -> Iterator[str]:
    arguments = []
    for argument in kernel.arguments:
        if isinstance(argument, Extent):
            arguments.append(f"n[{argument.loop}]")
        elif isinstance(argument, Pointer):
            arguments.append(f"a[{argument.operand}]")
        elif isinstance(argument, Extra):
            arguments.append(f"s[{len(kernel.operands) * kernel.rank + argument.number}]")
        elif isinstance(argument, Report):
            arguments.append("detail")
        elif isinstance(argument, Stride):
            arguments.append(f"s[{argument.operand * kernel.rank + argument.loop}]")
    call = f"{kernel.name}({', '.join(arguments)});"
    yield f"static i32 {kernel.name}_part(const ag_nest *nest, const i64 *n, void *const *a, const i64 *s, i64 *detail)"
    yield "{"
    yield "    (void)nest, (void)detail;"
    yield f"    return {call}" if kernel.fallible else f"    {call}"
    if not kernel.fallible:
        yield "    return 0;"
    yield "}"


def _nest(kernel: Kernel, splits: Splits) -> Iterator[str]:
    items = ", ".join(str(numpy_dtype(o.dtype).itemsize) for o in kernel.operands)
    moves = ", ".join(str(_bits(o.loops)) for o in kernel.outputs)
    positions = [n for n, fold in enumerate(splits.folds) if fold in POSITIONS]
    outputs = list(enumerate(zip(splits.folds, kernel.outputs, strict=True)))
    folds = ", ".join(_fold_name(fold, o.dtype) if fold and n not in positions else "0" for n, (fold, o) in outputs)
    counts = f"{kernel.rank}, {len(kernel.outputs)}, {len(kernel.operands)}, {splits.picoseconds}"
    loops = f"{_bits(splits.free)}, {_bits(splits.reduced)}"
    yield f"static const ag_nest {kernel.name}_nest = {{"
    yield f"    {kernel.name}_part, {counts}, {loops}, (const i32[]){{{items}}},"
    order = 2 if splits.sequential else int(runs_in_any_order(kernel))  # AG_SEQUENTIAL, AG_ANY_ORDER, AG_AS_GIVEN
    yield f"    (const i64[]){{{moves}}}, {order},"
    yield f"    (void (*const[])(i64, void *, const void *)){{{folds}}},"
    if positions:
        found = {n: _extremum(n, splits) for n in positions}
        picks = (_fold_name(f or "", kernel.outputs[found[n]].dtype) if n in found else "0" for n, (f, _) in outputs)
        yield f"    (const i32[]){{{', '.join(str(found.get(n, -1)) for n, _ in outputs)}}},"
        yield f"    (void (*const[])(i64 *, const i64 *, const void *, const void *)){{{', '.join(picks)}}}"
    else:
        yield "    0, 0"
    yield "};"


def _bits(loops: Iterable[int]) -> int:
    return sum(1 << loop for loop in loops)
