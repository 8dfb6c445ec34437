/* Single floats, for passes, which are also included for vectors. */
#pragma once
#include "real32.h"

#define VEC REAL
#define LOOSE REAL
#define WIDTH 1
#define NAME(x) OF(x##_1)
