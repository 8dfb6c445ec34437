/* Rows of pairs of bfloat16 numbers by vectors of columns, in the order of the tiles of AMX.

   Along the sum, some words at a time, at most 16: the products of the first numbers of pairs are summed from zero, those
   of the second ones too, each addition with one rounding; then the sum of both is added to what there was.  tdpbf16ps
   does this for 16 by 16 sums, and takes numbers below 2^-126 for zero.  Multiplications of floats give the same bits
   where there are none of these; they serve where Linux refuses tiles. */
#pragma once
#include "../tiles.h"
#include "fused.c"
#include "pairs.c"

/* CHUNK: words; their bytes are a line of memory. */
enum { CHUNK = 16, CHUNK_BYTES = 4 * CHUNK, MOST_TILED_ROWS = 2 * CHUNK };
enum { STREAM_AHEAD = 4096 }; /* prefetch distance in a stream of weights, bytes */

/* Up to 32 rows of x by vectors of columns.  Lengths and steps are bytes, except `words` and `vectors`. */
typedef struct pair_product {
    const char *x[2];  /* the first row of each 16 */
    i64 rows, row;     /* row: from a row of x to the next */
    const i64 *places; /* NULL, or where each chunk of x lies behind the first one */
    i64 chunk;         /* words that are summed at once, at most CHUNK */
    const char *w;     /* words, vectors, lanes */
    i64 words, word;   /* along the sum; word: from a word of w to the next */
    i64 vectors;       /* of columns */
    const char *ahead; /* what is read next: some lines of it ... */
    i64 lines;         /* ... are prefetched with each chunk, for all vectors together */
    i32 is_stream;     /* w is read once, in its order, by at most four vectors: its own lines are prefetched */
    const char *from;  /* what the sums begin with: rows, ... */
    i64 from_row;      /* ... so far from each other: 0 where all begin with the same */
    i64 group;         /* 0, or numbers along the sum, of 16 words, that belong to as many outputs of 16 */
    char *to[2];       /* where each 16 rows of sums go */
    i64 to_row;
} pair_product;

/* The product by vectors, in the order of tiles.  With groups no number is multiplied by the zeros of other groups. */
static __attribute__((unused)) void multiply_pairs_by_vectors(const pair_product *of)
{
    typedef pair_sums unaligned_sums __attribute__((aligned(4), may_alias));
    typedef pairs unaligned_pairs __attribute__((aligned(4), may_alias));
    typedef i32 word_bits __attribute__((may_alias));
    const i32 upper = (i32)0xffff0000;
    for (i64 r = 0; r < of->rows; r++)
        for (i64 at = 0; at < of->vectors * CHUNK_BYTES; at += VECTOR_BYTES) {
            const char *const x = of->x[r / CHUNK] + r % CHUNK * of->row, *w = of->w + at;
            pair_sums sum = *(const unaligned_sums *)(of->from + r * of->from_row + at);
            for (i64 word = 0; word < of->words; word += of->chunk) {
                const i64 count = at_most(of->chunk, of->words - word);
                const word_bits *a = (const word_bits *)(x + (of->places ? of->places[word / of->chunk] : 4 * word));
                pair_sums first = {0}, second = {0};
                for (i64 k = 0; k < count; k++, w += of->word) {
                    const pairs left = a[k] - (pairs){0}, right = *(const unaligned_pairs *)w;
                    const pair_sums old_first = first, old_second = second;
                    first = add_multiple(first, (floats)(left << 16), (floats)(right << 16));
                    second = add_multiple(second, (floats)(left & upper), (floats)(right & upper));
                    for (i64 l = 0; l < VECTOR_BYTES / 4 && of->group; l++)
                        if ((at % CHUNK_BYTES / 4 + l) / of->group != 2 * k / of->group)
                            first[l] = old_first[l], second[l] = old_second[l];
                }
                sum += first + second;
            }
            *(unaligned_sums *)(of->to[r / CHUNK] + r % CHUNK * of->to_row + at) = sum;
        }
}

#if HAS_TILES && (defined(__AMX_BF16__) || defined(AG_EMULATED_TILES))
#define PAIR_TILES 1
enum { LEFT_TILE = 4, RIGHT_TILE = 6 }; /* tiles 0 to 3 are sums */

/* The last words of a sum, with zeros up to 16. */
typedef struct last_words {
    i32 x[2][TILE_ROWS][TILE_WORDS], w[4][TILE_WORDS][TILE_WORDS];
} last_words;

