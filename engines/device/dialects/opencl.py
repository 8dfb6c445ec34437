"""OpenCL: the words of OpenCL C, devices with their queues and compiled kernels, and the engine.

`pyopencl` is imported when the first function is compiled.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ....cbackend.ctext.device import Dialect, typedefs
from ....cbackend.ctext.device_lists import LIST, Item, list_source
from ...engine import EngineError
from ..base import Device
from ..engine import DeviceEngine
from ..memory import Buffers, Shared

INSTALL = "install it by pip install 'arignote[opencl]'"
_OUT_OF_MEMORY = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY", "INVALID_BUFFER_SIZE")
_VECTORIZE_LOOPS = ("Portable Computing Language",)
"""Platforms whose compilers vectorize loops within a work item; others vectorize across work items."""

_LISTED = 60_000_000
"""Most picoseconds of work of a launch in a list: one work item runs the list while others are idle."""
_POLLS = 300
"""Polls of a running list, 0.1 to 0.2 us each, before the thread sleeps: waking takes 20 us."""
_IN_CALLER = ("basic", "cpu-minimal")
"""PoCL devices that run kernels in the launching thread, where a launch takes 1 us."""

_LIBRARY = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "exp", "log", "tan", "tgamma", "fmod", "copysign", "pow")
_BUILT_IN = """\
#define half half_
#define __builtin_nan(text) as_double(0x7ff8000000000000UL)
#define __builtin_nanf(text) as_float(0x7fc00000u)
#define __builtin_inf() as_double(0x7ff0000000000000UL)
#define __builtin_inff() as_float(0x7f800000u)
#define __builtin_fma fma
#define __builtin_fmaf fma
#define __builtin_signbit signbit
"""
OPENCL = Dialect(
    name="opencl",
    prelude="#pragma OPENCL FP_CONTRACT OFF\n"
    + typedefs("long")
    + "#ifdef cl_khr_fp64\ntypedef double f64;\n#endif\n"
    + _BUILT_IN
    + "".join(f"#define {name}f {name}\n" for name in _LIBRARY),
    kernel="__kernel void",
    grouped="__kernel __attribute__((reqd_work_group_size({items}, 1, 1))) void",
    resident=1024,
    pointer="__global ",
    shared="__local ",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    near_barrier=(1, ""),
    high_product="mul_hi",
    places=("get_global_id(0)", "get_global_id(1)", "get_global_id(2)"),
    group=("get_group_id(0)", "get_group_id(1)", "get_group_id(2)"),
    item="get_local_id(0)",
    helper="static inline",
)


class OpenCLDevice(Device):
    """OpenCL device with a queue of its own."""

    kind = "OpenCL"
    dialect = OPENCL

    def __init__(
        self, device: Any, shares: bool | None = None, in_parts: bool | None = None, caller: Any = None
    ) -> None:
        """`caller`: a device of the same processor that runs kernels in the calling thread."""
        super().__init__()
        cl = opencl()
        is_processor = bool(device.type & cl.device_type.CPU)
        self.name = str(device.name).strip()
        self.largest, self.has_float64 = int(device.max_mem_alloc_size), bool(device.double_fp_config)
        self.items, self.units = int(device.max_work_group_size), int(device.max_compute_units)
        self.shares = is_processor if shares is None else shares
        vectorizes = device.platform.name in _VECTORIZE_LOOPS
        self.in_parts = self.shares and vectorizes if in_parts is None else in_parts
        self.memory = Shared(self) if self.shares else Buffers(self)
        self.small = (12_000_000 if caller is None else 200_000) if self.shares else 0
        self._context = cl.Context([device])
        self._queue = cl.CommandQueue(self._context)
        self._enqueue: Any = cl.enqueue_nd_range_kernel
        self._memory_of: Any = cl.SVM
        self._programs: dict[str, Any] = {}
        self._caller = None if caller is None else OpenCLDevice(caller, shares, in_parts)
        self._in_flight = False
        """Whether a launch may still be running."""
        self._list_event: Any = None
        """The event of the last launch if that was a list."""

    def kernel(self, source: str, name: str, pointers: Sequence[bool]) -> Any:
        """Return kernel `name` of a source, compiled once.  `pointers`: whether each argument is one, or an int64."""
        cl = opencl()
        with self.lock:
            if source not in self._programs:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # warnings of the device's compiler
                    compiled = cl.Program(self._context, source).compile()  # `build` leaves files behind
                    self._programs[source] = cl.link_program(self._context, [compiled])
            return Kernel(self._programs[source], name, tuple(pointers))

    def item_kernel(self, item: Item, source: str) -> Any:
        """Return the kernel that runs a work-item function of a source.  Lists of launches may call the function."""
        made = self.kernel(source, item.name, item.pointers)
        made.item = item
        return made

    def lists(self, kernel: Kernel, work: int) -> bool:
        """Whether a launch with so many picoseconds of work may join a list: see tape.py."""
        return self.shares and kernel.item is not None and work < _LISTED

    def list_kernel(self, items: Sequence[Item]) -> ListKernel:
        """Return the kernel that runs lists of launches of these functions."""
        return ListKernel(list_source(items))

    def run_list(self, kernel: ListKernel, numbers: np.ndarray) -> None:
        """Run a list of launches; may return before it ends."""
        if self._caller is not None and not self._in_flight:
            self._caller.run_list(kernel, numbers)
            self._caller.finish()
            return
        try:
            entry = kernel.entry(self)
            entry.set_arg(0, self._memory_of(numbers))
            self._in_flight = True
            self._list_event = self._enqueue(self._queue, entry, (1,), (1,))
        except opencl().Error as error:
            raise self._renamed(error, 0) from error

    def launch(
        self, kernel: Kernel, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> None:
        """Start a kernel over a grid; return before it ends."""
        try:
            kernel.entry.set_args(*arguments)
        except opencl().Error as error:
            raise self._renamed(error, 0) from error
        self.start(kernel.entry, grid, group)

    def repeated(
        self, kernel: Kernel, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> OpenCLRepeated:
        """Return a launch that can run repeatedly."""
        return OpenCLRepeated(self, kernel, tuple(grid), None if group is None else tuple(group), list(arguments))

    def finish(self) -> None:
        """Wait for all kernels."""
        event, self._list_event = self._list_event, None
        try:
            if event is not None:  # one work item leaves a processor free to poll it
                for _ in range(_POLLS):
                    if event.command_execution_status <= 0:  # ended, or failed
                        break
            self._queue.finish()
        except opencl().Error as error:
            raise self._renamed(error, 0) from error
        finally:
            self._in_flight = False

    def start(self, entry: Any, grid: Any, group: Any) -> None:
        """Launch a kernel whose arguments are set."""
        self._in_flight, self._list_event = True, None
        try:
            self._enqueue(self._queue, entry, grid, group)
        except opencl().Error as error:
            raise self._renamed(error, 0) from error

    def pointer(self, array: np.ndarray) -> Any:
        """Return the argument for an array in host memory."""
        flags = array.flags
        if not flags.writeable:  # pyopencl requires a writable array even for a kernel that only reads it
            return self.address(array.__array_interface__["data"][0])
        return opencl().SVM(array if flags.c_contiguous else array[(slice(0, 1),) * array.ndim])

    def address(self, address: int) -> Any:
        """Return the argument for an address in host memory."""
        return opencl().SVM(ctypes.c_char.from_address(address))

    def number(self, array: np.ndarray) -> int:
        """Return the address of an array in host memory."""
        try:
            found: int = self._memory_of(array).svm_ptr  # pyopencl is faster than NumPy here
        except (ValueError, BufferError):  # read-only, or not contiguous
            found = array.__array_interface__["data"][0]
        return found

    def buffer(self, size: int) -> Any:
        return self._do(lambda cl: cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size), size)

    def copy_in(self, buffer: Any, array: np.ndarray) -> None:
        self._do(lambda cl: cl.enqueue_copy(self._queue, buffer, array), array.nbytes)

    def copy_out(self, array: np.ndarray, buffer: Any, offset: int) -> None:
        self._do(lambda cl: cl.enqueue_copy(self._queue, array, buffer, src_offset=offset), array.nbytes)

    def _do(self, action: Any, size: int) -> Any:
        cl = opencl()
        try:
            return action(cl)
        except cl.Error as error:
            raise self._renamed(error, size) from error

    def _renamed(self, error: Exception, size: int) -> EngineError:
        if any(word in str(error) for word in _OUT_OF_MEMORY):
            return self.no_room(size)
        return EngineError(f"the OpenCL device {self.name} fails: {error}")


class Kernel:
    """A kernel of a compiled program.  `pointers`: whether each argument is one, or an int64."""

    def __init__(self, program: Any, name: str, pointers: tuple[bool, ...]) -> None:
        self.program: Any = program
        self.name: str = name
        self.pointers: tuple[bool, ...] = pointers
        self.item: Item | None = None
        """Its work-item function, if lists of launches may call it."""
        self.entry: Any = self._made()
        self._spare: list[Any] = []

    def take(self) -> Any:
        """Return an entry for exclusive use by one tape; pyopencl needs 60 us to create one."""
        return self._spare.pop() if self._spare else self._made()

    def give_back(self, entry: Any) -> None:
        """Release an entry for others."""
        self._spare.append(entry)

    def _made(self) -> Any:
        entry = opencl().Kernel(self.program, self.name)
        entry.set_scalar_arg_dtypes([None if p else np.int64 for p in self.pointers])
        return entry


class ListKernel:
    """A kernel of lists of launches, compiled for a device when it first runs there."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._entries: dict[OpenCLDevice, Any] = {}

    def entry(self, device: OpenCLDevice) -> Any:
        """Return the kernel object of pyopencl."""
        if device not in self._entries:
            self._entries[device] = device.kernel(self._source, LIST, [True]).entry
        return self._entries[device]


