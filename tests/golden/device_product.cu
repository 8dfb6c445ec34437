
extern "C" __global__ void product_float32(i64 m, i64 n, i64 k, const f32 *a, i64 a_start, const i64 *ab, const i64 *ai,
    const i64 *ak, const f32 *b, i64 b_start, const i64 *bb, const i64 *bk, const i64 *bj,
    f32 *c, i64 c_start, const i64 *cb, const i64 *ci)
{
    __shared__ f32 rows[16][64 + 1];
    __shared__ f32 columns[16][64 + 1];
    const i64 item = threadIdx.x, across = item % 16, down = item / 16;
    const i64 top = (ag_first[0] + blockIdx.y) * 64, left = (i64)blockIdx.x * 64, z = (ag_first[1] + blockIdx.z);
    f32 total[4][4];
    for (i32 r = 0; r < 4; r++)
        for (i32 s = 0; s < 4; s++) total[r][s] = 0;
    a += a_start + ab[z];
    b += b_start + bb[z];
    c += c_start + cb[z];
    for (i64 start = 0; start < k; start += 16) {
        for (i32 t = 0; t < 4; t++) {
            const i64 number = item + t * 256;
            const i64 l = number % 16, i = number / 16;
            const bool is_row = start + l < k && top + i < m;
            rows[l][i] = is_row ? a[ai[is_row ? top + i : 0] + ak[is_row ? start + l : 0]] : 0;
            const i64 j = number % 64, d = number / 64;
            const bool is_column = start + d < k && left + j < n;
            columns[d][j] = is_column ? b[bk[is_column ? start + d : 0] + bj[is_column ? left + j : 0]] : 0;
        }
        __syncthreads();
        for (i32 l = 0; l < 16; l++)
            for (i32 r = 0; r < 4; r++) {
                const f32 v = rows[l][down * 4 + r];
                for (i32 s = 0; s < 4; s++) total[r][s] += v * columns[l][across + s * 16];
            }
        __syncthreads();
    }
    for (i32 r = 0; r < 4; r++) {
        const i64 i = top + down * 4 + r;
        for (i32 s = 0; s < 4; s++) {
            const i64 j = left + across + s * 16;
            if (i < m && j < n) c[ci[i] + j] = total[r][s];
        }
    }
}
