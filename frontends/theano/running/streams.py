"""`theano.tensor.shared_randomstreams`: draws by NumPy's Mersenne Twister, number for number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ....graph import Constant, Kind, Lacks, TensorType
from ....graph import Variable as CoreVariable
from ....ops.core.shared import Container
from ....ops.core.shared import SharedVariable as CoreShared
from ....ops.core.tensor import HostOp
from ....ops.elementwise import costs
from ....record import record
from ..tensors.dtypes import float_x, upcast
from ..tensors.indexing import permute_row_elements
from ..tensors.shapes import lengths
from ..tensors.variables import as_tensor_variable, shared_kind, wrap
from .shared_values import SharedVariable, shared_constructor

KEYS = 624
STATE = TensorType("uint64", (KEYS + 3,))
"""The type of a state: the keys, the position, whether a normal number is left over, and its bits."""


def encoded(generator: np.random.RandomState) -> np.ndarray:
    """A generator as an array."""
    state: Any = generator.get_state()
    _, keys, position, has_gauss, gauss = state
    tail = np.array([position, has_gauss], np.uint64)
    return np.concatenate([keys.astype(np.uint64), tail, np.array([gauss]).view(np.uint64)])


def decoded(state: np.ndarray) -> np.random.RandomState:
    """The generator of an array."""
    found = np.random.RandomState(0)
    gauss = float(state[KEYS + 2 :].copy().view(np.float64)[0])
    found.set_state(("MT19937", state[:KEYS].astype(np.uint32), int(state[KEYS]), int(state[KEYS + 1]), gauss))
    return found


# --- distributions: a function of the generator, the size (None: that of the parameters) and the parameters


def _random_integers(r: Any, size: Any, low: Any, high: Any) -> Any:
    return r.randint(low, np.asarray(high) + 1, size)


def _permutation(r: Any, size: Any, n: Any) -> Any:
    if size is None:
        return r.permutation(int(n))
    return np.array([r.permutation(int(n)) for _ in range(int(np.prod(size)))]).reshape(*size, int(n))


def _choice(r: Any, size: Any, a: Any, p: Any = None, replace: bool = True) -> Any:
    return r.choice(int(a) if np.ndim(a) == 0 else a, size, replace, p)


def _multinomial(r: Any, size: Any, n: Any, pvals: Any) -> Any:
    pvals, n = np.asarray(pvals, "float64"), np.asarray(n)
    outer = np.broadcast_shapes(n.shape, pvals.shape[:-1]) if size is None else tuple(size)
    counts, rows = np.broadcast_to(n, outer), np.broadcast_to(pvals, (*outer, pvals.shape[-1]))
    found = np.empty(rows.shape, np.int64)
    for place in np.ndindex(outer):
        found[place] = r.multinomial(int(counts[place]), rows[place])
    return found


DISTRIBUTIONS: dict[str, Callable[..., Any]] = {
    "uniform": lambda r, size, low, high: r.uniform(low, high, size),
    "normal": lambda r, size, avg, std: r.normal(avg, std, size),
    "binomial": lambda r, size, n, p: r.binomial(n, p, size),
    "poisson": lambda r, size, lam: r.poisson(lam, size),
    "random_integers": _random_integers,
    "permutation": _permutation,
    "choice": _choice,
    "choice_without": lambda r, size, a, p=None: _choice(r, size, a, p, replace=False),
    "multinomial": _multinomial,
}
ADDED = {"permutation": 1, "multinomial": 1}
"""Axes of a draw beyond those of its size."""


@record
class Draw(HostOp):
    """`draw(state, size, *parameters)`: (next state, numbers) of a distribution."""

    distribution: str
    ndim: int
    dtype: str
    sized: bool
    name = "mersenne_draw"
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(
        lengths="the values decide them", batching="all examples would draw the same numbers"
    )

    def infer(self, inputs: tuple[CoreVariable, ...]) -> tuple[TensorType, ...]:
        known: list[int | None] = [None] * self.ndim
        if self.sized and isinstance(inputs[1], Constant):
            size = [int(n) for n in inputs[1].data]
            known[: len(size)] = size
        return STATE, TensorType(self.dtype, tuple(known))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        generator = decoded(values[0])
        size = tuple(int(n) for n in values[1]) if self.sized else None
        found = DISTRIBUTIONS[self.distribution](generator, size, *values[1 + self.sized :])
        return encoded(generator), np.asarray(found).astype(self.dtype)

    def vjp(self, node: Any, cotangents: Sequence[CoreVariable | None]) -> Sequence[CoreVariable | None]:
        return [None] * len(node.inputs)


class _State(CoreShared):
    """The state of a generator, a leaf of the core."""

    __slots__ = ()

    def clone_leaf(self) -> _State:
        return _State(self.type, self.container, self.name)

    def __reduce__(self) -> Any:
        return _State, (self.type, self.container, self.name)


class RandomStateSharedVariable(SharedVariable):
    """A generator as a shared variable: its value is a `numpy.random.RandomState`."""

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> np.random.RandomState:
        """A generator in the state of this one; give it back by `set_value` after drawing from it."""
        return decoded(self.core.container.value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Continue as this generator does."""
        if not isinstance(new_value, np.random.RandomState):
            raise TypeError(f"expected a numpy.random.RandomState, got {type(new_value).__name__} {new_value!r}")
        self.core.container.value = encoded(new_value)


