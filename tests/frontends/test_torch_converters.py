"""Converters of ops that exported programs seldom hold: cotangents of windows, order statistics, distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

import arignote as ag  # noqa: E402
from arignote.frontends.torch import Conversion  # noqa: E402
from arignote.frontends.torch.decompositions import decompositions_of  # noqa: E402
from arignote.frontends.torch.dtypes import array_of, type_of  # noqa: E402
from arignote.ops.core.tensor import TensorVariable  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
aten = torch.ops.aten


def order(x: Any, with_nan: Any, whole: Any) -> list[Any]:
    return [
        torch.median(x), torch.median(with_nan), *torch.median(with_nan, 1), *torch.median(x, 0, True),
        *torch.median(whole, -1), *torch.kthvalue(x, 3, 1), *torch.kthvalue(x, 2, 0, True),
    ]  # fmt: skip


def distances(x: Any, y: Any, g: Any, c: Any, d: Any) -> list[Any]:
    orders = (0, 0.5, 1, 2, 3, float("inf"))
    return [
        *(torch.pdist(x, p) for p in orders),
        *(aten._cdist_backward(g, x, y, p, torch.cdist(x, y, p=p)) for p in (1.0, 2.0)),
        torch.addbmm(c, d, d.mT, beta=0.5, alpha=2),
    ]


def windows(x: Any, wide: Any, odd: Any, border: Any, pooled: Any, at: Any) -> list[Any]:
    own = list(x.shape)
    return [
        aten.upsample_nearest2d_backward(wide, [10, 12], own, None, None),
        aten.upsample_nearest2d_backward(odd, [7, 17], own, 1.5, 2.9),
        aten._upsample_nearest_exact2d_backward(odd, [7, 17], own, None, None),
        aten.replication_pad2d_backward(border, x, [1, 2, 0, 3]),
        aten.adaptive_max_pool2d_backward(pooled, x, at),
    ]


def operands(name: str) -> tuple[Any, ...]:
    torch.manual_seed(0)
    draw = torch.randn
    if name == "order":
        with_nan = draw(4, 7)
        with_nan[1, 2] = float("nan")
        return draw(4, 7), with_nan, torch.randperm(20).reshape(4, 5)
    if name == "distances":
        return draw(5, 2), draw(4, 2), draw(5, 4), draw(3, 3), draw(4, 3, 2)
    x = draw(2, 3, 5, 6)
    at = torch.nn.functional.adaptive_max_pool2d(x, (2, 3), return_indices=True)[1]
    return x, draw(2, 3, 10, 12), draw(2, 3, 7, 17), draw(2, 3, 8, 9), draw(2, 3, 2, 3), at


@pytest.mark.parametrize("ops", [order, distances, windows], ids=lambda f: f.__name__)
def test_values_are_those_of_pytorch(ops: Any) -> None:
    given = operands(ops.__name__)
    graph = make_fx(ops, decomposition_table=decompositions_of(), tracing_mode="fake")(*given)
    graph.graph.eliminate_dead_code()
    conversion, inputs = Conversion(strict=True), [TensorVariable(type_of(v)) for v in given]
    function = ag.function(inputs, list(conversion.graph(graph, inputs)), on_unused_input="ignore")
    for got, want in zip(function(*map(array_of, given)), ops(*given), strict=True):
        torch.testing.assert_close(torch.as_tensor(np.array(got)), want, equal_nan=True, rtol=1e-4, atol=1e-5)
