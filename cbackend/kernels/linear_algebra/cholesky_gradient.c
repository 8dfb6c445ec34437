/* The cotangent x of a, given the cotangent g of l, where a = l @ l^H: reverse mode of Cholesky's algorithm in panels of
   columns, the last one first.  With w = x + x^H, which is known behind a panel, and d the block of l on the diagonal:

       g[below]  -= w[below, behind] @ l[behind]
       x[below]   = g[below] @ inv(d)
       g[block]  -= x[below]^H @ l[below]
       x[block]   = the same, column by column

   w is built where x goes.  Source: Murray, Differentiation of the Cholesky Decomposition (2016), section 4.  There
   each panel is subtracted from those before it; here a panel takes all that is behind it at once, in one product. */
#pragma once
#include "../batch.h"
#include "../products/batch.c"
#include "../../driver/outcomes.h"
#include "conjugates.h"

enum { PANEL = 32 };

/* A place of the batch.  w: n by n; l, g: the panel of each from row `first` on, PANEL numbers apart. */
typedef struct cholesky_place {
    const ag_runtime *rt;
    i64 n, first, width;
    T *w, *l, *g;
} cholesky_place;

/* g[row..] -= w[row.., below] @ l[below] for `count` rows of the panel. */
static void subtract_known(const cholesky_place *of, i64 row, i64 count)
{
    const batched_product alone = {.rank = 0};
    const product x = {.m = count,
                       .n = of->width,
                       .k = of->n - of->first - of->width,
                       .alpha = -1,
                       .beta = 1,
                       .c = of->g + row * PANEL,
                       .a = of->w + (of->first + row) * of->n + of->first + of->width,
                       .b = of->l + of->width * PANEL,
                       .a0 = of->n,
                       .a1 = 1,
                       .b0 = PANEL,
                       .b1 = 1,
                       .c0 = PANEL,
                       .of = &alone};
    if (count > 0 && x.k > 0) multiply_matrices(of->rt, &x);
}

/* x -= conj(by[s]) * rows[s], for rows from `s` up to `end`. */
static __attribute__((hot, noinline)) void subtract_rows(T *restrict x, const T *by, const T *rows, i64 s, i64 end)
{
    for (; s < end; s++)
        for (i64 i = 0; i < PANEL; i++) x[i] -= MULTIPLY(CONJUGATE(by[s * PANEL]), rows[s * PANEL + i]);
}

/* w[below] = g[below] @ inv(d), and the same beside the block.  All columns of a row are subtracted from: those of l
   behind its diagonal are 0, and numbers of x that were divided are not read again. */
static __attribute__((hot, noinline)) void divide_rows(const cholesky_place *of)
{
    const i64 n = of->n, first = of->first;
    for (i64 r = first + of->width; r < n; r++) {
        T *const x = of->g + (r - first) * PANEL, *const to = of->w + r * n + first;
        for (i64 j = of->width - 1; j >= 0; j--) {
            const T *d = of->l + j * PANEL, solved = x[j] / d[j];
            for (i64 i = 0; i < PANEL; i++) x[i] -= MULTIPLY(solved, d[i]);
            to[j] = solved, of->w[(first + j) * n + r] = CONJUGATE(solved);
        }
    }
}

/* The block of w on the diagonal, from the numbers of g in its place. */
static __attribute__((hot, noinline)) void pull_back_block(const cholesky_place *of)
{
    T block[PANEL * PANEL] = {0}, column[PANEL] = {0}; /* column: that of number j below the diagonal, conjugated */
    for (i64 j = of->width - 1; j >= 0; j--) {
        const T *d = of->l + j;
        REAL middle = REAL_PART(of->g[j * PANEL + j]);
        for (i64 i = j + 1; i < of->width; i++) column[i] = CONJUGATE(of->g[i * PANEL + j]);
        subtract_rows(column, d, block, j + 1, of->width);
        for (i64 i = j + 1; i < of->width; i++) {
            column[i] /= d[j * PANEL];
            middle -= REAL_PART(MULTIPLY(column[i], d[i * PANEL]));
            block[i * PANEL + j] = CONJUGATE(column[i]), block[j * PANEL + i] = column[i];
        }
        block[j * PANEL + j] = middle / d[j * PANEL];
    }
    for (i64 i = 0; i < of->width; i++)
        __builtin_memcpy(of->w + (of->first + i) * of->n + of->first, block + i * PANEL,
                         sizeof(T) * (unsigned long)of->width);
}

/* Copy the columns of a panel, from the diagonal on; 0 behind the diagonal, and in columns that do not exist. */
static __attribute__((hot, noinline)) void copy_panel(const cholesky_place *of, T *to, const T *x, const i64 *strides)
{
    x += of->first * (strides[0] + strides[1]);
    for (i64 r = 0; r < of->n - of->first; r++, to += PANEL)
        for (i64 j = 0; j < PANEL; j++) to[j] = j <= r && j < of->width ? x[r * strides[0] + j * strides[1]] : 0;
}

/* Return whether no number of the diagonal of l is 0. */
static i32 pull_back_place(cholesky_place *of, const T *l, const i64 *ls, const T *g, const i64 *gs)
{
    const i64 n = of->n;
    for (of->first = (n - 1) / PANEL * PANEL; of->first >= 0 && !of->rt->stopped(); of->first -= PANEL) {
        of->width = at_most(PANEL, n - of->first);
        copy_panel(of, of->l, l, ls);
        copy_panel(of, of->g, g, gs);
        for (i64 j = 0; j < of->width; j++)
            if (of->l[j * (PANEL + 1)] == 0) return 0;
        subtract_known(of, of->width, n - of->first - of->width);
        divide_rows(of);
        subtract_known(of, 0, of->width);
        pull_back_block(of);
    }
    for (i64 r = 0; r < n; r++) {
        of->w[r * (n + 1)] /= 2;
        __builtin_memset(of->w + r * n + r + 1, 0, sizeof(T) * (unsigned long)(n - 1 - r));
    }
    return 1;
}

static __attribute__((cold)) i32 pull_back_cholesky(const ag_runtime *rt, const ag_cholesky_gradient *of)
{
    const i32 rank = of->rank;
    const i64 n = of->n;
    const i64 count = n > 0 ? count_of(rank, of->batch) : 0;
    if (count <= 0) return 0;
    T *const panels = rt->alloc(2 * (i64)sizeof(T) * n * PANEL);
    if (!panels) return OUTCOME_MEMORY;
    i32 regular = 1;
    for (i64 at = 0; regular && at < count; at++) {
        const i64 l = place_of(at, rank, of->batch, of->l_strides), g = place_of(at, rank, of->batch, of->g_strides);
        cholesky_place place = {rt, n, 0, 0, (T *)of->x + at * n * n, panels, panels + n * PANEL};
        regular = pull_back_place(&place, (const T *)of->l + l, of->l_strides + rank, (const T *)of->g + g,
                                  of->g_strides + rank);
    }
    rt->release(panels);
    return regular ? 0 : OUTCOME_SINGULAR;
}
