"""Training compiled by Arignote follows eager mode: models, optimizers, gradients of imported models."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch_versions import keep_progress_without_thread  # noqa: E402

import arignote as ag  # noqa: E402
from arignote import ops as T  # noqa: E402
from arignote.frontends.torch.backend import arignote, graphs  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F, nn = torch.nn.functional, torch.nn
keep_progress_without_thread()
RECIPES = {
    "Adam": {"lr": 1e-3},
    "AdamW": {"weight_decay": 0.05, "amsgrad": True, "foreach": False},
    "SGD": {"momentum": 0.9, "nesterov": True, "weight_decay": 1e-3},
}
"""Optimizers of long runs; those without a learning rate follow a schedule and clip their gradients."""
OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "NAdam", "RAdam", "Adadelta", "Adamax", "Rprop")


class Images(nn.Module):
    """Convolutions with batch norm, pooling, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.head = nn.Conv2d(8, 16, 3, stride=2), nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        y = F.max_pool2d(torch.relu(self.bn(self.conv(x))), 2)
        return self.head(torch.relu(self.second(y)).mean((2, 3)))


class Transformer(nn.Module):
    """Two causal layers; dropout draws PyTorch's own numbers."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            32, 4, 64, batch_first=True, dropout=dropout, norm_first=True, activation="gelu"
        )
        self.emb, self.head = nn.Embedding(50, 32), nn.Linear(32, 50)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids: Any) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.layers(self.emb(ids), mask=mask, is_causal=True))


class Recurrent(nn.Module):
    """Two layers of an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.emb, self.rnn, self.head = nn.Embedding(50, 16), nn.LSTM(16, 24, 2, batch_first=True), nn.Linear(24, 50)

    def forward(self, ids: Any) -> Any:
        return self.head(self.rnn(self.emb(ids))[0])


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch._dynamo.config.patch(allow_rnn=True):
        yield
    torch._dynamo.reset()


def losses(model: Any, step: Any, optimizer: Any, data: Any, steps: int) -> np.ndarray:
    """Return the loss of each step."""
    torch.manual_seed(5)
    found = []
    for k in range(steps):
        x, y = data[k % len(data)]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, -2), y.flatten())
        loss.backward()
        step()
        found.append(loss.item())
    return np.array(found)


