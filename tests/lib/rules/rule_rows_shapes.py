"""Rows of the rules on shapes, slices, reductions and products of matrices: (name, before, after)."""

import functools

import numpy as np
from rule_rows import A, B, i, j, n, s, x, y

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.control.cond import Cond
from arignote.ops.control.scan_ops import Scan
from arignote.ops.elementwise.records import add, fill, maximum
from arignote.ops.lowered.row_passes import Top
from arignote.ops.nn import LogSoftmax, LogSumExp, Softmax
from arignote.ops.reductions.reduce import Reduce
from arignote.ops.reductions.unbroadcasting import SumTo
from arignote.ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from arignote.ops.shapes.creation import Alloc, arange
from arignote.ops.shapes.joining import Join
from arignote.ops.shapes.lengths import MakeVector, ShapeI
from arignote.ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from arignote.ops.shapes.sliding import Strided
from arignote.ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape

C = T.matrix("C")
M = T.tensor("M", shape=(4, 3))
N = T.tensor("N", shape=(4, 3))
v = T.tensor("v", shape=(3,))
r = T.tensor("r", shape=(1, 3))
q = T.tensor("q", shape=(1, 1))
I, J = (T.matrix(name, dtype="int64") for name in "IJ")
k, m = (T.scalar(name, dtype="int64") for name in "km")
K = T.tensor("K", shape=(None, None, None))
row = T.tensor("row", "int64", (1, None))
_product = T.dot(A, B)


def length(value, axis):
    return ShapeI(axis)(value)


def add_part(value, part, *index):
    return T.inc_subtensor(value[index], part)


def put(value, part, *index):
    return T.set_subtensor(value[index], part)


def keep(reduced, axis):
    return T.expand_dims(reduced, axis)


FILLS = [
    ("local_useless_fill", fill(x, T.exp(x)), T.exp(x)),
    ("local_fill_of_fill", fill(fill(x, s), y), fill(x, y)),
    ("local_fill_in_fill", fill(x, fill(x * y, y)), fill(x, y)),
    ("local_fill_like_operand", fill(T.exp(x), s), fill(x, s)),
    ("local_fill_like_picked", fill(A[i, j], s), fill(fill(i, j), s)),
    ("local_fill_sink", T.exp(fill(x, s)), fill(x, T.exp(s))),
    ("local_fill_sink", fill(x, s) * x, s * x),
    ("local_fill_to_alloc", fill(T.exp(x), s), Alloc()(s, length(x, 0))),
    (
        "local_sum_to_lengths",
        SumTo()(C, T.dot(A, B) / s),
        SumTo()(C, BroadcastTo()(T.constant(0.0), length(A, 0), length(B, 1))),
    ),
    ("local_useless_alloc", Alloc()(x, length(x, 0)), x),
    ("local_merge_alloc", Alloc()(Alloc()(s, n), k, n), Alloc()(s, k, n)),
    ("local_alloc_dimshuffle", Alloc()(DimShuffle(("x", 0))(x), n, k), Alloc()(x, n, k)),
    ("local_alloc_of_constant", Alloc()(T.constant([2.0, 2.0]), k, 2), Alloc()(T.constant(2.0), k, 2)),
    ("local_dimshuffle_alloc", Alloc()(x, k, n).T, Alloc()(DimShuffle((0, "x"))(x), n, k)),
    ("local_reshape_alloc", Reshape()(Alloc()(s, n), k, 2), Alloc()(s, k, 2)),
    ("local_alloc_unary", T.exp(Alloc()(s, n)), Alloc()(T.exp(s), n)),
    ("local_elemwise_alloc", Alloc()(s, length(x, 0)) * x, s * x),
    ("local_elemwise_alloc", Alloc()(s, n) * Alloc()(T.constant(2.0), n), Alloc()(s * T.constant(2.0), n)),
]

