#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* omp simd, for compilers that were not told -fopenmp-simd */
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef _Bool b8;
typedef u16 f16; /* the bits of an IEEE binary16; arithmetic is done in f32 */
typedef float f32;
typedef double f64;
typedef float _Complex c64;
typedef double _Complex c128;

f64 fabs(f64);

/* a * b + c, rounded once where that costs no more. */
static inline __attribute__((always_inline)) f64 ag_fma_f64(f64 a, f64 b, f64 c)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline __attribute__((always_inline)) u64 ag_bits_f64(f64 x)
{
    union { f64 f; u64 u; } v;
    v.f = x;
    return v.u;
}

static inline __attribute__((always_inline)) f64 ag_from_bits_f64(u64 x)
{
    union { u64 u; f64 f; } v;
    v.u = x;
    return v.f;
}

/* x, or 0 where `is` is 0, by its bits: a choice might become a branch. */
static inline __attribute__((always_inline)) f64 ag_where_f64(f64 x, i32 is)
{
    return ag_from_bits_f64(ag_bits_f64(x) & -(u64)is);
}

/* exp(r) - 1 for r between -log(2) / 2 and log(2) / 2. */
static inline __attribute__((always_inline)) f64 ag_small_expm1_f64(f64 r)
{
    const f64 r2 = r * r;
    f64 p_1 = 0x1.ae6b9d29257e6p-26;
    p_1 = ag_fma_f64(p_1, r2, 0x1.71de880b9a45dp-19);
    p_1 = ag_fma_f64(p_1, r2, 0x1.a01a017513c74p-13);
    p_1 = ag_fma_f64(p_1, r2, 0x1.1111111118faap-7);
    p_1 = ag_fma_f64(p_1, r2, 0x1.5555555555539p-3);
    f64 p = 0x1.28a1e02ee5158p-22;
    p = ag_fma_f64(p, r2, 0x1.a019a76f068b2p-16);
    p = ag_fma_f64(p, r2, 0x1.6c16c17edbc4ap-10);
    p = ag_fma_f64(p, r2, 0x1.55555555522b7p-5);
    p = ag_fma_f64(p, r2, 0x1.0000000000005p-1);
    p = ag_fma_f64(p_1, r, p);
    return ag_fma_f64(r * r, p, r);
}

/* exp(x) for x <= 710.0: 2^k * exp(r) where k = round(x / log 2); two factors make up 2^k, so that a subnormal result
   is rounded once (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). */
static inline __attribute__((always_inline)) f64 ag_exp_below_f64(f64 x)
{
    const i32 is = !(x < -746.0);
    const f64 y = ag_where_f64(x, is);
    const f64 shifted = ag_fma_f64(y, 0x1.71547652b82fep+0, 0x1.80000000007fep52), k = shifted - 0x1.80000000007fep52;
    const f64 r = ag_fma_f64(k, -0x1.a39ef35793c76p-33, ag_fma_f64(k, -0x1.62e42feep-1, y));
    const u64 exponents = ag_bits_f64(shifted), half = exponents >> 1;
    const f64 first = ag_from_bits_f64(half << 52);
    const f64 result = (1 + ag_small_expm1_f64(r)) * first * ag_from_bits_f64((exponents - half) << 52);
    return ag_where_f64(result, is);
}

/* exp(710.0) is infinite */
static inline __attribute__((always_inline)) f64 ag_exp_f64(f64 x)
{
    return ag_exp_below_f64(x > 710.0 ? 710.0 : x);
}

static inline __attribute__((always_inline)) f64 ag_u32_as_f64(u64 x)
{
    return ag_from_bits_f64(x | 0x4330000000000000u) - 0x1p52;
}

/* How far a far x is from the nearest multiple of pi / 2, and in *quarter that multiple modulo 4: x times 2 / pi modulo
   4, to 128 bits, is the sum of products of 32 bits of x and 32 bits of 1 / pi, from that bit on which counts as 1. */
