
static void store_double(double8 left, double8 right, __global double *c, i64 width)
{
    if (width >= 16) {
        vstore8(left, 0, c);
        vstore8(right, 1, c);
        return;
    }
    double row[16];
    vstore8(left, 0, row);
    vstore8(right, 1, row);
    for (i64 j = 0; j < width; j++) c[j] = row[j];
}

static void product_float64_pack_item(i64 item, i64 row, i64 layer, i64 items, i64 k, i64 n, i64 panels, __global const double *b, i64 b_start, __global const i64 *bb, __global const i64 *bk, __global const i64 *bj, __global double *p)
{
    const i64 panel = item, z = row;
    i64 at[16], breaks = 0;
    b += b_start + bb[z];
    p += (z * panels + panel) * k * 16;
    for (i64 j = 0; j < 16; j++) {
        const i64 column = panel * 16 + j;
        at[j] = bj[column < n ? column : n - 1];
        breaks |= at[j] ^ (at[0] + j);
    }
    if (breaks == 0) {
        for (i64 l = 0; l < k; l++) {
            __global const double *values = b + bk[l] + at[0];
            for (i64 j = 0; j < 16; j++) p[l * 16 + j] = values[j];
        }
    } else {
        for (i64 l = 0; l < k; l++) {
            __global const double *values = b + bk[l];
            for (i64 j = 0; j < 16; j++) p[l * 16 + j] = values[at[j]];
        }
    }
}

static void product_float64_item(i64 item, i64 row, i64 layer, i64 items, i64 m, i64 n, i64 k, i64 panels, __global const double *a, i64 a_start, __global const i64 *ab, __global const i64 *ai, __global const i64 *ak, __global const double *p, __global double *c, i64 c_start, __global const i64 *cb, __global const i64 *ci)
{
    #pragma OPENCL FP_CONTRACT ON
    const i64 first = item * 6, panel = row, z = layer;
    const i64 width = n - panel * 16;
    a += a_start + ab[z];
    c += c_start + cb[z];
    p += (z * panels + panel) * k * 16;
    __global const double *a0 = a + ai[first + 0 < m ? first + 0 : m - 1];
    double8 c0 = 0, d0 = 0;
    __global const double *a1 = a + ai[first + 1 < m ? first + 1 : m - 1];
    double8 c1 = 0, d1 = 0;
    __global const double *a2 = a + ai[first + 2 < m ? first + 2 : m - 1];
    double8 c2 = 0, d2 = 0;
    __global const double *a3 = a + ai[first + 3 < m ? first + 3 : m - 1];
    double8 c3 = 0, d3 = 0;
    __global const double *a4 = a + ai[first + 4 < m ? first + 4 : m - 1];
    double8 c4 = 0, d4 = 0;
    __global const double *a5 = a + ai[first + 5 < m ? first + 5 : m - 1];
    double8 c5 = 0, d5 = 0;
    for (i64 l = 0; l < k; l++) {
        const i64 at = ak[l];
        const double8 left = vload8(0, p), right = vload8(1, p);
        p += 16;
        const double8 v0 = (double8)a0[at];
        c0 += v0 * left;
        d0 += v0 * right;
        const double8 v1 = (double8)a1[at];
        c1 += v1 * left;
        d1 += v1 * right;
        const double8 v2 = (double8)a2[at];
        c2 += v2 * left;
        d2 += v2 * right;
        const double8 v3 = (double8)a3[at];
        c3 += v3 * left;
        d3 += v3 * right;
        const double8 v4 = (double8)a4[at];
        c4 += v4 * left;
        d4 += v4 * right;
        const double8 v5 = (double8)a5[at];
        c5 += v5 * left;
        d5 += v5 * right;
    }
    if (first + 0 < m) store_double(c0, d0, c + ci[first + 0] + panel * 16, width);
    if (first + 1 < m) store_double(c1, d1, c + ci[first + 1] + panel * 16, width);
    if (first + 2 < m) store_double(c2, d2, c + ci[first + 2] + panel * 16, width);
    if (first + 3 < m) store_double(c3, d3, c + ci[first + 3] + panel * 16, width);
    if (first + 4 < m) store_double(c4, d4, c + ci[first + 4] + panel * 16, width);
    if (first + 5 < m) store_double(c5, d5, c + ci[first + 5] + panel * 16, width);
}

__kernel void launches(__global const i64 *list)
{
    for (; list[0] >= 0; list += list[1]) {
        const i64 items = list[2], rows = list[3], layers = list[4];
        for (i64 layer = 0; layer < layers; layer++)
            for (i64 row = 0; row < rows; row++)
                for (i64 item = 0; item < items; item++)
                    switch (list[0]) {
                    case 0: product_float64_pack_item(item, row, layer, items, list[5], list[6], list[7], (__global const double *)(size_t)list[8], list[9], (__global const i64 *)(size_t)list[10], (__global const i64 *)(size_t)list[11], (__global const i64 *)(size_t)list[12], (__global double *)(size_t)list[13]); break;
                    case 1: product_float64_item(item, row, layer, items, list[5], list[6], list[7], list[8], (__global const double *)(size_t)list[9], list[10], (__global const i64 *)(size_t)list[11], (__global const i64 *)(size_t)list[12], (__global const i64 *)(size_t)list[13], (__global const double *)(size_t)list[14], (__global double *)(size_t)list[15], list[16], (__global const i64 *)(size_t)list[17], (__global const i64 *)(size_t)list[18]); break;
                    }
    }
}