/* Add the products of 16 words to sums of one or two times 16 rows and 1 to 4 vectors, at most four tiles. */
INLINE void add_tiles(const int both, const int vectors, const char *first, const char *second, i64 row, const char *w,
                      i64 word, i64 vector_step)
{
    LOAD_TILE(LEFT_TILE, first, row);
    LOAD_TILE(RIGHT_TILE, w, word);
    MULTIPLY_TILES("tdpbf16ps", 0, LEFT_TILE, RIGHT_TILE);
    if (both) {
        LOAD_TILE(LEFT_TILE + 1, second, row);
        MULTIPLY_TILES("tdpbf16ps", 2, LEFT_TILE + 1, RIGHT_TILE);
    }
    if (vectors > 1) {
        LOAD_TILE(RIGHT_TILE + 1, w + vector_step, word);
        MULTIPLY_TILES("tdpbf16ps", 1, LEFT_TILE, RIGHT_TILE + 1);
        if (both) MULTIPLY_TILES("tdpbf16ps", 3, LEFT_TILE + 1, RIGHT_TILE + 1);
    }
    if (vectors > 2) {
        LOAD_TILE(RIGHT_TILE, w + 2 * vector_step, word);
        MULTIPLY_TILES("tdpbf16ps", 2, LEFT_TILE, RIGHT_TILE);
    }
    if (vectors > 3) {
        LOAD_TILE(RIGHT_TILE + 1, w + 3 * vector_step, word);
        MULTIPLY_TILES("tdpbf16ps", 3, LEFT_TILE, RIGHT_TILE + 1);
    }
}

static void copy_last_words(const pair_product *of, i64 vector, i64 vectors, i64 rest, const char *const *x,
                            last_words *last)
{
    __builtin_memset(last, 0, sizeof *last);
    for (i64 r = 0; r < of->rows; r++)
        __builtin_memcpy(last->x[r / TILE_ROWS][r % TILE_ROWS], x[r / TILE_ROWS] + r % TILE_ROWS * of->row,
                         (unsigned long)rest * 4);
    for (i64 v = 0; v < vectors; v++)
        for (i64 k = 0; k < rest; k++)
            __builtin_memcpy(last->w[v][k], of->w + (of->words - rest + k) * of->word + (vector + v) * TILE_BYTES,
                             TILE_BYTES);
}

/* Vectors [vector, vector + vectors) of all rows. */
INLINE void sum_tiles(const int both, const int vectors, const pair_product *of, i64 vector)
{
    const i64 column = vector * TILE_BYTES;
    const i64 chunks = of->chunk == TILE_WORDS ? of->words / TILE_WORDS : of->words / of->chunk; /* a shift is faster */
    const i64 rest = of->words - chunks * of->chunk;
    const char *const from = of->from + column, *w = of->w + column;
    const char *ahead = of->ahead + vector / (both ? 2 : 4) * chunks * of->lines * CHUNK_BYTES;
    const char *const x[2] = {of->x[0], of->x[1]};
    LOAD_TILE(0, from, of->from_row);
    if (vectors > 1) LOAD_TILE(1, from + TILE_BYTES, of->from_row);
    if (vectors > 2) LOAD_TILE(2, from + 2 * TILE_BYTES, of->from_row);
    if (vectors > 3) LOAD_TILE(3, from + 3 * TILE_BYTES, of->from_row);
    if (both) {
        LOAD_TILE(2, from + TILE_ROWS * of->from_row, of->from_row);
        if (vectors > 1) LOAD_TILE(3, from + TILE_ROWS * of->from_row + TILE_BYTES, of->from_row);
    }
    for (i64 k = 0; k < chunks; k++, w += of->chunk * of->word) {
        const i64 place = of->places ? of->places[k] : k * TILE_BYTES;
        for (i64 line = 0; line < of->lines; line++, ahead += CHUNK_BYTES) __builtin_prefetch(ahead, 0, 2);
        for (i64 line = 0; line < CHUNK * vectors && of->is_stream; line++)
            __builtin_prefetch(w + STREAM_AHEAD + line * CHUNK_BYTES, 0, 3);
        add_tiles(both, vectors, x[0] + place, x[1] + place, of->row, w, of->word, TILE_BYTES);
    }
    if (rest) {
        last_words last;
        const char *const ends[2] = {x[0] + chunks * TILE_BYTES, x[1] + chunks * TILE_BYTES};
        copy_last_words(of, vector, vectors, rest, ends, &last);
        add_tiles(both, vectors, (const char *)last.x[0], (const char *)last.x[1], TILE_BYTES, (const char *)last.w,
                  TILE_BYTES, sizeof last.w[0]);
    }
    char *const to = of->to[0] + column, *const below = of->to[1] + column;
    STORE_TILE(0, to, of->to_row);
    if (vectors > 1) STORE_TILE(1, to + TILE_BYTES, of->to_row);
    if (vectors > 2) STORE_TILE(2, to + 2 * TILE_BYTES, of->to_row);
    if (vectors > 3) STORE_TILE(3, to + 3 * TILE_BYTES, of->to_row);
    if (both) {
        STORE_TILE(2, below, of->to_row);
        if (vectors > 1) STORE_TILE(3, below + TILE_BYTES, of->to_row);
    }
}

