"""Ours on an OpenCL device, beside our C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arignote as ag

from ..cases import Case
from . import arignote as ours

version = ours.version


def build(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return ours.build(case, mode=ag.Mode("fast_run", backend="opencl"))
