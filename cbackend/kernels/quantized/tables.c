/* Functions of bytes as tables of 256 entries, and the softmax of bytes by a table of exponentials.

   Four registers hold a table with VBMI.  With AVX2 each 16 entries are one shuffle: entries are kept as differences (in
   bits) from those 16 places before, shuffles give 0 for negative places, and places fall by 16 from one to the next, so
   the differences up to the place remain.  Elsewhere bytes are read one by one. */
#pragma once
#include "bytes.c"

typedef unsigned char octet;
enum { ENTRIES = 256, SHARE = 1 << 17 }; /* SHARE: bytes of a task */
#if defined(__AVX512VBMI__)
enum { OCTETS = 64, PLACES = 4 };
#elif defined(__AVX2__)
enum { OCTETS = 32, PLACES = 16 };
#else
enum { OCTETS = 16, PLACES = 1 };
#endif
typedef octet octets __attribute__((vector_size(OCTETS), may_alias));
typedef octet unaligned_octets __attribute__((vector_size(OCTETS), aligned(1), may_alias));

/* A table of bytes and the vectors in which it is read. */
typedef struct byte_lookup {
    octets laid[PLACES];
    octet entry[ENTRIES];
} byte_lookup;

static void lay_table(byte_lookup *table)
{
#if defined(__AVX512VBMI__)
    __builtin_memcpy(table->laid, table->entry, ENTRIES);
#elif defined(__AVX2__)
    for (int k = 0; k < PLACES; k++)
        for (int lane = 0; lane < OCTETS; lane++) {
            const octet *entry = table->entry + 16 * k + lane % 16;
            ((octet *)(table->laid + k))[lane] = (octet)(k % 8 ? entry[0] ^ entry[-16] : entry[0]);
        }
#else
    (void)table;
#endif
}

/* Look up the entries of a vector of bytes. */
INLINE octets entries_at(const byte_lookup *table, octets at)
{
#if defined(__AVX512VBMI__)
    octets low = at, high = at, all;
    unsigned long upper;
    __asm__("vpermi2b %2, %1, %0" : "+v"(low) : "v"(table->laid[0]), "v"(table->laid[1]));
    __asm__("vpermi2b %2, %1, %0" : "+v"(high) : "v"(table->laid[2]), "v"(table->laid[3]));
    __asm__("vpmovb2m %1, %0" : "=Yk"(upper) : "v"(at));
    __asm__("vpblendmb %2, %1, %0 %{%3%}" : "=v"(all) : "v"(low), "v"(high), "Yk"(upper));
    return all;
#elif defined(__AVX2__)
    const octets step = 16 - (octets){0};
    octets low = at, high = at ^ 128, all = {0};
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
        octets a, b;
        __asm__("vpshufb %2, %1, %0" : "=x"(a) : "x"(table->laid[k]), "x"(low));
        __asm__("vpshufb %2, %1, %0" : "=x"(b) : "x"(table->laid[k + 8]), "x"(high));
        __asm__("vpsubsb %1, %0, %0" : "+x"(low) : "x"(step));
        __asm__("vpsubsb %1, %0, %0" : "+x"(high) : "x"(step));
        all ^= a ^ b;
    }
    return all;
#else
    octet all[OCTETS];
    for (int k = 0; k < OCTETS; k++) all[k] = table->entry[((const octet *)&at)[k]];
    return *(const unaligned_octets *)all;
#endif
}

/* y = the entries at top - (x ^ flip), which is x for 255 and 255. */
static void look_up_bytes(const byte_lookup *table, octet top, octet flip, const octet *x, octet *y, i64 count)
{
    const byte_lookup own = *table;
    i64 i = 0;
    for (; i + OCTETS <= count; i += OCTETS)
        *(unaligned_octets *)(y + i) = entries_at(&own, top - (*(const unaligned_octets *)(x + i) ^ flip));
    for (; i < count; i++) y[i] = own.entry[(octet)(top - (x[i] ^ flip))];
}

typedef struct lookup_work {
    byte_lookup table;
    const octet *x;
    octet *y;
    i64 count;
} lookup_work;

static void lookup_task(void *context, i64 index)
{
    const lookup_work *work = context;
    const i64 first = index * SHARE;
    look_up_bytes(&work->table, 255, 255, work->x + first, work->y + first, at_most(SHARE, work->count - first));
}

/* Whether a call may take long, so that it must be interruptible. */
static i32 run_tasks(const ag_runtime *rt, i64 tasks, i32 is_long, void (*task)(void *, i64), void *work)
{
    if (is_long) rt->listen();
    if (rt->threads > 1 && tasks > 1) rt->parallel(rt, tasks, task, work);
    else
        for (i64 k = 0; k < tasks && !(is_long && rt->stopped()); k++) task(work, k);
    return is_long;
}

