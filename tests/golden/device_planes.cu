
/* y0 = sum{axis=(0, 2)}(x0) */
extern "C" __global__ void __launch_bounds__(256, 4) k_229b22bc31f8bf8e(i64 n0, i64 n1, i64 n2, f32 *y0, i64 y0_start, i64 y0_s1, const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1, i64 x0_s2, i64 m2, i64 h2, i64 parts, i64 part)
{
    y0 += y0_start;
    x0 += x0_start;
    const u32 item = threadIdx.x;
    const i32 lane = item;
    const i64 group = (i64)blockIdx.x;
    const i64 chunk = group % parts;
    const i64 i1 = group / parts;
    const i32 count = n0 * n2;
    const i32 first = chunk * part;
    const i32 end = (first + part < count ? first + part : count);
    __shared__ f32 tree0[256];
    i32 at;
    const f32 *x0_1 = x0 + i1 * x0_s1;
    f32 total0 = 0.0f;
    at = first + lane;
    for (; at < end - 3840; at += 4096) {
    #pragma unroll
        for (int k = 0; k < 16; k++) {
            const u32 left2 = at + k * 256;
            const u32 of2 = __umulhi(left2, (u32)m2) >> (u32)h2;
            const i32 i2 = left2 - of2 * (u32)n2;
            const u32 i0 = of2;
            const f32 *x0_0 = x0_1 + i0 * x0_s0;
            const f32 v0 = x0_0[i2 * x0_s2];
            total0 = total0 + v0;
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 16; k++) {
            const i32 near = at + k * 256;
            const bool is_in = near < end;
            const u32 left2 = near;
            const u32 of2 = __umulhi(left2, (u32)m2) >> (u32)h2;
            const i32 i2 = left2 - of2 * (u32)n2;
            const u32 i0 = of2;
            const f32 *x0_0 = x0_1 + i0 * x0_s0;
            const f32 v0 = is_in ? x0_0[i2 * x0_s2] : 0.0f;
            const f32 total0_new = total0 + v0;
            total0 = is_in ? total0_new : total0;
        }
    }
    tree0[item] = total0;
    __syncthreads();
    for (int half = 128; half >= 32; half /= 2) {
        if (lane < half) {
            total0 = total0 + tree0[item + half];
            tree0[item] = total0;
        }
        __syncthreads();
    }
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half) {
            total0 = total0 + tree0[item + half];
            tree0[item] = total0;
        }
        __syncwarp();
    }
    __syncthreads();
    const f32 result0 = tree0[0];
    if (lane == 0) {
        y0[i1 * y0_s1 + chunk] = result0;
    }
}
