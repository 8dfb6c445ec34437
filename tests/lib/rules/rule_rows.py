"""Rows of the rules on elementwise ops: (name, before, after), in the notation of users.

Vectors x, y, z; matrices A, B; scalars s, t; integers i, j (vectors) and n (a scalar); bytes u; truth values b, c, d;
complex numbers w; float32 f.
"""

import math

import numpy as np

from arignote import ops as T
from arignote.ops.elementwise.records import fill, identity, square, stop_gradient
from arignote.ops.networks.functions import LogSumExp
from arignote.ops.shapes.shape import DimShuffle

x, y, z = (T.vector(name) for name in "xyz")
A, B = (T.matrix(name) for name in "AB")
s, t = (T.scalar(name) for name in "st")
i, j = (T.vector(name, dtype="int64") for name in "ij")
n = T.scalar("n", dtype="int64")
u = T.vector("u", dtype="uint8")
b, c, d = (T.vector(name, dtype="bool") for name in "bcd")
w = T.vector("w", dtype="complex128")
f = T.vector("f", dtype="float32")
root, root_of_half = (T.constant(np.float32(number**0.5)) for number in (2, 0.5))


small = T.tensor("small", "int8", (None,))
bytes_of_x = T.quantize(x, 0.5, 3)
scaled_sums = T.requantize(T.tensor("sums", "int32", (3, 4)), 0.3, 5)


def _expanded(v):
    return v.owner.op.expand(v.owner.inputs)


def everywhere(like, number):
    """The number in the shape of `like`, as the engine writes it for a rule whose right side is a number."""
    value = T.constant(number, like.dtype)
    return fill(like, DimShuffle(("x",) * like.ndim)(value) if like.ndim else value)


def truth(like, value):
    return fill(like, DimShuffle(("x",) * like.ndim)(T.constant(value)))


def nan_unless(condition, value):
    return T.switch(condition, value, T.constant(math.nan))


def series(v):
    """The tail of erfc, as stability.py writes it."""
    r = T.reciprocal(square(v))
    result = T.mul(r, -135135 / 128)
    for coefficient in (10395 / 64, -945 / 32, 105 / 16, -15 / 8, 3 / 4, -1 / 2):
        result = T.mul(r, T.add(coefficient, result))
    return T.add(1, result)


_largest = float(np.finfo("float64").max)


def finite(v):
    """The value, 0 where it is infinite, as logarithms.py shifts exponents by it."""
    cut = T.ELEMENTWISE["clip"](v, T.constant(-_largest), T.constant(_largest))
    return stop_gradient(cut * T.cast(T.isfinite(v), "float64"))


_tanh = T.tanh(x)
_top = finite(T.maximum(T.add(x, T.log(T.maximum(abs(z), 1))), y))
_level = finite(LogSumExp(1)(T.add(A, T.log(T.maximum(abs(B), 1)))))
_log_cosh = T.switch(
    T.lt(abs(x), 1),
    T.log1p(2 * square(T.sinh(0.5 * T.minimum(abs(x), 1)))),
    (abs(x) - math.log(2)) + T.softplus(-2 * abs(x)),
)
_odds = nan_unless(T.le(x, 0), T.reciprocal(abs(T.expm1(-x))))
_near = T.minimum(x, 26.0)
_bell = T.exp(-square(x))
_gauss = T.switch(
    T.lt(x, 26.0), T.true_div(T.exp(-square(_near)), T.erfc(_near)), T.true_div(T.mul(math.sqrt(math.pi), x), series(x))
)

