"""Names of Theano without a meaning here: each is refused with its reason when it is used."""

from __future__ import annotations

from typing import Any

REASONS = {
    "no tensors are sent between processes; call MPI around the function":
        "MPIRecv MPIRecvWait MPISend MPISendWait isend irecv send recv mpi_send_wait_cmp mpi_tag_cmp mpi_cmps "
        "mpi_enabled mpi_keys mpi_send_wait_key mpi_tag_key comm",
    "an index is written x[...]; slices and None are no variables":
        "slicetype SliceType SliceConstant NoneConst NoneTypeT none_type_t",
    "scalars are tensors of rank 0":
        "numpy_scalar int32_t ScalarSoftsign scalar_constructor",
    "a shape and an index are checked by the core":
        "adv_index_broadcastable_pattern get_canonical_form_slice check_advanced_indexing_dimensions get_idx_list "
        "get_scalar_constant_value_elemwises mod_check",
    "a helper of Theano's own files; Python and NumPy have it":
        "izip join_ setdefault key_to_cmp Iterable x constructor constant_cache TensorConstantSignature "
        "sparse_module_ref rpath test bartlett_ fill_diagonal_ fill_diagonal_offset_ int_t bool_t Default "
        "LoadFromDisk register_transfer",
    "expressions are printed by theano.printing.debugprint and pp":
        "SubtensorPrinter DimShufflePrinter PPrinter PatternPrinter OperatorPrinter FunctionPrinter LeafPrinter "
        "IgnorePrinter DefaultPrinter PrinterState default_printer leaf_printer var_descriptor hex_digest",
    "ops have no C parameters; an op of your own has perform, or C by ag.elementwise_op":
        "ParamsType Params EnumList EnumType CEnumType COp CLinkerObject CLinkerOp GCC_compiler OpenMPOp",
    "functions are compiled by the engines of Arignote; give theano.function a mode":
        "CLinker Linker LocalLinker DualLinker OpWiseCLinker PerformLinker WrapLinker WrapLinkerMany Container "
        "FunctionMaker predefined_linkers predefined_optimizers register_linker register_optimizer register_mode "
        "function_dump ProfileStats ScanProfileStats",
    "arrays are laid out by the compiler; leave the call out":
        "CpuContiguous cpu_contiguous",
    "it skips zeros; write T.prod(T.switch(T.eq(x, 0), 1, x)) with theano.tensor as T":
        "mul_without_zeros MulWithoutZeros ProdWithoutZeros",
    "the core takes this derivative; use theano.grad":
        "crossentropy_categorical_1hot_grad crossentropy_softmax_1hot_with_bias_dx softmax_grad PoolGrad "
        "MaxPoolGrad AveragePoolGrad DownsampleFactorMaxGradGrad MaxPoolRop CrossentropyCategorical1HotGrad "
        "CrossentropySoftmax1HotWithBiasDx SoftmaxGrad EighGrad ExpmGrad EigvalshGrad CholeskyGrad CSMGrad csm_grad "
        "StructuredDotGradCSC StructuredDotGradCSR sdg_csc sdg_csr structured_dot_grad",
    "rewrites are rules of the database; see docs/rules.md":
        "crossentropy_to_crossentropy_with_softmax crossentropy_to_crossentropy_with_softmax_with_bias "
        "graph_merge_softmax_with_crossentropy_softmax softmax_graph softmax_simplifier "
        "local_advanced_indexing_crossentropy_onehot local_advanced_indexing_crossentropy_onehot_grad "
        "local_argmax_pushdown local_logsoftmax local_logsoftmax_grad local_softmax_with_bias "
        "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc "
        "local_softmax_grad_to_crossentropy_with_softmax_grad EquilibriumDB SequenceDB ProxyDB LocalGroupDB DB "
        "MergeOptimizer Optimizer optimizer inplace_optimizer",
    "graphs are immutable, and no feature watches them":
        "Feature Bookkeeper History Validator ReplaceValidate NodeFinder PrintListener DestroyHandler Supervisor",
    "a test value is in x.tag.test_value; x.eval({...}) computes others":
        "get_test_value missing_test_message",
    "time is measured by f.profile, docs/howto/read-a-profile.md":
        "grad_time mode_not_slow",
    "only csr and csc matrices have functions here; convert by x.tocsr()":
        "bsr_matrix bsr_dmatrix bsr_fmatrix",
    "a sparse matrix is indexed x[rows] for csr, x[:, columns] for csc, or x[i, j]; use x.toarray()[...]":
        "GetItemList GetItemListGrad get_item_list GetItem2Lists GetItem2ListsGrad get_item_2lists GetItem2d "
        "get_item_2d GetItemScalar get_item_scalar",
    "a comparison of sparse matrices is dense; compare x.toarray()":
        "EqualSS EqualSD NotEqualSS NotEqualSD LessThanSS LessThanSD GreaterThanSS GreaterThanSD LessEqualSS "
        "LessEqualSD GreaterEqualSS GreaterEqualSD",
}  # fmt: skip
"""Reason -> names."""
INSTEAD = {
    "theano.tensor": {
        "cumsum": "CumsumOp", "cumprod": "CumprodOp", "repeat": "RepeatOp", "searchsorted": "SearchsortedOp",
        "bartlett": "Bartlett", "fill_diagonal": "FillDiagonal", "fill_diagonal_offset": "FillDiagonalOffset",
        "unique": "Unique", "unravel_index": "UnravelIndex", "ravel_multi_index": "RavelMultiIndex",
        "sum": "CAReduceDtype",
    },
    "theano.tensor.nlinalg": {
        "pinv": "MatrixPinv", "svd": "SVD", "qr": "QRFull QRIncomplete", "eigh": "Eigh", "eig": "Eig",
        "tensorinv": "TensorInv", "tensorsolve": "TensorSolve",
    },
    "theano.tensor.slinalg": {"expm": "Expm", "eigvalsh": "Eigvalsh"},
    "theano.typed_list": {
        "getitem": "GetItem", "append": "Append", "extend": "Extend", "insert": "Insert", "remove": "Remove",
        "reverse": "Reverse", "index_": "Index", "count": "Count", "length": "Length",
        "make_list": "MakeList TypedListConstant",
    },
    "theano.sparse": {
        "CSR": "CSM", "csm_properties": "CSMProperties", "dense_from_sparse": "DenseFromSparse",
        "csr_from_dense": "SparseFromDense", "transpose": "Transpose", "neg": "Neg", "col_scale": "ColScaleCSC",
        "row_scale": "RowScaleCSC", "sp_sum": "SpSum", "diag": "Diag", "square_diagonal": "SquareDiagonal",
        "ensure_sorted_indices": "EnsureSortedIndices", "hstack": "HStack", "vstack": "VStack", "remove0": "Remove0",
        "add": "AddSS AddSSData add_s_s_data AddSD add_s_s add_s_d", "mul": "MulSS MulSD mul_s_s mul_s_d",
        "mul_s_v": "MulSV", "structured_add_s_v": "StructuredAddSV", "true_dot": "TrueDot", "dot": "Dot",
        "structured_dot": "StructuredDot", "sampling_dot": "SamplingDot", "usmm": "Usmm",
        "structured_add": "structured_monoid", "sparse_grad": "ConstructSparseFromList construct_sparse_from_list",
    },
}  # fmt: skip
"""Module -> function that works -> the names of Theano's ops that it stands for."""


