/* Ctrl-C and the team of threads, or what stands in their place on a machine that has neither. */
#pragma once
#ifdef AG_ALONE
#include "alone.c"
#else
#include "interrupt.c"
#include "team.c"
#endif
