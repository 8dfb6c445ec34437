"""An NVIDIA device through cuda-python: NVRTC compiles sources to PTX, the driver API does the rest.

All launches and copies use one stream, and memory comes from the stream's pool.  `cuda.bindings` is imported when the
first function is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ....cbackend.ctext.device import Dialect, typedefs
from ...engine import EngineError
from ..base import Device
from ..engine import DeviceEngine
from ..memory import Buffers

INSTALL = "install it by pip install 'arignote[cuda]'"
_MOST_GROUPS = 65535
"""Most groups of a launch along its second and its third axis."""

_BUILT_IN = """\
#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000LL)
#define __builtin_nanf(text) __int_as_float(0x7fc00000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_fma fma
#define __builtin_fmaf fmaf
#define __builtin_signbit signbit
#define __builtin_expect(value, wanted) (value)
#define __FP_FAST_FMA 1
#define __FP_FAST_FMAF 1
extern "C" { __constant__ i64 ag_first[2]; }
static __device__ inline f64 copysign(int size, f64 sign) { return copysign((f64)size, sign); }
static __device__ inline f64 lgamma_r(f64 x, int *sign)
{
    *sign = x < 0 && fmod(floor(x), 2.0) != 0 ? -1 : 1;
    return lgamma(x);
}
static __device__ inline f32 lgammaf_r(f32 x, int *sign)
{
    *sign = x < 0 && fmodf(floorf(x), 2.0f) != 0 ? -1 : 1;
    return lgammaf(x);
}
"""
CUDA = Dialect(
    name="cuda",
    prelude=typedefs("long long") + "typedef double f64;\n" + _BUILT_IN,
    kernel='extern "C" __global__ void',
    grouped='extern "C" __global__ void __launch_bounds__({items}, {groups})',
    resident=1024,
    pointer="",
    shared="__shared__ ",
    barrier="__syncthreads();",
    near_barrier=(32, "__syncwarp();"),
    high_product="__umulhi",
    places=(
        "(i64)blockIdx.x * blockDim.x + threadIdx.x",
        "(ag_first[0] + blockIdx.y) * blockDim.y + threadIdx.y",
        "(ag_first[1] + blockIdx.z) * blockDim.z + threadIdx.z",
    ),
    group=("(i64)blockIdx.x", "(ag_first[0] + blockIdx.y)", "(ag_first[1] + blockIdx.z)"),
    item="threadIdx.x",
    helper="static __device__ inline",
)


class _Uncapturable(Exception):
    """A launch has more groups than a launch of a graph may have."""


_TRIAL = 'extern "C" __global__ void trial(float *y) { y[blockIdx.x] = 1; }'


class CudaDevice(Device):
    """CUDA device with a stream of its own, in its primary context."""

    kind = "CUDA"
    dialect = CUDA
    has_float64 = True
    shares = in_parts = False
    small = 0

    def __init__(self, number: int) -> None:
        super().__init__()
        self._driver, self._nvrtc = driver(), nvrtc()
        handle = self._ask("cuDeviceGet", number)
        self.name = self._ask("cuDeviceGetName", 256, handle).split(b"\0")[0].decode()
        self.largest = int(self._ask("cuDeviceTotalMem", handle))
        kinds = self._driver.CUdevice_attribute
        self.items = self._attribute(handle, kinds.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        self.units = self._attribute(handle, kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        major = self._attribute(handle, kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(handle, kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self._options = [f"--gpu-architecture=compute_{major}{minor}".encode(), b"--fmad=false"]
        self._context = self._ask("cuDevicePrimaryCtxRetain", handle)
        self._modules: dict[str, Module] = {}
        self._capturing: set[Module] | None = None
        """The modules of the graph that is made at this moment."""
        self._second: Any = None
        """The stream on which graphs are made: other threads free memory on the first one meanwhile."""
        self.enter()
        self.stream: Any = self._stream()
        self._keep_freed(handle)
        self.memory = Buffers(self)

    def enter(self) -> None:
        """Make the context current in the calling thread."""
        self._ask("cuCtxSetCurrent", self._context)

    def kernel(self, source: str, name: str, pointers: Sequence[bool]) -> Kernel:
        with self.lock:
            self.enter()
            if source not in self._modules:
                handle = self._ask("cuModuleLoadData", self._compiled(source))
                first = self._ask("cuModuleGetGlobal", handle, b"ag_first") if "ag_first" in source else (None, 0)
                self._modules[source] = Module(handle, first[0])
            module = self._modules[source]
            return Kernel(self._ask("cuModuleGetFunction", module.handle, name.encode()), module)

    def launch(
        self, kernel: Kernel, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> None:
        self.repeated(kernel, grid, group, arguments).start(())

    def repeated(
        self, kernel: Kernel, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]
    ) -> CudaRepeated:
        return CudaRepeated(self, kernel, grid, group, arguments)

    def start(self, kernel: Kernel, groups: Sequence[int], size: Sequence[int], parameters: int) -> None:
        """Launch groups of work items.  `parameters`: the address of an array with the addresses of the arguments."""
        self.enter()
        module, pieces = kernel.module, list(_pieces(groups))
        if self._capturing is not None:
            if len(pieces) > 1:
                raise _Uncapturable
            self._capturing.add(module)
            self._ask("cuLaunchKernel", kernel.function, *pieces[0][1], *size, 0, self._second, parameters, 0)
            return
        for first, count in pieces:
            self.move(module, first)
            self._ask("cuLaunchKernel", kernel.function, *count, *size, 0, self.stream, parameters, 0)

    def move(self, module: Module, first: tuple[int, int]) -> None:
        """Set the first group of the kernels of a module along the last two axes."""
        if module.first is not None and first != module.at:
            moved = np.array(first, np.int64)
            module.at = None  # unknown if the copy fails
            self._ask("cuMemcpyHtoDAsync", module.first, moved.ctypes.data, moved.nbytes, self.stream)
            module.at = first

    def captured(self, play: Callable[[], None]) -> CudaGraph | None:
        self.enter()
        if self._second is None:
            self._second = self._stream()
        mode = self._driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        self._ask("cuStreamBeginCapture", self._second, mode)
        modules, fits = set[Module](), False
        self._capturing = modules
        try:
            play()
            fits = True
        except _Uncapturable:
            pass
        finally:
            self._capturing = None
            graph = self._ask("cuStreamEndCapture", self._second)
        return CudaGraph(self, graph, modules) if fits else None

    def places(self, buffers: Sequence[Buffer]) -> tuple[int, ...]:
        return tuple([b.address for b in buffers])

    def _keep_freed(self, handle: Any) -> None:
        """Keep freed memory in the pool: by default it goes back to the system at each wait, and is mapped anew."""
        pool = self._ask("cuDeviceGetDefaultMemPool", handle)
        kind = self._driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self._ask("cuMemPoolSetAttribute", pool, kind, self._driver.cuuint64_t(self.largest))

    def _stream(self) -> Any:
        return self._ask("cuStreamCreate", int(self._driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def finish(self) -> None:
        self.enter()
        self._ask("cuStreamSynchronize", self.stream)

    def buffer(self, size: int) -> Buffer:
        self.enter()
        return Buffer(self, int(self._ask("cuMemAllocAsync", size, self.stream, size=size)))

    def free(self, address: int) -> None:
        """Return memory to the pool; kernels launched before may still use it."""
        self.enter()
        self._ask("cuMemFreeAsync", address, self.stream)

    def copy_in(self, buffer: Buffer, array: np.ndarray) -> None:
        self.enter()
        self._ask("cuMemcpyHtoDAsync", buffer.address, array.ctypes.data, array.nbytes, self.stream)
        self._ask("cuStreamSynchronize", self.stream)

    def copy_out(self, array: np.ndarray, buffer: Buffer, offset: int) -> None:
        self.enter()
        self._ask("cuMemcpyDtoHAsync", array.ctypes.data, buffer.address + offset, array.nbytes, self.stream)
        self._ask("cuStreamSynchronize", self.stream)

    def _attribute(self, handle: Any, kind: Any) -> int:
        return int(self._ask("cuDeviceGetAttribute", kind, handle))

    def _ask(self, function: str, *arguments: Any, size: int = 0) -> Any:
        """Return the result of a function of the driver.  Raises EngineError for its errors.

        `size`: bytes of the array that it allocates, for the error about memory.
        """
        error, *found = getattr(self._driver, function)(*arguments)
        if int(error) == 0:
            return found[0] if len(found) == 1 else tuple(found)
        if size and error == self._driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise self.no_room(size)
        raise EngineError(
            f"the CUDA device {getattr(self, 'name', '')} fails in {function}: {message(self._driver, error)}"
        )

    def _compiled(self, source: str) -> bytes:
        """Return the PTX of a source.  Raises EngineError with the compiler's first error."""
        tool = self._nvrtc
        _, program = tool.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
        try:
            (result,) = tool.nvrtcCompileProgram(program, len(self._options), self._options)
            if int(result) != 0:
                _, size = tool.nvrtcGetProgramLogSize(program)
                log = b" " * size
                tool.nvrtcGetProgramLog(program, log)
                lines = [line for line in log.decode().splitlines() if "error" in line] or [log.decode().strip("\0 \n")]
                raise EngineError(f"NVRTC does not compile a kernel for the CUDA device {self.name}: {lines[0]}")
            _, size = tool.nvrtcGetPTXSize(program)
            text: bytes = b" " * size
            tool.nvrtcGetPTX(program, text)
            return text
        finally:
            tool.nvrtcDestroyProgram(program)


