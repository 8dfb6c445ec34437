/* Airy's functions of real numbers and their derivatives, without branches.

   Written by ../translated.py from ops/special/airys.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define COSINE \
    0x1.ff2ed09ea7d60p-1, -0x1.0e4ad2446a57ap-9, -0x1.426e2f7c939f1p-11, -0x1.9d0572187ab91p-13, \
    -0x1.0d39ce519a2b5p-14, -0x1.6691be17f548ep-16, -0x1.e139f50d9774cp-18, -0x1.47061d2370141p-19, \
    -0x1.bdc2a0b42c086p-21, -0x1.32fb6871119f3p-22, -0x1.a658dada44b2dp-24, -0x1.25c20bd4831adp-25, \
    -0x1.94f65bf39aa9bp-27, -0x1.2100254dd9736p-28, -0x1.991093b2577f2p-30, -0x1.e6efaf2e36a15p-32, \
    -0x1.03fcf60aa3a99p-33, -0x1.256745f60da9ep-33, -0x1.ce3c426b43800p-35, 0x1.064dff46d36f0p-35, \
    0x1.8cde1aa5cdc88p-38, -0x1.8f23b4e5b69bap-37
#define SINE \
    0x1.161a8fdfbd334p-4, -0x1.f4664a5bfad9dp-10, -0x1.eb15c58e9ab66p-12, -0x1.22eac40b9cd33p-13, \
    -0x1.59e8fdb7ffc59p-15, -0x1.b645b787ef4ffp-17, -0x1.12b6e44d00bd0p-18, -0x1.69b99b79ec9fdp-20, \
    -0x1.cf404e5287acap-22, -0x1.3b2db3541a161p-23, -0x1.93a43db1705a2p-25, -0x1.1dfd2343f603ap-26, \
    -0x1.596eca38ede35p-28, -0x1.2a4a31c36b182p-29, -0x1.e28102a3408b9p-31, 0x1.53c4351641174p-33, \
    0x1.37831a2c55f03p-31, -0x1.9a13ce9353fbep-31, -0x1.96dbabbd3c7d0p-31, 0x1.b09e0e208557fp-31, \
    0x1.3f5fdfadc6ff6p-31, -0x1.4291c80e06d40p-31, -0x1.209fe6c8d87a4p-32, 0x1.1412bbfc37188p-32, \
    0x1.eaa6498c8e9d6p-35, -0x1.ba3800e29b17dp-35
#define SLOPE_COSINE \
    0x1.007c337aa0153p+0, 0x1.425c7846ce0b8p-9, 0x1.873ab8801abc7p-11, 0x1.fa61afc98e53cp-13, \
    0x1.4d419fd67b2b6p-14, 0x1.bf2fca2cbb00ap-16, 0x1.2e455837c1fc6p-17, 0x1.9d434ca135543p-19, \
    0x1.1b634d86b2e28p-20, 0x1.8831a145ccc17p-22, 0x1.0f4b528b7ad10p-23, 0x1.7ad71b954b1b8p-25, \
    0x1.06c575bc44952p-26, 0x1.76c10cb1aa295p-28, 0x1.090a310fa7fa5p-29, 0x1.48b525f4608aep-31, \
    0x1.8550e5cb304fep-33, 0x1.57bf27ba37337p-33, 0x1.fb1f681e7dd6fp-35, -0x1.fdac8b71af2f3p-36, \
    -0x1.13dee1314ca09p-38, 0x1.ae12a988c0de9p-37
#define SLOPE_SINE \
    -0x1.871a0c8ff4df2p-4, 0x1.1a2de3bd61038p-9, 0x1.1a7378bcb791dp-11, 0x1.514f739d9d33fp-13, \
    0x1.955326e65ce97p-15, 0x1.022c2645cb633p-16, 0x1.46679729a7be4p-18, 0x1.af3f350bd6630p-20, \
    0x1.1678dda7716b6p-21, 0x1.7b1c6a9197f96p-23, 0x1.eac0f5367609cp-25, 0x1.5c9d85cf12acfp-26, \
    0x1.aba3d42bf5066p-28, 0x1.274ced2dd4938p-29, 0x1.19fdaf5f85042p-30, 0x1.d747f5df762b0p-31, \
    -0x1.3392295588b16p-31, -0x1.69e472e125b77p-31, 0x1.9e7724d082a36p-31, 0x1.48e2c01ccafedp-31, \
    -0x1.4463054daa0f3p-31, -0x1.35ebff4f5f07bp-32, 0x1.2550bdb5d52e6p-32, 0x1.1a639fbad7092p-34, \
    -0x1.f29bcf1b71433p-35
#define A_NEAR \
    0x1.cae946e093292p-3, -0x1.2b9067413d434p-3, -0x1.807c90217c8b3p-4, 0x1.a7ae6d812556ap-4, \
    -0x1.023435342d764p-8, -0x1.a19e527027c35p-6, 0x1.0b2d9125affb7p-7, 0x1.26bd8c24f23bep-9, \
    -0x1.d40543b9b727ep-10, 0x1.266cb4dd277cap-13, 0x1.6681fb1bb7718p-13, -0x1.b3e08fa8ca38fp-15, \
    -0x1.336ee391673e9p-18, 0x1.5f36d8407214fp-18, -0x1.70688c8bdcf15p-21, -0x1.f22cfadb07627p-23, \
    0x1.74fa5319ffc55p-24, -0x1.ed9e6a5ba3237p-30, -0x1.348ff973670dbp-28, 0x1.cc0816aa45750p-31, \
    0x1.62a03559d76eap-34, -0x1.7e54ee967d3eep-35, 0x1.846616f7160cfp-39
#define A_SLOPE_NEAR \
    -0x1.49e1fa96a8c4fp-2, 0x1.3ef44b1ab2d96p-4, 0x1.f8cb4225142cep-3, -0x1.e5ff7fe9681f1p-4, \
    -0x1.cc0e1664abfd2p-5, 0x1.99296207a4240p-5, -0x1.a8451000817ddp-11, -0x1.2dd4029879225p-7, \
    0x1.3beadcc18679fp-9, 0x1.6ec3b9495dfafp-11, -0x1.d82db15207224p-12, 0x1.88fe6091a4ecfp-16, \
    0x1.415fd31cce893p-15, -0x1.49a0236cdb217p-17, -0x1.256b712bb7a4fp-20, 0x1.ed68b9992b045p-21, \
    -0x1.a157a97fd4dadp-24, -0x1.519516bcd2c0ep-25, 0x1.ab0f8ff0f6ac8p-27, 0x1.eaea075b4b363p-35, \
    -0x1.569c8f9a1ba10p-31, 0x1.32a9e689c2c85p-34, 0x1.d69e73a7d06fdp-37
#define A_FAR \
    0x1.f3489855a8e5fp-1, -0x1.ef4f5d5ff7a59p-6, -0x1.d7ecbc4799829p-8, -0x1.37abca6ec90e0p-9, \
    -0x1.98bb5207b11f7p-11, -0x1.26731dd39ded9p-12, -0x1.a4d827df39cbep-14, -0x1.3d1a417a166e8p-15, \
    -0x1.d829de03a1410p-17, -0x1.6e08e50f9ed3cp-18, -0x1.16de79ad05f5bp-19, -0x1.b991a0b52466fp-21, \
    -0x1.54cc7bf6107b8p-22, -0x1.126a98c0b02d0p-23, -0x1.aac2ef36f7c03p-25, -0x1.63ae4ea9f3c91p-26, \
    -0x1.0c7e887e68c84p-27, -0x1.8c806435ac71dp-29, -0x1.746ee51d54f57p-30, -0x1.0231677a19728p-30, \
    -0x1.240c38e4fe545p-33, 0x1.fee48f8744cf6p-34, -0x1.1111ce9a4dd60p-34, -0x1.4600bfcc7266bp-34
#define A_SLOPE_FAR \
    0x1.0926cdcc77c70p+0, 0x1.6dd328d4d83abp-5, 0x1.890b5dbf053d9p-7, 0x1.0f0c2d68a8bdcp-8, 0x1.79c824d329427p-10, \
    0x1.191f9510899e6p-11, 0x1.a3bf9ad69af08p-13, 0x1.4447ce971086fp-14, 0x1.f45ee7e6f79c1p-16, \
    0x1.8b717823bde8ep-17, 0x1.36f12c52845eep-18, 0x1.f35018109c562p-20, 0x1.8d1a42a78d439p-21, \
    0x1.429b7517eb51cp-22, 0x1.03a7a633d7133p-23, 0x1.ae3260c685473p-25, 0x1.48cc8743c2490p-26, \
    0x1.00de114f6ed06p-27, 0x1.16c844818f460p-28, 0x1.23f8515d04906p-29, 0x1.84761b1968a2ep-34, \
    -0x1.624eaaa27c55bp-33, 0x1.109a18cbd78cbp-32, 0x1.587d13a46be39p-33
#define B_NEAR \
    0x1.2b688117381ecp-1, -0x1.00599cab8f478p-3, -0x1.3ca450e6dda47p-3, 0x1.231056ec2d88bp-2, \
    -0x1.72ef90c838fffp-6, -0x1.76e83ad054f7bp-5, 0x1.33c68d879b1fap-5, -0x1.50027a64fac65p-11, \
    -0x1.24f4c90de4105p-8, 0x1.2830438239fd5p-9, 0x1.a8993e5fe3c79p-15, -0x1.c81a1804c9cdep-13, \
    0x1.4376e287ffdd9p-14, 0x1.0b4cd7c009236p-18, -0x1.a9437f59671d3p-18, 0x1.c586eb2a5f12dp-20, \
    0x1.12f8002883ec7p-23, -0x1.08be1f7ec4410p-23, 0x1.ba149404e8215p-26, 0x1.77e04914cf93ap-29, \
    -0x1.dbf8d0cc679d4p-30, 0x1.a5dd752b13c03p-33, 0x1.9226a3787ed64p-35
#define B_SLOPE_NEAR \
    0x1.f9561ef2d0bafp-3, -0x1.aad0de90ed07ap-3, 0x1.6e5870da33130p-4, 0x1.113261bbccf9dp-2, 0x1.77f72964c73c1p-9, \
    0x1.021945d37ba84p-7, 0x1.73b6e98fa5eb3p-5, 0x1.4c0fa3cd162c5p-7, 0x1.5cd27967df175p-10, 0x1.973c260105e00p-9, \
    0x1.0f75d8282a46dp-10, 0x1.4b32b6633a4fep-13, 0x1.0358e79f2f619p-13, 0x1.8a85b24141fa8p-15, \
    0x1.1cabee0c0ae12p-17, 0x1.cc75e67c00836p-19, 0x1.564cfe2392f37p-20, 0x1.127b48b1579a5p-22, \
    0x1.3298565af7f9bp-24, 0x1.986901407c388p-26, 0x1.598a0a5f90882p-28, 0x1.258128e0590d0p-30, \
    0x1.5301625635aeap-32, 0x1.9f3f098e3194ap-34, 0x1.58acddd179d15p-36
#define B_MIDDLE \
    0x1.282d1760ad3f5p-4, 0x1.d8138df2bb323p-8, 0x1.13d84d25cdacep-4, -0x1.3cf3ae2202800p-8, 0x1.2136638b08dc0p-5, \
    -0x1.421f7f084625cp-7, 0x1.ecaa4d88934f7p-7, -0x1.9cdad805f31c3p-8, 0x1.3fea6a62d78bdp-8, \
    -0x1.c382f91ee30d4p-10, 0x1.267e3abb9b45ep-11, 0x1.ab5971ff509b7p-13, -0x1.656336f7c6840p-12, \
    0x1.2f49b44dfa559p-12, -0x1.6128f516901ddp-13, 0x1.41727df0de7dbp-14, -0x1.a36e4e46968eap-16, \
    0x1.0a2de5e390959p-18, 0x1.d8f6492a17939p-20, -0x1.02619c5d43ad5p-19, 0x1.11408ff80ad6ep-20, \
    -0x1.8a871b2500312p-22, 0x1.75e7a9c05427dp-24, -0x1.c71f4a6b7576ep-28, -0x1.0242023632757p-27, \
    0x1.b9bde29c3f4c8p-28, -0x1.48ae859845618p-29, 0x1.2ca2ab2eeb2e4p-33, 0x1.acfcad43b161ap-34
#define B_SLOPE_MIDDLE \
    0x1.090e196e06bb4p-3, 0x1.104f2e0b3103cp-4, 0x1.caf50d26015d3p-4, 0x1.89681dfa37496p-5, 0x1.590f6eaf29b16p-5, \
    0x1.355734496ee5dp-6, 0x1.1c2ad94170d93p-7, 0x1.2d3bf3ffeef58p-8, 0x1.32fbe6e08a379p-9, \
    -0x1.92517d61c1e2ap-11, 0x1.ecb9433b3efa0p-10, -0x1.4f61e30253281p-10, 0x1.dbd56eee7178bp-11, \
    -0x1.ca182d0f42073p-12, 0x1.5a528871755e5p-13, -0x1.b2369f674709ap-16, -0x1.19b7ea8bd7751p-16, \
    0x1.494288837be8dp-16, -0x1.82ac5b8ff7d8ep-17, 0x1.40902b661a20fp-18, -0x1.664eb99b38b3fp-20, \
    0x1.042b19a835da4p-23, 0x1.f7548c28de39ep-24, -0x1.62bf8dad6daeep-24, 0x1.3a0f33808c8e8p-25, \
    -0x1.e1bfc8e22f69bp-27, 0x1.250adaf8cd8e1p-29, 0x1.7eead46b3ea3dp-30, -0x1.2c6a306363952p-31
#define B_FAR \
    0x1.00eef1e5e067ap+0, 0x1.ec113808ae537p-9, 0x1.e11195d53a085p-14, 0x1.e04b8552cd90fp-18, \
    0x1.7ea7b86bae4cbp-21, 0x1.b85af827c96b1p-24, 0x1.5ddb13dfe2849p-26, 0x1.7c0cc9654eea4p-28, \
    0x1.1f4c986a51ba5p-29, 0x1.2a8667be10754p-30, 0x1.5c5f89c4b376fp-31, 0x1.86b553b239968p-33, \
    -0x1.4c402fecff5edp-32, -0x1.d38f9543b2f2ep-32, -0x1.602bb4429081fp-34, 0x1.c747275608137p-33, \
    0x1.d0d442f452876p-34, -0x1.f278cd5754538p-35, -0x1.6f4bd9f6d55bfp-35, 0x1.03e9f7ca46647p-37, \
    0x1.d7fc7cdd1d1d9p-38
#define B_SLOPE_FAR \
    0x1.fd65ecb207036p-1, -0x1.555d337e7d7b6p-8, -0x1.19a4274fc44c4p-13, -0x1.09d48789e1541p-17, \
    -0x1.9bc804b2cef53p-21, -0x1.d1cc31584da10p-24, -0x1.6dbb59d37b157p-26, -0x1.89c4d767a53b9p-28, \
    -0x1.278892b739cefp-29, -0x1.31790ab70e712p-30, -0x1.640005c8b51c0p-31, -0x1.95a8eb52479c5p-33, \
    0x1.4d9259b0af715p-32, 0x1.dadfbfe4925b2p-32, 0x1.71e4d5ec9d09dp-34, -0x1.cb871822172d9p-33, \
    -0x1.dbed2cb96c888p-34, 0x1.f4e264b03ed9dp-35, 0x1.7647253aa76aap-35, -0x1.044bdf4f18e9fp-37, \
    -0x1.dff0cd3e9a836p-38

/* 2 a**1.5 / 3 in two parts, a > 0. */
INLINE f64 ag_airy_zeta_f64(f64 a, f64 *second)
{
    const f64 root = sqrt_F(a);
    const f64 root_low = __builtin_fma(-root, root, a) / (2.0 * root);
    f64 z = 0;
    f64 z_low = 0;
    z = ag_times_parts_f64(root, root_low, a, 0.0, &z_low);
    return ag_times_parts_f64(z, z_low, 0x1.5555555555555p-1, 0x1.5555555555555p-55, second);
}

