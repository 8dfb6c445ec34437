/* Peak speeds of this processor: three small loops that the caller times, one mode a call.

   mode (call->step)  1  a[i] = b[i] + 3 * c[i] over call->lengths[0] elements at call->data[0 .. 2]    bandwidth
                      2  fused multiply-adds of float32 in registers, call->operand times ROUND          peak
                      3  the same of float64
   The triad is that of STREAM (J. McCalpin, 1995).  A call in any other mode does nothing. */
#include "../abi/call.h"

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif

enum { CHAINS = 12, ROUND = 1000 }; /* independent chains: more than latency times issue width of any core we know */

typedef float f32v __attribute__((vector_size(WIDTH)));
typedef double f64v __attribute__((vector_size(WIDTH)));

#if !defined(__clang__)
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic")
#define FUSED __attribute__((noinline, optimize("O2", "fp-contract=fast")))
#else
#define FUSED __attribute__((noinline))
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#endif

#define START(VECTOR, K) ((VECTOR){0} + (K))

#define PEAK(NAME, T, VECTOR) \
    FUSED static T NAME(i64 rounds) \
    { \
        /* Start values differ: a compiler would merge equal chains. */ \
        VECTOR x0 = START(VECTOR, 0), x1 = START(VECTOR, 1), x2 = START(VECTOR, 2), x3 = START(VECTOR, 3); \
        VECTOR x4 = START(VECTOR, 4), x5 = START(VECTOR, 5), y0 = START(VECTOR, 6), y1 = START(VECTOR, 7); \
        VECTOR y2 = START(VECTOR, 8), y3 = START(VECTOR, 9), y4 = START(VECTOR, 10), y5 = START(VECTOR, 11); \
        const VECTOR m = (VECTOR){0} + (T)0.5, c = (VECTOR){0} + (T)0.25; \
        for (i64 k = 0; k < rounds * ROUND; k++) { \
            x0 = x0 * m + c, x1 = x1 * m + c, x2 = x2 * m + c, x3 = x3 * m + c, x4 = x4 * m + c, x5 = x5 * m + c; \
            y0 = y0 * m + c, y1 = y1 * m + c, y2 = y2 * m + c, y3 = y3 * m + c, y4 = y4 * m + c, y5 = y5 * m + c; \
            __asm__ volatile("" ::: "memory"); /* so that the compiler merges no rounds */ \
        } \
        const VECTOR sum = x0 + x1 + x2 + x3 + x4 + x5 + y0 + y1 + y2 + y3 + y4 + y5; \
        T total = 0; \
        for (i64 k = 0; k < (i64)(WIDTH / sizeof(T)); k++) total += sum[k]; \
        return total; \
    }

PEAK(peak_f32, float, f32v)
PEAK(peak_f64, double, f64v)

static void triad(i64 n, double *restrict a, const double *restrict b, const double *restrict c)
{
    for (i64 i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
}

/* call->detail[0]: floating-point operations or bytes of the call. */
__attribute__((visibility("default"))) i32 ag_entry(ag_call *call)
{
    const i64 chains = 2 * CHAINS * ROUND * WIDTH;
    volatile double kept = 0;
    if (call->step == 1) {
        triad(call->lengths[0], (double *)call->data[0], (const double *)call->data[1], (const double *)call->data[2]);
        call->detail[0] = 3 * 8 * call->lengths[0];
    } else if (call->step == 2) {
        kept = peak_f32(call->operand);
        call->detail[0] = chains / 4 * call->operand;
    } else if (call->step == 3) {
        kept = peak_f64(call->operand);
        call->detail[0] = chains / 8 * call->operand;
    }
    (void)kept;
    return 0;
}
