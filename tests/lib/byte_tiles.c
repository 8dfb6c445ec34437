/* Blocks of sums of bytes by kernels/quantized/tiles.c, whose C stands before this file, beside their definition. */
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 1;
static unsigned next(void) { return state = state * 1664525u + 1013904223u, state >> 16; }

enum { MOST_PLACES = 4, NEAR = 40 };

int main(void)
{
    int differ = !may_use_tiles(), cases = 0;
    for (int trial = 0; trial < 300; trial++) {
        const i64 rows = 1 + next() % 32, vectors = 1 + next() % 2, panel = vectors + next() % 3,
                  words = 1 + next() % 16;
        const i64 chunks = 1 + next() % 4, places = 1 + next() % MOST_PLACES, step = 4 * words + next() % 70;
        const i64 width = 64 * panel, row = 64 * vectors + 4 * (next() % 5);
        const i64 distance = rows * step + NEAR, size = chunks * distance + 4 * words;
        i32 place[MOST_PLACES];
        for (int k = 0; k < MOST_PLACES; k++) place[k] = next() % NEAR;
        byte *x = malloc((size_t)size), *w = malloc((size_t)(chunks * places * words * width));
        i32 *c = malloc((size_t)(rows * row));
        const int is_signed = next() % 2, extreme = next() % 4 == 0;
        for (i64 k = 0; k < size; k++) x[k] = (byte)(extreme ? -1 - (is_signed ? 127 : 0) : (int)next());
        for (i64 k = 0; k < chunks * places * words * width; k++) w[k] = (byte)(extreme ? -128 : (int)next());
        shape_tiles(rows, words);
        sum_block(&(tile_block){.x = x,
                                .w = w,
                                .step = step,
                                .width = width,
                                .chunks = chunks,
                                .distance = distance,
                                .places = places,
                                .place = place,
                                .words = words,
                                .c = c,
                                .row = row,
                                .is_signed = is_signed},
                  rows, vectors);
        RELEASE_TILES();
        for (i64 i = 0; i < rows; i++)
            for (i64 j = 0; j < 16 * vectors; j++, cases++) {
                unsigned sum = 0;
                for (i64 part = 0; part < chunks * places; part++)
                    for (i64 q = 0; q < 4 * words; q++) {
                        const i64 from = part / places * distance + place[part % places] + i * step + q;
                        const byte right = w[(part * words + q / 4) * width + 4 * j + q % 4];
                        sum += (unsigned)((is_signed ? x[from] : (int)(unsigned char)x[from]) * right);
                    }
                differ += (i32)sum != *(i32 *)((char *)c + i * row + 4 * j);
            }
        free(x), free(w), free(c);
    }
    printf("%d of %d differ\n", differ, cases);
    return differ != 0;
}
