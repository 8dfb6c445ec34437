"""Intrinsics: the calls of a program other than kernels, with the arrays that each writes.

    copy(item, rank, [n, ...], target, [s, ...], source, [s, ...])     target[...] = source[...]
    eye(item, n, m, k, target, one)                                    ones on a diagonal of zeros
    iota(n, target)                                                    an arithmetic progression by its first two
    span_count, range_count(..., count)                                the length of a range
    in_bounds(steps, rank, [n, ...], indices, [s, ...], n, axis, said) fails with INDEX
    dot, gemv, ger, gemm, matmul(products, ..., result)                products of matrices
    product_then(products, ..., result, then kernel)                   a product and its epilogue, tile by tile
    panels_then(products, m, n, k, 1, x, [s, s], panels, 0, result, then kernel)
                                                                       a product of weights in panels, and its epilogue
    multiply_bytes(products, ..., result)                              products of bytes in 32 bits
    sum_bytes(products, [...], x, [s, ...], w, start, totals, scale, bias, more, [s, ...], result)
                                                                       a convolution of bytes in blocks
    look_up(products, count, x, table, result)                         table[x], for bytes
    quantize_words(products, ..., x, scale, zero, result)              floats as bytes in blocks of four channels
    byte_softmax_rows(products, [...], x, exponents, result)           softmax of rows of bytes
    multiply_nibbles(products, ..., result)                            rows of floats by weights of 4 bits
    multiply_sparse(products, ..., result)                             rows by a matrix of which some vectors are stored
    multiply_columns(products, ..., result)                            the same for blocks along the sum
    multiply_two(products, ..., result)                                rows by a matrix with two of each four numbers
    multiply_bfloats(products, ..., a, [s, s], b, [s, s], result)      a product of bfloat16, summed in float32
    solve, solve_triangular, cholesky, slogdet(solvers, ..., result)   factorizations
    pipeline({stages})                                                 kernels, some rows of each at a time

Arrays among the arguments are numbered in their order, those in an epilogue left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...record import record
from ..ir.kernel import Kernel
from ..kernels import specs
from . import calls
from .program import After, Array, Call, Number, Said, Solvers, Stages, Table, Vector


@record
class Intrinsic:
    """`signature`: the kinds that each argument may be of.  `writes`: numbers of arrays, perhaps from the end."""

    name: str
    signature: str
    writes: tuple[int, ...] = (-1,)


KINDS: dict[type[object], str] = {
    int: "q", str: "q", Array: "a", Vector: "v", Number: "n", Table: "t", Solvers: "l", After: "f", Stages: "p",
    Said: "s",
}  # fmt: skip
"""The letters of signatures: quantity, array, vector, number, products, solvers, epilogue, stages, message."""

INTRINSICS: dict[str, Intrinsic] = {
    found.name: found
    for found in (
        Intrinsic("copy", "q q v a v a v", (0,)),
        Intrinsic("eye", "q q q q a n"),
        Intrinsic("iota", "q a"),
        Intrinsic("span_count", "a a"),
        Intrinsic("range_count", "q q q q a"),
        Intrinsic("in_bounds", "q q v a v q q s", ()),
        Intrinsic("dot", "t q q a q a q a"),
        Intrinsic("gemv", "t q q q na a q q a q na a"),
        Intrinsic("ger", "t q q q na a q a q a"),
        Intrinsic("gemm", "t q q q na a q q a q q na a"),
        Intrinsic("matmul", "t q v q q q n a v a v n a"),
        Intrinsic("product_then", "t q v q q q na a v a v n a f"),
        Intrinsic("panels_then", "t q q q n a v a n a f"),
        Intrinsic("multiply_bytes", "t q v q q q q q a v a v a"),
        Intrinsic("sum_bytes", "t v a v a a a a a qa v a"),
        Intrinsic("look_up", "t q a a a"),
        Intrinsic("quantize_words", "t q q q q a a a a"),
        Intrinsic("byte_softmax_rows", "t v a a a"),
        Intrinsic("multiply_nibbles", "t q q q q q a a a qa a"),
        Intrinsic("multiply_sparse", "t q q q q a a a a a"),
        Intrinsic("multiply_columns", "t q q q a a a a a"),
        Intrinsic("multiply_two", "t q q q a a a a"),
        Intrinsic("multiply_bfloats", "t q q q q q q a v a v a"),
        Intrinsic("solve", "l q q v q q a v aq v n a"),
        Intrinsic("solve_triangular", "l q q q q v q q a v a v a"),
        Intrinsic("cholesky", "l q q v q a v a"),
        Intrinsic("slogdet", "l q q q v q a v a a", (-2, -1)),
        Intrinsic("pipeline", "p", ()),
    )
}
"""All intrinsics by name; the driver contains their C."""


def has_signature(step: Call) -> bool:
    """Whether the arguments of an intrinsic are of the kinds in its signature."""
    if step.function in specs():
        return not calls.misfit(step.function, step.arguments)
    kinds = INTRINSICS[step.function].signature.split()
    given = step.arguments
    if len(given) == len(kinds) + 3 and kinds[-1] == "f":  # four zeros stand for no epilogue
        given, kinds = given[:-4], kinds[:-1]
    return len(given) == len(kinds) and all(KINDS[type(a)] in k for a, k in zip(given, kinds, strict=True))


def effects(step: Call, kernels: Mapping[str, Kernel]) -> calls.Effects:
    """Return the effects of a call by its arguments.  Raises KeyError for an unknown kernel or intrinsic."""
    if step.kernel:
        return calls.effects_of_kernel(step.arguments, kernels[step.function])
    if step.function in specs():
        return calls.effects(step.function, step.arguments, kernels)
    intrinsic = INTRINSICS[step.function]
    arrays = [a for a in step.arguments if isinstance(a, Array)]
    written = {k % len(arrays) for k in intrinsic.writes} if arrays else set()
    writes = [a for k, a in enumerate(arrays) if k in written]
    reads = [a for k, a in enumerate(arrays) if k not in written]
    for argument in step.arguments:
        if isinstance(argument, After):
            more, others = calls.effects_of_kernel(argument.arguments, kernels[argument.kernel])
            writes, reads = [*more, *writes], [*reads, *others]
        elif isinstance(argument, Stages):
            return calls.effects_of_stages(argument, kernels)
    return tuple(writes), tuple(reads)


def known() -> list[str]:
    """Return the names of all calls but those of generated kernels."""
    return [*INTRINSICS, *specs()]
