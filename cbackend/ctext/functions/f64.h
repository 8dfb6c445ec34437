/* Constants of float64, by which helpers of a float F are filled.  Series: coefficients of minimax polynomials in the relative
   error of the function (Remez), the lowest power first. */
#pragma once
#define F f64
#define U u64
#define MANTISSA 52
#define BIAS 1023
/* numbers near this one are whole, and their low bits count */
#define WHOLE 0x1.8p52
#define WHOLE_BITS 0x4338000000000000u
/* that number and the bias of exponents, once and twice: the bits of a sum, moved up, are those of a power of 2 */
#define BIASED 0x1.80000000003ffp52
#define TWICE_BIASED 0x1.80000000007fep52
#define PER_LOG2 0x1.71547652b82fep+0
/* log 2 in two parts, of which a whole number of 11 bits times the first is exact */
#define LOG_2_HIGH 0x1.62e42feep-1
#define LOG_2_LOW 0x1.a39ef35793c76p-33
#define LEAST -746.0
#define MOST 710.0
#define ONE_FOR_TANH 40.0
/* beyond these numbers results no longer change, or have overflowed */
#define LEAST_OF_EXP2 -1080.0
#define MOST_OF_EXP2 1025.0
#define LEAST_OF_EXPM1 -40.0
#define MOST_OF_SINH 710.6
#define LOG_2 0x1.62e42fefa39efp-1
/* so small that x stands for x + x^2 / 2, and for x + x^3 / 6 */
#define TINY 0x1p-55
#define SMALL 0x1p-28
/* the smallest normal number; a number of this size times the larger one is normal */
#define SMALLEST 0x1p-1022
#define LARGER 0x1p54
/* 1 less the least 1 + f */
#define OFFSET (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)
/* an integer or-ed to these bits is added to this number */
#define ULP_OF_ONE 0x4330000000000000u
#define ONE_ULP 0x1p52
#define UNBIASED (0x1p52 + 1023)
#define UNBIASED_LARGER (0x1p52 + 1023 + 54)
#define HUGE 0x1p28
#define TOP 63
/* a whole number near this one is one more than the number that was added to it */
#define WHOLE_AND_ONE 0x1.8000000000001p52
#define PER_RIGHT 0x1.45f306dc9c883p-1
#define RIGHT 0x1.921fb54442d18p+0
#define RIGHT_REST 0x1.1a62633145c07p-54
#define ROOT_OF_LARGER 0x1p-18
/* the bits of x^(-1/3) are about this number less a third of those of x; of float64 the upper half is taken */
#define GUESS_FROM ag_from_bits_F(ag_bits_F(a) >> 32 | 0x4330000000000000u) - 0x1p52
#define GUESSED ag_from_bits_F(ag_bits_F(1430180000 - 0x1.5555555555555p-2 * guess + 0x1p52) << 32)
#define EXPONENT 0x7ff0000000000000u
#define LEAST_EXPONENT 0x0010000000000000u
#define MIRROR 0x7fd0000000000000u
#define ONE_FOR_ERF 5.95
#define ZERO_FOR_ERFC 27.3
#define MIDDLE 3
#define UPPER_HALF 0xfffffffff8000000u
#define UNSIGNED_BIAS 1023u
#define FAST_FMA __FP_FAST_FMA
#define FMA __builtin_fma
#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
#define TWO_63 0x1p63
/* (exp(r) - 1 - r) / r^2 on [-log(2) / 2, log(2) / 2]: expm1 to 2^-26 and to 2^-55 */
#define EXP_SERIES \
    0x1.0000000000005p-1, 0x1.5555555555539p-3, 0x1.55555555522b7p-5, 0x1.1111111118faap-7, 0x1.6c16c17edbc4ap-10, \
    0x1.a01a017513c74p-13, 0x1.a019a76f068b2p-16, 0x1.71de880b9a45dp-19, 0x1.28a1e02ee5158p-22, \
    0x1.ae6b9d29257e6p-26
/* (atanh(s) / s - 1) / s^2 in powers of s^2 on [0, 1/9]: to 2^-27 and to 2^-59 */
#define LOG1P_SERIES \
    0x1.5555555555535p-2, 0x1.99999999a083ap-3, 0x1.2492492085a07p-3, 0x1.c71c741f7b477p-4, 0x1.745cb39d6d5b3p-4, \
    0x1.3b1de2ff3825ap-4, 0x1.10676a3e80607p-4, 0x1.efdd6c7a67f22p-5, 0x1.559ca707ff409p-5, 0x1.5c8a0fe55f2adp-4
/* R(s^2) / s^2 for sqrt(1/2) <= 1 + f <= sqrt(2): log to 2^-59 */
#define LOG_SERIES \
    0x1.5555555555592p-1, 0x1.999999997ff3fp-2, 0x1.24924941de95p-2, 0x1.c71c52169eac4p-3, 0x1.74663c7c50618p-3, \
    0x1.39a1f2ce0333bp-3, 0x1.2f03665411e58p-3