class OpenCLRepeated:
    """A launch with its own arguments, some of which change from run to run."""

    def __init__(self, device: OpenCLDevice, kernel: Kernel, grid: Any, group: Any, arguments: list[Any]) -> None:
        self._arguments, self._device, self._grid, self._group = arguments, device, grid, group
        self._kernel, self._pointers, self._entry = kernel, kernel.pointers, kernel.take()
        self._entry.set_args(*arguments)

    def start(self, changed: Sequence[tuple[int, Any]]) -> None:
        """Run it with other arguments at some positions."""
        entry = self._entry
        if all(self._pointers[k] for k, _ in changed):
            for k, value in changed:
                entry.set_arg(k, value)
        else:  # pyopencl sets one number in 5 us, and all arguments in one
            for k, value in changed:
                self._arguments[k] = value
            entry.set_args(*self._arguments)
        self._device.start(entry, self._grid, self._group)

    def end(self) -> None:
        """Release the entry for others."""
        self._kernel.give_back(self._entry)


@contextmanager
def _environment() -> Iterator[None]:
    """Restore the environment: pyopencl sets PYOPENCL_HOME, which its platform loader reads."""
    before = os.environ.get("PYOPENCL_HOME")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYOPENCL_HOME", None)


@cache
def opencl() -> Any:
    """Return the module pyopencl."""
    return import_module("pyopencl")