static inline __attribute__((always_inline)) f64 ag_far_f64(f64 x, u64 *quarter)
{
    static const u32 digits[] = {
        0x0, 0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0, 0x6db14acc, 0x9e21c820, 0xff28b1d5, 0xef5de2b0, 0xdb92371d,
        0x2126e970, 0x03249775, 0x04e8c90e, 0x7f0ef58e, 0x5894d39f, 0x74411afa, 0x975da242, 0x74ce3813, 0x5a2fbf20,
        0x9cc8eb1c, 0xc1a99cfa, 0x4e422fc5, 0xdefc941d, 0x8ffc4bff, 0xef02cc07, 0xf79788c5, 0xad05368f, 0xb69b3f67,
        0x93e584db, 0xa7a31fb3, 0x4f2ff516, 0xba93dd63, 0xf5f2f8bd, 0x9e839cfb, 0xc5294975, 0x35fdafd8, 0x8fc6ae84,
        0x2b019823, 0x7e3db5d5, 0xf867de10,
    };
    const u64 bits = ag_bits_f64(x) & ~((u64)1 << 63), exponent = bits >> 52, low32 = 0xffffffffu;
    const u64 from = exponent < 1044 ? 0 : exponent - 1044, at = from >> 5, shift = from & 31;
    const u64 m = (bits & 0xfffffffffffffu) | 0x10000000000000u, high = m >> 32, low = m & low32;
    const u64 d0 = digits[at], d1 = digits[at + 1], d2 = digits[at + 2], d3 = digits[at + 3], d4 = digits[at + 4];
    const u64 d5 = digits[at + 5], d6 = digits[at + 6];
    const u64 t0 = (d0 << 32 | d1) << shift >> 32, t1 = (d1 << 32 | d2) << shift >> 32;
    const u64 t2 = (d2 << 32 | d3) << shift >> 32, t3 = (d3 << 32 | d4) << shift >> 32;
    const u64 t4 = (d4 << 32 | d5) << shift >> 32, t5 = (d5 << 32 | d6) << shift >> 32;
    const u64 p1 = low * t1, p2 = low * t2, p3 = low * t3, q1 = high * t1, q2 = high * t2, q3 = high * t3;
    const u64 s3 = (p3 & low32) + (low * t4 >> 32) + (high * t4 & low32) + (high * t5 >> 32);
    const u64 s2 = (p2 & low32) + (p3 >> 32) + (q3 & low32) + (high * t4 >> 32) + (s3 >> 32);
    const u64 s1 = (p1 & low32) + (p2 >> 32) + (q2 & low32) + (q3 >> 32) + (s2 >> 32);
    const u64 s0 = low * t0 + (p1 >> 32) + (q1 & low32) + (q2 >> 32) + (s1 >> 32);
    const u64 whole = s0 << 32 | (s1 & low32), nearest = whole + ((u64)1 << 61);
    const u64 offset = whole - (nearest >> 62 << 62), is_below = -(offset >> 63);
    const u64 first = offset ^ is_below, rest = ((s2 & low32) << 32 | (s3 & low32)) ^ is_below;
    const f64 last = ag_u32_as_f64(rest >> 32) * 0x1p-94 + ag_u32_as_f64(rest & low32) * 0x1p-126;
    const f64 middle = ag_u32_as_f64(first & low32) * 0x1p-62 + last, most = ag_u32_as_f64(first >> 32) * 0x1p-30;
    const f64 turns = most + middle, error = middle - (turns - most);
    const f64 angle = turns * 0x1.921fb54442d18p+0;
    const f64 lost = ag_fma_f64(turns, 0x1.1a62633145c07p-54, error * 0x1.921fb54442d18p+0);
    *quarter = nearest >> 62;
    return is_below ? -(angle + lost) : angle + lost;
}

/* x - k pi / 2, where k has at most 29 bits and a half; only the last difference and that which cancels most are
   rounded */
static inline __attribute__((always_inline)) f64 ag_minus_right_f64(f64 x, f64 k)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    const f64 r = ag_fma_f64(k, -0x1.1a62633145c07p-54, ag_fma_f64(k, -0x1.921fb54442d18p+0, x));
    return ag_fma_f64(k, 0x1.f1976b7ed8fbcp-110, r);
#else
    const f64 r = x - k * 0x1.921fb4p+0 - k * 0x1.4442dp-24 - k * 0x1.846988p-48 - k * 0x1.8cc516p-72;
    return r - k * 0x1.01b839a25204ap-96;
#endif
}

/* sin(r + quarter pi / 2) for |r| <= pi / 4: for an odd quarter +-cos(r) = 1 - 2 sin(r / 2)^2, which is never above 1.
   Bit 63 of `sign` changes the sign; its others are 0. */
