"""Models for nutpie, a sampler in Rust, whose calls go to our C.

    import arignote.frontends.pytensor.nutpie
    trace = nutpie.sample(nutpie.compile_pymc_model(model, backend="arignote"))

Importing this module makes the backend known to `nutpie.compile_pymc_model`, and so to
`pm.sample(nuts_sampler="nutpie", nuts_sampler_kwargs={"backend": "arignote"})`.
"""

from __future__ import annotations

import dataclasses
from functools import wraps
from typing import Any

import numpy as np
import nutpie  # type: ignore[import-untyped]
from nutpie import _lib, compile_pymc

from . import NAME
from .density import called_from_c


class _Addresses:
    """The functions of a model with one set of data."""

    def __init__(self, logp: Any, expand: Any, dim: int, data: dict[Any, np.ndarray]) -> None:
        self.logp, self.expand = (called_from_c(f, (dim,), [data[v] for v in f.get_shared()]) for f in (logp, expand))


@dataclasses.dataclass(frozen=True)
class ArignoteModel(compile_pymc.CompiledPyMCModel):  # type: ignore[misc]  # nutpie is not typed here
    """A model whose density and other quantities are computed by Arignote's C."""

    def with_data(self, **updates: Any) -> ArignoteModel:
        """Return the model with other values of shared variables, of the same ranks."""
        data = dict(self.shared_data)
        for name, value in updates.items():
            named = [v for v in data if v.name == name]
            if not named:
                raise KeyError(f"Unknown shared variable: {name}")
            if len(named) > 1:
                raise ValueError(f"Name of shared variable {name} is not unique")
            old, new = data[named[0]], np.array(value, data[named[0]].dtype, order="C")
            if new.ndim != old.ndim:
                raise ValueError(f"Shared variable {name} must have rank {old.ndim}")
            data[named[0]] = new
        addresses = _Addresses(self.logp_func, self.expand_func, self.n_dim, data)
        changes: dict[str, Any] = {"shared_data": data, "user_data": addresses}
        return dataclasses.replace(self, **changes)

    def _make_model(self, init_mean: Any) -> Any:
        """Return nutpie's own model: pointers to both functions, names, shapes and coordinates of the variables."""
        both, (names, _, shapes) = self.user_data, self.shape_info
        coords = dict(self._coords or {})
        lengths = {name: len(values) for name, values in coords.items()}
        variables = _lib.PyVariable.new_variables(
            names, ["float64"] * len(names), shapes, lengths, dict(self.dims or {})
        )

        def adapter(*args: Any, **kwargs: Any) -> Any:
            from nutpie.transform_adapter import make_transform_adapter  # type: ignore[import-untyped]

            return make_transform_adapter(**(self._transform_adapt_args or {}))(*args, **kwargs, logp_fn=None)

        return _lib.PyMcModel(
            _lib.LogpFunc(both.logp.address("density"), both.logp.data, self),
            _lib.ExpandFunc(self.n_dim, self.n_expanded, both.expand.address("expand"), both.expand.data, self),
            variables, self.n_dim, lengths, coords, self.initial_point_func, adapter,
        )  # fmt: skip


def compiled_model(model: Any, pymc_initial_point_fn: Any, var_names: Any = None, **options: Any) -> ArignoteModel:
    """Return the model compiled in mode ARIGNOTE; the arguments are those of nutpie's own backends."""
    if options.pop("gradient_backend", "pytensor") not in (None, "pytensor"):
        raise ValueError("the gradient of the backend arignote is PyTensor's")
    dim, expanded, logp, expand, initial, shapes, *renamed = compile_pymc._make_functions(
        model, mode=NAME, compute_grad=True, join_expanded=True, pymc_initial_point_fn=pymc_initial_point_fn,
        var_names=var_names,
    )  # fmt: skip
    data = {v: np.array(v.get_value(), order="C") for f in (logp, expand) for v in f.get_shared()}
    dims, coords = compile_pymc._prepare_dims_and_coords(model, shapes, *renamed)
    fields = {field.name for field in dataclasses.fields(ArignoteModel)}
    newer = {"shared_var_keys": {v: v for v in data}, "reparameterized_names": next(iter(renamed), None)}
    return ArignoteModel(
        dims=dims, compiled_logp_func=None, compiled_expand_func=None, initial_point_func=initial, shared_data=data,
        user_data=_Addresses(logp, expand, dim, data), n_expanded=expanded, shape_info=shapes, logp_func=logp,
        expand_func=expand, _n_dim=dim, _shapes={name: tuple(s) for name, _, s in zip(*shapes, strict=True)},
        _coords=coords, **{name: value for name, value in newer.items() if name in fields},
    )  # fmt: skip


def _install() -> None:
    """Let `compile_pymc_model` of nutpie know the backend: its own code prepares the model as it does for NUMBA."""
    theirs, numba = compile_pymc.compile_pymc_model, compile_pymc._compile_pymc_model_numba

    @wraps(numba)
    def compiled(*, by_arignote: bool = False, **options: Any) -> Any:
        return compiled_model(**options) if by_arignote else numba(**options)

    @wraps(theirs)
    def compile_pymc_model(model: Any, *, backend: str = "numba", **options: Any) -> Any:
        if backend.lower() == NAME.lower():
            return theirs(model, backend="numba", by_arignote=True, **options)
        return theirs(model, backend=backend, **options)

    compile_pymc._compile_pymc_model_numba = compiled
    compile_pymc.compile_pymc_model = nutpie.compile_pymc_model = compile_pymc_model


_install()