def trouble() -> str:
    """Return what this machine lacks, and the fix; empty if there is a device that compiles kernels."""
    with _environment():
        try:
            opencl()
        except ImportError as error:
            return f"pyopencl does not load ({error}); {INSTALL}"
        found, reasons = _found()
    if found is not None:
        return ""
    why = "; ".join(reasons) or "no OpenCL platform has a device"
    return f"{why}; install the driver of a GPU, or for processors Debian's pocl-opencl-icd or intel-opencl-rt of PyPI"


def device() -> OpenCLDevice:
    """Return the first device that compiles kernels.  Raises EngineError if there is none."""
    with _environment():
        found, _ = _found()
    if found is None:
        raise EngineError(f"engine 'opencl' cannot run here: {trouble()}")
    return found


@cache
def _found() -> tuple[OpenCLDevice | None, tuple[str, ...]]:
    """Return the first device that compiles a test kernel, and the failures of those before it."""
    reasons = []
    for one, caller in _with_callers(_devices()):
        made = OpenCLDevice(one, caller=caller)
        try:
            made.kernel("__kernel void trial(__global float *y) { y[get_global_id(0)] = 1; }", "trial", [True])
        except opencl().Error as error:
            why = [line for line in str(error).splitlines() if line.startswith("error:")] or [str(error).strip()]
            reasons.append(f"the OpenCL device {made.name} compiles no kernels ({why[0].removeprefix('error: ')})")
        else:
            return made, ()
    return None, tuple(reasons)


def _with_callers(devices: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each device, and the device of the same processor that runs kernels in the calling thread, or None."""
    for one in devices:
        others = [d for d in devices if d is not one and (d.platform, d.type) == (one.platform, one.type)]
        if not _is_caller(one) or all(map(_is_caller, others)):
            yield one, next(filter(_is_caller, others), None)


def _is_caller(device: Any) -> bool:
    return device.platform.name in _VECTORIZE_LOOPS and str(device.name).startswith(_IN_CALLER)


def _devices() -> list[Any]:
    """Return all devices; none if the platform loader finds no platform."""
    cl = opencl()
    try:
        return [d for platform in cl.get_platforms() for d in platform.get_devices()]
    except cl.Error:
        return []


class OpenCLEngine(DeviceEngine):
    """Compiles the kernels of a graph for the first OpenCL device."""

    name = "opencl"
    stage = "making OpenCL C"

    def missing(self) -> str:
        return trouble()

    def device(self) -> Device:
        return device()