ARITHMETIC = [
    ("local_neg_neg", -(-x), x),
    ("local_sub_neg_to_add", x - (-y), x + y),
    ("local_add_neg_to_sub", x + (-y), x - y),
    ("local_add_neg_to_sub", (-y) + x, x - y),
    ("local_neg_of_sub", -(x - y), y - x),
    ("local_mul_neg_neg", (-x) * (-y), x * y),
    ("local_mul_of_neg", x * (-y), -(x * y)),
    ("local_mul_of_neg", (-x) * y, -(x * y)),
    ("local_neg_of_mul", -(2 * x), T.mul(T.constant(-2.0), x)),
    ("local_neg_div_neg", (-x) / (-y), x / y),
    ("local_div_of_neg", (-x) / y, -(x / y)),
    ("local_div_by_neg", x / (-y), -(x / y)),
    ("local_abs_of_neg", T.cos(-x), T.cos(x)),
    ("local_abs_of_abs", square(abs(x)), square(x)),
    ("local_mul_by_one", x * 1, x),
    ("local_mul_by_one", i * 1.0, T.cast(i, "float64")),
    ("local_mul_by_minus_one", x * -1, -x),
    ("local_add_specialize", x + 0, x),
    ("local_add_specialize", x + T.constant([[0.0]]), DimShuffle(("x", 0))(x)),
    ("local_add_specialize", s + T.constant([0.0, 0.0]), fill(T.constant([0.0, 0.0]), DimShuffle(("x",))(s))),
    ("local_sub_zero", x - 0, x),
    ("local_sub_from_zero", 0 - x, -x),
    ("local_div_by_one", x / 1, x),
    ("local_div_by_minus_one", x / -1, -x),
    ("local_mul_to_sqr", x * x, square(x)),
    ("local_div_to_inv", 1 / x, T.reciprocal(x)),
    ("local_div_by_power_of_two", x / 4, x * 0.25),
    ("local_abs_lift", abs(x * y), abs(x) * abs(y)),
    ("local_abs_lift_div", abs(x / y), abs(x) / abs(y)),
    ("local_abs_merge", abs(x) * abs(y), abs(x * y)),
    ("local_abs_merge_div", abs(x) / abs(y), abs(x / y)),
    ("local_mul_zero", x * 0, everywhere(x, 0)),
    ("local_elemwise_sub_zeros", x - x, everywhere(x, 0)),
    ("local_zero_div", 0 / x, everywhere(x, 0)),
    ("local_div_self", x / x, everywhere(x, 1)),
    ("local_reciprocal_reciprocal", T.reciprocal(T.reciprocal(x)), x),
    # constants
    ("constant_folding", T.constant(2.0) + T.constant(3.0), T.constant(5.0)),
    ("local_upcast_elemwise_constant_inputs", T.constant(1, "int8") - x, 1.0 - x),
    # sums and products taken apart
    ("local_add_canonizer", (i + j) - i, fill(i, j)),
    ("local_add_canonizer", (i + 2) - (j + 3), (-1 + i) - j),
    ("local_add_canonizer", (i + i + j) - i, i + j),
    ("local_mul_canonizer", (2 * -i) * (3 * -j), T.constant(6) * i * j),
    ("local_mul_canonizer", 2 * (3 * x), 6 * x),
    ("local_mul_canonizer", (i * 2) * (j * 3), (6 * i) * j),
    ("local_mul_canonizer", 3 / (2 * x), 1.5 / x),
    ("local_add_canonizer_float", (x + y) - x, fill(x, y)),
    ("local_mul_canonizer_float", (x * y) / x, fill(x, y)),
    ("local_greedy_distributor", (y / x + z) * x, y + z * x),
    # powers
    ("local_pow_zero", x**0, everywhere(x, 1)),
    ("local_pow_one", x**1, x),
    ("local_one_pow", T.pow(1, x), everywhere(x, 1)),
    ("local_pow_two", x**2, square(x)),
    ("local_pow_two", i**2, square(i)),
    ("local_pow_half", x**0.5, T.sqrt(x)),
    ("local_quantize_of_dequantize", T.quantize(T.dequantize(bytes_of_x, 0.25, 7), 0.25, 7), bytes_of_x),
    ("local_quantize_elementwise", bytes_of_x, _expanded(bytes_of_x)),
    ("local_requantize_elementwise", scaled_sums, _expanded(scaled_sums)),
    ("local_dequantize_elementwise", T.dequantize(small, 0.5, 3), _expanded(T.dequantize(small, 0.5, 3))),
    ("local_pow_quarter", x**0.25, T.sqrt(T.sqrt(x))),
    ("local_pow_three_quarters", x**0.75, T.sqrt(x) * T.sqrt(T.sqrt(x))),
    ("local_pow_minus_one", x**-1, T.reciprocal(x)),
    ("local_pow_minus_two", x**-2, square(T.reciprocal(x))),
    ("local_pow_minus_half", x**-0.5, T.reciprocal(T.sqrt(x))),
    ("local_pow_to_nested_squaring", x**5, x * square(square(x))),
    ("local_two_pow", T.pow(2, x), T.exp2(x)),
    ("local_sqrt_sqr", T.sqrt(square(x)), abs(x)),
    ("local_sqr_sqrt", square(T.sqrt(x)), nan_unless(T.ge(x, 0), abs(x))),
]

