/* Tiles of AMX: registers of 16 rows of 64 bytes.  Instructions, the shapes that they work on, and whether Linux permits them.

   A process asks Linux once for the state of the tiles (arch_prctl, ARCH_REQ_XCOMP_PERM); if it refuses, vectors
   multiply.  AG_EMULATED_TILES: the instructions in C, for tests on machines without them. */
#pragma once
#include "products/arithmetic.c"

#if defined(__AMX_TILE__) || defined(AG_EMULATED_TILES)
#define HAS_TILES 1
enum { TILE_ROWS = 16, TILE_WORDS = 16, TILE_BYTES = 64 };

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
#define MULTIPLY_TILES(instruction, sums, left, right) \
    (instruction[4] == 'f' ? multiply_emulated_pairs(sums, left, right) \
                           : multiply_emulated(instruction[4] == 's', sums, left, right))
#define CLEAR_TILE(number) __builtin_memset(tile_numbers[number], 0, sizeof tile_numbers[number])
#define RELEASE_TILES() (void)0
static void multiply_emulated(i32 is_signed, i32 sums, i32 left, i32 right)
{
    for (i64 r = 0; r < shapes.rows[sums]; r++)
        for (i64 k = 0; k < shapes.bytes[left] / 4; k++)
            for (i64 n = 0; n < shapes.bytes[sums] / 4; n++)
                for (i64 b = 0; b < 4; b++) {
                    const signed char x = ((const signed char *)&tile_numbers[left][r][k])[b];
                    const signed char w = ((const signed char *)&tile_numbers[right][k][n])[b];
                    tile_numbers[sums][r][n] += (is_signed ? x : (i32)(unsigned char)x) * w;
                }
}
static void multiply_emulated_pairs(i32 sums, i32 left, i32 right)
{
    for (i64 r = 0; r < shapes.rows[sums]; r++)
        for (i64 n = 0; n < shapes.bytes[sums] / 4; n++) {
            union {
                unsigned bits;
                float number;
            } x, w, sum = {(unsigned)tile_numbers[sums][r][n]};
            float of_half[2] = {0};
            for (i64 k = 0; k < shapes.bytes[left] / 4; k++)
                for (i64 b = 0; b < 2; b++) {
                    const unsigned left_word = (unsigned)tile_numbers[left][r][k];
                    const unsigned right_word = (unsigned)tile_numbers[right][k][n];
                    x.bits = b ? left_word & 0xffff0000 : left_word << 16;
                    w.bits = b ? right_word & 0xffff0000 : right_word << 16;
                    of_half[b] += x.number * w.number;
                }
            sum.number += of_half[0] + of_half[1];
            tile_numbers[sums][r][n] = (i32)sum.bits;
        }
}
static __attribute__((unused)) i32 may_use_tiles(void) { return 1; }
#else
#define CONFIGURE(of) __asm__ volatile("ldtilecfg %0" : : "m"(*(of)))
#define LOAD_TILE(number, from, step) \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"((i64)(step)), "i"(number) : "memory")
#define STORE_TILE(number, to, step) \
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"((i64)(step)), "i"(number) : "memory")
#define MULTIPLY_TILES(instruction, sums, left, right) \
    __asm__ volatile(instruction " %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(left), "i"(right))
#define CLEAR_TILE(number) __asm__ volatile("tilezero %%tmm%c0" : : "i"(number))
#define RELEASE_TILES() __asm__ volatile("tilerelease")

/* Whether Linux lets this process use tiles; it is asked once. */
static __attribute__((unused)) i32 may_use_tiles(void)
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
#else
#define HAS_TILES 0
#endif
