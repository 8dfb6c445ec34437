/* Exponential, elliptic and Fresnel integrals, the dilogarithm, Lambert's W, Struve's and Owen's functions.

   Written by ../translated.py from ops/special/integrals.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define EIN_SERIES \
    -0x1.ffffffffffff6p-3, 0x1.c71c71c71bf6cp-5, -0x1.55555555315fbp-7, 0x1.b4e81b43a2377p-10, \
    -0x1.e573aa9ed77e5p-13, 0x1.db8b37250628ep-16, -0x1.a015c78658baap-19, 0x1.488f37768e26ap-22, \
    -0x1.d5ccfb1c7e1d7p-26, 0x1.2501cfb57b172p-29, -0x1.f602e924f6934p-34
#define E1_MIDDLE \
    0x1.5e32b9eab3a67p-1, -0x1.b6501a7b5163ep-4, 0x1.92588c421ce5dp-6, -0x1.b943c68dca378p-8, \
    0x1.0d655b8d11ee3p-9, -0x1.6203335662c60p-11, 0x1.eb1f5fd200894p-13, -0x1.634df1fd40617p-14, \
    0x1.09e4c8471d1afp-15, -0x1.994069db3a780p-17, 0x1.4279da2716946p-18, -0x1.03557366355b4p-19, \
    0x1.a87db11b167ebp-21, -0x1.600ba2fb20aebp-22, 0x1.28a00758d1ce8p-23, -0x1.0411221cfba40p-24, \
    0x1.c1d149942df40p-26, -0x1.365ad3262e987p-27, 0x1.0cb4d61e21652p-28, -0x1.17ab77c2b49d4p-28, \
    0x1.002979859c559p-29, 0x1.58397509d648fp-31, -0x1.4b3cfc08f57f8p-32, -0x1.b22d6f71c1636p-32, \
    0x1.953dd741ef168p-33
#define E1_LARGE \
    0x1.cbe5bc299b793p-1, -0x1.589cebb3ba178p-4, 0x1.be40fdb08ce64p-7, -0x1.7f52de4f5f0cbp-9, \
    0x1.8acf225fe57f3p-11, -0x1.cedc4f82e9b27p-13, 0x1.2b63bd2588172p-14, -0x1.a2c62c896eec6p-16, \
    0x1.38394a35bc638p-17, -0x1.eb336a01cbd46p-19, 0x1.947c42b97849fp-20, -0x1.5aa4784144852p-21, \
    0x1.338e973c9a504p-22, -0x1.17ee46c185057p-23, 0x1.06dd84e3d759cp-24, -0x1.105cfd256b59ep-25, \
    0x1.115f5f17d7321p-26, -0x1.a4d33db3d3ed8p-29, 0x1.2560dd94ea53cp-30, -0x1.245bfbc36342bp-27, \
    0x1.629b8cda1f7acp-28, 0x1.ae8470679e555p-28, -0x1.11dff40ddff04p-28, -0x1.517ca1c60cbcbp-28, \
    0x1.a628215855095p-29, 0x1.0b09518e65965p-29, -0x1.4f5153d60cb50p-30, -0x1.d04440352dc9cp-32, \
    0x1.20c7b30e45bb7p-32
#define EI_SLOPE \
    0x1.363252f0be55cp+0, 0x1.49691d82565cep-2, 0x1.2daab287d250dp-4, 0x1.ccaae466dc862p-7, 0x1.2a5f70a4f682cp-9, \
    0x1.4e6046380c09ap-12, 0x1.49aaf19943652p-15, 0x1.21e92b15bd249p-18, 0x1.cbfa5726540c6p-22, \
    0x1.4c473e69e02cdp-25, 0x1.b89670fef8d99p-29, 0x1.0de07f77c1734p-32, 0x1.33386894aeb07p-36, \
    0x1.4698c38173c94p-40, 0x1.45a3f2ec1c81bp-44
#define EI_MIDDLE \
    0x1.23a4fb8e91ac1p+0, 0x1.e534f794196abp-4, 0x1.e3182ded1c606p-6, -0x1.55a0b1a72ede3p-10, \
    -0x1.15867d9ee245ep-7, -0x1.ebba013dc54d0p-13, 0x1.515541a0e8b75p-9, -0x1.634cff77d57c7p-11, \
    -0x1.19248efcf8bbfp-11, 0x1.f8c99b114d5b3p-12, -0x1.9a13feba88f3cp-14, -0x1.95d80ff0a6c55p-14, \
    0x1.973c43418227dp-14, -0x1.34e63723c3175p-15, -0x1.4ea695f916878p-18, 0x1.0e75db00739a9p-16, \
    -0x1.7b1f28215ac9ep-17, 0x1.19b9d6c981a68p-18, 0x1.c6bbde8ec1630p-22, -0x1.47e1e3b12dc66p-19, \
    0x1.cd54660b1b3d5p-20, 0x1.ce43d3445282dp-23, -0x1.708c5bc86a6c2p-22, -0x1.782c072abdd77p-21, \
    0x1.3c2539f0333d9p-22, 0x1.58be6210644f7p-21, -0x1.7e70b28832b98p-22, -0x1.b4c4d22b386d1p-23, \
    0x1.34a36d877f1b6p-23, 0x1.7f04228ca30c2p-26, -0x1.541f580ddcfdap-26
#define EI_LARGE \
    0x1.05921c068eee1p+0, 0x1.74c94d0f6d57ep-6, 0x1.16dc5093e5673p-10, 0x1.49d4cf8bdab6bp-14, \
    0x1.138c437cc6368p-17, 0x1.32d3b2e73c843p-20, 0x1.b8e7d9bd99971p-23, 0x1.9257ef0284ef1p-25, \
    0x1.d242b07ed6891p-27, 0x1.5c5143e2a65b7p-28, 0x1.50cb7b0b1573ap-29, 0x1.a83cf628fad6bp-30, \
    0x1.260b679b25906p-30, 0x1.4817a7f4e32acp-33, -0x1.05c10874fff1ep-30, -0x1.d5fbdb7c9eb22p-31, \
    0x1.b365f90eeff65p-33, 0x1.0ac3a5ec3c4aap-31, 0x1.1db7db905eb64p-37, -0x1.375bb0f5879ddp-33, \
    -0x1.06ca3f70e6264p-37, 0x1.49eb31478c433p-36
#define K_NEAR_0 \
    0x1.af8d55d323f79p+0, -0x1.155de079fdc74p-3, 0x1.9b2938edbb2aap-6, -0x1.7a838e7a3a37dp-8, \
    0x1.81160f670a92ap-10, -0x1.9ef62806999fap-12, 0x1.d02c670196a1dp-14, -0x1.0a81764e5bfc0p-15, \
    0x1.3806b17312c12p-17, -0x1.72d2710622867p-19, 0x1.bdf53cd032d8fp-21, -0x1.0ec834ce65be2p-22, \
    0x1.4b72336fb2207p-24, -0x1.97aae9acf301cp-26, 0x1.f93e1767958a9p-28, -0x1.42b02f35a0d7dp-29, \
    0x1.93de4708c6bffp-31, -0x1.9538f7b943389p-33, 0x1.fd37ae2e016e2p-35, -0x1.561e3a949f29fp-35, \
    0x1.b2adb4c0e0954p-37
#define K_REGULAR \
    0x1.69a2f171aed81p+0, 0x1.d91e9ca2bf76ep-6, 0x1.7db7f19a92868p-9, 0x1.ddd8c35fe5b88p-12, \
    0x1.6f15c20f2d333p-14, 0x1.3d56c7410f31dp-16, 0x1.282fac6600a27p-18, 0x1.23b1d77d19d3cp-20, \
    0x1.2ae765c8730eep-22, 0x1.3bc8d5c5dfc96p-24, 0x1.55ca2b4269e4bp-26, 0x1.794b269be8c62p-28, \
    0x1.a74cf4c7ee961p-30, 0x1.e0ed5e8e16e4ep-32, 0x1.14b378d99732fp-33, 0x1.4735cc64c7a46p-35, \
    0x1.7ff6c0db8593fp-37, 0x1.7f1d8ae5553f8p-39, 0x1.c60af08a9c667p-41, 0x1.057a7c1c622d7p-41, \
    0x1.3c427c5f77e75p-43
#define K_LOGARITHM \
    0x1.12bc0e575cb66p-1, 0x1.61277d862c825p-5, 0x1.05c0d43611381p-7, 0x1.e1f058e6afc4ep-10, \
    0x1.ea4e93d0ce032p-12, 0x1.082c37cbdec06p-13, 0x1.278082adeb910p-15, 0x1.53535b397a246p-17, \
    0x1.8d48b5fe93bd3p-19, 0x1.d825312e90e43p-21, 0x1.1be7d8f88c84cp-22, 0x1.58c53a5631f13p-24, \
    0x1.a602a195ee2c0p-26, 0x1.03877e68d8a5ep-27, 0x1.41a5bb98c9818p-29, 0x1.9adc01d21aec8p-31, \
    0x1.011c4b7f68a3fp-32, 0x1.01f90136f0dd9p-34, 0x1.442d8cd06f63dp-36, 0x1.b399283bd1ad8p-37, \
    0x1.14b996810cbfcp-38
#define E_NEAR_0 \
    0x1.77ab9a753a8f1p+0, 0x1.bf0ddaef4b440p-4, -0x1.aeb79812c12b3p-8, 0x1.d5fd79fe371dep-11, \
    -0x1.531488ed596e5p-13, 0x1.1ad9e51739ab8p-15, -0x1.0202bb7b20522p-17, 0x1.f42785fe76ae6p-20, \
    -0x1.fa8b3b45c44dbp-22, 0x1.092fac3d949e9p-23, -0x1.1cffc1eaef0cap-25, 0x1.38ce1fc459d68p-27, \
    -0x1.5d4a9445be192p-29, 0x1.8b46e7fe54f81p-31, -0x1.c54ebacc85399p-33, 0x1.0b3056edff82bp-34, \
    -0x1.38bddd0632f28p-36, 0x1.37cebd6651939p-38, -0x1.70c56c2e0fc28p-40, 0x1.a6dfc7c1ba8d4p-41, \
    -0x1.feba050cde24bp-43
#define E_REGULAR \
    0x1.d5f0f7220c207p-2, 0x1.2093766dc2536p-6, 0x1.1837dd4e27959p-9, 0x1.7e7f2c57ba6abp-12, \
    0x1.34ba368d1f823p-14, 0x1.138092db08211p-16, 0x1.06deb00f98f5fp-18, 0x1.071a14af1493fp-20, \
    0x1.10f3d47aa1f6bp-22, 0x1.232f771f2f0eap-24, 0x1.3da68724c1a2fp-26, 0x1.60ecf050b2d5ap-28, \
    0x1.8e1ddd6f11d17p-30, 0x1.c6654d4e9cbc9p-32, 0x1.067a23bbe6c11p-33, 0x1.378c06ccb6553p-35, \
    0x1.6eb00d6268309p-37, 0x1.6e34304345e87p-39, 0x1.b315a68916be8p-41, 0x1.f7d7113e17febp-42, \
    0x1.313ddb661b8d4p-43
#define E_LOGARITHM \
    0x1.1c9a7e8a180aep-2, 0x1.1233fbf051de7p-5, 0x1.c0ceba0e9e8a3p-8, 0x1.afbaf769fdb33p-10, \
    0x1.c22bed503f423p-12, 0x1.ecc39b467fa1bp-14, 0x1.169b6e0c1a9adp-15, 0x1.4279d18b03587p-17, \
    0x1.7bda060dd5599p-19, 0x1.c596e659260ddp-21, 0x1.11cd7f22e37a0p-22, 0x1.4d8ff7b6e5552p-24, \
    0x1.99621028a4914p-26, 0x1.f8a96bc26bda5p-28, 0x1.3956cb6ec5791p-29, 0x1.9101aa1d1d9c2p-31, \
    0x1.f6a1f14d42d36p-33, 0x1.f85fe451b331fp-35, 0x1.3d4ef61840821p-36, 0x1.aba74f84e6f55p-37, \
    0x1.0fe9f2ffca007p-38
#define FRESNEL_S \
    0x1.27dfb864472fcp-2, -0x1.68b9cec81284dp-3, 0x1.9ab06bfabf56ap-5, -0x1.f3fe0eb39055fp-8, \
    0x1.767699ba43b72p-11, -0x1.7ae7955b5f3dbp-15, 0x1.1431e0876e1a6p-19, -0x1.2fd84dcf5e11ap-24, \
    0x1.05361ffd19f6cp-29, -0x1.68a9374e11dd3p-35, 0x1.98f1065a43355p-41, -0x1.832b94c19aa10p-47
#define FRESNEL_C \
    0x1.c619e2233a323p-2, -0x1.663b2c010fafdp-2, 0x1.54e01957bae74p-3, -0x1.23da7e47495fdp-5, \
    0x1.1901a7bc51ce6p-8, -0x1.5ad806f8ef33ep-12, 0x1.2a08fd82dc581p-16, -0x1.79547f2607c62p-21, \
    0x1.6ebaa67a2d67fp-26, -0x1.1a514dafc9d5ep-31, 0x1.611c6c6ab4e7bp-37, -0x1.6d748a54386bfp-43
#define FRESNEL_F \
    0x1.fdc055dd1f73ep-1, -0x1.78c388ae9800bp-7, -0x1.62612d59d6192p-7, -0x1.460633830da3ep-8, \
    -0x1.a69546094a4dbp-10, -0x1.d396e22849469p-12, -0x1.1414a54cba51cp-13, -0x1.59eb876f7cb91p-15, \
    -0x1.99f86f1359234p-17, -0x1.ff77d42fdd00dp-19, -0x1.4e0de86996029p-20, -0x1.96442f6392300p-22, \
    -0x1.0f791e43764dcp-23, -0x1.67d906a86bb55p-25, -0x1.b4d00dc64d19dp-27, -0x1.43444d064b36ep-28, \
    -0x1.92a3673036bc1p-30, -0x1.21ecd5fa950bbp-31, -0x1.7c33ebd3ef99bp-33, -0x1.4523d8e1dbde8p-37, \
    -0x1.2289addd31ba1p-35, -0x1.44249aa760620p-36
#define FRESNEL_G \
    0x1.f527625ee4e7bp-1, -0x1.b7b397b3d4ca7p-5, -0x1.7b7db66c97d35p-5, -0x1.0dc012b4d95bfp-6, \
    -0x1.68e6c5adcc86cp-9, -0x1.6bd20f72c6216p-13, -0x1.45327808a8639p-14, -0x1.8c1da6e9727dfp-16, \
    0x1.cd1e079c19ac5p-19, -0x1.bc6a24f700efap-21, -0x1.2a0390b44d52cp-22, 0x1.35dd77f3b22dep-22, \
    -0x1.33af61d4ab5b3p-24, 0x1.ede1a904c4915p-27, 0x1.8d0699ca1b927p-27, -0x1.d0693fe18ac7ep-28, \
    0x1.6662e9bb6b1c2p-28, -0x1.bc1e4c658f68cp-30, -0x1.1213c8f959e46p-30, 0x1.0cd4a96e4d1d3p-30, \
    -0x1.a3a8a9efe0ea4p-39, -0x1.cd02b0083ea98p-34
#define COSINE_OF_QUARTERS \
    1.0, -0x1.3bd3cc9be45dep+0, 0x1.03c1f081b5aacp-2, -0x1.55d3c7e3c90fbp-6, 0x1.e1f50683561dfp-11, \
    -0x1.a6d1ec793338cp-16, 0x1.f9cc413461d3ep-22, -0x1.b264c3523f016p-28
#define SINE_OF_QUARTERS \
    0x1.921fb54442d18p+0, -0x1.4abbce625be41p-1, 0x1.466bc677587fap-4, -0x1.32d2cce2e5dffp-8, \
    0x1.50782fda3f841p-13, -0x1.e30071d77794ep-19, 0x1.e3f390d5199c7p-25
#define DILOGARITHM \
    0x1.c71c71c71c71cp-6, -0x1.23456789abcdfp-12, 0x1.3d079fb6ef3e3p-18, -0x1.8a86a49f629d1p-24, \
    0x1.04d7f65caf373p-29, -0x1.658a4b8f16a75p-35, 0x1.f63f1e311ac24p-41, -0x1.6731c59dbd7dep-46, \
    0x1.04805fdce7819p-51, -0x1.7e168b15d7aadp-57
#define BRANCH_SERIES \
    1.0, -0x1.5555555555555p-2, 0x1.38e38e38e38e4p-3, -0x1.4629b7f0d462ap-4, 0x1.6c901e573ac90p-5, \
    -0x1.a9bbcb24fe29fp-6, 0x1.002c98983bc43p-6, -0x1.3b20565de449cp-7, 0x1.8a2b4a92630e7p-8, \
    -0x1.f38df0d491306p-9, 0x1.3fee464a7d9c5p-9, -0x1.9d620108b4284p-10, 0x1.0d075d983b845p-10, \
    -0x1.605a95d04e643p-11, 0x1.cff7754715cf2p-12, -0x1.32e4f1bc682e6p-12, 0x1.97a8dfca09940p-13, \
    -0x1.0fbca7a215b09p-13, 0x1.6b701d0eab7e4p-14, -0x1.e77e059770444p-15, 0x1.47cc8ab17efb8p-15, \
    -0x1.b9e1207154a3cp-16, 0x1.2a78f41328c77p-16, -0x1.9401d7ade9552p-17, 0x1.11ec34ad4cc39p-17, \
    -0x1.7410af940ae5ap-18, 0x1.fa25d612cf897p-19

/* The integral of exp(-t) / t from x to infinity, within 6 ulp; NaN for x < 0. */
INLINE f64 ag_exp1_f64(f64 x)
{
    const f64 z = 1.0 / (x > 1.0 ? x : 1.0);
    const f64 small = x < 1.0 ? x : 1.0;
    const f64 u = (z - 0.625) / 0.375;
    const f64 v = 8.0 * z - 1.0;
    POLYNOMIAL(f64, series, small, EIN_SERIES);
    POLYNOMIAL(f64, middle, u, E1_MIDDLE);
    POLYNOMIAL(f64, large, v, E1_LARGE);
    const f64 near = small - 0x1.2788cfc6fb619p-1 - ag_log_f64(small) + small * small * series;
    const f64 far = ag_exp_f64(-x) * z * (x < 4.0 ? middle : large);
    return x != x ? x : x < 0.0 ? __builtin_nan("") : x <= 1.0 ? near : x == __builtin_inf() ? 0.0 : far;
}

