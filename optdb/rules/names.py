"""Names of Theano and PyTensor as tags of the rules that do the same here.

One of their rewrites is often several rules here, each with a contract of its own; its name selects them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...record import record
from ..rule import Rule
from .elementwise import inverses, logic, powers
from .linalg import factoring, solving

_SEVERAL: dict[str, Iterable[str]] = {
    "local_mul_specialize": ("local_mul_by_one", "local_mul_by_minus_one"),
    "local_useless_elemwise": (
        "local_view_op", "local_useless_cast", "local_eq_with_itself", "local_ne_with_itself", "local_idempotent",
        "local_xor_self", "local_and_zero", "local_or_zero", "local_xor_zero", "local_and_true", "local_or_true",
    ),
    "slogdet_specialization": ("slogdet_specialization_log", "slogdet_specialization_sign"),
    "linalg": [rule.name for rule in (*solving.SOLVING, *factoring.FACTORING, *factoring.UNSAFE)],
    "local_useless_elemwise_comparison": [rule.name for rule in logic.COMPARISONS],
    "local_pow_canonicalize": ("local_pow_zero", "local_pow_one", "local_one_pow"),
    "local_pow_specialize": [rule.name for rule in (*powers.SPECIAL, *powers.UNSAFE)],
    "local_func_inv": [*(rule.name for rule in inverses.INVERSES), "local_neg_neg", "local_conj_of_conj"],
    "local_exp_log": ("local_log_of_exp", "local_log1p_of_expm1", "local_exp_of_softplus", "local_expm1_of_softplus"),
    "local_exp_log_nan_switch": ("local_exp_of_log", "local_expm1_of_log1p"),
    "local_IncSubtensor_serialize": (
        "local_add_of_sparse_write", "local_sub_from_sparse_write", "local_integer_add_of_write", "local_add_of_write",
    ),
    "local_sum_prod_of_mul_or_div": (
        "local_sum_mul_by_scalar", "local_integer_sum_mul_by_scalar", "local_sum_div_dimshuffle",
    ),
    "local_log1p_plusminus_exp": ("log1pexp_to_softplus", "local_log1p_minus_exp"),
    "local_log_div": ("local_log_of_inverse", "local_log_of_reciprocal"),
    "local_sum_prod_mul_by_scalar": ("local_sum_mul_by_scalar", "local_integer_sum_mul_by_scalar", "local_sum_of_neg"),
}  # fmt: skip

_RENAMED = {
    "topo_constant_folding": "constant_folding",
    "local_remove_switch_const_cond": "local_useless_switch",
    "local_sum_sum": "local_op_of_op",
    "local_reduce_chain": "local_op_of_op",
    "local_cut_useless_reduce": "local_useless_reduce",
    "local_sum_alloc": "local_opt_alloc",
    "local_careduce_of_alloc": "local_opt_alloc",
    "local_second_to_alloc": "local_fill_to_alloc",
    "local_second_sink": "local_fill_sink",
    "local_alloc_elemwise": "local_elemwise_alloc",
    "local_div_to_reciprocal": "local_div_to_inv",
    "local_pow_specialize_device": "local_pow_to_nested_squaring",
    "local_track_shape_i": "local_shape_i_lift",
    "local_reciprocal_1_plus_exp": "local_inv_1_plus_exp",
    "local_sum_of_neg_to_neg_of_sum": "local_sum_of_neg",
    "local_incsubtensor_of_allocs": "local_incsubtensor_of_zeros",
    "local_setsubtensor_of_allocs": "local_setsubtensor_of_constants",
    "local_sum_prod_div_dimshuffle": "local_sum_div_dimshuffle",
    "local_add_remove_zeros": "local_add_specialize",
    "local_one_minus_erf2": "local_one_minus_erf",
    "local_one_plus_neg_erf": "local_one_minus_erf",
    "local_one_minus_erfc2": "local_one_minus_erfc",
    "local_one_minus_erfc3": "local_one_minus_erfc",
    "local_one_add_neg_erfc": "local_one_minus_erfc",
    "local_erf_neg_minus_one": "local_minus_one_plus_erfc",
    "local_erf_neg_minus_one2": "local_minus_one_plus_erfc",
    "local_log_softmax": "local_logsoftmax",
    "local_adv_sub1_adv_inc_sub1": "local_subtensor_inc_subtensor",
    "local_read_of_write_same_indices": "local_subtensor_inc_subtensor",
    "local_subtensor_of_batch_dims": "local_subtensor_lift",
    "local_subtensor_of_expand_dims": "local_subtensor_of_dimshuffle",
    "local_subtensor_of_squeeze": "local_subtensor_of_dimshuffle",
    "local_subtensor_of_transpose": "local_subtensor_of_dimshuffle",
    "local_subtensor_merge_slice": "local_subtensor_merge",
    "local_subtensor_merge_integer": "local_subtensor_merge",
    "local_Shape_i_ground": "local_shape_i_lift",
    "local_useless_expand_dims_in_reshape": "local_useless_dimshuffle_in_reshape",
    "local_fuse_squeeze_reshape": "local_useless_dimshuffle_in_reshape",
    "useless_Neg_of_Neg": "local_neg_neg",
    "useless_Conj_of_Conj": "local_conj_of_conj",
    "useless_Reciprocal_of_Reciprocal": "local_reciprocal_reciprocal",
    "useless_Arccosh_of_Cosh": "local_arccosh_of_cosh",
    "useless_Cosh_of_Arccosh": "local_cosh_of_arccosh",
    "useless_Sinh_of_Arcsinh": "local_sinh_of_arcsinh",
    "useless_Arcsinh_of_Sinh": "local_arcsinh_of_sinh",
    "useless_Tanh_of_Arctanh": "local_tanh_of_arctanh",
    "useless_Arctanh_of_Tanh": "local_arctanh_of_tanh",
    "local_reshape_dimshuffle": "local_useless_dimshuffle_in_reshape",
}


@record(repr=False)
class OtherName:
    """A name of Theano or PyTensor for rules with other names here, or for several rules."""

    name: str
    rules: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}: the tag of {', '.join(self.rules)}"

    def __repr__(self) -> str:
        return f"<other name {self}>"


def _by_rule() -> dict[str, list[str]]:
    """Names of rules here -> their tags."""
    tags: dict[str, list[str]] = {}
    for old, new in _RENAMED.items():
        tags.setdefault(new, []).append(old)
    for old, members in _SEVERAL.items():
        for member in members:
            tags.setdefault(member, []).append(old)
    return tags


_TAGS = _by_rule()


def renamed() -> dict[str, tuple[str, ...]]:
    """Return names of Theano and PyTensor -> the rules here that do the same."""
    return {old: (new,) for old, new in _RENAMED.items()} | {old: tuple(new) for old, new in _SEVERAL.items()}


def other_names(rule: Rule) -> Sequence[str]:
    """Return the names of a rule in Theano and PyTensor."""
    return _TAGS.get(rule.name, ())
