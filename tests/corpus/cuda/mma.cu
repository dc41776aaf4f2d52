// Tensor cores as the assembler has them: ldmatrix from a swizzled tile, mma.sync, and the fragments written by hand.
#include <cuda_fp16.h>

__device__ static unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// C (16x8, f32) = A (16x16, row-major) B (16x8, given as its transpose, 8x16).
extern "C" __global__ void mma_ldmatrix(const half *a, const half *bt, float *c) {
    __shared__ __align__(16) half ta[16 * 16], tb[8 * 16];
    int t = threadIdx.x;
    // 16-byte chunks, the two of a row exchanged in every second pair of rows, so that ldmatrix meets no conflicts.
    for (int i = t; i < 32; i += 32) {
        int row = i / 2, chunk = (i % 2) ^ (row / 4 & 1);
        *(uint4 *)&ta[row * 16 + chunk * 8] = *(const uint4 *)&a[row * 16 + (i % 2) * 8];
    }
    if (t < 16) *(uint4 *)&tb[t * 8] = *(const uint4 *)&bt[t * 8];
    __syncwarp();
    unsigned a0, a1, a2, a3, b0, b1;
    int row = t % 16, chunk = (t / 16) ^ (row / 4 & 1);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                 : "r"(shared_address(&ta[row * 16 + chunk * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b0), "=r"(b1)
                 : "r"(shared_address(&tb[(t % 8) * 16 + (t / 8 % 2) * 8])));
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a2), "r"(a3), "r"(b1));
#endif
    int group = t / 4, pair = t % 4 * 2;
    c[group * 8 + pair] = d0;
    c[group * 8 + pair + 1] = d1;
    c[(group + 8) * 8 + pair] = d2;
    c[(group + 8) * 8 + pair + 1] = d3;
}

// The transposing load: B comes row-major and ldmatrix.trans turns it.
extern "C" __global__ void mma_trans(const half *a, const half *b, float *c) {
    __shared__ __align__(16) half ta[16 * 24], tb[16 * 8];
    int t = threadIdx.x;
    *(uint4 *)&ta[(t / 2) * 24 + (t % 2) * 8] = *(const uint4 *)&a[t * 8];
    if (t < 16) *(uint4 *)&tb[t * 8] = *(const uint4 *)&b[t * 8];
    __syncwarp();
    unsigned a0, a1, a2, a3, b0, b1;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                 : "r"(shared_address(&ta[(t % 16) * 24 + (t / 16) * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b0), "=r"(b1)
                 : "r"(shared_address(&tb[(t % 16) * 8])));
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a2), "r"(a3), "r"(b1));
#endif
    int group = t / 4, pair = t % 4 * 2;
    *(float2 *)&c[group * 8 + pair] = make_float2(d0, d1);
    *(float2 *)&c[(group + 8) * 8 + pair] = make_float2(d2, d3);
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
// C (16x8, s32) = A (16x32, s8, row-major) B (32x8, given as its transpose).
extern "C" __global__ void mma_s8(const int *a, const int *bt, int *c) {
    int t = threadIdx.x, group = t / 4, in_group = t % 4;
    int a0 = a[group * 8 + in_group], a1 = a[(group + 8) * 8 + in_group];
    int a2 = a[group * 8 + in_group + 4], a3 = a[(group + 8) * 8 + in_group + 4];
    int b0 = bt[group * 8 + in_group], b1 = bt[group * 8 + in_group + 4];
    int d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    c[group * 8 + 2 * in_group] = d0;
    c[group * 8 + 2 * in_group + 1] = d1;
    c[(group + 8) * 8 + 2 * in_group] = d2;
    c[(group + 8) * 8 + 2 * in_group + 1] = d3;
}
#endif
