// The padded transpose, as kernels-gpu's `padded` does it: 32x8 work-items, a 32x33 tile.
#define TILE 32
#define ROWS 8

kernel void transpose_padded(global const float *x, global float *y, uint rows, uint cols) {
  local float tile[TILE][TILE + 1];
  const uint tx = get_local_id(0), ty = get_local_id(1);
  const uint bx = get_group_id(0) * TILE, by = get_group_id(1) * TILE;
  for (uint j = ty; j < TILE; j += ROWS)
    if (by + j < rows && bx + tx < cols)
      tile[j][tx] = x[(size_t)(by + j) * cols + bx + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = ty; j < TILE; j += ROWS)
    if (bx + j < cols && by + tx < rows)
      y[(size_t)(bx + j) * rows + by + tx] = tile[tx][j];
}
