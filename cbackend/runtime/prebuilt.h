/* Options for prebuilt code, which is optimized more than the code of programs. */
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("tree-loop-vectorize")
#endif
