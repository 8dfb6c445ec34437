
static __device__ inline f32 ag_maximum_f32(f32 a, f32 b)
{
    const f32 m = a >= b ? a : b;
    return a == a ? m : a;
}

/* y0 = max{axis=(1,)}(x0) */
extern "C" __global__ void __launch_bounds__(256, 4) k_843505d61cde35a8(i64 n0, i64 n1, f32 *y0, i64 y0_start, i64 y0_s0, const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1)
{
    y0 += y0_start;
    x0 += x0_start;
    const u32 item = threadIdx.x;
    const i32 lane = item;
    const i64 i0 = (i64)blockIdx.x;
    const i32 count = n1;
    const i32 end = count;
    __shared__ f32 tree0[256];
    i32 at;
    const f32 *x0_0 = x0 + i0 * x0_s0;
    f32 total0 = -__builtin_inff();
    at = lane;
    for (; at < end - 3840; at += 4096) {
    #pragma unroll
        for (int k = 0; k < 16; k++) {
            const i32 i1 = at + k * 256;
            const f32 v0 = x0_0[i1 * x0_s1];
            total0 = ag_maximum_f32(total0, v0);
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 16; k++) {
            const i32 near = at + k * 256;
            const bool is_in = near < end;
            const i32 i1 = near;
            const f32 v0 = is_in ? x0_0[i1 * x0_s1] : 0.0f;
            const f32 total0_new = ag_maximum_f32(total0, v0);
            total0 = is_in ? total0_new : total0;
        }
    }
    tree0[item] = total0;
    __syncthreads();
    for (int half = 128; half >= 32; half /= 2) {
        if (lane < half) {
            total0 = ag_maximum_f32(total0, tree0[item + half]);
            tree0[item] = total0;
        }
        __syncthreads();
    }
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half) {
            total0 = ag_maximum_f32(total0, tree0[item + half]);
            tree0[item] = total0;
        }
        __syncwarp();
    }
    __syncthreads();
    const f32 result0 = tree0[0];
    if (lane == 0) {
        y0[i0 * y0_s0] = result0;
    }
}
