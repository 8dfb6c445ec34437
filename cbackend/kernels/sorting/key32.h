/* Keys of 32 bits, for the files that are included once for each kind of key. */
#pragma once
#include "sorting.h"
#include "common.c"

#define KEY_IS_FLOAT 0
#define NEXT_KEY(x) ((KEY)((x) + 1))
#define KEY i32
#define UNSIGNED u32
#define KEY_BITS 32
#define KEY_MOST KEY32_MOST
#define LANES_OF lanes32
#define NAME(x) x##32
