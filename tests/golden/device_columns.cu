
static __device__ inline f32 ag_maximum_f32(f32 a, f32 b)
{
    const f32 m = a >= b ? a : b;
    return a == a ? m : a;
}

/* y0 = sum{axis=(0,)}(x0); y1 = max{axis=(0,)}(x0) */
extern "C" __global__ void __launch_bounds__(1024, 1) k_479aefed2edc068a(i64 n0, i64 n1, f32 *y0, i64 y0_start, i64 y0_s1, f32 *y1, i64 y1_start, i64 y1_s1, const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1)
{
    y0 += y0_start;
    y1 += y1_start;
    x0 += x0_start;
    const u32 item = threadIdx.x;
    const i32 own = item % 32, lane = item / 32;
    const i64 place = (i64)blockIdx.x * 32 + own;
    const bool is_output = place < n1;
    const i64 i1 = is_output ? place : 0;
    const i32 count = n0;
    const i32 end = is_output ? count : 0;
    __shared__ f32 tree0[1024];
    __shared__ f32 tree1[1024];
    i32 at;
    const f32 *x0_1 = x0 + i1 * x0_s1;
    f32 total0[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    f32 total1[8] = {-__builtin_inff(), -__builtin_inff(), -__builtin_inff(), -__builtin_inff(), -__builtin_inff(), -__builtin_inff(), -__builtin_inff(), -__builtin_inff()};
    at = lane;
    for (; at < end - 480; at += 512) {
    #pragma unroll
        for (int k = 0; k < 16; k++) {
            const i32 i0 = at + k * 32;
            const f32 v0 = x0_1[i0 * x0_s0];
            total0[k % 8] = total0[k % 8] + v0;
            total1[k % 8] = ag_maximum_f32(total1[k % 8], v0);
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 16; k++) {
            const i32 near = at + k * 32;
            const bool is_in = near < end;
            const i32 i0 = near;
            const f32 v0 = is_in ? x0_1[i0 * x0_s0] : 0.0f;
            const f32 total0_new = total0[k % 8] + v0;
            total0[k % 8] = is_in ? total0_new : total0[k % 8];
            const f32 total1_new = ag_maximum_f32(total1[k % 8], v0);
            total1[k % 8] = is_in ? total1_new : total1[k % 8];
        }
    }
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        total0[k] = total0[k] + total0[k + 4];
        total1[k] = ag_maximum_f32(total1[k], total1[k + 4]);
    }
    #pragma unroll
    for (int k = 0; k < 2; k++) {
        total0[k] = total0[k] + total0[k + 2];
        total1[k] = ag_maximum_f32(total1[k], total1[k + 2]);
    }
    #pragma unroll
    for (int k = 0; k < 1; k++) {
        total0[k] = total0[k] + total0[k + 1];
        total1[k] = ag_maximum_f32(total1[k], total1[k + 1]);
    }
    tree0[item] = total0[0];
    tree1[item] = total1[0];
    __syncthreads();
    for (int half = 16; half >= 1; half /= 2) {
        if (lane < half) {
            total0[0] = total0[0] + tree0[item + half * 32];
            tree0[item] = total0[0];
            total1[0] = ag_maximum_f32(total1[0], tree1[item + half * 32]);
            tree1[item] = total1[0];
        }
        __syncthreads();
    }
    const f32 result0 = tree0[own];
    const f32 result1 = tree1[own];
    if (lane == 0 && is_output) {
        y0[i1 * y0_s1] = result0;
        y1[i1 * y1_s1] = result1;
    }
}