class Module:
    """A compiled source.  `first`: the address of its constant `ag_first`, if it has one.

    `at`: the present value of that constant, the first group along the last two axes; None if unknown.
    """

    def __init__(self, handle: Any, first: Any) -> None:
        self.handle: Any = handle
        self.first: Any = first
        self.at: tuple[int, int] | None = (0, 0)


class Kernel:
    """A function of a module."""

    def __init__(self, function: Any, module: Module) -> None:
        self.function: Any = function
        self.module: Module = module


class Buffer:
    """Memory of a device."""

    def __init__(self, device: CudaDevice, address: int) -> None:
        self._device = device
        self.address: int = address

    def __del__(self) -> None:
        with suppress(Exception):  # the device or the interpreter may have ended, and the memory with it
            self._device.free(self.address)


class CudaGraph:
    """A graph of launches, ready to start.  All start at the first group of their modules."""

    def __init__(self, device: CudaDevice, graph: Any, modules: Collection[Module]) -> None:
        self._device, self._modules = device, modules
        self._ready = device._ask("cuGraphInstantiate", graph, 0)
        device._ask("cuGraphDestroy", graph)

    def start(self) -> None:
        self._device.enter()
        for module in self._modules:
            self._device.move(module, (0, 0))
        self._device._ask("cuGraphLaunch", self._ready, self._device.stream)

    def __del__(self) -> None:
        with suppress(Exception):  # the device or the interpreter may have ended
            self._device.enter()
            self._device._ask("cuGraphExecDestroy", self._ready)


