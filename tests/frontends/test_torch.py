"""PyTorch's programs, run by Arignote: exported programs, the backend of `torch.compile`, gradients, refusals."""

from __future__ import annotations

import contextlib
import copy
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch_versions import IS_OLDEST, keep_progress_without_thread, keeps_checks  # noqa: E402

import arignote as ag  # noqa: E402
from arignote import ops as T  # noqa: E402
from arignote.frontends.torch import ConversionError, converter  # noqa: E402
from arignote.frontends.torch.backend import arignote, graphs  # noqa: E402
from arignote.frontends.torch.coverage import coverage  # noqa: E402
from arignote.frontends.torch.table import CONVERTERS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional
keep_progress_without_thread()


class Net(torch.nn.Module):
    """A small network of images with batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1, stride=2)
        self.bn = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4, 5)

    def forward(self, x: Any) -> Any:
        y = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 2)
        return self.head(y.mean((2, 3)))


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def close(got: Any, want: Any) -> None:
    torch.testing.assert_close(torch.as_tensor(np.asarray(got)), torch.as_tensor(np.asarray(want)), equal_nan=True)


def test_a_module_is_a_model_over_its_own_memory() -> None:
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    model = ag.from_torch(net, (x,), dynamic_shapes={"x": {0: torch.export.Dim("b")}})
    assert isinstance(model, type(ag.from_torch(net, (x,)))) and model.remarks == ()
    weight = model.parameters["conv.weight"]
    assert np.shares_memory(weight.get_value(borrow=True), net.conv.weight.detach().numpy())
    with torch.no_grad():
        for count in (1, 2, 5):  # one function for all lengths
            x = torch.randn(count, 3, 8, 8)
            close(model(x), net(x))
        net.head.bias += 1
        close(model(x.numpy()), net(x))
        close(ag.freeze(model)(x.numpy()), net(x))
    row = ag.from_torch(net, (x,)).function(profile=True)
    row(x.numpy())
    found = {r.module: r.line for r in row.profile.by_module()}
    assert "conv" in found and "test_torch.py" in found["conv"]
    assert {r.module.partition(".")[0] for r in row.profile.by_module(1)} >= {"conv", "head"}


def test_training_updates_the_modules_buffers() -> None:
    net, x = Net(), torch.randn(2, 3, 8, 8)
    other = copy.deepcopy(net)
    model = ag.from_torch(net, (x,))
    close(model(x).detach(), other(x).detach())
    close(net.bn.running_mean, other.bn.running_mean)
    assert int(net.bn.num_batches_tracked) == 1


class Ops(torch.nn.Module):
    """Ops whose meaning differs from NumPy's, and one of each subject."""

    def forward(self, x: Any, n: Any, mask: Any, z: Any) -> Any:
        q = x.reshape(1, 2, 3, 4)
        at, q_mask = n.abs()[:, None] % 4, mask[:3, :3]
        integers = (n / 2, n // 2, torch.div(n, -2, rounding_mode="trunc"), n % 3, n << 1, n > 2.5)
        order = (x.topk(2)[0], x.sort(descending=True)[0], x.cumsum(1), x.max(1)[1], x.var(0), x.std(unbiased=False))
        places = (
            x[n.abs() % 6], x.index_put((n.abs() % 6,), x[0], accumulate=True), x.gather(1, at),
            x.scatter_add(1, at, x), torch.where(mask, x, 0), F.embedding(n.abs() % 6, x), x.unfold(1, 2, 1),
        )  # fmt: skip
        networks = (
            F.scaled_dot_product_attention(q, q, q, is_causal=True), F.interpolate(q, scale_factor=2, mode="bilinear"),
            F.scaled_dot_product_attention(q, q, q, attn_mask=q_mask), F.avg_pool2d(q, 2, ceil_mode=True),
            F.conv_transpose2d(q, x.reshape(2, 3, 2, 2), stride=2, padding=1), F.gelu(x), F.pad(q, (1, -1), value=2.0),
        )  # fmt: skip
        others = (
            torch.sign(x * float("nan")), torch.fft.rfft(x).abs(), (z * z.conj()).real, x.half() * 2,
            torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,)),
            torch.linalg.inv(x.T @ x + torch.eye(4)), torch.linalg.eigh(x.T @ x).eigenvectors.abs(),
            torch.arange(3, dtype=x.dtype) + x[0, 0],
        )  # fmt: skip
        return (*integers, *order, *places, *networks, *others)


