// SPDX-License-Identifier: Apache-2.0
// Source of hopper_kernels_90a.ptx beside this:
//   nvcc -ptx -arch=compute_90a hopper_kernels.cu -o hopper_kernels_90a.ptx      (CUDA 13.0)
// and the license line added on top.
//
// A persistent, warp-specialized kernel: one warpgroup brings tiles of keys by bulk copies, two
// multiply them, as A from registers, by 64 queries in shared memory with a swizzle of 128 bytes,
// and store the sums of the positive products of each key by bulk copies.

#define DEVICE static __device__ __forceinline__

DEVICE unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

DEVICE void mbarrier_init(void* bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count)
               : "memory");
}

DEVICE void arrive(void* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar))
               : "memory");
}

DEVICE void arrive_expecting(void* bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
               "r"(bytes)
               : "memory");
}

DEVICE void wait(void* bar, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, 10000000;\n"
      "@done bra end;\nbra again;\nend:\n}" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}

DEVICE void load(void* to, const void* from, int bytes, void* bar, unsigned long long policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(bar)), "l"(policy)
      : "memory");
}

DEVICE bool elected() {
  unsigned is_elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(is_elected));
  return is_elected != 0;
}

DEVICE unsigned long long descriptor(const void* tile) {
  return (shared_address(tile) & 0x3ffff) >> 4 | 64ull << 32 | 1ull << 62;
}

struct Fragment {
  int x[32];
};

DEVICE void multiply(Fragment& c, const unsigned (&a)[4], unsigned long long b, int keep) {
  int* d = c.x;
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, "
      "p;\n}"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
        "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]),
        "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]),
        "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));
}

constexpr int kStages = 4;
constexpr int kTileBytes = 64 * 128;

struct Shared {
  unsigned char queries[kTileBytes];
  unsigned char keys[kStages][kTileBytes];
  int sums[2][64];
  int tile[kStages];  // -1: no more
  unsigned long long full[kStages];
  unsigned long long empty[kStages];
  unsigned long long queries_full;
};

DEVICE void produce(Shared& shared, const unsigned char* keys, const unsigned char* queries,
                    int* counter, int tiles) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  arrive_expecting(&shared.queries_full, kTileBytes);
  load(shared.queries, queries, kTileBytes, &shared.queries_full, policy);
  int ended = 0;
#pragma unroll 1
  for (int i = 0; ended < 2; ++i) {
    const int stage = i % kStages;
    wait(&shared.empty[stage], i / kStages % 2 ^ 1);
    const int tile = ended > 0 ? tiles : atomicAdd(counter, 1);
    shared.tile[stage] = tile < tiles ? tile : -1;
    if (tile < tiles) {
      arrive_expecting(&shared.full[stage], kTileBytes);
      load(shared.keys[stage], keys + static_cast<long long>(tile) * kTileBytes, kTileBytes,
           &shared.full[stage], policy);
    } else {
      arrive(&shared.full[stage]);
      ++ended;
    }
  }
}

DEVICE void consume(Shared& shared, int* out, int group) {
  const int lane = threadIdx.x % 32;
  const int row = threadIdx.x % 128 / 32 * 16 + lane / 4;
  wait(&shared.queries_full, 0);
#pragma unroll 1
  for (int i = group;; i += 2) {
    const int stage = i % kStages;
    wait(&shared.full[stage], i / kStages % 2);
    const int tile = shared.tile[stage];
    if (tile < 0) return;
    unsigned a[4][4];
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) {
        a[k][j] = *reinterpret_cast<const unsigned*>(
            &shared.keys[stage][(row + j % 2 * 8) * 128 + k * 32 + j / 2 * 16 + lane % 4 * 4]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&shared.empty[stage]);
    Fragment c;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k) multiply(c, a[k], descriptor(shared.queries) + 2 * k, k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    int sums[2] = {0, 0};
    for (int j = 0; j < 32; ++j) sums[j / 2 % 2] += max(c.x[j], 0);
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    for (int half = 0; half < 2; ++half) {
      int sum = sums[half];
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      if (lane % 4 == 0) shared.sums[group][row + half * 8] = sum;
    }
    asm volatile("fence.proxy.async.shared::cta;\nbar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (threadIdx.x % 128 == 0) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;\n"
          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::"l"(out + tile * 64),
          "r"(shared_address(shared.sums[group]))
          : "memory");
    }
  }
}

// keys: `tiles` x 64 x 128 s8; queries: 64 x 128 s8, pieces of 16 bytes swizzled; out: tiles x 64.
extern "C" __global__ void __launch_bounds__(384, 1)
    scores(const unsigned char* keys, const unsigned char* queries, int* out, int* counter,
           int tiles) {
  __shared__ __align__(1024) Shared shared;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) mbarrier_init(&shared.full[i], 1);
    for (int i = 0; i < kStages; ++i) mbarrier_init(&shared.empty[i], 4);
    mbarrier_init(&shared.queries_full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (threadIdx.x >= 256) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 288 && elected()) produce(shared, keys, queries, counter, tiles);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
    consume(shared, out, threadIdx.x / 128);
  }
  asm volatile("griddepcontrol.launch_dependents;");
}
