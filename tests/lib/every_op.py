"""A graph for every op: what is written and read back."""

import numpy as np

import arignote as ag
import arignote.ops as T
from arignote.graph import FunctionGraph
from arignote.ops.lowered.assumed import AssumeEqual, CheckAssumed
from arignote.ops.lowered.formats.bfloats import Bfloats
from arignote.ops.lowered.formats.nibbles import Nibbles
from arignote.ops.lowered.formats.panels import Panels
from arignote.ops.lowered.formats.sparse_columns import SparseColumns
from arignote.ops.lowered.formats.sparse_vectors import SparseVectors
from arignote.ops.lowered.formats.two_of_four import TwoOfFour
from arignote.ops.lowered.formats.widened import BFLOAT16, FLOAT16, Widened
from arignote.ops.lowered.region import Region
from arignote.ops.random.generator_draws import GeneratorDraw
from arignote.ops.random.numpy_draws import NumpyDraw

X, Y, V, K = T.matrix("x"), T.matrix("y"), T.vector("v"), T.lscalar("k")
A, B = T.scalar("a"), T.scalar("b")
N = T.lvector("n")


def group():
    x, v = T.matrix("p"), T.vector("q")
    return T.Fused(FunctionGraph([x, v], [T.exp(x) * v, T.sum(T.exp(x) * v, axis=1)]))


def product():
    x, v = T.matrix("p"), T.vector("q")
    return T.FusedProduct(T.Dot22(), FunctionGraph([x, v], [T.tanh(x + v)]))


def stages():
    x = T.matrix("p")
    b = T.exp(x)
    return T.Pipeline(FunctionGraph([x], [b[1:] - b[:-1]]))


def compositions():
    once = ag.OpFromGraph([P := T.vector("p")], [T.exp(P)], name="once")(V)
    end = ag.while_loop(lambda s: s < A, lambda s: s * 2, B)
    last = ag.scan(lambda s: s * A, outputs_info=B, n_steps=4, checkpoint_every=2)[0]
    return once, T.After()(V, A), ag.grad(end, B), last


def loops():
    scan = ag.scan(lambda v, s: s + v, V, T.constant(0.0))[0]
    return scan, ag.while_loop(lambda s: s < A, lambda s: s + 1, B), ag.cond(A > 0, lambda: T.exp(V), lambda: V)


AT = T.cast(N, "int32")[None, None]
Q, NARROW, F = T.quantize(X, 0.5), T.cast(V, "int32"), T.cast(V, "float32")
def pair(*own):
    around = ((0, 0), (0, 0))
    convolutions = (T.BlockedConvolution((1, 1), (1, 1), around, 4, 2, o, weights=(3, 1, 1, 1)) for o in own)
    return T.ConvolutionPair(*convolutions, 3)


