/* Helpers of tiles: how large they are, and in which order. */
#pragma once
#include "types.h"

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
