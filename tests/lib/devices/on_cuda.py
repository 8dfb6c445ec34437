"""A plugin of pytest: functions that name no mode run on a GPU of NVIDIA, and all kernels on the device.

    PYTHONPATH=tests python -m pytest -p on_cuda tests/ops/elementwise/test_elementwise.py
    CUDA_WAY=stand-in PYTHONPATH=tests python -m pytest -p on_cuda tests/ops/shapes/test_padding.py

The second line takes the stand-in, which runs the CUDA text on this processor; see cuda_stand_in.py.
"""

import os

import cuda_stand_in

from arignote.engines.cuda import device as devices
from arignote.function.mode import MODES, Mode


def pytest_configure(config):
    if os.environ.get("CUDA_WAY") == "stand-in":
        driver, compiler = cuda_stand_in.Driver(), cuda_stand_in.Compiler()
        devices.driver, devices.nvrtc = (lambda: driver), (lambda: compiler)
    if devices.trouble():
        raise SystemExit(f"no CUDA: {devices.trouble()}")
    MODES["FAST_RUN"] = Mode("fast_run", backend="cuda")
