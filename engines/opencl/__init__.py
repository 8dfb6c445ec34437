"""The OpenCL engine: kernels on a device, all other nodes on the host.

device.py   the device, its queue, buffers and compiled kernels; the errors that name a remedy
program.py  a graph as steps: launches, views, host nodes and the copies between them
engine.py   the engine and its executable
"""
