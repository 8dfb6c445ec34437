"""The CUDA engine: the host code of the OpenCL engine over a device of NVIDIA.

device.py    the device through cuda-python: driver API, NVRTC
engine.py    the engine
"""
