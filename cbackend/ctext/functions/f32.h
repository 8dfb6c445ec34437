/* Constants of float32, by which helpers of a float F are filled.  Series: coefficients of minimax polynomials in the relative
   error of the function (Remez), the lowest power first. */
#pragma once
#define F f32
#define U u32
#define MANTISSA 23
#define BIAS 127
/* numbers near this one are whole, and their low bits count */
#define WHOLE 0x1.8p23f
#define WHOLE_BITS 0x4b400000u
/* that number and the bias of exponents, once and twice: the bits of a sum, moved up, are those of a power of 2 */
#define BIASED 0x1.8000fep23f
#define TWICE_BIASED 0x1.8001fcp23f
#define PER_LOG2 0x1.715476p+0f
/* log 2 in two parts, of which a whole number of 11 bits times the first is exact */
#define LOG_2_HIGH 0x1.62e4p-1f
#define LOG_2_LOW 0x1.7f7d1cp-20f
#define LEAST -104.0f
#define MOST 89.0f
#define ONE_FOR_TANH 20.0f
/* a number that may be multiplied by what an exponential is at -ONE_FOR_TANH and -LEAST */
#define LESS 0x1p-63f
#define BIASED_LESS 0x1.80008p23f
/* beyond these numbers results no longer change, or have overflowed */
#define LEAST_OF_EXP2 -160.0f
#define MOST_OF_EXP2 129.0f
#define LEAST_OF_EXPM1 -20.0f
#define MOST_OF_SINH 89.6f
#define LOG_2 0x1.62e430p-1f
#define LOG_3 0x1.193eap+0f
/* so small that x stands for x + x^2 / 2, and for x + x^3 / 6 */
#define TINY 0x1p-26f
#define SMALL 0x1p-13f
#define GREATEST 0x1.fffffep127f
/* the smallest normal number; a number of this size times the larger one is normal */
#define SMALLEST 0x1p-126f
#define LARGER 0x1p24f
/* 1 less the least 1 + f */
#define OFFSET (0x3f800000u - 0x3f2aaaabu)
/* an integer or-ed to these bits is added to this number */
#define ULP_OF_ONE 0x4b000000u
#define ONE_ULP 0x1p23f
#define UNBIASED (0x1p23f + 127)
#define UNBIASED_LARGER (0x1p23f + 127 + 24)
#define UNBIASED_HALF (0x1p23f + 126)
#define HUGE 0x1p13f
#define TOP 31
/* a whole number near this one is one more than the number that was added to it */
#define WHOLE_AND_ONE 0x1.800002p23f
#define PER_RIGHT 0x1.45f306p-1f
#define RIGHT 0x1.921fb6p+0f
#define RIGHT_REST -0x1.777a5cp-25f
#define HALF_RIGHT 0x1.921fb6p-1f
#define HALF_RIGHT_REST -0x1.777a5cp-26f
#define HUGE_SIDE 0x1p126f
#define QUARTER_BITS 0x3e800000u
#define HALF_BITS 0x3f000000u
#define ONE_BITS 0x3f800000u
#define SIGN_BIT 0x80000000u
/* numbers below this one are multiplied by a cube, or the last bits of the rest would be those of a subnormal number */
#define SMALL_CUBE 0x1p-100f
#define LARGER_CUBE 0x1p48f
#define ROOT_OF_LARGER 0x1p-16f
/* the bits of x^(-1/3) are about this number less a third of those of x; of float64 the upper half is taken */
#define GUESS_FROM (F)(i32)ag_bits_F(a)
#define GUESSED ag_from_bits_F((u32)(i32)(1419827115.0f - 0x1.555556p-2f * guess))
#define EXPONENT 0x7f800000u
#define LEAST_EXPONENT 0x00800000u
#define MIRROR 0x7e800000u
#define ONE_FOR_ERF 4.0f
#define ZERO_FOR_ERFC 10.2f
#define MIDDLE 2
#define UPPER_HALF 0xfffff000u
#define UNSIGNED_BIAS 127u
#define FAST_FMA __FP_FAST_FMAF
#define FMA __builtin_fmaf
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define TWO_63 0x1p63f
/* (exp(r) - 1 - r) / r^2 on [-log(2) / 2, log(2) / 2]: expm1 to 2^-26 and to 2^-55 */
#define EXP_SERIES \
    0.5f, 0x1.5554ccp-3f, 0x1.5556b8p-5f, 0x1.12274cp-7f, 0x1.6be46ep-10f
