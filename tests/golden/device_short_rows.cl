
static inline f32 ag_maximum_f32(f32 a, f32 b)
{
    const f32 m = a >= b ? a : b;
    return a == a ? m : a;
}

/* y0 = max{axis=(1,)}(x0) */
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void k_843505d61cde35a8(i64 n0, i64 n1, __global f32 *y0, i64 y0_start, i64 y0_s0, __global const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1)
{
    y0 += y0_start;
    x0 += x0_start;
    const u32 item = get_local_id(0);
    const i32 own = item / 4, lane = item % 4;
    const i64 place = get_group_id(0) * 64 + own;
    const bool is_output = place < n0;
    const i64 i0 = is_output ? place : 0;
    const i32 count = n1;
    const i32 end = is_output ? count : 0;
    __local f32 tree0[256];
    i32 at;
    __global const f32 *x0_0 = x0 + i0 * x0_s0;
    f32 total0 = -__builtin_inff();
    at = lane;
    for (; at < end - 28; at += 32) {
    #pragma unroll
        for (int k = 0; k < 8; k++) {
            const i32 i1 = at + k * 4;
            const f32 v0 = x0_0[i1 * x0_s1];
            total0 = ag_maximum_f32(total0, v0);
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 8; k++) {
            const i32 near = at + k * 4;
            const bool is_in = near < end;
            const i32 i1 = near;
            const f32 v0 = is_in ? x0_0[i1 * x0_s1] : 0.0f;
            const f32 total0_new = ag_maximum_f32(total0, v0);
            total0 = is_in ? total0_new : total0;
        }
    }
    tree0[item] = total0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half = 2; half >= 1; half /= 2) {
        if (lane < half) {
            total0 = ag_maximum_f32(total0, tree0[item + half]);
            tree0[item] = total0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const f32 result0 = tree0[own * 4];
    if (lane == 0 && is_output) {
        y0[i0 * y0_s0] = result0;
    }
}
