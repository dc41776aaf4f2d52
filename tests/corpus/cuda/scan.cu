// Prefix sums of one block's elements.

// Hillis and Steele: log n steps over two buffers, inclusive.
extern "C" __global__ void scan_hillis_steele(const int *in, int *out) {
    __shared__ int buffer[2][256];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int x = buffer[from][t];
        if (t >= d) x += buffer[from][t - d];
        from ^= 1;
        buffer[from][t] = x;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = buffer[from][t];
}

// Blelloch: up and down a tree in place, exclusive, with one word of padding for every 32.
#define PADDED(i) ((i) + ((i) >> 5))

extern "C" __global__ void scan_blelloch(const int *in, int *out) {
    __shared__ int tree[PADDED(512)];
    int t = threadIdx.x, base = blockIdx.x * 512;
    tree[PADDED(t)] = in[base + t];
    tree[PADDED(t + 256)] = in[base + t + 256];
    int offset = 1;
    for (int d = 256; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            tree[PADDED(b)] += tree[PADDED(a)];
        }
    }
    if (t == 0) tree[PADDED(511)] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int x = tree[PADDED(a)];
            tree[PADDED(a)] = tree[PADDED(b)];
            tree[PADDED(b)] += x;
        }
    }
    __syncthreads();
    out[base + t] = tree[PADDED(t)];
    out[base + t + 256] = tree[PADDED(t + 256)];
}

// Shuffles within the warps, and the warps' sums scanned by the first warp; inclusive.
extern "C" __global__ void scan_warps(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[32];
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
        unsigned y = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) sums[warp] = x;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            unsigned y = __shfl_up_sync(0xffffffffu, s, d);
            if (lane >= d) s += y;
        }
        sums[lane] = s;
    }
    __syncthreads();
    if (warp > 0) x += sums[warp - 1];
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
