// Control flow and local memory.

// Dense cases, some falling through.
extern "C" __global__ void control_switch(const int *in, int *out) {
    int t = threadIdx.x, x = in[t], k = t;
    switch (x) {
    case 0: k = k * 5 + 1; break;
    case 1: k = k / 3; break;
    case 2: k = k % 7; // and on
    case 3: k ^= 3; break;
    case 4: k = -k; break;
    case 5: k = __popc(k); break;
    case 6: k = __clz(k); break;
    case 7: k = k << 3; break;
    case 8: k = ~k; break;
    case 9: k = k * k; break;
    default: k = 1000;
    }
    out[t] = k;
}

// The jump table itself: nvcc makes none of a switch, so it is written out.
extern "C" __global__ void control_table(const unsigned *in, unsigned *out) {
    unsigned t = threadIdx.x, x = in[t], y;
    asm("{\n\t"
        "table: .branchtargets plus, minus, times, minus;\n\t"
        "brx.idx %1, table;\n\t"
        "plus: add.u32 %0, %2, 100; bra.uni done;\n\t"
        "minus: sub.u32 %0, %2, %1; bra.uni done;\n\t"
        "times: mul.lo.u32 %0, %2, %2;\n\t"
        "done:\n\t"
        "}"
        : "=r"(y)
        : "r"(x), "r"(t));
    out[t] = y;
}

// An array that must lie in local memory: insertion sort of each thread's own eight values.
extern "C" __global__ void control_local(const int *in, int *out) {
    int own[8], t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 8; i++) own[i] = in[t * 8 + i];
    for (int i = 1; i < 8; i++) {
        int x = own[i], j = i;
        while (j > 0 && own[j - 1] > x) {
            own[j] = own[j - 1];
            j--;
        }
        own[j] = x;
    }
    for (int i = 0; i < 8; i++) out[t * 8 + i] = own[i];
}

// Bytes and half words in a local buffer through pointers of other types.
extern "C" __global__ void control_bytes(const unsigned char *in, unsigned *out) {
    __align__(8) unsigned char bytes[16];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++) bytes[(i * 5 + t) % 16] = in[i] + t;
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) sum = sum * 31 + *(unsigned *)&bytes[4 * ((i + t) % 4)];
    for (int i = 0; i < 8; i++) sum ^= *(short *)&bytes[2 * ((i + t) % 8)];
    out[t] = sum;
}

// Nested loops with continue and two ways out; lanes leave at different times.
extern "C" __global__ void control_loops(const int *in, int *out, int n) {
    int t = threadIdx.x, found = -1;
    for (int i = 0; i < n && found < 0; i++) {
        if ((in[i] + t) % 3 == 0) continue;
        for (int j = i; j < n; j++) {
            if (in[i] * in[j] % 64 == t) {
                found = i * 1000 + j;
                break;
            }
        }
    }
    out[t] = found;
}