class CudaRepeated:
    """A launch with its own arguments, some of which change from run to run.  Every argument has 8 bytes."""

    def __init__(
        self, device: CudaDevice, kernel: Kernel, grid: Sequence[int], group: Sequence[int] | None, given: Sequence[Any]
    ) -> None:
        self._device, self._kernel = device, kernel
        size = tuple(group or (1,) * len(grid))
        self._size = (*size, 1, 1)[:3]
        self._groups = (*(-(-n // s) for n, s in zip(grid, size)), 1, 1)[:3]
        self._values = np.array([_number(g) for g in given] or [0], np.int64)
        self._places = self._values.ctypes.data + 8 * np.arange(self._values.size, dtype=np.uint64)

    def start(self, changed: Sequence[tuple[int, Any]]) -> None:
        """Run it with other arguments at some positions; the driver copies them before it returns."""
        for k, value in changed:
            self._values[k] = _number(value)
        self._device.start(self._kernel, self._groups, self._size, self._places.ctypes.data)

    def end(self) -> None:
        """Do nothing: a launch holds no resources."""


def _number(given: Any) -> int:
    return given.address if isinstance(given, Buffer) else int(given)


def _pieces(groups: Sequence[int]) -> Iterator[tuple[tuple[int, int], tuple[int, int, int]]]:
    """Yield launches of allowed size: the first group along the last two axes, and the counts along all three."""
    across, down, deep = groups
    for z in range(0, deep, _MOST_GROUPS):
        for y in range(0, down, _MOST_GROUPS):
            yield (y, z), (across, min(down - y, _MOST_GROUPS), min(deep - z, _MOST_GROUPS))


@cache
def driver() -> Any:
    """Return the driver API of cuda-python."""
    return import_module("cuda.bindings.driver")


@cache
def nvrtc() -> Any:
    """Return the compiler API of cuda-python."""
    return import_module("cuda.bindings.nvrtc")


def message(module: Any, error: Any) -> str:
    """Return the text of a driver error."""
    _, text = module.cuGetErrorString(error)
    return text.decode() if isinstance(text, bytes) else str(error)


def trouble() -> str:
    """Return what this machine lacks, and the fix; empty if there is a device that compiles kernels."""
    return _found()[1]


def device() -> CudaDevice:
    """Return the first CUDA device.  Raises EngineError if none compiles kernels."""
    found, reason = _found()
    if found is None:
        raise EngineError(f"engine 'cuda' cannot run here: {reason}")
    return found


@cache
def _found() -> tuple[CudaDevice | None, str]:
    """Return the first device, or the reason why there is none."""
    try:
        module = driver()
        nvrtc()
    except ImportError as error:
        return None, f"cuda-python does not load ({error}); {INSTALL}"
    reason = _driver_trouble(module)
    if reason:
        return None, reason
    try:
        made = CudaDevice(0)
        made.kernel(_TRIAL, "trial", [True])
    except EngineError as error:
        return None, f"{error}; install a driver that fits the device, and {INSTALL.removeprefix('install it by ')}"
    except RuntimeError as error:
        return None, f"NVRTC does not load ({_first_line(error)}); install it by pip install nvidia-cuda-nvrtc-cu12"
    return made, ""


def _driver_trouble(module: Any) -> str:
    """Return the reason why there is no device; empty if there is one."""
    remedy = "install NVIDIA's driver on a machine with a GPU of NVIDIA"
    try:
        (error,) = module.cuInit(0)
    except RuntimeError as reason:  # cuda-python finds no libcuda
        return f"there is no CUDA driver ({_first_line(reason)}); {remedy}"
    if int(error) != 0:
        return f"the CUDA driver does not start ({message(module, error)}); {remedy}"
    _, count = module.cuDeviceGetCount()
    return "" if count else f"the CUDA driver has no device; {remedy}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


class CudaEngine(DeviceEngine):
    """Compiles the kernels of a graph for the first CUDA device."""

    name = "cuda"
    stage = "making CUDA C++"

    def missing(self) -> str:
        return trouble()

    def device(self) -> Device:
        return device()
