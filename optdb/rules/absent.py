"""Rewrites of Theano and PyTensor that are absent here, and why; old queries may name them without effect.

    ag.optdb["use_c_blas"]            says what became of it
    mode.excluding("use_c_blas")      leaves out what is not there
"""

from __future__ import annotations

from ...record import record

_AWAITED = {
    "loops that are joined": """
        scanOp_merge scanOp_merge_inouts scan_merge scan_merge_inouts scan_merge_duplicate_inputs
    """,
    "sparse matrices": """
        local_dense_from_sparse_sparse_from_dense local_csm_properties_csm local_usmm
        local_usmm_csc_dense_inplace local_usmm_csx local_mul_s_d local_mul_s_v local_structured_add_s_v
        local_sampling_dot_csr local_inplace_addsd_ccode local_inplace_remove0
        local_inplace_sparse_block_gemv local_inplace_sparse_block_outer local_addsd_ccode local_csm_grad_c
        local_structured_dot
    """,
    "batch normalization as an op": """
        local_abstract_batch_norm_train local_abstract_batch_norm_train_grad
        local_abstract_batch_norm_inference
    """,
    "topk": """
        local_useless_topk
    """,
    "typed lists": """
        typed_list_inplace_opt
    """,
    "choices in place": """
        cond_make_inplace
    """,
    "random numbers as ops": """
        random_make_inplace
    """,
    "graphs as ops": """
        inline_ofg_expansion
    """,
    "assertions as ops": """
        local_remove_all_assert local_remove_useless_assert
    """,
    "views of diagonals": """
        local_inplace_DiagonalSubtensor
    """,
    "Kronecker and block-diagonal products of matrices as ops": """
        det_of_blockdiag det_of_kronecker diag_of_blockdiag diag_of_kronecker fuse_blockdiagonal
        local_block_diag_dot_to_dot_block_diag det_of_permutation batched_vector_b_solve_to_matrix_b_solve
        lift_linalg_of_expanded_matrices scan_split_non_sequence_decomposition_and_solve
        scan_split_non_sequence_decomposition_and_solve_jax solve_sylvester_of_diag
        jax_bilinear_lyapunov_to_direct
    """,
    "a reduction fused with a gather": """
        fuse_indexed_into_elemwise
    """,
    "Bessel, polygamma and hypergeometric functions": """
        local_log_iv local_log_kv local_polygamma_to_digamma local_polygamma_to_tri_gamma
        local_useless_2f1grad_loop split_2f1grad_loop local_sigmoid_logit
    """,
    "products of powers and exponentials joined": """
        local_mul_exp_to_exp_add local_mul_pow_to_pow_add local_sign_div local_log_pow local_log_prod_sqr
        constant_fold_branches_of_add_mul
    """,
    "lookups in a result of unique": """
        local_Unique_lift local_Unique_scalar
    """,
    "traces of a loop cut to the last steps by several passes: scanOp_save_mem": """
        scan_reduce_nsteps scan_reduce_trace_prealloc scan_reduce_trace_no_prealloc scan_save_mem_prealloc
        scan_save_mem_no_prealloc scan_remove_unused scan_remove_unused_top scan_sit_sot_to_untraced
    """,
}
"""Missing capability -> the rewrites that come with it."""

