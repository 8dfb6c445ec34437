    /* 1: v1 = fused_product{product=convolution{stride=(2, 2), dilation=(1, 1), groups=1}}(in0, in1, v0, k0) */
    if (in0_n1 != in1_n1) return ag_fail(call, 3 /* LENGTHS */, 1, 1, 14, (const i64[]){2, in0_n1, in1_n1, in0_n0, in0_n1, in0_n2, in0_n3, in1_n0, in1_n1, in1_n2, in1_n3, in2_n0, 1, 1});
    if (in1_n2 < 1) return ag_fail(call, 69 /* WINDOW */, 1, 2, 2, (const i64[]){1, in1_n2});
    if (in0_n2 < 1 || in1_n2 - 1 > (in0_n2 - 1) / 1) return ag_fail(call, 69 /* WINDOW */, 1, 2, 4, (const i64[]){3, in1_n2, in0_n2, 1});
    const i64 n22 = in1_n2 * -1;
    const i64 n23 = in0_n2 + n22 + 1;
    const i64 n24 = ag_slice_count(in0_n2, 2, 0, n23, 2);
    if (n24 < 0) return ag_fail(call, 7 /* ZERO_STEP */, 1, 2, 6, (const i64[]){5, in0_n2, 2, 0, n23, 2});
    if (in1_n3 < 1) return ag_fail(call, 69 /* WINDOW */, 1, 3, 2, (const i64[]){1, in1_n3});
    if (in0_n3 < 1 || in1_n3 - 1 > (in0_n3 - 1) / 1) return ag_fail(call, 69 /* WINDOW */, 1, 3, 4, (const i64[]){3, in1_n3, in0_n3, 1});
    const i64 n26 = in1_n3 * -1;
    const i64 n27 = in0_n3 + n26 + 1;
    const i64 n28 = ag_slice_count(in0_n3, 2, 0, n27, 2);
    if (n28 < 0) return ag_fail(call, 7 /* ZERO_STEP */, 1, 3, 6, (const i64[]){5, in0_n3, 2, 0, n27, 2});
    const i64 n30 = in1_n1 * in1_n2 * in1_n3;
    void *const p31 = ag_pack(rt, &f->b[0], 4, 4, (const i64[]){in1_n0, in1_n1, in1_n2, in1_n3}, in1, (const i64[]){in1_s0, in1_s1, in1_s2, in1_s3});
    if (!p31) return ag_fail(call, 2 /* MEMORY */, 1, 0, 5, (const i64[]){4, in1_n0, in1_n1, in1_n2, in1_n3});
    const i64 n33 = in0_s2 * 2;
    const i64 n34 = in0_s3 * 2;
    const i64 n35 = in1_n0 * n30;
    const i64 n36 = in1_n1 * in0_s1;
    const i64 n37 = in1_n0 * n24 * n28;
    const i64 n38 = n24 * n28;
    const i64 n39 = ag_join(in1_n0, in2_n0);
    if (n39 < 0) return ag_fail(call, 3 /* LENGTHS */, 1, 1, 14, (const i64[]){2, in1_n0, in2_n0, in0_n0, in0_n1, in0_n2, in0_n3, in1_n0, in1_n1, in1_n2, in1_n3, in2_n0, 1, 1});
    f->o[0] = ag_output(call, 3, 9, 4, 4, 4, (const i64[]){in0_n0, n39, n24, n28});
    if (!f->o[0]) return ag_fail(call, 2 /* MEMORY */, 1, 0, 5, (const i64[]){4, in0_n0, n39, n24, n28});
    const i64 n40 = n39 * n24 * n28;
    const i64 n41 = in1_n0 != n39;
    const i64 n42 = n41 ? in0_n0 : 0;
    f->b[1] = ag_take(rt, 4, 4, (const i64[]){n42, in1_n0, n24, n28});
    if (!f->b[1]) return ag_fail(call, 2 /* MEMORY */, 1, 0, 5, (const i64[]){4, n42, in1_n0, n24, n28});
    void *const p43 = n41 ? f->b[1] : f->o[0];
    const i64 n44 = in1_n0 == 1 ? 0 : n38;
    const i64 n45 = in2_n0 == 1 ? 0 : in2_s0;
    f->outcome = rt->f32.window_product(rt, &(const ag_window_product){.rank = 2, .batch = (const i64[]){in0_n0,
        1}, .m = in1_n0, .a = p31, .a_strides = (const i64[]){0, n35, n30, 1}, .b = in0,
        .b_strides = (const i64[]){in0_s0, n36, 0, 0}, .row_rank = 3, .rows = (const i64[]){in1_n1, in1_n2,
        in1_n3}, .row_steps = (const i64[]){in0_s1, in0_s2, in0_s3}, .column_rank = 2,
        .columns = (const i64[]){n24, n28}, .column_steps = (const i64[]){n33, n34}, .y = p43,
        .after = {&k_6f1dda27ae85cafb_nest, (const i64[]){in0_n0, n39, n24, n28}, (void *[]){f->o[0], p43, in2,
        k0}, (const i64[]){n40, n38, n28, 1, n37, n44, n28, 1, 0, n45, 0, 0, 0, 0, 0, 0}}});
    if (f->outcome) return ag_fail(call, f->outcome, 1, 0, 0, 0);
    if (*rt->stop && rt->stopped()) return ag_fail(call, 12 /* INTERRUPTED */, 1, 0, 0, 0);
    rt->release(f->b[0]), f->b[0] = 0;
    rt->release(f->b[1]), f->b[1] = 0;

