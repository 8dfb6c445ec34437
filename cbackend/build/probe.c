/* Trial of a toolchain before it builds for us, compiled with the flags under test.

   probe               prints three words: exp(2.5) from a loop, a subnormal that must survive, and a sum that wraps.
   probe <library>     loads a new library and calls it on empty arrays; exit code 0 if both went well.  A crash
                       then ends this process and not the user's. */
#include "../abi/call.h"

int printf(const char *format, ...);
void *dlopen(const char *path, int mode); /* no header: reading them takes as long as all the rest */
void *dlsym(void *library, const char *name);
char *dlerror(void);
enum { RTLD_NOW = 2 };
double exp(double x);

__attribute__((noinline)) static void exp_of(long n, double *restrict y, const double *restrict x)
{
    for (long i = 0; i < n; i++) y[i] = exp(x[i]);
}

__attribute__((noinline)) static int wrapping_sum(int a, int b) { return a + b; }

/* ---- A new library ----------------------------------------------------------------------------------------------- */

static i64 zeros[1 << 16];
static i64 clocks[8 << 16]; /* written by a profiled function */
static i32 never;
static void *nothing(void) { return 0; }
static i32 refuse(ag_call *call, i32 step, void **arrays, i64 *lengths, const i64 *strides)
{
    (void)call, (void)step, (void)arrays, (void)lengths, (void)strides;
    return 1;
}

static int try_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    i32 (*entry)(ag_call *) = (i32 (*)(ag_call *))dlsym(library, "ag_entry");
    if (!entry) return 0; /* a part of the runtime */
    static union { /* every function of the runtime does nothing, so that there is no memory and the steps end soon */
        ag_runtime runtime;
        void *(*functions[sizeof(ag_runtime) / sizeof(void *)])(void);
    } table;
    for (unsigned long k = 0; k < sizeof table / sizeof(void *); k++) table.functions[k] = nothing;
    table.runtime.stop = &never;
    static void *data[1 << 16]; /* all arrays are empty, all scalars 0, wherever they are */
    for (int k = 0; k < 1 << 16; k++) data[k] = (char *)zeros;
    ag_call call = {.rt = &table.runtime,
                    .data = data,
                    .lengths = zeros,
                    .declared = zeros,
                    .constants = data,
                    .constant_lengths = zeros,
                    .profile = clocks,
                    .warm_up = zeros,
                    .host = refuse};
    entry(&call);
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1) return try_library(arguments[1]);
    volatile double tiny = 5e-324;
    double x[37], y[37];
    for (int i = 0; i < 37; i++) x[i] = i * 0.125 - 2.0;
    exp_of(37, y, x);
    printf("%.15g %a %d\n", y[36], tiny * 1.0, wrapping_sum(2147483647, 1));
    return 0;
}