/* The principal value of the integral of exp(t) / t from -inf to x; within 8 ulp. */
static inline f64 ag_expi_f64(f64 x)
{
    if (x != x) {
        return x;
    }
    if (x < 0.0) {
        return -ag_exp1_f64(-x);
    }
    if (x == 0.0) {
        return -__builtin_inf();
    }
    if (x > 720.0) {
        return __builtin_inf();
    }
    const f64 z = 1.0 / x;
    if (x > 0.2 && x < 0.7) {
        const f64 d = x - 0x1.7d72952b4b5fcp-2 - 0x1.e4c986021c6f2p-57;
        POLYNOMIAL(f64, series, d, EI_SLOPE);
        return ag_log1p_f64(d / 0x1.7d72952b4b5fcp-2) + d * series;
    }
    if (x < 6.0) {
        f64 term = 1.0;
        f64 total = 0.0;
        for (i32 k = 1; k < 60; k++) {
            const f64 n = (f64)k;
            term = term * (x / n);
            total = total + term / n;
            if (term < 1e-18 * total) {
                break;
            }
        }
        return total + (ag_log_f64(x) + 0x1.2788cfc6fb619p-1);
    }
    const f64 half = ag_exp_f64(0.5 * x);
    if (x < 24.0) {
        const f64 u = (z - 0x1.aaaaaaaaaaaabp-4) / 0.0625;
        POLYNOMIAL(f64, middle, u, EI_MIDDLE);
        return ag_exp_f64(x) * (z * middle);
    }
    const f64 v = 48.0 * z - 1.0;
    POLYNOMIAL(f64, large, v, EI_LARGE);
    return x > 600.0 ? half * (z * large) * half : ag_exp_f64(x) * (z * large);
}

