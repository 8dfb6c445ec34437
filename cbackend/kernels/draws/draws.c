/* Draws by the C functions of NumPy's own random generator, so that every value is NumPy's bit for bit.

   A call copies the state of a PCG64 from words, draws, and copies it back.  Parameters that NumPy might refuse end the
   call: NumPy's own method then says what is wrong. */
#pragma once
#include "../../abi/runtime.h"
#include "../../driver/outcomes.h"

typedef __UINT64_TYPE__ u64;
typedef __UINT32_TYPE__ u32;

/* NumPy's `bitgen_t`, of a state: what each distribution takes first. */
typedef struct bits {
    void *state;
    u64 (*next_uint64)(void *state);
    u32 (*next_uint32)(void *state);
    double (*next_double)(void *state);
    u64 (*next_raw)(void *state);
} bits;

typedef struct pcg {
    u64 words[4]; /* state, increment; the low words first */
} __attribute__((aligned(16))) pcg;

typedef struct pcg_state {
    pcg *numbers;
    u64 half; /* whether a half of a word is left, and that half */
} pcg_state;

enum { WORDS = 6, PCG64 = 0, SYMBOLS = 18 };

/* The functions of the distributions in their order, and for integers a second one; the functions of a PCG64. */
static void *symbols[SYMBOLS];
static bits of_pcg64;

/* Where parameters come from: a number, or one for each sample. */
typedef struct given {
    const double *x;
    i64 step;
} given;

static i32 is_negative(double x) { return x == x && __builtin_signbit(x); }

/* Whether NumPy surely accepts the parameters of a sample. */
static i32 fits(i32 distribution, double a, double b, double c)
{
    switch (distribution) {
    case AG_NORMAL:
    case AG_LOGNORMAL:
    case AG_LAPLACE:
    case AG_LOGISTIC:
    case AG_VONMISES: return !is_negative(b);
    case AG_UNIFORM: return b - a >= 0 && b - a <= __DBL_MAX__;
    case AG_GAMMA: return !is_negative(a) && !is_negative(b);
    case AG_BETA:
    case AG_WALD: return a > 0 && b > 0;
    case AG_HALFNORMAL: return a > 0;
    case AG_EXPONENTIAL:
    case AG_WEIBULL: return !is_negative(a);
    case AG_TRIANGULAR: return a <= b && b <= c && a < c;
    case AG_POISSON: return a >= 0 && a <= 9.2e18 && !is_negative(a);
    default: return a > 0 && a <= 1; /* AG_GEOMETRIC */
    }
}

/* The same for those of all samples. */
static i32 all_fit(i32 distribution, i64 count, given p, given q, given r)
{
    const i64 checks = p.step || q.step || r.step ? count : count > 0;
    for (i64 k = 0; k < checks; k++)
        if (!fits(distribution, p.x[k * p.step], q.x ? q.x[k * q.step] : 0, r.x ? r.x[k * r.step] : 0)) return 0;
    return 1;
}

/* Draw `count` samples of floats by the function of a distribution; 0: a parameter may not fit. */
static i32 draw_floats(i32 d, bits *from, i64 count, given p, given q, given r, double *y)
{
    double (*of_one)(bits *, double) = (double (*)(bits *, double))symbols[d];
    double (*of_two)(bits *, double, double) = (double (*)(bits *, double, double))symbols[d];
    double (*of_three)(bits *, double, double, double) = (double (*)(bits *, double, double, double))symbols[d];
    if (!all_fit(d, count, p, q, r)) return 0;
    switch (d) {
    case AG_UNIFORM:
        for (i64 k = 0; k < count; k++, p.x += p.step, q.x += q.step) y[k] = of_two(from, *p.x, *q.x - *p.x);
        return 1;
    case AG_HALFNORMAL:
        for (i64 k = 0; k < count; k++, p.x += p.step) y[k] = __builtin_fabs(of_two(from, 0, *p.x));
        return 1;
    case AG_EXPONENTIAL:
    case AG_WEIBULL:
        for (i64 k = 0; k < count; k++, p.x += p.step) y[k] = of_one(from, *p.x);
        return 1;
    case AG_TRIANGULAR:
        for (i64 k = 0; k < count; k++, p.x += p.step, q.x += q.step, r.x += r.step)
            y[k] = of_three(from, *p.x, *q.x, *r.x);
        return 1;
    default:
        for (i64 k = 0; k < count; k++, p.x += p.step, q.x += q.step) y[k] = of_two(from, *p.x, *q.x);
        return 1;
    }
}

