/* The copies of tiles and strips for elements of each size. */
#pragma once
#include "../abi/copies.h"
#include "../abi/driver.h"
#include "../ctext/functions/types.h"

#define AG_TRANSPOSES /* see ag_copy */

/* Copy the first of `rows` narrow rows of small elements by shuffles of 16 bytes, several at a time; return how many. */
static i64 ag_shuffled(i64 item, const char *x, i64 down, i64 along, i64 rows, i64 columns, char *copy)
{
    i64 i = 0;
#if defined(__SSSE3__) && defined(__GNUC__) && !defined(__clang__)
    typedef char bytes __attribute__((vector_size(16)));
    typedef char loaded __attribute__((vector_size(16), aligned(1), may_alias));
    const i64 pitch = down * item, width = columns * item, span = ((columns - 1) * along + 1) * item;
    if (along < 0 || pitch <= 0 || 2 * width > 16 || pitch + span > 16) return 0;
    union {
        bytes v;
        char lane[16];
    } from = {{0}};
    i64 each = 0;
    for (i64 to = 0; to + width <= 16 && each * pitch + span <= 16; each++)
        for (i64 j = 0; j < columns; j++)
            for (i64 k = 0; k < item; k++) from.lane[to++] = (char)(each * pitch + j * along * item + k);
    const i64 read = (rows - 1) * pitch + span, written = rows * width; /* nothing behind them is touched */
    for (; i * pitch + 16 <= read && i * width + 16 <= written; i += each)
        *(loaded *)(copy + i * width) = __builtin_ia32_pshufb128(*(const loaded *)(x + i * pitch), from.v);
#else
    (void)item, (void)x, (void)down, (void)along, (void)rows, (void)columns, (void)copy;
#endif
    return i;
}

/* 16 bools as numbers of 4 or 8 bytes, by whole vectors: gcc stores quarters, and the load of a vector that follows would
   wait until they are in the cache. */
#if defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
typedef char ag_lanes __attribute__((vector_size(16)));
#ifdef __AVX512F__
#define WIDE 64
#define WIDENED_4(x) __builtin_ia32_pmovzxbd512_mask(x, (stored){0}, 0xFFFF)
#define WIDENED_8(x) __builtin_ia32_pmovzxbq512_mask(x, (stored){0}, 0xFF)
#else
#define WIDE 32
#define WIDENED_4(x) __builtin_ia32_pmovzxbd256(x)
#define WIDENED_8(x) __builtin_ia32_pmovzxbq256(x)
#endif
#define WIDENING(BYTES, ELEMENT) \
    static inline void ag_widened_##BYTES(const u8 *x, void *copy) \
    { \
        typedef ELEMENT stored __attribute__((vector_size(WIDE), aligned(1), may_alias)); \
        for (i64 k = 0; k < 16; k += WIDE / (BYTES)) { \
            ag_lanes from = {0}; \
            __builtin_memcpy(&from, x + k, WIDE / (BYTES)); \
            ((stored *)copy)[k * (BYTES) / WIDE] = (stored)WIDENED_##BYTES(from); \
        } \
    }
WIDENING(4, int)
WIDENING(8, long long)
#define AG_WIDENED_4 ag_widened_4
#define AG_WIDENED_8 ag_widened_8
#endif

#define JOINED(a, b) a##b
#define OF_BYTES(name, bytes) JOINED(name, bytes)
#define ag_tile_in_E OF_BYTES(tile_in_, BYTES)
#define ag_tile_out_E OF_BYTES(tile_out_, BYTES)
#define ag_packed_E OF_BYTES(packed_, BYTES)
#define ag_packed_in_E OF_BYTES(packed_in_, BYTES)
#define ag_packed_out_E OF_BYTES(packed_out_, BYTES)
#define ag_tile_back_E OF_BYTES(tile_back_, BYTES)
#define ag_run_of_E OF_BYTES(run_of_, BYTES)
#define ag_run_in_E OF_BYTES(run_in_, BYTES)
#define ag_run_back_E OF_BYTES(run_back_, BYTES)
#define ag_widened_in_N OF_BYTES(widened_in_, BYTES)

#define BYTES 1
#define S u8
#define N u8
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N
#define BYTES 2
#define S u16
#define N u16
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N
#define BYTES 4
#define S u32
#define N u32
#ifdef AG_WIDENED_4
#define AG_WIDENED AG_WIDENED_4
#endif
#include "../ctext/functions/copies.h"
#undef AG_WIDENED
#undef BYTES
#undef S
#undef N
#define BYTES 8
#define S u64
#define N u64
#ifdef AG_WIDENED_8
#define AG_WIDENED AG_WIDENED_8
#endif
#include "../ctext/functions/copies.h"
#undef AG_WIDENED
#undef BYTES
#undef S
#undef N
#define BYTES 16
#define S c128
#define N c128
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N

/* Table of a copy for each size, called as one of bytes: arguments and results are pointers and i64 all the same. */
#define OF_EACH_SIZE(name) {(void *)name##_1, (void *)name##_2, (void *)name##_4, (void *)name##_8, (void *)name##_16}

static const ag_copies copies = {
    OF_EACH_SIZE(tile_in),  OF_EACH_SIZE(tile_back),  OF_EACH_SIZE(run_of),
    OF_EACH_SIZE(run_back), OF_EACH_SIZE(widened_in), OF_EACH_SIZE(packed_in),
};