/* Ai(-a) or Bi(-a), or their derivatives, for a >= 2.5; z + z_low = 2 a**1.5 / 3. */
INLINE f64 ag_airy_wave_f64(f64 a, f64 z, f64 z_low, i32 is_b, i32 is_slope)
{
    const f64 u = 0x1.de38e38e38e39p+4 / (z * z + 8.0) - 1.0;
    POLYNOMIAL(f64, p0, u, COSINE);
    POLYNOMIAL_AGAIN(f64, q0, u, SINE);
    POLYNOMIAL_AGAIN(f64, p1, u, SLOPE_COSINE);
    POLYNOMIAL_AGAIN(f64, q1, u, SLOPE_SINE);
    const f64 p = is_slope ? p1 : p0;
    const f64 q = (is_slope ? q1 : q0) / z;
    const f64 c = ag_cos_f64(z);
    const f64 s = ag_sin_f64(z);
    const f64 c_low = c - z_low * (s + 0.5 * z_low * c);
    const f64 s_low = s + z_low * (c - 0.5 * z_low * s);
    const f64 cosine = c_low + s_low;
    const f64 sine = s_low - c_low;
    const f64 fourth = sqrt_F(sqrt_F(a));
    const f64 size = is_slope ? 0x1.9884533d43651p-2 * fourth : 0x1.9884533d43651p-2 / fourth;
    const f64 value = is_b ? cosine * q - sine * p : cosine * p + sine * q;
    const f64 slope = is_b ? cosine * p + sine * q : sine * p - cosine * q;
    return size * (is_slope ? slope : value);
}

