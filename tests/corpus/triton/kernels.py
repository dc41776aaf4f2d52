"""Triton kernels of the corpus, compiled to PTX on a machine without a GPU: python kernels.py (Triton 3.9)."""

import re
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def triton_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def triton_softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def triton_matmul(a, b, c, n, m, k, BN: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    columns = tl.program_id(1) * BM + tl.arange(0, BM)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BN, BM), dtype=tl.float32)
    for start in range(0, k, BK):
        inside = start + ks < k
        pa = tl.load(a + rows[:, None] * k + start + ks[None, :], mask=(rows[:, None] < n) & inside[None, :], other=0.0)
        pb = tl.load(b + (start + ks[:, None]) * m + columns[None, :], mask=inside[:, None] & (columns[None, :] < m), other=0.0)
        acc += tl.dot(pa, pb)
    tl.store(c + rows[:, None] * m + columns[None, :], acc, mask=(rows[:, None] < n) & (columns[None, :] < m))


@triton.jit
def triton_cumsum(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def triton_transpose(x, out, n, m, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + rows[:, None] * m + columns[None, :], mask=(rows[:, None] < n) & (columns[None, :] < m), other=0.0)
    tl.store(out + columns[:, None] * n + rows[None, :], tl.trans(v), mask=(columns[:, None] < m) & (rows[None, :] < n))


@triton.jit
def triton_histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at), BINS)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def triton_tma(a, b, c, n, m, k, BN: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [n, k], [k, 1], [BN, BK])
    db = tl.make_tensor_descriptor(b, [k, m], [m, 1], [BK, BM])
    dc = tl.make_tensor_descriptor(c, [n, m], [m, 1], [BN, BM])
    row, column = tl.program_id(0) * BN, tl.program_id(1) * BM
    acc = tl.zeros((BN, BM), dtype=tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(da.load([row, start]), db.load([start, column]), acc)
    dc.store([row, column], acc.to(tl.float16))


MATRICES = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "m": "i32", "k": "i32"}
KERNELS = [
    (80, triton_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 512}),
    (80, triton_softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256}),
    (80, triton_matmul, MATRICES, {"BN": 32, "BM": 32, "BK": 32}),
    (80, triton_cumsum, {"x": "*i32", "out": "*i32"}, {"BLOCK": 512}),
    (80, triton_transpose, {"x": "*fp32", "out": "*fp32", "n": "i32", "m": "i32"}, {"BLOCK": 32}),
    (80, triton_histogram, {"x": "*i32", "bins": "*i32", "n": "i32"}, {"BLOCK": 512, "BINS": 64}),
    # For the parser: wgmma, TMA and tcgen05, which nothing here runs.
    (90, triton_matmul, MATRICES, {"BN": 64, "BM": 64, "BK": 64}),
    (90, triton_tma, MATRICES | {"c": "*fp16"}, {"BN": 64, "BM": 64, "BK": 64}),
    (100, triton_tma, MATRICES | {"c": "*fp16"}, {"BN": 128, "BM": 64, "BK": 64}),
]

if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    for capability, kernel, types, constants in KERNELS:
        signature = types | {name: "constexpr" for name in constants}
        source = ASTSource(kernel, signature, constexprs=constants)
        target = GPUTarget("cuda", capability, 32)
        compiled = triton.compile(source, target=target, options={"num_warps": 4, "num_stages": 2})
        # No folder of the machine stays in the file.
        ptx = compiled.asm["ptx"]
        ptx = re.sub(r'(\.file\s+\d+ )"[^"]*/corpus/', r'\1"', ptx)
        ptx = re.sub(r'(\.file\s+\d+ )"[^"]*/site-packages/', r'\1"', ptx)
        name = f"{kernel.fn.__name__}.sm_{capability}.ptx"
        (here.parent / "ptx" / name).write_text(ptx)
        print(name, "warps", compiled.metadata.num_warps, "shared", compiled.metadata.shared)