_UNNEEDED = {
    "a convolution is a product in C, with no op between": """
        local_abstractconv_gemm local_abstractconv_gradweight_gemm local_abstractconv_gradinputs_gemm
        local_abstractconv3d_gemm local_abstractconv3d_gradweight_gemm local_abstractconv3d_gradinputs_gemm
        local_conv2d_cpu local_conv2d_gradweight_cpu local_conv2d_gradinputs_cpu AbstractConvCheck
    """,
    "bodies of loops go through the passes of the query themselves": """
        constant_folding_for_scan2 scanop_remove_constants_and_unused_inputs2
        scanOp_remove_constants_and_unused_inputs3 optimize_inner_graph ofg_inner_graph
        optimize_einsum_inner_graph scan_inline_invariant_constants
        scan_input_and_output_cleanup0 scan_input_and_output_cleanup1 scan_input_and_output_cleanup2
        scan_input_and_output_cleanup3 remove_constants_and_unused_inputs_scan scan_eqopt2
    """,
    "there is no op for a promise about axes: broadcasting is decided at run time": """
        local_useless_rebroadcast local_rebroadcast_lift
    """,
    "scalars are arrays of no axes": """
        local_tensor_scalar_tensor local_scalar_tensor_scalar
    """,
    "x * -1 becomes -x here, which is the canonical form": """
        local_neg_to_mul
    """,
    "1 / x is the canonical form": """
        local_inv_canon local_reciprocal_canon
    """,
    "a reduction always names its axes, so equal ones are equal": """
        local_sum_all_to_none local_sum_prod_all_to_none
    """,
    "it never fired in Theano either: it compared an op with a class": """
        local_fill_cut
    """,
    "dimshuffle is always a view": """
        local_dimshuffle_no_inplace_at_canonicalize
    """,
    "flatten is a reshape: local_reshape_lift": """
        local_flatten_lift
    """,
    "which BLAS is called is the backend's choice, not an op's": """
        use_c_blas use_scipy_ger scipy_blas c_blas_destructive make_scipy_blas_destructive use_c_gemv
        use_c_ger c_blas
    """,
    "cross-entropy is a composition, no op with a bias or a gradient of its own": """
        crossentropy_to_crossentropy_with_softmax_with_bias local_softmax_with_bias
        local_softmax_grad_to_crossentropy_with_softmax_grad
        local_advanced_indexing_crossentropy_onehot_grad graph_merge_softmax_with_crossentropy_softmax
        local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc
        local_crossentropy_to_crossentropy_with_softmax_grad
    """,
    "max and argmax are two ops": """
        local_max_and_argmax
    """,
    "tile and split are compositions that make nothing useless": """
        local_useless_tile local_useless_split
    """,
    "a broadcast value is broadcast last, which is the canonical form: local_dimshuffle_alloc": """
        local_canonicalize_alloc
    """,
    "a walk from the inputs settles a chain of any length": """
        pre_local_IncSubtensor_serialize
    """,
    "copies are no ops": """
        remove_tensor_copy
    """,
    "zeros are an alloc of 0": """
        local_alloc_empty_to_zeros
    """,
    "a fused group is made with the outputs that are used": """
        local_useless_composite
    """,
    "lengths are part of a type, and no op says them": """
        local_Shape_of_SpecifyShape local_lift_specify_shape_elemwise local_lift_specify_shape_inc_subtensor
        local_merge_consecutive_specify_shape local_specify_shape_alloc local_subtensor_SpecifyShape_lift
        local_subtensor_shape_constant
    """,
    "lengths are inferred for every graph, without a feature that is attached or removed": """
        UnShapeOpt ShapeFeature
    """,
    "every op takes batches, so none is wrapped in a loop over them": """
        local_batched_matmul_to_core_matmul_with_reshape
        local_blockwise_alloc local_blockwise_alloc_inputs local_blockwise_inc_subtensor
        local_blockwise_of_subtensor local_blockwise_reshape local_eager_useless_unbatched_blockwise
        local_useless_unbatched_blockwise introduce_explicit_core_shape_blockwise
        introduce_explicit_core_shape_rv specialize_matmul_to_batched_dot
    """,
    "there is one backend of C, so no pass prepares a graph for another one": """
        cast_rv_float_params_to_float64 jax_boolean_indexing_set_or_inc jax_boolean_indexing_sum
        jax_random_vars_rewrites jax_shape_parameter_as_tuple jax_size_parameter_as_tuple
        uint_constant_indices local_uint_constant_indices py_only specialize_device gpuarray_opt
        gpua_elemwise_fusion gpua_assert_no_cpu_op local_gpua_alloc_empty_to_zeros local_ctc_no_grad
    """,
    "axes have no names, so nothing is lowered to axes without": """
        lower_xtensor lower_blockwise lower_broadcast lower_concat lower_cumreduce lower_dot lower_elemwise
        lower_expand_dims lower_index lower_index_update lower_reduce lower_rv lower_squeeze lower_stack
        lower_transpose lower_unstack inline_ofg_expansion_xtensor useless_rename useless_rng_to_xrng
        useless_tensor_from_xtensor useless_tensor_from_xtensor_of_rename useless_xrng_to_rng
        useless_xtensor_from_tensor
    """,
    "fusion takes in reductions, constants and unused results by itself: composite_elemwise_fusion": """
        local_careduce_fusion local_inline_composite_constants local_useless_composite_outputs
        inline_symbolic_for_fusion merge_inlined_symbolic add_mul_fusion fuse_elemwise
    """,
    "einsum is made of products when it is built": """
        inline_einsum inline_optimized_einsum
    """,
    "linear algebra has rules of its own, under the tag linalg": """
        inv_as_solve psd_solve_with_chol svd_of_diag det_of_factorized_matrix
        det_of_matrix_factorized_elsewhere local_det_chol remove_hint_nodes extract_diag_of_transpose
        local_adv_idx_to_diagonal local_dot_to_mul
    """,
    "joins and repeats are written as alloc, reshape and join, which have rules of their own": """
        local_join_dims local_split_dims local_join_of_alloc local_join_to_repeat
        local_alloc_sink_dimshuffle local_fuse_expand_dims_reshape
    """,
    "reads and writes of parts have rules for all kinds of indices: local_subtensor_merge, "
    "local_subtensor_inc_subtensor": """
        local_advanced_read_of_write_constant_indices local_advanced_subtensor_of_dot
        local_slice_read_of_write local_subtensor_of_adv_subtensor local_inplace_AdvancedIncSubtensor
    """,
    "convolutions and batch normalization have no variants to choose from": """
        conv_opts batchnorm_opts conv_gemm
    """,
    "each function keeps its trace and the user's lines, without a pass that prints or checks them: "
    "f.trace, f.why": """
        Print1.21 Print1.51 CheckStackTrace CheckStackTraceOptimization PrintCurrentFunctionGraph
    """,
    "random numbers are functions of a key and a counter": """
        random_make_inplace_mrg random_unsafe
    """,
    "loops take what does not change in them from around them": """
        scan_pushout_add scan_push_out_add scan_push_out_dot1 scan_push_out_non_seq scan_push_out_seq
        scan_pushout_nonseqs_ops scan_pushout_seqs_ops
    """,
}
"""Reason -> the rewrites that are unnecessary here."""


@record(repr=False)
class Absent:
    """A rewrite of Theano or PyTensor that is absent here, with the reason."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"

    def __repr__(self) -> str:
        return f"<absent rewrite {self}>"


def absent() -> dict[str, Absent]:
    """Return the names, each with an explanation."""
    reported = [(f"not needed: {why}", names) for why, names in _UNNEEDED.items()]
    reported += [(f"not there yet; it comes with {what}", names) for what, names in _AWAITED.items()]
    return {name: Absent(name, reason) for reason, names in reported for name in names.split()}
