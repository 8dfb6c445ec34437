/* Floats of 32 bits, for the file that is included once for each kind of float. */
#pragma once
#include "order.c"

#define REAL float
#define OF(x) x##_f32
