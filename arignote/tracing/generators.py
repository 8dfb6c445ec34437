"""Generators of NumPy in a trace: draws are ops on the state, an array that the function writes.

    y = rng.normal(size=3)      -->     stored[state], y = numpy_draw(now(state), 3, 0.0, 1.0)

So draws in loops and branches follow each other as other writes do.  After a call the state goes into the generator of
the caller.  Samples are NumPy's, bit for bit.  Distributions in `DISTRIBUTIONS` have C for PCG64; NumPy draws the
others as a host step.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .. import ops as T
from ..graph import Constant, Variable
from ..graph.provenance import line
from ..ops.core.checks import shown
from ..ops.core.tensor import as_tensor
from ..ops.core.traced import adopt, as_variable, is_symbolic
from ..ops.core.tracing import Number, current
from ..ops.random.generator_draws import GeneratorDraw
from ..ops.random.generator_states import draws_in_c, state_of
from ..ops.random.numpy_draws import DISTRIBUTIONS, NumpyDraw
from ..ops.shapes.stored import copied, now, whole
from ..record.spelling import counted
from .arguments import AnyView

_PCG64 = np.random.PCG64


class _Draw(NamedTuple):
    """A distribution: its parameters with their defaults, and how it is drawn.

    `drawn`: a distribution in C whose parameters `values` gives; empty for one that NumPy draws.
    """

    parameters: tuple[tuple[str, Any], ...]
    dtype: str = "float64"
    drawn: str = ""
    values: Callable[..., tuple[Any, ...]] | None = None


class _Missing:
    """The default of a parameter that must be given."""


def _draw(words: str, *defaults: Any, dtype: str = "float64", drawn: str = "", values: Any = None) -> _Draw:
    names = words.split()
    given: list[Any] = [_Missing] * (len(names) - len(defaults)) + list(defaults)
    return _Draw(tuple(zip(names, given, strict=True)), dtype, drawn, values)


_DRAWS: dict[str, _Draw] = {
    "random": _draw("", drawn="uniform", values=lambda: (0.0, 1.0)),
    "standard_normal": _draw("", drawn="normal", values=lambda: (0.0, 1.0)),
    "standard_exponential": _draw("", drawn="exponential", values=lambda: (1.0,)),
    "standard_gamma": _draw("shape", drawn="gamma", values=lambda shape: (shape, 1.0)),
    "uniform": _draw("low high", 0.0, 1.0, drawn="uniform"),
    "normal": _draw("loc scale", 0.0, 1.0, drawn="normal"),
    "exponential": _draw("scale", 1.0, drawn="exponential"),
    "gamma": _draw("shape scale", 1.0, drawn="gamma"),
    "beta": _draw("a b", drawn="beta"),
    "lognormal": _draw("mean sigma", 0.0, 1.0, drawn="lognormal"),
    "laplace": _draw("loc scale", 0.0, 1.0, drawn="laplace"),
    "logistic": _draw("loc scale", 0.0, 1.0, drawn="logistic"),
    "vonmises": _draw("mu kappa", drawn="vonmises"),
    "wald": _draw("mean scale", drawn="wald"),
    "weibull": _draw("a", drawn="weibull"),
    "triangular": _draw("left mode right", drawn="triangular"),
    "poisson": _draw("lam", 1.0, dtype="int64", drawn="poisson"),
    "geometric": _draw("p", dtype="int64", drawn="geometric"),
    "binomial": _draw("n p", dtype="int64", drawn="binomial"),
    **{name: _draw(words) for name, words in {
        "chisquare": "df", "f": "dfnum dfden", "noncentral_chisquare": "df nonc",
        "noncentral_f": "dfnum dfden nonc", "pareto": "a", "power": "a", "standard_t": "df", "standard_cauchy": "",
    }.items()},
    "gumbel": _draw("loc scale", 0.0, 1.0),
    "rayleigh": _draw("scale", 1.0),
    **{name: _draw(words, dtype="int64") for name, words in {
        "negative_binomial": "n p", "hypergeometric": "ngood nbad nsample", "logseries": "p", "zipf": "a",
    }.items()},
}  # fmt: skip
_WITH_DTYPE = frozenset(("random", "standard_normal", "standard_exponential", "standard_gamma"))
"""Distributions that take `dtype` and `out`."""


class _State:
    """State of a traced generator, as that of other views: the number of the object, and what is assigned to it."""

    def __init__(self, number: int, original: Any, handle: Any) -> None:
        self.number, self.original, self.handle = number, original, handle

    @property
    def written(self) -> dict[str, Any]:
        trace: Any = current()
        found = now(trace, self.handle)
        return {} if found is self.handle else {"state": found}


class TracedGenerator(AnyView):
    """A `np.random.Generator` of the call, or one that the function makes of a constant seed."""

    __slots__ = ("_ag_state",)

    def __init__(self, handle: Any, number: int = -1, original: Any = None) -> None:
        self._ag_state: _State = _State(number, original, handle)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.random.Generator

    def __getattr__(self, name: str) -> Any:
        draw = _DRAWS.get(name)
        if draw is None:
            if name.startswith("__") or not hasattr(np.random.Generator, name):
                raise AttributeError(f"'Generator' object has no attribute {name!r}")
            _refuse(name)
        return lambda *args, **keywords: self._distribution(name, draw, args, keywords)

    # --- draws
    def _drawn(self, op: Any, inputs: Sequence[Any], number: type | None = None) -> Any:
        """Apply a draw to the state as it is now."""
        trace: Any = current()
        handle = self._ag_state.handle
        after, sample = op(now(trace, handle), *inputs)
        trace.stored[handle] = after
        adopt(trace, sample)
        if number is not None:
            trace.numbers[sample] = Number(number)
        return sample

    def _distribution(self, name: str, draw: _Draw, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        words = [word for word, _ in draw.parameters]
        own = [*words, "size", *(("dtype", "method", "out") if name == "standard_exponential" else ())]
        own += ["dtype", "out"] if name in _WITH_DTYPE and name != "standard_exponential" else []
        given = _bound(name, own, args, keywords)
        values = [given.get(word, default) for word, default in draw.parameters]
        missing = [w for w, v in zip(words, values, strict=True) if v is _Missing]
        if missing:
            raise TypeError(f"rng.{name}: argument {missing[0]!r} is missing{line()}")
        out, size = given.get("out"), given.get("size")
        if out is not None:
            size = T.lengths_of(out) if size is None else size
        dtype = np.dtype(given.get("dtype") or draw.dtype).name
        method = given.get("method", "zig")
        if draw.drawn and dtype == draw.dtype and method == "zig" and self._has_c():
            values = list(draw.values(*values)) if draw.values is not None else values
            sample = self._in_c(draw.drawn, values, size)
        else:
            extra: list[tuple[str, Any]] = [("dtype", dtype)] if dtype != draw.dtype else []
            extra += [("method", method)] if method != "zig" else []
            sample = self._by_numpy(name, values, size, dtype, tuple(extra))
        if out is None:
            return sample
        whole(out, sample, f"rng.{name}(out=)")
        return out

    def _has_c(self) -> bool:
        """Whether the draws of this generator are C: those of a PCG64."""
        original = self._ag_state.original
        return draws_in_c() and (original is None or type(original.bit_generator) is _PCG64)

    def _in_c(self, distribution: str, values: Sequence[Any], size: Any) -> Any:
        wanted = DISTRIBUTIONS[distribution][0]
        parameters = [_parameter(v, dtype) for v, dtype in zip(values, wanted, strict=True)]
        lengths, parameters = _sized(size, parameters)
        number = None
        if size is None and not lengths and distribution != "integers":
            number = int if DISTRIBUTIONS[distribution][1] == "int64" else float
        return self._drawn(NumpyDraw(distribution, len(lengths)), [*lengths, *parameters], number)

    def _by_numpy(
        self, method: str, values: Sequence[Any], size: Any, dtype: str, keywords: tuple[tuple[str, Any], ...] = ()
    ) -> Any:
        lengths, parameters = _sized(size, [as_tensor(as_variable(v)) for v in values])
        number = int if dtype == "int64" else float if dtype == "float64" else None
        number = number if size is None and not lengths and method != "integers" else None
        return self._drawn(GeneratorDraw(method, len(lengths), dtype, keywords), [*lengths, *parameters], number)

    # --- integers, choices and orders
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """`Generator.integers`."""
        low, high = (0, low) if high is None else (low, high)
        name = np.dtype(dtype).name
        if name == "int64" and self._has_c():
            return self._in_c("integers", (low, high + 1 if endpoint else high), size)
        extra = (("dtype", name), ("endpoint", bool(endpoint)))
        return self._by_numpy("integers", (low, high), size, name, extra)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """`Generator.permutation`."""
        array = as_tensor(x) if isinstance(x, (Variable, np.ndarray, list, tuple)) else None
        if array is None or not array.ndim:
            return self._order(x)
        return T.take(array, self._order(T.lengths_of(now(_trace(), array))[axis]), axis=axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """`Generator.shuffle`."""
        if not isinstance(x, Variable):
            _refuse("shuffle", " of what is no array of the function")
        trace = _trace()
        order = self._order(T.lengths_of(now(trace, x))[axis])
        whole(x, T.take(now(trace, x), order, axis=axis), "rng.shuffle")

    def _order(self, count: Any) -> Any:
        return self._drawn(GeneratorDraw("permutation", 1, "int64"), [_parameter(count, "int64")])

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """`Generator.choice`."""
        array = as_tensor(a) if isinstance(a, (Variable, np.ndarray, list, tuple)) else None
        if array is not None and not array.ndim:
            array, a = None, array
        count = a if array is None else T.lengths_of(now(_trace(), array))[axis]
        if replace and p is None:
            chosen = self.integers(0, count, size)
        else:
            lengths, _ = _sized(() if size is None else size, [])
            extra = (("replace", bool(replace)), ("shuffle", bool(shuffle)))
            method = "choice" if p is None else "weighted_choice"
            rest = [_parameter(count, "int64"), *([] if p is None else [as_tensor(p)])]
            chosen = self._drawn(GeneratorDraw(method, len(lengths), "int64", extra), [*lengths, *rest])
        return chosen if array is None else T.take(array, chosen, axis=axis)

    # --- samples that are vectors
    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, **keywords: Any) -> Any:
        """`Generator.multivariate_normal`."""
        return self._of_vectors("multivariate_normal", mean, (mean, cov), size, keywords)

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """`Generator.dirichlet`."""
        return self._of_vectors("dirichlet", alpha, (alpha,), size, {})

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """`Generator.multinomial` of one number of trials and one vector of probabilities."""
        if as_tensor(n).ndim or as_tensor(pvals).ndim != 1:
            _refuse("multinomial", " of several numbers of trials")
        return self._of_vectors("multinomial", pvals, (n, pvals), size, {}, "int64")

    def _of_vectors(
        self, method: str, last: Any, values: Sequence[Any], size: Any, keywords: dict[str, Any],
        dtype: str = "float64",
    ) -> Any:  # fmt: skip
        lengths, _ = _sized(() if size is None else size, [])
        lengths = (*lengths, *T.lengths_of(now(_trace(), as_tensor(last)))[-1:])
        op = GeneratorDraw(method, len(lengths), dtype, tuple(keywords.items()))
        return self._drawn(op, [*lengths, *map(as_tensor, values)])


def _refuse(name: str, of: str = "") -> NoReturn:
    raise TypeError(
        f"rng.{name}{of}: a traced function cannot draw so; draw before the call and pass the array, or use "
        f"ag.jit(strict=False), which runs the statement in Python{line()}"
    )


def _trace() -> Any:
    return current()


def _parameter(value: Any, dtype: str) -> Any:
    v = as_tensor(as_variable(value))
    return v if v.dtype == dtype else T.cast(v, dtype)


def _sized(size: Any, parameters: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the lengths of a sample, and the parameters in these lengths, those without axes as they are."""
    trace = _trace()
    given = [now(trace, p) for p in parameters]
    arrays = [p for p in given if p.ndim]
    if size is None:
        lengths = tuple(T.lengths_of(reduce(T.add, arrays))) if arrays else ()
    elif isinstance(size, Variable) and size.ndim:
        lengths = tuple(size)  # type: ignore[arg-type]
    else:
        lengths = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    lengths = tuple(_parameter(n, "int64") for n in lengths)
    if any(p.ndim > len(lengths) for p in arrays):
        raise ValueError(f"size {shown(size)}: a parameter has more axes than the sample; expected fewer{line()}")
    return lengths, [T.broadcast_to(p, lengths) if p.ndim else p for p in given]