/* Ai(x), or its derivative. */
INLINE f64 ag_airy_a_f64(f64 x, i32 is_slope)
{
    const f64 b = x > -2.5 ? x : -2.5;
    const f64 v = ((b < 1.0 ? b : 1.0) + 0.75) / 1.75;
    POLYNOMIAL(f64, near0, v, A_NEAR);
    POLYNOMIAL_AGAIN(f64, near1, v, A_SLOPE_NEAR);
    near0 = (b - (-0x1.2b471a873adf9p+1) - (-0x1.68d7a31cc8091p-55)) * near0;
    near1 = (b - (-0x1.04cf9dbe9edbfp+0) - (-0x1.7c2bccfd382a3p-56)) * near1;
    const f64 near = is_slope ? near1 : near0;
    f64 size = fabs_F(x);
    f64 a = size > 1.0 ? size : 1.0;
    a = a < 100000000.0 ? a : 100000000.0;
    f64 z = 0;
    f64 z_low = 0;
    z = ag_airy_zeta_f64(a, &z_low);
    const f64 u = 0x1.aaaaaaaaaaaabp+1 / (z + 1.0) - 1.0;
    POLYNOMIAL(f64, far0, u, A_FAR);
    POLYNOMIAL_AGAIN(f64, far1, u, A_SLOPE_FAR);
    const f64 fourth = sqrt_F(sqrt_F(a));
    const f64 far = is_slope ? -far1 * fourth : far0 / fourth;
    const f64 is_far = x > 1.0;
    size = ag_exp_parts_f64(is_far ? -z : -0.5 * b, is_far ? -z_low : 0.0);
    const f64 right = size * (is_far ? 0x1.20dd750429b6dp-2 * far : near);
    const f64 wave = ag_airy_wave_f64(a, z, z_low, 0, is_slope);
    return x != x ? x : x < -100000000.0 ? __builtin_nan("") : x < -2.5 ? wave : right;
}

