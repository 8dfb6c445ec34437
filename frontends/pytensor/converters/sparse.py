"""Sparse matrices: the functions of the Theano front end on bundles of arrays, and products with their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.sparse import basic, math

from .... import ops as T
from ....ops.shapes.conditions import checked
from ...theano.stored import ops as stored
from ...theano.stored import products
from ...theano.stored.types import SparseType, SparseVariable
from ...theano.tensors.variables import wrap
from ..forms import SparseTerm
from ..table import Call, converter
from ..versions import classes
from .scalars import as_dtype

FUNCTIONS: dict[type, Callable[..., Any]] = {
    basic.Transpose: stored.transpose, basic.DenseFromSparse: stored.dense_from_sparse, basic.Remove0: stored.remove0,
    basic.EnsureSortedIndices: stored.ensure_sorted_indices,
    basic.ColScaleCSC: stored.col_scale, basic.RowScaleCSC: stored.row_scale,
    math.Dot: products.dot, math.StructuredDot: products.structured_dot, math.SamplingDot: products.sampling_dot,
    math.Usmm: products.usmm,
}  # fmt: skip
"""Functions of the Theano front end with the meaning of an op."""


def lifted(term: Any) -> Any:
    """Return a value as the Theano front end has it."""
    if not isinstance(term, SparseTerm):
        return wrap(term)
    return SparseVariable(SparseType(term.format, term.data.dtype), tuple(wrap(v) for v in term[:5]))


def lowered(value: Any, kind: Any) -> Any:
    """Return a value of the Theano front end as ours, in the dtype of an output's type."""
    if not isinstance(value, SparseVariable):
        return as_dtype(value.core, kind.dtype)
    data, indices, indptr, rows, columns = (part.core for part in value.parts)
    return SparseTerm(as_dtype(data, kind.dtype), indices, indptr, rows, columns, value.format)


def _by_function(function: Callable[..., Any]) -> Callable[..., Any]:
    def convert(call: Call, *terms: Any) -> Any:
        output = call.node.outputs[0].type
        found = function(*map(lifted, terms))
        given = getattr(found, "format", None)
        if given != getattr(output, "format", None):
            return NotImplemented
        return lowered(found, output)

    return convert


_RENAMED: dict[tuple[str, str], Callable[..., Any]] = {
    ("AddSS", "AddSparseSparse"): stored.add, ("AddSD", "AddSparseDense"): stored.add,
    ("SparseSparseMultiply", "MultiplySparseSparse"): stored.mul,
    ("SparseDenseMultiply", "MultiplySparseDense"): stored.mul,
    ("SparseDenseVectorMultiply", "MultiplySparseDenseVector"): stored.mul_s_v,
    ("StructuredAddSV", "StructuredAddSparseDenseVector"): stored.structured_add_s_v,
}  # fmt: skip
"""The same by the names of ops in versions 2 and 3."""

for _kind, _function in FUNCTIONS.items():
    converter(_kind)(_by_function(_function))
for _names, _function in _RENAMED.items():
    converter(*classes(math, *_names))(_by_function(_function))


@converter(basic.Diag)
def sparse_diagonal(call: Call, x: Any) -> Any:
    data = checked(x.data, T.eq(x.rows, x.columns), "Diag only apply on square matrix")
    return lowered(stored.diag(lifted(x._replace(data=data))), call.node.outputs[0].type)


@converter(basic.SparseFromDense)
def sparse_from_dense(call: Call, x: Any) -> Any:
    function = {"csr": stored.csr_from_dense, "csc": stored.csc_from_dense}[call.op.format]
    return lowered(function(lifted(x)), call.node.outputs[0].type)


@converter(basic.CSM)
def sparse_of_parts(call: Call, data: Any, indices: Any, indptr: Any, lengths: Any) -> Any:
    indices, indptr = (as_dtype(v, "int32") for v in (indices, indptr))
    rows, columns = (as_dtype(lengths[k], "int64") for k in (0, 1))
    return SparseTerm(data, indices, indptr, rows, columns, call.op.format)


@converter(basic.CSMProperties)
def parts_of_sparse(call: Call, x: Any) -> Any:
    dtypes = call.dtypes
    found = (x.data, x.indices, x.indptr, T.stack([x.rows, x.columns]))
    return tuple(as_dtype(v, dtype) for v, dtype in zip(found, dtypes, strict=True))


@converter(math.StructuredDotGradCSR, math.StructuredDotGradCSC)
def gradient_of_elements(call: Call, indices: Any, indptr: Any, dense: Any, gradient: Any) -> Any:
    if isinstance(dense, SparseTerm) or isinstance(gradient, SparseTerm):
        return NotImplemented
    counts = as_dtype(indptr[1:] - indptr[:-1], "int64")
    major = T.repeat(T.arange(T.lengths_of(counts)[0]), counts)
    by_rows = isinstance(call.op, math.StructuredDotGradCSR)
    rows, columns = (major, indices) if by_rows else (indices, major)
    return as_dtype(T.sum(gradient[rows] * dense[columns], axis=-1), call.dtypes[0])


converter(math.SpSum)(lambda call, x: lowered(stored.sp_sum(lifted(x), call.op.axis), call.node.outputs[0].type))
converter(basic.Cast)(lambda call, x: x._replace(data=as_dtype(x.data, call.dtypes[0])))
