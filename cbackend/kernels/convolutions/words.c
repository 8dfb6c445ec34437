/* Convolutions of bfloat16 numbers in blocks of channels: those of direct.c, where a number of x and a weight are words of
   two channels.  Sums and y are float.

   Weights are stored in reading order, as there, with words in the place of numbers.  Kernels for each channel are floats,
   and x is widened in registers. */
#pragma once
#define OF_PAIRS
#include "grouped.c"
#include "tiles.c"

/* The same convolution, whose lengths and strides of x count words, not numbers of 16 bits. */
static ag_convolution in_words(const ag_convolution *of)
{
    ag_convolution words = *of;
    words.block = at_least(1, of->block / 2), words.channels = parts(of->channels, 2);
    for (int k = 0; k < 4; k++) words.x_strides[k] /= 2;
    return words;
}

/* of: lengths and strides of x count numbers of 16 bits.  Return 0, or MEMORY (2). */
static i32 convolve_words(const ag_runtime *rt, const ag_convolution *of)
{
    const ag_convolution words = in_words(of);
    if (of->tile_words) return convolve_by_tiles(rt, &words, of);
    convolve(rt, &words);
    return 0;
}
