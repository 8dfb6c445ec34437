/* Modified Bessel functions of orders 0 and 1, by Chebyshev fits and the power series (DLMF 10.25.2).

   Written by ../translated.py from ops/special/orders01.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define I0_SMALL \
    1.0, 0.25, 0.015625, 0x1.c71c71c71c71cp-12, 0x1.c71c71c71c71cp-18, 0x1.23456789abcdfp-24, \
    0x1.02e85c0898b71p-31, 0x1.522a43f65486ap-39, 0x1.522a43f65486ap-47, 0x1.0b313289be0b9p-55, \
    0x1.5601885e63e5dp-64, 0x1.69ca9cf3b7f54p-73, 0x1.4197a7f5154bcp-82, 0x1.e725594ee52e9p-92, \
    0x1.3e22d70ef3b5fp-101, 0x1.69f7da8510bcdp-111, 0x1.69f7da8510bcdp-121, 0x1.40a2dc2460523p-131, \
    0x1.faaf2fa1c79e5p-142, 0x1.674f8e46c208cp-152, 0x1.cbeaf38dc529fp-163, 0x1.0afb53e9cec0bp-173, \
    0x1.1a6d4e307528fp-184, 0x1.1159d2b18fe1fp-195, 0x1.e5f504c9e358cp-207, 0x1.8e189760fbc74p-218
#define I1_SMALL \
    0.5, 0.0625, 0x1.5555555555555p-9, 0x1.c71c71c71c71cp-15, 0x1.6c16c16c16c17p-21, 0x1.845c8a0ce5129p-28, \
    0x1.27e4fb7789f5cp-35, 0x1.522a43f65486ap-43, 0x1.2c9758daf5cd0p-51, 0x1.ab81ea75fcdf4p-60, \
    0x1.f17697cf1cf13p-69, 0x1.e2637bef9ff1ap-78, 0x1.8bce58901a35ep-87, 0x1.165e7c2d153f3p-96, \
    0x1.53585cdcbfb10p-106, 0x1.69f7da8510bcdp-116, 0x1.54ad09e6a6575p-126, 0x1.1d028acb00491p-136, \
    0x1.aaae78f4066a6p-147, 0x1.1f72d8389b3a3p-157, 0x1.5e69de22df5cep-168, 0x1.84564b82a1184p-179, \
    0x1.88f11edf3ed4cp-190, 0x1.6c77c3976a829p-201, 0x1.37033643c4b3bp-212, 0x1.e9f6e1b270f54p-224
#define I0_LARGE \
    0x1.9bd428ad249a5p-2, 0x1.b87969bb93b75p-9, 0x1.1daa72b5e650cp-13, 0x1.75e5ee71edd14p-17, \
    0x1.8e513a1d5e52bp-20, 0x1.3f49a6bcfc2d9p-22, 0x1.7d0f75812d9bcp-24, 0x1.51ced7b713adcp-25, \
    0x1.7224b1828e506p-26, 0x1.03896efb09a42p-27, -0x1.ce768f00b5362p-28, -0x1.cc90f59ec1228p-27, \
    -0x1.77cc956faaa6ep-28, 0x1.0317d4c7b215bp-27, 0x1.047454ffcb651p-27, -0x1.df1549cddfafap-29, \
    -0x1.a9411c5b0adecp-28, 0x1.9bbbfe31d81e4p-30, 0x1.0ab5ef575d371p-28, -0x1.31c908a5dd51ep-31, \
    -0x1.e8fd992032e59p-30, 0x1.42a55974d4187p-33, 0x1.1ce14787c5db3p-31, -0x1.52109c25bd98ep-36, \
    -0x1.36e52c1003544p-34
#define I1_LARGE \
    0x1.8ebe783a84030p-2, -0x1.3f796198ee628p-7, -0x1.cbc54df1ece76p-13, -0x1.f89c23066d278p-17, \
    -0x1.ec8e101744487p-20, -0x1.76137e6905189p-22, -0x1.ad8db6e1fecbbp-24, -0x1.727a73a8063a8p-25, \
    -0x1.9180f82a1d42ap-26, -0x1.21895bb7ba33fp-27, 0x1.cd81846fb4003p-28, 0x1.e20e7d69649cap-27, \
    0x1.9f203cf278379p-28, -0x1.0630cddd4e099p-27, -0x1.1465ce7d295efp-27, 0x1.d4345a69bfc2fp-29, \
    0x1.bdc8daed57cd6p-28, -0x1.858c7591014c4p-30, -0x1.162964d5f90f1p-28, 0x1.1aee882806198p-31, \
    0x1.fce6b322708eap-30, -0x1.272ae0511039bp-33, -0x1.2839623e2324ap-31, 0x1.33e83e12ca412p-36, \
    0x1.432b0a4120f0ap-34
#define I0_TINY \
    0x1.90eacf96209cbp+0, 0x1.458fab1e6aadcp-1, 0x1.2d6c91ded7bbbp-4, 0x1.017662a61f6aap-8, 0x1.f6907b53670efp-14, \
    0x1.3c6dcc15aff04p-19, 0x1.15fd645f70940p-25, 0x1.67e5bc7144d57p-32, 0x1.6574cac322b8dp-39, \
    0x1.18dfc25abaa59p-46
#define I1_TINY \
    0x1.458fab1e6aadcp-1, 0x1.2d6c91ded7bbbp-3, 0x1.823193f92f1ffp-7, 0x1.f6907b53679abp-12, \
    0x1.8b893f1b1bfb0p-17, 0x1.a0fc1684aca60p-23, 0x1.3ae904e0b7535p-29, 0x1.6575aa728295cp-36, \
    0x1.3bfc24ba7432bp-43
#define K0_SMALL \
    -0x1.2788cfc6fb619p-1, 0x1.b0ee6072093cep-4, 0x1.d8773039049e7p-7, 0x1.1dd628653174dp-11, \
    0x1.56b9b69e15885p-17, 0x1.f0f15a9de5e90p-24, 0x1.e4e0d1c683631p-31, 0x1.54cf488d6b077p-38, \
    0x1.69f3e7fe4ede8p-46, 0x1.2c765d4b19cb6p-54, 0x1.a593500903a76p-63
#define K1_SMALL \
    0x1.3c467e37db0c8p-5, -0x1.58773039049e7p-5, -0x1.73ddae5ee6a28p-9, -0x1.3a47ef81a33c9p-14, \
    -0x1.2462822a45533p-20, -0x1.5b7a177f3c294p-27, -0x1.1fa4131ce19d5p-34, -0x1.5f609ccabd3bcp-42, \
    -0x1.4a157b8fa84d6p-50, -0x1.eb846478b15efp-59, -0x1.374620a2a8d46p-67
#define K0_LARGE \
    0x1.37f5dd35f91a9p+0, -0x1.fd1328181dba5p-6, 0x1.8d86f6465db52p-9, -0x1.f713068871371p-12, \
    0x1.a19652e6f8032p-14, -0x1.9efce5ecb7393p-16, 0x1.d5e9a6b6aece8p-18, -0x1.2617f4e5c1705p-19, \
    0x1.8ec7c2eb7def4p-21, -0x1.20cebcbbba533p-22, 0x1.ba0fdd5794206p-24, -0x1.60c25d7368ca1p-25, \
    0x1.2652b31503863p-26, -0x1.130b6b26f7f47p-27, 0x1.f59c8cebc3a89p-29, -0x1.7bd9cd0f1703ap-31, \
    0x1.0718077fefeb9p-32, -0x1.4e1ab958723a8p-30, 0x1.702a9ff124d7cp-31, 0x1.d88cf5497ca31p-32, \
    -0x1.1426cb50b4745p-32, -0x1.7efa3250347a8p-33, 0x1.afaf9a2185253p-34
#define K1_LARGE \
    0x1.5cf785b4a0203p+0, 0x1.a7520dfb3f9bap-4, -0x1.6cd23ac7d425cp-8, 0x1.81bb3978f628dp-11, \
    -0x1.24bdedb2e201cp-13, 0x1.1383aa872e7c6p-15, -0x1.2cb02da40f17dp-17, 0x1.6e6b23e9b8301p-19, \
    -0x1.e6ca03b91885dp-21, 0x1.5ae0447a54e18p-22, -0x1.05fe8f85ff579p-23, 0x1.9dbbfaf7c18f1p-25, \
    -0x1.560973a9e3644p-26, 0x1.3bd443c1c99cap-27, -0x1.1dd7d314b0426p-28, 0x1.c5c4c277b7d47p-31, \
    -0x1.409affcf44d57p-32, 0x1.6ff28b969597bp-30, -0x1.93f332a7882d9p-31, -0x1.00d2ae615623cp-31, \
    0x1.2bbb35150de86p-32, 0x1.a38165cf7b024p-33, -0x1.d7a9ea2b848e5p-34
#define K0_MIDDLE \
    0x1.2c6e9d660f581p+0, 0x1.599da95fa1b67p-6, -0x1.78f8a400f31fep-8, 0x1.a548c4b57a86fp-10, \
    -0x1.e021f980765ecp-12, 0x1.1605da29be34ep-13, -0x1.46481a149f6ffp-15, 0x1.83327aa1baf2cp-17, \
    -0x1.cfd529d3e954dp-19, 0x1.1810e189c33e7p-20, -0x1.5493d22338e6ap-22, 0x1.a0b8dece24d3fp-24, \
    -0x1.0049c232248f1p-25, 0x1.3c23b54efc938p-27, -0x1.8853bbcce52a1p-29, 0x1.f4fb6c3e5ce32p-31, \
    -0x1.39399786324aap-32, 0x1.3aef30dc6a1fcp-34, -0x1.8b0e6695775d7p-36, 0x1.06c55b5eb89c0p-36, \
    -0x1.4cc2ae62d8a46p-38

/* The modified Bessel function of the first kind and order 0 or 1, or that times exp(-|x|). */
INLINE f64 ag_i_of_01_f64(f64 x, i32 is_1, i32 is_scaled)
{
    const f64 a = fabs_F(x);
    const f64 y = a * a;
    const f64 u = 16.0 / (a > 8.0 ? a : 8.0) - 1.0;
    POLYNOMIAL(f64, small0, y, I0_SMALL);
    POLYNOMIAL_AGAIN(f64, small1, y, I1_SMALL);
    POLYNOMIAL(f64, large0, u, I0_LARGE);
    POLYNOMIAL_AGAIN(f64, large1, u, I1_LARGE);
    const f64 small = is_1 ? a * small1 : small0;
    const f64 large = (is_1 ? large1 : large0) / sqrt_F(a);
    const f64 half = ag_exp_f64(0.5 * a);
    const f64 near = ag_exp_f64(a < 100.0 ? a : 100.0);
    const f64 grown = a < 100.0 ? near * large : half * large * half;
    const f64 scaled_size = a == __builtin_inf() ? 0.0 : a <= 8.0 ? small * ag_exp_f64(-a) : large;
    const f64 size = is_scaled ? scaled_size : a == __builtin_inf() ? __builtin_nan("") : a > 800.0 ? __builtin_inf()
        : a <= 8.0 ? small : grown;
    return x != x ? x : is_1 && x < 0.0 ? -size : size;
}

