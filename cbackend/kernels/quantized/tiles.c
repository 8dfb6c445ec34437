/* Tiles of AMX: 16 rows of 64 bytes each.  Rows of bytes by a panel of weights of products.c, 16 words along the sum at a
   time: tdpbusd adds to each of 16 by 16 sums the products of a word of a and one of b, as vpdpbusd does, so no bit differs.

   A process asks Linux once for the state of the tiles (arch_prctl, ARCH_REQ_XCOMP_PERM); if it refuses, vectors
   multiply.  AG_EMULATED_TILES: the instructions in C, for tests on machines without them. */
#pragma once
#include "lanes.c"

#if defined(__AMX_INT8__) || defined(AG_EMULATED_TILES)
#define HAS_TILES 1
enum { TILE_ROWS = 16, TILE_WORDS = 16, TILE_BYTES = 64 };
enum { SUMS = 0, LEFT = 2, RIGHT = 3, LAST_LEFT = 5, LAST_RIGHT = 6 }; /* tiles; sums and right sides are two each */

/* The shapes that ldtilecfg loads: rows of each tile, and bytes of a row. */
typedef struct tile_shapes {
    unsigned char palette, start, none[14];
    unsigned short bytes[16];
    unsigned char rows[16];
} tile_shapes;

#if defined(AG_EMULATED_TILES)
static __thread tile_shapes shapes;
static __thread i32 tile_numbers[8][TILE_ROWS][TILE_WORDS];
#define CONFIGURE(of) (shapes = *(of))
#define LOAD_TILE(number, from, step) \
    for (i64 r = 0; r < shapes.rows[number]; r++) \
    __builtin_memcpy(tile_numbers[number][r], (const char *)(from) + r * (step), shapes.bytes[number])
#define STORE_TILE(number, to, step) \
    for (i64 r = 0; r < shapes.rows[number]; r++) \
    __builtin_memcpy((char *)(to) + r * (step), tile_numbers[number][r], shapes.bytes[number])
#define MULTIPLY_TILES(instruction, sums, left, right) multiply_emulated(instruction[4] == 's', sums, left, right)
#define RELEASE_TILES() (void)0
static void multiply_emulated(i32 is_signed, i32 sums, i32 left, i32 right)
{
    for (i64 r = 0; r < shapes.rows[sums]; r++)
        for (i64 k = 0; k < shapes.bytes[left] / 4; k++)
            for (i64 n = 0; n < shapes.bytes[sums] / 4; n++)
                for (i64 b = 0; b < 4; b++) {
                    const byte x = ((const byte *)&tile_numbers[left][r][k])[b];
                    const byte w = ((const byte *)&tile_numbers[right][k][n])[b];
                    tile_numbers[sums][r][n] += (is_signed ? x : (i32)(unsigned char)x) * w;
                }
}
static i32 may_use_tiles(void) { return 1; }
#else
#define CONFIGURE(of) __asm__ volatile("ldtilecfg %0" : : "m"(*(of)))
#define LOAD_TILE(number, from, step) \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"((i64)(step)), "i"(number) : "memory")
#define STORE_TILE(number, to, step) \
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"((i64)(step)), "i"(number) : "memory")
#define MULTIPLY_TILES(instruction, sums, left, right) \
    __asm__ volatile(instruction " %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(left), "i"(right))
#define RELEASE_TILES() __asm__ volatile("tilerelease")

/* Whether Linux lets this process use tiles; it is asked once. */
static i32 may_use_tiles(void)
{
    static i32 known; /* 0: not asked; 1: no; 2: yes */
    i32 found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!found) {
        enum { ARCH_PRCTL = 158, REQUEST = 0x1023, TILE_DATA = 18 };
        i64 result = ARCH_PRCTL;
        __asm__ volatile("syscall" : "+a"(result) : "D"(REQUEST), "S"(TILE_DATA) : "rcx", "r11", "memory");
        found = result == 0 ? 2 : 1;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found == 2;
}
#endif

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
#define HAS_TILES 0
#endif
