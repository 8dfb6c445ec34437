"""Random numbers in expressions, `T.random`: streams of draws, each a function of a key and a counter.

    rng = T.random.RandomStream(seed=7)
    noise = rng.normal(size=x.shape)            # other numbers at every call of a function
    f = ag.function([x], x + noise)

Element n of a draw is `threefry(key, n)`: no element waits for another, so the bits depend neither on threads nor on
the optimizers.  Each draw has a shared state of its own, a key and the number of calls, which functions that use it
move on (`default_update`).  Streams of one seed that make the same draws in the same order have the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ...graph import Variable, dtype_name
from ..core.checks import shown
from ..core.namespace import T, no_attribute
from ..core.shared import Container, SharedVariable
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import DTypeLike, LengthLike, TensorLike
from ..elementwise.records import threefry
from ..elementwise.special import threefry as encrypted
from ..shapes.conditions import checked
from ..shapes.lengths import lengths_of
from .continuous import ContinuousDraws
from .discrete import DiscreteDraws
from .draw_parameters import (
    Size,
    draw_lengths,
    integer,
    integer_bounds,
    located,
    not_negative,
    ordered,
    probability,
    product,
    real_parameters,
    shares,
    sized,
)
from .draws import DrawState
from .fractions import fraction, inside

__all__ = ["RandomStream"]

_WIDEST = ("int64", "uint64")


class RandomStream(ContinuousDraws, DiscreteDraws):
    """A source of random variables.  Every draw is a variable: used twice it is the same numbers.

    A compiled function gives new numbers at each call, and so does `x.eval()`.

    In a function that `ag.vmap` maps, each example has numbers of its own: those of the key
    `threefry(key, 2**64 - 1 - e)` for example e.  Draws by `rng.shared` are the same for all examples.
    """

    def __init__(self, seed: int = 0) -> None:
        self.states: list[SharedVariable] = []
        """One for each draw made so far: a key and the number of calls, as uint64."""
        self._seed, self._source, self._is_shared, self._children = 0, self, False, 0
        self.seed(seed)

    def __getattr__(self, name: str) -> Any:
        raise no_attribute(self, name, "STREAM")

    @property
    def shared(self) -> RandomStream:
        """This stream, with draws that are the same for all examples of `ag.vmap`: `rng.shared.normal()`."""
        view = copy(self)
        view._is_shared = True
        return view

    def seed(self, seed: int) -> None:
        """Restart the stream, existing draws too.  Raises TypeError or ValueError unless seed is an integer >= 0."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"RandomStream: the seed must be an integer, got {seed!r}")
        if not 0 <= seed < 2**64:
            raise ValueError(f"RandomStream: the seed must be at least 0 and less than 2**64, got {seed}")
        self._source._seed = int(seed)
        for number, state in enumerate(self.states):
            state.set_value(self._first(number))

    def spawn(self, n_children: int) -> list[RandomStream]:
        """New streams whose draws are independent of this one's and of each other's; a later call gives further ones.

        Their seeds follow from that of this stream and their number, by NumPy's `SeedSequence`.  Raises TypeError or
        ValueError unless `n_children` is an integer >= 0.
        """
        if isinstance(n_children, bool) or not isinstance(n_children, (int, np.integer)):
            raise TypeError(f"spawn: the number of streams must be an integer, got {shown(n_children)}")
        if n_children < 0:
            raise ValueError(f"spawn: the number of streams must be at least 0, got {n_children}")
        parent = self._source
        first, parent._children = parent._children, parent._children + int(n_children)
        sequences = (np.random.SeedSequence(parent._seed, spawn_key=(k,)) for k in range(first, parent._children))
        return [RandomStream(int(s.generate_state(1, np.uint64)[0])) for s in sequences]

    def __repr__(self) -> str:
        return f"<RandomStream of seed {self._source._seed}, {len(self.states)} draws>"

    # --- draws
    def bits(self, size: Size = None) -> TensorVariable:
        """Random integers of 64 bits, as uint64."""
        return self._bits(draw_lengths(size, ()), 1)[0]

    def uniform(
        self, low: TensorLike = 0.0, high: TensorLike = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats from `low` on and below `high`: 53 random bits in float64, 24 in float32.

        With `size=None` the result has the joint shape of `low` and `high`, which broadcast to `size` else.  Raises
        TypeError for a dtype other than float32 and float64, ValueError where `high` is below `low` or a parameter does
        not broadcast to `size`, OverflowError where `high - low` is not finite; at run time for values known only then.
        """
        low, high = ordered(*real_parameters((low, high), dtype))
        lengths, (low, high) = sized(size, (low, high))
        (bits,) = self._bits(lengths, 1)
        return _scaled(fraction(bits, dtype), low, high)

    def normal(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Normally distributed floats of mean `loc` and standard deviation `scale`; arguments are those of `uniform`.

        Raises ValueError for a negative scale, as all distributions that have one; at run time where it is known only
        then.  Source: G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", 1958.
        """
        lengths, loc, scale = located("normal", loc, scale, size, dtype)
        radius, angle = (fraction(b, dtype) for b in self._bits(lengths, 2))
        # 1 - radius is in (0, 1], where the logarithm is finite.
        standard = T.sqrt(-2 * T.log1p(-radius)) * T.cos(angle * constant(2 * math.pi, dtype))
        return _broadcast(standard, loc, scale)

    def exponential(self, scale: TensorLike = 1.0, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Exponentially distributed floats of mean `scale`; arguments are those of `uniform`."""
        lengths, loc, scale = located("exponential", 0.0, scale, size, dtype)
        (bits,) = self._bits(lengths, 1)
        return _broadcast(-T.log1p(-fraction(bits, dtype)), loc, scale)

    def gumbel(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats of Gumbel's distribution (of the maximum of many draws); arguments are those of `uniform`."""
        lengths, loc, scale = located("gumbel", loc, scale, size, dtype)
        (bits,) = self._bits(lengths, 1)
        return _broadcast(-T.log(-T.log(inside(bits, dtype))), loc, scale)

    def laplace(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats whose distance from `loc` is exponentially distributed, of mean `scale`; arguments as of `uniform`."""
        lengths, loc, scale = located("laplace", loc, scale, size, dtype)
        (bits,) = self._bits(lengths, 1)
        u = inside(bits, dtype)
        half = constant(0.5, dtype)
        return _broadcast(T.switch(u < half, T.log(2 * u), -T.log(2 * (1 - u))), loc, scale)

    def logistic(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats of the logistic distribution, whose distribution function is `sigmoid`; arguments as of `uniform`."""
        lengths, loc, scale = located("logistic", loc, scale, size, dtype)
        (bits,) = self._bits(lengths, 1)
        u = inside(bits, dtype)
        return _broadcast(T.log(u) - T.log1p(-u), loc, scale)

    def lognormal(
        self, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Size = None, dtype: str = "float64"
    ) -> TensorVariable:
        """Floats whose logarithm is normally distributed, of `mean` and standard deviation `sigma`."""
        return T.exp(self.normal(mean, not_negative("lognormal: sigma", as_tensor(sigma)), size, dtype))

    def random(self, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Floats from 0 on and below 1; see `uniform`."""
        return self.uniform(size=size, dtype=dtype)

    def standard_normal(self, size: Size = None, dtype: str = "float64") -> TensorVariable:
        """Normally distributed floats of mean 0 and standard deviation 1; see `normal`."""
        return self.normal(size=size, dtype=dtype)

    def bernoulli(self, p: TensorLike = 0.5, size: Size = None, dtype: DTypeLike = "bool") -> TensorVariable:
        """True (or 1, for another dtype) with probability `p`, by comparison of 53 random bits with it.

        Raises ValueError where p is not from 0 to 1, at run time where it is known only then.
        """
        lengths, (p,) = sized(size, real_parameters((probability("bernoulli", p),), "float64"))
        (bits,) = self._bits(lengths, 1)
        return T.cast(fraction(bits, "float64") < p, dtype)

    def integers(
        self, low: TensorLike, high: TensorLike | None = None, size: Size = None, dtype: str = "int64"
    ) -> TensorVariable:
        """Integers from `low` on and below `high` (from 0 on and below `low`, if `high` is left out).

        Of 64 random bits, so that no number is more likely than another by more than (high - low) / 2**64.  Raises
        TypeError for bounds or a dtype that are no integers, and ValueError where `high` is not above `low` or a bound
        does not fit the dtype; at run time for bounds known only then.
        """
        if high is None:
            low, high = 0, low
        name = dtype_name(dtype)
        if np.dtype(name).kind not in "iub":
            raise TypeError(f"integers: the dtype must be one of integers, got {name}")
        first, end = integer_bounds(low, high, name)
        lengths, (first, end) = sized(size, (first, end))
        (bits,) = self._bits(lengths, 1)
        count = end - first
        drawn = bits % count
        if name in _WIDEST and not (isinstance(high, Variable) and high.dtype == "int64"):  # 2**64 numbers count as 0
            drawn = T.switch(T.eq(count, 0), bits, drawn)
        return T.cast(first + drawn, name)

    def permutation(self, n: LengthLike) -> TensorVariable:
        """The integers below `n`, or the elements of a vector (the rows of a tensor) `n`, in random order."""
        x = as_tensor(n)
        count = integer(n, "permutation") if not x.ndim else lengths_of(x)[0]
        (bits,) = self._bits((T.cast(count, "int64"),), 1)
        order = T.argsort(bits)
        return x[order] if x.ndim else order

    def choice(
        self, a: TensorLike, size: Size = None, replace: bool = True, p: TensorLike | None = None
    ) -> TensorVariable:
        """Elements of the vector `a`, or integers below `a`; without `replace` none is taken twice.

        `p`: how likely each is, a vector as long as `a` of sum 1.  Raises ValueError, at run time for what is known
        only then: nothing to choose from; fewer elements, or fewer with a `p` above 0, than are taken without
        `replace`; a `p` that is negative, NaN, or of another length or sum.
        """
        x = as_tensor(a)
        count: Any = integer(a, "choice") if not x.ndim else lengths_of(x)[0]
        lengths = draw_lengths(size, ())
        total: Any = product(lengths)
        count = checked(
            count, T.or_(count > 0, T.eq(total, 0)), "choice: a must have elements, got {0} of them", count
        )  # fmt: skip
        if not replace:
            few = "choice: without replace no more elements can be taken than there are, got {0} of {1}"
            count = checked(count, total <= count, few, total, count)
        if p is not None:
            weights = shares(as_tensor(p), count, None if replace else total)
            places = self._weighted(weights, lengths, total, replace)
        elif replace:
            (bits,) = self._bits(lengths, 1)
            places = T.cast(bits % T.cast(count, "uint64"), "int64")
        else:
            places = T.reshape(self.permutation(count)[:total], lengths)
        return x[places] if x.ndim else places

    def _weighted(self, p: Any, lengths: Any, total: Any, replace: bool) -> TensorVariable:
        """Places of the vector `p`, as likely as its elements say."""
        if replace:
            below = T.cumsum(p)
            return T.searchsorted(below / below[-1], self.uniform(size=lengths), side="right")
        # The order of exponential times to wait for each: P. S. Efraimidis and P. G. Spirakis, "Weighted random
        # sampling with a reservoir", 2006.
        times = T.switch(p > 0, self.exponential(size=lengths_of(p)) / p, math.nan)
        return T.reshape(T.argsort(times)[:total], lengths)

    # --- state
    def _first(self, number: int) -> np.ndarray:
        """The state of draw `number` before any call."""
        key = encrypted(np.array(self._source._seed, np.uint64), np.array(number, np.uint64))
        return np.array([key, 0], np.uint64)

    def _bits(self, lengths: Sequence[Variable], count: int) -> list[TensorVariable]:
        """`count` tensors of random bits of these lengths, from a new draw."""
        number = len(self.states)
        first = self._first(number)
        state = DrawState(constant(first).type, Container(first), f"random_state_{number}", self._is_shared)
        state.default_update = T.stack([state[0], state[1] + np.uint64(1)])
        self.states.append(state)
        key = threefry(state[0], state[1])
        total: Any = product(lengths)
        places = T.reshape(T.arange(total, dtype="uint64"), tuple(lengths))
        return [threefry(key, places if not k else places + T.cast(total, "uint64") * k) for k in range(count)]


def _scaled(u: Any, low: Any, high: Any) -> TensorVariable:
    found: TensorVariable = u if _is(low, 0) and _is(high, 1) else low + u * (high - low)
    return found


def _broadcast(standard: Any, loc: Any, scale: Any) -> TensorVariable:
    scaled: TensorVariable = standard if _is(scale, 1) else standard * scale
    moved: TensorVariable = scaled if _is(loc, 0) else loc + scaled
    return moved


def _is(v: Variable, number: int) -> bool:
    data = getattr(v, "data", None)
    return data is not None and data.ndim == 0 and data == number


def __getattr__(name: str) -> Any:
    """Raise AttributeError; for methods of a stream the message says where they are."""
    hint = f"; a stream has it: T.random.RandomStream(seed).{name}(...)" if hasattr(RandomStream, name) else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