/* ellipk(1 - p), accurate for small p, within 4 ulp; NaN for p < 0. */
INLINE f64 ag_ellipkm1_f64(f64 p)
{
    const f64 q = p > 1.0 ? 1.0 / p : p;
    const f64 v = 4.0 * (q > 0.5 ? q : 0.5) - 3.0;
    const f64 u = 4.0 * (q < 0.5 ? q : 0.5) - 1.0;
    POLYNOMIAL(f64, near, v, K_NEAR_0);
    POLYNOMIAL(f64, regular, u, K_REGULAR);
    POLYNOMIAL_AGAIN(f64, part, u, K_LOGARITHM);
    const f64 unit = q > 0.5 ? near : regular - ag_log_f64(q) * part;
    const f64 far = q == 0.0 ? 0.0 : unit / sqrt_F(p);
    return p != p ? p : p < 0.0 ? __builtin_nan("") : p > 1.0 ? far : unit;
}

/* The complete elliptic integral of the first kind of the parameter m, within 4 ulp; NaN for m > 1. */
INLINE f64 ag_ellipk_f64(f64 m)
{
    return ag_ellipkm1_f64(1.0 - m);
}

/* The complete elliptic integral of the second kind of the parameter m, within 4 ulp; NaN for m > 1. */
INLINE f64 ag_ellipe_f64(f64 m)
{
    const f64 p = 1.0 - m;
    const f64 q = p > 1.0 ? 1.0 / p : p;
    const f64 v = 4.0 * (q > 0.5 ? q : 0.5) - 3.0;
    const f64 u = 4.0 * (q < 0.5 ? q : 0.5) - 1.0;
    POLYNOMIAL(f64, near, v, E_NEAR_0);
    POLYNOMIAL(f64, regular, u, E_REGULAR);
    POLYNOMIAL_AGAIN(f64, part, u, E_LOGARITHM);
    const f64 unit = q > 0.5 ? near : 1.0 + q * (regular - ag_log_f64(q > 0.0 ? q : 1.0) * part);
    return m != m ? m : p < 0.0 ? __builtin_nan("") : p > 1.0 ? unit * sqrt_F(p) : unit;
}

