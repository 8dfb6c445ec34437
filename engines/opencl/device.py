"""A device of OpenCL: buffers, copies, kernels.  `pyopencl` is imported when the first function is compiled."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...record import record
from ..engine import EngineError

INSTALL = "install it by pip install 'arignote[opencl]'"
_OUT_OF_MEMORY = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY", "INVALID_BUFFER_SIZE")


@record(eq=False)
class OnDevice:
    """An array on the device: a buffer, and the shape and strides, in elements, of what is in it."""

    buffer: Any
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Traffic:
    """Copies and launches of a function, added up over its calls."""

    def __init__(self) -> None:
        self.to_device = self.to_host = self.launches = 0
        self.copy_seconds = 0.0

    def __str__(self) -> str:
        copied = f"{self.to_device:,} bytes to the device, {self.to_host:,} bytes to the host"
        return f"{copied} in {self.copy_seconds * 1e3:.3f} ms; {self.launches:,} launches"


class Device:
    """A device with a queue of its own.  Its methods may be called by one thread at a time: see `lock`."""

    def __init__(self, device: Any) -> None:
        cl = opencl()
        self.name = str(device.name).strip()
        self.largest, self.has_float64 = int(device.max_mem_alloc_size), bool(device.double_fp_config)
        self.items = int(device.max_work_group_size)
        self.lock = threading.RLock()
        self._context = cl.Context([device])
        self._queue = cl.CommandQueue(self._context)
        self._pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(self._queue))
        self._kernels: dict[str, Any] = {}

    def kernel(self, source: str, name: str) -> Any:
        """The compiled kernel of a text; compiled once."""
        with self.lock:
            if source not in self._kernels:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # remarks of the device's compiler
                    compiled = opencl().Program(self._context, source).compile()  # `build` leaves files behind
                    program = opencl().link_program(self._context, [compiled])
                    self._kernels[source] = opencl().Kernel(program, name)
            return self._kernels[source]

    def empty(self, dtype: np.dtype, shape: tuple[int, ...]) -> OnDevice:
        """An array of the device without values.  Raises EngineError if there is no room for it."""
        cl, count = opencl(), int(np.prod(shape, dtype=object))
        size = max(count * dtype.itemsize, 1)
        if size > self.largest:
            raise self._no_room(size)
        try:
            buffer = self._pool.allocate(size)  # freed buffers are used again: new pages cost more than a copy
        except cl.Error as error:
            raise self._renamed(error, size) from error
        strides = tuple(int(np.prod(shape[k + 1 :], dtype=object)) for k in range(len(shape)))
        return OnDevice(buffer, dtype, shape, strides)

    def put(self, array: np.ndarray, traffic: Traffic) -> OnDevice:
        """A copy of an array on the device."""
        made = self.empty(array.dtype, array.shape)
        if array.size:
            start = time.perf_counter()
            self._do(lambda cl: cl.enqueue_copy(self._queue, made.buffer, np.ascontiguousarray(array)), array.nbytes)
            traffic.copy_seconds += time.perf_counter() - start
            traffic.to_device += array.nbytes
        return made

    def get(self, array: OnDevice, traffic: Traffic) -> np.ndarray:
        """A copy of an array of the device on the host."""
        if 0 in array.shape:
            return np.empty(array.shape, array.dtype)
        extent = 1 + sum((n - 1) * stride for n, stride in zip(array.shape, array.strides))
        flat = np.empty(extent, array.dtype)
        self._do(lambda cl: self._queue.finish(), 0)  # the time of kernels is none of copies
        start = time.perf_counter()
        self._do(lambda cl: cl.enqueue_copy(self._queue, flat, array.buffer), flat.nbytes)
        traffic.copy_seconds += time.perf_counter() - start
        traffic.to_host += flat.nbytes
        steps = tuple(s * array.dtype.itemsize for s in array.strides)
        return np.lib.stride_tricks.as_strided(flat, array.shape, steps)

    def launch(self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]) -> None:
        """Run a kernel over a grid; returns before it ends."""
        self._do(lambda cl: kernel(self._queue, tuple(grid), group and tuple(group), *arguments), 0)

    def _do(self, action: Any, size: int) -> None:
        cl = opencl()
        try:
            action(cl)
        except cl.Error as error:
            raise self._renamed(error, size) from error

    def _renamed(self, error: Exception, size: int) -> EngineError:
        if any(word in str(error) for word in _OUT_OF_MEMORY):
            return self._no_room(size)
        return EngineError(f"the OpenCL device {self.name} fails: {error}")

    def _no_room(self, size: int) -> EngineError:
        return EngineError(
            f"the OpenCL device {self.name} is out of memory: an array takes {size:,} bytes, and it gives at most "
            f'{self.largest:,} at once; use smaller arrays, or ag.Mode(backend="c")'
        )


@cache
def opencl() -> Any:
    """The module pyopencl."""
    import_module("pyopencl.tools")
    return import_module("pyopencl")


def trouble() -> str:
    """The part that this machine lacks, and its remedy; empty if there is a device that compiles kernels."""
    try:
        opencl()
    except ImportError as error:
        return f"pyopencl does not load ({error}); {INSTALL}"
    found, reasons = _found()
    if found is not None:
        return ""
    if reasons:
        return f"{'; '.join(reasons)}; install another OpenCL driver, such as intel-opencl-rt for processors"
    return f"no OpenCL platform has a device; install the driver of one, or for processors a runtime: {INSTALL}"


def device() -> Device:
    """The first device that compiles kernels.  Raises EngineError if there is none."""
    found, _ = _found()
    if found is None:
        raise EngineError(f"engine 'opencl' cannot run here: {trouble()}")
    return found


@cache
def _found() -> tuple[Device | None, tuple[str, ...]]:
    """The first device that compiles a trial kernel, and the failures of those before it."""
    reasons = []
    for one in _devices():
        made = Device(one)
        try:
            made.kernel("__kernel void trial(__global float *y) { y[get_global_id(0)] = 1; }", "trial")
        except opencl().Error as error:
            said = [line for line in str(error).splitlines() if line.startswith("error:")] or [str(error).strip()]
            reasons.append(f"the OpenCL device {made.name} compiles no kernels ({said[0].removeprefix('error: ')})")
        else:
            return made, ()
    return None, tuple(reasons)


def _devices() -> list[Any]:
    """All devices; none where the loader of platforms finds no platform."""
    cl = opencl()
    try:
        return [d for platform in cl.get_platforms() for d in platform.get_devices()]
    except cl.Error:
        return []
