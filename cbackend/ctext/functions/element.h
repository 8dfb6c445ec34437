/* The letters by which helpers stand for each of several types, as tools read them; ../helpers.py puts in their place:

       F  float32, float64     I  signed integers     N  unsigned ones     Z  both      C  complex numbers, with parts F
       E  any type, stored as S                       U  the unsigned integer as wide as F, I or Z

   A function whose name ends in such a letter is a helper of each type.  One that ends in f32 or f64 is that of one F.
   Words in capitals are constants of the type, in f32.h and f64.h. */
#pragma once
#include "types.h"
#include "f32.h"

#define INLINE static inline __attribute__((always_inline)) /* otherwise gcc calls them, and loops are not vectorized */

typedef i32 I, Z;
typedef u32 N;
typedef f32 E, S;
typedef c64 C;
#define WIDTH 32

/* Declares p, the polynomial in x with these coefficients, and powers of x that it takes; polynomials.py spells it out.  A
   number behind the series: so many coefficients are added one by one behind the chains. */
#define POLYNOMIAL(type, p, x, ...) \
    const type x##2 = x * x, x##4 = x##2 * x##2; \
    POLYNOMIAL_AGAIN(type, p, x, __VA_ARGS__)

/* The same behind another one in x. */
#define POLYNOMIAL_AGAIN(type, p, x, ...) \
    type p = (type)ag_sum_of_series(x, (const f64[]){__VA_ARGS__}, sizeof((const f64[]){__VA_ARGS__}) / sizeof(f64))

static inline f64 ag_sum_of_series(f64 x, const f64 *series, unsigned long count)
{
    return count ? series[0] + x * ag_sum_of_series(x, series + 1, count - 1) : 0;
}
