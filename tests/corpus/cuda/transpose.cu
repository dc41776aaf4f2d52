// Transposes of an n x m matrix of floats.

extern "C" __global__ void transpose_naive(const float *in, float *out, int n, int m) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < m && y < n) out[x * n + y] = in[y * m + x];
}

template <int PITCH> __device__ void transpose(const float *in, float *out, int n, int m) {
    __shared__ float tile[32][PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < m && y + i < n) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * m + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < n && y + i < m) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void transpose_32(const float *in, float *out, int n, int m) { transpose<32>(in, out, n, m); }
extern "C" __global__ void transpose_33(const float *in, float *out, int n, int m) { transpose<33>(in, out, n, m); }