_plain = shared_kind.pop()


def _wrapper(core: CoreShared) -> Any:
    if not isinstance(core, _State):
        return _plain(core)
    found = RandomStateSharedVariable.__new__(RandomStateSharedVariable)
    found._hold(core)
    return found


shared_kind.append(_wrapper)


@shared_constructor
def randomstate_constructor(value: Any, name: str | None = None, **options: Any) -> Any:
    """The shared variable of a generator.  Raises TypeError for other values."""
    if not isinstance(value, np.random.RandomState):
        raise TypeError(f"expected a numpy.random.RandomState, got {value!r}")
    return wrap(_State(STATE, Container(encoded(value)), name))


class RandomStreams:
    """Stream of random tensors; each draw has its own generator, seeded by the generator of the stream."""

    def __init__(self, seed: Any = None) -> None:
        self.state_updates: list[tuple[Any, Any]] = []
        self.default_instance_seed = seed
        self.gen_seedgen = np.random.RandomState(seed)

    def updates(self) -> list[tuple[Any, Any]]:
        """The states and their next values."""
        return list(self.state_updates)

    def seed(self, seed: Any = None) -> None:
        """Seed all generators anew, from this seed or the first one."""
        generator = np.random.RandomState(int(self.default_instance_seed if seed is None else seed))
        for state, _ in self.state_updates:
            state.set_value(np.random.RandomState(int(generator.randint(2**30))))

    def __getitem__(self, item: Any) -> np.random.RandomState:
        """The generator of a draw."""
        found: np.random.RandomState = self._state(item).get_value()
        return found

    def _state(self, item: Any) -> Any:
        """The state of a draw, or the state itself.  Raises KeyError if neither is of this stream."""
        for state, _ in self.state_updates:
            if item is state or item is state._draw:
                return state
        raise KeyError(f"{item} is no draw of this stream")

    def __setitem__(self, item: Any, generator: np.random.RandomState) -> None:
        """Let a draw continue as a generator does."""
        self._state(item).set_value(generator)

    def gen(self, distribution: str, size: Any, ndim: Any, dtype: Any, *parameters: Any) -> Any:
        """A draw; its generator is `sample.rng`, its next state `sample.update`."""
        state = randomstate_constructor(np.random.RandomState(int(self.gen_seedgen.randint(2**30))))
        new, sample = draw(state, distribution, size, ndim, dtype, *parameters)
        sample.rng, sample.update = state, (state, new)
        state._draw = sample
        self.state_updates.append((state, new))
        state.default_update = new
        return sample

    def uniform(self, size: Any = None, low: Any = 0.0, high: Any = 1.0, ndim: Any = None, dtype: Any = None) -> Any:
        """Numbers between `low` and `high`."""
        return self.gen("uniform", size, ndim, dtype, low, high)

    def normal(self, size: Any = None, avg: Any = 0.0, std: Any = 1.0, ndim: Any = None, dtype: Any = None) -> Any:
        """Normal numbers."""
        return self.gen("normal", size, ndim, dtype, avg, std)

    def binomial(
        self, size: Any = None, n: Any = 1, p: Any = 0.5, ndim: Any = None, dtype: Any = "int64", prob: Any = None
    ) -> Any:
        """How many of `n` trials succeed with probability `p`."""
        return self.gen("binomial", size, ndim, dtype, n, p if prob is None else prob)

    def poisson(self, size: Any = None, lam: Any = None, ndim: Any = None, dtype: Any = "int64") -> Any:
        """Numbers of events whose mean is `lam`."""
        return self.gen("poisson", size, ndim, dtype, 1.0 if lam is None else lam)

    def random_integers(
        self, size: Any = None, low: Any = 0, high: Any = 1, ndim: Any = None, dtype: Any = "int64"
    ) -> Any:
        """Integers from `low` to `high`, both included."""
        return self.gen("random_integers", size, ndim, dtype, low, high)

    def choice(
        self, size: Any = None, a: Any = 2, replace: bool = True, p: Any = None, ndim: Any = None, dtype: Any = "int64"
    ) -> Any:
        """Elements of `a`, or of the first `a` integers."""
        given = [a] if p is None else [a, p]
        return self.gen("choice" if replace else "choice_without", () if size is None else size, ndim, dtype, *given)

    def permutation(self, size: Any = None, n: Any = 1, ndim: Any = None, dtype: Any = "int64") -> Any:
        """Permutations of the first `n` integers."""
        return self.gen("permutation", size, ndim, dtype, n)

    def multinomial(
        self, size: Any = None, n: Any = 1, pvals: Any = (0.5, 0.5), ndim: Any = None, dtype: Any = "int64"
    ) -> Any:
        """How often each outcome is drawn in `n` trials."""
        return self.gen("multinomial", size, ndim, dtype, n, pvals)

    def shuffle_row_elements(self, input: Any) -> Any:
        """The elements of each row in another order."""
        x = as_tensor_variable(input)
        order = self.permutation(size=x.shape[:-1] if x.ndim > 1 else None, n=x.shape[-1], ndim=x.ndim - 1)
        return permute_row_elements(x, order)


