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
    scan_pushout_dot1 scanOp_remove_constants_and_unused_inputs1
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
