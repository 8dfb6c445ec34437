
#if defined(__FP_FAST_FMAF) || defined(FP_FAST_FMAF)
#define multiply_add __builtin_fmaf
#else
#define multiply_add(a, b, c) ((a) * (b) + (c))
#endif
#ifdef __CUDACC__ /* whose compiler divides other stores of vectors */
#define store_vector(at, value) __stwb(at, value)
#else
#define store_vector(at, value) *(at) = value
#endif
typedef union { uint4 all; f32 x[4]; } in_memory;
typedef struct { f32 x[4]; } __attribute__((aligned(16))) in_registers;

extern "C" __global__ void __launch_bounds__(256, 2) product_float32(i64 m, i64 n, i64 k, i64 batch, i64 share,
    const f32 *a, i64 a_start, const i64 *a_batch, const i64 *a_outer,
    const f32 *b, i64 b_start, const i64 *b_batch, i64 b_stride,
    f32 *c, i64 c_start)
{
    __shared__ in_registers a_tile[2][8][128 / 4 + 1];
    __shared__ in_registers b_tile[2][8][128 / 4 + 1];
    const i32 item = threadIdx.x, lane = item % 32, warp = item / 32;
    const i32 across = lane % 8 + warp % 2 * 8;
    const i32 down = lane / 8 + warp / 2 * 4;
    const i64 top = (ag_first[0] + blockIdx.y) * 128, left = (i64)blockIdx.x * 128, z = (ag_first[1] + blockIdx.z) % batch;
    const i64 first = (ag_first[1] + blockIdx.z) / batch * share;
    const i32 count = k - first < share ? k - first : share;
    a += a_start + a_batch[z];
    b += b_start + b_batch[z];
    c += c_start + (ag_first[1] + blockIdx.z) * m * n;
    f32 total[2][4][2][4] = {{{{0}}}};
    i32 now = 0;
    const i32 a_l = item % 2 * 4;
    const f32 *a_at[1];
    bool a_aligned = true;
    #pragma unroll
    for (i32 t = 0; t < 1; t++) {
        const i64 o = top + item / 2 + t * 128;
        a_at[t] = a + a_outer[o < m ? o : m - 1] + first + a_l;
        a_aligned &= (size_t)a_at[t] % 16 == 0;
    }
    in_memory a_next[1];
    const i32 b_l = item / 32;
    const i64 b_o = left + item % 32 * 4, b_from = b_o < n ? b_o : n - 1;
    const i32 b_last = n - b_from < 4 ? n - b_from - 1 : 4 - 1;
    const f32 *b_at = b + b_from + (first + b_l) * b_stride;
    const bool b_aligned = (size_t)b_at % 16 == 0 && b_stride % 4 == 0 && b_last == 4 - 1;
    in_memory b_next[1];
    for (i32 l = 0;; l += 8) {
        if (l < count) {
            #pragma unroll
            for (i32 t = 0; t < 1; t++) {
                if (a_aligned && l + 8 <= count) a_next[t].all = *(const uint4 *)a_at[t];
                else
                    #pragma unroll
                    for (i32 e = 0; e < 4; e++) a_next[t].x[e] = l + a_l + e < count ? a_at[t][e] : 0;
                a_at[t] += 8;
            }
            #pragma unroll
            for (i32 t = 0; t < 1; t++) {
                const f32 *at = b_at + t * 8 * b_stride;
                const bool is_inside = l + b_l + t * 8 < count;
                if (b_aligned && is_inside) b_next[t].all = *(const uint4 *)at;
                else
                    #pragma unroll
                    for (i32 e = 0; e < 4; e++) b_next[t].x[e] = is_inside ? at[e < b_last ? e : b_last] : 0;
            }
            b_at += 8 * b_stride;
        }
        if (l > 0) {
            #pragma unroll
            for (i32 d = 0; d < 8; d++) {
                in_registers u[2], v[2];
                #pragma unroll
                for (i32 r = 0; r < 2; r++) u[r] = a_tile[now][d][down + r * 16];
                #pragma unroll
                for (i32 s = 0; s < 2; s++) v[s] = b_tile[now][d][across + s * 16];
                #pragma unroll
                for (i32 r = 0; r < 2; r++)
                    #pragma unroll
                    for (i32 e = 0; e < 4; e++)
                        #pragma unroll
                        for (i32 s = 0; s < 2; s++)
                            #pragma unroll
                            for (i32 f = 0; f < 4; f++)
                                total[r][e][s][f] = multiply_add(u[r].x[e], v[s].x[f], total[r][e][s][f]);
            }
        }
        if (l >= count) break;
        now = 1 - now;
        #pragma unroll
        for (i32 t = 0; t < 1; t++) {
            const i32 o = item / 2 + t * 128;
            #pragma unroll
            for (i32 e = 0; e < 4; e++) a_tile[now][a_l + e][o / 4].x[o % 4] = a_next[t].x[e];
        }
        #pragma unroll
        for (i32 t = 0; t < 1; t++)
            #pragma unroll
            for (i32 e = 0; e < 4; e++) b_tile[now][b_l + t * 8][item % 32].x[e] = b_next[t].x[e];
        __syncthreads();
    }
    const bool c_aligned = (size_t)c % 16 == 0 && n % 4 == 0;
    #pragma unroll
    for (i32 r = 0; r < 2; r++)
        #pragma unroll
        for (i32 e = 0; e < 4; e++) {
            const i64 i = top + (down + r * 16) * 4 + e;
            #pragma unroll
            for (i32 s = 0; s < 2; s++) {
                const i64 j = left + (across + s * 16) * 4;
                in_memory made;
                #pragma unroll
                for (i32 f = 0; f < 4; f++) made.x[f] = total[r][e][s][f];
                if (i < m && j < n && c_aligned) store_vector((uint4 *)(c + i * n + j), made.all);
                else
                    #pragma unroll
                    for (i32 f = 0; f < 4; f++)
                        if (i < m && j + f < n) c[i * n + j + f] = made.x[f];
            }
        }
}

extern "C" __global__ void product_float32_sum(i64 count, i64 parts, const f32 *from, f32 *c, i64 c_start)
{
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    f32 total = from[i];
    for (i64 part = 1; part < parts; part++) total += from[part * count + i];
    c[c_start + i] = total;
}
