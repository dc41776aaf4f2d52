// Whole small programs.
#include <cfloat>

// Softmax of each row, one warp a row.
extern "C" __global__ void kernels_softmax(const float *in, float *out, int columns) {
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const float *x = in + row * columns;
    float most = -FLT_MAX;
    for (int i = lane; i < columns; i += 32) most = fmaxf(most, x[i]);
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += expf(x[i] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    for (int i = lane; i < columns; i += 32) out[row * columns + i] = expf(x[i] - most) / sum;
}

// Sparse matrix (CSR) times vector, eight lanes a row.
extern "C" __global__ void kernels_spmv(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0.0f;
    if (row < rows)
        for (int i = starts[row] + lane; i < starts[row + 1]; i += 8) sum += values[i] * x[columns[i]];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, 8);
    if (row < rows && lane == 0) y[row] = sum;
}

// Conway's life on a torus, three-dimensional blocks and grids for several boards at once.
extern "C" __global__ void kernels_life(const unsigned char *in, unsigned char *out, int size) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= size || y >= size) return;
    const unsigned char *board = in + z * size * size;
    int neighbours = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) neighbours += board[(y + dy + size) % size * size + (x + dx + size) % size];
    out[z * size * size + y * size + x] = neighbours == 3 || (neighbours == 2 && board[y * size + x]);
}

// All pairs with tiles of bodies in shared memory.
extern "C" __global__ void kernels_nbody(const float4 *bodies, float4 *forces, int n) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int start = 0; start < n; start += 64) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 64; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float f = tile[j].w * inverse * inverse * inverse;
            fx += f * dx;
            fy += f * dy;
            fz += f * dz;
        }
        __syncthreads();
    }
    forces[i] = make_float4(fx, fy, fz, 0.0f);
}

// Escape times of the Mandelbrot set.
extern "C" __global__ void kernels_mandelbrot(unsigned short *out, int width, int height, float scale) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = __fadd_rn(__fmul_rn(px - width / 2, scale), -0.5f), cy = (py - height / 2) * scale, x = 0.0f, y = 0.0f;
    int steps = 0;
    while (__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 4.0f && steps < 200) {
        float next = __fadd_rn(__fadd_rn(__fmul_rn(x, x), -__fmul_rn(y, y)), cx);
        y = __fadd_rn(__fmul_rn(2.0f * x, y), cy);
        x = next;
        steps++;
    }
    out[py * width + px] = steps;
}
