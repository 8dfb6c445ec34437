"""The CUDA engine: the host code of the OpenCL engine on an NVIDIA device.

device.py    the device through cuda-python: driver API, NVRTC
engine.py    the engine
"""
