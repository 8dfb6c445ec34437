/* Written by cbackend/abi/generate.py from the specs: do not edit. */

#if !COMPLEX
#define ATTENTION_SLOT .attention = attend,
#else
#define ATTENTION_SLOT
#endif
#define WINDOW_PRODUCT_SLOT .window_product = multiply_windows,
#if defined(CONVOLUTIONS) && !COMPLEX
#define CONVOLUTION_SLOT .convolution = convolve,
#else
#define CONVOLUTION_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define TILED_CONVOLUTION_SLOT .tiled_convolution = convolve_tiles,
#else
#define TILED_CONVOLUTION_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define CONVOLUTION_PAIR_SLOT .convolution_pair = convolve_pair,
#else
#define CONVOLUTION_PAIR_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define CONVOLUTION_POOL_SLOT .convolution_pool = convolve_pool,
#else
#define CONVOLUTION_POOL_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define KERNEL_GRADIENT_SLOT .kernel_gradient = find_kernel_gradient,
#else
#define KERNEL_GRADIENT_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define POOLING_SLOT .pooling = pool,
#else
#define POOLING_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define CHANNEL_SUMS_SLOT .channel_sums = sum_channels,
#else
#define CHANNEL_SUMS_SLOT
#endif
#define PRODUCTS_SLOTS ATTENTION_SLOT WINDOW_PRODUCT_SLOT CONVOLUTION_SLOT TILED_CONVOLUTION_SLOT CONVOLUTION_PAIR_SLOT CONVOLUTION_POOL_SLOT KERNEL_GRADIENT_SLOT POOLING_SLOT CHANNEL_SUMS_SLOT

#define BYTES_SLOTS 