def _bound(name: str, words: Sequence[str], args: Sequence[Any], keywords: dict[str, Any]) -> dict[str, Any]:
    unknown = [k for k in keywords if k not in words]
    if len(args) > len(words) or unknown:
        what = f"argument {unknown[0]!r}" if unknown else counted(len(args), "argument")
        raise TypeError(f"rng.{name}: got {what}; expected {', '.join(words)}{line()}")
    return {**dict(zip(words, args, strict=False)), **keywords}


# --- generators that the function makes


def made_of_seed(seed: Any = None) -> Any:
    """`np.random.default_rng(seed)` in a trace."""
    if isinstance(seed, TracedGenerator):
        return seed
    if seed is None:
        raise TypeError(
            "np.random.default_rng() takes another seed in each call, which a compiled function cannot; pass the "
            f"generator as an argument, or give a seed{line()}"
        )
    if is_symbolic(seed) and not isinstance(seed, Constant):
        raise TypeError(
            "np.random.default_rng(seed): the seed is an array or number of the call; pass the generator as an "
            f"argument, or make the seed static: ag.jit(f, static_argnames=...){line()}"
        )
    return made_of(np.random.default_rng(int(seed.data) if isinstance(seed, Constant) else seed))


def made_of(generator: Any) -> Any:
    """Return the generator of a trace that begins with the state of one of NumPy's."""
    if not isinstance(generator, np.random.Generator):
        generator = np.random.Generator(generator)
    handle = copied(T.constant(state_of(generator)))
    return TracedGenerator(handle, original=generator)


# --- random modules


def in_trace(f: Any) -> Any:
    """Return what stands for a function of a random module in a trace; None for one that is called as it is.

    Raises TypeError for a draw from a state that no argument has, such as `np.random.normal`.
    """
    if f is np.random.default_rng:
        return made_of_seed
    if f is np.random.Generator:
        return made_of
    if isinstance(f, type) and issubclass(f, (np.random.RandomState, random.Random)):
        owner: Any = f
    else:
        owner = getattr(f, "__self__", None)
        if not isinstance(owner, (np.random.RandomState, random.Random)):
            return None
    kind = "random" if owner is random.Random or isinstance(owner, random.Random) else "np.random"
    raise TypeError(
        f"{kind}.{f.__name__}: the function draws from a state that it was not given, which happens once, while it is "
        "traced; take rng = np.random.default_rng(seed) as an argument and draw by it, as in rng.normal(size=3), or "
        f"use T.random.RandomStream(seed){line()}"
    )
