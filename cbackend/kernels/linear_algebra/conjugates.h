/* Conjugates and real parts of the element type (element.h): those of real numbers are the numbers. */
#pragma once
#include "../../runtime/element.h"

#if COMPLEX
#define CONJUGATE(x) conjugate_of(x)
#define REAL_PART(x) __real__(x)
static __attribute__((unused)) T conjugate_of(T x)
{
    __imag__ x = -__imag__ x;
    return x;
}
#else
#define CONJUGATE(x) (x)
#define REAL_PART(x) (x)
#endif
