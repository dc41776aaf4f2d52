// The runtime within kernels: printf, malloc and free, assert.
#include <cassert>
#include <cstdio>

extern "C" __global__ void device_printf(const float *x) {
    printf("thread %d: %f %s %c %x %lld %%\n", threadIdx.x, x[threadIdx.x], "text", 'a' + (int)threadIdx.x, 255u << threadIdx.x,
           -(1ll << 40));
    if (threadIdx.x == 0) printf("no arguments\n");
}

struct Node {
    Node *next;
    int value;
};

// Each thread makes a list, sums it backwards, and frees it.
extern "C" __global__ void device_heap(int *out, int length) {
    Node *head = nullptr;
    for (int i = 0; i < length; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->next = head;
        node->value = i * (int)threadIdx.x;
        head = node;
    }
    int sum = 0, factor = 1;
    while (head) {
        Node *next = head->next;
        sum += factor * head->value;
        factor = -factor;
        free(head);
        head = next;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void device_assert(const int *in, int *out) {
    int x = in[threadIdx.x];
    assert(x >= 0);
    out[threadIdx.x] = x + 1;
}
