// Sums of n floats, one partial sum per block: the textbook's ways.

// Tree in shared memory, the lower half of the block adds the upper.
extern "C" __global__ void reduce_tree(const float *in, float *out, unsigned n) {
    extern __shared__ float sums[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// Interleaved addressing: the same sums with bank conflicts.
extern "C" __global__ void reduce_interleaved(const float *in, float *out, unsigned n) {
    __shared__ float sums[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned step = 1; step < 256; step *= 2) {
        unsigned at = 2 * step * t;
        if (at < 256) sums[at] += sums[at + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// The last warp without block barriers, but with __syncwarp between the steps.
extern "C" __global__ void reduce_last_warp(const float *in, float *out, unsigned n) {
    __shared__ float sums[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned half = 128; half >= 32; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t < 32) {
        for (unsigned half = 16; half > 0; half /= 2) {
            float x = sums[t + half];
            __syncwarp();
            sums[t] += x;
            __syncwarp();
        }
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// Shuffles within the warps, shared memory between them, a loop over the grid before, and float4 loads.
extern "C" __global__ void reduce_shuffle(const float4 *in, float *out, unsigned quads) {
    __shared__ float warps[32];
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

// One launch for the whole sum: the block that finishes last adds the partial sums up.
__device__ unsigned finished = 0;

extern "C" __global__ void reduce_last_block(const int *in, int *partial, int *out, unsigned n) {
    __shared__ int sums[128];
    __shared__ bool last;
    unsigned t = threadIdx.x;
    int sum = 0;
    for (unsigned i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) sum += in[i];
    sums[t] = sum;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++) total += ((volatile int *)partial)[b];
        *out = total;
    }
}
