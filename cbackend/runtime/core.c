/* Unit: all of the runtime but matrix products and factorizations.  AG_ALONE: for a machine without threads and signals. */
#include "prebuilt.h"
#include "../abi/call.h"
#include "costs.h"
#include "copies.c" /* first: the rest is hardly optimized */
#include "runtime.c"
#include "arena.c"
#include "threads.h"
#include "launch.c"
#include "pipeline.c"
#ifndef AG_ALONE
#include "blas_gate.c"
#endif
#include "../driver/looped.h"
#include "table.c"
#ifndef AG_ALONE
#include "forks.c"
#endif
