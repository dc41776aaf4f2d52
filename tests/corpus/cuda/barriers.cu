// Barriers other than __syncthreads.

// Two halves of the block meet at named barriers of 64 threads, then all at barrier 0.
extern "C" __global__ void barriers_named(const int *in, int *out) {
    __shared__ int tile[128];
    int t = threadIdx.x, half = t / 64, i = t % 64;
    tile[t] = in[t];
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    int x = tile[half * 64 + 63 - i];
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    tile[t] = x * (half + 1);
    __syncthreads();
    out[t] = tile[127 - t];
}

// Producers arrive and go on, consumers wait.
extern "C" __global__ void barriers_arrive(const int *in, int *out) {
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 32) {
        tile[t] = in[t] * 3;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t - 32] = tile[63 - t];
    }
}

// Barriers that also count and vote.
extern "C" __global__ void barriers_reduce(const int *in, int *out) {
    int t = threadIdx.x, x = in[t];
    int odd = __syncthreads_count(x & 1);
    int all = __syncthreads_and(x >= 0);
    int any = __syncthreads_or(x == 5);
    out[t] = odd * 4 + (all != 0) * 2 + (any != 0);
}

// Threads that have left do not hold up a barrier of those that remain.
extern "C" __global__ void barriers_exited(int *out) {
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t >= 32) return;
    tile[t] = t * t;
    __syncwarp();
    out[t] = tile[31 - t];
}
