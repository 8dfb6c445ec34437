/* The helper of random bits: a function of a key and a counter, so that each element is computed independently.

   J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011: Threefry,
   two words of 32 bits, 20 rounds. */
#pragma once
#include "element.h"

INLINE u32 ag_rotated_u32(u32 x, int by)
{
    return x << by | x >> (32 - by);
}

INLINE u64 ag_threefry_u64(u64 key, u64 counter)
{
    const u32 k0 = (u32)(key >> 32), k1 = (u32)key, k2 = k0 ^ k1 ^ 0x1bd11bdau;
    u32 a = (u32)(counter >> 32) + k0, b = (u32)counter + k1;
    a += b, b = ag_rotated_u32(b, 13) ^ a;
    a += b, b = ag_rotated_u32(b, 15) ^ a;
    a += b, b = ag_rotated_u32(b, 26) ^ a;
    a += b, b = ag_rotated_u32(b, 6) ^ a;
    a += k1, b += k2 + 1;
    a += b, b = ag_rotated_u32(b, 17) ^ a;
    a += b, b = ag_rotated_u32(b, 29) ^ a;
    a += b, b = ag_rotated_u32(b, 16) ^ a;
    a += b, b = ag_rotated_u32(b, 24) ^ a;
    a += k2, b += k0 + 2;
    a += b, b = ag_rotated_u32(b, 13) ^ a;
    a += b, b = ag_rotated_u32(b, 15) ^ a;
    a += b, b = ag_rotated_u32(b, 26) ^ a;
    a += b, b = ag_rotated_u32(b, 6) ^ a;
    a += k0, b += k1 + 3;
    a += b, b = ag_rotated_u32(b, 17) ^ a;
    a += b, b = ag_rotated_u32(b, 29) ^ a;
    a += b, b = ag_rotated_u32(b, 16) ^ a;
    a += b, b = ag_rotated_u32(b, 24) ^ a;
    a += k1, b += k2 + 4;
    a += b, b = ag_rotated_u32(b, 13) ^ a;
    a += b, b = ag_rotated_u32(b, 15) ^ a;
    a += b, b = ag_rotated_u32(b, 26) ^ a;
    a += b, b = ag_rotated_u32(b, 6) ^ a;
    a += k2, b += k0 + 5;
    return (u64)a << 32 | b;
}
