/* y0 = (x0 - (dimshuffle(sum{axis=(1,)}(x0), [0, 'x']) / x1)) / sqrt(dimshuffle(sum{axis=(1,)}(square(x0 - (dimshuffle(sum{axis=(1,)}(x0), [0, 'x']) / x1))), [0, 'x']) / x1) */
static void k_4b96fce28213d35c_short(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0,
    i64 x0_s1, const f32 *x1)
{
    const f32 v2 = x1[0];
    const f32 v12 = x1[0];
    for (i64 tile = 0; tile < n0; tile += 128) {
        const i64 rows = n0 - tile < 128 ? n0 - tile : 128;
        const i64 last = rows - 1;
        f32 y0_tile[4096];
        f32 x0_tile[4096];
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_1 = x0 + i1 * x0_s1;
            f32 *x0_tile_1 = x0_tile + i1 * 128;
            for (i64 i0 = 0; i0 < 128; i0++) {
                x0_tile_1[i0] = x0_1[(tile + (i0 < last ? i0 : last)) * x0_s0];
            }
        }
        f64 total0[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total0[i0] = 0.0;
        }
        f32 part0_lanes[2176];
        for (i64 lane = 0; lane < (15 < n1 ? 16 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = 0.0f;
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            part0_lanes[16 * 128 + i0] = 0.0f;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_tile_1 = x0_tile + i1 * 128;
            const i64 bulk16 = n1 & -16;
            const i64 lane16 = i1 < bulk16 ? (i1 & 15) : 16;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f32 v0 = x0_tile_1[i0];
                part0_lanes[lane16 * 128 + i0] = part0_lanes[lane16 * 128 + i0] + v0;
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 8 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 8) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 4 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 4) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 2 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 2) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[lane * 128 + i0] = part0_lanes[lane * 128 + i0] + part0_lanes[(lane + 1) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part0_lanes[16 * 128 + i0] = part0_lanes[16 * 128 + i0] + part0_lanes[lane * 128 + i0];
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total0[i0] = total0[i0] + (f64)(0.0f + part0_lanes[16 * 128 + i0]);
        }
        f32 s0[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            const f32 v1 = (f32)total0[i0];
            const f32 v3 = v1 / v2;
            s0[i0] = v3;
        }
        f64 total1[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total1[i0] = 0.0;
        }
        f32 part1_lanes[2176];
        for (i64 lane = 0; lane < (15 < n1 ? 16 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = 0.0f;
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            part1_lanes[16 * 128 + i0] = 0.0f;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_tile_1 = x0_tile + i1 * 128;
            const i64 bulk16 = n1 & -16;
            const i64 lane16 = i1 < bulk16 ? (i1 & 15) : 16;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f32 v5 = s0[i0];
                const f32 v6 = x0_tile_1[i0];
                const f32 v7 = v6 - v5;
                const f32 v8 = v7 * v7;
                part1_lanes[lane16 * 128 + i0] = part1_lanes[lane16 * 128 + i0] + v8;
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 8 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 8) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 4 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 4) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 2 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 2) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[lane * 128 + i0] = part1_lanes[lane * 128 + i0] + part1_lanes[(lane + 1) * 128 + i0];
            }
        }
        for (i64 lane = 0; lane < (15 < n1 ? 1 : 0); lane++) {
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                part1_lanes[16 * 128 + i0] = part1_lanes[16 * 128 + i0] + part1_lanes[lane * 128 + i0];
            }
        }
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            total1[i0] = total1[i0] + (f64)(0.0f + part1_lanes[16 * 128 + i0]);
        }
        f32 s1[128];
        #pragma omp simd
        for (i64 i0 = 0; i0 < 128; i0++) {
            const f32 v11 = (f32)total1[i0];
            const f32 v13 = v11 / v12;
            const f32 v14 = sqrtf(v13);
            s1[i0] = v14;
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            const f32 *x0_tile_1 = x0_tile + i1 * 128;
            f32 *y0_tile_1 = y0_tile + i1 * 128;
            #pragma omp simd
            for (i64 i0 = 0; i0 < 128; i0++) {
                const f32 v16 = s0[i0];
                const f32 v18 = s1[i0];
                const f32 v19 = x0_tile_1[i0];
                const f32 v20 = v19 - v16;
                const f32 v21 = v20 / v18;
                y0_tile_1[i0] = v21;
            }
        }
        for (i64 i1 = 0; i1 < n1; i1++) {
            f32 *y0_1 = y0 + i1 * y0_s1;
            const f32 *y0_tile_1 = y0_tile + i1 * 128;
            for (i64 i0 = 0; i0 < rows; i0++) {
                y0_1[(tile + i0) * y0_s0] = y0_tile_1[i0];
            }
        }
    }
}

