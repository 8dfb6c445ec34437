"""The call of attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import NARROW, PRODUCTS, READ, WRITE, KernelSpec, Work, array, batch, length, scalar, strided


def _work(c: Any) -> tuple[Work, ...]:
    scores = (*c.batch, c.m, c.n)
    return Work(2, (*scores, c.d)), Work(2, (*scores, c.e)), Work(3, scores, functions=("exp", "true_div"))


ATTENTION = KernelSpec(
    "attention",
    "y = softmax(scale * q[m, d] @ k[d, n] where the mask keeps it, else fill; + added) @ v[n, e] for each place of a "
    "batch.  Strides are those of all axes, 0 along those that are broadcast.",
    (
        batch(),
        length("m", "rows of q"),
        length("n", "positions"),
        length("d", "columns of q"),
        length("e", "columns of v"),
        scalar("scale"),
        *strided("q", READ),
        *strided("k", READ),
        *strided("v", READ),
        *strided("mask", READ, "bools that are `drops` where a score is left out", optional=True),
        length("drops"),
        scalar("fill", "the score of what is left out", optional=True),
        *strided("added", READ, "numbers added to the scores", optional=True),
        array("y", WRITE, "contiguous"),
    ),
    table=PRODUCTS,
    function="attend",
    fails=("MEMORY",),
    work=_work,
    only="!COMPLEX",
)

WORD_ATTENTION = replace(
    ATTENTION, name="word_attention", about="The same of bfloat16 numbers q, k and v; scores, sums and y are float.",
    table=NARROW, function="attend_words", only="", struct=ATTENTION.c_struct,
)  # fmt: skip

SPECS = (ATTENTION, WORD_ATTENTION)