/* The modified Bessel function of the second kind and order 0 or 1, or that times exp(x). */
INLINE f64 ag_k_of_01_f64(f64 x, i32 is_1, i32 is_scaled)
{
    const f64 a = x < 2.0 ? x : 2.0;
    const f64 y = a * a;
    const f64 u = 4.0 / (x > 2.0 ? x : 2.0) - 1.0;
    const f64 w = 0.5 * y - 1.0;
    POLYNOMIAL(f64, i0_, w, I0_TINY);
    POLYNOMIAL_AGAIN(f64, i1_, w, I1_TINY);
    POLYNOMIAL(f64, rest0, y, K0_SMALL);
    POLYNOMIAL_AGAIN(f64, rest1, y, K1_SMALL);
    POLYNOMIAL(f64, large0, u, K0_LARGE);
    POLYNOMIAL_AGAIN(f64, large1, u, K1_LARGE);
    const f64 v = 2.0 * a - 3.0;
    POLYNOMIAL(f64, middle, v, K0_MIDDLE);
    const f64 logarithm = ag_log_f64(0.5 * a);
    f64 small = is_1 ? 1.0 / a + a * (logarithm * i1_ + rest1) : rest0 - logarithm * i0_;
    f64 large = (is_1 ? large1 : x < 2.0 ? middle : large0) / sqrt_F(x);
    small = is_scaled ? small * ag_exp_f64(a) : small;
    large = is_scaled ? large : ag_exp_f64(-x) * large;
    return x != x ? x : x < 0.0 ? __builtin_nan("") : x == 0.0 ? __builtin_inf() : x <= (is_1 ? 2.0 : 1.0) ? small :
        large;
}

