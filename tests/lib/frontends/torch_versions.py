"""Marks of tests for the installed version of PyTorch."""

from __future__ import annotations

import torch

from arignote.frontends.torch.versions import OLDEST, VERSION

IS_OLDEST = VERSION == OLDEST
"""Whether it is the oldest version that the front end takes."""


def keeps_checks() -> bool:
    """Return whether graphs keep the check that a matrix is not singular: PyTorch 2.6 drops it as dead code."""
    graph = torch.fx.Graph()
    node = graph.call_function(torch.ops.aten._linalg_check_errors.default, (graph.placeholder("info"), "inv"))
    return bool(node.is_impure())
