/* Multiplication and addition of float vectors with one rounding. */
#pragma once
#include "arithmetic.c"

typedef float floats __attribute__((vector_size(VECTOR_BYTES)));

/* sum + x * number, fused if the target has the instruction. */
INLINE floats add_multiple(floats sum, floats x, floats number)
{
#if defined(__AVX512F__)
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(number));
    return sum;
#elif defined(__FMA__)
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(number));
    return sum;
#elif defined(__aarch64__)
    __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(x), "w"(number));
    return sum;
#else
    return sum + x * number;
#endif
}
