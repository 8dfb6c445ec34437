"""Why each rule comes to an end: what falls whenever it fires, measured on graphs before and after."""

import math

from arignote.ops.elementwise.records import Elementwise
from arignote.ops.lowered.blocked import BlockedConvolution
from arignote.ops.networks.pooling import Pool
from arignote.optdb import MergeOptimizer
from arignote.optdb.rules.elementwise.logarithms import is_shifted
from arignote.optdb.rules.quantized.narrow import FORMATS, LAYERS
from arignote.optdb.rules.shapes.gathering import are_neighbours
from arignote.optdb.rules.shapes.writing import same_positions

FREE = frozenset({"shape_i", "dimshuffle", "fill", "subtensor", "identity"})


def merged(graph):
    return MergeOptimizer()(graph)[0]


def size(graph):
    """(nodes, operands, work): compared in this order."""
    nodes = merged(graph).order
    work = sum(_work(node.op) for node in nodes if node.op.name not in FREE)
    return len(nodes), sum(len(node.inputs) for node in nodes), work


def _work(op):
    """A convolution takes less with weights that are laid, and with tiles; a softmax without a formula that it is."""
    if isinstance(op, BlockedConvolution):
        return 3 + (not op.weights) + (not op.tile)
    return op.cost if isinstance(op, Elementwise) else 3 + getattr(op, "literal", False)


def count(graph, name):
    """How many nodes of the op there are."""
    return sum(node.op.name == name for node in merged(graph).order)


def axes(graph):
    """The axes of all results but those of dimshuffles."""
    return sum(node.outputs[0].ndim for node in merged(graph).order if node.op.name != "dimshuffle")


def operand_axes(graph):
    """The axes of all operands."""
    return sum(i.ndim for node in merged(graph).order for i in node.inputs)


def positions(graph):
    """The positions of the windows of all pools."""
    ops = [node.op for node in merged(graph).order]
    return sum(math.prod(op.kernel) for op in ops if isinstance(op, Pool))


def unrounded(graph):
    """How many operands of products and convolutions are not numbers of 16 bits of some format."""
    layers = [node for node in merged(graph).order if isinstance(node.op, LAYERS)]
    return sum(not any(f.is_rounded(i) for f in FORMATS.values()) for node in layers for i in node.inputs[:2])


def stacked(graph):
    """How many additions to a part of an array follow another one to it, or to one that differs at its ends."""
    adds = [node for node in merged(graph).order if node.op.name == "inc_subtensor" and not node.op.set]
    pairs = [(node.inputs[0].owner, node) for node in adds if node.inputs[0].owner in adds]
    return sum(same_positions(a, b) or are_neighbours(a, b) for a, b in pairs)


def through_views(graph):
    """How many writes are to reads, arrays with moved axes, and reshaped ones."""
    writes = [node for node in merged(graph).order if node.op.name == "inc_subtensor"]
    made = [node.inputs[0].owner for node in writes]
    return sum(node is not None and node.op.name in ("subtensor", "dimshuffle", "reshape") for node in made)


def unshifted(graph):
    """How many exponentials are of arguments that are not shifted by a value."""
    return sum(node.op.name == "exp" and not is_shifted(node.inputs[0]) for node in merged(graph).order)


def exponentials(graph):
    """How many operands of nodes are exponentials."""
    operands = [i.owner for node in merged(graph).order for i in node.inputs]
    return sum(node is not None and node.op.name == "exp" for node in operands)


def below(graph, name):
    """How many nodes of other ops lie between the nodes of the op and the inputs, all added up."""
    under = {}
    total = 0
    for node in merged(graph).order:
        inside = set().union(*(under[i.owner] for i in node.inputs if i.owner is not None))
        total += sum(n.op.name != name for n in inside) if node.op.name == name else 0
        under[node] = inside | {node}
    return total


def above(graph, name):
    """How many nodes of other ops lie between the nodes of the op and the outputs, all added up."""
    return sum(
        node.op.name != name and any(n.op.name == name for n in _ancestors(node)) for node in merged(graph).order
    )


def _ancestors(node):
    found, stack = set(), [node]
    while stack:
        for i in stack.pop().inputs:
            if i.owner is not None and i.owner not in found:
                found.add(i.owner)
                stack.append(i.owner)
    return found