SHAPES = [
    ("local_shape_to_shape_i", A.shape, MakeVector()(length(A, 0), length(A, 1))),
    ("local_shape_i_lift", length(T.exp(A).T, 0), length(A, 1)),
    ("local_reshape_chain", Reshape()(Reshape()(M, 12), 3, k), Reshape()(M, 3, k)),
    ("local_useless_reshape", Reshape()(A, length(A, 0), length(A, 1)), A),
    ("local_useless_reshape", Reshape()(x, n), x),
    ("local_useless_specify_shape", SpecifyShape()(M, 4, length(M, 1)), M),
    ("local_useless_specify_shape", MaskedShape()(T.exp(x), length(x, 0)), T.exp(x)),
    (
        "local_useless_check_lengths",
        CheckLengths((("q", 0), ("q", 1)))(A, length(A, 0), n, length(M, 1), 3),
        CheckLengths((("q", 0),))(A, length(A, 0), n),
    ),
    ("local_useless_check_lengths", CheckLengths((("q", 1),))(A, length(M, 1), 3), A),
    ("local_useless_check", T.Check("refused, got {0}")(A, T.constant(True), n), A),
    ("local_reshape_to_dimshuffle", Reshape()(x, 1, length(x, 0)), DimShuffle(("x", 0))(x)),
    ("local_useless_dimshuffle_in_reshape", Reshape()(DimShuffle((0, "x", 1))(M), 6, 2), Reshape()(M, 6, 2)),
    ("local_reshape_lift", Reshape()(T.exp(M), 6, 2), T.exp(Reshape()(M, 6, 2))),
    ("local_split_before_dimshuffle", Reshape()(M.T, 3, 2, 2), DimShuffle((2, 0, 1))(Reshape()(M, 2, 2, 3))),
    ("local_sum_make_vector", T.sum(MakeVector()(s, s, s)), add(s, s, s)),
    ("local_dimshuffle_of_dimshuffle", A.T.T, DimShuffle((0, 1))(A)),
    ("local_useless_dimshuffle", DimShuffle((0, 1))(A), A),
    ("local_dimshuffle_of_ones", DimShuffle((1, 0))(q), q),
    ("local_dimshuffle_lift", (A * x).T, A.T * DimShuffle((0, "x"))(x)),
    ("local_dimshuffle_lift", T.cast(A + s, "float32").T, T.cast(DimShuffle((1, 0))(A) + s, "float32")),
]

INDEXING = [
    ("local_useless_subtensor", T.Subtensor(("s000",))(x), x),
    ("local_useless_slice", A[0 : length(A, 0), 2], A[:, 2]),
    ("local_useless_slice", T.Subtensor(("s101", "s000"))(A, 1, 1), A[1:]),
    ("local_subtensor_merge", x[1:][2:], x[3:]),
    ("local_subtensor_merge", x[1:9][2:4], x[3:5]),
    ("local_subtensor_merge", x[::2][3], x[6]),
    ("local_subtensor_merge", A[2][3], A[2, 3]),
    ("local_subtensor_merge", x[::2][length(y, 0)], x[length(y, 0) * 2]),
    ("local_subtensor_merge", x[::-1][::-1], x),
    ("local_subtensor_make_vector", MakeVector()(s, T.exp(s))[1], T.exp(s)),
    ("local_subtensor_make_vector", MakeVector()(k, n, m)[1:], MakeVector()(n, m)),
    ("local_adv_idx_to_slice", M[arange(1, 3)], T.Subtensor(("s111",))(M, 1, 3, 1)),
    ("local_adv_idx_of_all_positions", x[fill(i, arange(length(x, 0)))], fill(i, x)),
    ("local_subtensor_lift", T.exp(A)[n], T.exp(A[n])),
    ("local_subtensor_lift", (M * N)[1:], M[1:] * N[1:]),
    ("local_subtensor_of_dimshuffle", A.T[1:, n], A[n, 1:]),
    ("local_subtensor_of_alloc", Alloc()(s, 5, 6)[2], Alloc()(s, 6)),
    ("local_subtensor_of_alloc", Alloc()(r, 5, 3)[2], Alloc()(r[0], 3)),
    ("local_subtensor_of_dot", T.dot(A, B)[n, 1:], T.dot(A[n], B[:, 1:])),
    ("local_subtensor_remove_broadcastable_index", r[0], DimShuffle((1,))(r)),
    ("local_subtensor_remove_broadcastable_index", q[:, -1], DimShuffle((0,))(q)),
    ("local_convert_negative_indices", M[-1, n], M[3, n]),
    ("local_useless_dimshuffle_makevector", T.squeeze(MakeVector()(s)), s),
    ("local_useless_dimshuffle_makevector", DimShuffle((0, "x"))(MakeVector()(s)), DimShuffle(("x", "x"))(s)),
    (
        "local_index_that_is_read",
        T.stack([v[1], DimShuffle(("x", "x"))(v[1:2])[0, 0]]),
        T.stack([v[1], DimShuffle(("x", "x"))(v[1])[0, 0]]),
    ),
    (
        "local_function_of_scalar_that_is_read",
        T.exp(DimShuffle(("x", "x"))(s)) + T.exp(s),
        DimShuffle(("x", "x"))(T.exp(s)) + T.exp(s),
    ),
    ("local_subtensor_of_join", Join(0)(M, N)[5, n], N[1, n]),
    ("local_subtensor_of_softmax", Softmax(1)(A)[n], Softmax(0)(A[n])),
    ("local_dimshuffle_subtensor", DimShuffle((0,))(M[n:, 1:2]), M[n:, 1]),
    ("local_subtensor_of_reduce", T.sum(A, axis=1)[n], T.sum(A[n])),
]

