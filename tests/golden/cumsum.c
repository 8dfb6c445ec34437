/* y0 = cumsum{axis=0}(x0) */
static void k_c59df8c5ff96b4b2(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0, i64 x0_s1)
{
    for (i64 tile = 0; tile < n1; tile += 1024) {
        const i64 tile_end = tile + 1024 < n1 ? tile + 1024 : n1;
        f32 total[1024];
        #pragma omp simd
        for (i64 i1 = tile; i1 < tile_end; i1++) {
            total[i1 - tile] = -0.0f;
        }
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f32 *x0_0 = x0 + i0 * x0_s0;
            f32 *y0_0 = y0 + i0 * y0_s0;
            if (x0_s1 == 1 && y0_s1 == 1) {
                #pragma omp simd
                for (i64 i1 = tile; i1 < tile_end; i1++) {
                    const f32 v0 = x0_0[i1];
                    const f32 v1 = total[i1 - tile] + v0;
                    total[i1 - tile] = v1;
                    y0_0[i1] = v1;
                }
            } else {
                for (i64 i1 = tile; i1 < tile_end; i1++) {
                    const f32 v0 = x0_0[i1 * x0_s1];
                    const f32 v1 = total[i1 - tile] + v0;
                    total[i1 - tile] = v1;
                    y0_0[i1 * y0_s1] = v1;
                }
            }
        }
    }
}
