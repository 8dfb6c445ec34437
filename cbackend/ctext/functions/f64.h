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
/* a number that may be multiplied by what an exponential is at -ONE_FOR_TANH and -LEAST */
#define LESS 0x1p-127
#define BIASED_LESS 0x1.8000000000380p52
/* beyond these numbers results no longer change, or have overflowed */
#define LEAST_OF_EXP2 -1080.0
#define MOST_OF_EXP2 1025.0
#define LEAST_OF_EXPM1 -40.0
#define MOST_OF_SINH 710.6
#define LOG_2 0x1.62e42fefa39efp-1
#define LOG_3 0x1.193ea7aad030bp+0
/* so small that x stands for x + x^2 / 2, and for x + x^3 / 6 */
#define TINY 0x1p-55
#define SMALL 0x1p-28
#define GREATEST 0x1.fffffffffffffp1023
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
#define UNBIASED_HALF (0x1p52 + 1022)
#define HUGE 0x1p28
#define TOP 63
/* a whole number near this one is one more than the number that was added to it */
#define WHOLE_AND_ONE 0x1.8000000000001p52
#define PER_RIGHT 0x1.45f306dc9c883p-1
#define RIGHT 0x1.921fb54442d18p+0
#define RIGHT_REST 0x1.1a62633145c07p-54
#define HALF_RIGHT 0x1.921fb54442d18p-1
#define HALF_RIGHT_REST 0x1.1a62633145c07p-55
#define HUGE_SIDE 0x1p1022
#define QUARTER_BITS 0x3fd0000000000000u
#define HALF_BITS 0x3fe0000000000000u
#define ONE_BITS 0x3ff0000000000000u
#define SIGN_BIT 0x8000000000000000u
/* numbers below this one are multiplied by a cube, or the last bits of the rest would be those of a subnormal number */
#define SMALL_CUBE 0x1p-960
#define LARGER_CUBE 0x1p108
#define ROOT_OF_LARGER 0x1p-36
/* the bits of x^(-1/3) are about this number less a third of those of x; of float64 the upper half is taken */
#define GUESS_FROM ag_from_bits_F(ag_bits_F(a) >> 32 | 0x4330000000000000u) - 0x1p52
#define GUESSED ag_from_bits_F(ag_bits_F(1430180000 - 0x1.5555555555555p-2 * guess + 0x1p52) << 32)
#define EXPONENT 0x7ff0000000000000u
#define LEAST_EXPONENT 0x0010000000000000u
#define MIRROR 0x7fd0000000000000u
#define ONE_FOR_ERF 5.95
#define ZERO_FOR_ERFC 27.3
#define MIDDLE 4
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
/* (atan(x) - x) / x^3 for |x| <= 1/2: to 2^-27 and to 2^-57 */
#define ATAN_SERIES \
    -0x1.5555555555516p-2, 0x1.999999999113dp-3, -0x1.249249215db8ap-3, 0x1.c71c7090d6f14p-4, -0x1.745cf4c93d5b7p-4, \
    0x1.3b113d9fb807bp-4, -0x1.10f31db4167fep-4, 0x1.dfe963f2b91b5p-5, -0x1.a3980a6d9df4ep-5, 0x1.56f4bd76a3827p-5, \
    -0x1.c17c6c6381e39p-6, 0x1.4b7f3542989fep-7
/* ((1 - h)^(-1/3) - 1) / h for -0.09 <= h <= 0.112: to 2^-16 and 2^-31 */
#define CUBE_ROOT_SERIES \
    0x1.555557181b396p-2, 0x1.c71c71ab50218p-3, 0x1.61f11eb92d23dp-3, 0x1.26fb49beda7b5p-3, 0x1.04bab1836b977p-3, \
    0x1.c792bb6cf8c2p-4
/* G of error.h: of 0, and what is left over x, in powers of x - 3 */
#define ERF_SLOPE 0x1.20dd750429b6dp+0
#define MIDDLE_OF_ERF 3
#define ERF_SERIES \
    0x1.a14af6f4e748cp-1, 0x1.039e0bf6eb961p-5, -0x1.5bece6d3adbbap-8, 0x1.b935496f40fc5p-11, \
    -0x1.fda9930aec45dp-14, 0x1.f0b8dd1aa8a94p-17, -0x1.35f05e8417fcbp-20, -0x1.6af909d16546ep-24, \
    0x1.1c7489d399ba4p-24, -0x1.46783d618d3a2p-26, 0x1.254c3d2bad46bp-28, -0x1.4186793b55cdcp-30, \
    -0x1.5205a2800d42dp-33, -0x1.a8232a3e17c15p-36, 0x1.cdd4791092efap-34, 0x1.2bad0a133082ep-34, \
    0x1.7e50f6b0374bep-37, -0x1.03d4f32817c7ep-37, -0x1.5b3ff54fcc21ep-38, -0x1.5292a09246fc9p-40, \
    -0x1.5bc5a8415642bp-44, 0x1.d86ce782aadecp-46, 0x1.b9e1eea2a6f5dp-48, 0x1.cd8df398a1a5ep-52
/* Q of error.h */
#define ERFC_SERIES \
    0x1.18932bf08e154p+0, -0x1.f3fe31ecb49bap-1, 0x1.8be202d26c707p-1, -0x1.14eacb1ad05cbp-1, 0x1.52cac23710349p-2, \
    -0x1.645fd8a4a24e3p-3, 0x1.38dbd2c8c2fdp-4, -0x1.b00c053ae3c8ep-6, 0x1.908f474faa32fp-8, -0x1.269b2df5a7efdp-12, \
    -0x1.dd28636eeadc5p-12, 0x1.72cc0526bbd13p-13, -0x1.e7899d63831e4p-19, -0x1.3c411bc90bda4p-16, \
    0x1.3a56587a40ddap-18, 0x1.785fed6b827f4p-20, -0x1.b9c24ff7f3b88p-21, -0x1.b24ae289d63fcp-25, \
    0x1.9a10e9661089ep-24, -0x1.76e255cc1f44ap-27
/* Z of error.h */
#define ERF_NEAR_SERIES \
    0x1.06eba8214db68p-3, -0x1.812746b0379c6p-2, 0x1.ce2f21a040d7ep-4, -0x1.b82ce311d679cp-6, 0x1.565bccecd46b5p-8, \
    -0x1.c02dac9936ed1p-11, 0x1.f9a221d46cdb8p-14, -0x1.f4bb28a1fbd05p-17, 0x1.b891b7de52527p-20, \
    -0x1.53270d02390c7p-23, 0x1.78d8e2a3b9c3fp-27
