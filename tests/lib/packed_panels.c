/* Panels of columns by the packing of kernels/products/panels.c, whose C stands before this file, beside their
   definition: each row has `width` numbers (complex: the real parts, then the imaginary parts), zeros behind the last
   column. */
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 1;
static unsigned next(void) { return state = state * 1664525u + 1013904223u, state >> 16; }

/* Numbers of a panel that are not as they should be. */
static int wrong(const REAL *panel, const T *b, const i64 *rows, const i64 *columns, i64 k, i64 n, i64 width)
{
    int count = 0;
    for (i64 p = 0; p < k; p++, panel += (1 + COMPLEX) * width)
        for (i64 j = 0; j < width; j++) {
            const T value = j < n ? b[rows[p] + columns[j]] : 0;
            count += panel[j] != __real__ value;
            if (COMPLEX) count += panel[width + j] != __imag__ value;
        }
    return count;
}

static void poison(REAL *panel, i64 numbers)
{
    for (i64 i = 0; i < numbers; i++) panel[i] = 77;
}

int main(void)
{
    int differ = 0, cases = 0;
    for (int trial = 0; trial < 400; trial++, cases++) {
        const i64 k = 1 + next() % 19, n = 1 + next() % COLUMNS, width = panel_width(n), b1 = 1 + next() % 3,
                  b0 = n * b1 + next() % 5, numbers = k * (1 + COMPLEX) * width;
        T *b = malloc((size_t)((k - 1) * b0 + (n - 1) * b1 + 1) * sizeof(T));
        i64 *rows = malloc((size_t)k * sizeof(i64)), *columns = malloc((size_t)n * sizeof(i64));
        REAL *panel = aligned_alloc(VECTOR_BYTES, (size_t)numbers * sizeof(REAL));
        for (i64 i = 0; i < (k - 1) * b0 + (n - 1) * b1 + 1; i++) {
            REAL parts[2] = {1 + next() % 100, 1 + next() % 100};
            __builtin_memcpy(b + i, parts, sizeof(T));
        }
        for (i64 p = 0; p < k; p++) rows[p] = p * b0;
        for (i64 j = 0; j < n; j++) columns[j] = j * b1;
        poison(panel, numbers);
        pack_columns(k, n, width, b, b0, b1, panel);
        differ += wrong(panel, b, rows, columns, k, n, width) != 0;
        for (i64 j = n - 1; j > 0 && trial % 2; j--) { /* columns in any order, in groups or not */
            const i64 other = next() % (j + 1), kept = columns[j];
            columns[j] = columns[other], columns[other] = kept;
        }
        poison(panel, numbers);
        pack_by_tables(k, n, width, b, rows, columns, panel);
        differ += wrong(panel, b, rows, columns, k, n, width) != 0;
        free(b), free(rows), free(columns), free(panel);
    }
    printf("%d of %d differ\n", differ, cases);
    return differ != 0;
}