_ones = T.constant(1.0)
_selected = T.nonzero(s < A)
_mask = ("a", "a")
_holds, _m, _k = T.gt(s, 0), T.matrix("m"), T.matrix("k")
_first_row = [T.set_subtensor(_m[0], T.sort(_m[0]) + _k[0, 0])]
_last_row = [T.set_subtensor(_m[-1], T.sort(_m[-1]) - _k[0, 0])]


def _choice(then, otherwise):
    return Cond(FunctionGraph([_m, _k], then), FunctionGraph([_m, _k], otherwise))(_holds, A, B)


def _steps(holds, outputs, first):
    return Scan(FunctionGraph([_m, _k], outputs), traced=(False,))(T.cast(holds, "int64"), first, B)


_elements = length(A, 0) * length(A, 1)


def _from_front(count):
    return T.switch(k < 0, k + count, k)


def _exists(count):
    return T.logical_and(_from_front(count) >= 0, _from_front(count) < count)


_exponentials = T.exp(A[_selected])
WRITING = [
    (
        "local_masked_write",
        AdvancedIncSubtensor(_mask, set=True)(A, T.exp(A[_selected]) * s, *_selected),
        T.switch(s < A, T.exp(A) * s, A),
    ),
    (
        "local_masked_write",
        AdvancedIncSubtensor(_mask, set=False)(A, T.exp(A[_selected]), *_selected),
        T.switch(s < A, A + T.exp(A), A),
    ),
    ("local_conditional_write", _choice(_first_row, [_m]), _steps(_holds, _first_row, A)),
    (
        "local_conditional_write",
        _choice(_first_row, _last_row),
        _steps(T.logical_not(_holds), _last_row, _steps(_holds, _first_row, A)),
    ),
    ("local_masked_write", AdvancedIncSubtensor(_mask, set=True)(A, s, *_selected), T.switch(s < A, s, A)),
    ("local_useless_inc_subtensor", T.IncSubtensor(("s000",), set=True)(x, s), fill(x, s)),
    ("local_useless_inc_subtensor", T.IncSubtensor(("s000",), set=False)(x, y), x + y),
    ("local_useless_inc_subtensor", put(M, N, slice(0, 4), slice(None, 9)), N),  # of padding by nothing
    ("local_incsubtensor_of_zeros", add_part(x, 0.0, slice(1, None)), x),
    (
        "local_incsubtensor_of_zeros_to_setsubtensor",
        add_part(T.zeros_like(x), s, n),
        put(T.zeros_like(x), s, n),
    ),
    (
        "local_incsubtensor_of_zeros_to_setsubtensor",
        AdvancedIncSubtensor(("a", "a"), set=False)(T.zeros_like(A), x, arange(length(i, 0)), i),
        AdvancedIncSubtensor(("a", "a"), set=True)(T.zeros_like(A), x, arange(length(i, 0)), i),
    ),
    (
        "local_inc_at_all_positions",
        AdvancedIncSubtensor(("a",), set=False)(T.zeros_like(x), fill(i, y), fill(i, arange(length(x, 0)))),
        SumTo()(fill(fill(i, arange(length(x, 0))), fill(i, y)), T.zeros_like(x)),
    ),
    ("local_setsubtensor_of_constants", put(T.zeros_like(x), 0.0, n), T.zeros_like(x)),
    ("local_subtensor_inc_subtensor", put(A, x, n)[n], fill(A[n], x)),
    ("local_subtensor_inc_subtensor", add_part(A, x, n)[n], A[n] + x),
    ("local_element_of_write", put(x, s, 2)[5], T.switch(T.eq(5, 2), s, x[5])),
    (
        "local_element_of_write",
        put(A, s, n, -1)[n, k],
        T.switch(T.eq(T.switch(T.lt(k, 0), k + length(A, 1), k), -1 + length(A, 1)), s, A[n, k]),
    ),
    ("local_element_of_write", add_part(x, s, 2)[5], T.switch(T.eq(5, 2), x[5] + s, x[5])),
    ("local_set_to_inc_subtensor", put(A, A[n] + x, n), add_part(A, x, n)),
    ("local_write_of_write_same_indices", put(put(A, x, n), y, n), put(A, y, n)),
    (
        "local_writes_of_all",
        add_part(add_part(M, N[:2], slice(None, 2)), N[2:], slice(2, None)),
        M + Join(0)(N[:2], N[2:]),
    ),
    (
        "local_writes_of_all",
        put(add_part(M, N[:, 1:], slice(None), slice(1, None)), N[:, :1], slice(None), slice(None, 1)),
        Join(1)(N[:, :1], M[:, 1:] + N[:, 1:]),
    ),
    (
        "local_writes_of_all",
        add_part(add_part(add_part(M, N[1:2], slice(1, 2)), N[2:], slice(2, None)), N[:1], slice(0, 1)),
        M + Join(0)(N[:1], N[1:2], N[2:]),
    ),
    ("local_inc_of_set_same_indices", add_part(put(A, x, n), y, n), put(A, x + y, n)),
    ("local_inc_of_set_same_indices", add_part(put(A, 0.0, n), y, n), put(A, y, n)),
    (
        "local_inc_of_inc_same_indices",
        add_part(add_part(A, x, n), y, n),
        put(A, add(A[n], x, y), n),
    ),
    (
        "local_inc_of_neighbours",
        add_part(add_part(x, T.exp(x)[1:], slice(1, None)), T.exp(x)[:-1], slice(None, -1)),
        add_part(
            add_part(
                put(x, add(x[1:-1], T.exp(x)[1:][:-1], T.exp(x)[:-1][1:]), slice(1, -1)),
                T.exp(x)[1:][maximum(length(x, 0) - 1, 1) - 1 :],
                slice(maximum(length(x, 0) - 1, 1), None),
            ),
            T.exp(x)[:-1][:1],
            slice(0, T.minimum(1, maximum(length(x, 0) - 1, 0))),
        ),
    ),
    (  # cheap work on an array is done for each part
        "local_inc_of_neighbours",
        add_part(add_part(x, x[1:] * 2.0, slice(1, None)), -(x[1:] * s), slice(None, -1)),
        add_part(
            add_part(
                put(x, add(x[1:-1], x[1:][:-1] * 2.0, -(x[1:][1:] * s)), slice(1, -1)),
                x[1:][maximum(length(x, 0) - 1, 1) - 1 :] * 2.0,
                slice(maximum(length(x, 0) - 1, 1), None),
            ),
            -(x[1:][:1] * s),
            slice(0, T.minimum(1, maximum(length(x, 0) - 1, 0))),
        ),
    ),
    (
        "local_sum_of_parts",
        add_part(add_part(T.zeros_like(x), -x[:-1], slice(1, None)), x[:-1], slice(None, -1)),
        add(
            T.switch(
                put(Alloc()(np.bool_(False), length(x, 0)), np.bool_(True), slice(1, None)),
                -Join(0)(x[:1], x[:-1]),
                0.0,
            ),
            T.switch(put(Alloc()(np.bool_(False), length(x, 0)), np.bool_(True), slice(None, -1)), x, 0.0),
        ),
    ),
    ("local_set_of_read_same_indices", put(A, A[n], n), A),
    ("local_write_of_part", put(A, put(A[n], s, k), n), put(A, s, n, k)),
    ("local_write_of_part", put(A, add_part(A[n], x, slice(1, None)), n), add_part(A, x, n, slice(1, None))),
    (
        "local_write_of_reversed",
        put(A[::-1], x, k)[::-1],
        put(A, x, T.switch(_exists(length(A, 0)), length(A, 0) - 1 + _from_front(length(A, 0)) * -1, length(A, 0))),
    ),
    ("local_write_of_transposed", put(A.T, s, n, k).T, put(A, s, k, n)),
    (
        "local_write_of_transposed",
        T.transpose(add_part(T.transpose(K, (2, 0, 1)), B, slice(None), n), (1, 2, 0)),
        add_part(K, B.T, n),
    ),
    (
        "local_write_of_reshaped",
        Reshape()(put(Reshape()(A, _elements), s, k), length(A, 0), length(A, 1)),
        put(
            A,
            s,
            T.switch(_exists(_elements), _from_front(_elements) // length(A, 1), length(A, 0)),
            _from_front(_elements) % length(A, 1),
        ),
    ),
    (
        "local_write_of_reshaped",
        Reshape()(put(Reshape()(K, length(K, 0) * length(K, 1), length(K, 2)), x, k), *T.lengths_of(K)),
        put(
            K,
            x,
            T.switch(
                _exists(length(K, 0) * length(K, 1)),
                _from_front(length(K, 0) * length(K, 1)) // length(K, 1),
                length(K, 0),
            ),
            _from_front(length(K, 0) * length(K, 1)) % length(K, 1),
        ),
    ),
    ("local_useless_inc_subtensor_alloc", add_part(A, Alloc()(s, n), k), add_part(A, s, k)),
    ("local_integer_add_of_write", I + add_part(-I, j, n), add_part(I + (-I), j, n)),
    ("local_add_of_write", A + add_part(T.exp(A), x, n), add_part(A + T.exp(A), x, n)),
    ("local_add_of_sparse_write", A + add_part(T.zeros_like(A), x, n), add_part(A, x, n)),
    ("local_sub_from_sparse_write", add_part(T.zeros_like(A), x, n) - A, add_part(-A, x, n)),
    (
        "local_sum_of_sparse_write",
        T.sum(AdvancedIncSubtensor(("a", "a"), set=False)(T.zeros_like(A), x, i, j), axis=1),
        AdvancedIncSubtensor(("a",), set=False)(Alloc()(T.constant(0.0), length(A, 0)), x, fill(j, i)),
    ),
]

JOINS = [
    ("local_join_1", Join(0)(x), x),
    ("local_join_empty", Join(0)(x, T.constant([], "float64"), y), Join(0)(x, y)),
    ("local_join_of_join", Join(0)(Join(0)(x, y), x), Join(0)(x, y, x)),
    ("local_join_make_vector", Join(0)(MakeVector()(k, n), MakeVector()(m)), MakeVector()(k, n, m)),
    ("local_join_subtensors", Join(0)(A[1:3], A[3:5]), A[1:5]),
    ("local_elemwise_of_join", T.exp(Join(0)(A, B)), Join(0)(T.exp(A), T.exp(B))),
    ("local_elemwise_of_join", Join(1)(A, M) * s, Join(1)(A * s, M * s)),
    ("local_elemwise_of_join", Join(0)(M, N) + Join(0)(N, M), Join(0)(M + N, N + M)),
    (
        "local_elemwise_of_padded",
        put(Alloc()(s, n, 9), A, slice(1, 3)) * 2.0,
        put(Alloc()(s * 2.0, n, 9), A * 2.0, slice(1, 3)),
    ),
    ("local_sum_of_join", T.sum(Join(0)(A, B)), T.sum(A) + T.sum(B)),
    ("local_sum_of_join", T.sum(Join(0)(A, B), axis=1), Join(0)(T.sum(A, axis=1), T.sum(B, axis=1))),
    ("local_sum_of_join", T.prod(Join(1)(A, B), axis=0), Join(0)(T.prod(A, axis=0), T.prod(B, axis=0))),
]

_pairs = T.tensor("pairs", shape=(None, 2))
_squares = T.tensor("squares", shape=(None, 2, None, 2))

REDUCTIONS = [
    ("local_op_of_op", T.sum(T.sum(A, axis=0), axis=0), T.sum(A)),
    ("local_useless_reduce", Reduce(add, ())(x), x),
    ("local_reduce_broadcastable", T.sum(r, axis=0), DimShuffle((1,))(r)),
    ("local_reduce_broadcastable", T.sum(r), T.sum(DimShuffle((1,))(r))),
    ("local_reduce_of_dimshuffle", T.sum(A.T, axis=0), T.sum(A, axis=1)),
    ("local_reduce_of_permuted", T.sum(T.exp(A.T) * keep(x, 1), axis=1), T.sum(T.exp(A) * keep(x, 0), axis=0)),
    (
        "local_reduce_of_permuted",
        T.max(DimShuffle((2, 1, 0))(K) * s, axis=2),
        DimShuffle((1, 0))(T.max(K * s, axis=0)),
    ),
    ("local_useless_sum_to", SumTo()(M, v), T.sum(M, axis=0)),
    ("local_sum_of_neg", T.sum(-A, axis=0), -T.sum(A, axis=0)),
    ("local_integer_sum_mul_by_scalar", T.sum(I * n, axis=0), T.sum(I, axis=0) * n),
    ("local_opt_alloc", T.sum(Alloc()(x, 4, length(x, 0)), axis=0), Alloc()(x * T.constant(4.0), length(x, 0))),
    ("local_opt_alloc", T.max(Alloc()(s, 4)), s),
    (
        "local_opt_alloc",
        T.sum(Alloc()(s, n)),
        T.switch(T.eq(T.cast(n, "float64"), 0), T.constant(0.0), s * T.cast(n, "float64")),
    ),
    ("local_opt_alloc", T.sum(Alloc()(T.constant(2.0), n, k)), T.constant(2.0) * T.cast(n * k, "float64")),
    ("local_reduce_join", T.sum(T.stack([x, y]), axis=0), x + y),
    ("local_reduce_join", T.max(T.stack([x, y] * 5), axis=0), T.maximum(x, y)),
    ("local_reduce_of_few", T.sum(_pairs, axis=1), _pairs[:, 0] + _pairs[:, 1]),
    (
        "local_reduce_of_few",
        T.sum(_squares, axis=(1, 3)),
        functools.reduce(T.add, [_squares[:, a, :, b] for a in (0, 1) for b in (0, 1)]),
    ),
    ("local_max_to_min", -T.max(-A, axis=0), T.min(A, axis=0)),
    ("local_argmax_pushdown", T.argmax(T.exp(A), axis=1), T.argmax(A, axis=1)),
    ("local_sum_mul_by_scalar", T.sum(A * s, axis=0), T.sum(A, axis=0) * s),
    ("local_sum_div_dimshuffle", T.sum(A / s, axis=0), T.sum(A, axis=0) / s),
]

PRODUCTS = [
    (
        "local_sumsqr2dot",
        T.sum(T.square(DimShuffle(("x", 0, 1))(M) * DimShuffle((0, "x", 1))(N)), axis=(1, 2)),
        T.dot(T.square(N), T.sum(T.square(M), axis=0)),
    ),
    ("local_lift_transpose_through_dot", T.dot(A, B).T, T.dot(B.T, A.T)),
    ("local_integer_0_dot_x", T.dot(T.zeros_like(I), J), Alloc()(T.constant(0), length(I, 0), length(J, 1))),
    ("local_0_dot_x", T.dot(T.zeros_like(A), B), Alloc()(T.constant(0.0), length(A, 0), length(B, 1))),
]

_soft = Softmax(1)(A)
_logs = LogSoftmax(1)(A)
_rows = arange(length(i, 0))
_top = Top(1)(A)
_scaled = T.mul(B / _soft, _soft)
_written = AdvancedIncSubtensor(("a", "a"), set=False)(T.zeros_like(A), x / _soft[_rows, i], _rows, i) * _soft
_unscaled = AdvancedIncSubtensor(("a", "a"), set=False)(T.zeros_like(A), x, _rows, i)


def softmax_grad(scaled, y=_soft):
    return scaled - y * T.sum(scaled, axis=1, keepdims=True)


_shifted = A - T.max(A, axis=1, keepdims=True)

SOFTMAX = [
    ("local_softmax_stabilize", T.exp(A) / T.sum(T.exp(A), axis=1, keepdims=True), Softmax(1, literal=True)(A)),
    ("local_log_sum_exp", T.log(T.sum(T.exp(A), axis=1)), LogSumExp(1)(A)),
    ("local_log_sum_exp", T.log(T.sum(T.exp(A), axis=0, keepdims=True)), keep(LogSumExp(0)(A), 0)),
    ("local_log_sum_exp", T.log(T.sum(T.exp(A))), LogSumExp(0)(LogSumExp(1)(A))),
    ("local_log_softmax_from_logsumexp", A - keep(LogSumExp(1)(A), 1), LogSoftmax(1, literal=True)(A)),
    ("local_log_softmax_of_shifted", _shifted - T.log(T.sum(T.exp(_shifted), axis=1, keepdims=True)), LogSoftmax(1)(A)),
    ("local_log_softmax_of_shifted", _shifted - keep(T.log(T.sum(T.exp(_shifted), axis=1)), 1), LogSoftmax(1)(A)),
    ("local_softmax_of_shifted", Softmax(1, literal=True)(_shifted), Softmax(1)(A)),
    ("local_softmax_of_shifted", LogSoftmax(1)(_shifted), LogSoftmax(1)(A)),
    ("local_logsoftmax", T.log(Softmax(1)(A)), LogSoftmax(1)(A)),
    ("local_advanced_indexing_crossentropy_onehot", T.log(_soft[_rows, i]), LogSoftmax(1)(A)[_rows, i]),
    ("local_logsoftmax_grad", softmax_grad(_scaled), softmax_grad(fill(_soft, B))),
    ("local_logsoftmax_grad", softmax_grad(_written), softmax_grad(_unscaled)),
    ("local_exp_log_softmax", T.exp(LogSoftmax(1)(A)), Softmax(1)(A)),
    (
        "local_picked_log_softmax",
        _logs[_rows, i],
        A[_rows, i] - _top[_rows] - T.log(T.sum(T.exp(A - keep(_top, 1)), axis=1))[_rows],
    ),
    ("local_softmax_beside_log_softmax", T.stack([Softmax(1)(A), _logs]), T.stack([T.exp(_logs), _logs])),
    ("local_argmax_of_softmax", T.argmax(Softmax(1)(A), axis=1), T.argmax(A, axis=1)),
]

_places = keep(arange(n), 1) + arange(k)
_windows = Strided()(x, 3, n, 1, 1)
_whole = T.tensor("whole", shape=(12,))

STRIDED = [
    ("local_read_at_even_places", x[_places], Strided()(x, T.maximum(n, 0), T.maximum(k, 0), 1, 1)),
    ("local_read_at_even_constant_places", x[T.constant([[1, 2], [4, 5]])], Strided()(x[1:], 2, 2, 3, 1)),
    (
        "local_read_at_even_constant_places",
        A[T.constant([[0, 1], [1, 2]])],
        DimShuffle((1, 2, 0))(Strided()(A.T, 2, 2, 1, 1)),
    ),
    ("local_read_at_even_places", x[keep(arange(n), 1) + arange(3)], Strided()(x, 3, T.maximum(n, 0), 1, 1).T),
    (
        "local_dot_with_windows",
        T.Dot()(_windows.T, T.constant([1.0, 2.0, 3.0])),
        T.sum(DimShuffle((1, 0))(_windows) * DimShuffle(("x", 0))(T.constant([1.0, 2.0, 3.0])), axis=1),
    ),
    ("local_stack_of_moved_slices", T.stack([_whole[p : p + 3] for p in range(5)]), Strided()(_whole, 5, 3, 1, 1)),
    (
        "local_stack_of_moved_slices",
        T.stack([_whole[p : p + 2] for p in range(1, 10, 2)]),
        Strided()(_whole[1:], 5, 2, 2, 1),
    ),
]

ROWS = [*STRIDED, *FILLS, *SHAPES, *INDEXING, *WRITING, *JOINS, *REDUCTIONS, *PRODUCTS, *SOFTMAX]

_twice = T.exp(A)
UNCHANGED = [
    ("local_read_at_even_constant_places", x[T.constant([[0, 1], [1, 3]])]),  # not even
    ("local_read_at_even_constant_places", x[T.constant([[0, -1], [1, 0]])]),  # backwards
    ("local_read_at_even_places", x[_places - 1]),  # the first place is negative
    ("local_dot_with_windows", T.Dot()(A.T, x)),  # each element is in memory once
    ("local_stack_of_moved_slices", T.stack([_whole[p : p + 3] for p in (0, 1, 2, 3, 5)])),  # not even
    ("local_stack_of_moved_slices", T.stack([_whole[p : p + 3] for p in range(4)])),  # few: read where they lie
    ("local_useless_fill", fill(x, y)),  # x may be longer than y
    ("local_elemwise_alloc", Alloc()(s, n) * x),  # x may be of length 1
    ("local_useless_reshape", Reshape()(A, n, k)),
    ("local_reshape_to_dimshuffle", Reshape()(A, n, k)),
    ("local_useless_check", T.Check("refused")(A, n > 0)),
    ("local_dimshuffle_lift", T.stack([_twice.T, _twice])),  # computed once, read twice
    ("local_dimshuffle_of_ones", DimShuffle((0, 2, 1))(T.tensor("cube", shape=(1, 3, 3)))),
    ("local_useless_dimshuffle_in_reshape", Reshape()(A.T, n, k)),
    ("local_split_before_dimshuffle", Reshape()(M.T, 2, 6)),  # elements of both axes are in one
    ("local_split_before_dimshuffle", Reshape()(A.T, n, k)),
    ("local_subtensor_remove_broadcastable_index", r[n]),  # n may be out of range
    ("local_dimshuffle_subtensor", DimShuffle((0,))(q[:, -5:])),  # -5 is no position of it
    ("local_index_that_is_read", DimShuffle(("x", "x"))(v[1:2])),  # nothing else reads v[1]
    ("local_index_that_is_read", T.stack([M[1, 0], DimShuffle(("x",))(v[0])[0]])),  # it is an index already
    ("local_function_of_scalar_that_is_read", T.exp(DimShuffle(("x", "x"))(s))),  # nothing else reads exp(s)
    ("local_subtensor_of_join", Join(0)(x, y)[1]),  # x may be empty
    ("local_subtensor_of_softmax", Softmax(0)(A)[n]),  # the index is along the axis of the softmax
    ("local_subtensor_merge", x[1:4][n]),  # n may be beyond the slice
    ("local_subtensor_merge", x[1:4][length(y, 0)]),  # y may be longer than the slice
    ("local_subtensor_merge", x[n:][2:]),  # n may be negative
    ("local_useless_slice", x[0::-1]),  # the first element alone
    ("local_useless_slice", M[:2]),
    ("local_adv_idx_to_slice", x[arange(1, 3)]),  # x may be shorter
    ("local_adv_idx_of_all_positions", x[fill(i, arange(length(y, 0)))]),  # y may be shorter
    (
        "local_inc_at_all_positions",
        AdvancedIncSubtensor(("a",), set=False)(y, fill(i, x), fill(i, arange(length(y, 0)))),
    ),
    ("local_subtensor_lift", (A * x)[n]),  # x may be broadcast
    ("local_incsubtensor_of_zeros_to_setsubtensor", AdvancedIncSubtensor(("a",), set=False)(T.zeros_like(x), s, i)),
    ("local_set_to_inc_subtensor", AdvancedIncSubtensor(("a",), set=True)(x, x[i] + y, i)),  # positions named twice
    ("local_subtensor_inc_subtensor", AdvancedSubtensor(("a",))(AdvancedIncSubtensor(("a",), set=True)(x, y, i), i)),
    ("local_join_subtensors", Join(0)(A[1:k], A[k:5])),  # k may be less than 1
    ("local_conditional_write", _choice(_first_row, [_k])),  # another array
    ("local_conditional_write", _choice([T.set_subtensor(_m[0, 0], _k[1, 1])], [_m])),  # of single elements
    ("local_masked_write", AdvancedIncSubtensor(_mask, set=True)(A, B[_selected], *_selected)),  # B may be longer
    ("local_masked_write", AdvancedIncSubtensor(_mask, set=True)(A, T.exp(A[_selected]), *_selected[::-1])),
    (
        "local_masked_write",
        T.stack([AdvancedIncSubtensor(_mask, set=True)(A, _exponentials, *_selected)[0, 0], T.sum(_exponentials)]),
    ),  # the values are read otherwise, too
    ("local_elemwise_of_join", Join(0)(A, B) * C),  # C may be broadcast
    ("local_elemwise_of_join", Join(0)(A, B, A, B, A) * s),  # too many kernels
    ("local_elemwise_of_padded", put(C, A, slice(1, 3)) * s),
    ("local_sum_of_join", T.max(Join(0)(A, B))),  # A may have no elements
    ("local_reduce_broadcastable", T.sum(A, axis=0)),
    ("local_op_of_op", T.max(T.sum(A, axis=0), axis=0)),
    ("local_opt_alloc", T.max(Alloc()(s, n))),  # of no elements, if n is 0
    ("local_reduce_join", T.sum(T.stack([x, y]), axis=1)),  # along another axis
    ("local_reduce_join", T.sum(T.stack([x, y] * 5), axis=0)),  # of too many addends
    ("local_reduce_join", T.sum(Join(0)(A[:, None, 0], B[:, None, 0]), axis=1)),  # and of length 1
    ("local_reduce_of_dimshuffle", T.sum(DimShuffle((2, 1, 0))(K), axis=0)),  # the axes that stay change places
    ("local_reduce_of_permuted", T.sum(T.exp(A.T), axis=0)),  # along the last axis of A
    ("local_reduce_of_permuted", T.sum(T.exp(A.T) * B, axis=1)),  # B is not permuted
    ("local_reduce_of_permuted", T.sum(A.T * T.exp(s), axis=(0, 1))),
    ("local_reduce_of_few", T.sum(A, axis=1)),  # of unknown length
    ("local_reduce_of_few", T.sum(_squares, axis=1)),  # vectors run along the last axis already
    ("local_reduce_of_few", T.sum(T.exp(_pairs), axis=1)),  # computed by an elementwise op
    ("local_integer_sum_mul_by_scalar", T.sum(I * row, axis=0)),  # I may be broadcast
    ("local_useless_sum_to", SumTo()(A, x)),
    ("local_sum_to_lengths", SumTo()(C, _product) + _product),  # the product is read otherwise, too
    ("local_log_sum_exp", T.log(Reduce(maximum, (1,))(T.exp(A)))),
    ("local_log_softmax_from_logsumexp", A - LogSumExp(1)(A)),
    ("local_log_sum_exp", T.log(T.sum(T.exp(_shifted), axis=1))),  # the largest exponential is 1 already
    ("local_softmax_of_shifted", Softmax(0)(_shifted)),  # along another axis
    ("local_softmax_of_shifted", Softmax(1)(A - T.max(B, axis=1, keepdims=True))),
    ("local_log_softmax_of_shifted", A - T.log(T.sum(T.exp(A), axis=1, keepdims=True))),
    ("local_exp_log_softmax", T.stack([T.exp(_logs), _logs])),  # the logarithm is needed anyway
    ("local_picked_log_softmax", _logs[_rows, i] * T.sum(_logs)),  # the logarithms are needed anyway
    ("local_picked_log_softmax", LogSoftmax(0)(A)[_rows, i]),
    ("local_fill_like_picked", fill(A[i], x)),  # the rows of A give the shape, too
    ("local_softmax_beside_log_softmax", T.stack([Softmax(1)(A), LogSoftmax(0)(A)])),  # along another axis
]
