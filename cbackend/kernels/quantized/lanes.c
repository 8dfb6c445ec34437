/* Vectors of 32-bit lanes: what products of bytes and of weights in packed formats share.  They round as they are written:
   nothing is fused but what asks for it. */
#pragma once
#define EXACT 1
#include "../products/fused.c"

typedef signed char byte;
#if defined(__AVX512F__)
enum { TILE_VECTORS = 4 };
#else
enum { TILE_VECTORS = 2 };
#endif
enum { LANES = VECTOR_BYTES / 4 };

typedef i32 vector __attribute__((vector_size(VECTOR_BYTES)));
typedef i32 unaligned __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef float unaligned_floats __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef byte bytes __attribute__((vector_size(LANES)));
typedef byte unaligned_bytes __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef unsigned char unsigned_bytes __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef i32 word __attribute__((aligned(1), may_alias));

/* LANES bytes as numbers of 32 bits; compilers convert such vectors number by number. */
#if defined(__AVX2__)
#define WIDENED(name, instruction, kind) \
    INLINE vector name(const byte *from) \
    { \
        vector wide; \
        __asm__(instruction " %1, %0" : "=v"(wide) : "m"(*(const kind *)from)); \
        return wide; \
    }
#else
#define WIDENED(name, instruction, kind) \
    INLINE vector name(const byte *from) { return __builtin_convertvector(*(const kind *)from, vector); }
#endif
WIDENED(without_sign, "vpmovzxbd", unsigned_bytes)
WIDENED(with_sign, "vpmovsxbd", unaligned_bytes)

/* Keeps weights in registers: gcc else reads them anew for each position. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define KEEP(vector) __asm__("" : "+v"(vector))
#else
#define KEEP(vector) (void)0
#endif
