"""Log-densities for samplers: value and gradient of a vector as one call of C.

    d = density(model)
    value, gradient = d(x)
    step = d.bind(x)             # reads x in place, and writes into the same arrays at every call
    values, gradients = d.many(xs)   # all chains in one call
    d.address, d.data            # for samplers in C or Rust
    logdensity = d.jax()         # for samplers in JAX
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ... import ops as T
from ...function.function import function
from ...graph import TensorType
from ...ops.control.batching import NoBatch, carried
from ...ops.core.tensor import TensorVariable
from ...record.cached import cached_property
from .functions import ArignoteFunction

if TYPE_CHECKING:
    from ...function.bind import Bound

DENSITY = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double),
    ctypes.POINTER(ctypes.c_double), ctypes.c_void_p,
)  # fmt: skip
"""The C type of a density: `int64_t (uint64_t dim, const double *x, double *gradient, double *value, void *data)`."""
EXPAND = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.POINTER(ctypes.c_double),
    ctypes.POINTER(ctypes.c_double), ctypes.c_void_p,
)  # fmt: skip
"""The C type of other quantities: `int64_t (uint64_t dim, uint64_t n, const double *x, double *out, void *data)`."""
FAILED, GRADIENT_NOT_FINITE, VALUE_NOT_FINITE, LENGTHS_DIFFER = 1, 3, 4, -1
"""Return values of a C function that has no result; 0 is success."""


class Density:
    """The value and the gradient of a function of a float64 vector of length `dim`.

    A call takes the vector and returns two arrays: the value, of rank 0, and the gradient.  Calls from several threads
    run at the same time if they take more than 20 us.  Shared variables are read at each call; the C functions and
    bound calls keep the values that these had when they were made, until `refresh`.
    """

    dim: int
    function: ArignoteFunction

    def __init__(self, compiled: Any, dim: int) -> None:
        self.function, self.dim = compiled, dim
        self.function.trust_input = True

    def __call__(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        value, gradient = self.function(x)
        return value, gradient

    def bind(self, x: np.ndarray, value: np.ndarray | None = None, gradient: np.ndarray | None = None) -> Bound:
        """Return a function without arguments that reads `x` in place and returns the same two arrays every time.

        Args:
            x: float64, C-contiguous, of length `dim`.
            value, gradient: where results go, of rank 0 and of length `dim`; by default new arrays.

        Raises:
            TypeError, ValueError: an array does not fit.
        """
        self._check(x)
        out = [np.empty(()) if value is None else value, np.empty(self.dim) if gradient is None else gradient]
        return self.function.arignote.bind(x, *self._stored(), out=out)

    # --- for C and Rust
    @property
    def address(self) -> int:
        """Address of a C function of the type `DENSITY`; it needs no Python unless `calls_python`."""
        return self._in_c.address("density")

    @property
    def data(self) -> int:
        """The pointer that the C function takes as its last argument."""
        return self._in_c.data

    @property
    def calls_python(self) -> bool:
        """Whether the C function calls Python: for a model with ops outside C."""
        return isinstance(self._in_c, PythonCall)

    def refresh(self) -> None:
        """Let `address` and `data` have the present values of shared variables; earlier pointers become invalid."""
        self.__dict__.pop("_in_c", None)

    @cached_property
    def _in_c(self) -> CallFromC:
        return called_from_c(self.function, (self.dim,), self._stored())

    # --- many chains
    def many(self, xs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values [chains] and gradients [chains, dim] at the rows of `xs`, by one call.

        If one of them fails, all run one after the other, so that only its own results are NaN.

        Raises:
            TypeError: the model has an op without a rule for batches.
        """
        xs = np.ascontiguousarray(xs, np.float64)
        if xs.ndim != 2 or xs.shape[1] != self.dim:
            raise ValueError(f"many: expected an array of shape (chains, {self.dim}), got {xs.shape}")
        try:
            values, gradients = self._batched(xs, *self._stored())
        except Exception:
            values, gradients = np.empty(len(xs)), np.empty(xs.shape)
            for x, k in zip(xs, range(len(xs)), strict=True):
                values[k], gradients[k] = self(x)
        return values, gradients

    @cached_property
    def _batched(self) -> Any:
        own = self.function.arignote
        x, *stored = own.inputs
        rows = TensorVariable(TensorType("float64", (None, self.dim)), name="xs")
        try:
            outputs = carried(own.unoptimized_graph.outputs, {x: T.reshape(rows, (-1, self.dim), ndim=2)})
        except NoBatch as error:
            raise TypeError(f"many: {error}; call the density chain by chain") from None
        return function([rows, *stored], outputs, mode=own.mode, name=f"{own.name} of many", on_unused_input="ignore")

    # --- for JAX
    def jax(self) -> Callable[[Any], Any]:
        """Return a function of JAX with a gradient, for `blackjax` and other samplers; under `vmap`, one call for all.

        JAX calls back into Python, at the cost of some 20 us a call.
        """
        import jax

        def called(dtype: Any, x: Any) -> Any:
            points = np.asarray(x, np.float64)
            if points.ndim == 1:
                found = self(points)
            else:
                values, gradients = self.many(points.reshape(-1, self.dim))
                found = values.reshape(points.shape[:-1]), gradients.reshape(points.shape)
            return tuple(np.asarray(v, dtype) for v in found)

        def both(x: Any) -> Any:
            dtype = jax.dtypes.canonicalize_dtype(np.float64)  # JAX's setting belongs to the thread that traces
            struct: Any = jax.ShapeDtypeStruct
            kinds = struct((), dtype), struct((self.dim,), dtype)
            return jax.pure_callback(partial(called, dtype), kinds, x, vmap_method="broadcast_all")

        @jax.custom_vjp  # type: ignore[untyped-decorator,unused-ignore]
        def logdensity(x: Any) -> Any:
            return both(x)[0]

        logdensity.defvjp(both, lambda gradient, upstream: (upstream * gradient,))
        return logdensity  # type: ignore[no-any-return]

    def _check(self, x: Any) -> None:
        if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.shape != (self.dim,):
            got = f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else type(x).__name__
            raise TypeError(f"bind: expected an array float64[{self.dim}], which is read in place, got {got}")

    def _stored(self) -> list[np.ndarray]:
        return stored_of(self.function)


