"""Intrinsics: the calls of a program other than kernels, with the arrays that each writes.

    dot, gemv, ger, gemm, matmul(products, ..., result)                products of matrices
    product_then(products, ..., result, then kernel)                   a product and its epilogue, tile by tile
    panels_then(products, m, n, k, 1, x, [s, s], panels, 0, result, then kernel)
                                                                       a product of weights in panels, and its epilogue

Arrays among the arguments are numbered in their order, those in an epilogue left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...record import record
from ..ir.kernel import Kernel
from ..kernels import specs
from . import calls
from .program import After, Array, Call, Number, Table, Vector


@record
class Intrinsic:
    """`signature`: the kinds that each argument may be of.  `writes`: numbers of arrays, perhaps from the end."""

    name: str
    signature: str
    writes: tuple[int, ...] = (-1,)


KINDS: dict[type[object], str] = {
    int: "q", str: "q", Array: "a", Vector: "v", Number: "n", Table: "t", After: "f",
}  # fmt: skip
"""The letters of signatures: quantity, array, vector, number, products, epilogue."""

INTRINSICS: dict[str, Intrinsic] = {
    found.name: found
    for found in (
        Intrinsic("dot", "t q q a q a q a"),
        Intrinsic("gemv", "t q q q na a q q a q na a"),
        Intrinsic("ger", "t q q q na a q a q a"),
        Intrinsic("gemm", "t q q q na a q q a q q na a"),
        Intrinsic("matmul", "t q v q q q n a v a v n a"),
        Intrinsic("product_then", "t q v q q q na a v a v n a f"),
        Intrinsic("panels_then", "t q q q n a v a n a f"),
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
    return tuple(writes), tuple(reads)


def known() -> list[str]:
    """Return the names of all calls but those of generated kernels."""
    return [*INTRINSICS, *specs()]
