"""A stand-in for cuda-python's driver and NVRTC on machines without a GPU, for tests of the host code alone.

It compiles the CUDA text by g++ with cuda_stand_in.h, runs launches on this processor, and checks what a driver checks:
that a context is current, that memory is alive, that launches have sizes a device takes.
"""

import ctypes
import subprocess
import tempfile
import threading
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace

HEADER = Path(__file__).with_name("cuda_stand_in.h")
FOLDER = tempfile.mkdtemp(prefix="cuda_stand_in_")


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_CONTEXT = 201


class CUdevice_attribute(IntEnum):  # noqa: N801
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


class CUstream_flags(IntEnum):  # noqa: N801
    CU_STREAM_NON_BLOCKING = 1


class CUstreamCaptureMode(IntEnum):
    CU_STREAM_CAPTURE_MODE_RELAXED = 2


class CUmemPool_attribute(IntEnum):  # noqa: N801
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4


OK = CUresult.CUDA_SUCCESS
VALUES = {1: 1024, 16: 8, 75: 9, 76: 0}


class Driver:
    """The functions of `cuda.bindings.driver` that the engine calls."""

    CUresult, CUdevice_attribute, CUstream_flags = CUresult, CUdevice_attribute, CUstream_flags
    CUstreamCaptureMode, CUmemPool_attribute, cuuint64_t = CUstreamCaptureMode, CUmemPool_attribute, int

    def __init__(self, total=1 << 30):
        self.total, self.memory, self.calls = total, {}, []
        self.pool = {}
        self.streams, self.capturing = 0, set()
        self.graph, self.graphs = None, 0
        self._local = threading.local()

    def cuInit(self, flags):
        return (OK,)

    def cuDeviceGetCount(self):
        return OK, 1

    def cuDeviceGet(self, number):
        return OK, 7

    def cuDeviceGetName(self, length, device):
        return OK, b"Stand-in\0\0"

    def cuDeviceTotalMem(self, device):
        return OK, self.total

    def cuDeviceGetAttribute(self, kind, device):
        return OK, VALUES[int(kind)]

    def cuDevicePrimaryCtxRetain(self, device):
        return OK, "context"

    def cuCtxSetCurrent(self, context):
        self._local.context = context
        return (OK,)

    def cuStreamCreate(self, flags):
        self.streams += 1
        return OK, f"stream {self.streams}"

    def cuGetErrorString(self, error):
        return OK, CUresult(error).name.encode()

    def _wrong(self, *places):
        if getattr(self._local, "context", None) != "context":
            return (CUresult.CUDA_ERROR_INVALID_CONTEXT,)
        alive = all(any(s <= at and at + n <= s + len(m) for s, m in self.memory.items()) for at, n in places)
        return None if alive else (CUresult.CUDA_ERROR_INVALID_VALUE,)

    def cuDeviceGetDefaultMemPool(self, device):
        return OK, "pool"

    def cuMemPoolSetAttribute(self, pool, kind, value):
        assert pool == "pool" and kind == CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD and value > 0
        return (OK,)

    def cuMemAllocAsync(self, size, stream):
        if self._wrong():
            return (*self._wrong(), None)
        if sum(map(len, self.memory.values())) + size > self.total:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        pool = self.pool.get(size)
        made = pool.pop() if pool else ctypes.create_string_buffer(size)
        self.memory[ctypes.addressof(made)] = made
        return OK, ctypes.addressof(made)

    def cuMemFreeAsync(self, address, stream):
        freed = self.memory.pop(address)
        self.pool.setdefault(len(freed), []).append(freed)
        return (OK,)

    def cuMemcpyHtoDAsync(self, there, here, size, stream):
        if isinstance(there, ctypes.Array):  # a symbol of a module
            there = ctypes.addressof(there)
        elif self._wrong((there, size)):
            return self._wrong((there, size))
        ctypes.memmove(there, here, size)
        return (OK,)

    def cuMemcpyDtoHAsync(self, here, there, size, stream):
        if not self._wrong((there, size)):
            ctypes.memmove(here, there, size)
        return self._wrong((there, size)) or (OK,)

    def cuStreamSynchronize(self, stream):
        return self._wrong() or (OK,)

    def cuModuleLoadData(self, image):
        path = image.rstrip(b"\0").decode()
        return OK, SimpleNamespace(library=ctypes.CDLL(path), text=Path(path).with_suffix(".cu").read_text())

    def cuModuleGetFunction(self, module, name):
        return OK, SimpleNamespace(module=module, address=getattr(module.library, name.decode()))

    def cuModuleGetGlobal(self, module, name):
        return OK, (ctypes.c_int64 * 2).in_dll(module.library, name.decode()), 16

    def cuStreamBeginCapture(self, stream, mode):
        assert self.graph is None
        self.graph = []
        self.capturing.add(stream)
        return (OK,)

    def cuStreamEndCapture(self, stream):
        made, self.graph = self.graph, None
        return OK, made

    def cuGraphInstantiate(self, graph, flags):
        return OK, tuple(graph)

    def cuGraphDestroy(self, graph):
        graph.clear()
        return (OK,)

    def cuGraphExecDestroy(self, ready):
        return (OK,)

    def cuGraphLaunch(self, ready, stream):
        assert stream not in self.capturing
        self.graphs += 1
        for library, address, given, sizes, has_barriers in ready:
            library.stand_in_run(address, given, len(given), *sizes, has_barriers)
        return self._wrong() or (OK,)

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        assert (self.graph is None) == (stream not in self.capturing)
        self.calls.append(((gx, gy, gz), (bx, by, bz)))
        fits = 0 < gx < 1 << 31 and 0 < gy <= 65535 and 0 < gz <= 65535 and 0 < bx * by * bz <= 1024 and bz <= 64
        if self._wrong() or not fits:
            return self._wrong() or (CUresult.CUDA_ERROR_INVALID_VALUE,)
        library, name = function.module.library, function.address.__name__
        head = function.module.text.split(f" {name}(", 1)[1].split(")", 1)[0]
        count = head.count(",") + 1
        places = (ctypes.c_uint64 * count).from_address(parameters)
        given = (ctypes.c_int64 * count)(*(ctypes.c_int64.from_address(p).value for p in places))
        address = ctypes.cast(function.address, ctypes.c_void_p)
        sizes = [(ctypes.c_uint * 3)(*s) for s in ((gx, gy, gz), (bx, by, bz))]
        made = library, address, given, sizes, int("__sync" in function.module.text)
        if self.graph is not None:
            self.graph.append(made)
        else:
            library.stand_in_run(address, given, count, *sizes, made[-1])
        return (OK,)


