// C = A B for row-major matrices: n x k and k x m floats.

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int n, int m, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= m) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * m + column];
    c[row * m + column] = sum;
}

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n, int m, int k) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int tile = 0; tile < k; tile += 16) {
        ta[y][x] = row < n && tile + x < k ? a[row * k + tile + x] : 0.0f;
        tb[y][x] = tile + y < k && column < m ? b[(tile + y) * m + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    if (row < n && column < m) c[row * m + column] = sum;
}

// 64x64 of C per block, 4x4 per thread, A transposed in a padded tile, float4 loads of B. Sizes are multiples of 64 and 16.
extern "C" __global__ void matmul_registers(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                            int m, int k) {
    __shared__ float ta[16][64 + 4];
    __shared__ __align__(16) float tb[16][64];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    float acc[4][4] = {};
    for (int tile = 0; tile < k; tile += 16) {
        for (int i = t; i < 64 * 16; i += 256) ta[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * k + tile + i % 16];
        *(float4 *)&tb[y][4 * x] = *(const float4 *)&b[(tile + y) * m + blockIdx.x * 64 + 4 * x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 q = *(float4 *)&tb[i][4 * x];
            float p[4];
            for (int r = 0; r < 4; r++) p[r] = ta[i][4 * y + r];
            for (int r = 0; r < 4; r++) {
                acc[r][0] += p[r] * q.x;
                acc[r][1] += p[r] * q.y;
                acc[r][2] += p[r] * q.z;
                acc[r][3] += p[r] * q.w;
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        *(float4 *)&c[(blockIdx.y * 64 + 4 * y + r) * m + blockIdx.x * 64 + 4 * x] =
            make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
}