def test_ops_mean_what_pytorch_means() -> None:
    args = (
        torch.randn(6, 4), torch.tensor([3, -3, 5, -7, 0, 2]), torch.rand(6, 4) > 0.3,
        torch.randn(3, dtype=torch.complex64),
    )  # fmt: skip
    model = ag.from_torch(Ops(), args)
    for got, want in zip(model(*args), Ops()(*args), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        torch.testing.assert_close(got, want, equal_nan=True, rtol=1e-4, atol=1e-5)
    unchecked = [] if keeps_checks() else ["aten.linalg_inv_ex"]
    assert [line.partition(".default")[0] for line in model.remarks] == [*unchecked, "aten._linalg_eigh"]
    with pytest.raises(ConversionError, match=r"(_linalg_eigh|linalg_inv_ex).*no converter"):
        ag.from_torch(torch.export.export(Ops(), args), strict=True)


def test_recurrent_layers_are_loops() -> None:
    for kind in (torch.nn.LSTM, torch.nn.GRU):
        layer, x = kind(3, 4, bidirectional=True, batch_first=True).eval(), torch.randn(2, 5, 3)
        model = ag.from_torch(layer, (x,))
        assert "scan" in str(model.graph)
        close(model(x)[0], layer(x)[0].detach())
        many = torch.randn(3, 7, 3)
        opened = ag.from_torch(layer, (x,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.AUTO},))
        close(opened(many[:, :5])[0], layer(many[:, :5])[0].detach())


@pytest.mark.parametrize("kind, layers, ways", [("LSTM", 2, True), ("GRU", 1, False), ("RNN", 1, True)])
@torch._dynamo.config.patch(allow_rnn=True)
def test_recurrent_layers_of_dynamo_are_loops(kind: str, layers: int, ways: bool) -> None:
    layer = getattr(torch.nn, kind)(3, 4, layers, bidirectional=ways, batch_first=True)
    compiled = torch.compile(layer, backend=arignote, fullgraph=True, options={"strict": True})
    with torch.no_grad():
        for steps in (5, 7, 6):  # the second length opens it
            x = torch.randn(2, steps, 3)
            for got, want in zip(*map(torch.utils._pytree.tree_leaves, (compiled(x), layer(x))), strict=True):
                close(got, want)
    assert "scan" in str(graphs()[-1].function.unoptimized_graph) and not graphs()[-1].remarks
    x = torch.randn(2, 2, 3)
    found = [torch.autograd.grad(f(x)[0].square().sum(), list(layer.parameters())) for f in (compiled, layer)]
    for got, want in zip(*found, strict=True):
        close(got, want)


@torch._dynamo.config.patch(allow_rnn=True)
def test_results_that_pytorch_leaves_undefined_are_empty(monkeypatch: Any) -> None:
    layer, x = torch.nn.LSTM(3, 4).eval(), torch.randn(5, 2, 3)
    for name in ("keep_recurrent_layers", "without_layers_of_onednn"):
        monkeypatch.setattr(f"arignote.frontends.torch.backend.{name}", lambda module: contextlib.nullcontext())
    with torch.no_grad():  # aten.mkldnn_rnn_layer has no workspace
        close(torch.compile(layer, backend=arignote)(x)[0], layer(x)[0])


def test_compiled_training_follows_eager() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    compiled = torch.compile(twin, backend=arignote)
    losses: list[list[float]] = [[], []]
    x, y = torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 3])
    for row, model, owner in zip(losses, (net, compiled), (net, twin), strict=True):
        optimizer = torch.optim.SGD(owner.parameters(), 0.1, momentum=0.9)
        for _ in range(20):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            row.append(loss.item())
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert {g.name.partition("_")[0] for g in graphs()} >= {"forward", "backward"}
    close(net.bn.running_var, twin.bn.running_var)


