"""The installed PyTorch in tests: marks of its version, no thread that outlives a test."""

from __future__ import annotations

import contextlib

import torch

from arignote.frontends.torch.versions import OLDEST, VERSION

IS_OLDEST = VERSION == OLDEST
"""Whether it is the oldest version that the front end takes."""


def keeps_checks() -> bool:
    """Return whether graphs keep the check that a matrix is not singular: PyTorch 2.6 drops it as dead code."""
    graph = torch.fx.Graph()
    node = graph.call_function(torch.ops.aten._linalg_check_errors.default, (graph.placeholder("info"), "inv"))
    return bool(node.is_impure())


def keep_progress_without_thread() -> None:
    """Let PyTorch's progress bars start no thread: it would outlive a test."""
    with contextlib.suppress(ImportError):
        import tqdm

        tqdm.tqdm.monitor_interval = 0
