/* The multiply-and-add peak of one core: independent chains of vectors that never leave their registers. */

#if defined(__AVX512F__)
enum { BYTES = 64 };
#elif defined(__AVX__)
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
enum { CHAINS = 12 };

#define PEAK(name, T) \
    __attribute__((visibility("default"))) double name(long rounds) \
    { \
        typedef T vector __attribute__((vector_size(BYTES))); \
        vector sums[CHAINS], factor, total = {0}; \
        for (unsigned i = 0; i < BYTES / sizeof(T); i++) factor[i] = (T)0.999; \
        for (int k = 0; k < CHAINS; k++) sums[k] = factor; \
        for (long r = 0; r < rounds; r++) { \
            _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; k++) sums[k] = sums[k] * factor + factor; \
        } \
        for (int k = 0; k < CHAINS; k++) total += sums[k]; \
        return (double)total[0]; \
    } \
    __attribute__((visibility("default"))) long name##_flops(void) { return 2L * CHAINS * (BYTES / sizeof(T)); }

PEAK(peak_float32, float)
PEAK(peak_float64, double)
