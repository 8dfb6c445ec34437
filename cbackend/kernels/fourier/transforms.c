/* Transforms of one real type REAL, its plans, and rows of a batch.  Included for float and for double, with OF. */
#include "../batch.h"
#include "real32.h"

typedef REAL OF(vec4) __attribute__((vector_size(4 * sizeof(REAL))));
typedef REAL OF(loose4) __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

#define VEC REAL
#define LOOSE REAL
#define WIDTH 1
#define NAME(x) OF(x##_1)
#include "passes.c"

#undef VEC
#undef LOOSE
#undef WIDTH
#undef NAME
#define VEC OF(vec4)
#define LOOSE OF(loose4)
#define WIDTH 4
#define NAME(x) OF(x##_4)
#include "passes.c"

#undef VEC
#undef LOOSE
#undef WIDTH
#undef NAME
#if REAL_BYTES == 4
typedef REAL OF(vec8) __attribute__((vector_size(32)));
typedef REAL OF(loose8) __attribute__((vector_size(32), aligned(4), may_alias));
#define VEC OF(vec8)
#define LOOSE OF(loose8)
#define WIDTH 8
#define NAME(x) OF(x##_8)
#include "passes.c"

#undef VEC
#undef LOOSE
#undef WIDTH
#undef NAME
#endif

/* Tables of a transform of length n, kept until the process ends, or of one call.

   Bluestein's: a length with a large prime is a convolution of `inner` length by `chirp`, whose transform is `kernel`. */
typedef struct OF(plan) {
    struct OF(plan) * next, *inner;
    i64 n, is_kept, is_real;
    int count, factors[MOST_FACTORS];
    REAL *roots;  /* of each pass: for each p its r - 1 roots; complex numbers */
    REAL *first;  /* of the first pass, where its radix is 4: vectors along p */
    REAL *small;  /* of each factor that is an odd prime above 5, its roots */
    REAL *halves; /* is_real: exp(-2 pi i k / 2 n), k <= n, for twice as many real numbers */
    REAL *room, *chirp, *kernel;
} OF(plan);

static OF(plan) * OF(plans); /* those that are kept */
static i64 OF(kept);         /* their numbers */

/* Return the numbers that the tables of a plan hold. */
static i64 OF(size)(i64 n, const int *factors, int count, i64 is_real)
{
    i64 size = is_real ? 2 * (n + 1) : 0, m = n;
    for (int k = 0; k < count; k++) m /= factors[k], size += 2 * m * (factors[k] - 1) + 2 * factors[k];
    return size + (count && factors[0] == 4 ? 6 * (n / 4 + 4) : 0);
}

static void OF(fill)(OF(plan) * plan, REAL *to)
{
    const i64 n = plan->n;
    double c, s;
    plan->roots = to;
    i64 m = n, step = 1;
    for (int k = 0; k < plan->count; step *= plan->factors[k++]) {
        const int r = plan->factors[k];
        m /= r;
        for (i64 p = 0; p < m; p++)
            for (int j = 1; j < r; j++) {
                root_of(p * j % (m * r) * step, n, &c, &s);
                *to++ = (REAL)c, *to++ = (REAL)-s;
            }
    }
    plan->small = to;
    for (int k = 0; k < plan->count; k++)
        for (int j = 0; j < plan->factors[k] && plan->factors[k] > 5; j++) {
            root_of(j, plan->factors[k], &c, &s);
            *to++ = (REAL)c, *to++ = (REAL)s;
        }
    plan->first = to;
    if (plan->count && plan->factors[0] == 4)
        for (i64 p = 0; p + 4 <= n / 4; p += 4)
            for (int j = 1; j < 4; j++) {
                for (int l = 0; l < 4; l++) root_of((p + l) * j, n, &c, &s), to[l] = (REAL)c, to[4 + l] = (REAL)-s;
                to += 8;
            }
    plan->halves = to;
    for (i64 k = 0; k <= n && plan->is_real; k++) {
        if (k < n) root_of(k, 2 * n, &c, &s);
        else c = -1, s = 0;
        *to++ = (REAL)c, *to++ = (REAL)-s;
    }
}

