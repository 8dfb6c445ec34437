"""What each rule on products as BLAS knows them does: (name, before, after)."""

from rule_rows import A, B, s

from arignote import ops as T
from arignote.ops.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger
from arignote.ops.shape import DimShuffle

C = T.matrix("C")
column, row = T.tensor("column", shape=(None, 1)), T.tensor("row", shape=(1, None))
t = T.scalar("t")
first, second, transpose = DimShuffle((0,)), DimShuffle((1,)), DimShuffle((1, 0))
as_column, as_row = DimShuffle((0, "x")), DimShuffle(("x", 0))
one = T.constant(1.0)

ROWS = [
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
