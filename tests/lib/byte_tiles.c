/* Products of bytes by the tiles of kernels/quantized/tiles.c, whose C stands before this file, beside their definition. */
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 1;
static unsigned next(void) { return state = state * 1664525u + 1013904223u, state >> 16; }

int main(void)
{
    int differ = !may_use_tiles(), cases = 0;
    for (int trial = 0; trial < 200; trial++) {
        const i64 rows = 1 + next() % 16, groups = 1 + next() % 50, vectors = 1 + next() % 4,
                  row = 4 * groups + next() % 9;
        const i64 width = vectors * 16, step = width + next() % 5;
        byte *x = malloc((size_t)(rows * row)), *w = malloc((size_t)(groups * vectors * 64));
        i32 *c = malloc((size_t)(rows * step) * 4);
        const int is_signed = next() % 2, extreme = next() % 4 == 0;
        for (i64 k = 0; k < rows * row; k++) x[k] = (byte)(extreme ? -1 - (is_signed ? 127 : 0) : (int)next());
        for (i64 k = 0; k < groups * vectors * 64; k++) w[k] = (byte)(extreme ? -128 : (int)next());
        multiply_by_tiles(&(tile_product){.x = x,
                                          .w = w,
                                          .rows = rows,
                                          .row = row,
                                          .groups = groups,
                                          .vectors = vectors,
                                          .c = c,
                                          .step = step,
                                          .is_signed = is_signed});
        for (i64 i = 0; i < rows; i++)
            for (i64 j = 0; j < width; j++, cases++) {
                i32 sum = 0;
                for (i64 q = 0; q < 4 * groups; q++) {
                    const byte left = x[i * row + q], right = w[(q / 4 * vectors * 16 + j) * 4 + q % 4];
                    sum += (is_signed ? left : (int)(unsigned char)left) * right;
                }
                differ += sum != c[i * step + j];
            }
        free(x), free(w), free(c);
    }
    printf("%d of %d differ\n", differ, cases);
    return differ != 0;
}
