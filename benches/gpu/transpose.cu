// The transposes of kernels-gpu once more, in CUDA C++: same names, parameters, blocks, guards and order of work, so that
// the example times both compilers' code launch by launch:
//
//   nvcc -O3 -ptx -arch=compute_90 benches/gpu/transpose.cu -o transpose.ptx
//   cargo run --release --example transpose -- --rows 16384 --cols 16384 --against transpose.ptx
#include <cstddef>

constexpr unsigned TILE = 32, STEP = 8;

struct RowMajor32 {
  static constexpr unsigned len = TILE * TILE;
  static __device__ unsigned offset(unsigned row, unsigned col) { return row * TILE + col; }
};
struct RowMajor33 {
  static constexpr unsigned len = TILE * (TILE + 1);
  static __device__ unsigned offset(unsigned row, unsigned col) { return row * (TILE + 1) + col; }
};
struct Xor32 {
  static constexpr unsigned len = TILE * TILE;
  static __device__ unsigned offset(unsigned row, unsigned col) { return row * TILE + (col ^ (row % TILE)); }
};

template <class Body> __device__ __forceinline__ void for_each_tile(unsigned rows, Body body) {
  unsigned tiles = rows / TILE + (rows % TILE != 0);
  for (unsigned tile = blockIdx.y;;) {
    body(tile * TILE, blockIdx.x * TILE);
    tile += gridDim.y;
    if (tile >= tiles) break;
    __syncthreads();
  }
}

// Reads what a thread moves of a tile before any of it is used.
template <class T>
__device__ __forceinline__ void read_column(T (&moved)[TILE / STEP], const T *x, unsigned rows, unsigned cols, unsigned row,
                                            unsigned col) {
#pragma unroll
  for (unsigned j = 0; j < TILE / STEP; j++) {
    unsigned r = row + j * STEP;
    moved[j] = r < rows && col < cols ? x[(size_t)r * cols + col] : T(0);
  }
}

template <class T> __device__ __forceinline__ void copy(const T *x, T *y, unsigned rows, unsigned cols) {
  for_each_tile(rows, [=](unsigned row, unsigned col) {
    T moved[TILE / STEP];
    read_column(moved, x, rows, cols, row + threadIdx.y, col + threadIdx.x);
#pragma unroll
    for (unsigned j = 0; j < TILE / STEP; j++) {
      unsigned r = row + threadIdx.y + j * STEP, c = col + threadIdx.x;
      if (r < rows && c < cols) y[(size_t)r * cols + c] = moved[j];
    }
  });
}

template <class T> __device__ __forceinline__ void naive(const T *x, T *y, unsigned rows, unsigned cols) {
  for_each_tile(rows, [=](unsigned row, unsigned col) {
    T moved[TILE / STEP];
    read_column(moved, x, rows, cols, row + threadIdx.y, col + threadIdx.x);
#pragma unroll
    for (unsigned j = 0; j < TILE / STEP; j++) {
      unsigned r = col + threadIdx.x, c = row + threadIdx.y + j * STEP;
      if (r < cols && c < rows) y[(size_t)r * rows + c] = moved[j];
    }
  });
}

template <class L, class T> __device__ __forceinline__ void through(T *tile, const T *x, T *y, unsigned rows, unsigned cols) {
  for_each_tile(rows, [=](unsigned row, unsigned col) {
    T moved[TILE / STEP];
    read_column(moved, x, rows, cols, row + threadIdx.y, col + threadIdx.x);
#pragma unroll
    for (unsigned j = 0; j < TILE / STEP; j++) tile[L::offset(threadIdx.y + j * STEP, threadIdx.x)] = moved[j];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < TILE; j += STEP) {
      unsigned r = col + threadIdx.y + j, c = row + threadIdx.x;
      if (r < cols && c < rows) y[(size_t)r * rows + c] = tile[L::offset(threadIdx.x, threadIdx.y + j)];
    }
  });
}

#define KERNEL(name, suffix, T)                                                                     \
  extern "C" __global__ void __launch_bounds__(256)                                                 \
      transpose_##name##_##suffix(const T *__restrict__ x, T *__restrict__ y, unsigned rows, unsigned cols)
#define KERNELS(suffix, T)                                                                          \
  KERNEL(copy, suffix, T) { copy(x, y, rows, cols); }                                               \
  KERNEL(naive, suffix, T) { naive(x, y, rows, cols); }                                             \
  KERNEL(tiled, suffix, T) { __shared__ T tile[RowMajor32::len]; through<RowMajor32>(tile, x, y, rows, cols); }   \
  KERNEL(padded, suffix, T) { __shared__ T tile[RowMajor33::len]; through<RowMajor33>(tile, x, y, rows, cols); }  \
  KERNEL(swizzled, suffix, T) { __shared__ T tile[Xor32::len]; through<Xor32>(tile, x, y, rows, cols); }

KERNELS(f32, float)
KERNELS(f64, double)
KERNELS(u16, unsigned short)
KERNELS(u8, unsigned char)
