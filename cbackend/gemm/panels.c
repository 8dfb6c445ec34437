/* Panels: parts of the operands copied in the order in which the micro-kernel reads them, whatever their strides. */

/* ROWS rows of a, of which m are there, k columns long: for each column its ROWS numbers (complex: the real parts, then
   the imaginary parts). */
static void pack_rows(i64 m, i64 k, const T *a, i64 a0, i64 a1, REAL *restrict to)
{
    const T *row[ROWS];
    for (i64 i = 0; i < ROWS; i++) row[i] = a + (i < m ? i : 0) * a0;
    for (i64 p = 0; p < k; p++, to += (1 + COMPLEX) * ROWS)
        for (i64 i = 0; i < ROWS; i++) {
            const T value = row[i][p * a1];
            to[i] = __real__ value;
            if (COMPLEX) to[ROWS + i] = __imag__ value;
        }
}

/* n columns of b, k rows long, to an aligned place, each row filled up with zeros to `width` numbers (complex: the
   real parts, then the imaginary parts). */
static void pack_columns(i64 k, i64 n, i64 width, const T *b, i64 b0, i64 b1, REAL *restrict to)
{
    for (i64 p = 0; p < k; p++, b += b0, to += (1 + COMPLEX) * width) {
        if (!COMPLEX && b1 == 1 && n == width) {
            for (i64 j = 0; j < width; j += LANES) *(vector *)(to + j) = *(const unaligned *)((const REAL *)b + j);
            continue;
        }
        for (i64 j = 0; n < width && j < (1 + COMPLEX) * width; j += LANES) *(vector *)(to + j) = (vector){0};
        for (i64 j = 0; j < n; j++) {
            to[j] = __real__ b[j * b1];
            if (COMPLEX) to[width + j] = __imag__ b[j * b1];
        }
    }
}

/* A panel of m rows of a as they lie in memory. */
static left_panel unpacked_rows(i64 m, const T *a, i64 a0, i64 a1)
{
    left_panel panel = {.step = a1};
    for (i64 i = 0; i < ROWS; i++) panel.rows[i] = (const REAL *)(a + (i < m ? i : 0) * a0);
    return panel;
}

/* The panel that pack_rows made. */
static left_panel packed_rows(const REAL *packed)
{
    left_panel panel = {.step = (1 + COMPLEX) * ROWS};
    for (i64 i = 0; i < ROWS; i++) panel.rows[i] = packed + i;
    return panel;
}

/* How wide a panel of n columns is: one vector, if that will do, or two. */
INLINE i64 panel_width(i64 n) { return n <= LANES ? LANES : COLUMNS; }
