"""One OpenCL device in three ways, for tests."""

from functools import cache

import numpy as np

from arignote.engines.opencl import device as devices

WAYS = {
    "parts": {"shares": True, "in_parts": True},
    "items": {"shares": True, "in_parts": False},
    "buffers": {"shares": False, "in_parts": False},
}
"""Processors whose compiler makes vectors of loops; other processors; devices with memory of their own."""


@cache
def lacking():
    return devices.trouble()


@cache
def device_of(way):
    (found,) = [d for d in devices._devices() if str(d.name).strip() == devices.device().name][:1]
    made = devices.OpenCLDevice(found, **WAYS[way])
    made.small = 0
    return made


def calls(f, wanted, values):
    """Results of calls of a function and of its meaning: the first, the recorded one, and replays with other values."""
    rolled = [np.roll(v, 1) if isinstance(v, np.ndarray) else v for v in values]
    for given in (values, values, rolled, rolled, values):
        yield from zip(f(*given), wanted(*given), strict=True)