static inline __attribute__((always_inline)) f64 ag_sine_of_f64(f64 r, u64 quarter, u64 sign)
{
    const b8 even = quarter << 63 == 0; /* takes no constant in a vector */
    const f64 v = even ? r : (f64)0.5 * r, s = v * v;
    const f64 s2 = s * s;
    f64 p_1 = 0x1.5d8b5776f708cp-33;
    p_1 = ag_fma_f64(p_1, s2, 0x1.71de355531428p-19);
    p_1 = ag_fma_f64(p_1, s2, 0x1.111111110f73p-7);
    f64 p = -0x1.ae5e4b89998b7p-26;
    p = ag_fma_f64(p, s2, -0x1.a01a019be9264p-13);
    p = ag_fma_f64(p, s2, -0x1.5555555555548p-3);
    p = ag_fma_f64(p_1, s, p);
    const f64 sine = ag_fma_f64(v * s, p, v), y = even ? sine : ag_fma_f64(sine + sine, -sine, 1);
    return ag_from_bits_f64(ag_bits_f64(y) ^ (quarter >> 1 << 63 ^ sign));
}

static inline __attribute__((always_inline)) f64 ag_sin_near_f64(f64 x)
{
    const f64 a = fabs(x), shifted = ag_fma_f64(a, 0x1.45f306dc9c883p-1, 0x1.8p52);
    const u64 sign = ag_bits_f64(x) ^ ag_bits_f64(a);
    return ag_sine_of_f64(ag_minus_right_f64(a, shifted - 0x1.8p52), ag_bits_f64(shifted), sign);
}

static inline __attribute__((always_inline)) f64 ag_sin_far_f64(f64 x)
{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter);
    return ag_sine_of_f64(r, quarter, ag_bits_f64(x) >> 63 << 63);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((simd("notinbranch"), const, visibility("hidden"))) f64 ag_sin_f64(f64 x);