def refused(name: str, reason: str) -> Any:
    """A class of this name that says why it is not there as soon as it is called."""

    def refuse(cls: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"theano's {name} is not available: {reason}")

    return type(name, (), {"__new__": refuse, "__doc__": f"Refused: {reason}.", "reason": reason})


REFUSED = {name: refused(name, reason) for reason, names in REASONS.items() for name in names.split()} | {
    name: refused(name, f"it is an op; call {module}.{function}")
    for module, functions in INSTEAD.items() for function, names in functions.items() for name in names.split()
}  # fmt: skip
WHOLE = {
    "theano.gpuarray": "functions run on the processor",
    "theano.gpuarray.dnn": "functions run on the processor; theano.tensor.nnet has the same functions",
    "theano.sandbox.cuda": "functions run on the processor",
    "theano.sandbox.cuda.dnn": "functions run on the processor; theano.tensor.nnet has the same functions",
    "theano.misc": "Theano's own scripts",
}
"""Modules that are refused as a whole, and the reason; flags in them say that nothing is there."""
ABSENT = {
    "theano.gpuarray": ("pygpu_activated",), "theano.gpuarray.dnn": (),
    "theano.sandbox.cuda": ("cuda_available", "cuda_enabled"), "theano.sandbox.cuda.dnn": (),
}  # fmt: skip
"""Names in them that are False."""
