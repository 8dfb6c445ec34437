"""Converters of ops that exported programs seldom hold: cotangents of windows, order statistics, distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch._dynamo  # noqa: E402, F811  # it sets variables of the environment
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch_versions import IS_OLDEST, keep_progress_without_thread, keeps_checks  # noqa: E402

import arignote as ag  # noqa: E402
from arignote.frontends.torch import Conversion  # noqa: E402
from arignote.frontends.torch.building import ConversionError  # noqa: E402
from arignote.frontends.torch.decompositions import decompositions_of  # noqa: E402
from arignote.frontends.torch.dtypes import array_of, type_of  # noqa: E402
from arignote.ops.core.tensor import TensorVariable  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
aten = torch.ops.aten
keep_progress_without_thread()
UNTRACED = "PyTorch 2.6 traces no unique_consecutive"


def order(x: Any, with_nan: Any, whole: Any) -> list[Any]:
    return [
        torch.median(x), torch.median(with_nan), *torch.median(with_nan, 1), *torch.median(x, 0, True),
        *torch.median(whole, -1), *torch.kthvalue(x, 3, 1), *torch.kthvalue(x, 2, 0, True),
        torch.histc(with_nan, 7, -1.3, 1.9), torch.histc(whole.float() * 0.1, 19, 0, 1.9),
        torch.histc(x, min=-1, max=1),
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


def norms(v: Any, g: Any, w: Any, h: Any) -> list[Any]:
    first, last = aten._weight_norm_interface(v, g, 0), aten._weight_norm_interface(v, h, 2)
    return [
        *first, *aten._weight_norm_interface_backward(w, v, g, first[1], 0),
        *last, *aten._weight_norm_interface_backward(w, v, h, last[1], 2),
    ]  # fmt: skip


def bags(table: Any, indices: Any, offsets: Any, weights: Any, g: Any) -> list[Any]:
    found = []
    for mode, padding, scales in ((0, -1, None), (0, 2, weights), (1, -1, None), (1, 2, None)):
        y, which, sizes, largest = aten._embedding_bag(
            table, indices, offsets, False, mode, False, scales, False, padding
        )
        rest = (indices, offsets, which, sizes, largest, 6, False, mode, False, scales, padding)
        found += [y, aten._embedding_bag_backward(g, *rest)]
        if scales is not None:
            given = (g, table, indices, offsets, which, mode, padding)
            found.append(aten._embedding_bag_per_sample_weights_backward(*given))
    return found


def resized(x: Any, g: Any) -> list[Any]:
    own = list(x.shape)
    bilinear, bicubic = aten._upsample_bilinear2d_aa, aten._upsample_bicubic2d_aa
    return [
        *(op(x, n, align) for op in (bilinear, bicubic) for n in ([3, 9], [10, 2], own[2:]) for align in (False, True)),
        bicubic(x, [2, 12], False, 0.4, 2.1), bilinear(x, [1, 1], False),
        aten._upsample_bicubic2d_aa_backward(g, [3, 9], own, False), bilinear(x.double(), [3, 9], False),
    ]  # fmt: skip


def running(x: Any, whole: Any, truth: Any) -> list[Any]:
    return [
        *torch.cummax(x, 1), *torch.cummin(x, 0), *torch.cummax(whole, -1), *torch.cummin(truth, 1),
        *(torch.logit(x.sigmoid(), eps) for eps in (None, 0.2, 0.6, 1.0)),
        torch.logcumsumexp(whole * 0.1, 0), torch.nanmedian(x), *torch.nanmedian(x, 1), *torch.nanmedian(x, 0, True),
    ]  # fmt: skip


def solutions(a: Any, b: Any, rows: Any) -> list[Any]:
    spd = a @ a.mT + torch.eye(4)
    factor, upper = torch.linalg.cholesky(spd), torch.linalg.cholesky(spd, upper=True)
    lu, pivots = torch.linalg.lu_factor(a)
    ways = [(True, False), (True, True)]
    return [
        factor, upper, torch.linalg.det(a), *torch.linalg.slogdet(a), torch.linalg.inv(a), torch.linalg.solve(a, b),
        torch.linalg.solve(a, rows, left=False), torch.linalg.solve(a[0], b[0, :, 0]), lu, pivots,
        torch.cholesky_solve(b, factor), torch.cholesky_inverse(upper, upper=True),
        *(torch.linalg.lu_solve(lu, pivots, b, left=left, adjoint=of) for left, of in ways),
        *(torch.linalg.lu_solve(lu, pivots, rows, left=False, adjoint=of) for of in (False, True)),
        torch.linalg.lu_solve(lu, pivots, b[..., :0]), torch.linalg.lu_solve(lu, pivots, b[:1, :, :0]),
        torch.linalg.solve_triangular(factor, b, upper=False),
        torch.linalg.solve_triangular(upper, rows, upper=True, left=False, unitriangular=True),
    ]  # fmt: skip


def factors(a: Any, b: Any, rows: Any) -> list[Any]:
    spd = a @ a.mT + torch.eye(4)
    return [
        *torch.linalg.lu(b), *torch.lu_unpack(*torch.linalg.lu_factor(rows)), torch.linalg.matrix_exp(a * 0.3),
        *torch.linalg.qr(b), torch.linalg.qr(b, "r").R, torch.linalg.svdvals(b), torch.linalg.eigvalsh(spd),
        torch.linalg.pinv(b), torch.linalg.pinv(spd, hermitian=True), torch.linalg.pinv(b, atol=0.5, rtol=0.1),
    ]  # fmt: skip


def distinct(x: Any, truth: Any, some: Any, of: Any) -> list[Any]:
    every = {"return_inverse": True, "return_counts": True}
    return [
        *torch.unique(x, **every), *torch.unique(truth, return_counts=True), torch.unique(some),
        *torch.unique(x, dim=1, **every), *torch.unique_consecutive(x, **every), torch.unique_consecutive(some),
        torch.bincount(of, minlength=9), torch.bincount(of, some[0]),
    ]  # fmt: skip


def combined(x: Any, source: Any, at: Any, rows: Any) -> list[Any]:
    ways = [(way, own) for way in ("sum", "prod", "mean", "amax", "amin") for own in (True, False)]
    return [
        *(x.scatter_reduce(1, at, source, way, include_self=own) for way, own in ways),
        *(x.index_reduce(0, rows, source[:3], way, include_self=own) for way, own in ways[2:]),
        *((x * 9).long().scatter_reduce(0, at, (source * 9).long(), way) for way in ("prod", "amax", "amin")),
        x[0].masked_scatter(at > 1, source), x[:, :1].masked_scatter(at[0] > 0, source),
        x.masked_scatter(x > 9, x[0, :1]),
    ]  # fmt: skip


def strided(x: Any, images: Any) -> list[Any]:
    """Views of memory whose order is not that of the axes."""
    columns, last = x.t() * 2, images.to(memory_format=torch.channels_last) + 1
    return [
        columns.as_strided((3, 2), (2, 1)), columns.as_strided((2, 4), (3, 2), 1), x.as_strided((2, 2), (4, 1), 3),
        last.as_strided((2, 5, 3), (7, 4, 1)), last.permute(0, 2, 3, 1).as_strided((4,), (3,)),
        torch.as_strided_scatter(columns, x[:3, :2] * 1, (3, 2), (1, 3)),
        torch.as_strided_scatter(x * 1, x[0], (4,), (2,)),
    ]  # fmt: skip


def operands(name: str) -> tuple[Any, ...]:
    torch.manual_seed(0)
    draw = torch.randn
    if name == "order":
        with_nan = draw(4, 7)
        with_nan[1, 2] = float("nan")
        return draw(4, 7), with_nan, torch.randperm(20).reshape(4, 5)
    if name == "running":
        some = draw(4, 7)
        some[0, 2] = some[1, 4] = some[1, 5] = float("nan")
        some[3, 1:] = float("nan")
        return some, torch.randint(0, 5, (3, 6)).double(), draw(3, 5) > 0
    if name in ("solutions", "factors"):
        return draw(2, 4, 4), draw(2, 4, 3), draw(2, 3, 4)
    if name == "combined":
        return draw(4, 5), draw(4, 5), torch.randint(0, 3, (4, 5)), torch.tensor([1, 3, 1])
    if name == "distinct":
        x = torch.randint(0, 3, (4, 6))
        return x, x > 1, x[:, [0, 0, 1, 1, 2, 3]].float(), x[0]
    if name == "norms":
        return draw(3, 2, 4), draw(3, 1, 1), draw(3, 2, 4), draw(1, 1, 4)
    if name == "bags":  # an empty bag, one with nothing but padding, equal indices
        return draw(6, 3), torch.tensor([0, 2, 2, 5, 2, 4, 4]), torch.tensor([0, 1, 1, 3, 4]), draw(7), draw(5, 3)
    if name == "strided":
        return draw(6, 4), draw(2, 4, 3, 5)
    if name == "distances":
        return draw(5, 2), draw(4, 2), draw(5, 4), draw(3, 3), draw(4, 3, 2)
    x = draw(2, 3, 5, 6)
    if name == "resized":
        x[0, 1, 2, 3] = float("inf")
        return x, draw(2, 3, 3, 9)
    at = torch.nn.functional.adaptive_max_pool2d(x, (2, 3), return_indices=True)[1]
    return x, draw(2, 3, 10, 12), draw(2, 3, 7, 17), draw(2, 3, 8, 9), draw(2, 3, 2, 3), at


@pytest.mark.parametrize(
    "ops",
    [order, distances, windows, resized, running, solutions, factors, distinct, combined, strided, norms, bags],
    ids=lambda f: f.__name__,
)
def test_values_are_those_of_pytorch(ops: Any) -> None:
    if IS_OLDEST and ops is distinct:
        pytest.skip(UNTRACED)
    given = operands(ops.__name__)
    graph = make_fx(ops, decomposition_table=decompositions_of(), tracing_mode="fake")(*given)
    if keeps_checks():
        graph.graph.eliminate_dead_code()
    conversion, inputs = Conversion(strict=True), [TensorVariable(type_of(v)) for v in given]
    function = ag.function(inputs, list(conversion.graph(graph, inputs)), on_unused_input="ignore")
    for got, want in zip(function(*map(array_of, given)), ops(*given), strict=True):
        torch.testing.assert_close(torch.as_tensor(np.array(got)), want, equal_nan=True, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(IS_OLDEST, reason=UNTRACED)
@pytest.mark.parametrize("dim", [0, 1])
def test_slices_that_equal_their_neighbours_are_dropped(dim: int) -> None:
    """PyTorch traces a result of another rank for an axis, so nothing is computed with it here."""
    x = torch.tensor([[1, 1, 2], [1, 1, 2], [3, 1, 2]])

    def ops(x: Any) -> list[Any]:
        return list(torch.unique_consecutive(x, True, True, dim))

    conversion, inputs = Conversion(strict=True), [TensorVariable(type_of(x))]
    function = ag.function(inputs, list(conversion.graph(make_fx(ops, tracing_mode="fake")(x), inputs)))
    for got, want in zip(function(array_of(x)), ops(x), strict=True):
        assert torch.equal(torch.as_tensor(np.array(got)), want)


def test_an_info_that_the_program_reads_is_pytorchs() -> None:
    def factor(a: Any) -> list[Any]:
        return list(torch.linalg.cholesky_ex(a))

    a = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    graph = make_fx(factor, decomposition_table=decompositions_of(), tracing_mode="fake")(a)
    conversion, inputs = Conversion(), [TensorVariable(type_of(a))]
    function = ag.function(inputs, list(conversion.graph(graph, inputs)))
    assert function(array_of(a))[1] == factor(a)[1] == 2
    assert "linalg_cholesky_ex" in conversion.remarks[0]


def _written(x: Any, index: Any, value: float | Any, accumulate: bool = False) -> Any:
    return torch.ops.aten.index_put.default(x, index, torch.as_tensor(value), accumulate)


MASKED: dict[str, tuple[Any, tuple[int, ...]]] = {
    "rows": (lambda x, m: x[m] * 2, (4,)),
    "axes": (lambda x, m: x[m].sum(0), (4, 5)),
    "middle": (lambda x, m: x[:, m] + 1, (5,)),
    "last": (lambda x, m: x[..., m] + 1, (2,)),
    "mask and index": (lambda x, m: x[m, :, torch.tensor(1)], (4,)),
    "index and mask": (lambda x, m: x[torch.tensor([[0], [3]]), m], (5,)),
    "write": (lambda x, m: _written(x, [m], -1.0), (4, 5)),
    "write later axis": (lambda x, m: _written(x, [None, m], -1.0), (5,)),
    "write mask and index": (lambda x, m: _written(x, [m, torch.tensor([2])], torch.tensor([3.0, 4.0])), (4,)),
    "add": (lambda x, m: _written(x, [torch.tensor([[1], [1]]), m], 0.5, True), (5,)),
}


@pytest.mark.parametrize("name", MASKED)
def test_masks_among_indices_are_converted(name: str) -> None:
    take, shape = MASKED[name]

    class Taken(torch.nn.Module):
        def forward(self, x: Any, mask: Any) -> Any:
            return take(x, mask)

    x, some = torch.randn(4, 5, 2), torch.zeros(shape, dtype=torch.bool)
    some[0] = True
    model = ag.from_torch(Taken(), (x, some))
    assert not model.remarks
    for mask in (some, ~some, some & False, some | True):
        got = torch.as_tensor(np.asarray(model(x.numpy(), mask.numpy())))
        torch.testing.assert_close(got, take(x, mask), rtol=1e-5, atol=1e-6)


def test_a_source_with_fewer_elements_than_the_mask_takes_is_an_error() -> None:
    x, mask, source = torch.zeros(3), torch.tensor([True, True, False]), torch.ones(1)
    graph = make_fx(torch.masked_scatter, decomposition_table=decompositions_of(), tracing_mode="fake")(x, mask, source)
    inputs = [TensorVariable(type_of(v)) for v in (x, mask, source)]
    function = ag.function(inputs, Conversion(strict=True).graph(graph, inputs))
    with pytest.raises(ValueError, match="the mask is true at 2 places, got 1 rows or elements"):
        function(*map(array_of, (x, mask, source)))
    assert function(x.numpy(), ~mask.numpy(), source.numpy()).tolist() == [0, 0, 1]


def test_a_matrix_without_a_factor_is_an_error() -> None:
    graph = make_fx(torch.linalg.cholesky, decomposition_table=decompositions_of(), tracing_mode="fake")(torch.eye(2))
    conversion, inputs = Conversion(strict=True), [TensorVariable(type_of(torch.eye(2)))]
    function = ag.function(inputs, conversion.graph(graph, inputs))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        function(np.array([[1.0, 2.0], [2.0, 1.0]], np.float32))


@pytest.mark.parametrize("ops", [
    lambda x: aten.resize(x.t() * 2, [2, 5]),
    lambda x: aten.resize_as(x.t() + x[:, 0], x[:2, :2]),
    lambda x: aten.resize(x[:, 1:3].t(), [5]),
    lambda x: aten.resize(x[0].expand(2, 3, 4).permute(2, 0, 1), [11]),
    lambda x: (x.t() * 2).unsqueeze(1).permute(2, 1, 0).view(torch.int16),
    lambda x: x.t().contiguous().view(torch.int16),
], ids=["transposed", "as", "gaps", "repeated", "unit", "contiguous"])  # fmt: skip
def test_ops_by_pytorch_get_their_operands_in_the_traced_order_of_memory(ops: Any) -> None:
    x = torch.arange(16.0).reshape(4, 4)
    conversion, inputs = Conversion(), [TensorVariable(type_of(x))]
    found = conversion.graph(make_fx(ops, decompositions_of(), tracing_mode="fake")(x), inputs)
    assert "runs in PyTorch" in conversion.remarks[0]
    assert torch.equal(torch.as_tensor(ag.function(inputs, found)(array_of(x))), ops(x))


@pytest.mark.parametrize(("view", "message"), [
    (lambda x: x[:, 1:3].as_strided((2, 2), (1, 2)), r"a view with strides \[4, 1\], expected all elements in memory"),
    (lambda x: (x + 1)[:2].as_strided((2, 4), (8, 1)), "it reads memory beyond the elements of its operand"),
    (lambda x: torch.as_strided_scatter(x + 1, x[:2, :2], (2, 2), (1, 1)), "it writes to an element several times"),
], ids=["gaps", "beyond", "twice"])  # fmt: skip
def test_views_of_memory_that_no_array_holds_are_refused(view: Any, message: str) -> None:
    x = torch.randn(4, 4)
    with pytest.raises(ConversionError, match=message):
        Conversion().graph(make_fx(view, tracing_mode="fake")(x), [TensorVariable(type_of(x))])