def words(text):
    return text.split()


GONE = {
    "advanced_inc_subtensor": words("local_inc_at_all_positions"),
    "advanced_subtensor": words("local_read_at_even_constant_places"),
    "add": words("local_add_specialize local_bfloat16_sum"),
    "bitwise_and": words("local_and_zero"),
    "blocked_convolution": words("local_bfloat16_pairs"),
    "bitwise_or": words("local_or_ones local_or_true"),
    "bitwise_xor": words("local_xor_self"),
    "cond": words("local_conditional_write"),
    "convolution": words("local_convolution_in_blocks"),
    "cos": words("local_cos_of_arccos"),
    "cosh": words("local_cosh_of_arccosh local_log_of_cosh"),
    "dot": words("""
        local_0_dot_x local_dot_to_dot22 local_integer_0_dot_x local_integer_product local_product_of_bytes
        local_bfloat16_dot local_dot_with_windows local_sparse_columns local_sparse_dot local_sum_to_lengths
        local_two_of_four
    """),
    "dot22": words("local_dot22_to_gemv local_weights_in_panels"),
    "eq": words("local_eq_with_itself"),
    "floor_div": words("local_zero_intdiv"),
    "gemm": words("local_gemm_to_gemv local_gemm_to_ger"),
    "imag": words("local_imag_of_real"),
    "inc_subtensor": words("local_writes_of_all"),
    "isfinite": words("local_isfinite_of_integer"),
    "isinf": words("local_isinf_of_integer"),
    "isnan": words("local_isnan_of_integer"),
    "le": words("local_weak_comparison_with_itself"),
    "log": words("local_exp_of_log local_log_of_expm1 logdiffexp_to_log1mexpdiff"),
    "log1mexp": words("local_expm1_of_log1mexp local_log1mexp_of_log1mexp"),
    "log1p": words("local_expm1_of_log1p"),
    "log2": words("local_exp2_of_log2 local_log2_of_tame"),
    "log10": words("local_log10_of_tame"),
    "logical_and": words("local_logical_and_false"),
    "logical_or": words("local_logical_or_true"),
    "lt": words("local_strict_comparison_with_itself"),
    "matmul": words("local_batched_matmul_to_core_matmul local_sum_of_batched_matmul"),
    "mod": words("local_mod_by_one local_zero_mod"),
    "mul": words("local_integer_mul_zero local_mul_zero"),
    "ne": words("local_ne_with_itself"),
    "dequantize": words("local_dequantize_elementwise"),
    "quantize": words("local_quantize_elementwise"),
    "requantize": words("local_requantize_elementwise"),
    "reciprocal": words("local_one_over"),
    "pow": words("""
        local_one_pow local_pow_minus_half local_pow_quarter local_pow_three_quarters
        local_pow_minus_two local_pow_to_nested_squaring local_pow_zero
    """),
    "shape": words("local_shape_to_shape_i"),
    "sigmoid": words("local_hard_sigmoid local_ultra_fast_sigmoid logsigm_to_softplus"),
    "sin": words("local_sin_of_arcsin"),
    "softmax": words("local_softmax_beside_log_softmax"),
    "softplus": words("local_exp_of_softplus"),
    "sqrt": words("local_log_sqrt"),
    "square": words("local_sqr_sqrt local_square_as_power"),
    "sub": words("local_elemwise_sub_zeros local_integer_sub_self"),
    "subtensor": words("local_subtensor_merge"),
    "sum": words("local_reduce_of_few local_sum_of_sparse_write"),
    "switch": words("local_switch_of_or_else"),
    "tanh": words("local_log_of_sech_squared local_tanh_of_arctanh"),
    "true_div": words("local_div_exp_to_mul_exp local_div_self local_zero_div"),
    "from_blocks": words("local_channels_last_of_blocks local_channels_of_blocks_reduced"),
    "to_blocks": words("local_blocks_of_channels_last"),
}
"""Rules after which there is an op less of this name, which no rule beside them makes."""

