"""Dialects: what one kind of device adds, each in one file.

opencl.py   OpenCL C and pyopencl
cuda.py     CUDA C++ and cuda-python

A new dialect is a file with three parts: a `Dialect` (ctext/device.py) with the words of its language, a `Device`
(base.py) with the calls of its runtime, and a `DeviceEngine` (engine.py) with its name.  Its engine is registered by
`ag.engines.register`, or in engines/registry.py.
"""
