"""A plugin of pytest: functions that name no mode run on a GPU of NVIDIA, and all kernels on the device.

PYTHONPATH=tests python -m pytest -p on_cuda tests/test_elementwise.py
"""

from arignote.engines.cuda import device as devices
from arignote.mode import MODES, Mode


def pytest_configure(config):
    if devices.trouble():
        raise SystemExit(f"no CUDA: {devices.trouble()}")
    MODES["FAST_RUN"] = Mode("fast_run", backend="cuda")