/* exp(-|x|) times the modified Bessel function of the first kind and order 0, within 8 ulp. */
INLINE f64 ag_i0e_f64(f64 x)
{
    return ag_i_of_01_f64(x, 0, 1);
}

/* exp(-|x|) times the modified Bessel function of the first kind and order 1, within 8 ulp. */
INLINE f64 ag_i1e_f64(f64 x)
{
    return ag_i_of_01_f64(x, 1, 1);
}

/* The modified Bessel function of the first kind and order 0, within 8 ulp. */
INLINE f64 ag_i0_f64(f64 x)
{
    return ag_i_of_01_f64(x, 0, 0);
}

/* The modified Bessel function of the first kind and order 1, within 8 ulp. */
INLINE f64 ag_i1_f64(f64 x)
{
    return ag_i_of_01_f64(x, 1, 0);
}

/* exp(x) times the modified Bessel function of the second kind and order 0, within 8 ulp; NaN for x < 0. */
INLINE f64 ag_k0e_f64(f64 x)
{
    return ag_k_of_01_f64(x, 0, 1);
}

/* exp(x) times the modified Bessel function of the second kind and order 1, within 8 ulp; NaN for x < 0. */
INLINE f64 ag_k1e_f64(f64 x)
{
    return ag_k_of_01_f64(x, 1, 1);
}

/* The modified Bessel function of the second kind and order 0, within 8 ulp; NaN for x < 0. */
INLINE f64 ag_k0_f64(f64 x)
{
    return ag_k_of_01_f64(x, 0, 0);
}

/* The modified Bessel function of the second kind and order 1, within 8 ulp; NaN for x < 0. */
INLINE f64 ag_k1_f64(f64 x)
{
    return ag_k_of_01_f64(x, 1, 0);
}