/* The first pass of a row, by 4: vectors along p, and their transposes behind one another. */
static void OF(first_pass)(const OF(plan) * plan, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi)
{
    const i64 m = plan->n / 4;
    const REAL *w = plan->first;
    i64 p = 0;
    for (; p + 4 <= m; p += 4, w += 24) {
        OF(vec4) re[4], im[4];
#define GET(k) \
    const OF(vec4) x##k = *(const OF(loose4) *)(xr + p + m * (k)), u##k = *(const OF(loose4) *)(xi + p + m * (k))
        GET(0);
        GET(1);
        GET(2);
        GET(3);
#undef GET
        const OF(vec4) a = x0 + x2, b = u0 + u2, c = x0 - x2, d = u0 - u2;
        const OF(vec4) e = x1 + x3, f = u1 + u3, g = u1 - u3, h = x3 - x1;
        re[0] = a + e, im[0] = b + f;
        re[1] = c + g, im[1] = d + h;
        re[2] = a - e, im[2] = b - f;
        re[3] = c - g, im[3] = d - h;
#pragma GCC unroll 3
        for (int k = 1; k < 4; k++) {
            const OF(vec4) cosine = *(const OF(loose4) *)(w + 8 * k - 8), sine = *(const OF(loose4) *)(w + 8 * k - 4);
            const OF(vec4) real = re[k] * cosine - im[k] * sine;
            im[k] = re[k] * sine + im[k] * cosine, re[k] = real;
        }
#define TURN(v, y) \
    { \
        const OF(vec4) low0 = __builtin_shufflevector((v)[0], (v)[1], 0, 4, 1, 5), \
                       high0 = __builtin_shufflevector((v)[0], (v)[1], 2, 6, 3, 7); \
        const OF(vec4) low1 = __builtin_shufflevector((v)[2], (v)[3], 0, 4, 1, 5), \
                       high1 = __builtin_shufflevector((v)[2], (v)[3], 2, 6, 3, 7); \
        *(OF(loose4) *)((y) + 4 * p) = __builtin_shufflevector(low0, low1, 0, 1, 4, 5); \
        *(OF(loose4) *)((y) + 4 * p + 4) = __builtin_shufflevector(low0, low1, 2, 3, 6, 7); \
        *(OF(loose4) *)((y) + 4 * p + 8) = __builtin_shufflevector(high0, high1, 0, 1, 4, 5); \
        *(OF(loose4) *)((y) + 4 * p + 12) = __builtin_shufflevector(high0, high1, 2, 3, 6, 7); \
    }
        TURN(re, yr)
        TURN(im, yi)
#undef TURN
    }
    if (p < m) /* the last ones, one by one */
        for (; p < m; p++) {
            const REAL *v = plan->roots + 6 * p;
            const REAL a = xr[p] + xr[p + 2 * m], b = xi[p] + xi[p + 2 * m], c = xr[p] - xr[p + 2 * m],
                       d = xi[p] - xi[p + 2 * m];
            const REAL e = xr[p + m] + xr[p + 3 * m], f = xi[p + m] + xi[p + 3 * m];
            const REAL g = xi[p + m] - xi[p + 3 * m], h = xr[p + 3 * m] - xr[p + m];
            const REAL re[4] = {a + e, c + g, a - e, c - g}, im[4] = {b + f, d + h, b - f, d - h};
            yr[4 * p] = re[0], yi[4 * p] = im[0];
            for (int k = 1; k < 4; k++) {
                yr[4 * p + k] = re[k] * v[2 * k - 2] - im[k] * v[2 * k - 1];
                yi[4 * p + k] = re[k] * v[2 * k - 1] + im[k] * v[2 * k - 2];
            }
        }
}

#define PASS(name, ...) (s % 4 ? OF(name##_1)(__VA_ARGS__) : WIDE_PASS(name, __VA_ARGS__))
#if REAL_BYTES == 4
#define WIDE_PASS(name, ...) (s % 8 ? OF(name##_4)(__VA_ARGS__) : OF(name##_8)(__VA_ARGS__))
#else
#define WIDE_PASS(name, ...) OF(name##_4)(__VA_ARGS__)
#endif

/* Transform `lanes` rows side by side: row q has its numbers at q, q + lanes, ...  x: real parts, then imaginary ones; y: room
   for as many.  Return the one that has the result. */
