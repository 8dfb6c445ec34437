/* Unit: the factorizations of one dtype (element.h). */
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/linear_algebra/lapack.c"
#include "../kernels/linear_algebra/batches.c"