/* S(|x|), or C(|x|): a fit in x**4 below 1.6; beyond, the auxiliary functions (DLMF 7.5.3, 7.5.4). */
INLINE f64 ag_fresnel_of_f64(f64 x, i32 is_s)
{
    const f64 size = fabs_F(x);
    const f64 b = size < 1.6 ? size : 1.6;
    f64 square = b * b;
    const f64 u = square * square / 3.2768 - 1.0;
    POLYNOMIAL(f64, near_s, u, FRESNEL_S);
    POLYNOMIAL_AGAIN(f64, near_c, u, FRESNEL_C);
    const f64 near = is_s ? b * square * near_s : b * near_c;
    f64 a = size > 1.6 ? size : 1.6;
    a = a < 1e+17 ? a : 1e+17;
    f64 low = 0;
    square = ag_two_product_f64(a, a, &low);
    const f64 v = 11.12 / (square + 3.0) - 1.0;
    POLYNOMIAL(f64, f, v, FRESNEL_F);
    POLYNOMIAL_AGAIN(f64, g, v, FRESNEL_G);
    const f64 per_angle = 1.0 / (0x1.921fb54442d18p+1 * a);
    f = f * per_angle;
    g = g * per_angle * per_angle / a;
    const f64 turns = square - 4.0 * floor_F(0.25 * square);
    low = low - 4.0 * rint_F(0.25 * low);
    f64 quarter = rint_F(turns) + rint_F(low);
    f64 w = turns - rint_F(turns) + (low - rint_F(low));
    quarter = quarter + rint_F(w);
    quarter = quarter - 4.0 * floor_F(0.25 * quarter);
    w = w - rint_F(w);
    const f64 q = w * w;
    POLYNOMIAL(f64, c, q, COSINE_OF_QUARTERS);
    POLYNOMIAL_AGAIN(f64, s, q, SINE_OF_QUARTERS);
    s = s * w;
    const f64 is_odd = quarter == 1.0 || quarter == 3.0;
    f64 cosine = is_odd ? s : c;
    cosine = quarter == 1.0 || quarter == 2.0 ? -cosine : cosine;
    f64 sine = is_odd ? c : s;
    sine = quarter == 2.0 || quarter == 3.0 ? -sine : sine;
    const f64 rest = is_s ? f * cosine + g * sine : g * cosine - f * sine;
    return size < 1.6 ? near : size > 1e+17 ? 0.5 : 0.5 - rest;
}

