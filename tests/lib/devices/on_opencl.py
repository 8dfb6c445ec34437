"""A plugin of pytest: functions that name no mode run on OpenCL, and all kernels on the device, small ones too.

    PYTHONPATH=tests python -m pytest -p on_opencl tests/ops/elementwise/test_elementwise.py
    OPENCL_WAY=buffers PYTHONPATH=tests python -m pytest -p on_opencl tests/ops/control/test_scan.py

The second line is the mapping of GPUs; see opencl_devices.py.
"""

import os

from opencl_devices import device_of

from arignote.engines.opencl import device as devices
from arignote.engines.opencl import engine
from arignote.function.mode import MODES, Mode


def pytest_configure(config):
    if devices.trouble():
        raise SystemExit(f"no OpenCL: {devices.trouble()}")
    devices.device().small = 0
    way = os.environ.get("OPENCL_WAY")
    if way:
        engine.device = lambda: device_of(way)
    MODES["FAST_RUN"] = Mode("fast_run", backend="opencl")
