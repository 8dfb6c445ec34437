/* Unit: the entries that are builtins of Python, the same for all functions. */
#include "../runtime/prebuilt.h"
#include "../abi/native.h"
#include "native_entry.c"
#include "native_bound.c"
#include "native_jit.c"
#include "native_plain.c"
#include "native_watch.c"