static REAL *OF(transform)(const OF(plan) * plan, i64 lanes, REAL *x, REAL *y, i64 swapped)
{
    const i64 all = plan->n * lanes, re = swapped ? all : 0, im = all - re;
    const REAL *w = plan->roots, *small = plan->small;
    i64 m = plan->n, s = lanes;
    for (int k = 0; k < plan->count; k++) {
        const int r = plan->factors[k];
        m /= r;
        if (k == 0 && r == 4 && lanes == 1) OF(first_pass)(plan, x + re, x + im, y + re, y + im);
        else if (r == 2) PASS(pass2, m, s, x + re, x + im, y + re, y + im, w);
        else if (r == 3) PASS(pass3, m, s, x + re, x + im, y + re, y + im, w);
        else if (r == 4) PASS(pass4, m, s, x + re, x + im, y + re, y + im, w);
        else if (r == 5) PASS(pass5, m, s, x + re, x + im, y + re, y + im, w);
        else PASS(pass_odd, r, m, s, x + re, x + im, y + re, y + im, w, small);
        small += r > 5 ? 2 * r : 0, w += 2 * m * (r - 1), s *= r;
        REAL *const other = x;
        x = y, y = other;
    }
    return x;
}

#if REAL_BYTES == 4
#define HALVED(name, ...) (lanes == 1 ? OF(name##_1)(__VA_ARGS__) : OF(name##_8)(__VA_ARGS__))
#else
#define HALVED(name, ...) (lanes == 1 ? OF(name##_1)(__VA_ARGS__) : OF(name##_4)(__VA_ARGS__))
#endif

/* Transform one row of real numbers or ROWS of them side by side, of odd length, as above: the n / 2 + 1 frequencies from 0. */
static REAL *OF(transform_halves)(const OF(plan) * plan, i64 lanes, REAL *x, REAL *y)
{
    const i64 all = plan->n * lanes;
    const REAL *w = plan->roots, *small = plan->small;
    i64 m = plan->n, s = 1;
    for (int k = 0; k < plan->count; k++) {
        const int r = plan->factors[k];
        m /= r;
        if (r == 3) HALVED(halved3, m, s, x, x + all, y, y + all, w);
        else if (r == 5) HALVED(halved5, m, s, x, x + all, y, y + all, w);
        else HALVED(halved_odd, r, m, s, x, x + all, y, y + all, w, small);
        small += r > 5 ? 2 * r : 0, w += 2 * m * (r - 1), s *= r;
        REAL *const other = x;
        x = y, y = other;
    }
    return x;
}

/* Return numbers that a row of a transform needs beside its own: four times its length, that of Bluestein's inner one. */
static i64 OF(room)(const OF(plan) * plan) { return 4 * (plan->inner ? plan->inner->n : plan->n); }

/* Transform rows as above, by a convolution where the length has a large prime.  Result in the front of the room. */
static REAL *OF(transform_any)(const OF(plan) * plan, i64 lanes, REAL *x, i64 swapped)
{
    if (!plan->inner) return OF(transform)(plan, lanes, x, x + 2 * plan->n * lanes, swapped);
    const i64 n = plan->n, big = plan->inner->n, all = n * lanes, wide = big * lanes;
    REAL *const y = x + 2 * wide;
    const REAL *xr = x + (swapped ? all : 0), *xi = x + (swapped ? 0 : all);
    for (i64 j = 0; j < n; j++) {
        const REAL c = plan->chirp[2 * j], d = plan->chirp[2 * j + 1];
        for (i64 q = j * lanes; q < (j + 1) * lanes; q++)
            y[q] = xr[q] * c - xi[q] * d, y[wide + q] = xr[q] * d + xi[q] * c;
    }
    memset(y + all, 0, (size_t)(wide - all) * sizeof(REAL)),
        memset(y + wide + all, 0, (size_t)(wide - all) * sizeof(REAL));
    REAL *const z = OF(transform)(plan->inner, lanes, y, x, 0);
    for (i64 j = 0; j < big; j++) {
        const REAL c = plan->kernel[2 * j], d = plan->kernel[2 * j + 1];
        for (i64 q = j * lanes; q < (j + 1) * lanes; q++) {
            const REAL a = z[q], b = z[wide + q];
            z[q] = a * c - b * d, z[wide + q] = a * d + b * c;
        }
    }
    REAL *const back = OF(transform)(plan->inner, lanes, z, z == x ? y : x, 1), *const to = back == x ? y : x;
    REAL *const yr = to + (swapped ? all : 0), *const yi = to + (swapped ? 0 : all);
    for (i64 j = 0; j < n; j++) {
        const REAL c = plan->chirp[2 * j], d = plan->chirp[2 * j + 1];
        for (i64 q = j * lanes; q < (j + 1) * lanes; q++)
            yr[q] = back[q] * c - back[wide + q] * d, yi[q] = back[q] * d + back[wide + q] * c;
    }
    return to;
}

