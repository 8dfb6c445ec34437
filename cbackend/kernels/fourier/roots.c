/* Roots of unity, within 0.6 ulp of exact ones, and the lengths of transforms.  Without the C library, whose bits differ. */
#pragma once
#include "../../abi/runtime.h"
#include "../../driver/outcomes.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=fast")
#endif
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))

INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }

/* Return a * b, and in *rest what it lacks.  Source: T. J. Dekker, 1971. */
static double product_of(double a, double b, double *rest)
{
    const double split = 134217729.0;
    volatile double x = a * split, y = b * split;
    const volatile double a1 = x - (x - a), b1 = y - (y - b), a2 = a - a1, b2 = b - b1;
    const volatile double p = a * b, q = a1 * b1;
    volatile double r = q - p;
    r += a1 * b2;
    r += a2 * b1;
    *rest = r + a2 * b2;
    return p;
}

/* Set *c and *s to cosine and sine of 2 pi k / n for 0 <= 8 k <= n, by their series. */
static void first_octant(i64 k, i64 n, double *c, double *s)
{
    const double two_pi = 6.283185307179586, rest_of_pi = 2.4492935982947064e-16;
    double lack, rest;
    const double q = (double)k / (double)n;
    const double back = product_of(q, (double)n, &lack);
    const double q_rest = (((double)k - back) - lack) / (double)n;
    const double x = product_of(two_pi, q, &rest);
    rest += two_pi * q_rest + rest_of_pi * q;
    const double z = x * x;
    const double sine =
        -1 / 6.
        + z
              * (1 / 120.
                 + z
                       * (-1 / 5040.
                          + z
                                * (1 / 362880.
                                   + z
                                         * (-1 / 39916800.
                                            + z
                                                  * (1 / 6227020800.
                                                     + z * (-1 / 1307674368000. + z / 355687428096000.))))));
    const double cosine =
        1 / 24.
        + z
              * (-1 / 720.
                 + z
                       * (1 / 40320.
                          + z
                                * (-1 / 3628800.
                                   + z
                                         * (1 / 479001600.
                                            + z
                                                  * (-1 / 87178291200.
                                                     + z * (1 / 20922789888000. - z / 6402373705728000.))))));
    const double near_cosine = 1 - z / 2;
    *s = x + (rest * near_cosine + x * z * sine);
    double square_rest;
    const double square = product_of(x, x, &square_rest), half = square / 2, top = 1 - half;
    *c = top + (((1 - top) - half) + (z * z * cosine - square_rest / 2 - rest * *s));
}

/* Set *c and *s to cosine and sine of 2 pi k / n for any 0 <= k < n, which is less than 2^50. */
static void root_of(i64 k, i64 n, double *c, double *s)
{
    i64 octant = 8 * k / n;
    double x, y;
    if (octant == 0) first_octant(k, n, c, s);
    else if (octant == 1) first_octant(n - 4 * k, 4 * n, s, c);
    else if (octant < 4) { /* a quarter further */ root_of(4 * k - n, 4 * n, &x, &y);
        *c = -y, *s = x;
    } else {
        root_of(2 * k - n, 2 * n, &x, &y);
        *c = -x, *s = -y;
    }
}

enum { MOST_FACTORS = 48, MOST_PRIME = 113 };
enum { FOURIER_TASK = 1 << 13, KEPT_NUMBERS = 1 << 24 }; /* numbers of a task, at least; those of plans that last */

/* Write the factors of n, of which the first one is 4 if n has it; return how many.  0: a prime is too large. */
static int factors_of(i64 n, int *factors)
{
    int count = 0;
    for (; n % 4 == 0; n /= 4) factors[count++] = 4;
    for (int r = 2; r <= MOST_PRIME; r++)
        for (; n % r == 0; n /= r) factors[count++] = r;
    return n == 1 ? count : 0;
}

/* Return the least length from n on that 4 divides and that has no prime above 5. */
static i64 good_length(i64 n)
{
    i64 best = 4;
    while (best < n) best *= 2;
    for (i64 fives = 4; fives < best; fives *= 5)
        for (i64 x = fives; x < best; x *= 3) {
            i64 y = x;
            while (y < n) y *= 2;
            if (y < best) best = y;
        }
    return best;
}