@pytest.mark.parametrize("mode", [None, "NUMPY"])
def test_parameters_that_move_are_seen(mode: Any) -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4))
            self.register_buffer("shift", torch.randn(4))

        def forward(self, x: Any) -> Any:
            return torch.tanh(x * self.weight) + self.shift

    net, x = Scaled(), torch.randn(4)
    compiled, other = torch.compile(net, backend=arignote, options={"mode": mode}), torch.randn(4)
    with torch.no_grad():
        for _ in range(2):
            close(compiled(x), net(x))
        made = graphs()[-1]
        weight, shift = net.weight, net.shift
        changes: tuple[Any, ...] = (
            lambda: weight.mul_(2), lambda: setattr(weight, "data", other), lambda: setattr(shift, "data", other * 3),
            lambda: setattr(net, "weight", torch.nn.Parameter(torch.randn(4))), lambda: weight.add_(1),
            lambda: setattr(net, "weight", weight), lambda: setattr(net, "shift", torch.randn(4)),
        )  # fmt: skip
        for change in changes:
            change()
            for _ in range(2):
                close(compiled(x), net(x))
    assert graphs()[-1] is made


def test_profiles_of_frozen_and_backward_graphs_name_modules_and_lines() -> None:
    net, x = Net(), torch.randn(2, 3, 8, 8)
    torch.compile(net, backend=arignote, options={"profile": True})(x).sum().backward()
    frozen = ag.freeze(ag.from_torch(net.eval(), (x,)), profile=True)
    frozen(x.numpy())
    for profile in (frozen.profile, *(g.profile for g in graphs()[-2:])):
        lines = {r.module: r.line for r in profile.by_module()}
        assert {"conv", "head"} <= set(lines)
        assert all("test_torch.py" in lines[name] and lines[name].endswith(f"({name})") for name in ("conv", "head"))


def test_lengths_stay_open_and_buffers_are_written_in_place() -> None:
    def f(cache: Any, x: Any, at: Any) -> Any:
        cache.index_copy_(0, at, x)
        return torch.cat([x * 2, x[:1]]).sum(0) + cache.sum(0)

    compiled = torch.compile(f, backend=arignote, dynamic=True)
    cache, before = torch.zeros(16, 4), len(graphs())
    where = cache.data_ptr()
    for count in (3, 5, 7):
        x, mirror = torch.randn(count, 4), cache.clone()
        close(compiled(cache, x, torch.arange(count)), f(mirror, x, torch.arange(count)))
        close(cache, mirror)
    assert cache.data_ptr() == where and len(graphs()) == before + 1


def test_options() -> None:
    net, x = Net().eval(), torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        want = net(x)
        for options, away in (({"freeze": True, "threads": 1}, 1e-5), ({"quantize": [x], "profile": True}, 0.1)):
            torch._dynamo.reset()
            found = torch.compile(net, backend=arignote, options=options)(x)
            assert float((found - want).abs().max()) < away
        torch._dynamo.reset()
        with pytest.raises(Exception, match="unknown option 'speed'; expected one of mode, threads"):
            torch.compile(net, backend=arignote, options={"speed": 3})(x)


