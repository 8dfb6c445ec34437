
/* gather */
__kernel void k_34c7c4678624f504(i64 n0, i64 n1, __global u32 *y0, i64 y0_start, i64 y0_s0, i64 y0_s1, __global const u32 *x0, i64 x0_start, i64 x0_s1, i64 m0, i64 x0_m0, __global const i64 *x1, i64 x1_start, i64 x1_s0, __global i64 *detail, i64 detail_start)
{
    y0 += y0_start;
    x0 += x0_start;
    x1 += x1_start;
    detail += detail_start;
    const i64 i1 = get_global_id(0);
    if (i1 >= n1) return;
    const i64 i0 = get_global_id(1);
    if (i0 >= n0) return;
    i64 j0 = x1[i0 * x1_s0];
    if ((u64)j0 >= (u64)m0) {
        if (j0 < -m0 || j0 >= m0) {
            detail[0] = 3;
            j0 = -m0;
        }
        j0 = j0 + m0;
    }
    y0[i0 * y0_s0 + i1 * y0_s1] = x0[j0 * x0_m0 + i1 * x0_s1];
}
