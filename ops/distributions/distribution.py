"""The base of distributions: parameters by name, and what one method says for another."""

from __future__ import annotations

import math
from typing import Any, ClassVar, TypeVar

from ...graph import NoGradient
from ...record.spelling import counted
from ..core.checks import describe, shown
from ..core.namespace import T, no_attribute
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..random.draw_parameters import Size
from ..random.streams import RandomStream

__all__ = ["Distribution", "NoClosedForm", "NoGradient"]
D = TypeVar("D", bound="Distribution")


class NoClosedForm(NotImplementedError):
    """A distribution function or a mean that has no formula; the message says why."""


class Distribution:
    """A distribution, whose parameters broadcast together; all methods give expressions.

        d = T.distributions.Gamma(alpha=2.0, beta=x)
        d.log_density(y), d.log_cdf(y), d.mean(), d.sample(rng, size=(3,))

    Parameters are positional or by name.  A parameter outside its domain gives NaN, except in `sample`, which raises
    ValueError as `T.random` does.  Outside of the support the density is 0, its logarithm -inf.

    Sources of the formulas: N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous univariate distributions" (1994);
    N. L. Johnson, A. W. Kemp, S. Kotz, "Univariate discrete distributions" (2005); A. V. Lazo, P. Rathie, "On the
    entropy of continuous probability distributions" (1978).  Where a moment does not exist the value is SciPy's.
    """

    parameters: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[dict[str, float]] = {}
    is_discrete: ClassVar[bool] = False

    def __init__(self, *given: TensorLike, **named: TensorLike) -> None:
        name = type(self).__name__
        if len(given) > len(self.parameters):
            raise TypeError(f"{name} takes {', '.join(self.parameters)}, got {counted(len(given), 'value')}")
        values = dict(zip(self.parameters, given, strict=False))
        for key, value in named.items():
            if key not in self.parameters or key in values:
                raise TypeError(f"{name} takes {', '.join(self.parameters)}, got {key}={shown(value)}")
            values[key] = value
        missing = [p for p in self.parameters if p not in values and p not in self.defaults]
        if missing:
            raise TypeError(f"{name} takes {', '.join(self.parameters)}: {missing[0]} is missing")
        for key in self.parameters:
            found = as_tensor(values[key] if key in values else self.defaults[key])
            if found.type.kind == "c":
                raise TypeError(f"{name}: {key} must be real, got {describe(found)}")
            setattr(self, key, found)

    def __getattr__(self, name: str) -> Any:
        raise no_attribute(self, name, "DISTRIBUTION")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{p}={getattr(self, p)}' for p in self.parameters)})"

    def log_density(self, x: TensorLike) -> TensorVariable:
        """The logarithm of the density, or of the probability of a discrete number."""
        raise NotImplementedError

    def density(self, x: TensorLike) -> TensorVariable:
        """The density, or the probability of a discrete number."""
        return T.exp(self.log_density(x))

    def cdf(self, x: TensorLike) -> TensorVariable:
        """The probability of at most x."""
        return T.exp(self.log_cdf(x))

    def log_cdf(self, x: TensorLike) -> TensorVariable:
        """The logarithm of the probability of at most x.  Raises NoClosedForm where there is no formula."""
        return T.log(self.cdf(x))

    def mean(self) -> TensorVariable:
        """The mean; NaN or inf where there is none."""
        raise NotImplementedError

    def var(self) -> TensorVariable:
        """The variance; NaN or inf where there is none.  Raises NoClosedForm where there is no formula."""
        return self._valid(self._variance())

    def std(self) -> TensorVariable:
        """The standard deviation, the root of the variance."""
        return T.sqrt(self.var())

    def stats(self, moments: str = "mv") -> tuple[TensorVariable, ...]:
        """The moments of these letters: mean "m", variance "v", skewness "s", excess kurtosis "k".

        Raises ValueError for another letter.
        """
        if not moments or set(moments) - set("mvsk"):
            raise ValueError(f'{type(self).__name__}.stats: moments are letters of "mvsk", got {moments!r}')
        return tuple([self._moment(letter) for letter in moments])

    def entropy(self) -> TensorVariable:
        """The entropy in nats, differential if the distribution is continuous."""
        return self._valid(self._entropy())

    def sf(self, x: TensorLike) -> TensorVariable:
        """The probability of more than x, exact far out as well."""
        return self._valid(self._tail(x))

    def log_sf(self, x: TensorLike) -> TensorVariable:
        """The logarithm of the probability of more than x."""
        return self._valid(self._log_tail(x))

    def quantile(self, q: TensorLike) -> TensorVariable:
        """The least number whose distribution function is at least q; NaN for q beyond 0 and 1.

        Of 0 it is that before the first whole number if the distribution is discrete, as in SciPy.
        """
        q = as_tensor(q)
        ok = T.logical_and(q >= 0, q <= 1)
        safe = T.switch(ok, q, 0.5)
        found = self._quantile(safe)
        if self.is_discrete:
            found = T.switch(safe > 0, found, self._first() - 1.0)
        return self._valid(inside(ok, found, math.nan))

    def isf(self, q: TensorLike) -> TensorVariable:
        """The number that q of all numbers exceed, the quantile of 1 - q."""
        return self.quantile(1 - as_tensor(q))

    def median(self) -> TensorVariable:
        """The median, the quantile of a half."""
        return self.quantile(0.5)

    def interval(self, confidence: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        """The ends of the range around the median that holds this share of all numbers."""
        share = as_tensor(confidence)
        return self.quantile((1 - share) / 2), self.quantile((1 + share) / 2)

    def sample(self, rng: RandomStream, size: Size = None) -> TensorVariable:
        """Draws from a stream, `T.random.RandomStream(seed)`; differentiable by the parameters if continuous."""
        raise NotImplementedError

    def _moment(self, letter: str) -> TensorVariable:
        if letter in "mv":
            return self.mean() if letter == "m" else self.var()
        return self._valid(self._skewness_and_kurtosis()["sk".index(letter)])

    def _valid(self, value: Any) -> TensorVariable:
        """The value of a formula; NaN for parameters outside of their domain."""
        domain = self._domain()
        return value if domain is None else inside(domain, value, math.nan)  # type: ignore[no-any-return]

    # --- what a class gives: formulas for parameters within their domain
    def _domain(self) -> Any:
        """Whether the parameters are in their domain; None for vectors, which are not examined."""
        return None

    def _variance(self) -> Any:
        """The variance, of each element of vectors."""
        raise self._no_formula("variance")

    def _skewness_and_kurtosis(self) -> tuple[Any, Any]:
        """The skewness and the excess kurtosis."""
        raise self._no_formula("skewness or kurtosis")

    def _entropy(self) -> Any:
        raise self._no_formula("entropy")

    def _tail(self, x: Any) -> Any:
        """The probability of more than x: of its logarithm, or of the distribution function."""
        return T.exp(self._log_tail(x)) if self._gives("_log_tail") else 1 - self.cdf(x)

    def _log_tail(self, x: Any) -> Any:
        return T.log(self._tail(x)) if self._gives("_tail") else T.log1p(-self.cdf(x))

    def _quantile(self, q: Any) -> Any:
        """The least number whose distribution function is at least q, which is between 0 and 1."""
        raise self._no_formula("quantile")

    def _first(self) -> Any:
        """The least number of a discrete distribution that has a quantile."""
        return 0.0

    def _no_formula(self, what: str) -> NoClosedForm:
        return NoClosedForm(f"{type(self).__name__}: its {what} has no formula; average draws")

    @classmethod
    def _gives(cls, name: str) -> bool:
        """Whether a class has a formula of its own, by the name of the method."""
        return getattr(cls, name) is not getattr(Distribution, name)

    def _size(self, size: Size, *parameters: Any) -> Any:
        """The size of a draw: that given, or the joint lengths of the parameters."""
        if size is not None:
            return size
        joint: Any = as_tensor(parameters[0])
        for p in parameters[1:]:
            joint = joint + 0 * p
        return joint.shape


def inside(condition: Any, value: Any, outside: float) -> TensorVariable:
    """`value` where the condition holds, else a number."""
    return T.switch(condition, value, outside)  # type: ignore[no-any-return]
