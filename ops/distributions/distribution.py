"""The base of distributions: parameters by name, and what one method says for another."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from ...graph import NoGradient
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
    """

    parameters: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[dict[str, float]] = {}
    is_discrete: ClassVar[bool] = False

    def __init__(self, *given: TensorLike, **named: TensorLike) -> None:
        name = type(self).__name__
        if len(given) > len(self.parameters):
            raise TypeError(f"{name} takes {', '.join(self.parameters)}, got {len(given)} values")
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

    def sample(self, rng: RandomStream, size: Size = None) -> TensorVariable:
        """Draws from a stream, `T.random.RandomStream(seed)`; differentiable by the parameters if continuous."""
        raise NotImplementedError

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
