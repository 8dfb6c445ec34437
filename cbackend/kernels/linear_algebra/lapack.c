/* Factorizations and systems of equations of one dtype: by the LAPACK of the process, or by our own loops.

   Matrices are stored by columns, n elements apart unless ld says otherwise; pivots: 8 * n bytes, which only these
   functions understand.  What is returned is 0, or one more than the column where the matrix is singular or not positive
   definite.  LAPACK's integers have 64 or 32 bits, which only `integer`, `pivot` and `set_pivot` know.

   Own loops: Golub and Van Loan, Matrix Computations, algorithms 3.4.1 (LU with partial pivoting), 4.2.1 (Cholesky) and
   3.1.1 (substitution). */
#pragma once
#include "../../abi/runtime.h"
#include "../../runtime/element.h"
#include "conjugates.h"

#if !defined(__clang__)
#pragma GCC optimize("O2") /* the matrices of our own loops are too small for vectors */
#endif
typedef __UINT64_TYPE__ u64;
#define EXPORT __attribute__((visibility("default")))

#if COMPLEX
static double modulus(T x) { return __builtin_hypot(__real__ x, __imag__ x); }
#else
static double modulus(T x) { return x < 0 ? -x : x; }
#endif

typedef union integer {
    i64 wide;
    i32 narrow;
} integer;

static void *symbols[4]; /* getrf, getrs, potrf, trtrs: all of them, or none */
static i32 wide;         /* they take 64-bit integers */

static integer as_integer(i64 n)
{
    integer x = {0};
    if (wide) x.wide = n;
    else x.narrow = (i32)n;
    return x;
}
static i64 value_of(integer x) { return wide ? x.wide : x.narrow; }
static i64 pivot(const void *pivots, i64 k) { return wide ? ((const i64 *)pivots)[k] : ((const i32 *)pivots)[k]; }
static void set_pivot(void *pivots, i64 k, i64 row)
{
    if (wide) ((i64 *)pivots)[k] = row;
    else ((i32 *)pivots)[k] = (i32)row;
}

/* ---- Own loops -------------------------------------------------------------------------------------------- */

static i64 own_factor(i64 n, T *a, void *pivots)
{
    i64 singular = 0;
    for (i64 j = 0; j < n; j++) {
        i64 best = j;
        for (i64 i = j + 1; i < n; i++)
            if (modulus(a[i + j * n]) > modulus(a[best + j * n])) best = i;
        set_pivot(pivots, j, best + 1);
        if (a[best + j * n] == 0) {
            if (!singular) singular = j + 1;
            continue;
        }
        for (i64 c = 0; best != j && c < n; c++) {
            const T other = a[j + c * n];
            a[j + c * n] = a[best + c * n], a[best + c * n] = other;
        }
        for (i64 i = j + 1; i < n; i++) a[i + j * n] /= a[j + j * n];
        for (i64 c = j + 1; c < n; c++)
            for (i64 i = j + 1; i < n; i++) a[i + c * n] -= a[i + j * n] * a[j + c * n];
    }
    return singular;
}

/* b = inv(op(a)) b for a triangle of a; r, c: the steps of op(a) from row to row and from column to column. */
static void substitute(i32 upper, i32 unit, i64 n, i64 k, const T *a, i64 r, i64 c, T *b)
{
    for (i64 column = 0; column < k; column++, b += n)
        for (i64 step = 0; step < n; step++) {
            const i64 i = upper ? n - 1 - step : step;
            T sum = b[i];
            for (i64 j = upper ? i + 1 : 0; j < (upper ? n : i); j++) sum -= a[i * r + j * c] * b[j];
            b[i] = unit ? sum : sum / a[i * r + i * c];
        }
}

static void own_solve(i64 n, i64 k, const T *lu, const void *pivots, T *b)
{
    for (i64 column = 0; column < k; column++)
        for (i64 i = 0; i < n; i++) {
            const i64 other = pivot(pivots, i) - 1;
            const T x = b[i + column * n];
            b[i + column * n] = b[other + column * n], b[other + column * n] = x;
        }
    substitute(0, 1, n, k, lu, 1, n, b);
    substitute(1, 0, n, k, lu, 1, n, b);
}

static i64 own_cholesky(i64 n, T *a)
{
    for (i64 j = 0; j < n; j++)
        for (i64 i = 0; i <= j; i++) {
            T sum = a[i + j * n];
            for (i64 p = 0; p < i; p++) sum -= CONJUGATE(a[p + i * n]) * a[p + j * n];
            if (i < j) a[i + j * n] = sum / a[i + i * n];
            else if (REAL_PART(sum) > 0) a[i + j * n] = (T)__builtin_sqrt(REAL_PART(sum));
            else return j + 1;
        }
    return 0;
}

/* ---- By LAPACK -------------------------------------------------------------------------------------------- */

enum { OWN_ROWS = 8 }; /* up to so many rows a call of LAPACK takes longer than our own loops */

/* Whether our own loops take matrices of n rows, for which LAPACK has this function. */
static i32 is_own(i32 function, i64 n) { return !symbols[function] || n <= OWN_ROWS; }

/* Where a pivot has no more than this part of the largest number, rounding decides whether a matrix is singular.  LAPACK
   factors it then, so that the answer is NumPy's.  That depends on the matrix only, so equal ones have equal factors. */
#define IN_DOUBT (sizeof(REAL) == 4 ? (REAL)0x1p-17 : (REAL)0x1p-46)

