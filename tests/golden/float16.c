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

static inline f32 ag_f32_from_f16(f16 h)
{
    union { u32 u; f32 f; } v, small;
    const u32 exponent = h & 0x7c00u;
    v.u = ((u32)(h & 0x7fffu) << 13) + (112u << 23);
    small.u = v.u + (1u << 23);
    small.f -= 0x1p-14f;
    v.u = exponent == 0x7c00u ? v.u + (112u << 23) : exponent == 0 ? small.u : v.u;
    v.u |= (u32)(h & 0x8000u) << 16;
    return v.f;
}

static inline f16 ag_f16_from_f32(f32 x)
{
    union { u32 u; f32 f; } v, small;
    v.f = x;
    const u32 sign = v.u >> 31 << 31;
    v.u ^= sign;
    small.u = v.u;
    small.f += 0x1p-1f;
    const u32 subnormal = small.u - ((u32)126 << 23);
    const u32 normal = (v.u - ((u32)112 << 23) + ((u32)1 << 12) - 1 + ((v.u >> 13) & 1)) >> 13;
    const u32 infinite = v.u > (u32)255 << 23 ? 0x7e00u : 0x7c00u;
    const u32 finite = v.u < (u32)113 << 23 ? subnormal : normal;
    const u32 bits = v.u >= (u32)143 << 23 ? infinite : finite;
    return (f16)(bits | sign >> 16);
}

#if defined(__F16C__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
typedef f32 ag_widened_f16_4 __attribute__((vector_size(16)));
typedef f32 ag_widened_f16_8 __attribute__((vector_size(32)));
typedef f32 ag_widened_f16_16 __attribute__((vector_size(64)));
typedef u16 ag_widened_f16_8h __attribute__((vector_size(16)));
typedef u16 ag_widened_f16_16h __attribute__((vector_size(32)));
typedef u32 ag_widened_f16_8w __attribute__((vector_size(32)));
typedef u32 ag_widened_f16_16w __attribute__((vector_size(64)));
__attribute__((simd("notinbranch"), const, visibility("hidden"))) f32 ag_widened_f16_lane(f32 x);
static __attribute__((used)) f32 ag_widened_f16_alone(f32 x) __asm__("ag_widened_f16_lane");
static __attribute__((used)) ag_widened_f16_4 ag_widened_f16_lanes_b(ag_widened_f16_4 x) __asm__("_ZGVbN4v_ag_widened_f16_lane");
static ag_widened_f16_4 ag_widened_f16_lanes_b(ag_widened_f16_4 x)
{
    return __builtin_ia32_vcvtph2ps((i16 __attribute__((vector_size(16))))__builtin_shuffle((ag_widened_f16_8h)x, (ag_widened_f16_8h){0, 2, 4, 6, 0, 2, 4, 6}));
}
static __attribute__((used)) ag_widened_f16_8 ag_widened_f16_lanes_c(ag_widened_f16_8 x) __asm__("_ZGVcN8v_ag_widened_f16_lane");
static ag_widened_f16_8 ag_widened_f16_lanes_c(ag_widened_f16_8 x)
{
    return __builtin_ia32_vcvtph2ps256((i16 __attribute__((vector_size(16))))__builtin_convertvector((ag_widened_f16_8w)x, ag_widened_f16_8h));
}
static __attribute__((used)) ag_widened_f16_8 ag_widened_f16_lanes_d(ag_widened_f16_8 x) __asm__("_ZGVdN8v_ag_widened_f16_lane");
static ag_widened_f16_8 ag_widened_f16_lanes_d(ag_widened_f16_8 x)
{
    return __builtin_ia32_vcvtph2ps256((i16 __attribute__((vector_size(16))))__builtin_convertvector((ag_widened_f16_8w)x, ag_widened_f16_8h));
}
#ifdef __AVX512F__
static __attribute__((used)) ag_widened_f16_16 ag_widened_f16_lanes_e(ag_widened_f16_16 x) __asm__("_ZGVeN16v_ag_widened_f16_lane");
static ag_widened_f16_16 ag_widened_f16_lanes_e(ag_widened_f16_16 x)
{
    return __builtin_ia32_vcvtph2ps512_mask((i16 __attribute__((vector_size(32))))__builtin_convertvector((ag_widened_f16_16w)x, ag_widened_f16_16h), (ag_widened_f16_16){0}, -1, 4);
}
#endif
static f32 ag_widened_f16_alone(f32 x)
{
    return ag_widened_f16_lanes_b((ag_widened_f16_4){x})[0];
}
static inline __attribute__((always_inline)) f32 ag_widened_f16(f16 x)
{
    union { u32 u; f32 f; } v;
    v.u = x;
    return ag_widened_f16_lane(v.f);
}
#else
static inline __attribute__((always_inline)) f32 ag_widened_f16(f16 x)
{
    return ag_f32_from_f16(x);
}
#endif

