"""PyTorch's numbers of 16 bits: bfloat16 as bits of arrays, and numbers that PyTorch rounds before it computes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch_versions import keep_progress_without_thread  # noqa: E402

import arignote as ag  # noqa: E402
from arignote.frontends.torch.backend import arignote, graphs  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional
keep_progress_without_thread()
HALVES = [torch.bfloat16, torch.float16]
X = torch.arange(-300, 300).float() * 0.37
Y = torch.rand(600, generator=torch.Generator().manual_seed(0)) * 20 - 10
WHOLE = torch.arange(2000, 2600)


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled(f: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(f, backend=arignote)


def equal(found: Any, want: Any) -> None:
    assert (found.dtype, found.shape, found.stride()) == (want.dtype, want.shape, want.stride())
    assert torch.equal(torch.isnan(found), torch.isnan(want))
    assert torch.equal(torch.nan_to_num(found.double(), 3.0), torch.nan_to_num(want.double(), 3.0))


EXACT: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x < 0.37, lambda x, y: x >= 0.37, lambda x, y: x == 0.37, lambda x, y: x + 0.37, lambda x, y: x * 0.37,
    lambda x, y: x - 0.37, lambda x, y: 0.37 - x, lambda x, y: x / 0.37, lambda x, y: x % 0.37, lambda x, y: x // 0.37,
    lambda x, y: torch.fmod(x, 0.37), lambda x, y: x // y, lambda x, y: x % y,
    lambda x, y: torch.div(x, y, rounding_mode="trunc"), lambda x, y: torch.div(x, 0.37, rounding_mode="trunc"),
    lambda x, y: x + WHOLE, lambda x, y: x * WHOLE, lambda x, y: x / WHOLE, lambda x, y: x * torch.tensor(0.37),
    lambda x, y: torch.maximum(x, torch.tensor(0.37)), lambda x, y: x.clamp(-0.37, 5.11), lambda x, y: x @ y,
    lambda x, y: torch.where(x > 0, x, 0.37), lambda x, y: x.sort()[0], lambda x, y: x[::3].expand(2, -1),
    lambda x, y: x.view(20, 30).t(), lambda x, y: x.view(torch.int16), lambda x, y: torch.nan_to_num(x / 0),
    lambda x, y: torch.full_like(x, 0.1), lambda x, y: x.to(torch.int32), lambda x, y: x.double() * 1.1,
    torch.nextafter, lambda x, y: x.abs().sqrt().neg(), lambda x, y: x[WHOLE - 2000],
    lambda x, y: (x * 0.01).cumsum(0), lambda x, y: (x * 1e-3 + 1).cumprod(0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_values_of_16_bits_are_those_of_eager_mode(dtype: Any) -> None:
    def every(x: Any, y: Any) -> list[Any]:
        return [f(x, y) for f in EXACT]

    x, y = X.to(dtype), Y.to(dtype)
    for found, want in zip(compiled(every)(x, y), every(x, y), strict=True):
        equal(found, want)
    assert all("nextafter" in line or "view.dtype" in line for g in graphs() for line in g.remarks)


def network() -> Any:
    layers = (torch.nn.Linear(24, 40), torch.nn.GELU(), torch.nn.LayerNorm(40), torch.nn.Linear(40, 5))
    return torch.nn.Sequential(*layers, torch.nn.Softmax(-1)).bfloat16()


def near(found: Any, want: Any) -> None:
    assert found.dtype == want.dtype
    torch.testing.assert_close(found, want, rtol=2e-2, atol=2e-2)


def test_modules_of_bfloat16_run_whole() -> None:
    net, x = network(), torch.randn(6, 24).bfloat16()
    with torch.no_grad():
        want, others = net(x), graphs()
        near(compiled(net)(x), want)
        assert [g.remarks for g in graphs() if g not in others] == [()]
        torch._dynamo.reset()
        near(torch.compile(net, backend=arignote, options={"freeze": True})(x), want)
        model = ag.from_torch(net, (x,))
        near(model(x), want)
        near(copy.deepcopy(model)(x), want)
        assert model.parameters["0.weight"].dtype == "uint16" and not model.remarks
        with torch.autocast("cpu", torch.bfloat16):
            plain = network().float()
            near(compiled(plain)(x.float()), plain(x.float()))


def test_gradients_of_bfloat16_are_those_of_eager_mode() -> None:
    net, x = network(), torch.randn(6, 24).bfloat16()
    twin = copy.deepcopy(net)
    for f in (net, compiled(twin)):
        f(x).float().square().sum().backward()
    for a, b in zip(twin.parameters(), net.parameters(), strict=True):
        near(a.grad, b.grad)


class Mixed(torch.nn.Module):
    """A module of float32 with buffers of bfloat16: one is read, one is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.register_buffer("places", torch.linspace(-1, 1, 8).bfloat16())
        self.register_buffer("count", torch.zeros(8).bfloat16())

    def forward(self, x: Any) -> Any:
        self.count.add_(0.1)
        return self.layer(x) + self.places.float() * self.count, F.dropout(self.places, 0.5, True)


def test_buffers_of_bfloat16_stay_in_the_graph() -> None:
    net, x = Mixed(), torch.randn(3, 8)
    twin, exported = copy.deepcopy(net), copy.deepcopy(net)
    with torch.no_grad():
        f, model = compiled(twin), ag.from_torch(exported, (x,))
        for _ in range(3):
            results = []
            for call in (net, f, model):
                torch.manual_seed(1)
                results.append(call(x))
            for found in results[1:]:
                torch.testing.assert_close(found[0], results[0][0], rtol=1e-5, atol=1e-5)
                equal(found[1], results[0][1])
    assert torch.equal(twin.count, net.count) and torch.equal(exported.count, net.count)
    assert all("native_dropout" in line for g in graphs() for line in g.remarks)


def test_bfloat16_with_open_lengths() -> None:
    net = network()
    f = torch.compile(net, backend=arignote, dynamic=True)
    with torch.no_grad():
        for batch in (2, 5, 1):
            x = torch.randn(batch, 24).bfloat16()
            near(f(x), net(x))