def test_what_arrays_do_not_hold_runs_in_pytorch_with_a_remark() -> None:
    x = torch.randn(4, 4)
    cases = {
        "no array holds torch.float8_e5m2": lambda x: x.to(torch.float8_e5m2).float() + 1,
        "native_dropout.*runs in PyTorch": lambda x: F.dropout(x, 0.5, training=True),
    }
    for text, f in cases.items():
        torch._dynamo.reset()
        compiled = torch.compile(f, backend=arignote)
        torch.manual_seed(1)
        with pytest.warns(UserWarning, match=text):
            found = compiled(x)
        torch.manual_seed(1)
        close(found, f(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        zero = torch.compile(lambda a, b: a // b, backend=arignote)
    with pytest.raises(ZeroDivisionError):
        zero(torch.tensor([3]), torch.tensor([0]))
    assert zero(torch.tensor([3]), torch.tensor([-2])).item() == -2
    singular = torch.compile(torch.linalg.inv, backend=arignote)
    with pytest.raises(np.linalg.LinAlgError, match="Singular") if keeps_checks() else contextlib.nullcontext():
        singular(torch.zeros(2, 2))
    with pytest.raises(TypeError, match="expected a module, an ExportedProgram"):
        ag.from_torch(3)


class Deciding(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            return x + 1
        return x - 1


class Quantizing(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize() + 1


class Casting(torch.nn.Module):
    """A module that casts parameters of a part in its call, as mixtures of experts do: `torch.export` fails."""

    def __init__(self) -> None:
        super().__init__()
        self.part = torch.nn.Linear(3, 3).double()

    def forward(self, x: Any) -> Any:
        return self.part.to(x.dtype)(x)


class Scaling(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(3).to(torch.float8_e5m2))

    def forward(self, x: Any) -> Any:
        return x * self.scale.float()


class Sparse(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("m", torch.eye(3).to_sparse())

    def forward(self, x: Any) -> Any:
        return torch.sparse.mm(self.m, x)


def test_modules_beyond_arrays_run_in_pytorch_or_are_refused_in_one_line() -> None:
    x, linear = torch.ones(3, 3), torch.nn.Linear(3, 3)
    half = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.GELU(), torch.nn.LayerNorm(3)).half()
    casting = r"torch\.export cannot trace Casting \(.*test_torch\.py:\d+\): RuntimeError: .*use torch\.com"
    cases = (
        (Deciding(), x, r"Deciding decides by a value that only a call knows \(.*test_torch\.py:\d+\).*use torch"),
        (copy.deepcopy(linear).bfloat16(), x.bfloat16(), None),
        (Scaling(), x, "the buffer scale: no array holds torch.float8_e5m2; co"),
        (Casting(), x, None if IS_OLDEST else casting),
        (Sparse(), x, r"the buffer m: its layout is torch\.sparse_coo"),
        (Quantizing(), x, r"quantize_per_tensor.*test_torch\.py.*its result is a quantized tensor"),
        (half, x.half(), None),
    )
    cases = tuple(case for case in cases if not (IS_OLDEST and isinstance(case[0], Quantizing)))  # it exports none
    for module, given, message in cases:
        torch._dynamo.reset()
        with torch.no_grad():
            found, want = torch.compile(module, backend=arignote)(given), module(given)
            torch.testing.assert_close(found, want, rtol=2e-3, atol=2e-3)
            if message is None:
                torch.testing.assert_close(ag.from_torch(module, (given,))(given), want, rtol=2e-3, atol=2e-3)
                continue
            with pytest.raises(ConversionError, match=message) as caught:
                ag.from_torch(module, (given,))
            assert len(str(caught.value).splitlines()) == 1


def test_a_call_that_the_module_does_not_take_is_pytorchs_error() -> None:
    with pytest.raises(TypeError, match=r"^missing a required argument"):
        ag.from_torch(torch.nn.Linear(3, 3), ())


def test_an_op_of_the_user() -> None:
    @torch.library.custom_op("arignote_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    class Twice(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return twice(x) + 1

    x = torch.randn(3)
    assert "arignote_tests.twice" in ag.from_torch(Twice(), (x,)).remarks[0]
    converter("arignote_tests.twice")(lambda call, v: T.add(v, v))
    try:
        model = ag.from_torch(Twice(), (x,))
        assert model.remarks == ()
        close(model(x), Twice()(x))
    finally:
        del CONVERTERS["arignote_tests.twice"]
    with pytest.raises(TypeError, match="expected names such as"):
        converter("relu")


def test_core_ops_have_a_fate() -> None:
    rows = [r for r in coverage() if r.core]
    left = {r.name for r in rows if r.fate == "by PyTorch"}
    assert len(rows) > 150 and "refused" not in {r.fate for r in rows}
    assert left <= {"aten.native_dropout", "aten.rand", "aten.randn", "aten.randperm"}


def test_import_is_lazy() -> None:
    code = "import sys, arignote; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("way", ["outcome", "compiled_outcome"])
def test_samples_of_pytorchs_own_tests(way: str) -> None:
    """A few ops in a few dtypes; the campaign takes all of them."""
    pytest.importorskip("expecttest")
    import torch_ops
    from torch_ops import DIFFERS, FAILS, outcomes

    names = ("div", "remainder", "pow", "sum", "amax", "where", "index_select", "cat", "nn.functional.softplus")
    kinds = (torch.float32, torch.int64, torch.uint8, torch.bfloat16)
    found = list(outcomes(names, 2, kinds, getattr(torch_ops, way)))
    assert len(found) > 40
    assert not [o for o in found if o.fate in (DIFFERS, FAILS)]


@pytest.mark.long
def test_all_samples_of_pytorchs_own_tests() -> None:
    pytest.importorskip("expecttest")
    from torch_ops import DIFFERS, EAGER, EQUAL, FAILS, outcomes

    found = list(outcomes(most=6))
    good = sum(o.fate in (EQUAL, EAGER) for o in found)
    bad = [o for o in found if o.fate in (DIFFERS, FAILS)]
    assert good >= 0.99 * (good + len(bad)), "\n".join(map(str, bad))
