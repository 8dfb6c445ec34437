"""Programs of users compiled by the backend, without help of PyTorch: values and gradients are those of eager mode."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch.utils._pytree import tree_leaves  # noqa: E402
from torch_versions import keep_progress_without_thread  # noqa: E402

from arignote.frontends.torch.backend import arignote, graphs  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional
keep_progress_without_thread()


def constants(x: Any) -> Any:
    """Tensors made of numbers in the program, views that are written to."""
    y = x * torch.tensor([1.0, 2.0, 0.5, -1.0])
    y[torch.tensor([0, 2])] = 7
    y.t()[1] = 3
    y.view(-1)[2] += 1
    return y, y[torch.tensor([True, False, True, False, True])], torch.tensor(2.5, dtype=torch.float64) * x


def masks(x: Any) -> Any:
    """Writes of rows and of single elements where a mask is true, and nowhere."""
    y, z = x.clone(), x.clone()
    y[y < 0] *= 2
    z[z[:, 0] > 0] = z[z[:, 0] > 0].flip(0)
    z[z[:, 0] > 99] = z[z[:, 0] > 99] + 1
    y[x > 0.5] = 1.5
    return y, z, y.index_put((x[:, 1] > 0,), x[:1], accumulate=True), y.masked_scatter(x > 0, x)


def lists(x: Any) -> Any:
    """Ops on lists of tensors."""
    a, b = [x, x[0].abs()], [x + 3, x[1]]
    torch._foreach_mul_(b, 2.0)
    return [
        torch._foreach_add(a, b, alpha=2), torch._foreach_mul(a, [1.0, 3.0]), torch._foreach_addcdiv(a, a, b, 0.5),
        torch._foreach_lerp(a, b, 0.25), torch._foreach_maximum(a, 0.1), torch._foreach_norm(a), b,
        torch._foreach_addcmul(a, a, b, [1.0, 3.0]), torch._foreach_add(a, torch.tensor(2.0)), torch._foreach_neg(a),
    ]  # fmt: skip


def steps(x: Any) -> Any:
    """Functions of NaN and of zeros of both signs."""
    y = torch.stack([x[0], x[0] * float("nan"), x[0] * 0.0, -x[0] * 0.0, x[0] / 0.0])
    return torch.heaviside(y, x), y.sign(), torch.maximum(y, x), y.relu(), y.clamp(-1, 1), y.argmax(1), y.round()


def grouped_heads(x: Any) -> Any:
    """Attention with fewer heads of keys and values than of queries."""
    q = torch.stack([x, x * 2, x - 1, x.sin()])[None]
    k = torch.stack([x, x + 1])[None]
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    whole = F.scaled_dot_product_attention(q, k, k.cos(), enable_gqa=True)
    return whole + F.scaled_dot_product_attention(q, k, k, attn_mask=mask, enable_gqa=True)


def activations(x: Any) -> Any:
    """Activations whose backward pass reads more than the input."""
    return F.logsigmoid(x) + F.softplus(x) + F.hardshrink(x) + F.softshrink(x) + F.hardswish(x) + F.mish(x)


def fresh() -> Any:
    return torch.randn(5, 4, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("dynamic", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("program", [constants, masks, lists, steps], ids=lambda f: f.__name__)
def test_values(program: Callable[..., Any], dynamic: bool) -> None:
    compiled = torch.compile(program, backend=arignote, dynamic=dynamic, options={"strict": True})
    for got, want in zip(tree_leaves(compiled(fresh())), tree_leaves(program(fresh())), strict=True):
        torch.testing.assert_close(got, want, equal_nan=True)


@pytest.mark.parametrize("dynamic", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("program", [grouped_heads, activations], ids=lambda f: f.__name__)
def test_gradients(program: Callable[..., Any], dynamic: bool) -> None:
    compiled = torch.compile(program, backend=arignote, dynamic=dynamic, options={"strict": True})
    found = []
    for run in (compiled, program):
        x = fresh().requires_grad_()
        value = run(x)
        (value * torch.arange(4.0)).sum().backward()
        found.append((value.detach(), x.grad))
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)


def test_a_mask_with_another_number_of_rows_is_an_error() -> None:
    def write(x: Any, rows: Any) -> Any:
        return x.index_put((x[:, 0] > -99,), rows)

    compiled = torch.compile(write, backend=arignote, options={"strict": True})
    torch.testing.assert_close(compiled(fresh(), fresh() + 1), fresh() + 1)
    with pytest.raises(ValueError, match="index_put: the mask is true at 5 places, got 3 rows"):
        compiled(fresh(), torch.zeros(3, 4))


class Layer(torch.nn.Module):
    """A layer, several of which share one graph."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.inner(x).tanh()


@pytest.mark.parametrize("freeze", [False, True])
def test_modules_of_one_class_keep_their_parameters(freeze: bool) -> None:
    layers = [Layer() for _ in range(3)]
    compiled = [torch.compile(layer, backend=arignote, options={"freeze": freeze}) for layer in layers]
    with torch.no_grad():
        for _ in range(2):
            for run, layer in zip(compiled, layers, strict=True):
                torch.testing.assert_close(run(fresh()), layer(fresh()))


