/* Blocks of sums of bytes by tiles of AMX: at most 32 rows by 32 columns, four tiles of sums.  tdpbusd and tdpbssd add to each
   of 16 by 16 sums the products of 16 words of a row and of a column, as vpdpbusd does, so no bit differs. */
#pragma once
#include "lanes.c"
#include "../tiles.h"

#if HAS_TILES && (defined(__AMX_INT8__) || defined(AG_EMULATED_TILES))
#define HAS_BYTE_TILES 1
enum { SUMS = 0, LEFT = 4, RIGHT = 6 }; /* tiles: sums by rows and columns, two left sides, two right sides */
enum { BLOCK_ROWS = 2 * TILE_ROWS };
enum { BYTES_AHEAD = 8192 }; /* of weights that are asked for: hardware does not look beyond a page */

/* A block: for each chunk and each place, `words` words of rows of x times as many of weights. */
typedef struct tile_block {
    const byte *x, *w;
    i64 step, width;      /* bytes from a row of x to the next, from a word of weights to the next */
    i64 chunks, distance; /* distance: bytes from a chunk of x to the next */
    i64 places;
    const i32 *place; /* bytes from x on */
    i64 words;
    i32 *c;
    i64 row;    /* bytes from a row of sums to the next */
    i32 is_new; /* weights come from memory: later ones are asked for */
    i32 is_signed;
} tile_block;

/* Load the shapes of blocks of `rows` rows, and of products of `words` words. */
static void shape_tiles(i64 rows, i64 words)
{
    tile_shapes all = {.palette = 1};
    for (i32 r = 0; r < 2; r++) {
        const i64 own = at_least(0, at_most(TILE_ROWS, rows - r * TILE_ROWS));
        for (i32 v = 0; v < 2; v++)
            all.rows[SUMS + 2 * r + v] = (unsigned char)own, all.bytes[SUMS + 2 * r + v] = own ? TILE_BYTES : 0;
        all.rows[LEFT + r] = (unsigned char)own, all.bytes[LEFT + r] = (unsigned short)(own ? 4 * words : 0);
        all.rows[RIGHT + r] = (unsigned char)words, all.bytes[RIGHT + r] = TILE_BYTES;
    }
    CONFIGURE(&all);
}

/* A block of one or two tiles of rows by one or two of columns. */
#define SUM_BLOCK(name, instruction, rows, columns) \
    static void name(const tile_block *at) \
    { \
        const i64 step = at->step, width = at->width, places = at->places, below = TILE_ROWS * step; \
        const i64 asked = at->is_new ? at->words * width : 0; \
        const byte *x = at->x, *w = at->w; \
        CLEAR_TILE(SUMS); \
        if (columns > 1) CLEAR_TILE(SUMS + 1); \
        if (rows > 1) CLEAR_TILE(SUMS + 2); \
        if (rows > 1 && columns > 1) CLEAR_TILE(SUMS + 3); \
        for (i64 chunk = 0; chunk < at->chunks; chunk++, x += at->distance) \
            for (i64 k = 0; k < places; k++, w += at->words * width) { \
                const byte *const left = x + at->place[k]; \
                for (i64 q = 0; q < asked; q += TILE_BYTES) __builtin_prefetch(w + BYTES_AHEAD + q, 0, 2); \
                LOAD_TILE(RIGHT, w, width); \
                LOAD_TILE(LEFT, left, step); \
                if (columns > 1) LOAD_TILE(RIGHT + 1, w + TILE_BYTES, width); \
                if (rows > 1) LOAD_TILE(LEFT + 1, left + below, step); \
                MULTIPLY_TILES(instruction, SUMS, LEFT, RIGHT); \
                if (columns > 1) MULTIPLY_TILES(instruction, SUMS + 1, LEFT, RIGHT + 1); \
                if (rows > 1) MULTIPLY_TILES(instruction, SUMS + 2, LEFT + 1, RIGHT); \
                if (rows > 1 && columns > 1) MULTIPLY_TILES(instruction, SUMS + 3, LEFT + 1, RIGHT + 1); \
            } \
        char *const c = (char *)at->c; \
        STORE_TILE(SUMS, c, at->row); \
        if (columns > 1) STORE_TILE(SUMS + 1, c + TILE_BYTES, at->row); \
        if (rows > 1) STORE_TILE(SUMS + 2, c + TILE_ROWS * at->row, at->row); \
        if (rows > 1 && columns > 1) STORE_TILE(SUMS + 3, c + TILE_ROWS * at->row + TILE_BYTES, at->row); \
    }
SUM_BLOCK(unsigned_1_1, "tdpbusd", 1, 1)
SUM_BLOCK(unsigned_1_2, "tdpbusd", 1, 2)
SUM_BLOCK(unsigned_2_1, "tdpbusd", 2, 1)
SUM_BLOCK(unsigned_2_2, "tdpbusd", 2, 2)
SUM_BLOCK(signed_1_1, "tdpbssd", 1, 1)
SUM_BLOCK(signed_1_2, "tdpbssd", 1, 2)
SUM_BLOCK(signed_2_1, "tdpbssd", 2, 1)
SUM_BLOCK(signed_2_2, "tdpbssd", 2, 2)

/* Sum a block of `rows` rows, for which tiles are shaped, by one or two vectors of columns. */
static void sum_block(const tile_block *at, i64 rows, i64 vectors)
{
    static void (*const of[2][2][2])(const tile_block *) = {
        {{unsigned_1_1, unsigned_1_2}, {unsigned_2_1, unsigned_2_2}},
        {{signed_1_1, signed_1_2}, {signed_2_1, signed_2_2}}};
    of[at->is_signed != 0][rows > TILE_ROWS][vectors > 1](at);
}
#else
#define HAS_BYTE_TILES 0
#endif
