// Integer arithmetic in every width.

extern "C" __global__ void integers_32(const int *a, const int *b, unsigned *out) {
    int t = threadIdx.x;
    int x = a[t], y = b[t];
    unsigned u = x, v = y;
    unsigned *o = out + 24 * t;
    o[0] = y ? x / y : 0;
    o[1] = y ? x % y : 0;
    o[2] = v ? u / v : 0;
    o[3] = v ? u % v : 0;
    o[4] = __mulhi(x, y);
    o[5] = __umulhi(u, v);
    o[6] = __mul24(x, y);
    o[7] = __umul24(u, v);
    o[8] = __sad(x, y, 7u);
    o[9] = __usad(u, v, 7u);
    o[10] = __byte_perm(u, v, 0x7531);
    o[11] = __brev(u);
    o[12] = __clz(x);
    o[13] = __ffs(x);
    o[14] = __popc(u);
    o[15] = __funnelshift_l(u, v, 5 + (v & 31));
    o[16] = __funnelshift_rc(u, v, 40);
    o[17] = x >> (y & 31);
    o[18] = u >> (v & 31);
    o[19] = __dp4a(x, y, 100);
    o[20] = __hadd(x, y);
    o[21] = __rhadd(x, y);
    o[22] = min(max(x, -100), 100);
    o[23] = abs(x) + (x < y) * 2 + (u < v) * 4;
}

extern "C" __global__ void integers_64(const long long *a, const long long *b, unsigned long long *out) {
    int t = threadIdx.x;
    long long x = a[t], y = b[t];
    unsigned long long u = x, v = y, *o = out + 14 * t;
    o[0] = y ? x / y : 0;
    o[1] = y ? x % y : 0;
    o[2] = v ? u / v : 0;
    o[3] = v ? u % v : 0;
    o[4] = __mul64hi(x, y);
    o[5] = __umul64hi(u, v);
    o[6] = __brevll(u);
    o[7] = __clzll(x);
    o[8] = __ffsll(x);
    o[9] = __popcll(u);
    o[10] = x >> (y & 63);
    o[11] = u << (v & 63);
    o[12] = min(x, y) ^ max(u, v);
    o[13] = u * v + (u > v);
}

// 8 and 16 bits, bit fields, carries, video instructions of four bytes at once.
extern "C" __global__ void integers_small(const unsigned *a, const unsigned *b, unsigned *out) {
    int t = threadIdx.x;
    unsigned u = a[t], v = b[t], *o = out + 12 * t;
    signed char c = (signed char)u;
    unsigned short h = (unsigned short)v;
    o[0] = (unsigned)(c * c - h);
    o[1] = (unsigned short)(h << 3) + (unsigned char)(c >> 1);
    o[2] = (short)(h * h);
    unsigned field, low, high;
    asm("bfe.s32 %0, %1, 5, 9;" : "=r"(field) : "r"(u));
    o[3] = field;
    asm("bfi.b32 %0, %1, %2, 7, 11;" : "=r"(field) : "r"(u), "r"(v));
    o[4] = field;
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 5;" : "=&r"(low), "=r"(high) : "r"(u), "r"(v));
    o[5] = low;
    o[6] = high;
    asm("sub.cc.u32 %0, %2, %3; subc.u32 %1, 0, 0;" : "=&r"(low), "=r"(high) : "r"(u), "r"(v));
    o[7] = high;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(field) : "r"(u), "r"(v), "r"(low));
    o[8] = field;
    asm("bfind.u32 %0, %1;" : "=r"(field) : "r"(v));
    o[9] = field;
    o[10] = __vadd4(u, v);
    o[11] = __vmaxu4(u, v);
}
