"""The CUDA engine: the steps, kernels and copies of the OpenCL engine, in the dialect of CUDA C++."""

from __future__ import annotations

from ..opencl.base import Device
from ..opencl.engine import OpenCLEngine
from .device import device, trouble


class CudaEngine(OpenCLEngine):
    """Compiles the kernels of a graph for the first CUDA device."""

    name = "cuda"
    stage = "making CUDA C++"

    def missing(self) -> str:
        return trouble()

    def device(self) -> Device:
        return device()
