// SPDX-License-Identifier: Apache-2.0
// The block of wgmma_logits.cu: its threads, its shared memory, and the instructions of sm_90a that
// synchronize and copy.
//
// What stands before this text: logits_common.cu, operands_s8.cu or operands_e4m3.cu, kStages,
// kSharedBytes and kMmaRows.

constexpr int kWarpgroups = 4;
constexpr int kMathThreads = kWarpgroups * 128;
constexpr int kThreads = kMathThreads + 128;  // the last warpgroup brings tiles
// What a launch gives every thread, 96 registers, shared out anew.
constexpr int kMathRegisters = 112;
constexpr int kProducerRegisters = 32;
constexpr int kTileKeys = 64;
constexpr int kLaneHeads = kHeads / 4;                                          // of one query row
constexpr int kLaneStride = kLaneHeads % 4 == 0 ? kLaneHeads + 4 : kLaneHeads;  // no bank twice
constexpr int kQueryBytes = kHeads * kDim;
// A tile is one piece of a page, or several whole pages.
constexpr int kPieceKeys = LIJIT_PAGED && kPage < kTileKeys ? kPage : kTileKeys;
constexpr int kPieces = kTileKeys / kPieceKeys;
constexpr unsigned int kAll = 0xffffffffu;
constexpr int kMathBarrier = 1;

// ---- Shared memory -----------------------------------------------------------------------------

struct Stage {
  unsigned char values[kTileKeys * kValueBytes];
  unsigned char scales[kTileKeys * kScaleBytes];
};

// What the producer put into a stage: keys 0 .. count - 1, without pieces that lie nowhere. An
// inner tile has all keys, and all are valid in all rows of its group.
struct __align__(4) Contents {
  unsigned short count;
  unsigned char pieces, inner;
};

struct __align__(16) Queries {
  float weight[kRows][4][kLaneStride];  // of each lane of a quad
  Bounds bounds[kRows];
#if LIJIT_S8
  float plain_weight[kRows][kHeads];               // without a folded exponent
  unsigned char exponent[kRows][kHeads][kBlocks];  // of each block as it is held
  int folds[kRows];
  int all_fold;
#endif
};

// Two of what a group has, so that the next one can be written while the last one is read.
struct Shared {
  unsigned char query[2][kRows][kQueryBytes];
  Stage stages[kStages];
  Queries queries[2];
  // One after another, as find_place has them.
  unsigned long long full[kStages], empty[kStages];
  Contents contents[kStages];
#if LIJIT_S8
  uint4 tables[kMaxShift + 1];  // struct Table by how far an exponent is below its row's highest
#endif
  long long totals[kThreads / 32];
  int start_group, start_tile;
};
static_assert(kStages % 4 == 0, "nothing lies between contents and tables");
static_assert(sizeof(Shared) <= kSharedBytes, "the schedule asks for too little shared memory");

__device__ __forceinline__ unsigned int shared_address(const void* p) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

// Addresses in shared memory that the compiler does not make anew at each use.
__device__ __forceinline__ unsigned int keep(unsigned int address) {
  return __shfl_sync(kAll, address, threadIdx.x % 32);
}

template <int kWords>
__device__ __forceinline__ void load_shared(unsigned int address, unsigned int (&to)[kWords]) {
  if constexpr (kWords % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to[i]), "=r"(to[i + 1]), "=r"(to[i + 2]), "=r"(to[i + 3])
                   : "r"(address + 4 * i));
    }
  } else {
#pragma unroll
    for (int i = 0; i < kWords; i += 2) {
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                   : "=r"(to[i]), "=r"(to[i + 1])
                   : "r"(address + 4 * i));
    }
  }
}

__device__ __forceinline__ unsigned int load_shared_word(unsigned int address) {
  unsigned int word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}

__device__ __forceinline__ unsigned int load_shared_byte(unsigned int address) {
  unsigned int byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address));
  return byte;
}

// ---- Barriers and copies -----------------------------------------------------------------------

__device__ __forceinline__ void init_barrier(unsigned long long& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(shared_address(&barrier)), "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void arrive(unsigned int barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
}

__device__ __forceinline__ void arrive_and_expect(unsigned long long& barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(&barrier)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void wait(unsigned int barrier, unsigned int parity) {
  unsigned int done;
  do {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}

// Both addresses and the size are multiples of 16.
__device__ __forceinline__ void copy_bulk(void* to, const unsigned char* from, int bytes,
                                          unsigned long long& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}

__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

__device__ __forceinline__ void synchronize_math() {
  asm volatile("bar.sync %0, %1;" : : "n"(kMathBarrier), "n"(kMathThreads) : "memory");
}

__device__ __forceinline__ void begin_multiply() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}

__device__ __forceinline__ void end_multiply() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
}

// Of a matrix in shared memory: eight rows are this far apart, in units of 16 bytes, and the
// swizzle's period is a row.
constexpr unsigned int kSwizzle = kDim == 128 ? 1 : 2;
constexpr unsigned int kDescriptorHigh = 8 * kDim / 16 | kSwizzle << 30;

// A place in a ring, and how often it was passed.
template <int kSize>
struct Ring {
  int index;
  unsigned int parity;
  __device__ __forceinline__ void advance(int by) {
    index += by;
    if (index >= kSize) {
      index -= kSize;
      parity ^= 1;
    }
  }
};
