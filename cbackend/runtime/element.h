/* The element type of a unit: T, REAL (the type of its parts), COMPLEX.  FALLBACK: as small as will do beside a BLAS that has
   gemv, ger and dot; BLAS_FIRST: matrices go to the BLAS even where our own loops are as fast.

   sources.py defines them in front of the unit; without it, the unit is that of float32. */
#pragma once

#ifndef T
#define T float
#define REAL float
#define COMPLEX 0
#endif
#ifndef FALLBACK
#define FALLBACK 0
#define BLAS_FIRST 0
#endif
