// Counts of byte values.

// One histogram a block, shared atomics, then global atomics.
extern "C" __global__ void histogram_block(const unsigned char *data, unsigned *bins, unsigned n) {
    __shared__ unsigned counts[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[data[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        if (counts[i]) atomicAdd(&bins[i], counts[i]);
}

// One histogram a warp, four bytes a load; 64 bins.
extern "C" __global__ void histogram_warps(const uchar4 *data, unsigned *bins, unsigned quads) {
    __shared__ unsigned counts[4][64];
    unsigned warp = threadIdx.x / 32;
    for (unsigned i = threadIdx.x % 32; i < 64; i += 32) counts[warp][i] = 0;
    __syncwarp();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        uchar4 v = data[i];
        atomicAdd(&counts[warp][v.x >> 2], 1u);
        atomicAdd(&counts[warp][v.y >> 2], 1u);
        atomicAdd(&counts[warp][v.z >> 2], 1u);
        atomicAdd(&counts[warp][v.w >> 2], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        unsigned sum = 0;
        for (int w = 0; w < 4; w++) sum += counts[w][threadIdx.x];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}

// Lanes with the same key elect one of them to add for all (match.any).
extern "C" __global__ void histogram_aggregated(const unsigned *keys, unsigned *bins, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    unsigned key = keys[i] % 16;
    unsigned peers = __match_any_sync(active, key);
    if (__ffs(peers) - 1 == (threadIdx.x & 31)) atomicAdd(&bins[key], __popc(peers));
}