class Compiler:
    """The functions of `cuda.bindings.nvrtc` that the engine calls; "PTX" is the path of a library."""

    def __init__(self):
        self.made, self.folder = {}, Path(tempfile.mkdtemp(dir=FOLDER))

    def nvrtcCreateProgram(self, text, name, count, headers, names):
        return 0, SimpleNamespace(text=text.decode(), path="", log="")

    def nvrtcCompileProgram(self, program, count, options):
        assert b"--fmad=false" in options and len(options) == count
        if program.text not in self.made:
            stem = self.folder / f"k{len(self.made)}"
            stem.with_suffix(".cu").write_text(program.text)
            command = ["g++", "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fno-builtin"]
            command += ["-include", str(HEADER), "-x", "c++", str(stem.with_suffix(".cu")), "-Wl,-Bsymbolic"]
            done = subprocess.run([*command, "-o", f"{stem}.so"], capture_output=True, text=True, check=False)
            program.log = done.stderr
            if done.returncode:
                return (6,)
            self.made[program.text] = f"{stem}.so"
        program.path = self.made[program.text]
        return (0,)

    def nvrtcGetProgramLogSize(self, program):
        return 0, len(program.log.encode())

    def nvrtcGetProgramLog(self, program, buffer):
        return self._fill(buffer, program.log)

    def nvrtcGetPTXSize(self, program):
        return 0, len(program.path) + 1

    def nvrtcGetPTX(self, program, buffer):
        return self._fill(buffer, program.path + "\0")

    def nvrtcDestroyProgram(self, program):
        return (0,)

    @staticmethod
    def _fill(buffer, text):
        """Write into a bytes object, as cuda-python does."""
        ctypes.memmove(buffer, text.encode(), len(buffer))
        return (0,)
