"""A dialect in one file: the words of CUDA C++, kernels that g++ compiles, launches on this processor.

It has what each dialect has: the words of a language, the calls of a runtime, and the name of an engine.
"""

import ctypes
from dataclasses import replace
from pathlib import Path

import cuda_stand_in

from arignote.engines.device.base import Device
from arignote.engines.device.dialects.cuda import CUDA
from arignote.engines.device.engine import DeviceEngine
from arignote.engines.device.memory import Buffers

WORDS = replace(CUDA, name="stand_in")


class StandInDevice(Device):
    """This processor, with memory of its own."""

    kind, name, dialect = "stand-in", "this processor", WORDS
    largest, has_float64, items, units = 1 << 30, True, 256, 4
    shares = in_parts = False
    small = 0

    def __init__(self):
        super().__init__()
        self.memory = Buffers(self)
        self._compiler, self._libraries = cuda_stand_in.Compiler(), {}

    def kernel(self, source, name, pointers):
        if source not in self._libraries:
            _, program = self._compiler.nvrtcCreateProgram(source.encode(), b"", 0, [], [])
            (failed,) = self._compiler.nvrtcCompileProgram(program, 1, [b"--fmad=false"])
            assert not failed, program.log
            self._libraries[source] = ctypes.CDLL(str(Path(program.path)))
        return self._libraries[source], getattr(self._libraries[source], name), "__sync" in source

    def launch(self, kernel, grid, group, arguments):
        library, function, has_barriers = kernel
        size = (*(group or (1,) * len(grid)), 1, 1)[:3]
        groups = (*(-(-n // s) for n, s in zip(grid, size)), 1, 1)[:3]
        given = [ctypes.addressof(a) if isinstance(a, ctypes.Array) else int(a) for a in arguments]
        numbers = (ctypes.c_int64 * max(len(given), 1))(*given)
        sizes = [(ctypes.c_uint * 3)(*s) for s in (groups, size)]
        library.stand_in_run(ctypes.cast(function, ctypes.c_void_p), numbers, len(given), *sizes, int(has_barriers))

    def repeated(self, kernel, grid, group, arguments):
        return Repeated(self, kernel, grid, group, list(arguments))

    def finish(self):
        """A launch has ended when it returns."""

    def buffer(self, size):
        return ctypes.create_string_buffer(size)

    def copy_in(self, buffer, array):
        ctypes.memmove(buffer, array.ctypes.data, array.nbytes)

    def copy_out(self, array, buffer, offset):
        ctypes.memmove(array.ctypes.data, ctypes.addressof(buffer) + offset, array.nbytes)


class Repeated:
    """A launch with arguments of its own."""

    def __init__(self, device, kernel, grid, group, arguments):
        self._device, self._launch, self._arguments = device, (kernel, grid, group), arguments

    def start(self, changed):
        for k, value in changed:
            self._arguments[k] = value
        self._device.launch(*self._launch, self._arguments)

    def end(self):
        """A launch holds no resources."""


class StandInEngine(DeviceEngine):
    """The engine of the dialect."""

    name = "stand_in"

    def __init__(self):
        self._device = StandInDevice()

    def device(self):
        return self._device