static void k_4b96fce28213d35c(i64 n0, i64 n1, f32 *restrict y0, i64 y0_s0, i64 y0_s1, const f32 *x0, i64 x0_s0, i64 x0_s1,
    const f32 *x1)
{
    if (n1 < 32 && 15 < n0) {
        k_4b96fce28213d35c_short(n0, n1, y0, y0_s0, y0_s1, x0, x0_s0, x0_s1, x1);
    } else {
        const f32 v2 = x1[0];
        const f32 v7 = x1[0];
        for (i64 i0 = 0; i0 < n0; i0++) {
            const f32 *x0_0 = x0 + i0 * x0_s0;
            f64 total0 = 0.0;
            if (x0_s1 == 1) {
                for (i64 block = 0; block < n1; block += 128) {
                    const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                    f32 part0 = 0.0f;
                    const i64 bulk0 = block + ((block_end - block) & -16);
                    f32 part0_l0[17];
                    #pragma omp simd
                    for (i64 lane = 0; lane < 16; lane++) {
                        part0_l0[lane] = -0.0f;
                    }
                    part0_l0[16] = -0.0f;
                    for (i64 at0 = block; at0 < bulk0; at0 += 16) {
                        #pragma omp simd simdlen(16)
                        for (i64 lane = 0; lane < 16; lane++) {
                            const i64 i1 = at0 + lane;
                            const f32 v0 = x0_0[i1];
                            part0_l0[lane] = part0_l0[lane] + v0;
                        }
                    }
                    for (i64 i1 = bulk0; i1 < block_end; i1++) {
                        const f32 v0 = x0_0[i1];
                        part0_l0[16] = part0_l0[16] + v0;
                    }
                    part0 = part0 + (ag_sum_of_16_f32(part0_l0) + part0_l0[16]);
                    total0 = total0 + (f64)part0;
                }
            } else {
                for (i64 block = 0; block < n1; block += 128) {
                    const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                    f32 part0 = 0.0f;
                    f32 v0_run[128];
                    const f32 *v0_at = ag_run_in_f32(x0_0, block * x0_s1, x0_s1, block_end - block, v0_run);
                    const i64 bulk1 = block + ((block_end - block) & -16);
                    f32 part0_l1[17];
                    #pragma omp simd
                    for (i64 lane = 0; lane < 16; lane++) {
                        part0_l1[lane] = -0.0f;
                    }
                    part0_l1[16] = -0.0f;
                    for (i64 at1 = block; at1 < bulk1; at1 += 16) {
                        #pragma omp simd simdlen(16)
                        for (i64 lane = 0; lane < 16; lane++) {
                            const i64 i1 = at1 + lane;
                            const f32 v0 = v0_at[i1 - block];
                            part0_l1[lane] = part0_l1[lane] + v0;
                        }
                    }
                    for (i64 i1 = bulk1; i1 < block_end; i1++) {
                        const f32 v0 = v0_at[i1 - block];
                        part0_l1[16] = part0_l1[16] + v0;
                    }
                    part0 = part0 + (ag_sum_of_16_f32(part0_l1) + part0_l1[16]);
                    total0 = total0 + (f64)part0;
                }
            }
            const f32 r0 = (f32)total0;
            const f32 v3 = r0 / v2;
            f64 total1 = 0.0;
            if (x0_s1 == 1) {
                for (i64 block = 0; block < n1; block += 128) {
                    const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                    f32 part1 = 0.0f;
                    const i64 bulk2 = block + ((block_end - block) & -16);
                    f32 part1_l2[17];
                    #pragma omp simd
                    for (i64 lane = 0; lane < 16; lane++) {
                        part1_l2[lane] = -0.0f;
                    }
                    part1_l2[16] = -0.0f;
                    for (i64 at2 = block; at2 < bulk2; at2 += 16) {
                        #pragma omp simd simdlen(16)
                        for (i64 lane = 0; lane < 16; lane++) {
                            const i64 i1 = at2 + lane;
                            const f32 v1 = x0_0[i1];
                            const f32 v4 = v1 - v3;
                            const f32 v5 = v4 * v4;
                            part1_l2[lane] = part1_l2[lane] + v5;
                        }
                    }
                    for (i64 i1 = bulk2; i1 < block_end; i1++) {
                        const f32 v1 = x0_0[i1];
                        const f32 v4 = v1 - v3;
                        const f32 v5 = v4 * v4;
                        part1_l2[16] = part1_l2[16] + v5;
                    }
                    part1 = part1 + (ag_sum_of_16_f32(part1_l2) + part1_l2[16]);
                    total1 = total1 + (f64)part1;
                }
            } else {
                for (i64 block = 0; block < n1; block += 128) {
                    const i64 block_end = block + 128 < n1 ? block + 128 : n1;
                    f32 part1 = 0.0f;
                    f32 v1_run[128];
                    const f32 *v1_at = ag_run_in_f32(x0_0, block * x0_s1, x0_s1, block_end - block, v1_run);
                    const i64 bulk3 = block + ((block_end - block) & -16);
                    f32 part1_l3[17];
                    #pragma omp simd
                    for (i64 lane = 0; lane < 16; lane++) {
                        part1_l3[lane] = -0.0f;
                    }
                    part1_l3[16] = -0.0f;
                    for (i64 at3 = block; at3 < bulk3; at3 += 16) {
                        #pragma omp simd simdlen(16)
                        for (i64 lane = 0; lane < 16; lane++) {
                            const i64 i1 = at3 + lane;
                            const f32 v1 = v1_at[i1 - block];
                            const f32 v4 = v1 - v3;
                            const f32 v5 = v4 * v4;
                            part1_l3[lane] = part1_l3[lane] + v5;
                        }
                    }
                    for (i64 i1 = bulk3; i1 < block_end; i1++) {
                        const f32 v1 = v1_at[i1 - block];
                        const f32 v4 = v1 - v3;
                        const f32 v5 = v4 * v4;
                        part1_l3[16] = part1_l3[16] + v5;
                    }
                    part1 = part1 + (ag_sum_of_16_f32(part1_l3) + part1_l3[16]);
                    total1 = total1 + (f64)part1;
                }
            }
            const f32 r1 = (f32)total1;
            const f32 v8 = r0 / v7;
            const f32 v10 = r1 / v7;
            const f32 v11 = sqrtf(v10);
            f32 *y0_0 = y0 + i0 * y0_s0;
            if (x0_s1 == 1 && y0_s1 == 1) {
                #pragma omp simd
                for (i64 i1 = 0; i1 < n1; i1++) {
                    const f32 v6 = x0_0[i1];
                    const f32 v9 = v6 - v8;
                    const f32 v12 = v9 / v11;
                    y0_0[i1] = v12;
                }
            } else {
                for (i64 i1 = 0; i1 < n1; i1++) {
                    const f32 v6 = x0_0[i1 * x0_s1];
                    const f32 v9 = v6 - v8;
                    const f32 v12 = v9 / v11;
                    y0_0[i1 * y0_s1] = v12;
                }
            }
        }
    }
}