INWARDS = {
    "abs": words("local_abs_lift local_abs_lift_div"),
    "add": words("local_add_of_write local_integer_add_of_write"),
    "dimshuffle": words("""
        local_dimshuffle_alloc local_dimshuffle_lift local_dimshuffle_of_multiple local_lift_transpose_through_dot
    """),
    "dot": words("local_scalar_before_product"),
    "log": words("local_log_add_exp local_log_of_power"),
    "mul": words("""
        local_integer_mul_switch_sink local_integer_mul_switch_sink_else local_mul_of_neg local_mul_switch_sink
        local_mul_switch_sink_else
    """),
    "quantize": words("local_quantize_padding local_quantize_pool"),
    "reshape": words("local_reshape_lift local_split_before_dimshuffle"),
    "subtensor": words("""
        local_element_of_write local_subtensor_lift local_subtensor_of_dot local_subtensor_of_reduce
        local_subtensor_of_softmax local_subtensor_of_convolution local_subtensor_of_padding
    """),
    "sum": words("""
        local_integer_sum_mul_by_scalar local_sum_div_dimshuffle local_sum_mul_by_scalar local_sum_of_neg
    """),
    "sum_pool": words("local_sum_pool_of_convolution"),
    "true_div": words("local_div_by_neg local_div_of_neg local_div_switch_sink local_div_switch_sink_else"),
    "to_bfloat16": words("local_bfloat16_pool"),
}
"""Rules after which less lies between the ops of this name and the inputs."""

OUTWARDS = {
    "alloc": words("local_alloc_unary"),
    "dequantize": words("local_dequantize_padding local_pool_integers"),
    "dimshuffle": words("local_elementwise_on_channels_last local_reduce_of_permuted"),
    "fill": words("local_fill_sink local_dimshuffle_of_fill"),
    "from_blocks": words("""
        local_elementwise_in_blocks local_join_in_blocks local_part_in_blocks local_pool_gradient_in_blocks
        local_pool_in_blocks local_positions_in_blocks local_reduction_in_blocks local_write_in_blocks
    """),
    "inc_subtensor": words("local_elemwise_of_padded"),
    "join": words("local_elemwise_of_join local_sum_of_join"),
    "reshape": words("local_reshape_after_bytes local_reshape_after_convolution local_reshape_after_product"),
    "switch": words("local_expm1_of_choice local_log1mexp_of_choice"),
}
"""Rules after which less lies between the ops of this name and the outputs."""

THINNER = {"local_scalar_beside"}
"""Rules after which operands have fewer axes."""

FLATTER = {"local_axes_after_product", "local_opt_alloc"}
"""Rules after which results have fewer axes."""

NARROWER = {"local_max_pool_by_axes", "local_pool_by_parts", "local_pool_of_blocks"}
"""Rules after which windows of pools have fewer positions, all added up."""

ROUNDED = {"local_bfloat16_operands", "local_float16_operands"}
"""Rules after which more operands of products and convolutions are rounded to 16 bits."""

JOINED = {"local_inc_of_inc_same_indices", "local_inc_of_neighbours", "local_sum_of_parts"}
"""Rules after which fewer additions to a part of an array follow one another."""

THROUGH_VIEWS = {"local_write_of_reversed", "local_write_of_reshaped"}
"""Rules after which fewer writes go through a view."""

SHIFTED = {"local_log_of_shifted_sum"}
"""Rules after which fewer exponentials are of arguments that are not shifted by a value."""

MULTIPLIED = {"local_exp_by_sum", "local_one_exp"}
"""Rules after which fewer operands are exponentials."""

GUARDED = {
    "local_alloc_of_constant": "the constant has no axes afterwards",
    "local_bytes_in_blocks": "the weights are laid in blocks afterwards",
    "local_convert_negative_indices": "the index is not negative afterwards",
    "local_grad_log_erfc_neg": "the erfc that is left is of a number that was cut",
    "local_incsubtensor_of_zeros_to_setsubtensor": "it sets afterwards, and does not add",
    "local_log_erfc": "the erfc that is left is of a number that was cut",
    "local_products_first": "the product of matrices stands in front afterwards",
    "local_picked_log_softmax": "what is picked from is no log_softmax afterwards",
    "local_reduce_broadcastable": "the axis of length 1 is gone",
    "local_upcast_elemwise_constant_inputs": "the constants have the dtype that they are converted to",
}
"""Rules that do not take what they made, and why."""
