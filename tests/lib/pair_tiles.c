/* Products of pairs by kernels/products/pair_tiles.c, whose C stands before this file, by tiles beside vectors. */
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 1;
static unsigned next(void) { return state = state * 1664525u + 1013904223u, state >> 16; }
/* bfloat16 numbers between 1/4 and 4, of either sign. */
static unsigned short number(void) { return (unsigned short)(((next() & 1) << 15) + 0x3e80 + next() % 0x200); }

int main(void)
{
    int differ = !may_use_tiles(), cases = 0;
    for (int trial = 0; trial < 400; trial++) {
        const i64 rows = 1 + next() % MOST_TILED_ROWS, vectors = 1 + next() % 5, parts_of_chunk = 1 + next() % 4;
        const i32 has_places = next() % 2;
        const i64 chunk = has_places ? 1 + next() % CHUNK : CHUNK;
        const i64 words = has_places ? chunk * parts_of_chunk : 1 + next() % 70;
        const i64 row = 4 * (has_places ? 3 : words), word = 64 * (vectors + next() % 2);
        const i64 size = rows * row + 4 * words + 400, columns = 16 * vectors, step = columns + next() % 3;
        i64 places[4];
        for (int k = 0; k < 4; k++) places[k] = 4 * (next() % 30);
        unsigned short *x = malloc((size_t)size), *w = malloc((size_t)(words * word));
        float *from = malloc((size_t)(rows * step * 4)), *found[2];
        for (i64 k = 0; k < size / 2; k++) x[k] = number();
        for (i64 k = 0; k < words * word / 2; k++) w[k] = number();
        for (i64 k = 0; k < rows * step; k++) from[k] = (float)next() / 65536;
        for (int way = 0; way < 2; way++) {
            found[way] = calloc((size_t)(rows * step), 4);
            pair_product of = {
                .x = {(char *)x},
                .row = row,
                .places = has_places ? places : 0,
                .chunk = chunk,
                .w = (char *)w,
                .words = words,
                .word = word,
                .vectors = vectors,
                .from = (char *)from,
                .from_row = trial % 3 ? 4 * step : 0,
                .to = {(char *)found[way]},
                .to_row = 4 * step,
            };
            if (trial % 2) of.rows = rows, look_ahead_of_pairs(&of, (char *)w, words * word, 0, 1);
            multiply_rows_of_pairs(of, rows, way);
        }
        for (i64 i = 0; i < rows; i++)
            for (i64 j = 0; j < columns; j++, cases++) differ += found[0][i * step + j] != found[1][i * step + j];
        free(x), free(w), free(from), free(found[0]), free(found[1]);
    }
    printf("%d of %d differ\n", differ, cases);
    return differ != 0;
}
