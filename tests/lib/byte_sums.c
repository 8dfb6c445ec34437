/* A main behind the C of products of bytes: random convolutions and products beside plain loops, and a digest of all
   results, which is the same for every processor. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

static unsigned long long random_state = 88172645463325252ull, digest = 14695981039346656037ull;
static i64 below(i64 n)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (i64)(random_state >> 11) % n;
}
static void digest_of(const void *from, i64 bytes_of_it)
{
    for (i64 k = 0; k < bytes_of_it; k++) digest = (digest ^ ((const unsigned char *)from)[k]) * 1099511628211ull;
}

static void *take(i64 size) { return malloc((unsigned long)size); }
static void give(void *block) { free(block); }
static void listen_to_nobody(void) {}
static i32 never(void) { return 0; }

/* Random bytes, the ends often, in a block without room behind it. */
static byte *some_bytes(i64 count)
{
    byte *made = malloc((unsigned long)count + 64), ends[] = {-128, 127, 0, -1};
    for (i64 k = 0; k < count + 64; k++) made[k] = below(4) ? (byte)below(256) : ends[below(4)];
    return made;
}

/* Number of x at a position, or what lies beyond its borders. */
static i32 number(const ag_byte_sums *of, i64 image, i64 c, i64 row, i64 column)
{
    if (row < 0 || row >= of->lengths[0] || column < 0 || column >= of->lengths[1]) return (i32)of->around;
    const i64 *s = of->x_strides;
    const byte *x = (const byte *)of->x + image * s[0] + c / of->block * s[1] + row * s[2] + column * s[3] + c % of->block;
    return of->is_signed ? *x : (unsigned char)*x;
}

enum { OUT_BLOCK = 16 };

