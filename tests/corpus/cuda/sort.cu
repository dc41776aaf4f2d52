// Sorting.

// Bitonic sort of 512 keys in shared memory.
extern "C" __global__ void sort_bitonic(int *keys) {
    __shared__ int tile[512];
    int t = threadIdx.x;
    int *mine = keys + blockIdx.x * 512;
    tile[t] = mine[t];
    tile[t + 256] = mine[t + 256];
    for (int size = 2; size <= 512; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            int a = tile[low], b = tile[high];
            if ((a > b) == up) {
                tile[low] = b;
                tile[high] = a;
            }
        }
    }
    __syncthreads();
    mine[t] = tile[t];
    mine[t + 256] = tile[t + 256];
}

// Bitonic sort of a warp's 32 keys with shuffles.
extern "C" __global__ void sort_warp(unsigned *keys) {
    unsigned t = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x, x = keys[i];
    for (unsigned size = 2; size <= 32; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            unsigned y = __shfl_xor_sync(0xffffffffu, x, stride);
            bool keep_small = ((t & stride) == 0) == ((t & size) == 0);
            x = keep_small ? min(x, y) : max(x, y);
        }
    }
    keys[i] = x;
}

// One radix pass a bit: 256 keys, the zeros before the ones, by a ballot and a scan of the warps' counts.
extern "C" __global__ void sort_radix(unsigned *keys) {
    __shared__ unsigned tile[256], zeros[8];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    tile[t] = keys[t];
    __syncthreads();
    for (int bit = 0; bit < 16; bit++) {
        unsigned x = tile[t], one = x >> bit & 1;
        unsigned ballot = __ballot_sync(0xffffffffu, !one);
        if (lane == 0) zeros[warp] = __popc(ballot);
        __syncthreads();
        unsigned before = 0, total = 0;
        for (unsigned w = 0; w < 8; w++) {
            if (w < warp) before += zeros[w];
            total += zeros[w];
        }
        unsigned zeros_before = before + __popc(ballot & ((1u << lane) - 1));
        tile[one ? total + t - zeros_before : zeros_before] = x;
        __syncthreads();
    }
    keys[t] = tile[t];
}
