/* The copies of tiles and strips for elements of each size. */
#pragma once
#include "../abi/copies.h"
#include "../abi/driver.h"
#include "../ctext/functions/types.h"

#define AG_TRANSPOSES /* see ag_copy */
#define JOINED(a, b) a##b
#define OF_BYTES(name, bytes) JOINED(name, bytes)
#define ag_tile_in_E OF_BYTES(tile_in_, BYTES)
#define ag_tile_out_E OF_BYTES(tile_out_, BYTES)
#define ag_tile_back_E OF_BYTES(tile_back_, BYTES)
#define ag_run_of_E OF_BYTES(run_of_, BYTES)
#define ag_run_in_E OF_BYTES(run_in_, BYTES)
#define ag_run_back_E OF_BYTES(run_back_, BYTES)
#define ag_widened_in_N OF_BYTES(widened_in_, BYTES)

#define BYTES 1
#define S u8
#define N u8
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N
#define BYTES 2
#define S u16
#define N u16
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N
#define BYTES 4
#define S u32
#define N u32
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N
#define BYTES 8
#define S u64
#define N u64
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N
#define BYTES 16
#define S c128
#define N c128
#include "../ctext/functions/copies.h"
#undef BYTES
#undef S
#undef N

/* Table of a copy for each size, called as one of bytes: arguments and results are pointers and i64 all the same. */
#define OF_EACH_SIZE(name) {(void *)name##_1, (void *)name##_2, (void *)name##_4, (void *)name##_8, (void *)name##_16}

static const ag_copies copies = {
    OF_EACH_SIZE(tile_in),  OF_EACH_SIZE(tile_back),  OF_EACH_SIZE(run_of),
    OF_EACH_SIZE(run_back), OF_EACH_SIZE(widened_in),
};
