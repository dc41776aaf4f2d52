// Floating-point arithmetic. Results come with the operation's own rounding where IEEE defines it.

extern "C" __global__ void floats_ieee(const float *a, const float *b, float *out) {
    int t = threadIdx.x;
    float x = a[t], y = b[t], *o = out + 20 * t;
    o[0] = x / y;
    o[1] = sqrtf(fabsf(x));
    o[2] = __fmaf_rn(x, y, 1.0f);
    o[3] = __fadd_rz(x, y);
    o[4] = __fmul_ru(x, y);
    o[5] = __fadd_rd(x, -y);
    o[6] = 1.0f / x;
    o[7] = fminf(x, y);
    o[8] = fmaxf(x, y);
    o[9] = floorf(x);
    o[10] = ceilf(x);
    o[11] = truncf(x);
    o[12] = rintf(x);
    o[13] = (float)(int)x;
    o[14] = (float)(unsigned)fabsf(y);
    o[15] = copysignf(x, y);
    o[16] = (float)(x < y) + 2.0f * (x != y) + 4.0f * isnan(x);
    o[17] = __int_as_float(__float_as_int(x) ^ 1);
    o[18] = fmodf(x, 3.0f);
    o[19] = __saturatef(x);
}

// What libdevice computes: compared within a few units in the last place.
extern "C" __global__ void floats_library(const float *a, float *out) {
    int t = threadIdx.x;
    float x = a[t], *o = out + 12 * t;
    o[0] = sinf(x);
    o[1] = cosf(x * 1000.0f);
    o[2] = expf(x);
    o[3] = logf(fabsf(x) + 0.5f);
    o[4] = powf(fabsf(x), 1.7f);
    o[5] = tanhf(x);
    o[6] = rsqrtf(fabsf(x) + 0.25f);
    o[7] = cbrtf(x);
    o[8] = atan2f(x, 0.7f);
    o[9] = erff(x);
    o[10] = exp2f(x);
    o[11] = log1pf(fabsf(x));
}

// The fast ones: compared within what the manual states.
extern "C" __global__ void floats_fast(const float *a, float *out) {
    int t = threadIdx.x;
    float x = a[t], *o = out + 7 * t;
    o[0] = __sinf(x);
    o[1] = __cosf(x);
    o[2] = __expf(x);
    o[3] = __logf(fabsf(x) + 0.5f);
    o[4] = __fdividef(x, 3.0f);
    o[5] = __frsqrt_rn(fabsf(x) + 0.25f);
    o[6] = __powf(fabsf(x) + 0.1f, 1.5f);
}

extern "C" __global__ void doubles(const double *a, const double *b, double *out) {
    int t = threadIdx.x;
    double x = a[t], y = b[t], *o = out + 16 * t;
    o[0] = x / y;
    o[1] = sqrt(fabs(x));
    o[2] = fma(x, y, -1.0);
    o[3] = __dadd_ru(x, y);
    o[4] = __dmul_rd(x, y);
    o[5] = 1.0 / x;
    o[6] = floor(x) + rint(y);
    o[7] = fmin(x, y) - fmax(x, 1.0);
    o[8] = (double)(long long)(x * 1e6);
    o[9] = (double)(float)x;
    o[10] = sin(x);
    o[11] = cos(y * 100.0);
    o[12] = exp(x);
    o[13] = log(fabs(y) + 0.5);
    o[14] = pow(fabs(x), 1.3);
    o[15] = rsqrt(fabs(x) + 0.25);
}
