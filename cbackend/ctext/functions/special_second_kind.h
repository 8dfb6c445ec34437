/* The modified Bessel function of the second kind for orders up to 1 and x >= 1/2: Chebyshev expansions in x and order.

   Written by ../translated.py from ops/special/second_kind.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define K_FAR_0 \
    0x1.d208a49d15f8fp-1, -0x1.327bc30fbbf47p-4, 0x1.7cabf380764e1p-7, -0x1.403a64becdb15p-9, \
    0x1.45a8ece8177c7p-11, -0x1.7a84a9c8c4119p-13, 0x1.e69c7c92d8cedp-15, -0x1.52b34e75eab36p-16, \
    0x1.f7228431a3870p-18, -0x1.8a913eff0d6e1p-19, 0x1.44143a144a1a4p-20, -0x1.14c89554e8b7ap-21, \
    0x1.e9fe6eace8b36p-23, -0x1.c832b84b9b8b8p-24, 0x1.afefcde0ad5a5p-25, -0x1.460a636d4fc4ep-26, \
    0x1.1cf9ee5a3fb4cp-27, -0x1.d7c118970d155p-27, 0x1.2e6384488fb79p-27, 0x1.03d68edb63238p-27, \
    -0x1.95c3d2f0e27efp-28, -0x1.fb0fc818b3261p-28, 0x1.6c6a4e7aef4a4p-28, 0x1.a1b3f09ae2a54p-29, \
    -0x1.2d17ed0a95b4cp-29, -0x1.97e0172ac245cp-31, 0x1.167cb60c1d5afp-31
#define K_FAR_1 \
    0x1.8c06a1edc7e72p-6, 0x1.365776f46f5a1p-6, -0x1.019fe8e46b1b2p-8, 0x1.e78c14ee84f28p-11, \
    -0x1.088f9785d3ddap-12, 0x1.4098cd244a295p-14, -0x1.a8616d7ae39fcp-16, 0x1.2de2bd2e60b95p-17, \
    -0x1.c8190b1e67cdap-19, 0x1.6a910d052a498p-20, -0x1.2d07be7d5c6b0p-21, 0x1.038c5bf20c2e6p-22, \
    -0x1.d30a1bcf118bap-24, 0x1.b2de264fbd020p-25, -0x1.6f17581da1504p-26, 0x1.39c0109b956d5p-27, \
    -0x1.4bced58144ab2p-27, 0x1.c211f1b4c2449p-28, 0x1.fbab285ce4d32p-29, -0x1.e2ad68df8bed3p-29, \
    -0x1.410430b9a755cp-28, 0x1.e082343201ceep-29, 0x1.10e35f2e47562p-29, -0x1.8fee044803759p-30, \
    -0x1.26ef9ca6a05cap-31, 0x1.8df0fbce2960dp-32
#define K_FAR_2 \
    0x1.a8cad8720b26dp-12, 0x1.569993d4fd99cp-11, 0x1.34b4a368fb72fp-13, -0x1.1411c9fd76b1fp-14, \
    0x1.7e2bd12159a47p-16, -0x1.08af60b8839b9p-17, 0x1.7dc0fcc69ed89p-19, -0x1.206b28e10d7eap-20, \
    0x1.c7b6ba9f33031p-22, -0x1.7718e2b433c1ep-23, 0x1.40edb820f35f4p-24, -0x1.1bbcda9b7fc7ap-25, \
    0x1.f4fe3204c70eap-27, -0x1.c9b049588875bp-28, 0x1.2349684b8ebd7p-28, -0x1.48a3f145cb587p-29, \
    -0x1.edc14d6bc0f87p-32, 0x1.4b6be2a821ad4p-31, 0x1.8138fc908233dp-30, -0x1.1579849fc30d9p-30, \
    -0x1.45ef438b28f12p-31, 0x1.dacca797260d7p-32, 0x1.a859a2f4e113cp-33, -0x1.17282e6d752f8p-33
#define K_FAR_3 \
    0x1.45a56935b17bdp-18, 0x1.88ee5137edfebp-17, 0x1.edfb57a3848c2p-18, -0x1.19682ecbf2129p-22, \
    -0x1.83df504cf521fp-22, 0x1.d819f24c1f6b0p-23, -0x1.b8e5813197be6p-24, 0x1.84e3c6be57977p-25, \
    -0x1.553fb596d21e1p-26, 0x1.2e27ab1fbeffap-27, -0x1.10890a50a8fafp-28, 0x1.0a3805548c80fp-29, \
    -0x1.0614597061cf6p-30, 0x1.0ed5148d3e596p-32, -0x1.2097a9ad631bbp-34, 0x1.543f88f1a6284p-32, \
    -0x1.c6167400d3e94p-33, -0x1.ead8b6fa879cfp-34, 0x1.696193434bc24p-34, 0x1.d1e192e10f78dp-35, \
    -0x1.2696749dc4a4ep-35
#define K_FAR_4 \
    0x1.7e609577f6d01p-25, 0x1.30dc73b6620c8p-23, 0x1.35fae0877104bp-23, 0x1.378262fb4d823p-25, \
    -0x1.7881b28273ed9p-27, 0x1.7011c5da94736p-30, 0x1.02d5511bacb9bp-31, -0x1.1be8d209cb635p-31, \
    0x1.641729bfb6f44p-32, -0x1.5f074c0fb8476p-33, 0x1.584ba537f3703p-34, -0x1.3976cb4211a99p-34, \
    0x1.745f45e9ba041p-35, 0x1.9b3d51c211ae2p-37, -0x1.5e0491071caa2p-37, -0x1.e435b0f69ab89p-37, \
    0x1.23e22b790146bp-37
#define K_FAR_5 \
    0x1.677de5d703e28p-32, 0x1.6279892f6feffp-30, 0x1.ee09a8f871663p-30, 0x1.fbb2d668d48f4p-31, \
    0x1.29fc0aa299012p-38, -0x1.f22dd1823c14dp-35, 0x1.9e0ed0608d205p-36, -0x1.67269130b05d3p-38, \
    -0x1.84f93e67656dcp-43, -0x1.77aee56cf2123p-40, 0x1.9f9291fa2afe4p-41, 0x1.bbed4ec58cb01p-40, \
    -0x1.1ede13bc69ea2p-40
#define K_FAR_6 \
    0x1.173e02b204d20p-39, 0x1.46b4f0c145bf9p-37, 0x1.1f814fa3551cap-36, 0x1.b864117416638p-37, \
    0x1.95462cc9bc9b5p-39, -0x1.c1ee5239fc3a8p-41, -0x1.8d59ab8548d41p-44, 0x1.029f4e4330856p-43
#define K_FAR_7 \
    0x1.6b161f2158861p-47, 0x1.ebae273116d99p-45, 0x1.0a61047ba918bp-43, 0x1.0b09d0f83284cp-43, \
    0x1.955757f80728bp-45
#define K_MIDDLE_0 \
    0x1.967676e72274bp-1, -0x1.791995265b653p-5, 0x1.27185e74df40cp-8, -0x1.2291f141a1064p-11, \
    0x1.4807a4aa3f15dp-14, -0x1.967525b8e7854p-17, 0x1.0db22f60c8307p-19, -0x1.797467ac34970p-22, \
    0x1.13ae679e031e5p-24, -0x1.a12f466b5a6cep-27, 0x1.453beaa594387p-29, -0x1.0476608299529p-31, \
    0x1.aa40d2fe7b8efp-34, -0x1.59d89854e29d2p-36, 0x1.240f9a724053dp-38, -0x1.4a4e5a47f6e79p-40, \
    0x1.265fc9ba2354cp-42
#define K_MIDDLE_1 \
    0x1.a39e5d71c7346p-5, 0x1.3f344e400fd8fp-7, -0x1.5f59f0b9a310cp-10, 0x1.8cf2a3e2035eep-13, \
    -0x1.e3e5c58a8a646p-16, 0x1.3b26ab5bee910p-18, -0x1.b15768abee8acp-21, 0x1.3778773bdf62bp-23, \
    -0x1.d0a58dc5ddc0ap-26, 0x1.65a4226992676p-28, -0x1.1af9b86b8b4adp-30, 0x1.c9f32c4eaf179p-33, \
    -0x1.73d2142631058p-35, 0x1.394381af3863ep-37, -0x1.4cf11fd269bc4p-39, 0x1.2666636de7ddap-41
#define K_MIDDLE_2 \
    0x1.04f341d8ddd33p-9, 0x1.b975ed49fa0c6p-11, -0x1.48315abaaf467p-20, -0x1.dc0f2c62b9c7fp-18, \
    0x1.d0ebe129a3768p-20, -0x1.7b0aa1f2f7514p-22, 0x1.2a9acd66c64a6p-24, -0x1.d7073077b46f6p-27, \
    0x1.7817ce55a9e91p-29, -0x1.313342b4d2cfdp-31, 0x1.f76459666ea69p-34, -0x1.9f59344657c52p-36, \
    0x1.6018ee431b164p-38, -0x1.74727c7d20abbp-40, 0x1.4b2e088d2a028p-42
#define K_MIDDLE_3 \
    0x1.bfed8c12733a1p-15, 0x1.20cdcb25b7d91p-15, 0x1.08e16b57622bfp-18, -0x1.07e07f0c8bcc0p-21, \
    0x1.6217d80fe45d0p-25, -0x1.45bfec8bf93dcp-30, -0x1.617621aee9073p-31, 0x1.109e13f56671bp-32, \
    -0x1.299813a6d4813p-34, 0x1.20188de90001ep-36, -0x1.0e9d2a39681b8p-38, 0x1.2ecf183ad5689p-40, \
    -0x1.19f81b712a664p-42
#define K_MIDDLE_4 \
    0x1.1e4780318cae9p-20, 0x1.eb55f4c941ea4p-21, 0x1.b79853394f36ep-23, -0x1.d79b5934b8caep-29, \
    -0x1.7f8a4a4062242p-30, 0x1.6ab296ec8b297p-32, -0x1.edc23c90444f6p-35, 0x1.2688cb5d2c31dp-37, \
    -0x1.30847e39a4be2p-40, 0x1.9f3774d9c40ddp-44
#define K_MIDDLE_5 \
    0x1.1e41523515de6p-26, 0x1.30c803b1c6fafp-26, 0x1.9039dcd6a2160p-28, 0x1.9c05665a5ee37p-32, \
    -0x1.1306b9e2645bap-34, 0x1.76043b91d4fe8p-38, -0x1.d29c47b1fed29p-44, -0x1.d489af25169adp-44, \
    0x1.24c01d4dde01bp-45
#define K_MIDDLE_6 \
    0x1.cf9cee0524e91p-33, 0x1.2561957872668p-32, 0x1.f828139b3e341p-34, 0x1.154c42cfa7774p-36, \
    -0x1.9a5c9fe871700p-41, -0x1.3b82097881e57p-44, 0x1.932e6c225d1a7p-46
#define K_MIDDLE_7 \
    0x1.380bc736aaed9p-39, 0x1.c846e93d26927p-39, 0x1.e1eaa72359a94p-40, 0x1.89f6dbe6cef31p-42, \
    0x1.437c9d66670a4p-47
#define K_MIDDLE_8 \
    0x1.630b9d9343bf4p-46, 0x1.268972e59ff03p-45, 0x1.7824f13ad4c67p-46, 0x1.8e21911b14878p-48
#define K_NEAR_0 \
    0x1.5f1321fc8ef34p-1, -0x1.d4d8aa95d91d9p-5, 0x1.eae5f9ca61110p-8, -0x1.361b0cd17676dp-10, \
    0x1.b4d00cb092448p-13, -0x1.4ae100e4e8ca7p-15, 0x1.0845a705b6478p-17, -0x1.b7b0a127f1764p-20, \
    0x1.79dda7bd7c2a0p-22, -0x1.4d88a1b9a9006p-24, 0x1.2d0f1376eb769p-26, -0x1.1509b1eb0488fp-28, \
    0x1.0413e6e7490f7p-30, -0x1.ee60b76592565p-33, 0x1.c33222fde6b6ap-35, -0x1.b33d73a651133p-37, \
    0x1.35e3026e1a3d0p-38, -0x1.3a83193380822p-40
#define K_NEAR_1 \
    0x1.2690fe37557d8p-4, 0x1.3f578250288a3p-7, -0x1.fb21f39a2e6cdp-10, 0x1.7968ef17ed0f5p-12, \
    -0x1.234e4815e1a6ep-14, 0x1.d48a6e6bcda84p-17, -0x1.869588a3275e9p-19, 0x1.4fa32f1ce698cp-21, \
    -0x1.27eef7abbf192p-23, 0x1.0aba115f1ddf3p-25, -0x1.ea037c36056d5p-28, 0x1.c9a899a97e32cp-30, \
    -0x1.b2a35f94afb65p-32, 0x1.a19f5757cc1f3p-34, -0x1.84ef85deddae6p-36, 0x1.7b03e00f5d0e0p-38, \
    -0x1.089b57d38dd15p-39, 0x1.0e59c83f95ed4p-41
#define K_NEAR_2 \
    0x1.206961eae7fa7p-8, 0x1.87afadae5cefbp-10, -0x1.61b7d173113f0p-14, -0x1.b8b78b6d750a8p-21, \
    0x1.0dd8319899203p-19, -0x1.5ef8aec9ed632p-21, 0x1.75d4b5941f29ep-23, -0x1.76dfff0a07e6cp-25, \
    0x1.70418ee5f7dcap-27, -0x1.67d9a86f88044p-29, 0x1.60c9ca9565beap-31, -0x1.5af0536224ddfp-33, \
    0x1.4b029891959c4p-35, -0x1.4759504c94212p-37, 0x1.bbe63e484abd8p-39, -0x1.c8c1ef1870fc6p-41
#define K_NEAR_3 \
    0x1.7d4603ec3cc36p-13, 0x1.96dbc2e77abb9p-14, 0x1.475598ebd6427p-18, -0x1.6f0857a9d578bp-20, \
    0x1.f213e11df0f69p-23, -0x1.2f17c026de505p-25, 0x1.4fffcac3856d0p-28, -0x1.2fb8bfe5fec18p-31, \
    0x1.76fd33c27d855p-36, 0x1.135f9c31e3794p-36, -0x1.03ff652147609p-37, 0x1.6b7771f8e8be6p-39, \
    -0x1.3b83e6c45915dp-40, 0x1.7150478c7483ap-42
#define K_NEAR_4 \
    0x1.71282d8f3377dp-18, 0x1.09d95925ac3a0p-18, 0x1.3aea211555582p-21, -0x1.d10b04415d839p-25, \
    0x1.481181e748a22p-29, 0x1.e014603736565p-32, -0x1.a310896601c92p-33, 0x1.bdbad7c28950bp-35, \
    -0x1.9b17b056bfb06p-37, 0x1.67ed29cf9acc9p-39, -0x1.5a5dc01cf7eddp-41, 0x1.1c25d31c8b885p-43
#define K_NEAR_5 \
    0x1.13eb5524c37b1p-23, 0x1.f12336fc03df5p-24, 0x1.df67828d697a9p-26, -0x1.92185b465e29ep-33, \
    -0x1.e9651b08a6a45p-33, 0x1.a6bea4e4cb4edp-35, -0x1.13d565b04a7f8p-37, 0x1.3813730a4823dp-40, \
    -0x1.04e56c432c76ep-43
#define K_NEAR_6 \
    0x1.4a65de381229ep-29, 0x1.63c35e34904fdp-29, 0x1.d6c5eb2e632fep-31, 0x1.dd1af18017e30p-35, \
    -0x1.4a37fecd82651p-37, 0x1.ea05da4d9f0b5p-41, -0x1.67c48bfcf900dp-46, -0x1.08bb5053705cdp-46
#define K_NEAR_7 \
    0x1.45c10ace1c8c6p-35, 0x1.96b738b598b57p-35, 0x1.54073ffe52301p-36, 0x1.5a2c752bfc461p-39, \
    -0x1.42430da4f1f87p-43, -0x1.cfd579ddc0792p-48
#define K_NEAR_8 \
    0x1.0e2dc565a0cc3p-41, 0x1.7ef9d5f00e2edp-41, 0x1.81d3221b9c668p-42, 0x1.1e1f74bf7b2edp-44
#define K_NEAR_9 \
    0x1.7ebc51f687e62p-48, 0x1.4fd7c70f5788dp-47, 0x1.6901e5c4b67e0p-48

/* g of the order v and x = 1 / z, where w = 2 v**2 - 1, 0 <= v <= 1, x >= 2. */
INLINE f64 ag_rest_from_2_f64(f64 z, f64 w)
{
    const f64 u = 4.0 * z - 1.0;
    POLYNOMIAL(f64, c0, u, K_FAR_0);
    POLYNOMIAL_AGAIN(f64, c1, u, K_FAR_1);
    POLYNOMIAL_AGAIN(f64, c2, u, K_FAR_2);
    POLYNOMIAL_AGAIN(f64, c3, u, K_FAR_3);
    POLYNOMIAL_AGAIN(f64, c4, u, K_FAR_4);
    POLYNOMIAL_AGAIN(f64, c5, u, K_FAR_5);
    POLYNOMIAL_AGAIN(f64, c6, u, K_FAR_6);
    POLYNOMIAL_AGAIN(f64, c7, u, K_FAR_7);
    const f64 high = c4 + w * (c5 + w * (c6 + w * c7));
    return c0 + w * (c1 + w * (c2 + w * (c3 + w * high)));
}

