// Convolutions of an image of floats, clamped at the edges.

__constant__ float weights[7] = {0.03125f, 0.109375f, 0.21875f, 0.28125f, 0.21875f, 0.109375f, 0.03125f};

// Along the rows: a tile with a halo of three columns on either side.
extern "C" __global__ void convolve_rows(const float *in, float *out, int width, int height) {
    __shared__ float tile[4][64 + 6];
    int x0 = blockIdx.x * 64, y = blockIdx.y * 4 + threadIdx.y;
    int row = min(y, height - 1) * width;
    for (int i = threadIdx.x; i < 64 + 6; i += 64) tile[threadIdx.y][i] = in[row + min(max(x0 + i - 3, 0), width - 1)];
    __syncthreads();
    int x = x0 + threadIdx.x;
    if (x < width && y < height) {
        float sum = 0.0f;
        for (int i = 0; i < 7; i++) sum += weights[i] * tile[threadIdx.y][threadIdx.x + i];
        out[y * width + x] = sum;
    }
}

// Along the columns.
extern "C" __global__ void convolve_columns(const float *in, float *out, int width, int height) {
    __shared__ float tile[16 + 6][32];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 16;
    for (int i = threadIdx.y; i < 16 + 6; i += 16)
        tile[i][threadIdx.x] = in[min(max(y0 + i - 3, 0), height - 1) * width + min(x, width - 1)];
    __syncthreads();
    int y = y0 + threadIdx.y;
    if (x < width && y < height) {
        float sum = 0.0f;
        for (int i = 0; i < 7; i++) sum += weights[i] * tile[threadIdx.y + i][threadIdx.x];
        out[y * width + x] = sum;
    }
}

// Two arrays carved from one dynamic block: the 3x3 neighbourhood's largest and smallest value.
extern "C" __global__ void convolve_range(const float *in, float *out, int width, int height) {
    extern __shared__ float both[];
    float *most = both, *least = both + 16 * 18;
    int x = threadIdx.x, y = threadIdx.y, gx = blockIdx.x * 16 + x, gy0 = blockIdx.y * 16;
    for (int row = y; row < 18; row += 16) {
        int gy = min(max(gy0 + row - 1, 0), height - 1);
        float a = in[gy * width + min(max(gx - 1, 0), width - 1)];
        float b = in[gy * width + min(gx, width - 1)];
        float c = in[gy * width + min(gx + 1, width - 1)];
        most[row * 16 + x] = fmaxf(a, fmaxf(b, c));
        least[row * 16 + x] = fminf(a, fminf(b, c));
    }
    __syncthreads();
    int gy = gy0 + y;
    if (gx < width && gy < height) {
        float high = fmaxf(most[y * 16 + x], fmaxf(most[(y + 1) * 16 + x], most[(y + 2) * 16 + x]));
        float low = fminf(least[y * 16 + x], fminf(least[(y + 1) * 16 + x], least[(y + 2) * 16 + x]));
        out[gy * width + gx] = high - low;
    }
}
