/* What a toolchain must get right before it may build for us: compiled with the flags under test, and run.
   Prints three words: exp(2.5) from a loop that should become vector code, a subnormal that must survive, and a sum. */
#ifndef AG_SIMD
#define AG_SIMD
#endif
int printf(const char *format, ...);
AG_SIMD double exp(double x);

__attribute__((noinline)) static void exp_of(long n, double *restrict y, const double *restrict x)
{
    for (long i = 0; i < n; i++) y[i] = exp(x[i]);
}

__attribute__((noinline)) static int wrapping_sum(int a, int b) { return a + b; }

int main(void)
{
    volatile double tiny = 5e-324;
    double x[37], y[37];
    for (int i = 0; i < 37; i++) x[i] = i * 0.125 - 2.0;
    exp_of(37, y, x);
    printf("%.15g %a %d\n", y[36], tiny * 1.0, wrapping_sum(2147483647, 1));
    return 0;
}