/* The same for 1 <= x <= 2. */
INLINE f64 ag_rest_from_1_f64(f64 z, f64 w)
{
    const f64 u = 4.0 * z - 3.0;
    POLYNOMIAL(f64, c0, u, K_MIDDLE_0);
    POLYNOMIAL_AGAIN(f64, c1, u, K_MIDDLE_1);
    POLYNOMIAL_AGAIN(f64, c2, u, K_MIDDLE_2);
    POLYNOMIAL_AGAIN(f64, c3, u, K_MIDDLE_3);
    POLYNOMIAL_AGAIN(f64, c4, u, K_MIDDLE_4);
    POLYNOMIAL_AGAIN(f64, c5, u, K_MIDDLE_5);
    POLYNOMIAL_AGAIN(f64, c6, u, K_MIDDLE_6);
    POLYNOMIAL_AGAIN(f64, c7, u, K_MIDDLE_7);
    POLYNOMIAL_AGAIN(f64, c8, u, K_MIDDLE_8);
    const f64 high = c4 + w * (c5 + w * (c6 + w * (c7 + w * c8)));
    return c0 + w * (c1 + w * (c2 + w * (c3 + w * high)));
}

/* The same for 1/2 <= x <= 1. */
INLINE f64 ag_rest_from_half_f64(f64 z, f64 w)
{
    const f64 u = 2.0 * z - 3.0;
    POLYNOMIAL(f64, c0, u, K_NEAR_0);
    POLYNOMIAL_AGAIN(f64, c1, u, K_NEAR_1);
    POLYNOMIAL_AGAIN(f64, c2, u, K_NEAR_2);
    POLYNOMIAL_AGAIN(f64, c3, u, K_NEAR_3);
    POLYNOMIAL_AGAIN(f64, c4, u, K_NEAR_4);
    POLYNOMIAL_AGAIN(f64, c5, u, K_NEAR_5);
    POLYNOMIAL_AGAIN(f64, c6, u, K_NEAR_6);
    POLYNOMIAL_AGAIN(f64, c7, u, K_NEAR_7);
    POLYNOMIAL_AGAIN(f64, c8, u, K_NEAR_8);
    POLYNOMIAL_AGAIN(f64, c9, u, K_NEAR_9);
    const f64 high = c5 + w * (c6 + w * (c7 + w * (c8 + w * c9)));
    return c0 + w * (c1 + w * (c2 + w * (c3 + w * (c4 + w * high))));
}