/* The shapes of tiles for so many rows and words that are summed at once. */
static void configure_pairs(i64 rows, i64 chunk)
{
    tile_shapes own = {.palette = 1};
    for (i32 k = 0; k < 8; k++) {
        const i32 is_second = k == LEFT_TILE + 1 || (rows > TILE_ROWS && (k == 2 || k == 3));
        const i64 of_rows = is_second ? rows - TILE_ROWS : at_most(rows, TILE_ROWS);
        own.rows[k] = (unsigned char)(k >= RIGHT_TILE ? chunk : at_least(of_rows, 1));
        own.bytes[k] = (unsigned short)(k == LEFT_TILE || k == LEFT_TILE + 1 ? 4 * chunk : TILE_BYTES);
    }
    CONFIGURE(&own);
}

/* The product by tiles; `configure_pairs` has been called with its rows. */
static void multiply_pairs_by_tiles(const pair_product *of)
{
    const i32 both = of->rows > TILE_ROWS;
    i64 v = 0;
    if (both) {
        for (; v + 2 <= of->vectors; v += 2) sum_tiles(1, 2, of, v);
        if (v < of->vectors) sum_tiles(1, 1, of, v);
        return;
    }
    for (; v + 4 <= of->vectors; v += 4) sum_tiles(0, 4, of, v);
    if (of->vectors - v == 3) sum_tiles(0, 3, of, v);
    if (of->vectors - v == 2) sum_tiles(0, 2, of, v);
    if (of->vectors - v == 1) sum_tiles(0, 1, of, v);
}

#else
#define PAIR_TILES 0
INLINE void configure_pairs(i64 rows, i64 chunk) { (void)rows, (void)chunk; }
INLINE void multiply_pairs_by_tiles(const pair_product *of) { multiply_pairs_by_vectors(of); }
#define RELEASE_TILES() (void)0
#endif

/* Whether the instructions for pairs may be used. */
INLINE i32 may_use_unit(void)
{
#if PAIR_TILES
    return may_use_tiles();
#else
    return 1;
#endif
}

/* Let each chunk of the product prefetch a share of `bytes` bytes, where `blocks` such products take turns and this is
   number `block`. */
static __attribute__((unused)) void look_ahead_of_pairs(pair_product *of, const char *bytes_at, i64 bytes, i64 block,
                                                        i64 blocks)
{
    const i64 passes = parts(of->vectors, of->rows > CHUNK ? 2 : 4) * at_least(1, of->words / of->chunk);
    of->lines = parts(bytes, CHUNK_BYTES * passes * blocks);
    const i64 begin = block * passes * of->lines * CHUNK_BYTES;
    of->ahead = bytes_at + begin;
    if (begin >= bytes) of->lines = 0;
}

/* Rows [0, rows) in blocks, of which `of` holds the first one; by tiles unless `plain`. */
static __attribute__((unused)) void multiply_rows_of_pairs(pair_product of, i64 rows, i32 plain)
{
    const char *x = of.x[0], *from = of.from;
    char *to = of.to[0];
    i64 configured = 0;
    for (i64 r = 0; r < rows; r += MOST_TILED_ROWS) {
        of.rows = at_most(MOST_TILED_ROWS, rows - r);
        of.x[0] = x + r * of.row, of.x[1] = of.x[0] + CHUNK * of.row;
        of.to[0] = to + r * of.to_row, of.to[1] = of.to[0] + CHUNK * of.to_row, of.from = from + r * of.from_row;
        if (plain) {
            multiply_pairs_by_vectors(&of);
            continue;
        }
        if (of.rows != configured) configure_pairs(configured = of.rows, of.chunk);
        multiply_pairs_by_tiles(&of);
    }
    if (!plain) RELEASE_TILES();
}
