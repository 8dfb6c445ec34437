"""Draws of continuous distributions: each a function of uniform, exponential and normal numbers.

Gamma and beta numbers are quantiles of uniform ones, so their derivatives by parameters are the implicit ones (M.
Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients", 2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..shapes.conditions import checked
from .draw_parameters import Size, draw_lengths, real_parameters, sized
from .fractions import open_uniform


def positive(what: str, x: TensorVariable) -> TensorVariable:
    """`x` with the check that each element is above 0; NaN passes, as in NumPy."""
    return checked(x, T.logical_not(x <= 0), f"{what} must be positive", of=x)


class ContinuousDraws:
    """The methods of `RandomStream` for continuous distributions; arguments are those of NumPy's `Generator`.

    All raise TypeError for a dtype other than float32 and float64 and ValueError for parameters outside the domain; at
    run time for values known only then.
    """

    if TYPE_CHECKING:  # of the stream
        exponential: Callable[..., TensorVariable]
        standard_normal: Callable[..., TensorVariable]
        permutation: Callable[..., TensorVariable]
        bits: Callable[..., TensorVariable]
        poisson: Callable[..., TensorVariable]

    def _parameters(self, what: str, size: Size, dtype: str, **given: Any) -> tuple[Any, list[TensorVariable]]:
        """The lengths of a draw and its parameters, which must be positive."""
        found = real_parameters(list(given.values()), dtype)
        checked_ones = [positive(f"{what}: {name}", x) for name, x in zip(given, found, strict=True)]
        lengths, parameters = sized(size, checked_ones)
        return lengths, list(parameters)

    def standard_exponential(self, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Exponentially distributed floats of mean 1."""
        return self.exponential(size=size, dtype=dtype)

    def standard_gamma(self, shape: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of the gamma distribution of this shape and scale 1, as quantiles of uniform numbers."""
        lengths, (shape,) = self._parameters("standard_gamma", size, dtype, shape=shape)
        return T.special.gammaincinv(shape, open_uniform(self, lengths, dtype))

    def gamma(
        self, shape: Any, scale: Any = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats of the gamma distribution, of mean shape * scale."""
        lengths, (k, unit) = self._parameters("gamma", size, dtype, shape=shape, scale=scale)
        return T.special.gammaincinv(k, open_uniform(self, lengths, dtype)) * unit

    def chisquare(self, df: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of the chi-squared distribution: sums of `df` squares of standard normal numbers."""
        lengths, (df,) = self._parameters("chisquare", size, dtype, df=df)
        return 2 * T.special.gammaincinv(df / 2, open_uniform(self, lengths, dtype))

    def beta(self, a: Any, b: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of the beta distribution, of mean a / (a + b), as quantiles of uniform numbers."""
        lengths, (a, b) = self._parameters("beta", size, dtype, a=a, b=b)
        found: TensorVariable = T.special.betaincinv(a, b, open_uniform(self, lengths, dtype))
        return found

    def f(self, dfnum: Any, dfden: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of Fisher's distribution: the ratio of two chi-squared numbers, each over its degrees of freedom."""
        _, (m, n) = self._parameters("f", size, dtype, dfnum=dfnum, dfden=dfden)
        lengths = draw_lengths(size, (m, n))
        return (self.chisquare(m, lengths, dtype) / m) / (self.chisquare(n, lengths, dtype) / n)

    def standard_t(self, df: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of Student's distribution with `df` degrees of freedom."""
        lengths, (df,) = self._parameters("standard_t", size, dtype, df=df)
        return self.standard_normal(lengths, dtype) * T.sqrt(df / self.chisquare(df, lengths, dtype))

    def standard_cauchy(self, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of Cauchy's distribution, the ratio of two standard normal numbers."""
        return T.tan(math.pi * (open_uniform(self, draw_lengths(size, ()), dtype) - 0.5))

    def pareto(self, a: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of Lomax's distribution, or Pareto's less 1, of shape `a`."""
        lengths, (a,) = self._parameters("pareto", size, dtype, a=a)
        return T.expm1(self.exponential(size=lengths, dtype=dtype) / a)

    def power(self, a: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats from 0 to 1 of density a x**(a - 1)."""
        lengths, (a,) = self._parameters("power", size, dtype, a=a)
        return T.exp(-self.exponential(size=lengths, dtype=dtype) / a)

    def rayleigh(self, scale: Any = 1.0, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of Rayleigh's distribution: the length of a vector of two normal numbers of deviation `scale`."""
        lengths, (deviation,) = self._parameters("rayleigh", size, dtype, scale=scale)
        return deviation * T.sqrt(2 * self.exponential(size=lengths, dtype=dtype))

    def weibull(self, a: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of Weibull's distribution of shape `a` and scale 1."""
        lengths, (k,) = self._parameters("weibull", size, dtype, a=a)
        return self.exponential(size=lengths, dtype=dtype) ** (1 / k)

    def triangular(
        self, left: Any, mode: Any, right: Any, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats from `left` to `right` whose density is a triangle with its top at `mode`."""
        left, mode, right = real_parameters((left, mode, right), dtype)
        mode = checked(mode, T.logical_and(left <= mode, mode <= right), "triangular: left <= mode <= right must hold")
        right = checked(right, left < right, "triangular: left must be below right")
        lengths, (left, mode, right) = sized(size, (left, mode, right))
        u = open_uniform(self, lengths, dtype)
        width = right - left
        low = left + T.sqrt(u * width * (mode - left))
        high = right - T.sqrt((1 - u) * width * (right - mode))
        return T.switch(u * width < mode - left, low, high)

    def vonmises(
        self, mu: Any, kappa: Any, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Angles from -pi to pi of von Mises' distribution around `mu`, by its quantile."""
        centre, width = real_parameters((mu, kappa), dtype)
        width = checked(width, T.logical_not(width < 0), "vonmises: kappa must not be negative", of=width)
        lengths, (centre, width) = sized(size, (centre, width))
        angle = centre + T.special.vonmises_quantile(width, open_uniform(self, lengths, dtype))
        return angle - 2 * math.pi * T.rint(angle / (2 * math.pi))

    def wald(self, mean: Any, scale: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats of the inverse Gaussian distribution.

        Source: J. R. Michael, W. R. Schucany and R. W. Haas, "Generating random variates using transformations with
        multiple roots", 1976.
        """
        lengths, (mean, scale) = self._parameters("wald", size, dtype, mean=mean, scale=scale)
        y = mean * T.square(self.standard_normal(lengths, dtype)) / (2 * scale)
        # the smaller root, without cancellation: mean / (1 + y + sqrt(y (2 + y)))
        root = mean / (1 + y + T.sqrt(y * (2 + y)))
        u = open_uniform(self, lengths, dtype)
        return T.switch(u * (mean + root) <= mean, root, mean * (mean / root))

    def noncentral_chisquare(
        self, df: Any, nonc: Any, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats of the noncentral chi-squared distribution, a mixture by a Poisson number of pairs more."""
        df, nonc = real_parameters((df, nonc), dtype)
        nonc = checked(nonc, T.logical_not(nonc < 0), "noncentral_chisquare: nonc must not be negative", of=nonc)
        lengths = draw_lengths(size, (df, nonc))
        pairs = T.cast(self.poisson(nonc / 2, lengths), dtype)
        return self.chisquare(positive("noncentral_chisquare: df", df) + 2 * pairs, lengths, dtype)

    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats of the noncentral F distribution."""
        m, n, nonc = real_parameters((dfnum, dfden, nonc), dtype)
        lengths = draw_lengths(size, (m, n, nonc))
        return (self.noncentral_chisquare(m, nonc, lengths, dtype) / m) / (self.chisquare(n, lengths, dtype) / n)

    # --- vectors
    def dirichlet(self, alpha: Any, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Vectors of positive numbers of sum 1, along a new last axis for a vector `alpha`: gamma numbers, scaled."""
        (x,) = real_parameters((alpha,), dtype)
        if x.ndim < 1:
            raise ValueError(f"dirichlet: alpha must have an axis, got {describe(x)}; give a vector")
        lengths = T.lengths_of(x) if size is None else (*draw_lengths(size, ()), T.lengths_of(x)[-1])
        drawn = self.standard_gamma(positive("dirichlet: alpha", x), lengths, dtype)
        return drawn / T.sum(drawn, axis=-1, keepdims=True)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Size = None, dtype: str = "float64", method: str = "cholesky"
    ) -> TensorVariable:
        """Normal vectors of this mean and covariance.

        `method`: the root of `cov`, by "cholesky", or "eigh" for a singular matrix.  Raises ValueError for another
        method, or shapes that do not fit.
        """
        middle, covariance = real_parameters((mean, cov), dtype)
        if middle.ndim < 1 or covariance.ndim < 2:
            got = f"{describe(middle)}, {describe(covariance)}"
            raise ValueError(f"multivariate_normal: expected a vector and a square matrix, got {got}")
        if method not in ("cholesky", "eigh"):
            raise ValueError(f'multivariate_normal: method is "cholesky" or "eigh", got {shown(method)}')
        outer = draw_lengths(size, ()) if size is not None else T.lengths_of(middle)[:-1]
        z = self.standard_normal((*outer, T.lengths_of(middle)[-1]), dtype)
        if method == "cholesky":
            root = T.linalg.cholesky(covariance)
        else:
            values, vectors = T.linalg.eigh(covariance)
            root = vectors * T.expand_dims(T.sqrt(T.maximum(values, 0)), -2)
        return middle + T.matmul(root, T.expand_dims(z, -1))[..., 0]

    # --- orders
    def permuted(self, x: Any, axis: int | None = None) -> TensorVariable:
        """`x` with the elements of each vector along `axis` in an order of its own; all elements for None."""
        x = as_tensor(x)
        if axis is None:
            return T.reshape(self.permutation(T.ravel(x)), T.lengths_of(x))
        order = T.argsort(self.bits(T.lengths_of(x)), axis=axis)
        return T.take_along_axis(x, order, axis=axis)

    def shuffle(self, x: Any, axis: int = 0) -> TensorVariable:
        """`x` with its parts along `axis` in random order, as a new tensor: NumPy's method writes into its array."""
        moved = T.moveaxis(as_tensor(x), axis, 0)
        return T.moveaxis(self.permutation(moved), 0, axis)

    def bytes(self, length: Any) -> TensorVariable:
        """`length` random bytes, as a vector of uint8."""
        return T.cast(self.bits((length,)), "uint8")