/* Whether each pivot of an upper triangle is larger than a part of its largest number. */
static i32 is_regular(i64 n, const T *u, REAL part)
{
    REAL smallest = (REAL)__builtin_inf(), largest = 0;
    for (i64 j = 0; j < n; j++)
        for (i64 i = 0; i <= j; i++) {
            const REAL size = (REAL)modulus(u[i + j * n]);
            if (size > largest) largest = size;
            if (i == j && size < smallest) smallest = size;
        }
    return smallest > part * largest;
}

static void copy_matrix(i64 n, T *y, const T *x) { __builtin_memcpy(y, x, sizeof(T) * (u64)(n * n)); }

enum { SMALL_WORK = 1 << 15, LARGE_WORK = 1 << 28 }; /* multiplications: some 5 us and 20 ms of one thread */

/* Threads of the BLAS meet at each step of a factorization.  On a busy machine each meeting may take milliseconds, so a
   system of 300 equations took ten times as long with two threads as with one, and a third longer when all was quiet.
   Work of less than LARGE_WORK therefore stays on one thread.  The bits depend on sizes only.  SMALL_WORK is not worth
   the setting; the BLAS does not share it. */
#define THROUGH_GATE(work, call) \
    do { \
        ag_runtime own = *rt; \
        if ((work) >= SMALL_WORK && (work) < LARGE_WORK) own.threads = 1; \
        rt->enter_blas(&own); \
        call; \
        rt->leave_blas(&own); \
    } while (0)

/* a = p l u in place. */
static i64 factor(const ag_runtime *rt, i64 n, void *a, void *pivots)
{
    if (!symbols[0]) return own_factor(n, a, pivots);
    if (n <= OWN_ROWS) {
        T given[OWN_ROWS * OWN_ROWS];
        copy_matrix(n, given, a);
        if (!own_factor(n, a, pivots) && is_regular(n, a, IN_DOUBT)) return 0;
        copy_matrix(n, a, given);
    }
    const integer size = as_integer(n);
    integer info = as_integer(0);
    void (*getrf)(const void *, const void *, T *, const void *, void *, void *) = symbols[0];
    THROUGH_GATE(n * n * n / 3, getrf(&size, &size, a, &size, pivots, &info));
    return value_of(info);
}

/* b = inv(a) b for n by k sides. */
static void solve(const ag_runtime *rt, i64 n, i64 k, const void *lu, const void *pivots, void *b)
{
    if (is_own(1, n) || k == 0) {
        own_solve(n, k, lu, pivots, b);
        return;
    }
    const integer size = as_integer(n), sides = as_integer(k);
    integer info = as_integer(0);
    void (*getrs)(const char *, const void *, const void *, const T *, const void *, const void *, T *, const void *,
                  void *, u64) = symbols[1];
    THROUGH_GATE(n * n * k, getrs("N", &size, &sides, lu, &size, pivots, b, &size, &info, 1));
}

/* The upper triangle of a becomes the u of a = u^H u. */
static i64 cholesky(const ag_runtime *rt, i64 n, void *a)
{
    if (!symbols[2]) return own_cholesky(n, a);
    if (n <= OWN_ROWS) {
        T given[OWN_ROWS * OWN_ROWS];
        copy_matrix(n, given, a);
        if (!own_cholesky(n, a) && is_regular(n, a, (REAL)__builtin_sqrt(IN_DOUBT))) return 0;
        copy_matrix(n, a, given);
    }
    const integer size = as_integer(n);
    integer info = as_integer(0);
    void (*potrf)(const char *, const void *, T *, const void *, void *, u64) = symbols[2];
    THROUGH_GATE(n * n * n / 6, potrf("U", &size, a, &size, &info, 1));
    return value_of(info);
}

/* b = inv(op(a)) b for a triangle of a; trans: 0 as stored, 1 transposed. */
static i64 triangular(const ag_runtime *rt, i32 upper, i32 trans, i32 unit, i64 n, i64 k, const void *a_, i64 ld,
                      void *b)
{
    const T *a = a_;
    for (i64 i = 0; !unit && i < n; i++)
        if (a[i + i * ld] == 0) return i + 1;
    if (is_own(3, n) || k == 0) {
        substitute(upper != trans, unit, n, k, a, trans ? ld : 1, trans ? 1 : ld, b);
        return 0;
    }
    const integer size = as_integer(n), sides = as_integer(k), step = as_integer(ld);
    integer info = as_integer(0);
    void (*trtrs)(const char *, const char *, const char *, const void *, const void *, const T *, const void *, T *,
                  const void *, void *, u64, u64, u64) = symbols[3];
    THROUGH_GATE(n * n * k / 2, trtrs(upper ? "U" : "L", trans ? "T" : "N", unit ? "U" : "N", &size, &sides, a, &step,
                                      b, &size, &info, 1, 1, 1));
    return value_of(info);
}

/* The sign of a determinant and the logarithm of its modulus. */
static void determinant(i64 n, const void *lu_, const void *pivots, void *sign_, void *logarithm_)
{
    const T *lu = lu_;
    T sign = 1;
    REAL logarithm = 0;
    for (i64 i = 0; i < n; i++) {
        const T x = lu[i + i * n];
        const REAL size = (REAL)modulus(x);
        if (pivot(pivots, i) != i + 1) sign = -sign;
        sign *= size == 0 ? 0 : x / size;
        logarithm += (REAL)__builtin_log(size);
    }
    *(T *)sign_ = sign + 0, *(REAL *)logarithm_ = logarithm; /* 0, not -0, for a singular matrix */
}