/* (K_m(x), K_(m + 1)(x)) exp(x) for |m| <= 1/2 and x >= 1/2. */
static inline f64 ag_k_scaled_pair_f64(f64 m, f64 x, f64 *second)
{
    const f64 z = 1.0 / x;
    const f64 a = fabs_F(m);
    const f64 b = 1.0 - a;
    const f64 v = 2.0 * a * a - 1.0;
    const f64 w = 2.0 * b * b - 1.0;
    f64 g = 0.0;
    f64 h = 0.0;
    if (z <= 0.5) {
        g = ag_rest_from_2_f64(z, v);
        h = ag_rest_from_2_f64(z, w);
    }
    else {
        if (z <= 1.0) {
            g = ag_rest_from_1_f64(z, v);
            h = ag_rest_from_1_f64(z, w);
        }
        else {
            g = ag_rest_from_half_f64(z, v);
            h = ag_rest_from_half_f64(z, w);
        }
    }
    const f64 size = sqrt_F(0x1.921fb54442d18p+0 / x);
    const f64 of_a = size + size * ((2.0 * a - 1.0) * (2.0 * a + 1.0) * (0.125 * z) * g);
    const f64 of_b = size + size * ((2.0 * b - 1.0) * (2.0 * b + 1.0) * (0.125 * z) * h);
    *second = m < 0.0 ? of_b : of_b + 2.0 * a * z * of_a;
    return of_a;
}

/* K_v(x) from those of the orders m and m + 1, where v - m is the integer nearest to v; infinite beyond 1e300. */
static inline f64 ag_k_upwards_f64(f64 v, f64 x, f64 k, f64 next_k)
{
    f64 n = floor_F(v + 0.5);
    if (n == 0.0) {
        return k;
    }
    const f64 z = 1.0 / x;
    const f64 z_low = __builtin_fma(-z, x, 1.0) / x;
    f64 before = k;
    f64 before_low = 0.0;
    f64 last = next_k;
    f64 last_low = 0.0;
    while (n > 1.0 && last < 1e+300 * x) {
        n = n - 1.0;
        const f64 twice = 2.0 * (v - n);
        const f64 r = twice * z;
        const f64 r_low = __builtin_fma(twice, z, -r) + twice * z_low;
        const f64 product = last * r;
        const f64 low = __builtin_fma(last, r, -product) + (last_low * r + last * r_low) + before_low;
        f64 total = 0;
        f64 error = 0;
        total = ag_two_sum_f64(product, before, &error);
        before = last;
        before_low = last_low;
        last = total;
        last_low = low + error;
    }
    return n == 1.0 ? last + last_low : __builtin_inf();
}