def draw(state: Any, distribution: str, size: Any, ndim: Any, dtype: Any, *parameters: Any) -> tuple[Any, Any]:
    """(next state, numbers) of a distribution."""
    given = [as_tensor_variable(p) for p in parameters]
    added = ADDED.get(distribution, 0)
    sizes: list[Any] = []
    if size is not None:
        shape = lengths(size)
        sizes = [_vector(shape)]
        rank = (len(shape) if isinstance(shape, tuple) else int(ndim)) + added
    else:
        ranks = [p.ndim for p in given]
        if distribution == "multinomial":
            ranks[1] -= 1
        rank = max(ranks) + added if distribution != "permutation" else 1
        if ndim is not None and int(ndim) + added != rank:
            raise ValueError(f"{distribution}: ndim is {ndim} without a size; the parameters have {rank - added}")
    if dtype is None:
        dtype = upcast(float_x(None), *(p.dtype for p in given))
    op = Draw(distribution, rank, float_x(dtype), bool(sizes))
    outputs: Any = op(state.core, *(v.core for v in (*sizes, *given)))
    new, sample = outputs
    return wrap(new, state), wrap(sample, *given)


def _vector(shape: Any) -> Any:
    """A shape of the core as an int64 vector."""
    if not isinstance(shape, tuple):
        return wrap(shape)
    if all(isinstance(n, int) for n in shape):
        return as_tensor_variable(np.array(shape, np.int64))
    return as_tensor_variable([wrap(n) if isinstance(n, CoreVariable) else n for n in shape]).astype("int64")