#if defined(__F16C__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
typedef f32 ag_narrowed_f32_4 __attribute__((vector_size(16)));
typedef f32 ag_narrowed_f32_8 __attribute__((vector_size(32)));
typedef f32 ag_narrowed_f32_16 __attribute__((vector_size(64)));
typedef u16 ag_narrowed_f32_8h __attribute__((vector_size(16)));
typedef u16 ag_narrowed_f32_16h __attribute__((vector_size(32)));
typedef u32 ag_narrowed_f32_8w __attribute__((vector_size(32)));
typedef u32 ag_narrowed_f32_16w __attribute__((vector_size(64)));
__attribute__((simd("notinbranch"), const, visibility("hidden"))) f32 ag_narrowed_f32_lane(f32 x);
static __attribute__((used)) f32 ag_narrowed_f32_alone(f32 x) __asm__("ag_narrowed_f32_lane");
static __attribute__((used)) ag_narrowed_f32_4 ag_narrowed_f32_lanes_b(ag_narrowed_f32_4 x) __asm__("_ZGVbN4v_ag_narrowed_f32_lane");
static ag_narrowed_f32_4 ag_narrowed_f32_lanes_b(ag_narrowed_f32_4 x)
{
    return (ag_narrowed_f32_4)__builtin_shuffle((ag_narrowed_f32_8h)__builtin_ia32_vcvtps2ph(x, 0), (ag_narrowed_f32_8h){0}, (ag_narrowed_f32_8h){0, 8, 1, 9, 2, 10, 3, 11});
}
static __attribute__((used)) ag_narrowed_f32_8 ag_narrowed_f32_lanes_c(ag_narrowed_f32_8 x) __asm__("_ZGVcN8v_ag_narrowed_f32_lane");
static ag_narrowed_f32_8 ag_narrowed_f32_lanes_c(ag_narrowed_f32_8 x)
{
    return (ag_narrowed_f32_8)__builtin_convertvector((ag_narrowed_f32_8h)__builtin_ia32_vcvtps2ph256(x, 0), ag_narrowed_f32_8w);
}
static __attribute__((used)) ag_narrowed_f32_8 ag_narrowed_f32_lanes_d(ag_narrowed_f32_8 x) __asm__("_ZGVdN8v_ag_narrowed_f32_lane");
static ag_narrowed_f32_8 ag_narrowed_f32_lanes_d(ag_narrowed_f32_8 x)
{
    return (ag_narrowed_f32_8)__builtin_convertvector((ag_narrowed_f32_8h)__builtin_ia32_vcvtps2ph256(x, 0), ag_narrowed_f32_8w);
}
#ifdef __AVX512F__
static __attribute__((used)) ag_narrowed_f32_16 ag_narrowed_f32_lanes_e(ag_narrowed_f32_16 x) __asm__("_ZGVeN16v_ag_narrowed_f32_lane");
static ag_narrowed_f32_16 ag_narrowed_f32_lanes_e(ag_narrowed_f32_16 x)
{
    return (ag_narrowed_f32_16)__builtin_convertvector((ag_narrowed_f32_16h)__builtin_ia32_vcvtps2ph512_mask(x, 0, (i16 __attribute__((vector_size(32)))){0}, -1), ag_narrowed_f32_16w);
}
#endif
static f32 ag_narrowed_f32_alone(f32 x)
{
    return ag_narrowed_f32_lanes_b((ag_narrowed_f32_4){x})[0];
}
static inline __attribute__((always_inline)) f16 ag_narrowed_f32(f32 x)
{
    union { u32 u; f32 f; } v;
    v.f = ag_narrowed_f32_lane(x);
    return (f16)v.u;
}
#else
static inline __attribute__((always_inline)) f16 ag_narrowed_f32(f32 x)
{
    return ag_f16_from_f32(x);
}
#endif

/* y0 = x0 + x1 */
static void k_730fbc4fc132e659(i64 n0, f16 *restrict y0, i64 y0_s0, const f16 *x0, i64 x0_s0, const f16 *x1, i64 x1_s0)
{
    if (x0_s0 == 1 && x1_s0 == 1 && y0_s0 == 1) {
        #pragma omp simd
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f16 v0 = x0[i0];
            const f16 v1 = x1[i0];
            const f32 v2 = ag_widened_f16(v0);
            const f32 v3 = ag_widened_f16(v1);
            const f32 v4 = v2 + v3;
            const f16 v5 = ag_narrowed_f32(v4);
            y0[i0] = v5;
        }
    } else {
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f16 v0 = x0[i0 * x0_s0];
            const f16 v1 = x1[i0 * x1_s0];
            const f32 v2 = ag_widened_f16(v0);
            const f32 v3 = ag_widened_f16(v1);
            const f32 v4 = v2 + v3;
            const f16 v5 = ag_narrowed_f32(v4);
            y0[i0 * y0_s0] = v5;
        }
    }
}
