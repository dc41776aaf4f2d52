// Reverses a block's elements through shared memory; `reverse_racy` forgets the barrier.
extern "C" __global__ void reverse(float *data, unsigned n) {
    extern __shared__ float tile[];
    unsigned t = threadIdx.x;
    if (t < n) tile[t] = data[t];
    __syncthreads();
    if (t < n) data[t] = tile[n - 1 - t];
}

extern "C" __global__ void reverse_racy(float *data, unsigned n) {
    extern __shared__ float tile[];
    unsigned t = threadIdx.x;
    if (t < n) tile[t] = data[t];
    if (t < n) data[t] = tile[n - 1 - t];
}

// Sums a structure, a byte, a half and a double, so that every kind of argument is passed.
struct Pair {
    int a;
    short b;
};
extern "C" __global__ void arguments(double *out, Pair pair, signed char c, unsigned short h, double d, long long l) {
    out[0] = pair.a + pair.b + c + h + d + (double)l;
}

// Two arrays in one dynamic block; the first is written one element too far.
extern "C" __global__ void spill(float *out) {
    extern __shared__ float both[];
    both[threadIdx.x + 1] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = both[threadIdx.x + 1];
}

// Goes on for ever, and does something each time round.
extern "C" __global__ void endless(volatile int *flag) {
    while (*flag == 0) flag[1] = flag[1] + 1;
}

// Waits for what nobody does.
extern "C" __global__ void waiting(volatile int *flag) {
    while (*flag == 0) {
    }
}

extern "C" __global__ void fill_u16(unsigned short *data) { data[threadIdx.x] += 1; }