def both(net: Any, kind: str, data: Any, steps: int) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Return losses of eager mode, those with model and step compiled, and the compiled graphs."""
    twin = copy.deepcopy(net)
    optimizers = [getattr(torch.optim, kind)(owner.parameters(), lr=1e-3) for owner in (net, twin)]
    before = set(graphs())
    want = losses(net, optimizers[0].step, optimizers[0], data, steps)
    step = torch.compile(optimizers[1].step, backend=arignote)
    got = losses(torch.compile(twin, backend=arignote), step, optimizers[1], data, steps)
    return want, got, [g for g in graphs() if g not in before]


def test_steps_of_optimizers_are_compiled() -> None:
    data = [(torch.randn(4, 6), torch.tensor([0, 1, 2, 3]))]
    want, got, made = both(nn.Linear(6, 4), "Adam", data, 6)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert {g.name.partition("_")[0] for g in made} == {"forward", "backward", "inference"}
    assert all(g.remarks == () for g in made)


@pytest.mark.long
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_every_optimizer_follows_eager(kind: str) -> None:
    data = [(torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))) for _ in range(3)]
    want, got, made = both(Images(), kind, data, 8)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert all(g.remarks == () for g in made)


def trained(net: Any, kind: str, data: Any, backend: Any) -> tuple[np.ndarray, list[Any]]:
    """Return the losses of 100 steps by a recipe, and the graphs if a backend compiles the model and the step."""
    net, scheduled, before = copy.deepcopy(net), "lr" not in RECIPES[kind], set(graphs())
    rate = {"lr": torch.tensor(0.0)} if scheduled else {}  # a number would be compiled anew for each of its values
    optimizer = getattr(torch.optim, kind)(net.parameters(), **RECIPES[kind], **rate)
    top = 0.05 if kind == "SGD" else 3e-3
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, top, 101, cycle_momentum=False) if scheduled else None

    def step() -> None:
        if scheduled:
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()

    compiled = step if backend is None else torch.compile(step, backend=backend)

    def advance() -> None:
        compiled()
        if schedule is not None:
            schedule.step()

    model = net if backend is None else torch.compile(net, backend=backend)
    return losses(model, advance, optimizer, data, 100), [g for g in graphs() if g not in before]


@pytest.mark.long
@pytest.mark.parametrize("kind", RECIPES)
@pytest.mark.parametrize(("make", "words"), [
    (Images, False), (Transformer, True), (Recurrent, True), (lambda: Transformer(0.1), True),
], ids=["images", "transformer", "lstm", "dropout"])  # fmt: skip
def test_losses_of_a_hundred_steps(make: Any, words: bool, kind: str) -> None:
    data = [
        (torch.randint(0, 50, (4, 12)), torch.randint(0, 50, (4, 12))) if words
        else (torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,)))
        for _ in range(5)
    ]  # fmt: skip
    net = make()
    (want, _), (got, made) = trained(net, kind, data, None), trained(net, kind, data, arignote)
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert want[-1] < want[0] and {g.name.partition("_")[0] for g in made} == {"forward", "backward", "inference"}
    assert {r.partition(".default")[0] for g in made for r in g.remarks} <= {"aten.native_dropout"}
    writes = max(sum(n.target is torch.ops.aten.copy_.default for n in g.graph.graph.nodes) for g in made)
    assert writes >= 2 * len(list(net.parameters()))  # the step, with its state: clipping alone writes to gradients


def test_gradients_of_imported_models_train_the_module() -> None:
    net, x, y = Images(), torch.randn(4, 3, 8, 8), torch.tensor([1, 2, 3, 4])
    twin = copy.deepcopy(net)
    model, labels = ag.from_torch(net, (x,)), T.lvector("labels")
    (out,) = model.outputs.values()
    loss = -T.log(T.softmax(out, -1))[T.arange(4), labels].mean()
    weights = [v for name, v in model.parameters.items() if v.type.kind == "f" and "running" not in name]
    updates = {w: w - 0.1 * g for w, g in zip(weights, ag.grad(loss, weights), strict=True)}
    step = ag.function([*model.inputs.values(), labels], loss, updates={**model.updates, **updates})
    optimizer = torch.optim.SGD(twin.parameters(), 0.1)
    for want in losses(twin, optimizer.step, optimizer, [(x, y)], 4):
        assert abs(float(step(x.numpy(), y.numpy())) - want) < 1e-4


def values_and_gradients(f: Any, module: Any, x: Any) -> list[Any]:
    """Return the results of a module, and the gradients of a weighted sum of all of them."""
    found = torch.utils._pytree.tree_leaves(f(x))
    torch.manual_seed(3)
    cost = sum((v * torch.randn(v.shape)).sum() for v in found)
    return [*(v.detach() for v in found), *torch.autograd.grad(cost, [x, *module.parameters()])]


class Tied(nn.Module):
    """One layer twice, whose states are the same parameter; its last state alone is read."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.first = nn.LSTM(4, 4), nn.Parameter(torch.randn(1, 6, 4))

    def forward(self, x: Any) -> Any:
        y, _ = self.layer(x, (self.first, self.first))
        return self.layer(y)[1][1]