/* (atanh(s) / s - 1) / s^2 in powers of s^2 on [0, 1/9]: to 2^-27 and to 2^-59 */
#define LOG1P_SERIES \
    0x1.5555p-2f, 0x1.99d27cp-3f, 0x1.1eb618p-3f, 0x1.1ef854p-3f
/* (log(1 + f) - f) / f^2 for 2/3 <= 1 + f <= 4/3 */
#define LOG_SERIES \
    -0x1p-1f, 0x1.555506p-2f, -0x1.000424p-2f, 0x1.99d2f4p-3f, -0x1.53e806p-3f, 0x1.1e955p-3f, -0x1.11aedp-3f, \
    0x1.1fdeb4p-3f, -0x1.3bf28ap-4f
/* log2(1 + f) / f - 1 */
#define LOG2_SERIES \
    0x1.c551dap-2f, -0x1.715474p-1f, 0x1.ec6f88p-2f, -0x1.715646p-2f, 0x1.27bacep-2f, -0x1.ec28cap-3f, \
    0x1.9a82dp-3f, -0x1.706398p-3f, 0x1.ac95cep-3f, -0x1.5b879ap-3f
/* log10(1 + f) / f - log10(e) */
#define LOG10_SERIES \
    -0x1.20579ep-27f, -0x1.bcb78ep-3f, 0x1.287a1p-3f, -0x1.bcd83cp-4f, 0x1.63fe7ep-4f, -0x1.247948p-4f, \
    0x1.f1711p-5f, -0x1.0bd12ap-4f, 0x1.f4ebaep-5f, -0x1.8ef476p-8f
/* (atanh(s) / s - 1) / s^2 for |s| <= 0.2004: atanh to 2^-28 and 2^-62 */
#define ATANH_SERIES \
    0x1.5555b4p-2f, 0x1.992a86p-3f, 0x1.36f134p-3f
/* (sin(r) - r) / r^3 for |r| <= pi / 4: sin to 2^-27 and 2^-61 */
#define SINE_SERIES \
    -0x1.555546p-3f, 0x1.1106bap-7f, -0x1.9906a6p-13f
/* (tan(r) - r) / r^3 for |r| <= pi / 4: to 2^-29 */
#define TANGENT_SERIES \
    0x1.55556p-2f, 0x1.110d96p-3f, 0x1.badbf8p-5f, 0x1.5ca46cp-6f, 0x1.6373fp-7f, 0x1.263146p-14f, 0x1.1f8c5cp-8f
/* (asin(x) - x) / x^3: to 2^-27 and 2^-55 */
#define ASIN_SERIES \
    0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb6p-5f, 0x1.8c3e88p-6f, 0x1.595c1ap-5f
/* (atan(x) - x) / x^3 for |x| <= 1/2: to 2^-27 and to 2^-57 */
#define ATAN_SERIES \
    -0x1.555512p-2f, 0x1.997b06p-3f, -0x1.2249b2p-3f, 0x1.9ffb92p-4f, -0x1.a3da6ep-5f
/* ((1 - h)^(-1/3) - 1) / h for -0.09 <= h <= 0.112: to 2^-16 and 2^-31 */
#define CUBE_ROOT_SERIES \
    0x1.54fc14p-2f, 0x1.c7ccdap-3f, 0x1.c77352p-3f
/* G of error.h: of 0, and what is left over x, in powers of x - 2 */
#define ERF_SLOPE 0x1.20dd76p+0f
#define MIDDLE_OF_ERF 2
#define ERF_SERIES \
    0x1.8dd894p-1f, 0x1.73d9eep-5f, -0x1.1c747ap-7f, 0x1.acfa9cp-10f, -0x1.cc7778p-14f, -0x1.db909p-14f, \
    -0x1.982452p-13f, -0x1.9d6f18p-14f, -0x1.fa5562p-17f
/* Q of error.h */
#define ERFC_SERIES \
    0x1.058672p+0f, -0x1.5fd384p-1f, 0x1.1e2ddap-2f, -0x1.2a8eb4p-5f, -0x1.604a16p-6f, 0x1.aa831ep-8f, \
    0x1.8a07dap-9f, -0x1.e0b774p-11f, -0x1.8f1b54p-12f
/* Z of error.h */
#define ERF_NEAR_SERIES \
    0x1.06eba8p-3f, -0x1.81272ap-2f, 0x1.ce272p-4f, -0x1.b75d6p-6f, 0x1.4cbb62p-8f, -0x1.53c698p-11f
