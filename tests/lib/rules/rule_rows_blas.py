"""Rows of the rules on BLAS products: (name, before, after)."""

import numpy as np
from rule_rows import A, B, s

from arignote import ops as T
from arignote.ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from arignote.ops.networks.convolution import Convolution
from arignote.ops.networks.pooling import MaxPool, SumPool
from arignote.ops.shapes.lengths import lengths_of
from arignote.ops.shapes.shape import DimShuffle, Reshape

C = T.matrix("C")
column, row = T.tensor("column", shape=(None, 1)), T.tensor("row", shape=(1, None))
t = T.scalar("t")
first, second, transpose = DimShuffle((0,)), DimShuffle((1,)), DimShuffle((1, 0))
as_column, as_row = DimShuffle((0, "x")), DimShuffle(("x", 0))
one = T.constant(1.0)

X = T.tensor3("X")
SEQUENCE = T.tensor("sequence", shape=(1, 5, 4)).dimshuffle(1, 0, 2)  # the rows of one example, not transposed
over = DimShuffle((0, 2, 1))


def rows(x):
    """The rows of a stack of matrices as one matrix."""
    a, b, c = lengths_of(x)
    return Reshape()(x, T.mul(a, b), c)


weights = T.constant(np.array([[1.0, 2.0], [3.0, 4.0]]))
kernels = T.constant(np.arange(1.0, 9.0).reshape(2, 1, 2, 2))
image = T.tensor4("image")
still, count = T.tensor("still", shape=(None, 1, 6, 7)), T.lscalar("count")
wide = T.tensor("wide", shape=(1, 9, 4, 50))
factor, shift = np.array([2.0, -0.5]), np.array([1.0, 4.0])
doubled = T.constant(weights.data * factor)
conv, channels = T.nn.conv2d, (2, 1, 1)
deep = T.tensor("deep", shape=(None, 3, 6, 7))
mixed = T.constant(np.arange(1.0, 7.0).reshape(2, 3, 1, 1))
whole = T.constant(np.ones((1, 9, 1, 1)))
along, halved = Convolution((1, 1), (1, 1)), SumPool((2, 3), (2, 2), (1, 1))
scaled_kernels = T.constant(kernels.data * factor.reshape(2, 1, 1, 1))

ROWS = [
    ("local_filled_weights", Dot()(A, T.full((200, 3), 0.5)), Dot()(A, T.constant(np.full((200, 3), 0.5)))),
    ("local_fold_factor_into_weights", Dot()(A, weights) * T.constant(factor), Dot()(A, doubled)),
    (
        "local_fold_factor_into_weights",
        (conv(image, kernels) - T.constant(shift.reshape(channels))) / T.constant(1 / factor.reshape(channels)),
        conv(image, scaled_kernels) + T.constant((-shift * factor).reshape(1, *channels)),
    ),
    (
        "local_max_pool_by_axes",
        MaxPool((3, 2), (2, 1), (1, 2))(image),
        MaxPool((1, 2), (1, 1), (1, 2))(MaxPool((3, 1), (2, 1), (1, 1))(image)),
    ),
    ("local_sum_pool_of_convolution", halved(along(deep, mixed)), along(halved(deep), mixed)),
    (
        "local_subtensor_of_convolution",
        Convolution((2, 1), (1, 2))(still, kernels)[:, :, 1:, 1:3],
        Convolution((2, 1), (1, 2))(still[:, :, 2 : 6, 1 : 5], kernels),
    ),
    (
        "local_subtensor_of_padding",
        T.set_subtensor(T.zeros((count, 1, 9, 8))[:, :, 2:8, 1:8], still)[:, :, 1:8, 3:],
        T.set_subtensor(
            T.zeros((count, 1, 7, 5))[:, :, 1 : 7, 0 : 5],
            still[:, :, 0 : 6, 2 : 7],
        ),
    ),
    (
        "local_merge_shifts_of_product",
        Dot()(A, weights) + T.constant(shift) - T.constant(factor),
        Dot()(A, weights) + T.constant((shift - factor).reshape(1, 2)),
    ),
    (
        "local_merge_shifts_of_product",
        (Dot()(A, weights) - T.constant(shift)) - T.constant(factor),
        Dot()(A, weights) + T.constant((-shift - factor).reshape(1, 2)),
    ),
    (
        "local_merge_shifts_of_product",
        conv(image, kernels) - T.constant(shift.reshape(channels)) + T.constant(factor.reshape(channels)),
        conv(image, kernels) + T.constant((factor - shift).reshape(1, *channels)),
    ),
    (
        "local_merge_shifts_of_product",
        T.constant(factor) - (T.constant(shift) - Dot()(A, weights)),
        Dot()(A, weights) + T.constant((factor - shift).reshape(1, 2)),
    ),
    (
        "local_batched_matmul_to_core_matmul",
        T.matmul(X, A),
        Reshape()(Dot()(rows(X), A), *lengths_of(X)[:2], lengths_of(A)[1]),
    ),
    (
        "local_batched_matmul_to_core_matmul",
        T.matmul(SEQUENCE, A),
        Reshape()(Dot()(rows(SEQUENCE), A), *lengths_of(SEQUENCE)[:2], lengths_of(A)[1]),
    ),
    (
        "local_sum_of_batched_matmul",
        T.sum(MatMul()(over(X), T.exp(X)), axis=0),
        Dot()(transpose(rows(X)), rows(T.exp(X))),
    ),
    (
        "local_sum_of_batched_matmul",
        T.sum(MatMul()(A.dimshuffle(0, 1, "x"), T.exp(A).dimshuffle(0, "x", 1)), axis=0),
        Dot()(transpose(rows(A.dimshuffle(0, "x", 1))), rows(T.exp(A).dimshuffle(0, "x", 1))),
    ),
    (
        "local_batched_matmul_to_core_matmul",
        T.matmul(B, A.dimshuffle(0, 1, "x")),
        Reshape()(
            Dot()(rows(A.dimshuffle(0, "x", 1)), transpose(B)),
            *lengths_of(A.dimshuffle(0, 1, "x"))[:1], lengths_of(B)[0], T.constant(1, "int64"),
        ),
    ),
    ("local_dot_to_dot22", Dot()(A, B), Dot22()(A, B)),
    ("local_dot22_to_dot22scalar", s * Dot22()(A, B), Dot22Scalar()(A, B, s)),
    ("local_dot22_to_outer", Dot22()(column, row), column * row),
    ("local_dot22_to_gemv", Dot22()(A, column), as_column(Dot()(A, first(column)))),
    ("local_dot22_to_gemv", Dot22()(row, A), as_row(Dot()(second(row), A))),
    (
        "local_gemm_to_gemv",
        Gemm()(C, s, A, column, t),
        as_column(Gemv()(first(C), s, A, first(column), t)),
    ),
    (
        "local_gemm_to_gemv",
        Gemm()(C, s, row, A, t),
        as_row(Gemv()(second(C), s, transpose(A), second(row), t)),
    ),
    ("local_gemm_to_ger", Gemm()(C, s, column, row, one), Ger()(C, s, first(column), second(row))),
]