INTEGERS = [
    ("local_integer_mul_zero", i * 0, everywhere(i, 0)),
    ("local_integer_sub_self", i - i, everywhere(i, 0)),
    ("local_intdiv_by_one", i // 1, i),
    ("local_mod_by_one", i % 1, everywhere(i, 0)),
    ("local_zero_intdiv", T.floor_div(0, i), everywhere(i, 0)),
    ("local_zero_mod", T.mod(0, i), everywhere(i, 0)),
    ("local_abs_of_unsigned", abs(u), u),
    ("local_integer_neg_mul", (-i) * (-j), i * j),
    ("local_useless_rounding", T.trunc(i), i),
    ("local_intdiv_by_power_of_two", i // 8, T.right_shift(i, 3)),
    ("local_mod_by_power_of_two", i % 8, T.bitwise_and(i, 7)),
    ("local_idempotent", T.maximum(x, x), x),
    ("local_xor_self", i ^ i, everywhere(i, 0)),
    ("local_not_not", ~~i, i),
    ("local_and_zero", i & 0, everywhere(i, 0)),
    ("local_or_zero", i | 0, i),
    ("local_xor_zero", i ^ 0, i),
    ("local_and_true", b & True, b),
    ("local_or_true", b | True, truth(b, True)),
    ("local_and_ones", i & -1, i),
    ("local_or_ones", i | -1, everywhere(i, -1)),
    ("local_shift_by_zero", i << 0, i),
]

LOGIC = [
    ("local_strict_comparison_with_itself", x < x, truth(x, False)),
    ("local_weak_comparison_with_itself", i <= i, truth(i, True)),
    ("local_eq_with_itself", T.eq(i, i), truth(i, True)),
    ("local_ne_with_itself", T.ne(i, i), truth(i, False)),
    ("local_not_eq", T.logical_not(T.eq(x, y)), T.ne(x, y)),
    ("local_not_ne", T.logical_not(T.ne(x, y)), T.eq(x, y)),
    ("local_not_lt", T.logical_not(i < j), i >= j),
    ("local_not_le", T.logical_not(i <= j), i > j),
    ("local_not_gt", T.logical_not(i > j), i <= j),
    ("local_not_ge", T.logical_not(i >= j), i < j),
    ("local_eq_true", T.eq(b, True), b),
    ("local_eq_false", T.eq(b, False), T.logical_not(b)),
    ("local_ne_true", T.ne(b, True), T.logical_not(b)),
    ("local_ne_false", T.ne(b, False), b),
    ("local_comparison_with_length", x.shape[0] < 0, T.constant(False)),
    ("local_comparison_with_length", T.ge(T.ShapeI(0)(x), 0), T.constant(True)),
    ("local_comparison_with_length", T.maximum(T.ShapeI(0)(x), 0), T.ShapeI(0)(x)),
    ("local_extremum_of_extremum", T.maximum(T.maximum(x, y), y), T.maximum(x, y)),
    ("local_not_not_truth", T.logical_not(T.logical_not(b)), b),
    ("local_logical_and_itself", T.logical_and(b, b), b),
    ("local_logical_or_itself", T.logical_or(b, b), b),
    ("local_logical_and_true", T.logical_and(b, True), b),
    ("local_logical_and_false", T.logical_and(x, False), truth(x, False)),
    ("local_logical_or_true", T.logical_or(x, True), truth(x, True)),
    ("local_logical_or_false", T.logical_or(b, False), b),
    ("local_logical_xor_false", T.logical_xor(b, False), b),
    ("local_logical_xor_true", T.logical_xor(b, True), T.logical_not(b)),
    ("local_isnan_of_integer", T.isnan(i), truth(i, False)),
    ("local_isinf_of_integer", T.isinf(i), truth(i, False)),
    ("local_isfinite_of_integer", T.isfinite(i), truth(i, True)),
    # choices
    ("local_useless_switch", T.switch(True, x, y), fill(y, x)),
    ("local_useless_switch", T.switch(T.constant(0), s, t), t),
    ("local_switch_of_equals", T.switch(b, x, x), fill(b, x)),
    ("local_switch_of_not", T.switch(T.logical_not(b), x, y), T.switch(b, y, x)),
    ("local_guarded_sqrt", T.switch(T.eq(x, 0.0), 0.0, T.sqrt(T.switch(T.eq(x, 0.0), 1.0, x))), T.sqrt(x)),
    ("local_switch_in_then", T.switch(b, T.switch(b, x, y), z), fill(y, T.switch(b, x, z))),
    ("local_switch_in_else", T.switch(b, x, T.switch(b, y, z)), fill(y, T.switch(b, x, z))),
    ("local_switch_of_truths", T.switch(b, True, False), b),
    ("local_switch_of_or", T.switch(b, T.logical_or(c, d), c), T.logical_or(c, T.logical_and(b, d))),
    (
        "local_switch_of_or_else",
        T.switch(b, c, T.logical_or(c, d)),
        T.logical_or(c, T.logical_and(T.logical_not(b), d)),
    ),
    ("local_switch_of_untruths", T.switch(b, False, True), T.logical_not(b)),
    (
        "local_merge_switch_same_cond",
        T.switch(b, x, 1.0) + T.switch(b, y, 2.0),
        T.switch(b, x + y, T.constant(1.0) + T.constant(2.0)),
    ),
    ("local_integer_mul_switch_sink", T.switch(b, 0, i) * j, T.switch(b, 0, i * j)),
    ("local_integer_mul_switch_sink_else", T.switch(b, i, 0) * j, T.switch(b, i * j, 0)),
    ("local_mul_switch_sink", T.switch(b, 0, x) * y, T.switch(b, 0, x * y)),
    ("local_mul_switch_sink_else", T.switch(b, x, 0) * y, T.switch(b, x * y, 0)),
    ("local_div_switch_sink", T.switch(b, 0, x) / y, T.switch(b, 0, x / y)),
    ("local_div_switch_sink_else", T.switch(b, x, 0) / y, T.switch(b, x / y, 0)),
    # casts, views, parts of complex numbers
    ("local_useless_cast", T.Cast("float64")(x), x),
    ("local_cast_cast", T.cast(T.cast(u, "int32"), "float64"), T.cast(u, "float64")),
    ("local_cast_cast", T.cast(T.cast(i, "int32"), "int8"), T.cast(i, "int8")),
    ("local_view_op", identity(x), x),
    ("local_view_op", stop_gradient(x), x),
    ("local_by_phase", T.nn.by_phase(T.exp(x), y), T.exp(x)),
    ("local_idempotent_unary", T.floor(T.floor(x)), T.floor(x)),
    ("local_conj_of_conj", T.conj(T.conj(w)), w),
    ("local_useless_conj", T.conj(x), x),
    ("local_real_of_real", T.real(x), x),
    ("local_imag_of_real", T.imag(x), everywhere(x, 0)),
    ("local_real_of_conj", T.real(T.conj(w)), T.real(w)),
]

STABLE = [
    ("local_log1p", T.log(1 + x), T.log1p(x)),
    ("local_log1p_of_minus", T.log(1 - x), T.log1p(-x)),
    ("local_expm1", T.exp(x) - 1, T.expm1(x)),
    ("local_expm1_of_sum", -1 + T.exp(x), T.expm1(x)),
    ("local_one_minus_exp", 1 - T.exp(x), -T.expm1(x)),
    ("local_log_add", T.log(T.exp(x) + T.exp(y)), T.logaddexp(x, y)),
    ("local_log_add_exp", T.log(T.exp(x) + T.exp(y) + T.exp(z)), T.logaddexp(T.logaddexp(x, y), z)),
    (
        "local_log_add_exp",
        T.log(2 * T.exp(x) + T.exp(y) / 3),
        T.logaddexp(T.add(math.log(2), x), T.sub(y, math.log(3))),
    ),
    ("local_log_add_exp", T.log(T.exp(x) + 1), T.softplus(x)),
    ("local_log_add_exp", T.log(3 + T.exp(x)), T.softplus(T.sub(x, math.log(3))) + math.log(3)),
    ("local_log_of_shifted_sum", T.log(T.exp(x) * z + T.exp(y)), T.log(z * T.exp(x - _top) + T.exp(y - _top)) + _top),
    ("local_log_of_weighted_sum", T.log(T.sum(2 * T.exp(A), axis=1)), LogSumExp(1)(T.add(math.log(2), A))),
    (
        "local_log_of_shifted_sum",
        T.log(T.sum(B * T.exp(A), axis=1)),
        T.log(T.sum(B * T.exp(A - DimShuffle((0, "x"))(_level)), axis=1)) + _level,
    ),
    (
        "local_log_of_weighted_sum",
        T.log(T.sum(T.sigmoid(A) * T.exp(B), axis=1, keepdims=True)),
        DimShuffle((0, "x"))(LogSumExp(1)(T.add(T.log(T.sigmoid(A)), B))),
    ),
    ("local_log_of_product", T.log(y * T.exp(x)), T.add(x, T.log(y))),
    ("local_log_of_product", T.log(T.exp(-x) / (2 * T.sigmoid(y))), -x - math.log(2) - T.log(T.sigmoid(y))),
    ("local_log_of_product", T.log(1 / T.cosh(x)), -T.log(T.cosh(x))),
    ("local_log_of_product", T.log(T.sum(T.exp(x)) / 3), T.log(T.sum(T.exp(x))) - math.log(3)),
    ("local_log_of_power", T.log(T.sigmoid(x) ** 3), 3 * T.log(T.sigmoid(x))),
    ("local_log_of_power", T.log(square(1 + T.exp(x))), 2 * T.log(1 + T.exp(x))),
    ("local_log10_of_tame", T.log10(T.sigmoid(x)), T.log(T.sigmoid(x)) * (1 / math.log(10))),
    ("local_log2_of_tame", T.log2(y / T.cosh(x)), T.log(y / T.cosh(x)) * (1 / math.log(2))),
    ("local_log1p_of_scaled_exp", T.log1p(2 * T.exp(x)), T.softplus(T.add(math.log(2), x))),
    ("local_log_of_expm1", T.log(T.expm1(x)), x + T.log1mexp(-x)),
    ("local_log_of_cosh", T.log(T.cosh(x)), _log_cosh),
    ("local_log_of_sech_squared", T.log1p(-square(T.tanh(x))), -2 * _log_cosh),
    ("local_log_of_sech_squared", T.log1p(-(T.tanh(x) ** 2)), -2 * _log_cosh),
    ("local_log_of_sech_squared", T.log1p(-(_tanh * _tanh)), -2 * _log_cosh),
    ("local_exp_over_two_exp", T.exp(x) / (T.exp(x) + T.exp(y)), T.sigmoid(x - y)),
    ("local_sinh_over_cosh", (T.exp(x) - T.exp(-x)) / (T.exp(x) + T.exp(-x)), T.tanh(x)),
    ("local_expm1_times_sigmoid", T.expm1(x) * T.sigmoid(-x), T.tanh(0.5 * x)),
    ("local_neg_expm1_times_sigmoid", -T.expm1(x) * T.sigmoid(-x), T.tanh(-0.5 * x)),
    (
        "logdiffexp_to_log1mexpdiff",
        T.log(T.exp(x) - T.exp(y)),
        T.switch(T.eq(y, T.constant(-math.inf)), x, x + T.log1mexp(y - x)),
    ),
    ("local_log_sqrt", T.log(T.sqrt(x)), 0.5 * T.log(x)),
    ("local_log_of_inverse", T.log(1 / x), -T.log(x)),
    ("local_log_of_reciprocal", T.log(T.reciprocal(x)), -T.log(x)),
    ("local_log1p_minus_exp", T.log1p(-T.exp(x)), T.log1mexp(x)),
    ("logmexpm1_to_log1mexp", T.log(-T.expm1(x)), T.log1mexp(x)),
    ("logsigm_to_softplus", T.log(T.sigmoid(x)), -T.softplus(-x)),
    ("log1msigm_to_softplus", T.log(1 - T.sigmoid(x)), -T.softplus(x)),
    ("log1p_neg_sigmoid", T.log1p(-T.sigmoid(x)), -T.softplus(x)),
    ("log1pexp_to_softplus", T.log1p(T.exp(x)), T.softplus(x)),
    ("local_exp_over_1_plus_exp", T.exp(x) / (1 + T.exp(x)), T.sigmoid(x)),
    ("local_inv_1_plus_exp", T.reciprocal(1 + T.exp(x)), T.sigmoid(-x)),
    ("local_one_over_1_plus_exp", y / (1 + T.exp(x)), y * T.sigmoid(-x)),
    ("local_sigm_times_exp", T.exp(x) * T.sigmoid(-x), T.sigmoid(x)),
    ("local_sigm_times_exp_neg", T.exp(-x) * T.sigmoid(x), T.sigmoid(-x)),
    ("local_1msigmoid", 1 - T.sigmoid(x), T.sigmoid(-x)),
    ("local_odds_sigmoid", T.sigmoid(x) / T.sigmoid(-x), T.exp(x)),
    ("local_inv_odds_sigmoid", T.sigmoid(-x) / T.sigmoid(x), T.exp(-x)),
    ("local_div_exp_to_mul_exp", y / T.exp(x), y * T.exp(-x)),
    ("local_log_ndtr", T.log(T.special.ndtr(x)), T.special.log_ndtr(x)),
    ("local_one_minus_ndtr", 1 - T.special.ndtr(x), T.special.ndtr(-x)),
    ("local_one_minus_erf", 1 - T.erf(x), T.erfc(x)),
    ("local_one_plus_erf", 1 + T.erf(x), T.erfc(-x)),
    ("local_erf_minus_one", T.erf(x) - 1, -T.erfc(x)),
    ("local_erfc_of_quotient", T.erfc(f / root), T.normal_tails(f)),
    ("local_erfc_of_quotient", T.erfc(-(f / root)), T.normal_tails(-f)),
    ("local_erfc_of_quotient", T.erfc(f * T.constant(-root_of_half.data)), T.normal_tails(-f)),
    ("local_erfc_of_quotient", T.erfc(f / np.nextafter(root.data, np.float32(2))), T.normal_tails(f)),
    ("local_minus_one_plus_erf", -1 + T.erf(x), -T.erfc(x)),
    ("local_one_minus_erfc", 1 - T.erfc(x), T.erf(x)),
    ("local_erfc_minus_one", T.erfc(x) - 1, -T.erf(x)),
    ("local_minus_one_plus_erfc", -1 + T.erfc(x), -T.erf(x)),
    (
        "local_log_erfc",
        T.log(T.erfc(x)),
        T.switch(
            T.lt(x, 26.0),
            T.log(T.erfc(_near)),
            T.add(-square(x) - (T.log(x) + 0.5 * math.log(math.pi)), T.log(series(x))),
        ),
    ),
    ("local_grad_log_erfc_neg", y * _bell / T.erfc(x), y * _gauss),
    # shares of factors that overflow together
    ("local_sinh_by_cosh", y * T.sinh(x) / T.cosh(x) ** 3, y * T.tanh(x) / square(T.cosh(x))),
    ("local_cosh_by_sinh", y * T.cosh(x) / T.sinh(x), y / T.tanh(x)),
    ("local_exp_by_expm1", y * T.exp(x) / T.expm1(x), -(y / T.expm1(-x))),
    ("local_expm1_by_exp", y * T.expm1(x) / T.exp(x), -(y * T.expm1(-x))),
    ("local_exp_by_powers", y * (_e := T.exp(x)) / _e**3, y / square(T.exp(x))),
    ("local_cosh_by_powers", y * (_e := T.cosh(x)) / _e**3, y / square(T.cosh(x))),
    ("local_exp_by_sum", y * (_e := T.exp(x)) / (2 + _e), y * T.sigmoid(x + np.log(0.5))),
    ("local_exp_by_sum", y * (_e := T.exp(x)) / square(1 + 4 * _e),
     y * T.sigmoid(x + np.log(4.0)) / ((1 + 4 * T.exp(x)) * 4.0)),
    ("local_one_exp", y * T.exp(x) / T.exp(square(z)), y * T.exp(x - square(z))),
    ("local_one_exp", T.exp(x) * T.exp(-square(z)), T.exp(x - square(z))),
    # inverses
    ("local_log_of_exp", T.log(T.exp(x)), x),
    ("local_log2_of_exp2", T.log2(T.exp2(x)), x),
    ("local_log1p_of_expm1", T.log1p(T.expm1(x)), x),
    ("local_sinh_of_arcsinh", T.sinh(T.arcsinh(x)), x),
    ("local_arcsinh_of_sinh", T.arcsinh(T.sinh(x)), x),
    ("local_arctanh_of_tanh", T.arctanh(T.tanh(x)), x),
    ("local_tan_of_arctan", T.tan(T.arctan(x)), x),
    ("local_deg2rad_of_rad2deg", T.deg2rad(T.rad2deg(x)), x),
    ("local_rad2deg_of_deg2rad", T.rad2deg(T.deg2rad(x)), x),
    ("local_exp_of_log", T.exp(T.log(x)), nan_unless(T.ge(x, 0), x)),
    ("local_exp2_of_log2", T.exp2(T.log2(x)), nan_unless(T.ge(x, 0), x)),
    ("local_expm1_of_log1p", T.expm1(T.log1p(x)), nan_unless(T.ge(x, -1), x)),
    ("local_cosh_of_arccosh", T.cosh(T.arccosh(x)), nan_unless(T.ge(x, 1), x)),
    ("local_tanh_of_arctanh", T.tanh(T.arctanh(x)), nan_unless(T.le(abs(x), 1), x)),
    ("local_sin_of_arcsin", T.sin(T.arcsin(x)), nan_unless(T.le(abs(x), 1), x)),
    ("local_cos_of_arccos", T.cos(T.arccos(x)), nan_unless(T.le(abs(x), 1), x)),
    ("local_log1mexp_of_log1mexp", T.log1mexp(T.log1mexp(x)), nan_unless(T.le(x, 0), x)),
    ("local_expm1_of_log1mexp", T.expm1(-T.log1mexp(x)), _odds),
    ("local_log1mexp_of_choice", T.log1mexp(T.switch(b, T.log1mexp(x), -math.inf)),
     T.switch(b, T.log1mexp(T.log1mexp(x)), T.log1mexp(T.constant(-math.inf)))),
    ("local_expm1_of_choice", T.expm1(-T.switch(b, T.log1mexp(x), -math.inf)),
     T.switch(b, T.expm1(-T.log1mexp(x)), T.expm1(-T.constant(-math.inf)))),
    ("local_arccosh_of_cosh", T.arccosh(T.cosh(x)), abs(x)),
    ("local_exp_of_softplus", T.exp(T.softplus(x)), 1 + T.exp(x)),
    ("local_expm1_of_softplus", T.expm1(T.softplus(x)), T.exp(x)),
]

_half = abs(x) * 0.5
_line = _half * 0.0458812946797165 + (0.935409070603099 - 1.7 * 0.0458812946797165)
_twice = T.switch(_half < 1.7, (_half * 1.5) / (_half + 1.0), T.minimum(_line, 0.99505475368673))
APPROXIMATE = [
    ("local_hard_sigmoid", T.sigmoid(x), T.minimum(T.maximum(x * 0.2 + 0.5, 0.0), 1.0)),
    ("local_ultra_fast_sigmoid", T.sigmoid(x), T.copysign(_twice, x) * 0.5 + 0.5),
]

ROWS = [*ARITHMETIC, *INTEGERS, *LOGIC, *STABLE, *APPROXIMATE]

UNCHANGED = [
    ("local_mul_by_one", w * 1),  # (1 + 0i)(a + bi) has 0 * b in it, NaN where b is infinite
    ("local_log1p", T.log(T.constant(1.0) + f)),  # computed in float64, which log1p(f) would not be
    ("local_cast_cast", T.cast(T.cast(i, "int8"), "int16")),  # the first wraps around
    ("local_idempotent_unary", T.sign(T.sign(w))),  # rounded twice
    ("local_sub_zero", x - T.constant(-0.0)),  # -0.0 - -0.0 is 0.0
    ("local_div_by_power_of_two", x / T.constant([2.0, 3.0])),
    ("local_intdiv_by_power_of_two", u // T.constant(4, "int64")),  # the shift would be one of int64
    ("local_abs_lift", T.abs(x * x)),  # a square by now needs no absolute value
    ("local_sub_neg_to_add", i - (-u)),  # -u wraps around in uint8
    ("local_weak_comparison_with_itself", x <= x),  # NaN
    ("local_not_lt", T.logical_not(x < y)),
    ("local_div_by_power_of_two", x / 3),
    ("local_div_by_power_of_two", T.true_div(x, 2.0**1023 * 2)),
    ("local_div_by_power_of_two", x / 2.0**-1074),  # its inverse is infinite
    ("local_mul_neg_neg", (-u) * (-i)),  # -u wraps around in uint8
    ("local_cast_cast", T.cast(T.cast(i, "float64"), "int64")),  # float64 does not hold every int64
    ("local_cast_cast", T.cast(T.cast(x, "int8"), "float64")),
    ("local_cast_cast", T.cast(T.cast(i.astype("uint32"), "float64"), "uint8")),  # out of range it does not wrap around
    ("local_cast_cast", T.cast(T.cast(f, "float64"), "uint32")),  # NaN from float64 is another number
    ("local_pow_two", T.pow(u, T.constant(2, "int64"))),  # computed in int64
    ("local_abs_of_neg", abs(-u)),
    ("local_useless_rounding", T.trunc(x)),
    ("local_add_canonizer", (x + y) - x),
    ("local_comparison_with_length", T.maximum(T.ShapeI(0)(x), 1)),
    *(("local_comparison_with_length", op(T.ShapeI(0)(x), 0)) for op in (T.eq, T.ne, T.le, T.gt)),
    ("local_log_add_exp", T.log((T.exp(x) - s) + T.exp(y) + T.exp(z))),
    ("local_log_add_exp", T.log(T.exp(x) + T.sigmoid(y))),
    ("local_log_add_exp", T.log(T.exp(x) + y)),
    ("local_log_of_shifted_sum", T.log(y * T.exp(x - _top) + T.exp(z - _top))),
    ("local_log_add_exp", T.log(y * T.exp(x) + T.exp(z))),
    ("local_log_of_weighted_sum", T.log(T.sum(B * T.exp(A), axis=1))),
    ("local_log_of_shifted_sum", T.log(T.sum(B * T.exp(A - DimShuffle((0, "x"))(_level)), axis=1))),
    ("local_log_of_product", T.log(y * z)),
    ("local_log_of_product", T.log(-y * T.exp(x))),
    ("local_log_of_power", T.log(T.sigmoid(x) ** y)),
    ("local_log10_of_tame", T.log10(-T.sigmoid(x))),
    ("local_log1p_of_scaled_exp", T.log1p(y * T.exp(x))),
    ("local_log_of_sech_squared", T.log1p(-(T.tanh(x) * T.tanh(y)))),
    ("local_mul_canonizer", 1e-200 * (1e-200 * x)),
    ("local_mul_canonizer", (2 * x) * (3 * y)),
    ("local_integer_sub_self", x - x),
    ("constant_folding", T.zeros((10_000,))),
    ("local_log_erfc", T.log(T.erfc(T.minimum(x, 26.0)))),
    ("local_fill_sink", fill(x, y)),
    ("local_erfc_of_quotient", T.erfc(x / math.sqrt(2))),  # of float64
    ("local_erfc_of_quotient", T.erfc(f / np.float32(1.4))),
    ("local_erfc_of_quotient", T.erfc(root / f)),
    ("local_erfc_of_quotient", T.erfc(T.constant(np.full((1, 1), root.data)) * f)),  # of another rank
]
"""Near misses, which the rule must leave alone."""