class CallFromC(Protocol):
    """The data that C functions of the types `DENSITY` and `EXPAND` take, and their addresses by kind."""

    data: int

    def address(self, kind: str) -> int:
        """Return the address of the function of a kind: "density" or "expand"."""


class PythonCall:
    """C functions that call Python, as `CallFromC`: for functions with steps outside C."""

    def __init__(self, call: ArignoteFunction) -> None:
        def density(dim: int, x: Any, gradient: Any, value: Any, data: Any) -> int:
            try:
                found, slope = call(np.ctypeslib.as_array(x, (dim,)))
            except Exception:
                return FAILED
            value[0] = float(found)
            np.ctypeslib.as_array(gradient, (dim,))[...] = slope
            if not np.isfinite(slope).all():
                return GRADIENT_NOT_FINITE
            return 0 if np.isfinite(found) else VALUE_NOT_FINITE

        def expand(dim: int, count: int, x: Any, out: Any, data: Any) -> int:
            try:
                (found,) = call(np.ctypeslib.as_array(x, (dim,)))
            except Exception:
                return FAILED
            if found.size != count:
                return LENGTHS_DIFFER
            np.ctypeslib.as_array(out, (count,))[...] = found
            return 0

        self._entries: dict[str, Any] = {"density": DENSITY(density), "expand": EXPAND(expand)}
        self.data: int = 0

    def address(self, kind: str) -> int:
        """Return the address of the function of a kind: "density" or "expand"."""
        return ctypes.cast(self._entries[kind], ctypes.c_void_p).value or 0


def called_from_c(call: Any, shape: tuple[int, ...], stored: Sequence[np.ndarray]) -> CallFromC:
    """Return the addresses of a function of one vector whose other inputs are bound to arrays."""
    executable = call.arignote._at_best
    plain = getattr(executable, "plain_call", None)
    return (plain and plain([shape, *stored])) or PythonCall(call)


def stored_of(call: Any) -> list[np.ndarray]:
    """Return the values of the shared variables of a function, as C reads them."""
    return [np.ascontiguousarray(c.storage[0]).reshape(np.shape(c.storage[0])) for c in call.input_storage[1:]]


def density(model: Any, mode: Any = "ARIGNOTE") -> Density:
    """Return the log-density of a PyMC model, as a function of the vector of its free variables after transforms.

    Args:
        model: a `pymc.Model`, or a compiled function of PyTensor from one vector to the value and its gradient.
        mode: the mode to compile a model with.

    Raises:
        TypeError: a function of another form, or of another mode.
    """
    if isinstance(model, ArignoteFunction):
        kinds = [v.type for v in model.maker.fgraph.inputs[:1]]
        if not kinds or kinds[0].ndim != 1 or kinds[0].dtype != "float64" or kinds[0].shape[0] is None:
            raise TypeError("density: expected a function of one float64 vector of known length")
        return Density(model, kinds[0].shape[0])
    point = model.initial_point()
    own = model.logp_dlogp_function(ravel_inputs=True, mode=mode, initial_point=point)
    own.set_extra_values({v.name: point[v.name] for v in own._extra_vars})
    if not isinstance(own._pytensor_function, ArignoteFunction):
        raise TypeError(f"density: mode {mode} is not one of Arignote's")
    dim = sum(int(np.size(point[v.name])) for v in own._grad_vars)
    return Density(own._pytensor_function, dim)