/* MultiplyByQuantizedMultiplier of TensorFlow Lite, as its reference has it. */
static i32 requantized(i32 sum, i32 multiplier, i32 shift)
{
    const i32 right = shift < 0 ? -shift : 0, x = (i32)((unsigned)sum << (shift > 0 ? shift : 0));
    const i64 product = (i64)x * multiplier, nudged = product + (product >= 0 ? 1 << 30 : 1 - (1 << 30));
    const i32 high = (i32)(nudged / (1ll << 31)), mask = (i32)((1ll << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

static int convolutions_differ(const ag_runtime *rt, const ag_byte_table *table)
{
    const i32 own = below(3) == 0, kind = (i32)below(4);
    const i64 block = own ? OUT_BLOCK : 4 * (1 + below(5)), in_blocks = 1 + below(3), blocks = own ? in_blocks : 1 + below(6);
    const i64 outputs = blocks * OUT_BLOCK, depth = own ? 1 : in_blocks * block;
    ag_byte_sums of = {.images = 1 + below(2), .in_blocks = in_blocks, .block = block, .blocks = blocks,
                       .out_block = OUT_BLOCK, .outputs = outputs, .panel = 4, .own = own, .is_signed = below(2), .kind = kind};
    const i32 flat = !own && below(2);
    of.around = of.is_signed ? below(256) - 128 : below(256);
    const i32 low = (i32)below(100), high = low + (i32)below(156), bias_of_dtype = below(2) ? 128 : 0;
    of.low = low - bias_of_dtype, of.high = high - bias_of_dtype, of.zero = of.low + below(high - low + 1);
    for (int k = 0; k < 2; k++) {
        of.kernel[k] = flat ? 1 : 1 + below(own ? 3 : 2), of.stride[k] = flat ? 1 : 1 + below(2);
        if (own && below(2)) of.kernel[k] = 3;
        of.dilation[k] = 1 + below(2), of.before[k] = flat ? 0 : below(2);
        if (own && below(2)) of.dilation[k] = 1;
        of.lengths[k] = 5 + below(14);
        of.counts[k] = (of.lengths[k] + 2 * of.before[k] - of.dilation[k] * (of.kernel[k] - 1) - 1) / of.stride[k] + 1;
    }
    const i64 positions = of.kernel[0] * of.kernel[1], total = of.counts[0] * of.counts[1];
    const i64 plane = of.lengths[0] * of.lengths[1] * block;
    of.x_strides[0] = in_blocks * plane, of.x_strides[1] = plane, of.x_strides[2] = of.lengths[1] * block, of.x_strides[3] = block;
    of.y_strides[0] = blocks * total * OUT_BLOCK, of.y_strides[1] = total * OUT_BLOCK, of.y_strides[2] = OUT_BLOCK;
    byte *const x = some_bytes(of.images * in_blocks * plane), *const w = some_bytes(outputs * depth * positions);
    byte *const packed = malloc((unsigned long)(outputs * depth * positions) + 64), *to = packed;
    if (own)
        for (i64 b = 0; b < blocks; b++)
            for (i64 p = 0; p < positions; p++)
                for (i64 o = 0; o < OUT_BLOCK; o++) *to++ = w[(b * OUT_BLOCK + o) * positions + p];
    else
        for (i64 k = 0, panels = even_panels(blocks, of.panel); k < panels; k++)
            for (i64 b = 0; b < in_blocks; b++)
                for (i64 p = 0; p < positions; p++)
                    for (i64 c = 0; c < block; c += 4)
                        for (i64 o = begin_of(blocks, panels, k) * OUT_BLOCK; o < begin_of(blocks, panels, k + 1) * OUT_BLOCK; o++)
                            for (i64 q = 0; q < 4; q++) *to++ = w[(o * depth + b * block + c + q) * positions + p];
    i32 *const start = malloc((unsigned long)outputs * 4), *const totals = malloc((unsigned long)outputs * 4);
    float *const scale = malloc((unsigned long)outputs * 4), *const bias = malloc((unsigned long)outputs * 4);
    for (i64 o = 0; o < outputs; o++) {
        start[o] = (i32)below(2000) - 1000, totals[o] = 0;
        scale[o] = (float)(1 + below(1000)) * 1e-5f, bias[o] = (float)(below(2000) - 1000) * 0.01f;
        if (kind == AG_FIXED) {
            const i32 ends[] = {(i32)(1u << 31), (i32)(~0u >> 1), 0, start[o]}, shift = (i32)below(63) - 31;
            const i32 multiplier = below(8) ? (i32)((1 << 30) + below(1 << 30)) : below(2) ? (i32)(~0u >> 1) : 0;
            start[o] = ends[below(4)];
            memcpy(scale + o, &multiplier, 4), memcpy(bias + o, &shift, 4);
        }
        for (i64 k = 0; k < depth * positions; k++) totals[o] += w[o * depth * positions + k];
    }
    const i64 count = of.images * outputs * total, item = kind == AG_BYTES || kind == AG_FIXED ? 1 : 4;
    byte *const y = malloc((unsigned long)(count * item)), *const more = some_bytes(count);
    of.x = x, of.w = packed, of.start = start, of.totals = totals, of.scale = scale, of.bias = bias, of.y = y;
    if (kind == AG_BYTES && below(3) == 0) of.more = more, of.more_kind = below(2), of.more_scale = 0.37f;
    table->byte_sums(rt, &of);
    int differs = 0;
    for (i64 image = 0; image < of.images; image++)
        for (i64 o = 0; o < outputs; o++)
            for (i64 at = 0; at < total; at++) {
                i32 sum = start[o];
                for (i64 c = 0; c < depth; c++)
                    for (i64 p = 0; p < positions; p++)
                        sum += w[(o * depth + c) * positions + p]
                             * number(&of, image, own ? o : c,
                                      at / of.counts[1] * of.stride[0] - of.before[0] + p / of.kernel[1] * of.dilation[0],
                                      at % of.counts[1] * of.stride[1] - of.before[1] + p % of.kernel[1] * of.dilation[1]);
                const i64 place = ((image * blocks + o / OUT_BLOCK) * total + at) * OUT_BLOCK + o % OUT_BLOCK;
                if (kind == AG_FIXED) {
                    i32 multiplier, shift;
                    memcpy(&multiplier, scale + o, 4), memcpy(&shift, bias + o, 4);
                    const i64 whole = requantized(sum, multiplier, shift) + of.zero;
                    differs += (byte)(whole < of.low ? of.low : whole > of.high ? of.high : whole) != y[place];
                    continue;
                }
                float f = (float)sum * scale[o] + bias[o];
                if (kind == AG_SUMS) differs += memcmp(y + 4 * place, &sum, 4) != 0;
                else if (kind == AG_FLOATS) differs += memcmp(y + 4 * place, &f, 4) != 0;
                else {
                    if (of.more) f += (float)(of.more_kind ? more[place] : (unsigned char)more[place]) * of.more_scale;
                    f = fminf(fmaxf(f, (float)(of.low - of.zero)), (float)(of.high - of.zero));
                    differs += (byte)((i64)rintf(f) + of.zero) != y[place];
                }
            }
    digest_of(y, count * item);
    free(x), free(w), free(packed), free(start), free(totals), free(scale), free(bias), free(y), free(more);
    return differs != 0;
}

static int products_differ(const ag_runtime *rt, const ag_byte_table *table)
{
    const i64 m = 1 + below(9), n = 1 + below(70), k = below(40);
    byte *const a = some_bytes(m * k), *const b = some_bytes(k * n);
    i32 *const c = malloc((unsigned long)(m * n) * 4), a_signed = (i32)below(2), b_signed = (i32)below(2);
    const i64 none[1] = {1}, from_a[2] = {k, 1}, from_b[2] = {n, 1};
    table->byte_product(rt, &(const ag_byte_product){.batch = none, .m = m, .n = n, .k = k, .a_signed = a_signed,
                                                     .b_signed = b_signed, .a = a, .a_strides = from_a, .b = b,
                                                     .b_strides = from_b, .c = c});
    int differs = 0;
    for (i64 i = 0; i < m; i++)
        for (i64 j = 0; j < n; j++) {
            i32 sum = 0;
            for (i64 q = 0; q < k; q++) {
                const i32 left = a_signed ? a[i * k + q] : (unsigned char)a[i * k + q];
                sum += left * (b_signed ? b[q * n + j] : (unsigned char)b[q * n + j]);
            }
            differs += sum != c[i * n + j];
        }
    digest_of(c, m * n * 4);
    free(a), free(b), free(c);
    return differs != 0;
}

int main(int count, char **argument)
{
    const ag_runtime rt = {.threads = 1, .alloc = take, .release = give, .listen = listen_to_nobody, .stopped = never};
    ag_byte_table table;
    ag_blas_install(&table, 0, 0, 0);
    int differ = 0;
    for (int k = 0; k < (count > 1 ? atoi(argument[1]) : 100); k++)
        differ += convolutions_differ(&rt, &table) + products_differ(&rt, &table);
    printf("%d differ, digest %llx\n", differ, digest);
    return differ != 0;
}
