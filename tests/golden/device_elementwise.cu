
/* y0 = x0 + x1 */
extern "C" __global__ void k_2fe6c18935d4f0e8(i64 n0, i64 n1, f32 *y0, i64 y0_start, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1, const f32 *x1, i64 x1_start, i64 x1_s1)
{
    y0 += y0_start;
    x0 += x0_start;
    x1 += x1_start;
    const i64 i1 = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 >= n1) return;
    const i64 i0 = (ag_first[0] + blockIdx.y) * blockDim.y + threadIdx.y;
    if (i0 >= n0) return;
    const f32 *x0_0 = x0 + i0 * x0_s0;
    f32 *y0_0 = y0 + i0 * y0_s0;
    const f32 v0 = x0_0[i1 * x0_s1];
    const f32 v1 = x1[i1 * x1_s1];
    const f32 v2 = v0 + v1;
    y0_0[i1 * y0_s1] = v2;
}