static __attribute__((used)) f64 ag_sin_alone_f64(f64 x) __asm__("ag_sin_f64");
static f64 ag_sin_alone_f64(f64 x)
{
    const f64 size = fabs(x);
    return size >= 0x1p30 && size < __builtin_inf() ? ag_sin_far_f64(x) : ag_sin_near_f64(x);
}
#if 1
typedef f64 ag_sin_b_f64 __attribute__((vector_size(2 * sizeof(f64))));
static __attribute__((noinline, cold)) ag_sin_b_f64 ag_sin_far_b_f64(ag_sin_b_f64 x)
{
    union { ag_sin_b_f64 v; f64 lane[2]; } in_x = {x}, y;
    for (i32 k = 0; k < 2; k++) y.lane[k] = ag_sin_alone_f64(in_x.lane[k]);
    return y.v;
}
static __attribute__((used)) ag_sin_b_f64 ag_sin_near_b_f64(ag_sin_b_f64 x) __asm__("_ZGVbN2v_ag_sin_f64");
static ag_sin_b_f64 ag_sin_near_b_f64(ag_sin_b_f64 x)
{
    union { ag_sin_b_f64 v; f64 lane[2]; } in_x = {x}, size, near;
    #pragma omp simd simdlen(2)
    for (i32 k = 0; k < 2; k++) {
        near.lane[k] = ag_sin_near_f64(in_x.lane[k]);
        size.lane[k] = fabs(in_x.lane[k]);
    }
    const ag_sin_b_f64 y = near.v; /* read here it never leaves its register */
    const i32 far = __builtin_ia32_movmskpd((ag_sin_b_f64)(size.v >= 0x1p30));
    return __builtin_expect(far != 0, 0) ? ag_sin_far_b_f64(x) : y;
}
#endif
#if defined(__AVX__)
typedef f64 ag_sin_c_f64 __attribute__((vector_size(4 * sizeof(f64))));
static __attribute__((noinline, cold)) ag_sin_c_f64 ag_sin_far_c_f64(ag_sin_c_f64 x)
{
    union { ag_sin_c_f64 v; f64 lane[4]; } in_x = {x}, y;
    for (i32 k = 0; k < 4; k++) y.lane[k] = ag_sin_alone_f64(in_x.lane[k]);
    return y.v;
}
static __attribute__((used)) ag_sin_c_f64 ag_sin_near_c_f64(ag_sin_c_f64 x) __asm__("_ZGVcN4v_ag_sin_f64");
static ag_sin_c_f64 ag_sin_near_c_f64(ag_sin_c_f64 x)
{
    union { ag_sin_c_f64 v; f64 lane[4]; } in_x = {x}, size, near;
    #pragma omp simd simdlen(4)
    for (i32 k = 0; k < 4; k++) {
        near.lane[k] = ag_sin_near_f64(in_x.lane[k]);
        size.lane[k] = fabs(in_x.lane[k]);
    }
    const ag_sin_c_f64 y = near.v; /* read here it never leaves its register */
    const i32 far = __builtin_ia32_movmskpd256((ag_sin_c_f64)(size.v >= 0x1p30));
    return __builtin_expect(far != 0, 0) ? ag_sin_far_c_f64(x) : y;
}
#endif
#if defined(__AVX2__)
typedef f64 ag_sin_d_f64 __attribute__((vector_size(4 * sizeof(f64))));
static __attribute__((noinline, cold)) ag_sin_d_f64 ag_sin_far_d_f64(ag_sin_d_f64 x)
{
    union { ag_sin_d_f64 v; f64 lane[4]; } in_x = {x}, y;
    for (i32 k = 0; k < 4; k++) y.lane[k] = ag_sin_alone_f64(in_x.lane[k]);
    return y.v;
}
static __attribute__((used)) ag_sin_d_f64 ag_sin_near_d_f64(ag_sin_d_f64 x) __asm__("_ZGVdN4v_ag_sin_f64");
static ag_sin_d_f64 ag_sin_near_d_f64(ag_sin_d_f64 x)
{
    union { ag_sin_d_f64 v; f64 lane[4]; } in_x = {x}, size, near;
    #pragma omp simd simdlen(4)
    for (i32 k = 0; k < 4; k++) {
        near.lane[k] = ag_sin_near_f64(in_x.lane[k]);
        size.lane[k] = fabs(in_x.lane[k]);
    }
    const ag_sin_d_f64 y = near.v; /* read here it never leaves its register */
    const i32 far = __builtin_ia32_movmskpd256((ag_sin_d_f64)(size.v >= 0x1p30));
    return __builtin_expect(far != 0, 0) ? ag_sin_far_d_f64(x) : y;
}
#endif
#ifdef __AVX512F__
typedef f64 ag_sin_e_f64 __attribute__((vector_size(8 * sizeof(f64))));
static __attribute__((noinline, cold)) ag_sin_e_f64 ag_sin_far_e_f64(ag_sin_e_f64 x)
{
    union { ag_sin_e_f64 v; f64 lane[8]; } in_x = {x}, y;
    for (i32 k = 0; k < 8; k++) y.lane[k] = ag_sin_alone_f64(in_x.lane[k]);
    return y.v;
}
static __attribute__((used)) ag_sin_e_f64 ag_sin_near_e_f64(ag_sin_e_f64 x) __asm__("_ZGVeN8v_ag_sin_f64");
static ag_sin_e_f64 ag_sin_near_e_f64(ag_sin_e_f64 x)
{
    union { ag_sin_e_f64 v; f64 lane[8]; } in_x = {x}, size, near;
    #pragma omp simd simdlen(8)
    for (i32 k = 0; k < 8; k++) {
        near.lane[k] = ag_sin_near_f64(in_x.lane[k]);
        size.lane[k] = fabs(in_x.lane[k]);
    }
    const ag_sin_e_f64 y = near.v; /* read here it never leaves its register */
    const i32 far = __builtin_ia32_cmppd512_mask(size.v, 0x1p30 - (ag_sin_e_f64){0}, 29, -1, 4);
    return __builtin_expect(far != 0, 0) ? ag_sin_far_e_f64(x) : y;
}
#endif
#elif defined(__wasm__) /* two lanes are slower by both ways than one by its own */
static __attribute__((noinline)) f64 ag_sin_rare_f64(f64 x) { return ag_sin_far_f64(x); }
static inline __attribute__((always_inline)) f64 ag_sin_f64(f64 x)
{
    const f64 size = fabs(x);
    return __builtin_expect(size >= 0x1p30 && size < __builtin_inf(), 0) ? ag_sin_rare_f64(x) : ag_sin_near_f64(x);
}
#else
static inline __attribute__((always_inline)) f64 ag_sin_f64(f64 x)
{
    const f64 size = fabs(x);
    const f64 near = ag_sin_near_f64(x), far = ag_sin_far_f64(x);
    return size >= 0x1p30 && size < __builtin_inf() ? far : near;
}
#endif

