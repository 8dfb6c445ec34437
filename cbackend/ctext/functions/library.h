/* Prototypes of the C library, in place of headers.

   Elementary functions have texts of their own, in the other files: a call of the C library is not vectorized, and its
   vector forms, where it has them, give other bits than its scalar ones. */
#pragma once
#include "element.h"

F fabs_F(F);

F sqrt_F(F);

F floor_F(F);

F ceil_F(F);

F trunc_F(F);

F rint_F(F);

F exp_F(F);

F log_F(F);

F tan_F(F);

F tgamma_F(F);

F fmod_F(F, F);

F copysign_F(F, F);

F pow_F(F, F);

f32 lgammaf_r(f32, int *);

f64 lgamma_r(f64, int *);