LAYERS = {
    "two layers": lambda: nn.LSTM(4, 5, 2), "both ways": lambda: nn.LSTM(4, 5, bidirectional=True, batch_first=True),
    "projected": lambda: nn.LSTM(4, 5, proj_size=3), "gru": lambda: nn.GRU(4, 5, 2, bias=False),
    "relu": lambda: nn.RNN(4, 5, nonlinearity="relu"), "tanh": lambda: nn.RNN(4, 5, bidirectional=True), "tied": Tied,
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_recurrent_layers_are_loops(name: str) -> None:
    layer, x = LAYERS[name](), torch.randn(3, 6, 4, requires_grad=True)
    compiled = torch.compile(layer, backend=arignote, options={"strict": True})
    pairs = zip(values_and_gradients(compiled, layer, x), values_and_gradients(layer, layer, x), strict=True)
    for got, want in pairs:
        torch.testing.assert_close(got, want)
    forward, backward = (g.function for g in graphs()[-2:])
    assert "scan" in str(forward.unoptimized_graph)
    loops = [[n for n in f.graph.order if "scan{" in str(n.op)] for f in (forward, backward)]
    assert len(loops[0]) == len(loops[1])  # the backward pass reads the states: it runs no loop of the forward pass


def test_gradients_of_recurrent_layers_follow_other_lengths() -> None:
    layer = nn.LSTM(4, 5, batch_first=True)
    compiled = torch.compile(layer, backend=arignote, dynamic=True, options={"strict": True})
    for steps in (5, 9, 7):
        x = torch.randn(2, steps, 4, requires_grad=True)
        pairs = zip(values_and_gradients(compiled, layer, x), values_and_gradients(layer, layer, x), strict=True)
        for got, want in pairs:
            torch.testing.assert_close(got, want)


def test_pytorch_runs_a_recurrent_layer_and_its_gradients() -> None:
    layer, x, h = nn.GRU(4, 5, 2), torch.randn(3, 6, 4, requires_grad=True), torch.zeros(2, 6, 5)

    def by_op(x: Any) -> Any:
        weights = list(layer.parameters())
        return torch.ops.arignote.recurrent("gru", x, [h], weights, True, 2, 0.0, True, False, False)[:2]

    for got, want in zip(values_and_gradients(by_op, layer, x), values_and_gradients(layer, layer, x), strict=True):
        torch.testing.assert_close(got, want)


def test_recurrent_layers_under_transforms_are_unrolled() -> None:
    layer, x = nn.GRU(4, 5), torch.randn(3, 6, 4)
    slope = torch.func.grad(lambda x: layer(x)[0].square().sum())
    torch.testing.assert_close(torch.compile(slope, backend=arignote)(x), slope(x))


class Blocks(nn.Module):
    """Convolutions of full blocks on any vectors, a pool, a residual; `strange` runs one op in PyTorch."""

    def __init__(self, stride: int = 1) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, stride, 1, bias=False)
        self.bn, self.third = nn.BatchNorm2d(32), nn.Conv2d(32, 32, 3, padding=2, dilation=2)

    def forward(self, x: Any) -> Any:
        y = torch.relu(self.bn(self.second(F.max_pool2d(F.silu(self.first(x)), 2))))
        return (y + self.third(y)).mean((2, 3)), y  # y is saved, and a result as well


def _gradients(model: Any, x: Any) -> list[Any]:
    found, middle = model(x)
    (found.square().sum() + middle.mean()).backward()
    return [found.detach(), middle.detach(), x.grad, *(p.grad for p in model.parameters())]


@pytest.mark.parametrize("stride", [1, 2])
def test_saved_tensors_stay_in_blocks(stride: int) -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    eager = Blocks(stride)
    ours = copy.deepcopy(eager)
    compiled = torch.compile(ours, backend=arignote)
    for images, rows in ((2, 11), (1, 8), (3, 11)):  # the second shape has lengths that the call decides
        x = torch.randn(images, 3, rows, 10)
        for p in (*eager.parameters(), *ours.parameters()):
            p.grad = None
        found = _gradients(compiled, x.clone().requires_grad_())
        for k, (a, b) in enumerate(zip(found, _gradients(eager, x.requires_grad_()), strict=True)):
            assert a.shape == b.shape, k
            assert torch.allclose(a, b, rtol=1e-4, atol=1e-4), k
    saved = [v.type for g in graphs() if g.name.startswith("forward") for v in g.function.graph.outputs]
    assert any(t.ndim == 5 for t in saved)