/* How many rows of so many elements make a tile. */
static inline i64 ag_tile_rows(i64 elements, i64 columns)
{
    return columns > 0 ? elements / columns : 1;
}

/* Whether the elements of a part lie closer together down its columns than along its rows. */
static inline b8 ag_is_transposed(i64 down, i64 along)
{
    return down && __builtin_llabs(along) > __builtin_llabs(down);
}

/* `rows` rows of `columns` elements of x from `at` on: where they lie if each row has stride 1, else copied. */
__attribute__((noinline, unused)) static const f64 *ag_tile_in_f64(const f64 *x, i64 at, i64 down, i64 along,
                                                                   i64 rows, i64 columns, f64 *copy)
{
    x += at;
    if (along == 1) return x;
#ifdef AG_TRANSPOSES
    if (down == 1 && rows >= 8 && columns >= 8) {
        ag_transpose(sizeof(f64), rows, columns, (char *)copy, columns, (const char *)x, along);
        return copy;
    }
#endif
    for (i64 i = 0; i < rows; i++) {
        f64 *const row = copy + i * columns;
        if (along == 0)
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down];
        else if (along == -1)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down - j];
        else if (along == 2)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 2 * j];
        else if (along == 3)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 3 * j];
        else if (along == 4)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 4 * j];
        else
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + j * along];
    }
    return copy;
}

/* A copy of narrow rows, one behind the other. */
static inline __attribute__((always_inline)) void ag_packed_f64(const f64 *x, i64 down, i64 along, i64 rows, i64 columns, f64 *copy)
{
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) copy[i * columns + j] = x[i * down + j * along];
}

/* Narrow rows of x from `at` on, one behind the other: where they lie if there are no gaps, else copied. */
__attribute__((noinline, unused)) static const f64 *ag_packed_in_f64(const f64 *x, i64 at, i64 down, i64 along,
                                                                     i64 rows, i64 columns, f64 *copy)
{
    x += at;
    if (along == 1 && down == columns) return x;
    if (down == 0 && rows > 1) { /* equal rows: copy twice as many each time */
        const i64 count = rows * columns;
        ag_packed_f64(x, 0, along, 1, columns, copy);
        for (i64 done = columns; done < count; done *= 2)
            __builtin_memcpy(copy + done, copy, (done < count - done ? done : count - done) * sizeof(f64));
        return copy;
    }
    f64 *to = copy;
#ifdef AG_TRANSPOSES
    const i64 done = ag_shuffled(sizeof(f64), (const char *)x, down, along, rows, columns, (char *)copy);
    x += done * down, to += done * columns, rows -= done;
#endif
    if (columns == 2)
        ag_packed_f64(x, down, along, rows, 2, to);
    else if (columns == 3)
        ag_packed_f64(x, down, along, rows, 3, to);
    else if (columns == 4)
        ag_packed_f64(x, down, along, rows, 4, to);
    else
        ag_packed_f64(x, down, along, rows, columns, to);
    return copy;
}

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline f64 *ag_tile_out_f64(f64 *y, i64 at, i64 along, f64 *copy)
{
    return along == 1 ? y + at : copy;
}

/* The same for narrow rows. */
static inline f64 *ag_packed_out_f64(f64 *y, i64 at, i64 down, i64 along, i64 columns, f64 *copy)
{
    return along == 1 && down == columns ? y + at : copy;
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_tile_back_f64(f64 *y, i64 at, i64 down, i64 along, i64 rows,
                                                               i64 columns, const f64 *copy)
{
    y += at;
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) y[i * down + j * along] = copy[i * columns + j];
}

/* y0 = ((exp(x0) * x1) + sin(x0)) - (x1 / float64(3.0)) */
static void k_c009c3fc3908527a_rows(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, const f64 *x0, i64 x0_s0,
    i64 x0_s1, const f64 *x1, i64 x1_s0, i64 x1_s1)
{
    (void)y0_s1;
    (void)x0_s1;
    (void)x1_s1;
    for (i64 i0 = 0; i0 < n0; i0++) {
        const f64 *x0_0 = x0 + i0 * x0_s0;
        const f64 *x1_0 = x1 + i0 * x1_s0;
        f64 *y0_0 = y0 + i0 * y0_s0;
        #pragma omp simd simdlen(8)
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f64 v0 = x0_0[i1];
            const f64 v1 = ag_exp_f64(v0);
            const f64 v2 = x1_0[i1];
            const f64 v3 = v1 * v2;
            const f64 v4 = ag_sin_f64(v0);
            const f64 v5 = v3 + v4;
            const f64 v6 = v2 / 3.0;
            const f64 v7 = v5 - v6;
            y0_0[i1] = v7;
        }
    }
}

