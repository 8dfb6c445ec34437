/* Sorting of keys of 32 and of 64 bits. */
#pragma once
#include "common.c"

#ifdef __AVX2__
/* Orders of the 8 words of a vector that bring the keys whose bit is set to the front.  Filled when the library is loaded. */
static u32 lanes32[256][8] __attribute__((aligned(32))), lanes64[16][8] __attribute__((aligned(32)));

static __attribute__((constructor)) void fill_lanes(void)
{
    for (u32 set = 0; set < 256; set++)
        for (u32 lane = 0, front = 0, back = (u32)__builtin_popcount(set); lane < 8; lane++)
            lanes32[set][set >> lane & 1 ? front++ : back++] = lane;
    for (u32 set = 0; set < 16; set++) /* the other four lanes stand behind them */
        for (u32 word = 0; word < 8; word++) lanes64[set][word] = 2 * lanes32[set][word / 2] + word % 2;
}
#endif

#define KEY i32
#define UNSIGNED u32
#define KEY_BITS 32
#define KEY_MOST KEY32_MOST
#define NAME(x) x##32
#include "keys.c"
#include "keys_sort.c"

#undef KEY
#undef UNSIGNED
#undef KEY_BITS
#undef KEY_MOST
#undef NAME
#define KEY i64
#define UNSIGNED u64
#define KEY_BITS 64
#define KEY_MOST KEY64_MOST
#define NAME(x) x##64
#include "keys.c"
#include "keys_sort.c"
