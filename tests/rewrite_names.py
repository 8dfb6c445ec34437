"""The rewrites that users of Theano know, by name: what has become of each.

The names are those of a profile of Theano 0.8 and all that Theano 1.0.5 registers.  Two print as a pattern in a profile
and are listed as they are registered, local_usmm and local_log_softmax; the comma in "log1p_neg_sigmoid," is left out.
"""


def words(text):
    return text.split()


PRESENT = words("""
    canonicalize local_dimshuffle_lift local_upcast_elemwise_constant_inputs local_shape_to_shape_i
    local_fill_sink local_fill_to_alloc constant_folding local_subtensor_make_vector local_mul_canonizer
    MergeOptimizer local_greedy_distributor local_lift_transpose_through_dot local_subtensor_lift
    local_add_canonizer local_mul_zero local_one_minus_erf local_0_dot_x local_mul_switch_sink local_cast_cast
    local_sum_div_dimshuffle local_div_switch_sink local_reduce_join local_useless_alloc local_reshape_chain
    local_useless_subtensor local_reshape_lift local_useless_slice local_subtensor_of_alloc
    local_subtensor_of_dot local_subtensor_merge elemwise_fusion composite_elemwise_fusion local_add_mul_fusion
    inplace_elemwise_optimizer BlasOpt gemm_optimizer local_dot_to_dot22 local_dot22_to_dot22scalar
    local_gemm_to_gemv specialize local_mul_to_sqr local_elemwise_alloc local_div_to_inv local_add_specialize
    local_abs_merge local_sum_mul_by_scalar local_elemwise_sub_zeros local_alloc_unary
    local_reduce_broadcastable local_grad_log_erfc_neg local_advanced_indexing_crossentropy_onehot
    local_log_erfc local_log1p local_log_add local_neg_neg local_neg_div_neg local_useless_fill
    local_useless_inc_subtensor local_join_1 local_join_empty local_join_make_vector local_useless_switch
    local_useless_reshape local_useless_reduce local_view_op local_merge_alloc merge
    local_useless_dimshuffle_in_reshape local_subtensor_inc_subtensor local_set_to_inc_subtensor
    local_incsubtensor_of_zeros local_incsubtensor_of_zeros_to_setsubtensor local_setsubtensor_of_constants
    local_expm1 local_merge_switch_same_cond local_reshape_to_dimshuffle local_op_of_op local_intdiv_by_one
    local_zero_div local_one_plus_erf local_erf_minus_one local_one_minus_erfc logsigm_to_softplus
    log1msigm_to_softplus log1pexp_to_softplus local_exp_over_1_plus_exp local_sigm_times_exp
    local_inv_1_plus_exp local_opt_alloc local_logsoftmax local_logsoftmax_grad local_argmax_pushdown
    local_max_to_min local_dimshuffle_alloc local_log_sum_exp crossentropy_to_crossentropy_with_softmax
    local_inplace_incsubtensor1 local_inplace_setsubtensor InplaceBlasOpt log1p_neg_sigmoid
    local_useless_inc_subtensor_alloc local_subtensor_remove_broadcastable_index local_sumsqr2dot local_abs_lift
    local_alloc_dimshuffle local_dimshuffle_subtensor local_ultra_fast_sigmoid local_hard_sigmoid
    scanOp_remove_constants_and_unused_inputs0 scanOp_pushout_nonseqs_ops scanOp_save_mem scanOp_pushout_seqs_ops
    scan_pushout_dot1
""")
"""Entries, or classes of entries, under the same name."""

TAGS = words("""
    local_useless_elemwise local_func_inv local_track_shape_i local_one_minus_erf2
    local_remove_switch_const_cond local_cut_useless_reduce local_sum_sum local_mul_specialize local_sum_alloc
    local_useless_elemwise_comparison local_sum_prod_div_dimshuffle local_pow_canonicalize topo_constant_folding
    local_one_plus_neg_erf local_one_minus_erfc2 local_one_minus_erfc3 local_one_add_neg_erfc
    local_erf_neg_minus_one local_erf_neg_minus_one2 local_sum_prod_mul_by_scalar local_pow_specialize
    local_reshape_dimshuffle local_pow_specialize_device inplace_elemwise_opt local_log_softmax
    local_IncSubtensor_serialize local_adv_sub1_adv_inc_sub1 scanOp_pushout_output
""")
"""Tags of the rules that do the same here: optdb/rules/names.py says of which."""

