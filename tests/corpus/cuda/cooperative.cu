// Cooperative groups: tiles, reductions and scans over them, coalesced threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void groups_reduce(const float *in, float *out, unsigned n) {
    __shared__ float warps[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float sum = 0.0f;
    for (unsigned i = block.thread_rank(); i < n; i += block.size()) sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        float part = warp.thread_rank() < warp.meta_group_size() ? warps[warp.thread_rank()] : 0.0f;
        part = cg::reduce(warp, part, cg::plus<float>());
        if (warp.thread_rank() == 0) out[blockIdx.x] = part;
    }
}

extern "C" __global__ void groups_tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto eight = cg::tiled_partition<8>(block);
    int x = in[block.thread_rank()];
    int sum = cg::exclusive_scan(eight, x, cg::plus<int>());
    int most = cg::reduce(eight, x, cg::greater<int>());
    auto four = cg::tiled_partition<4>(eight);
    int next = four.shfl((int)x, (four.thread_rank() + 1) % 4);
    int rank = -1;
    if (x % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        rank = active.thread_rank() * 100 + active.size();
        active.sync();
    }
    int *at = out + 4 * block.thread_rank();
    at[0] = sum;
    at[1] = most;
    at[2] = next;
    at[3] = rank;
}
