/* Elements of every dtype as KEY, a signed integer in the same order, and back; included for 32 and 64 bits.

   A float's bits are in order already where it is positive; the others of a negative one are inverted.  So -0.0 is -1 and
   0.0 is 0.  NaNs have the greatest key. */
#include "key32.h"

/* Load a row.  merged: -0.0 and 0.0 have one key.  Return NANS if there are any, and ZEROS if some have a sign. */
INLINE i32 NAME(load_some)(i32 kind, i64 n, const void *x, i64 step, const i32 merged, KEY *restrict keys)
{
    i32 found = 0;
#define LOAD(TYPE, KEY_OF) \
    for (i64 i = 0; i < n; i++) { \
        const TYPE b = ((const TYPE *)x)[i * step]; \
        keys[i] = (KEY)(KEY_OF); \
    } \
    break;
#define LOAD_FLOAT(TYPE, INFINITY_BITS, MOST) \
    { \
        TYPE nans = 0, zeros = 0; \
        for (i64 i = 0; i < n; i++) { \
            const TYPE b = ((const TYPE *)x)[i * step], sign = b >> (8 * sizeof b - 1); \
            const TYPE is_nan = (b & (MOST)) > (INFINITY_BITS), is_zero = b == (TYPE) ~(MOST); \
            const TYPE ordered = (TYPE)((b ^ (sign & (MOST))) + (merged & is_zero)); \
            keys[i] = is_nan ? (MOST) : ordered; \
            nans |= is_nan, zeros |= is_zero; \
        } \
        found = (nans ? NANS : 0) | (zeros ? ZEROS : 0); \
    } \
    break;
    switch (kind) {
    case AG_U8: LOAD(u8, b)
    case AG_I8: LOAD(i8, b)
    case AG_U16: LOAD(u16, b)
    case AG_I16: LOAD(i16, b)
    case AG_F16: LOAD_FLOAT(i16, 0x7c00, 0x7fff)
    case AG_U32: LOAD(u32, (i32)(b ^ 0x80000000u))
    case AG_I32: LOAD(i32, b)
    case AG_F32: LOAD_FLOAT(i32, 0x7f800000, KEY32_MOST)
#if KEY_BITS == 64
    case AG_U64: LOAD(u64, (i64)(b ^ 0x8000000000000000u))
    case AG_I64: LOAD(i64, b)
    case AG_F64: LOAD_FLOAT(i64, 0x7ff0000000000000LL, KEY64_MOST)
#endif
    default: break;
    }
#undef LOAD
#undef LOAD_FLOAT
    return found;
}

static i32 NAME(load)(i32 kind, i64 n, const void *x, i64 step, KEY *restrict keys)
{
    return step == 1 ? NAME(load_some)(kind, n, x, 1, 0, keys) : NAME(load_some)(kind, n, x, step, 0, keys);
}

#if KEY_BITS == 64
/* Load a row whose zeros are all equal. */
static void NAME(load_merged)(i32 kind, i64 n, const void *x, i64 step, KEY *restrict keys)
{
    if (step == 1) NAME(load_some)(kind, n, x, 1, 1, keys);
    else NAME(load_some)(kind, n, x, step, 1, keys);
}
#endif

/* Store the elements that have these keys; y may be the array of keys. */
INLINE void NAME(store_some)(i32 kind, i64 n, const KEY *keys, void *y, i64 step)
{
#define STORE(TYPE, BITS_OF) \
    for (i64 i = 0; i < n; i++) { \
        const KEY key = keys[i]; \
        ((TYPE *)y)[i * step] = (TYPE)(BITS_OF); \
    } \
    break;
    switch (kind) {
    case AG_U8:
    case AG_I8: STORE(u8, key)
    case AG_U16:
    case AG_I16: STORE(u16, key)
    case AG_F16: STORE(i16, key ^ (key >> 15 & 0x7fff))
    case AG_U32: STORE(u32, (u32)key ^ 0x80000000u)
    case AG_I32: STORE(i32, key)
    case AG_F32: STORE(i32, (i32)key ^ ((i32)key >> 31 & KEY32_MOST))
#if KEY_BITS == 64
    case AG_U64: STORE(u64, (u64)key ^ 0x8000000000000000u)
    case AG_I64: STORE(i64, key)
    case AG_F64: STORE(i64, key ^ (key >> 63 & KEY64_MOST))
#endif
    default: break;
    }
#undef STORE
}

static void NAME(store)(i32 kind, i64 n, const KEY *keys, void *y, i64 step)
{
    if (step == 1) NAME(store_some)(kind, n, keys, y, 1);
    else NAME(store_some)(kind, n, keys, y, step);
}