static void k_c009c3fc3908527a(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, const f64 *x0, i64 x0_s0, i64 x0_s1,
    const f64 *x1, i64 x1_s0, i64 x1_s1)
{
    if (n1 == 1) {
        n1 = n0;
        y0_s1 = y0_s0;
        x0_s1 = x0_s0;
        x1_s1 = x1_s0;
        n0 = 1;
    } else if (y0_s0 == n1 * y0_s1 && x0_s0 == n1 * x0_s1 && x1_s0 == n1 * x1_s1) {
        n1 = n0 * n1;
        n0 = 1;
    }
    if (n1 < 8 && 15 < n0) {
        f64 y0_copy[1024];
        f64 x0_copy[1024];
        f64 x1_copy[1024];
        const i64 tall = ag_tile_rows(1024, n1) < n0 ? ag_tile_rows(1024, n1) : n0;
        for (i64 t0 = 0; t0 < n0; t0 += tall) {
            const i64 rows = tall < n0 - t0 ? tall : n0 - t0;
            const i64 elements = rows * n1;
            f64 *y0_t = ag_packed_out_f64(y0, t0 * y0_s0, y0_s0, y0_s1, n1, y0_copy);
            const f64 *x0_t = ag_packed_in_f64(x0, t0 * x0_s0, x0_s0, x0_s1, rows, n1, x0_copy);
            const f64 *x1_t = ag_packed_in_f64(x1, t0 * x1_s0, x1_s0, x1_s1, rows, n1, x1_copy);
            k_c009c3fc3908527a_rows(1, elements, y0_t, 0, 1, x0_t, 0, 1, x1_t, 0, 1);
            if (y0_s1 != 1 || y0_s0 != n1) {
                ag_tile_back_f64(y0, t0 * y0_s0, y0_s0, y0_s1, rows, n1, y0_copy);
            }
        }
    } else {
        const b8 whole = y0_s1 == 1 && x0_s1 == 1 && x1_s1 == 1;
        if (whole) {
            k_c009c3fc3908527a_rows(n0, n1, y0, y0_s0, y0_s1, x0, x0_s0, x0_s1, x1, x1_s0, x1_s1);
        } else {
            f64 y0_copy[1024];
            f64 x0_copy[1024];
            f64 x1_copy[1024];
            const b8 transposed = ag_is_transposed(y0_s0, y0_s1) || ag_is_transposed(x0_s0, x0_s1) || ag_is_transposed(x1_s0, x1_s1);
            const i64 wide = transposed ? 64 : 1024;
            const i64 tall = ag_tile_rows(1024, wide < n1 ? wide : n1);
            for (i64 t0 = 0; t0 < n0; t0 += tall) {
                const i64 rows = tall < n0 - t0 ? tall : n0 - t0;
                for (i64 t1 = 0; t1 < n1; t1 += wide) {
                    const i64 columns = wide < n1 - t1 ? wide : n1 - t1;
                    f64 *y0_t = ag_tile_out_f64(y0, t0 * y0_s0 + t1 * y0_s1, y0_s1, y0_copy);
                    const i64 y0_ts = y0_s1 == 1 ? y0_s0 : columns;
                    const f64 *x0_t = ag_tile_in_f64(x0, t0 * x0_s0 + t1 * x0_s1, x0_s0, x0_s1, rows, columns, x0_copy);
                    const i64 x0_ts = x0_s1 == 1 ? x0_s0 : columns;
                    const f64 *x1_t = ag_tile_in_f64(x1, t0 * x1_s0 + t1 * x1_s1, x1_s0, x1_s1, rows, columns, x1_copy);
                    const i64 x1_ts = x1_s1 == 1 ? x1_s0 : columns;
                    k_c009c3fc3908527a_rows(rows, columns, y0_t, y0_ts, 1, x0_t, x0_ts, 1, x1_t, x1_ts, 1);
                    if (y0_s1 != 1) {
                        ag_tile_back_f64(y0, t0 * y0_s0 + t1 * y0_s1, y0_s0, y0_s1, rows, columns, y0_copy);
                    }
                }
            }
        }
    }
}
