// Calls that are not inlined: direct, recursive, through pointers and tables, virtual; structures by value.

__device__ __noinline__ float twice(float x) { return x * 2.0f; }
__device__ __noinline__ float more(float x) { return x + 10.0f; }
__device__ __noinline__ float square(float x) { return x * x; }

typedef float (*Function)(float);
__device__ Function functions[3] = {twice, more, square};

extern "C" __global__ void calls_table(const int *which, float *data) {
    int t = threadIdx.x;
    data[t] = functions[which[t] % 3](data[t]);
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual float scaled(float s) const { return s * area(); }
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Box : Shape {
    float a, b;
    __device__ Box(float x, float y) : a(x), b(y) {}
    __device__ float area() const override { return a * b; }
    __device__ float scaled(float s) const override { return s * s * a * b; }
};

extern "C" __global__ void calls_virtual(float *out) {
    int t = threadIdx.x;
    Square s((float)t);
    Box b((float)t, 3.0f);
    const Shape *shape = t % 2 ? (const Shape *)&s : (const Shape *)&b;
    out[t] = shape->scaled(2.0f);
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void calls_recursive(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

struct Particle {
    double position[3];
    float mass;
    short charge;
    unsigned char kind;
};

__device__ __noinline__ Particle moved(Particle p, double by) {
    for (int i = 0; i < 3; i++) p.position[i] += by * (i + 1);
    p.charge = -p.charge;
    p.kind += 1;
    return p;
}

extern "C" __global__ void calls_structures(Particle start, Particle *out) {
    Particle p = moved(start, threadIdx.x * 0.5);
    p.mass *= threadIdx.x;
    out[threadIdx.x] = p;
}