AWAITED = {
    "loops that are joined": words("""
        scanOp_merge scanOp_merge_inouts
    """),
    "sparse matrices": words("""
        local_dense_from_sparse_sparse_from_dense local_csm_properties_csm local_usmm
        local_usmm_csc_dense_inplace local_usmm_csx local_mul_s_d local_mul_s_v local_structured_add_s_v
        local_sampling_dot_csr local_inplace_addsd_ccode local_inplace_remove0
        local_inplace_sparse_block_gemv local_inplace_sparse_block_outer local_addsd_ccode
    """),
    "batch normalization as an op": words("""
        local_abstract_batch_norm_train local_abstract_batch_norm_train_grad
        local_abstract_batch_norm_inference
    """),
    "topk": words("""
        local_useless_topk
    """),
    "typed lists": words("""
        typed_list_inplace_opt
    """),
    "choices in place": words("""
        cond_make_inplace
    """),
    "random numbers as ops": words("""
        random_make_inplace
    """),
    "graphs as ops": words("""
        inline_ofg_expansion
    """),
    "assertions as ops": words("""
        local_remove_all_assert local_remove_useless_assert
    """),
    "views of diagonals": words("""
        local_inplace_DiagonalSubtensor
    """),
}
"""What is not there yet -> the rewrites that come with it."""

UNNEEDED = {
    "a convolution is a product in C, with no op between": words("""
        local_abstractconv_gemm local_abstractconv_gradweight_gemm local_abstractconv_gradinputs_gemm
        local_abstractconv3d_gemm local_abstractconv3d_gradweight_gemm local_abstractconv3d_gradinputs_gemm
        local_conv2d_cpu local_conv2d_gradweight_cpu local_conv2d_gradinputs_cpu AbstractConvCheck
    """),
    "bodies of loops go through the passes of the query themselves": words("""
        constant_folding_for_scan2 scanOp_remove_constants_and_unused_inputs1
        scanop_remove_constants_and_unused_inputs2 scanOp_remove_constants_and_unused_inputs3
    """),
    "states of loops are written where they belong": words("""
        scanOp_make_inplace
    """),
    "there is no op for a promise about axes: broadcasting is decided at run time": words("""
        local_useless_rebroadcast local_rebroadcast_lift
    """),
    "scalars are arrays of no axes": words("""
        local_tensor_scalar_tensor local_scalar_tensor_scalar
    """),
    "x * -1 becomes -x here, which is the canonical form": words("""
        local_neg_to_mul
    """),
    "1 / x is the canonical form": words("""
        local_inv_canon
    """),
    "a reduction always names its axes, so equal ones are equal": words("""
        local_sum_all_to_none local_sum_prod_all_to_none
    """),
    "never fired: it compared an op with a class": words("""
        local_fill_cut
    """),
    "dimshuffle is always a view": words("""
        local_dimshuffle_no_inplace_at_canonicalize
    """),
    "flatten is a reshape: local_reshape_lift": words("""
        local_flatten_lift
    """),
    "which BLAS is called is the backend's choice, not an op's": words("""
        use_c_blas use_scipy_ger scipy_blas c_blas_destructive make_scipy_blas_destructive
    """),
    "cross-entropy is a composition, no op with a bias or a gradient of its own": words("""
        crossentropy_to_crossentropy_with_softmax_with_bias local_softmax_with_bias
        local_softmax_grad_to_crossentropy_with_softmax_grad
        local_advanced_indexing_crossentropy_onehot_grad graph_merge_softmax_with_crossentropy_softmax
        local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc
    """),
    "max and argmax are two ops": words("""
        local_max_and_argmax
    """),
    "tile and split are compositions that make nothing useless": words("""
        local_useless_tile local_useless_split
    """),
    "a stretched value is stretched last, which is the canonical form: local_dimshuffle_alloc": words("""
        local_canonicalize_alloc
    """),
    "a walk from the inputs settles a chain of any length": words("""
        pre_local_IncSubtensor_serialize
    """),
    "copies are no ops": words("""
        remove_tensor_copy
    """),
    "zeros are an alloc of 0": words("""
        local_alloc_empty_to_zeros
    """),
    "a fused group is made with the outputs that are used": words("""
        local_useless_composite
    """),
}
"""Why there is nothing to rewrite -> the rewrites of which this is true."""