UNCHANGED = [
    ("local_filled_weights", Dot()(A, T.full((4000, 3000), 0.5))),  # larger than folding makes
    ("local_filled_weights", Dot()(A, T.full((count, 3), 0.5))),
    ("local_filled_weights", Dot()(T.full((200, 3), 0.5), A)),
    ("local_max_pool_by_axes", MaxPool((2, 2), (2, 2), (1, 1))(image)),
    ("local_max_pool_by_axes", MaxPool((1, 9), (1, 1), (1, 1))(image)),
    ("local_sum_pool_of_convolution", SumPool((2, 3), (1, 1), (1, 1))(along(deep, mixed))),  # as many products
    ("local_sum_pool_of_convolution", halved(Convolution((1, 2), (1, 1))(deep, mixed))),
    ("local_sum_pool_of_convolution", halved(along(deep, T.constant(np.ones((2, 3, 1, 2)))))),
    ("local_sum_pool_of_convolution", SumPool((2, 40), (2, 1), (1, 1))(along(wide, whole))),  # of many channels
    ("local_sum_pool_of_convolution", MaxPool((2, 2), (2, 2), (1, 1))(along(deep, mixed))),
    ("local_subtensor_of_convolution", conv(image, kernels)[:, :, 1:]),  # perhaps nothing is left
    ("local_subtensor_of_convolution", conv(still, kernels)[:, 1:]),
    ("local_subtensor_of_padding", T.pad(still, ((0, 0), (0, 0), (2, 0), (0, 0)))[:, :, :2]),  # nothing but padding
    ("local_subtensor_of_padding", T.set_subtensor(T.zeros((count, 1, 9, 8))[:, :, 2:8, 1:8], 1.0)[:, :, 1:]),
    ("local_merge_shifts_of_product", Dot()(A, B) + T.constant(shift) - T.constant(factor)),
    ("local_merge_shifts_of_product", Dot()(A, weights) + B - T.constant(factor)),
    ("local_fold_factor_into_weights", Dot()(A, B) * T.constant(factor)),  # weights that a call gives
    ("local_fold_factor_into_weights", T.maximum(Dot()(A, weights), 0) * T.constant(factor)),
    ("local_fold_factor_into_weights", Dot()(A, weights) * T.constant(factor[:, None])),  # of each row
    ("local_fold_factor_into_weights", Dot()(A, weights) * T.constant(np.array([np.inf, 1.0]))),
    ("local_fold_factor_into_weights", Dot()(A, weights) * T.constant(np.array([1e-320, 1.0]))),
    ("local_fold_factor_into_weights", T.constant(factor) / Dot()(A, weights)),
    ("local_batched_matmul_to_core_matmul", T.matmul(X.dimshuffle(1, 0, 2), A)),  # whose rows would be copied
    ("local_batched_matmul_to_core_matmul", T.matmul(X, X)),
    ("local_sum_of_batched_matmul", T.sum(MatMul()(over(X), X[:1]), axis=0)),  # one of which is broadcast
    ("local_sum_of_batched_matmul", T.sum(MatMul()(X, T.exp(X)), axis=0)),
]