/* Fresnel's integral of sin(pi t**2 / 2) from 0 to x, within 8 ulp. */
INLINE f64 ag_fresnel_s_f64(f64 x)
{
    return x != x ? x : copysign_F(ag_fresnel_of_f64(x, 1), x);
}

/* Fresnel's integral of cos(pi t**2 / 2) from 0 to x, within 8 ulp. */
INLINE f64 ag_fresnel_c_f64(f64 x)
{
    return x != x ? x : copysign_F(ag_fresnel_of_f64(x, 0), x);
}

/* Li2(1 - x) for 1/2 <= x <= 2, w = -log(x). */
INLINE f64 ag_spence_near_1_f64(f64 x, f64 w)
{
    const f64 q = w * w;
    POLYNOMIAL(f64, p, q, DILOGARITHM);
    return w + q * (w * p - 0.25) + 0.0 * x;
}

/* The dilogarithm Li2(1 - x), within 8 ulp; NaN for x < 0, and at infinity. */
static inline f64 ag_spence_f64(f64 x)
{
    if (x != x || x < 0.0 || x == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0) {
        return 0x1.a51a6625307d3p+0;
    }
    if (x < 0.5) {
        return 0x1.a51a6625307d3p+0 - ag_log_f64(x) * ag_log1p_f64(-x) - ag_spence_near_1_f64(1.0 - x,
            -ag_log1p_f64(-x));
    }
    if (x > 2.0) {
        const f64 logarithm = ag_log_f64(x);
        const f64 y = 1.0 / x;
        const f64 inner = 0x1.a51a6625307d3p+0 + logarithm * ag_log1p_f64(-y) - ag_spence_near_1_f64(1.0 - y,
            -ag_log1p_f64(-y));
        return -inner - 0.5 * logarithm * logarithm;
    }
    return ag_spence_near_1_f64(x, -ag_log1p_f64(x - 1.0));
}

