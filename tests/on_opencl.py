"""A plugin of pytest: functions that name no mode run on OpenCL, and all kernels on the device, small ones too.

    PYTHONPATH=tests python -m pytest -p on_opencl tests/test_elementwise.py
"""

from arignote.engines.opencl import device as devices
from arignote.mode import MODES, Mode


def pytest_configure(config):
    if devices.trouble():
        raise SystemExit(f"no OpenCL: {devices.trouble()}")
    devices.device().small = 0
    MODES["FAST_RUN"] = Mode("fast_run", backend="opencl")
