/* The part of CUDA C++ that our kernels use, for g++: a group runs on one thread of the processor, its work items as
   fibres that change at barriers. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>
#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define __launch_bounds__(items, groups)
#define lgamma_r ag_lgamma_r
#define lgammaf_r ag_lgammaf_r
struct uint3 { unsigned x, y, z; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static uint3 blockIdx, threadIdx, blockDim, gridDim;
static inline double __longlong_as_double(long long bits) { double y; memcpy(&y, &bits, 8); return y; }
static inline float __int_as_float(int bits) { float y; memcpy(&y, &bits, 4); return y; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
using std::fma; using std::signbit; using std::copysign;

namespace stand_in {
typedef void (*Plain)();
static std::vector<ucontext_t> fibres;
static std::vector<char> stacks;
static std::vector<bool> ended;
static ucontext_t driver;
static unsigned now;
static Plain kernel;
static const long long *given;
static int count;
const size_t STACK = 1 << 17;

template <size_t... I> static void called(std::index_sequence<I...>)
{
    typedef long long Word;
    ((void (*)(decltype((void)I, Word())...))kernel)(given[I]...);
}
template <size_t N> static void with(int wanted)
{
    if ((size_t)wanted == N) called(std::make_index_sequence<N>());
    else if constexpr (N > 0) with<N - 1>(wanted);
}
static void item() { with<64>(count); ended[now] = true; swapcontext(&fibres[now], &driver); }
static void place(unsigned t)
{
    threadIdx.x = t % blockDim.x;
    threadIdx.y = t / blockDim.x % blockDim.y;
    threadIdx.z = t / blockDim.x / blockDim.y;
}
static void group(unsigned items)
{
    for (unsigned t = 0; t < items; t++) {
        getcontext(&fibres[t]);
        fibres[t].uc_stack.ss_sp = &stacks[t * STACK];
        fibres[t].uc_stack.ss_size = STACK;
        fibres[t].uc_link = &driver;
        makecontext(&fibres[t], item, 0);
        ended[t] = false;
    }
    for (unsigned left = items; left > 0;) {
        left = 0;
        for (now = 0; now < items; now++) {
            if (ended[now]) continue;
            place(now);
            swapcontext(&driver, &fibres[now]);
            left += !ended[now];
        }
    }
}
}
static inline void __syncthreads() { swapcontext(&stand_in::fibres[stand_in::now], &stand_in::driver); }
#define __syncwarp __syncthreads
extern "C" void stand_in_run(void *kernel, const long long *given, int count, const unsigned *grid, const unsigned *block,
    int has_barriers)
{
    using namespace stand_in;
    stand_in::kernel = (Plain)kernel;
    stand_in::given = given;
    stand_in::count = count;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    const unsigned items = block[0] * block[1] * block[2];
    if (has_barriers) { fibres.resize(items); stacks.resize(items * STACK); ended.resize(items); }
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x++) {
                blockIdx = {x, y, z};
                if (has_barriers) group(items);
                else for (unsigned t = 0; t < items; t++) { place(t); with<64>(count); }
            }
}
#undef __x86_64__ /* NVRTC does not define it */
