
static __device__ inline f32 ag_maximum_f32(f32 a, f32 b)
{
    const f32 m = a >= b ? a : b;
    return a == a ? m : a;
}

/* y0 = max{axis=(1,)}(x0) */
extern "C" __global__ void k_a3103640e8270221(i64 n0, i64 n1, f32 *y0, i64 y0_start, i64 y0_s0, const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1)
{
    y0 += y0_start;
    x0 += x0_start;
    const i64 i0 = (i64)blockIdx.x;
    const i64 item = threadIdx.x;
    __shared__ f32 tree0[64];
    f32 total0 = -__builtin_inff();
    const i64 count = n1;
    for (i64 at = item; at < count; at += 64) {
        i64 left = at;
        const i64 i1 = left;
        const f32 *x0_0 = x0 + i0 * x0_s0;
        const f32 v0 = x0_0[i1 * x0_s1];
        total0 = ag_maximum_f32(total0, v0);
    }
    tree0[item] = total0;
    __syncthreads();
    for (i64 half = 32; half > 0; half /= 2) {
        if (item < half) {
            total0 = ag_maximum_f32(total0, tree0[item + half]);
            tree0[item] = total0;
        }
        __syncthreads();
    }
    if (item == 0) {
        y0[i0 * y0_s0] = tree0[0];
    }
}
