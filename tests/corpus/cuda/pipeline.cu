// Copies that go on while the block computes: cp.async (sm_80), mbarrier.
#include <cuda/barrier>
#include <cuda_pipeline.h>

// A 1D stencil over tiles, the next tile loaded while this one is summed. n is a multiple of 128.
extern "C" __global__ void pipeline_double_buffer(const float4 *in, float *out, int tiles) {
    __shared__ __align__(16) float4 buffer[2][32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], 16);
    __pipeline_commit();
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) {
            __pipeline_memcpy_async(&buffer[(tile + 1) & 1][t], &in[(tile + 1) * 32 + t], 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        float4 a = buffer[tile & 1][t], b = buffer[tile & 1][31 - t];
        out[tile * 32 + t] = a.x + a.y + a.z + a.w - b.x;
        __syncthreads();
    }
}

// cp.async of 4 bytes with a partial source: the rest of the word is zero.
extern "C" __global__ void pipeline_zero_fill(const int *in, int *out, int n) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], t < n ? &in[t] : in, 4, t < n ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - t];
}

// Every thread arrives, and waits for the phase: cuda::barrier of block scope.
extern "C" __global__ void pipeline_barrier(int *data, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[128];
    int t = threadIdx.x;
    if (t == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int x = data[t];
    for (int round = 0; round < rounds; round++) {
        tile[t] = x;
        barrier.arrive_and_wait();
        x += tile[(t + 1) % 128];
        barrier.arrive_and_wait();
    }
    data[t] = x;
}

// Producer and consumer warps with a split arrive and wait.
extern "C" __global__ void pipeline_producer(const int *in, int *out, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    __shared__ int slot[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int round = 0; round < rounds; round++) {
            slot[lane] = in[round * 32 + lane];
            (void)full.arrive();
            empty.arrive_and_wait();
        }
    } else {
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            full.arrive_and_wait();
            sum += slot[31 - lane];
            (void)empty.arrive();
        }
        out[lane] = sum;
    }
}
