/* Floats of 32 bits, for the files that are included once for each kind of float. */
#pragma once
#include "fourier.h"
#include "roots.c"

#define REAL float
#define REAL_BYTES 4
#define OF(x) x##_f32
