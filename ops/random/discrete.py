"""Draws of discrete distributions, as int64: quantiles of uniform numbers, or exact transformations of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.checks import describe
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..shapes.conditions import checked
from .continuous import positive
from .draw_parameters import Size, draw_lengths, probability, real_parameters, sized
from .fractions import open_uniform

COLORED = 10**9
"""NumPy's limit for the elements of a color: beyond it a search takes long, and probabilities lose digits."""


class DiscreteDraws:
    """The methods of `RandomStream` for discrete distributions; arguments are those of NumPy's `Generator`.

    All raise ValueError for parameters outside the domain; at run time for values known only then.
    """

    if TYPE_CHECKING:  # of the stream
        exponential: Callable[..., TensorVariable]
        standard_gamma: Callable[..., TensorVariable]

    def _count(self, what: str, n: Any) -> TensorVariable:
        x = as_tensor(n)
        if x.type.kind not in "iu":
            raise TypeError(f"{what} must be an integer, got {describe(x)}; cast it")
        return T.cast(checked(x, T.ge(x, 0), f"{what} must not be negative", of=x), "float64")

    def poisson(self, lam: Any = 1.0, size: Size = None) -> TensorVariable:
        """Poisson numbers of mean `lam`, by the quantile."""
        (lam,) = real_parameters((lam,), "float64")
        lam = checked(lam, T.logical_not(lam < 0), "poisson: lam must not be negative", of=lam)
        lengths, (lam,) = sized(size, (lam,))
        return T.cast(T.special.poisson_quantile(lam, open_uniform(self, lengths, "float64")), "int64")

    def binomial(self, n: Any, p: Any, size: Size = None) -> TensorVariable:
        """How many of `n` trials succeed, each with probability `p`, by the quantile."""
        (q,) = real_parameters((probability("binomial", p),), "float64")
        lengths, (count, q) = sized(size, (self._count("binomial: n", n), q))
        return T.cast(T.special.binomial_quantile(count, q, open_uniform(self, lengths, "float64")), "int64")

    def geometric(self, p: Any, size: Size = None) -> TensorVariable:
        """The number of the first trial that succeeds, from 1 on."""
        (q,) = real_parameters((probability("geometric", p),), "float64")
        lengths, (q,) = sized(size, (positive("geometric: p", q),))
        waited = T.ceil(self.exponential(size=lengths) / -T.log1p(-q))
        return T.cast(T.maximum(waited, 1), "int64")

    def negative_binomial(self, n: Any, p: Any, size: Size = None) -> TensorVariable:
        """How many trials fail before `n` succeed: a Poisson number whose mean is a gamma number."""
        count, q = real_parameters((n, probability("negative_binomial", p)), "float64")
        count, q = positive("negative_binomial: n", count), positive("negative_binomial: p", q)
        lengths, (count, q) = sized(size, (count, q))
        mean = self.standard_gamma(count, lengths) * ((1 - q) / q)
        return self.poisson(mean, lengths)

    def hypergeometric(
        self, ngood: Any, nbad: Any, nsample: Any, size: Size = None
    ) -> TensorVariable:
        """How many of `nsample` are good, drawn without replacement from `ngood` and `nbad`, each less than 10**9."""
        good = _fewer(self._count("hypergeometric: ngood", ngood), "hypergeometric: ngood", COLORED)
        bad = _fewer(self._count("hypergeometric: nbad", nbad), "hypergeometric: nbad", COLORED)
        sample = self._count("hypergeometric: nsample", nsample)
        sample = checked(sample, sample <= good + bad, "hypergeometric: nsample must be at most ngood + nbad")
        lengths, (good, bad, sample) = sized(size, (good, bad, sample))
        u = open_uniform(self, lengths, "float64")
        return T.cast(T.special.hypergeometric_draw(good, bad, sample, u), "int64")

    def logseries(self, p: Any, size: Size = None) -> TensorVariable:
        """Numbers from 1 on of probability -p**k / (k log(1 - p)).

        Source: A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", 1981.
        """
        (q,) = real_parameters((p,), "float64")
        q = checked(q, T.logical_and(q >= 0, q < 1), "logseries: p must be at least 0 and below 1", of=q)
        lengths, (q,) = sized(size, (q,))
        u, v = open_uniform(self, lengths, "float64"), open_uniform(self, lengths, "float64")
        h = -T.expm1(T.log1p(-q) * u)
        far = T.floor(1 + T.log(v) / T.log(h))
        found = T.switch(v >= q, 1, T.switch(v <= T.square(h), T.maximum(far, 1), T.switch(v >= h, 1, 2)))
        return T.cast(found, "int64")

    def zipf(self, a: Any, size: Size = None) -> TensorVariable:
        """Numbers from 1 on of probability k**-a / zeta(a), by the quantile; at most about 2**53."""
        (a,) = real_parameters((a,), "float64")
        lengths, (a,) = sized(size, (checked(a, a > 1, "zipf: a must be above 1", of=a),))
        return T.cast(T.special.zipf_quantile(a, open_uniform(self, lengths, "float64")), "int64")

    # --- vectors
    def multinomial(self, n: Any, pvals: Any, size: Size = None) -> TensorVariable:
        """How often each of several outcomes occurs in `n` trials, along the last axis, which must have a known length.

        Binomial numbers, each of what is left, as NumPy's.
        """
        p = probability("multinomial", pvals)
        (p,) = real_parameters((p,), "float64")
        k = _known("multinomial: pvals", p)
        left = as_tensor(n)
        left = T.cast(checked(left, T.ge(left, 0), "multinomial: n must not be negative", of=left), "int64")
        outer = draw_lengths(size, (left, p[..., 0])) if size is None else draw_lengths(size, ())
        rest: Any = 1.0
        found = []
        for j in range(k - 1):
            drawn = self.binomial(left, T.clip(T.switch(T.le(rest, 0), 0, p[..., j] / rest), 0, 1), outer)
            found.append(drawn)
            left, rest = left - drawn, rest - p[..., j]
        found.append(T.broadcast_to(left, outer) if left.ndim < len(outer) else left)
        return T.stack(found, axis=-1)

    def multivariate_hypergeometric(self, colors: Any, nsample: Any, size: Size = None) -> TensorVariable:
        """How many of each color are in a sample drawn without replacement; the last axis has a known length.

        There are less than 10**9 elements in all.
        """
        counts = as_tensor(colors)
        k = _known("multivariate_hypergeometric: colors", counts)
        whole = _fewer(T.sum(counts, axis=-1), "multivariate_hypergeometric: the sum of colors", COLORED)
        left, rest = as_tensor(nsample), whole
        outer = draw_lengths(size, (left, rest)) if size is None else draw_lengths(size, ())
        found = []
        for j in range(k - 1):
            rest = rest - counts[..., j]
            drawn = self.hypergeometric(counts[..., j], rest, left, outer)
            found.append(drawn)
            left = left - drawn
        found.append(T.broadcast_to(left, outer) if left.ndim < len(outer) else left)
        return T.stack(found, axis=-1)


def _fewer(x: TensorVariable, what: str, limit: int) -> TensorVariable:
    """The counts x.  Raises ValueError for one that reaches the limit."""
    return checked(x, T.lt(x, limit), f"{what} must be less than {limit}", of=x)


def _known(what: str, x: TensorVariable) -> int:
    """The known length of the last axis.  Raises ValueError if there is none."""
    length = x.type.shape[-1] if x.ndim else None
    if not isinstance(length, int) or not length:
        raise ValueError(f"{what} must have a last axis of known length, got {describe(x)}; use T.specify_shape")
    return length