/* A real branch of Lambert's W: by its series at -1/e, or from logarithms by at most 8 steps of fourth order. */
static inline f64 ag_lambert_f64(f64 x, i32 lower)
{
    if (x != x || x < -0x1.78b56362cef38p-2 || (lower && x > 0.0)) {
        return __builtin_nan("");
    }
    if (x == 0.0) {
        return lower ? -__builtin_inf() : x;
    }
    if (x == __builtin_inf()) {
        return __builtin_inf();
    }
    f64 d = 0x1.5bf0a8b145769p+1 * (x + 0x1.78b56362cef38p-2 + (-0x1.ca8a4270fadf5p-57));
    d = d > 0.0 ? d : 0.0;
    f64 p = sqrt_F(2.0 * d);
    p = lower ? -p : p;
    if (fabs_F(p) < 0.3) {
        POLYNOMIAL(f64, series, p, BRANCH_SERIES);
        return p * series - 1.0;
    }
    f64 w = -1.0 + p * (1.0 + p * (-0x1.5555555555555p-2 + p * 0x1.38e38e38e38e4p-3));
    f64 logarithm = 0;
    if (lower && x > -0.25) {
        logarithm = ag_log_f64(-x);
        w = logarithm - ag_log_f64(-logarithm);
    }
    if (!lower && x > 2.0) {
        logarithm = ag_log_f64(x);
        w = logarithm - ag_log_f64(logarithm);
    }
    if (!lower && fabs_F(x) < 0.1) {
        w = x * (1.0 - x);
    }
    for (i32 _ = 0; _ < 8; _++) {
        const f64 z = ag_log_f64(x / w) - w;
        const f64 q = 2.0 * (1.0 + w) * (1.0 + w + 0x1.5555555555555p-1 * z);
        const f64 step = z / (1.0 + w) * ((q - z) / (q - 2.0 * z));
        w = w + w * step;
        if (fabs_F(step) < 1e-05) {
            break;
        }
    }
    return w;
}

/* W >= -1 with W exp(W) = x, within 8 ulp; NaN for x < -1/e. */
INLINE f64 ag_lambertw_0_f64(f64 x)
{
    return ag_lambert_f64(x, 0);
}

/* W <= -1 with W exp(W) = x, the branch -1, within 8 ulp; NaN outside of -1/e <= x < 0. */
INLINE f64 ag_lambertw_1_f64(f64 x)
{
    return ag_lambert_f64(x, 1);
}

/* The integral of (1 + t**2)**(v - 1/2) exp(-x t) over t > 0, by the double exponential rule, for x up to 60. */
static inline f64 ag_struve_integral_f64(f64 v, f64 x)
{
    f64 total = 0.0;
    for (i32 k = -50; k < 60; k++) {
        const f64 s = 0.08 * (f64)k;
        const f64 e = ag_exp_f64(-s);
        const f64 t = ag_exp_f64(s - e);
        total = total + ag_exp_f64((v - 0.5) * ag_log1p_f64(t * t) - x * t) * t * (1.0 + e);
    }
    return 0.08 * total;
}

