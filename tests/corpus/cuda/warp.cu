// What lanes of a warp tell each other.

extern "C" __global__ void warp_shuffles(const int *in, int *out) {
    unsigned all = 0xffffffffu, t = threadIdx.x;
    int x = in[t];
    out[t] = __shfl_sync(all, x, (t * 7) & 31);
    out[t + 32] = __shfl_up_sync(all, x, 3);
    out[t + 64] = __shfl_down_sync(all, x, 5, 16);
    out[t + 96] = __shfl_xor_sync(all, x, 9);
    out[t + 128] = __shfl_sync(all, x, 2, 8);
    long long wide = (long long)x << 32 | t;
    wide = __shfl_xor_sync(all, wide, 1);
    out[t + 160] = (int)(wide >> 32);
    out[t + 192] = (int)wide;
}

extern "C" __global__ void warp_votes(const int *in, unsigned *out) {
    unsigned all = 0xffffffffu, t = threadIdx.x;
    int x = in[t];
    out[t] = __ballot_sync(all, x & 1);
    out[t + 32] = __all_sync(all, x >= 0) | __any_sync(all, x == 17) << 1 | __any_sync(all, x < 0) << 2;
    out[t + 64] = __match_any_sync(all, x % 5);
    int same;
    unsigned equal = __match_all_sync(all, x / 1000, &same);
    out[t + 96] = same ? equal : 7u;
    out[t + 128] = __activemask();
    // Diverged: each half asks its own lanes.
    if (t < 12)
        out[t + 160] = __ballot_sync(0x00000fffu, x & 2);
    else
        out[t + 160] = __ballot_sync(0xfffff000u, x & 4);
    unsigned before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
    out[t + 192] = __popc(out[t] & before);
}

// Lanes in nested branches, loops of different lengths, and a break.
extern "C" __global__ void warp_divergence(const int *in, int *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, x = in[t], steps = 0;
    while (x != 1) {
        if (x & 1) {
            if (x % 3 == 0) x = x / 3 * 2 + 1;
            else x = 3 * x + 1;
        } else {
            x /= 2;
        }
        if (++steps == 100) break;
    }
    out[t] = steps;
}

// One sum for each group of eight lanes with the instruction of sm_80.
extern "C" __global__ void warp_redux(const int *in, int *out) {
    int t = threadIdx.x, x = in[t];
#if __CUDA_ARCH__ >= 800
    unsigned group = 0xffu << (t & 24);
    out[t] = __reduce_add_sync(group, x);
    out[t + 32] = __reduce_max_sync(group, x);
    out[t + 64] = __reduce_min_sync(0xffffffffu, x);
    out[t + 96] = (int)__reduce_xor_sync(0xffffffffu, (unsigned)x);
#else
    out[t] = out[t + 32] = out[t + 64] = out[t + 96] = x;
#endif
}
