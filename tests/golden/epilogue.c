    /* 0: v0 = fused_product{product=dot22}(in0, in1, in2, k0) */
    if (in0_n1 != in1_n0) return ag_fail(call, 3 /* LENGTHS */, 0, -1, 8, (const i64[]){2, in0_n1, in1_n0, in0_n0, in0_n1, in1_n0, in1_n1, in2_n0});
    const i64 n14 = ag_join(in1_n1, in2_n0);
    if (n14 < 0) return ag_fail(call, 3 /* LENGTHS */, 0, 1, 8, (const i64[]){2, in1_n1, in2_n0, in0_n0, in0_n1, in1_n0, in1_n1, in2_n0});
    f->o[0] = ag_output(call, 3, 5, 2, 4, 2, (const i64[]){in0_n0, n14});
    if (!f->o[0]) return ag_fail(call, 2 /* MEMORY */, 0, 0, 3, (const i64[]){2, in0_n0, n14});
    const i64 n15 = in1_n1 != n14;
    const i64 n16 = n15 ? in0_n0 : 0;
    f->b[0] = ag_take(rt, 4, 2, (const i64[]){n16, in1_n1});
    if (!f->b[0]) return ag_fail(call, 2 /* MEMORY */, 0, 0, 3, (const i64[]){2, n16, in1_n1});
    void *const p17 = n15 ? f->b[0] : f->o[0];
    const i64 n18 = in1_n1 == 1 ? 0 : 1;
    const i64 n19 = in2_n0 == 1 ? 0 : in2_s0;
    rt->f32.product(rt, &(const ag_product){.rank = 0, .batch = (const i64[]){0}, .m = in0_n0, .n = in1_n1,
        .k = in0_n1, .alpha = (const f32[]){1}, .a = in0, .a_strides = (const i64[]){in0_s0, in0_s1}, .b = in1,
        .b_strides = (const i64[]){in1_s0, in1_s1}, .beta = (const f32[]){0}, .y = p17,
        .after = {&k_19419a900497a312_nest, (const i64[]){in0_n0, n14}, (void *[]){f->o[0], p17, in2, k0},
        (const i64[]){n14, 1, in1_n1, n18, 0, n19, 0, 0}}});
    if (*rt->stop && rt->stopped()) return ag_fail(call, 12 /* INTERRUPTED */, 0, 0, 0, 0);
    rt->release(f->b[0]), f->b[0] = 0;