def test_threads_with_modules_of_one_class() -> None:
    layers = [Layer() for _ in range(2)]
    compiled = [torch.compile(layer, backend=arignote) for layer in layers]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(100):
            if not torch.allclose(compiled[k](fresh()), layers[k](fresh()), atol=1e-6):
                wrong.append(k)

    for k in range(2):
        compiled[k](fresh())
    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_frozen_graph_follows_writes_to_large_parameters() -> None:
    net = torch.nn.Sequential(torch.nn.Embedding(500, 64), torch.nn.Linear(64, 300), torch.nn.Linear(300, 4))
    words = torch.arange(5)
    compiled = torch.compile(net, backend=arignote, options={"freeze": True})
    with torch.no_grad():
        torch.testing.assert_close(compiled(words), net(words))
        before, frozen = compiled(words).clone(), graphs()[-1].run
        net[2].bias.add_(1.0)  # small: a constant of its own
        torch.testing.assert_close(compiled(words), before)
        lent = frozen.known[0].lent
        assert {t.data_ptr() for t in lent} == {net[0].weight.data_ptr(), net[1].weight.data_ptr()}
        for weight in (net[0].weight, net[1].weight):
            weight.mul_(0.5)
            torch.testing.assert_close(compiled(words), net(words))
            assert len(frozen.known) == 1
        net[1].weight.data.mul_(2.0)
        torch.testing.assert_close(compiled(words), net(words))
        net[0].weight.numpy()[:] += 1
        torch.testing.assert_close(compiled(words), net(words))


def test_results_that_repeat_elements_have_the_strides_of_eager_mode() -> None:
    def grids(x: Any, y: Any) -> Any:
        return *torch.meshgrid(x, y, indexing="ij"), *torch.meshgrid(x, y, indexing="xy"), (x * 2).expand(5, 3)

    given = torch.arange(3.0), torch.arange(4.0)
    for got, want in zip(torch.compile(grids, backend=arignote)(*given), grids(*given), strict=True):
        assert got.stride() == want.stride() and torch.equal(got, want)


def test_results_whose_lengths_values_decide_have_the_strides_of_eager_mode() -> None:
    def found(x: Any, counts: Any) -> Any:
        rows = x.repeat_interleave(counts, 0)
        return x.nonzero(), x[x[:, 0] > 0].t(), rows, *torch.where(x > 0), x.repeat_interleave(counts.int(), 1)

    x = torch.randn(4, 4)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(found, backend=arignote, options={"strict": True}, fullgraph=True)
        for counts in (torch.tensor([2, 0, 3, 1]), torch.zeros(4, dtype=torch.int64)):
            for got, want in zip(compiled(x, counts), found(x, counts), strict=True):
                assert torch.equal(got, want) and (got.stride() == want.stride() or not got.numel())


@pytest.mark.parametrize("kind", [torch.bool, torch.float32], ids=str)
@pytest.mark.parametrize("size", [5, 40])
def test_rows_of_attention_that_a_mask_hides_are_zeros(kind: Any, size: int) -> None:
    def attend(q: Any, k: Any, v: Any, mask: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    kept = torch.ones(2, 1, size, size, dtype=torch.bool)
    kept[:, :, 2] = False
    kept[1, :, :, size // 2 :] = False
    mask = kept if kind is torch.bool else torch.zeros(kept.shape).masked_fill(~kept, -torch.inf)
    given = [torch.randn(2, 2, size, 4) for _ in range(3)]
    compiled = torch.compile(attend, backend=arignote, options={"strict": True})
    torch.testing.assert_close(compiled(*given, mask), attend(*given, mask))
    each = []
    for f in (compiled, attend):
        own = [v.clone().requires_grad_() for v in given]
        f(*own, mask).square().sum().backward()
        each.append([v.grad for v in own])
    torch.testing.assert_close(*each)


def test_an_argument_may_serve_by_its_lengths_alone() -> None:
    class Padded(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 3)

        def forward(self, x: Any, like: Any) -> Any:
            y = self.layer(x)
            return torch.cat([y, torch.zeros_like(like)])

    net, x, like = Padded(), torch.randn(2, 4), torch.ones(5, 3)
    with torch.no_grad():
        want = net(x, like)
        for options in ({}, {"freeze": True}, {"quantize": [(x, like)]}):
            torch._dynamo.reset()
            found = torch.compile(net, backend=arignote, options=options)(x, like)
            torch.testing.assert_close(found, want, rtol=0.05, atol=0.05)


def test_experts_multiply_the_rows_that_were_routed_to_them() -> None:
    """Hugging Face's op, which is defined here if its package is not there."""

    def products(x: Any, weight: Any, offs: Any) -> Any:
        ends = [0, *offs.tolist()]
        parts = [x[k:n] @ w for k, n, w in zip(ends, ends[1:], weight, strict=False)]
        return torch.cat([*parts, x.new_zeros(len(x) - ends[-1], weight.shape[2])])

    name = "transformers::grouped_mm_fallback"
    torch.manual_seed(0)
    x, weight, offs = torch.randn(9, 3), torch.randn(4, 3, 5), torch.tensor([2, 2, 7, 8])
    try:
        op = torch.ops.transformers.grouped_mm_fallback
    except AttributeError:
        op = torch.library.custom_op(
            name, products, mutates_args=(), schema="(Tensor x, Tensor weight, Tensor offs) -> Tensor"
        )
        op.register_fake(lambda x, weight, offs: x.new_empty(x.shape[0], weight.shape[2]))
    compiled = torch.compile(op, backend=arignote, options={"strict": True})
    for rows in (offs, offs * 0, offs + 1):
        torch.testing.assert_close(compiled(x, weight, rows), products(x, weight, rows))
