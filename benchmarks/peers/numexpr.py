"""numexpr: elementwise expressions, compiled to its virtual machine; two threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numexpr

from ..cases import Case
from . import NotOffered


def _long_chain() -> str:
    text = "abs(a)"
    for k in range(50):
        text = f"0.9*sqrt({text}*abs(b) + {0.5 + 0.01 * k})"
    return text


TEXTS = {
    "x+1": ("a + 1", "a"),
    "exp(x)*y+sin(x)-y/3": ("exp(a)*b + sin(a) - b/3", "ab"),
    "2.5*x+y": ("2.5*a + b", "ab"),
    "chain of 200": (_long_chain(), "ab"),
    "(x*x).sum(1)": ("sum(a*a, axis=1)", "a"),
    "(x*x).sum(0)": ("sum(a*a, axis=0)", "a"),
}


def version() -> str:
    return numexpr.__version__


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    found = TEXTS.get(case.name.split(",")[0])
    if found is None:
        raise NotOffered("numexpr has elementwise operations and sums only")
    text, names = found
    arrays = case.inputs()
    scope = dict(zip(names, arrays, strict=True))
    numexpr.evaluate(text, local_dict=scope)
    return lambda *_: numexpr.re_evaluate(local_dict=scope), arrays
