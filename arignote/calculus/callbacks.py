"""`ag.pure_callback`: a Python function of arrays in the middle of an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.control.callbacks import METHODS, ShapeDtypeStruct, callback_of
from ..ops.core.checks import shown
from ..record import record
from ..tree import Form, flat, in_form, unflat
from .custom import called, tensor_of

__all__ = ["ShapeDtypeStruct", "pure_callback"]


def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, vmap_method: str | None = None, **kwargs: Any
) -> Any:
    """Return what a Python function of arrays returns, as an expression.

        y = ag.pure_callback(np.linalg.cond, ag.ShapeDtypeStruct((), "float64"), x)

    Args:
        callback: A function of NumPy arrays without side effects; it may be called any number of times, or never.
        result_shape_dtypes: The shapes and dtypes of its results: values with `shape` and `dtype`, such as
            `ag.ShapeDtypeStruct`, arrays or variables, in the form in which the function returns them.
        args, kwargs: The arguments, variables or nested lists, tuples and dicts of them.
        vmap_method: How `ag.vmap` calls it: "sequential", once an example; "expand_dims" and "broadcast_all", once
            with the axis of the examples in front, where other arguments have length 1 or are repeated.  None: not.

    Compiled functions call back to Python for it, and hold the interpreter lock meanwhile; they cannot be exported.
    It has no derivative: `ag.custom_vjp` gives it one.

    Raises TypeError for results of another form or dtype than declared, and ValueError for another shape, when the
    function runs.  The names are JAX's.
    """
    if not callable(callback):
        raise TypeError(f"pure_callback: expected a function of arrays, got {shown(callback)}")
    if vmap_method is not None and vmap_method not in METHODS:
        raise ValueError(f"pure_callback: vmap_method is {shown(vmap_method)}; expected one of {', '.join(METHODS)}")
    given: list[Any] = []
    form = flat((args, kwargs), given)
    name = f"pure_callback {called(callback)}"
    arguments = [tensor_of(v, f"{name}: argument {k}") for k, v in enumerate(given)]
    declared: list[Any] = []
    result_form = flat(result_shape_dtypes, declared)
    function = _OfArrays(callback, form, result_form, name)
    return unflat(result_form, iter(callback_of(function, name, arguments, declared, vmap_method)))


@record
class _OfArrays:
    """The function of flat arrays, which returns a list."""

    function: Callable[..., Any]
    form: Form
    result_form: Form
    name: str

    def __call__(self, *values: Any) -> list[Any]:
        args, kwargs = unflat(self.form, iter(values))
        found = self.function(*args, **kwargs)
        if self.result_form is None:
            return [found]
        try:
            return in_form(found, self.result_form, anything=True)
        except (TypeError, KeyError):
            raise TypeError(f"{self.name} returned {shown(found)}; declared is another form") from None
