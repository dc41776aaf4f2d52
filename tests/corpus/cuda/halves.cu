// 16-bit floating point: f16, bf16, and two of them at once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves_f16(const half *a, const half *b, half *out) {
    int t = threadIdx.x;
    half x = a[t], y = b[t], *o = out + 14 * t;
    o[0] = __hadd(x, y);
    o[1] = __hsub(x, y);
    o[2] = __hmul(x, y);
    o[3] = __hfma(x, y, x);
    o[4] = __hdiv(x, y);
    o[5] = __hmin(x, y);
    o[6] = __hmax(x, y);
    o[7] = __hneg(x);
    o[8] = hsqrt(__habs(x));
    o[9] = hfloor(x);
    o[10] = __float2half(__half2float(x) * 1.5f);
    o[11] = __int2half_rn(__half2int_rz(__hmul(x, __float2half(10.0f))));
    o[12] = __hlt(x, y) ? x : y;
    o[13] = __hadd_sat(x, y);
}

extern "C" __global__ void halves_pairs(const half2 *a, const half2 *b, half2 *out) {
    int t = threadIdx.x;
    half2 x = a[t], y = b[t], *o = out + 8 * t;
    o[0] = __hadd2(x, y);
    o[1] = __hfma2(x, y, x);
    o[2] = __hmin2(x, y);
    o[3] = __hgt2(x, y);
    o[4] = __lowhigh2highlow(x);
    o[5] = __halves2half2(__low2half(x), __high2half(y));
    o[6] = __floats2half2_rn(__low2float(x) + 1.0f, __high2float(y) - 1.0f);
    o[7] = __hneg2(__habs2(x));
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
extern "C" __global__ void halves_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *out) {
    int t = threadIdx.x;
    __nv_bfloat16 x = a[t], y = b[t], *o = out + 9 * t;
    o[0] = __hadd(x, y);
    o[1] = __hsub(x, y);
    o[2] = __hmul(x, y);
    o[3] = __hfma(x, y, x);
    o[4] = __hmin(x, y);
    o[5] = __hmax(x, y);
    o[6] = __float2bfloat16(__bfloat162float(x) / 3.0f);
    o[7] = __hneg(__habs(y));
    o[8] = __hge(x, y) ? x : y;
}
#endif