/* (atanh(s) / s - 1) / s^2 for |s| <= 0.2004: atanh to 2^-28 and 2^-62 */
#define ATANH_SERIES \
    0x1.555555555554fp-2, 0x1.999999999c19fp-3, 0x1.24924921e0f3ap-3, 0x1.c71c7493455d5p-4, 0x1.745c49f26ccc4p-4, \
    0x1.3b35e08f5e672p-4, 0x1.0dc96629f1a74p-4, 0x1.1b90e76d890dep-4
/* (sin(r) - r) / r^3 for |r| <= pi / 4: sin to 2^-27 and 2^-61 */
#define SINE_SERIES \
    -0x1.5555555555548p-3, 0x1.111111110f73p-7, -0x1.a01a019be9264p-13, 0x1.71de355531428p-19, \
    -0x1.ae5e4b89998b7p-26, 0x1.5d8b5776f708cp-33
/* (asin(x) - x) / x^3: to 2^-27 and 2^-55 */
#define ASIN_SERIES \
    0x1.555555555539p-3, 0x1.333333336e836p-4, 0x1.6db6db4277b7ep-5, 0x1.f1c72c3a11c8dp-6, 0x1.6e89f4210188fp-6, \
    0x1.1c6be3bb9ba45p-6, 0x1.c6fd943901d2dp-7, 0x1.8ec4401519822p-7, 0x1.abc3abe98815ap-8, 0x1.3ffd23694f232p-6, \
    -0x1.09e126d79824ap-6, 0x1.057271787ade3p-5
/* (atan(x) - x) / x^3: to 2^-28 and 2^-55; of 1 it is pi / 4, rounded */
#define ATAN_SERIES \
    -0x1.555555555544cp-2, 0x1.9999999984129p-3, -0x1.2492491fa2858p-3, 0x1.c71c709e31e82p-4, -0x1.745d0232446eep-4, \
    0x1.3b12b2f268fe3p-4, -0x1.11089d2e31376p-4, 0x1.e17818050b1c6p-5, -0x1.ad32ba2c0d8dep-5, 0x1.7ee3ed7a8b084p-5, \
    -0x1.4f44fe42132fap-5, 0x1.17158613d4253p-5, -0x1.a72592c555fe8p-6, 0x1.162af7570262p-6, -0x1.2cf5463041bd2p-7, \
    0x1.f967add9aeb4fp-9, -0x1.3126304e14a31p-10, 0x1.d3b3494e27b3dp-13, -0x1.53defc099975ap-16
/* ((1 - h)^(-1/3) - 1) / h for -0.09 <= h <= 0.112: to 2^-16 and 2^-31 */
#define CUBE_ROOT_SERIES \
    0x1.555557181b396p-2, 0x1.c71c71ab50218p-3, 0x1.61f11eb92d23dp-3, 0x1.26fb49beda7b5p-3, 0x1.04bab1836b977p-3, \
    0x1.c792bb6cf8c2p-4
/* G of error.h */
#define ERF_SERIES \
    0x1.20dd750429b6dp+0, 0x1.45f306dc9c8b9p-1, 0x1.a4f4e2a1adc7cp-4, -0x1.396685922abeep-6, -0x1.b6b697097a8e4p-13, \
    0x1.bca686feb395cp-10, -0x1.3565c704884bbp-11, 0x1.b263cc0cbd93p-16, 0x1.0e591d19ad548p-14, \
    -0x1.f170e8517b1dep-16, 0x1.b96b0f0774f7dp-19, 0x1.905ff8782ee41p-19, -0x1.fabe40b480c01p-20, \
    0x1.e516d54cb675bp-22, 0x1.1356295433efp-24, -0x1.c125800679705p-24, 0x1.b22a9f6fc99e4p-25, \
    -0x1.12fa6bd2df1eap-26, 0x1.fede0c268a9d4p-29, -0x1.6560691004917p-31, 0x1.76833546a4056p-34, \
    -0x1.1dcdc6900a09p-37, 0x1.2c14db25c9f94p-41, -0x1.83248ef7e4896p-46, 0x1.cd8df398a1a5ep-52
/* Q of error.h */
#define ERFC_SERIES \
    0x1.40c522d7e4987p+0, -0x1.15c084bb9e8e1p-3, -0x1.85a15c58a9e57p-5, 0x1.098366a5b3f97p-3, -0x1.e88b803a54bfbp-4, \
    0x1.17ca28780baefp-4, -0x1.8574c40852d85p-6, 0x1.4b884e16fe4bdp-9, 0x1.ef1bdb213fc2ep-10, -0x1.98db4bd3051ep-11, \
    -0x1.b911af12ab79fp-14, 0x1.0659d839bf662p-13, 0x1.4bf8ee6412b33p-18, -0x1.5132b34cdfdb9p-16, \
    -0x1.85392016620fp-21, 0x1.d183387883ee9p-19, 0x1.73e7ec191cee3p-22, -0x1.47f273edef0e1p-21, \
    -0x1.17da6b06f8574p-23, 0x1.9d2dcf4499132p-24, 0x1.2150d3f4a1ec3p-25, -0x1.52f1b0acb8d6dp-27, \
    -0x1.464830a45d839p-28