/* Bi(x), or its derivative. */
INLINE f64 ag_airy_b_f64(f64 x, i32 is_slope)
{
    const f64 b = x > -2.5 ? x : -2.5;
    const f64 v = ((b < 1.0 ? b : 1.0) + 0.75) / 1.75;
    POLYNOMIAL(f64, near0, v, B_NEAR);
    POLYNOMIAL_AGAIN(f64, near1, v, B_SLOPE_NEAR);
    near0 = (b - (-0x1.2c7878426b20dp+0) - 0x1.f985be5114b53p-54) * near0;
    near1 = (b - (-0x1.25b03313bc73ap+1) - (-0x1.204aceb9c3578p-53)) * near1;
    const f64 near = is_slope ? near1 : near0;
    const f64 w = ((b < 6.0 ? b : 6.0) - 3.5) / 2.5;
    POLYNOMIAL(f64, middle0, w, B_MIDDLE);
    POLYNOMIAL_AGAIN(f64, middle1, w, B_SLOPE_MIDDLE);
    const f64 middle = is_slope ? middle1 : middle0;
    const f64 size = fabs_F(x);
    f64 a = size > 2.5 ? size : 2.5;
    a = a < 100000000.0 ? a : 100000000.0;
    f64 z = 0;
    f64 z_low = 0;
    z = ag_airy_zeta_f64(a, &z_low);
    const f64 u = 0x1.3988e1409212ep+4 / z - 1.0;
    POLYNOMIAL(f64, far0, u, B_FAR);
    POLYNOMIAL_AGAIN(f64, far1, u, B_SLOPE_FAR);
    const f64 fourth = sqrt_F(sqrt_F(a));
    const f64 far = 0x1.6aa028d098882p+3 * (is_slope ? far1 * fourth : far0 / fourth);
    const f64 is_far = x > 6.0;
    const f64 is_near = x < 1.0;
    const f64 e = 1.75 * b;
    const f64 near_exponent = is_slope ? -0.5 * b : 0.0;
    const f64 exponent = is_far ? z - 3.0 : is_near ? near_exponent : e;
    const f64 low = is_far ? z_low : is_near ? 0.0 : __builtin_fma(1.75, b, -e);
    const f64 right = ag_exp_parts_f64(exponent, low) * (is_far ? far : is_near ? near : middle);
    const f64 wave = ag_airy_wave_f64(a, z, z_low, 1, is_slope);
    return x != x ? x : x < -100000000.0 ? __builtin_nan("") : x < -2.5 ? wave : right;
}

/* Airy's function Ai: within 8 ulp of the value for x >= -1, else of the envelope |x|**-0.25; NaN for x < -1e8. */
INLINE f64 ag_airyai_f64(f64 x)
{
    return ag_airy_a_f64(x, 0);
}

/* Airy's function Bi, as exact as `airyai`. */
INLINE f64 ag_airybi_f64(f64 x)
{
    return ag_airy_b_f64(x, 0);
}

/* The derivative of Ai: within 8 ulp of the value for x >= -1, else of the envelope |x|**0.25; NaN for x < -1e8. */
INLINE f64 ag_airyaip_f64(f64 x)
{
    return ag_airy_a_f64(x, 1);
}

/* The derivative of Bi, as exact as `airyaip`. */
INLINE f64 ag_airybip_f64(f64 x)
{
    return ag_airy_b_f64(x, 1);
}