static i32 draw_counts(i32 d, bits *from, i64 count, given p, i64 *y)
{
    i64 (*of_one)(bits *, double) = (i64 (*)(bits *, double))symbols[d];
    if (!all_fit(d, count, p, (given){0}, (given){0})) return 0;
    for (i64 k = 0; k < count; k++, p.x += p.step) y[k] = of_one(from, *p.x);
    return 1;
}

static i32 draw_binomial(bits *from, i64 count, const i64 *n, i64 step, given p, i64 *y)
{
    i64 (*draw)(bits *, double, i64, void *) = (i64 (*)(bits *, double, i64, void *))symbols[AG_BINOMIAL];
    double known[64] = {0}; /* NumPy's `binomial_t`, which keeps what it has computed for the last n and p */
    for (i64 k = 0; k < count; k++, n += step, p.x += p.step) {
        if (!(*n >= 0 && *p.x >= 0 && *p.x <= 1)) return 0;
        y[k] = draw(from, *p.x, *n, known);
    }
    return 1;
}

static i32 draw_integers(bits *from, i64 count, const i64 *low, i64 low_step, const i64 *high, i64 high_step, i64 *y)
{
    void (*fill)(bits *, u64, u64, i64, _Bool, u64 *) =
        (void (*)(bits *, u64, u64, i64, _Bool, u64 *))symbols[AG_INTEGERS];
    u64 (*draw)(bits *, u64, u64, u64, _Bool) = (u64 (*)(bits *, u64, u64, u64, _Bool))symbols[AG_INTEGERS + 1];
    if (count && !low_step && !high_step) {
        if (*low >= *high) return 0;
        fill(from, (u64)*low, (u64)*high - (u64)*low - 1, count, 0, (u64 *)y);
        return 1;
    }
    for (i64 k = 0; k < count; k++, low += low_step, high += high_step) {
        if (*low >= *high) return 0;
        y[k] = (i64)draw(from, (u64)*low, (u64)*high - (u64)*low - 1, 0, 0);
    }
    return 1;
}

/* Return 0, or PROMISED: the state is not that of a PCG64, or a parameter may not fit. */
static i32 draw_samples(const ag_runtime *rt, const ag_draw *of)
{
    if (of->words != WORDS || of->state[0] != PCG64 || !of_pcg64.next_uint64) return OUTCOME_PROMISED;
    rt->clear_upper_halves(); /* 2,000 Poisson samples take 330 us, and 60 after it */
    pcg numbers;
    pcg_state state = {&numbers, (u64)of->state[5]};
    bits from = of_pcg64;
    from.state = &state;
    for (i32 k = 0; k < 4; k++) numbers.words[k] = (u64)of->state[1 + k];
    const given p = {of->first, of->first_step}, q = {of->second, of->second_step}, r = {of->third, of->third_step};
    i32 done;
    switch (of->distribution) {
    case AG_POISSON:
    case AG_GEOMETRIC: done = draw_counts(of->distribution, &from, of->count, p, of->y); break;
    case AG_BINOMIAL: done = draw_binomial(&from, of->count, of->first, p.step, q, of->y); break;
    case AG_INTEGERS: done = draw_integers(&from, of->count, of->first, p.step, of->second, q.step, of->y); break;
    default: done = draw_floats(of->distribution, &from, of->count, p, q, r, of->y);
    }
    if (!done) return OUTCOME_PROMISED;
    of->after[0] = PCG64;
    for (i32 k = 0; k < 4; k++) of->after[1 + k] = (i64)numbers.words[k];
    of->after[5] = (i64)state.half;
    return 0;
}
