/* Rows of bytes by a panel of weights of products.c, 16 words along the sum at a time: tdpbusd adds to each of 16 by 16
   sums the products of a word of a and one of b, as vpdpbusd does, so no bit differs. */
#pragma once
#include "lanes.c"
#include "../tiles.h"

#if HAS_TILES && (defined(__AMX_INT8__) || defined(AG_EMULATED_TILES))
#define BYTE_TILES 1
enum { SUMS = 0, LEFT = 2, RIGHT = 3, LAST_LEFT = 5, LAST_RIGHT = 6 }; /* tiles; sums and right sides are two each */

/* A call of `multiply_by_tiles`: rows of bytes, `row` apart, by a panel. */
typedef struct tile_product {
    const byte *x, *w; /* w: for each word, `vectors` vectors */
    i64 rows, row, groups, vectors;
    i32 *c;
    i64 step; /* numbers from a row of c to the next */
    i32 is_signed;
} tile_product;

#define STEP(instruction, left, right, words) \
    do { \
        LOAD_TILE(left, x, at->row); \
        LOAD_TILE(right, w, at->vectors * TILE_BYTES); \
        MULTIPLY_TILES(instruction, SUMS, left, right); \
        if (two) { \
            LOAD_TILE(right + 1, w + TILE_BYTES, at->vectors * TILE_BYTES); \
            MULTIPLY_TILES(instruction, SUMS + 1, left, right + 1); \
        } \
        x += 4 * (words), w += (words) * at->vectors * TILE_BYTES; \
    } while (0)

/* Some rows by one or two vectors of columns, from vector v on. */
#define ROWS_BY_TILES(name, instruction) \
    static void name(const tile_product *at, i64 v, i32 two, i64 rest) \
    { \
        static const i32 nothing[TILE_WORDS]; \
        const byte *x = at->x, *w = at->w + v * TILE_BYTES; \
        LOAD_TILE(SUMS, nothing, 0); \
        if (two) LOAD_TILE(SUMS + 1, nothing, 0); \
        for (i64 g = TILE_WORDS; g <= at->groups; g += TILE_WORDS) STEP(instruction, LEFT, RIGHT, TILE_WORDS); \
        if (rest) STEP(instruction, LAST_LEFT, LAST_RIGHT, rest); \
        STORE_TILE(SUMS, at->c + v * TILE_WORDS, 4 * at->step); \
        if (two) STORE_TILE(SUMS + 1, at->c + (v + 1) * TILE_WORDS, 4 * at->step); \
    }
ROWS_BY_TILES(unsigned_by_tiles, "tdpbusd")
ROWS_BY_TILES(signed_by_tiles, "tdpbssd")

/* c = x times the panel, for at most TILE_ROWS rows. */
static void multiply_by_tiles(const tile_product *at)
{
    const i64 rest = at->groups % TILE_WORDS;
    tile_shapes own = {.palette = 1};
    for (i32 k = 0; k < 8; k++) {
        const i32 is_last = k >= LAST_LEFT, is_left = k == LEFT || k == LAST_LEFT;
        const i32 words = is_last ? (i32)rest : TILE_WORDS;
        own.rows[k] = (unsigned char)(k < LEFT || is_left ? at->rows : words);
        own.bytes[k] = (unsigned short)(is_left ? 4 * words : TILE_BYTES);
        if (!words) own.rows[k] = 0, own.bytes[k] = 0;
    }
    CONFIGURE(&own);
    for (i64 v = 0; v < at->vectors; v += 2)
        (at->is_signed ? signed_by_tiles : unsigned_by_tiles)(at, v, v + 1 < at->vectors, rest);
    RELEASE_TILES();
}
#else
#define BYTE_TILES 0
#endif
