/* What a toolchain must get right before it may build for us, compiled with the flags under test.

   probe               prints four words: exp(2.5) from a loop that should become vector code, a subnormal that must
                       survive, a sum that wraps, and the first function that libmvec lacks.
   probe <library>     loads a new library and calls it on empty arrays; exit code 0 if both went well.  What is wrong
                       with it then ends this process and not the user's. */
#ifndef AG_SIMD
#define AG_SIMD
#endif
int printf(const char *format, ...);
void *dlopen(const char *path, int mode); /* no header: reading them takes as long as all the rest */
void *dlsym(void *library, const char *name);
char *dlerror(void);
enum { RTLD_NOW = 2 };
AG_SIMD double exp(double x);

__attribute__((noinline)) static void exp_of(long n, double *restrict y, const double *restrict x)
{
    for (long i = 0; i < n; i++) y[i] = exp(x[i]);
}

__attribute__((noinline)) static int wrapping_sum(int a, int b) { return a + b; }

/* Generated C declares vector forms of all of these: it may do so only where libmvec, which grew with glibc, has them. */
static const char *const vectorized[] = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "pow", "atan2", "hypot",
};
enum { VECTORIZED = sizeof vectorized / sizeof *vectorized, BINARY = 3 /* the last of them */ };

#if defined(__x86_64__)
#define TWO "_ZGVbN2"
#define FOUR "_ZGVbN4"
#else
#define TWO "_ZGVnN2"
#define FOUR "_ZGVnN4"
#endif

static const char *missing(void)
{
    static char name[64];
    void *library = dlopen("libmvec.so.1", RTLD_NOW);
    if (!library) return "libmvec";
    for (int k = 0; k < 2 * VECTORIZED; k++) {
        const char *lanes = k % 2 ? FOUR : TWO, *arguments = k / 2 < VECTORIZED - BINARY ? "v_" : "vv_";
        __builtin_sprintf(name, "%s%s%s%s", lanes, arguments, vectorized[k / 2], k % 2 ? "f" : "");
        if (!dlsym(library, name)) return name;
    }
    return "none";
}

/* ---- A new library ----------------------------------------------------------------------------------------------- */

static i64 zeros[1 << 16];
static i64 clocks[8 << 16]; /* what a function with a profile writes to */
static i32 never;
static void *nothing(void) { return 0; }
static i32 refuse(ag_call *call, i32 step, char **arrays, i64 *lengths, const i64 *strides)
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
    i32 (*entry)(ag_call *) = (i32(*)(ag_call *))dlsym(library, "ag_entry");
    if (!entry) return 0; /* a part of the runtime */
    static union { /* every function of the runtime does nothing, so that there is no memory and the steps end soon */
        ag_runtime runtime;
        void *(*functions[sizeof(ag_runtime) / sizeof(void *)])(void);
    } table;
    for (unsigned long k = 0; k < sizeof table / sizeof(void *); k++) table.functions[k] = nothing;
    table.runtime.stop = &never;
    static char *data[1 << 16]; /* all arrays are empty, all scalars 0, wherever they are */
    for (int k = 0; k < 1 << 16; k++) data[k] = (char *)zeros;
    ag_call call = {.rt = &table.runtime, .data = data, .lengths = zeros, .declared = zeros, .constants = data,
                    .constant_lengths = zeros, .profile = clocks, .warm_up = zeros, .host = refuse};
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
    printf("%.15g %a %d %s\n", y[36], tiny * 1.0, wrapping_sum(2147483647, 1), missing());
    return 0;
}
