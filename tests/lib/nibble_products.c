/* A main behind the C of weights of 4 bits: a digest of random products, which is the same for every processor. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Products of weights of 4 bits, the same for every width of vectors. */
static void multiply_some_nibbles(const ag_runtime *rt, packed_function *multiply)
{
    enum { BLOCK = 16 };
    const i64 rows = 1 + below(6), all = 16 * (1 + below(20)), blocks = 1 + below(3), depth = blocks * BLOCK;
    float *const x = malloc((unsigned long)(rows * depth) * 4), *const y = malloc((unsigned long)(rows * all) * 4);
    float *const scale = malloc((unsigned long)(all * blocks) * 4 + 64);
    unsigned char *const w = malloc((unsigned long)(all * depth / 2) + 64);
    byte *const zero = malloc((unsigned long)(all * blocks) + 64);
    for (i64 k = 0; k < rows * depth; k++) x[k] = (float)(below(2000) - 1000) * 0.001f;
    for (i64 o = 0; o < all; o++)
        for (i64 b = 0; b < blocks; b++) { /* each output by its number, wherever its lane lies */
            const i64 tile = o / (NIBBLE_TILE * LANES), width = at_most(NIBBLE_TILE, all / LANES - tile * NIBBLE_TILE);
            const i64 vector_of = o / LANES % NIBBLE_TILE, lane = o % LANES;
            const i64 at = tile * NIBBLE_TILE * LANES * blocks + (b * width + vector_of) * LANES + lane;
            scale[at] = (float)(1 + below(100)) * 0.01f, zero[at] = (byte)(below(16) - 8);
            for (i64 q = 0; q < BLOCK / 8; q++) {
                const i64 word_at = tile * NIBBLE_TILE * LANES * depth / 8
                                  + ((b * BLOCK / 8 + q) * width + vector_of) * LANES + lane;
                const unsigned word_of = (unsigned)below(1ll << 32);
                memcpy(w + 4 * word_at, &word_of, 4);
            }
        }
    multiply(rt, &(const ag_packed_product){
        .rows = rows, .outputs = all, .depth = depth, .each = all * depth, .block = BLOCK, .x_item = 4, .x = x,
        .x_strides = (const i64[]){depth, 1}, .w_item = 1, .w = w, .second = scale, .third = below(2) ? zero : 0, .y = y
    });
    digest_of(y, rows * all * 4);
    free(x), free(y), free(scale), free(w), free(zero);
}

int main(int count, char **argument)
{
    const ag_runtime rt = {.threads = 1, .alloc = take, .release = give, .listen = listen_to_nobody, .stopped = never};
    packed_function *multiply;
    ag_blas_install(&multiply, 0, 0, 0);
    for (int k = 0; k < (count > 1 ? atoi(argument[1]) : 100); k++) multiply_some_nibbles(&rt, multiply);
    printf("0 differ, digest %llx\n", digest);
    return 0;
}
