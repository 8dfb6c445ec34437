
/* a * b + c, rounded once where that costs no more. */
static __device__ inline __attribute__((always_inline)) f32 ag_fma_f32(f32 a, f32 b, f32 c)
{
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

static __device__ inline __attribute__((always_inline)) u32 ag_bits_f32(f32 x)
{
    union { f32 f; u32 u; } v;
    v.f = x;
    return v.u;
}

static __device__ inline __attribute__((always_inline)) f32 ag_from_bits_f32(u32 x)
{
    union { u32 u; f32 f; } v;
    v.u = x;
    return v.f;
}

/* x, or 0 where `is` is 0, by its bits: a choice might become a branch. */
static __device__ inline __attribute__((always_inline)) f32 ag_where_f32(f32 x, i32 is)
{
    return ag_from_bits_f32(ag_bits_f32(x) & -(u32)is);
}

/* exp(r) - 1 for r between -log(2) / 2 and log(2) / 2. */
static __device__ inline __attribute__((always_inline)) f32 ag_small_expm1_f32(f32 r)
{
    f32 p = 0x1.6be46ep-10f;
    p = ag_fma_f32(p, r, 0x1.12274cp-7f);
    p = ag_fma_f32(p, r, 0x1.5556b8p-5f);
    p = ag_fma_f32(p, r, 0x1.5554ccp-3f);
    p = ag_fma_f32(p, r, 0.5f);
    return ag_fma_f32(r * r, p, r);
}

/* exp(x) for x <= 89.0f: 2^k * exp(r) where k = round(x / log 2); two factors make up 2^k, so that a subnormal result
   is rounded once (W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980). */
static __device__ inline __attribute__((always_inline)) f32 ag_exp_below_f32(f32 x)
{
    const i32 is = !(x < -104.0f);
    const f32 y = ag_where_f32(x, is);
    const f32 shifted = ag_fma_f32(y, 0x1.715476p+0f, 0x1.8001fcp23f), k = shifted - 0x1.8001fcp23f;
    const f32 r = ag_fma_f32(k, -0x1.7f7d1cp-20f, ag_fma_f32(k, -0x1.62e4p-1f, y));
    const u32 exponents = ag_bits_f32(shifted), half = exponents >> 1;
    const f32 first = ag_from_bits_f32(half << 23);
    const f32 result = (1 + ag_small_expm1_f32(r)) * first * ag_from_bits_f32((exponents - half) << 23);
    return ag_where_f32(result, is);
}

/* exp(89.0f) is infinite */
static __device__ inline __attribute__((always_inline)) f32 ag_exp_f32(f32 x)
{
    return ag_exp_below_f32(x > 89.0f ? 89.0f : x);
}

/* y0 = exp(x0 - dimshuffle(top{axis=1}(x0), [0, 'x'])) * dimshuffle(reciprocal(sum{axis=(1,)}(exp(x0 - dimshuffle(top{axis=1}(x0), [0, 'x'])))), [0, 'x']) */
extern "C" __global__ void __launch_bounds__(1024, 1) k_940ea82378a1c0c1(i64 n0, i64 n1, f32 *y0, i64 y0_start, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_start, i64 x0_s0, i64 x0_s1)
{
    y0 += y0_start;
    x0 += x0_start;
    const u32 item = threadIdx.x;
    const i32 lane = item;
    const i64 i0 = (i64)blockIdx.x;
    const i32 count = n1;
    const i32 end = count;
    __shared__ f32 tree0[1024];
    __shared__ f32 tree1[1024];
    i32 at;
    const f32 *x0_0 = x0 + i0 * x0_s0;
    f32 total0 = -__builtin_inff();
    at = lane;
    for (; at < end - 3072; at += 4096) {
    #pragma unroll
        for (int k = 0; k < 4; k++) {
            const i32 i1 = at + k * 1024;
            const f32 v0 = x0_0[i1 * x0_s1];
            total0 = v0 > total0 ? v0 : total0;
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 4; k++) {
            const i32 near = at + k * 1024;
            const bool is_in = near < end;
            const i32 i1 = near;
            const f32 v0 = is_in ? x0_0[i1 * x0_s1] : 0.0f;
            const f32 total0_new = v0 > total0 ? v0 : total0;
            total0 = is_in ? total0_new : total0;
        }
    }
    tree0[item] = total0;
    __syncthreads();
    for (int half = 512; half >= 32; half /= 2) {
        if (lane < half) {
            total0 = tree0[item + half] > total0 ? tree0[item + half] : total0;
            tree0[item] = total0;
        }
        __syncthreads();
    }
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half) {
            total0 = tree0[item + half] > total0 ? tree0[item + half] : total0;
            tree0[item] = total0;
        }
        __syncwarp();
    }
    __syncthreads();
    const f32 result0 = tree0[0];
    f32 total1 = 0.0f;
    at = lane;
    for (; at < end - 3072; at += 4096) {
    #pragma unroll
        for (int k = 0; k < 4; k++) {
            const i32 i1 = at + k * 1024;
            const f32 v1 = x0_0[i1 * x0_s1];
            const f32 v2 = v1 - result0;
            const f32 v3 = ag_exp_f32(v2);
            total1 = total1 + v3;
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 4; k++) {
            const i32 near = at + k * 1024;
            const bool is_in = near < end;
            const i32 i1 = near;
            const f32 v1 = is_in ? x0_0[i1 * x0_s1] : 0.0f;
            const f32 v2 = v1 - result0;
            const f32 v3 = ag_exp_f32(v2);
            const f32 total1_new = total1 + v3;
            total1 = is_in ? total1_new : total1;
        }
    }
    tree1[item] = total1;
    __syncthreads();
    for (int half = 512; half >= 32; half /= 2) {
        if (lane < half) {
            total1 = total1 + tree1[item + half];
            tree1[item] = total1;
        }
        __syncthreads();
    }
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half) {
            total1 = total1 + tree1[item + half];
            tree1[item] = total1;
        }
        __syncwarp();
    }
    __syncthreads();
    const f32 result1 = tree1[0];
    const f32 v7 = 1 / result1;
    f32 *y0_0 = y0 + i0 * y0_s0;
    at = lane;
    for (; at < end - 3072; at += 4096) {
    #pragma unroll
        for (int k = 0; k < 4; k++) {
            const i32 i1 = at + k * 1024;
            const f32 v4 = x0_0[i1 * x0_s1];
            const f32 v5 = v4 - result0;
            const f32 v6 = ag_exp_f32(v5);
            const f32 v8 = v6 * v7;
            y0_0[i1 * y0_s1] = v8;
        }
    }
    if (at < end) {
    #pragma unroll
        for (int k = 0; k < 4; k++) {
            const i32 near = at + k * 1024;
            const bool is_in = near < end;
            const i32 i1 = near;
            const f32 v4 = is_in ? x0_0[i1 * x0_s1] : 0.0f;
            const f32 v5 = v4 - result0;
            const f32 v6 = ag_exp_f32(v5);
            const f32 v8 = v6 * v7;
            if (is_in) {
                y0_0[i1 * y0_s1] = v8;
            }
        }
    }
}
