"""Draws of SciPy's distributions without the bookkeeping of `rvs`, which takes most of the time of a small draw.

A distribution of SciPy draws by its method `_rvs`, which subclasses override; `rvs` broadcasts, checks and scales
around it.  Here the same steps run for parameters that need no care, so the bits are those of `rvs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pytensor.tensor.random import basic


class Layout(NamedTuple):
    """A distribution of `scipy.stats`, and its shape parameters, location and scale of the op's parameters."""

    name: str
    parts: Callable[..., tuple[tuple[Any, ...], Any, Any]]


LAYOUTS: dict[type, Layout] = {
    basic.HalfCauchyRV: Layout("halfcauchy", lambda loc, scale: ((), loc, scale)),
    basic.CauchyRV: Layout("cauchy", lambda loc, scale: ((), loc, scale)),
    basic.HalfNormalRV: Layout("halfnorm", lambda loc, scale: ((), loc, scale)),
    basic.GumbelRV: Layout("gumbel_r", lambda loc, scale: ((), loc, scale)),
    basic.ParetoRV: Layout("pareto", lambda b, scale: ((b,), 0, scale)),
    basic.StudentTRV: Layout("t", lambda df, loc, scale: ((df,), loc, scale)),
    basic.TruncExponentialRV: Layout("truncexpon", lambda b, loc, scale: ((b,), loc, scale)),
    basic.GenGammaRV: Layout("gengamma", lambda alpha, p, scale: ((alpha / p, p), 0, scale)),
    basic.NegBinomialRV: Layout("nbinom", lambda n, p: ((n, p), 0, 1)),
    basic.BetaBinomialRV: Layout("betabinom", lambda n, a, b: ((n, a, b), 0, 1)),
}
"""Random variables of PyTensor -> how SciPy draws them.  A subclass has a draw of its own."""


def drawn(op: Any, generator: np.random.Generator, parameters: Sequence[Any], size: Any) -> np.ndarray | None:
    """Return the sample that `op.rng_fn` would draw; None for other ops, and for parameters that `rvs` treats apart."""
    layout = LAYOUTS.get(type(op))
    if layout is None:
        return None
    import scipy.stats

    law: Any = getattr(scipy.stats, layout.name)
    shapes, loc, scale = layout.parts(*parameters)
    if not np.asarray(scale > 0).all() or (shapes and not np.all(law._argcheck(*shapes))):
        return None
    whole = np.broadcast_shapes(*(np.shape(p) for p in parameters))
    lengths = whole if size is None else size
    if len(whole) > len(lengths) or any(m not in (1, n) for m, n in zip(whole[::-1], lengths[::-1])):
        return None
    each = tuple(np.broadcast_to(s, whole) for s in shapes)
    found = law._rvs(*each, size=lengths, random_state=generator)
    return np.asarray(found * scale + loc)
