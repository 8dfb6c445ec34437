/* Selection between two vectors, lane by lane. */
#pragma once
#include "tile.c"

#if !COMPLEX
typedef __typeof__((vector){0} < (vector){0}) mask;
/* Return a where the mask is set, else b. */
INLINE vector choose(mask set, vector a, vector b) { return (vector)((set & (mask)a) | (~set & (mask)b)); }

#if defined(__AVX512F__)
#define BY_WIDTH(name, inputs...) \
    do { \
        if (sizeof(REAL) == 4) __asm__(name "ps %2, %1, %0" : "=v"(found) : inputs); \
        else __asm__(name "pd %2, %1, %0" : "=v"(found) : inputs); \
    } while (0)
#endif

/* Return a where it is greater, else b; b if either is NaN. */
INLINE vector greater(vector a, vector b)
{
#if defined(__AVX512F__)
    vector found;
    BY_WIDTH("vmax", "v"(a), "v"(b));
    return found;
#else
    return choose(a > b, a, b);
#endif
}

/* Return a where it is less, else b; b if either is NaN. */
INLINE vector lesser(vector a, vector b)
{
#if defined(__AVX512F__)
    vector found;
    BY_WIDTH("vmin", "v"(a), "v"(b));
    return found;
#else
    return choose(a < b, a, b);
#endif
}
#endif
