
extern "C" __global__ void scatter_add_float32(i64 segments, i64 n, f32 *y, i64 y_start, const f32 *x, i64 x_start, const i64 *first,
    const i64 *at, const i64 *row, const i64 *yj, const i64 *xj)
{
    const i64 item = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= segments * n) return;
    const i64 s = item / n, j = item % n;
    y += y_start + at[s] + yj[j];
    x += x_start + xj[j];
    f32 total = *y;
    for (i64 t = first[s]; t < first[s + 1]; t++) total = total + x[row[t]];
    *y = total;
}