/* The same integral for a large x, by its expansion in 1 / x (DLMF 11.6.1). */
static inline f64 ag_struve_far_f64(f64 v, f64 x)
{
    f64 term = 1.0 / x;
    f64 total = term;
    for (i32 k = 0; k < 30; k++) {
        const f64 n = (f64)k;
        term = term * ((v - 0.5 - n) * (4.0 * n + 2.0) / x / x);
        total = total + term;
        if (fabs_F(term) < 1e-17 * fabs_F(total)) {
            break;
        }
    }
    return total;
}

/* (x / 2)**(v + more) / gamma(v + shift) * size for v + shift > 0. */
INLINE f64 ag_struve_factor_f64(f64 v, f64 more, f64 shift, f64 x, f64 size)
{
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(0.5 * x, 0.0, &e_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_two_sum_f64(v, more, &p_low);
    e = ag_times_parts_f64(e, e_low, p, p_low, &e_low);
    p = ag_two_sum_f64(v, shift, &p_low);
    p = ag_log_gamma_parts_f64(p, p_low, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    return ag_exp_times_f64(e, e_low, size);
}

/* Y_v(x) for -1 < v < 0 by the recurrence in the order. */
INLINE f64 ag_struve_y_f64(f64 v, f64 x)
{
    return 2.0 * (v + 1.0) / x * ag_bessel_y_f64(v + 1.0, x) - ag_bessel_y_f64(v + 2.0, x);
}

/* Struve's function H of order v > -1, within 8 ulp for v <= 30, or of the envelope sqrt(2 / (pi x)). NaN for x <
   0 unless v is an integer. The power series for small x, else Y plus the integral of DLMF 11.5.2 by the double
   exponential rule. */
static inline f64 ag_struve_f64(f64 v, f64 x)
{
    if (v != v || x != x || v <= -1.0 || (x < 0.0 && v != floor_F(v))) {
        return __builtin_nan("");
    }
    const f64 a = fabs_F(x);
    const f64 even = v - 2.0 * floor_F(0.5 * v) == 0.0;
    const f64 sign = x < 0.0 && even ? -1.0 : 1.0;
    if (a == __builtin_inf()) {
        return v < 1.0 || v == __builtin_inf() ? __builtin_nan("") : v == 1.0 ? 0x1.45f306dc9c883p-1 * sign :
            __builtin_inf() * sign;
    }
    if (a == 0.0 || v == __builtin_inf()) {
        return 0.0;
    }
    if (a < 30.0 + v) {
        f64 q = 0;
        f64 q_low = 0;
        q = ag_two_product_f64(-0.5 * a, 0.5 * a, &q_low);
        f64 term = 1.0;
        f64 term_low = 0.0;
        f64 total = 1.0;
        f64 total_low = 0.0;
        for (i32 k = 1; k < 200; k++) {
            const f64 n = (f64)k + 0.5;
            f64 d = 0;
            f64 d_low = 0;
            d = ag_two_sum_f64(n, v, &d_low);
            d = ag_times_parts_f64(d, d_low, n, 0.0, &d_low);
            d = ag_divided_parts_f64(q, q_low, d, d_low, &d_low);
            term = ag_times_parts_f64(term, term_low, d, d_low, &term_low);
            total = ag_plus_parts_f64(total, total_low, term, term_low, &total_low);
            if (fabs_F(term) < 1e-17 * fabs_F(total)) {
                break;
            }
        }
        return sign * ag_struve_factor_f64(v, 1.0, 1.5, a, 0x1.20dd750429b6dp+0 * total);
    }
    f64 size = 0x1.20dd750429b6dp+0 * (a > 60.0 && a > 2.0 * v ? ag_struve_far_f64(v, a) : ag_struve_integral_f64(v,
        a));
    size = ag_struve_factor_f64(v, 0.0, 1.5, a, (v + 0.5) * size);
    const f64 y = v >= 0.0 ? ag_bessel_y_f64(v, a) : ag_struve_y_f64(v, a);
    return sign * (y + size);
}

/* Owen's T for h >= 0 and 0 <= a <= 1.25, by the rule for an even integrand, up to where it ends. */
INLINE f64 ag_owens_inner_f64(f64 h, f64 a)
{
    f64 r = a * h;
    const f64 end = r < 8.5 ? a : a * (8.5 / r);
    r = r < 8.5 ? r : 8.5;
    const f64 c = 0.5 * r * r;
    const f64 b = end * end;
    f64 total = 0.0;
    total = total + 0x1.eaeaee47804bep-9 * (ag_exp_f64(-c * 0x1.fe819a072d651p-1) / (1.0 + b * 0x1.fe819a072d651p-1));
    total = total + 0x1.1d18ed776bc6ap-7 * (ag_exp_f64(-c * 0x1.f82986c92cba5p-1) / (1.0 + b * 0x1.f82986c92cba5p-1));
    total = total + 0x1.be495fd9a1d15p-7 * (ag_exp_f64(-c * 0x1.ece1a1415bbddp-1) / (1.0 + b * 0x1.ece1a1415bbddp-1));
    total = total + 0x1.2ea3027df84f5p-6 * (ag_exp_f64(-c * 0x1.dce2bba39d637p-1) / (1.0 + b * 0x1.dce2bba39d637p-1));
    total = total + 0x1.7c9fe5c06f389p-6 * (ag_exp_f64(-c * 0x1.c87e415379d59p-1) / (1.0 + b * 0x1.c87e415379d59p-1));
    total = total + 0x1.c8b781e456d82p-6 * (ag_exp_f64(-c * 0x1.b01c147a18310p-1) / (1.0 + b * 0x1.b01c147a18310p-1));
    total = total + 0x1.0944589f6f3d5p-5 * (ag_exp_f64(-c * 0x1.9438704a537dfp-1) / (1.0 + b * 0x1.9438704a537dfp-1));
    total = total + 0x1.2cdaa2f96cd30p-5 * (ag_exp_f64(-c * 0x1.75616db17a9b9p-1) / (1.0 + b * 0x1.75616db17a9b9p-1));
    total = total + 0x1.4ef13b270dd4ep-5 * (ag_exp_f64(-c * 0x1.54342eb52b368p-1) / (1.0 + b * 0x1.54342eb52b368p-1));
    total = total + 0x1.6f5ca6a1bdb16p-5 * (ag_exp_f64(-c * 0x1.3159bd9f983bep-1) / (1.0 + b * 0x1.3159bd9f983bep-1));
    total = total + 0x1.8df38c199361cp-5 * (ag_exp_f64(-c * 0x1.0d83afa0f0f0dp-1) / (1.0 + b * 0x1.0d83afa0f0f0dp-1));
    total = total + 0x1.aa8ee7fa07c44p-5 * (ag_exp_f64(-c * 0x1.d2d137ebdd8ecp-2) / (1.0 + b * 0x1.d2d137ebdd8ecp-2));
    total = total + 0x1.c50a3e14047d8p-5 * (ag_exp_f64(-c * 0x1.8b80f31de101bp-2) / (1.0 + b * 0x1.8b80f31de101bp-2));
    total = total + 0x1.dd43c81b0088cp-5 * (ag_exp_f64(-c * 0x1.4681eb7286ec8p-2) / (1.0 + b * 0x1.4681eb7286ec8p-2));
    total = total + 0x1.f31ca0b2ba0dap-5 * (ag_exp_f64(-c * 0x1.0533ace2c73fap-2) / (1.0 + b * 0x1.0533ace2c73fap-2));
    total = total + 0x1.033c7569d871ep-4 * (ag_exp_f64(-c * 0x1.91c5eb28b31e5p-3) / (1.0 + b * 0x1.91c5eb28b31e5p-3));
    total = total + 0x1.0b9ffaa969fc3p-4 * (ag_exp_f64(-c * 0x1.25862cefd09dcp-3) / (1.0 + b * 0x1.25862cefd09dcp-3));
    total = total + 0x1.12ae2d2f38eb8p-4 * (ag_exp_f64(-c * 0x1.8f9f55d44d1f8p-4) / (1.0 + b * 0x1.8f9f55d44d1f8p-4));
    total = total + 0x1.185e0d63fa009p-4 * (ag_exp_f64(-c * 0x1.e9ff827222a76p-5) / (1.0 + b * 0x1.e9ff827222a76p-5));
    total = total + 0x1.1ca85a7bb7070p-4 * (ag_exp_f64(-c * 0x1.f905c33865738p-6) / (1.0 + b * 0x1.f905c33865738p-6));
    total = total + 0x1.1f879bb5d23c1p-4 * (ag_exp_f64(-c * 0x1.6e0b4746ddc9fp-7) / (1.0 + b * 0x1.6e0b4746ddc9fp-7));
    total = total + 0x1.20f82757732d5p-4 * (ag_exp_f64(-c * 0x1.4674b2b571058p-10) / (1.0 + b *
        0x1.4674b2b571058p-10));
    return ag_half_gaussian_f64(h) / (2.0 * 0x1.921fb54442d18p+1) * (end * total);
}

/* Owen's T: the integral of exp(-h**2 (1 + t**2) / 2) / (1 + t**2) / (2 pi) from 0 to a, within 8 ulp. By Gauss
   and Legendre's rule; |a| > 1.25 by Owen's identity (his equation 2.3), which cancels near 1. */
INLINE f64 ag_owens_t_f64(f64 h, f64 a)
{
    const f64 b = fabs_F(a);
    f64 k = fabs_F(h);
    k = k < 100.0 ? k : 100.0;
    const f64 is_wide = b > 1.25;
    const f64 p = ag_ndtr_f64(-k);
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_product_f64(k, b < 1000000.0 ? b : 1000000.0, &s_low);
    const f64 inner = ag_owens_inner_f64(is_wide ? s : k, is_wide ? 1.0 / b : b);
    const f64 rest = (0.5 - p) * ag_ndtr_f64(-s) - inner;
    const f64 wide = 0.5 * p + rest * (1.0 - s * s_low);
    return h != h ? h : a != a ? a : copysign_F(is_wide ? wide : inner, a);
}
