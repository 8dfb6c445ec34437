"""Copies of arrays on a device by a kernel for each dtype and rank."""

from __future__ import annotations

from typing import Any

from ...graph import TensorType
from ...ops.core.tensor import TensorVariable
from ...ops.elementwise.records import fill
from .call import Call
from .moves import elementwise_kernel


def copy(into: Any, array: Any, call: Call, kernels: dict[Any, Any]) -> None:
    """Copy an array on the device to another one.  `kernels`: those made before, by dtype and rank."""
    if 0 not in into.shape:
        _kernel(into, call, kernels).run([into, array], call, [into])


def copied(array: Any, call: Call, kernels: dict[Any, Any]) -> Any:
    """Return a C-contiguous copy of an array on the device; None if NumPy must make it."""
    try:
        kernel = _kernel(array, call, kernels)
    except TypeError:  # devices lack its dtype
        return None
    if call.leaves_to_host(kernel.work([array, array])):
        return None
    made = call.empty(array.dtype, tuple(array.shape))
    if 0 not in made.shape:
        kernel.run([made, array], call, [made])
    return made


def _kernel(array: Any, call: Call, kernels: dict[Any, Any]) -> Any:
    key = array.dtype, len(array.shape)
    if key not in kernels:
        leaf = TensorVariable(TensorType(array.dtype.name, (None,) * key[1]))
        kernels[key] = elementwise_kernel(fill, [leaf, leaf], call.device)
    return kernels[key]