def test_pytorch_runs_a_backward_pass_whose_tensors_were_saved_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from arignote.frontends.torch import backend
    from arignote.frontends.torch.building import ConversionError

    build = backend._Build.compiled

    def refused(self: Any) -> Any:
        if self.phase == "backward":
            raise ConversionError("no backward pass")
        return build(self)

    monkeypatch.setattr(backend._Build, "compiled", refused)
    torch._dynamo.reset()
    torch.manual_seed(0)
    eager = Blocks()
    ours, x = copy.deepcopy(eager), torch.randn(2, 3, 9, 10)
    found = _gradients(torch.compile(ours, backend=arignote), x.clone().requires_grad_())
    for a, b in zip(found, _gradients(eager, x.requires_grad_()), strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4)


class Heads(nn.Module):
    """Attention of several heads, whose transposed queries, keys and values are saved."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in self.first(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return torch.tanh(self.last(y)), q.softmax(-1).movedim(0, -1)


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_transposed_tensors_are_saved_as_they_are_computed(
    dtype: Any, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from arignote.frontends.torch import backend
    from arignote.frontends.torch.building import ConversionError

    build = backend._Build.compiled

    def compiled_or_refused(self: Any) -> Any:
        if refused and self.phase == "backward":
            raise ConversionError("no backward pass")
        return build(self)

    monkeypatch.setattr(backend._Build, "compiled", compiled_or_refused)
    torch._dynamo.reset()
    torch.manual_seed(0)
    eager = Heads().to(dtype)
    ours = copy.deepcopy(eager)
    compiled = torch.compile(ours, backend=arignote)
    close = 1e-5 if dtype is torch.float32 else 0.05
    for shape in ((2, 7, 8), (3, 5, 8), (2, 1, 8)):  # the second shape has lengths that the call decides
        x = torch.randn(shape, dtype=dtype)
        for p in (*eager.parameters(), *ours.parameters()):
            p.grad = None
        found = _gradients(compiled, x.clone().requires_grad_())
        for k, (a, b) in enumerate(zip(found, _gradients(eager, x.requires_grad_()), strict=True)):
            assert a.shape == b.shape and a.stride() == b.stride(), k
            torch.testing.assert_close(a, b, rtol=close, atol=close)


def test_arguments_are_read_in_the_order_of_their_memory() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    layer = nn.Conv2d(3, 5, 3)
    compiled = torch.compile(layer, backend=arignote)
    first = torch.randn(2, 3, 9, 8)
    for x in (first.to(memory_format=torch.channels_last), first, first.transpose(2, 3), first[:, :, ::2]):
        x = x.detach().requires_grad_()
        pairs = zip(values_and_gradients(compiled, layer, x), values_and_gradients(layer, layer, x), strict=True)
        for got, want in pairs:
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    shapes = [v.type.shape for g in graphs() if g.name.startswith("forward") for v in g.function.inputs]
    assert (2, 9, 8, 3) in shapes


def test_calls_follow_parameters_whose_memory_is_replaced() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    twins = [nn.Sequential(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.Linear(6, 3))]
    twins.append(copy.deepcopy(twins[0]))
    optimizers = [torch.optim.AdamW(net.parameters(), 0.01) for net in twins]
    models = [twins[0], torch.compile(twins[1], backend=arignote)]
    steps = [optimizers[0].step, torch.compile(optimizers[1].step, backend=arignote)]
    x = torch.randn(5, 4)
    for turn in range(3):  # each has more calls than lead to an entry for the arrays
        for _ in range(6):
            found = []
            for model, step, optimizer in zip(models, steps, optimizers, strict=True):
                optimizer.zero_grad()
                found.append(model(x).square().sum())
                found[-1].backward()
                step()
            torch.testing.assert_close(*(v.detach() for v in found), rtol=1e-4, atol=1e-5)
        for net in twins:
            net[turn % 2 * 2].weight.data = net[turn % 2 * 2].weight.data * 2  # another address
            net[1].running_mean = net[1].running_mean + 1
    states = [[*net.parameters(), *net.buffers()] for net in twins]
    for want, got in zip(*states, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