static OF(plan) * OF(plan_for)(i64 n, i64 is_real);

/* Make the chirp of a length, exp(-pi i j^2 / n), and the transform of its conjugate over the inner length. */
static i64 OF(add_chirp)(OF(plan) * plan)
{
    const i64 n = plan->n;
    plan->inner = OF(plan_for)(good_length(2 * n - 1), 0);
    if (!plan->inner) return 0;
    const i64 big = plan->inner->n;
    REAL *const room = plan->room = malloc((size_t)(4 * big + 2 * n + 2 * big) * sizeof(REAL));
    if (!room) return 0;
    plan->chirp = room + 4 * big, plan->kernel = plan->chirp + 2 * n;
    memset(room, 0, (size_t)(2 * big) * sizeof(REAL));
    for (i64 j = 0, square = 0; j < n; square += 2 * j + 1, square %= 2 * n, j++) { /* j^2 modulo 2 n */
        double c, s;
        root_of(square, 2 * n, &c, &s);
        plan->chirp[2 * j] = (REAL)c, plan->chirp[2 * j + 1] = (REAL)-s;
        room[j] = (REAL)c, room[big + j] = (REAL)s;
        if (j) room[big - j] = (REAL)c, room[2 * big - j] = (REAL)s;
    }
    const REAL *const found = OF(transform)(plan->inner, 1, room, room + 2 * big, 0);
    const REAL scale = 1 / (REAL)big;
    for (i64 j = 0; j < big; j++)
        plan->kernel[2 * j] = found[j] * scale, plan->kernel[2 * j + 1] = found[big + j] * scale;
    return 1;
}

/* Free a plan that is not kept. */
static void OF(drop)(OF(plan) * plan)
{
    if (!plan || plan->is_kept) return;
    if (plan->inner) {
        OF(drop)(plan->inner);
        free(plan->room);
    }
    free(plan);
}

/* Return the plan of a length; NULL without memory.  It is kept as long as all plans have few numbers.  Two threads may make
   one of the same length at once. */