ZOO = [
    Region(FunctionGraph([X], [T.exp(X)]), "numpy", 2)(X),
    X.shape, T.ShapeI(1)(X), T.stack([K, X.shape[0]]), X.T[None], X.dimshuffle(1, "x", 0), X.reshape((K, -1)),
    T.broadcast_to(V, (K, V.shape[0])), T.zeros((K, 3), "int8"), T.arange(0, K, 2), T.eye(K, 4, 1, "complex64"),
    T.concatenate([X, Y], 1), X[1:, K], X[::-1, None, -1], T.set_subtensor(X[0], 1.5), T.inc_subtensor(X[K:], Y),
    X[N], X[N, 1:], T.set_subtensor(X[N, N], V), T.inc_subtensor(X[:, N], 2.0), X.at[N].max(Y),
    T.dot(X, V), T.matmul(X[None], Y),
    T.Dot22()(X, Y), T.Dot22Scalar()(X, Y, A), T.Gemm()(X, A, X, Y, B), T.Gemv()(V, A, X, V, B), T.Ger()(X, A, V, V),
    T.softmax(X), T.log_softmax(X, 0), T.logsumexp(X, 1), T.Top(1)(X), T.sum(X, axis=1), T.max(X), T.any(X, axis=0),
    T.argmin(X, 1), T.cumsum(X, 1), T.cumprod(X, 0), T.accumulate(T.maximum, X, 1), T.accumulate(T.minimum, X, 0),
    T.SumTo()(X, V), T.cast(X, "float16"), T.where(X > 0, X, -X),
    T.specify_shape(X, (3, K)), X[np.array([True, False])], T.CheckLengths((("q", 0),))(X, K, 3),
    AssumeEqual(((0, 0),))(V, K), CheckAssumed((("q", 0),))(X, K, 3),
    T.Check("expected {{}} or 'so', got {0}", "IndexError")(X, A > 0, K),
    T.add(X, Y, 1.0), stages()(X), T.Assembled(FunctionGraph([P := T.matrix("p")], [T.concatenate([P * 2, P])]))(X),
    T.Strided()(X, K, 2, 1, 1), T.sliding_window_view(V, K),
    T.diag(X), T.diag(V), T.tril(X, -1), T.triu(X, K), T.assume(X, "diagonal"), T.ByPhase()(X, Y), T.linalg.cholesky(X),
    T.CholeskyGradient()(X, Y),
    T.linalg.solve(X, Y), T.Solve("positive_definite")(X, Y), T.SolveTriangular(lower=True, unit=True)(X, Y),
    T.linalg.inv(X), T.linalg.pinv(X), T.linalg.det(X), T.Cofactors()(X), *T.linalg.slogdet(X), *T.linalg.eigh(X),
    T.linalg.eigvalsh(X), *T.linalg.eig(X),
    T.linalg.eigvals(X),
    T.linalg.expm(X), T.linalg.logm(X), T.linalg.sqrtm(X), *T.LU()(X),
    T.PivotOrder()(T.LU()(X)[1], X), T.ColumnOrder()(X), *T.Schur("lhp")(X), *T.QZ()(X, Y), *T.Polar()(X),
    *T.EigPencil()(X, Y),
    T.SolveBanded(1, 0)(X, Y), T.Sylvester()(X, Y, X),
    T.ContinuousRiccati()(X, X, X, X), T.DiscreteRiccati()(X, X, X, X, X),
    *T.topk(X, 2), T.WholeIf()(X, A > 0), T.fft.fft(X), T.fft.irfft(X, 4, norm="ortho"),
    *T.linalg.svd(X, full_matrices=False), T.linalg.svdvals(X), *T.linalg.qr(X), T.QR("r")(X), T.sort(X),
    T.argsort(X, 0), *T.nonzero(X), T.searchsorted(V, X, side="right"), T.Unique()(V),
    *T.Unique(True, True, True)(V), T.OrderStatistics()(X, [0, 1]),
    *T.UniqueParts(1, False)(X), T.RepeatedPositions()(N), T.JoinedRanges()(N, N),
    T.Convolution((2,), (1,))(X[None], X[None]), T.KernelGradient((2,), (1,), 3)(X[None], X[None], K),
    T.MaxPool((2, 3), (1, 2), (2, 1))(X), T.SumPool((2,), (1,), (2,))(X),
    T.MaxPoolGradient((2, 3), (1, 2), (2, 1))(X, Y, Y), T.constant([1.5, np.nan]) + V,
    T.constant(np.zeros((0, 3))) + X[0, :3], T.constant(np.arange(40.0)) * A, T.constant(1 + 2j) * A, ~(X > 0),
    T.quantize(X, 0.5, 3, "int8"),
    T.dequantize(T.quantize(X, 0.5), 0.25),
    T.requantize(T.cast(X, "int32"), 0.5, 3, "int8"),
    T.FromBlocks(3)(T.ToBlocks(4)(X[None, None])),
    T.BlockedPool((2, 2), (1, 1), (1, 1), ((0, 0), (0, 0)))(T.ToBlocks(4)(X[None, None])),
    T.ChannelSums(3, 1, 1)(T.ToBlocks(4)(X[None, None])),
    T.BlockedConvolution((1, 2), (2, 1), ((0, 1), (2, 0)), 4, 2)(X[None, None], X[None, None], V),
    T.BlockedKernelGradient((1, 2), (2, 1), ((0, 1), (2, 0)), (3, 1, 1, 1))(
        X[None, None], T.ToBlocks(4)(X[None, None])
    ),
    T.BlockedConvolution((1, 1), (1, 1), ((0, 0), (0, 0)), 4, 2, weights=(3, 1, 1, 1))(X[None, None], V, V),
    pair(False, True)(X[None, None], V, V, V, V),
    T.PackedProduct(Panels(3, 5, 4, 2))(X, V),
    T.NonMaxSuppression(False)(T.zeros((1, 3, 4)) + A, X[None], K, A, B),
    GeneratorDraw("rayleigh", 1, "float64")(T.constant(np.arange(6, dtype="uint64")), K, A)[1],
    NumpyDraw("normal", 1)(T.constant(np.arange(6, dtype="uint64")), K, A, B)[1],
    T.WeightedGather()(X[None], AT, V[None, None]), T.WeightedScatter()(X[None], AT, V[None, None], K + 1),
    T.GatherProducts()(X[None], AT, Y[None]),
    T.SparseRows()(V, NARROW, NARROW, V), T.SparseAcross()(V, NARROW, NARROW, X, K),
    T.SparseEntries()(V, NARROW, NARROW, X, K), *T.SparsePattern()(*4 * [NARROW], K),
    *T.SparseUnion()(*4 * [NARROW], K), T.SparsePlaces()(*4 * [NARROW], K), *T.SparseOrder()(NARROW, K),
    T.SparseValues()(V, NARROW, NARROW, V, *4 * [NARROW], K), T.SparseExtremes("max")(V, NARROW, NARROW, K),
    T.SparseExtreme("max")(V, NARROW, NARROW, K, K),
    T.Attention("drop", True)(X, Y, X, T.constant(0.5), X > 0, T.constant(-1.0), Y),
    T.PackedProduct(SparseVectors(3, 5, 4))(X, V, *2 * [T.cast(V, "int32")]),
    T.PackedProduct(SparseColumns(3, 5, 4))(F[None], F, *2 * [T.cast(V, "int32")]),
    T.PackedProduct(TwoOfFour(3, 5, 4))(F[None], F, T.cast(V, "int32")),
    T.BfloatConvolution((1, 1), (1, 1), ((0, 0), (0, 0)), 4, 2, (4, 4, 1, 1))(
        T.cast(T.ToBlocks(4)(X[None, None]), "uint16"), T.cast(V, "uint16"), F
    ),
    T.BfloatDot()(F[None], T.cast(Y, "uint16")),
    T.BfloatAttention("drop", True)(
        *(T.cast(v, "uint16") for v in (X, Y, X)), T.constant(np.float32(0.5)), X > 0, T.constant(np.float32(-1)),
        T.cast(Y, "float32"),
    ),
    T.PackedProduct(Bfloats(3, 5, 4, 2))(F[None], T.cast(V, "uint16")),
    T.ByteProduct()(T.quantize(X, 0.5), T.quantize(Y, 0.5)),
    T.ByteConvolution((1, 2), (2, 1), ((0, 1), (2, 0)), 4, out="uint8", zero=7, more_scale=0.5)(
        Q[None, None], T.quantize(X, 0.5, 0, "int8")[None, None], NARROW, NARROW, F, F, Q[None, None]
    ),
    T.TreeFold("add", 1, 2, 3)(X, NARROW, V, NARROW, NARROW, V),
    T.LookUp()(T.quantize(X, 0.5), T.cast(V, "int8")),
    T.QuantizeInBlocks("int8")(F[None, None, None], T.cast(T.constant(0.5), "float32"), T.constant(np.int8(3))),
    T.ByteSoftmax("uint8", 0.5, 1, 0, 255)(T.quantize(X, 0.5), F),
    T.PackedProduct(Widened(3, 5, 4, BFLOAT16))(F[None], T.cast(V, "uint16")),
    T.PackedProduct(Widened(3, 5, 4, FLOAT16))(F[None], T.cast(V, "float16")),
    T.PackedProduct(Nibbles(3, 5, 8, 4))(F[None], T.cast(V, "uint8"), F, T.cast(V, "int8")),
    *loops(), *compositions(), T.Mean((0,))(X),
    product()(X, Y, V), *group()(X, V), T.InPlace(T.add, ((0, 1),))(X, Y), T.InPlace(group(), ((0, 0),))(X, V)[1],
    T.InPlace(T.IncSubtensor(("s100",), set=True), ((0, 0),))(X, Y, K),
]  # fmt: skip
