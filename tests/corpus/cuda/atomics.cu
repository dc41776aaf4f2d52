// Atomics on global memory.

extern "C" __global__ void atomics_all(unsigned *u, int *s, unsigned long long *w, float *f, double *d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&u[0], (unsigned)t);
    atomicSub(&u[1], 2u);
    atomicMin(&u[2], (unsigned)(1000 - t));
    atomicMax(&u[3], (unsigned)(t * 7 % 251));
    atomicAnd(&u[4], ~(1u << (t % 8)));
    atomicOr(&u[5], 1u << (t % 24));
    atomicXor(&u[6], (unsigned)t);
    atomicInc(&u[7], 9u);
    atomicDec(&u[8], 6u);
    atomicMin(&s[0], 50 - t);
    atomicMax(&s[1], t - 300);
    atomicAdd(&s[2], -t);
    atomicAdd(&w[0], 1ull << 33);
    atomicMax(&w[1], (unsigned long long)t << 40);
    atomicXor(&w[2], (unsigned long long)t << 20);
    atomicAdd(&f[0], 0.5f);
    atomicAdd(&d[0], 0.25);
}

// Exchange and compare-and-swap: each thread draws a ticket, and multiplies in a loop.
extern "C" __global__ void atomics_cas(unsigned *tickets, unsigned *product, unsigned *taken) {
    unsigned t = threadIdx.x;
    unsigned mine = atomicAdd(&tickets[0], 1u);
    taken[mine] = 1u + atomicExch(&tickets[1 + mine], t);
    unsigned old = *(volatile unsigned *)product, assumed;
    do {
        assumed = old;
        old = atomicCAS(product, assumed, assumed * 3u);
    } while (old != assumed);
}

// A lock that lanes of one warp contend for: needs that a spinning lane does not starve the one that holds it.
extern "C" __global__ void atomics_lock(int *lock, int *data) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            volatile int *p = data;
            p[0] = p[0] + 1;
            p[1] = p[1] ^ (int)threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// A flag from block 0 to the others with acquire and release.
extern "C" __global__ void atomics_flag(int *flag, int *message, int *out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        message[t] = 3 * t + 1;
        __syncthreads();
        if (t == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag)) : "memory");
    } else {
        if (t == 0) {
            int seen;
            do {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(__cvta_generic_to_global(flag)) : "memory");
            } while (!seen);
        }
        __syncthreads();
        out[(blockIdx.x - 1) * blockDim.x + t] = message[(t + 1) % blockDim.x];
    }
}