static OF(plan) * OF(plan_for)(i64 n, i64 is_real)
{
    for (OF(plan) *at = __atomic_load_n(&OF(plans), __ATOMIC_ACQUIRE); at; at = at->next)
        if (at->n == n && at->is_real == is_real) return at;
    OF(plan) own = {.n = n, .is_real = is_real};
    own.count = factors_of(n, own.factors);
    const i64 is_whole = own.count > 0 || n == 1, size = OF(size)(n, own.factors, own.count, is_real);
    OF(plan) *const plan = malloc(sizeof own + 64 + (size_t)size * sizeof(REAL));
    if (!plan) return 0;
    *plan = own;
    OF(fill)(plan, (REAL *)(plan + 1));
    if (!is_whole && !OF(add_chirp)(plan)) {
        OF(drop)(plan);
        return 0;
    }
    const i64 all = __atomic_add_fetch(&OF(kept), size, __ATOMIC_RELAXED);
    if (all > KEPT_NUMBERS || (plan->inner && !plan->inner->is_kept)) {
        __atomic_sub_fetch(&OF(kept), size, __ATOMIC_RELAXED);
        return plan;
    }
    plan->is_kept = 1;
    plan->next = __atomic_load_n(&OF(plans), __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&OF(plans), &plan->next, plan, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return plan;
}

/* --- rows */

/* Read complex numbers, or pairs of real ones, as real and imaginary parts. */
INLINE void OF(read_pairs)(i64 n, const REAL *restrict x, i64 first, i64 second, i64 lanes, REAL *restrict re,
                           REAL *restrict im)
{
    for (i64 j = 0; j < n; j++) re[j * lanes] = x[first * j], im[j * lanes] = x[first * j + second];
}

/* Read one row as real and imaginary parts, `lanes` apart; real numbers: pairs are complex ones if their number is even.
   im: NULL if zeros are not needed. */
static void OF(read_row)(const ag_transform *of, const REAL *x, i64 step, i64 lanes, REAL *re, REAL *im)
{
    const i64 n = of->n;
    if (of->form == AG_FROM_REAL && n % 2) {
        for (i64 j = 0; j < n; j++) re[j * lanes] = x[j * step];
        for (i64 j = 0; j < n && im; j++) im[j * lanes] = 0;
    } else if (of->form != AG_TO_REAL) {
        const i64 pairs = of->form == AG_FROM_REAL ? n / 2 : n, second = of->form == AG_FROM_REAL ? step : 1;
        if (step == 1 && lanes == 1) OF(read_pairs)(pairs, x, 2, 1, 1, re, im);
        else OF(read_pairs)(pairs, x, 2 * step, second, lanes, re, im);
    } else
        for (i64 j = 0; j <= n / 2; j++) {
            const REAL a = x[2 * j * step], b = j == 0 || 2 * j == n ? 0 : x[2 * j * step + 1];
            re[j * lanes] = a, im[j * lanes] = b;
            if (n % 2 && j) re[(n - j) * lanes] = a, im[(n - j) * lanes] = -b;
        }
}

/* Combine the n / 2 + 1 frequencies in re and im, `lanes` apart, to those of pairs of the real numbers, in place. */
static void OF(join_halves)(const OF(plan) * plan, i64 lanes, REAL *re, REAL *im)
{
    const i64 h = plan->n;
    for (i64 k = 0; 2 * k <= h; k++) {
        const i64 i = k * lanes, j = (h - k) * lanes;
        const REAL c = plan->halves[2 * k], s = -plan->halves[2 * k + 1]; /* of exp(2 pi i k / n) */
        const REAL a = re[i] + re[j], b = im[i] - im[j], d = re[i] - re[j], e = im[i] + im[j];
        const REAL f = d * c - e * s, g = d * s + e * c; /* (X[k] - conj X[h - k]) w */
        re[i] = a - g, im[i] = b + f, re[j] = a + g, im[j] = f - b;
    }
}

/* Write the h + 1 frequencies of real numbers from the h of their pairs: those at both ends, then the others. */
INLINE void OF(write_halves)(i64 h, const REAL *restrict roots, i64 lanes, const REAL *restrict re,
                             const REAL *restrict im, REAL scale, REAL *restrict y)
{
    y[0] = (re[0] + im[0]) * scale, y[2 * h] = (re[0] - im[0]) * scale, y[1] = y[2 * h + 1] = 0;
    scale /= 2;
    for (i64 k = 1; k < h; k++) {
        const i64 i = k * lanes, j = (h - k) * lanes;
        const REAL c = roots[2 * k], s = roots[2 * k + 1];
        const REAL a = re[i] + re[j], b = im[i] - im[j], d = re[i] - re[j], e = im[i] + im[j];
        y[2 * k] = (a + (d * s + e * c)) * scale, y[2 * k + 1] = (b - (d * c - e * s)) * scale;
    }
}

/* Write numbers, or pairs of real ones. */
INLINE void OF(write_pairs)(i64 n, i64 lanes, const REAL *restrict re, const REAL *restrict im, REAL scale,
                            REAL *restrict y)
{
    for (i64 j = 0; j < n; j++) y[2 * j] = re[j * lanes] * scale, y[2 * j + 1] = im[j * lanes] * scale;
}

static void OF(write_row)(const ag_transform *of, const OF(plan) * plan, i64 lanes, const REAL *re, const REAL *im,
                          REAL scale, REAL *y)
{
    const i64 n = of->n, is_even = n % 2 == 0;
    if (of->form == AG_FROM_REAL && is_even) {
        if (lanes == 1) OF(write_halves)(plan->n, plan->halves, 1, re, im, scale, y);
        else OF(write_halves)(plan->n, plan->halves, lanes, re, im, scale, y);
    } else if (of->form == AG_TO_REAL && !is_even)
        for (i64 j = 0; j < n; j++) y[j] = re[j * lanes] * scale;
    else {
        const i64 pairs = of->form == AG_FROM_REAL ? n / 2 + 1 : plan->n;
        if (lanes == 1) OF(write_pairs)(pairs, 1, re, im, scale, y);
        else OF(write_pairs)(pairs, lanes, re, im, scale, y);
    }
}

enum { OF(ROWS) = 16 / sizeof(REAL) * 2 }; /* side by side: two vectors of 128 bits, one of 256 */

typedef struct OF(work) {
    const ag_runtime *rt;
    const ag_transform *of;
    const OF(plan) * plan;
    i64 rows, each, lanes;
    REAL scale;
    i32 volatile failed;
} OF(work);

static void OF(do_rows)(void *context, i64 task)
{
    OF(work) *work = context;
    const ag_transform *of = work->of;
    const OF(plan) *plan = work->plan;
    const i64 end = least((task + 1) * work->each, work->rows), step = of->x_strides[of->rank];
    const i64 out = of->form == AG_TO_REAL ? of->n : 2 * (of->form == AG_FROM_REAL ? of->n / 2 + 1 : of->n);
    const i64 is_halves = of->form == AG_FROM_REAL && of->n % 2 && plan->count; /* odd, no large prime */
    const i64 swapped = of->form == AG_BACKWARD || of->form == AG_TO_REAL, parts = of->form == AG_FROM_REAL ? 1 : 2;
    REAL *const room = work->rt->alloc((OF(room)(plan) + 8) * work->lanes * (i64)sizeof(REAL));
    if (!room) work->failed = OUTCOME_MEMORY;
    for (i64 row = task * work->each; row < end && !work->failed;) {
        const i64 lanes = end - row >= work->lanes ? work->lanes : 1;
        const i64 all = plan->n * lanes, halved = of->form == AG_TO_REAL && of->n % 2 == 0;
        REAL *const re = room, *im = room + all, *const behind = room + OF(room)(plan) * lanes;
        if (halved) im = behind - (plan->n + 1) * lanes; /* one frequency more than fits, for a moment */
        for (i64 q = 0; q < lanes; q++) {
            const i64 at = place_of(row + q, of->rank, of->batch, of->x_strides);
            OF(read_row)(of, (const REAL *)of->x + parts * at, step, lanes, re + q, is_halves ? NULL : im + q);
            if (halved) OF(join_halves)(plan, lanes, re + q, im + q);
        }
        if (halved) memcpy(room + all, im, (size_t)all * sizeof(REAL));
        const REAL *const found = is_halves ? OF(transform_halves)(plan, lanes, room, room + 2 * all)
                                            : OF(transform_any)(plan, lanes, room, swapped);
        for (i64 q = 0; q < lanes; q++)
            OF(write_row)(of, plan, lanes, found + q, found + all + q, work->scale, (REAL *)of->y + (row + q) * out);
        row += lanes;
        if (*work->rt->stop && work->rt->stopped()) break;
    }
    work->rt->release(room);
}

static i32 OF(transform_rows)(const ag_runtime *rt, const ag_transform *of, i64 rows)
{
    const i64 is_halved = of->form >= AG_FROM_REAL && of->n % 2 == 0, n = is_halved ? of->n / 2 : of->n;
    OF(plan) *const plan = OF(plan_for)(n, is_halved);
    if (!plan) return OUTCOME_MEMORY;
    const double scale = of->scale == AG_BY_LENGTH ? 1 / (double)of->n
                         : of->scale == AG_BY_ROOT ? 1 / __builtin_sqrt((double)of->n)
                                                   : 1;
    const i64 lanes = rows >= OF(ROWS) && (n % 16 || n < 64) ? OF(ROWS) : 1;
    OF(work)
    work = {.rt = rt, .of = of, .plan = plan, .rows = rows, .lanes = lanes, .scale = (REAL)scale, .each = rows};
    if (rt->threads > 1 && rows > lanes && (double)n * (double)rows > 2 * FOURIER_TASK) {
        const i64 fewest = FOURIER_TASK / n + 1;
        work.each = (fewest + lanes - 1) / lanes * lanes; /* whole groups: the bits do not depend on tasks */
        rt->parallel(rt, (rows + work.each - 1) / work.each, OF(do_rows), &work);
    } else OF(do_rows)(&work, 0);
    OF(drop)(plan);
    return work.failed;
}

#undef PASS
#undef WIDE_PASS
#undef HALVED
