/* Choices between two vectors, lane by lane. */

#if !COMPLEX
typedef __typeof__((vector){0} < (vector){0}) mask;
/* The numbers of a where the mask is set, else those of b. */
INLINE vector choose(mask set, vector a, vector b) { return (vector)((set & (mask)a) | (~set & (mask)b)); }

#if defined(__AVX512F__)
#define BY_WIDTH(name, inputs...) \
    do { \
        if (sizeof(REAL) == 4) __asm__(name "ps %2, %1, %0" : "=v"(found) : inputs); \
        else __asm__(name "pd %2, %1, %0" : "=v"(found) : inputs); \
    } while (0)
#endif

/* a where it is greater, else b, also where one of both is no number. */
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

/* a where it is less, else b, also where one of both is no number. */
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