static void look_up(const ag_runtime *rt, const ag_look_up *of)
{
    lookup_work work = {.x = of->x, .y = of->y, .count = of->count};
    __builtin_memcpy(work.table.entry, of->table, ENTRIES);
    lay_table(&work.table);
    run_tasks(rt, parts(of->count, SHARE), of->count > 1 << 30, lookup_task, &work);
}

/* --- softmax */
enum { PLANES = 5, FRACTION = 39 }; /* bytes of an exponential, bits behind its point; see ops/lowered/byte_tables.py */

typedef struct softmax_work {
    const ag_byte_softmax *of;
    byte_lookup planes[PLANES]; /* byte p of each exponential */
    i64 whole[ENTRIES];         /* exponentials as integers */
    i64 share;                  /* rows of a task */
    octet flip;
} softmax_work;

/* The sum of the exponentials of a row. */
static i64 sum_exponents(const softmax_work *work, octet top, const octet *x, i64 count)
{
    i64 total = 0, i = 0;
#if defined(__AVX512VBMI__)
    typedef i64 sums __attribute__((vector_size(OCTETS)));
    const octets none = {0};
    sums plane[PLANES] = {{0}};
    for (; i + OCTETS <= count; i += OCTETS) {
        const octets at = top - (*(const unaligned_octets *)(x + i) ^ work->flip);
#pragma GCC unroll 5
        for (int p = 0; p < PLANES; p++) {
            sums eight;
            __asm__("vpsadbw %2, %1, %0" : "=v"(eight) : "v"(entries_at(work->planes + p, at)), "v"(none));
            plane[p] += eight;
        }
    }
    for (int p = 0; p < PLANES; p++)
        for (int lane = 0; lane < OCTETS / 8; lane++) total += plane[p][lane] << 8 * p;
#endif
    i64 several[4] = {0};
    for (; i + 4 <= count; i += 4)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) several[k] += work->whole[(octet)(top - (x[i + k] ^ work->flip))];
    for (; i < count; i++) total += work->whole[(octet)(top - (x[i] ^ work->flip))];
    return total + several[0] + several[1] + several[2] + several[3];
}

/* The largest byte of a row, in the order of bytes without a sign. */
static octet largest_of(const octet *x, i64 count, octet flip)
{
    octet top = 0;
    for (i64 i = 0; i < count; i++) {
        const octet number = x[i] ^ flip;
        top = number > top ? number : top;
    }
    return top;
}

static void softmax_row(const softmax_work *work, const octet *x, octet *y)
{
    const ag_byte_softmax *of = work->of;
    const octet top = largest_of(x, of->length, work->flip);
    const double total = (double)sum_exponents(work, top, x, of->length);
    const floats factor = (float)(0x1p39 / (total * of->scale)) - (floats){0};
    const floats low = (float)(of->low - of->zero) - (floats){0}, high = (float)(of->high - of->zero) - (floats){0};
    const vector zero = (i32)of->zero - (vector){0};
    byte_lookup found;
    for (i64 k = 0; k < ENTRIES; k += LANES) {
        const floats f = *(const unaligned_floats *)(of->exponents + k) * factor;
        *(unaligned_bytes *)(found.entry + k) = __builtin_convertvector(rounded(held(f, low, high)) + zero, bytes);
    }
    lay_table(&found);
    look_up_bytes(&found, top, work->flip, x, y, of->length);
}

static void softmax_task(void *context, i64 index)
{
    const softmax_work *work = context;
    const i64 length = work->of->length, end = at_most((index + 1) * work->share, work->of->rows);
    for (i64 row = index * work->share; row < end; row++)
        softmax_row(work, (const octet *)work->of->x + row * length, (octet *)work->of->y + row * length);
}

/* Rows of bytes: softmax, scaled and rounded. */
static void softmax_of_bytes(const ag_runtime *rt, const ag_byte_softmax *of)
{
    if (of->rows <= 0 || of->length <= 0) return;
    softmax_work work = {.of = of, .share = at_least(1, SHARE / 4 / of->length), .flip = of->is_signed ? 128 : 0};
    for (int k = 0; k < ENTRIES; k++) {
        work.whole[k] = (i64)((double)of->exponents[k] * (double)(1ll << FRACTION));
        for (int p = 0; p < PLANES; p++) work.planes[p].entry[k] = (octet)(work.whole[k] >> 8 * p);
    }
    for (int p = 0; p < PLANES; p++) lay_table(work.planes + p);
    run_tasks(rt, parts(of->rows, work.share), (double)of->rows * (double)of->length > 1e8, softmax_task, &work);
}
