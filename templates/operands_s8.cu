// SPDX-License-Identifier: Apache-2.0
// MXFP4 as integers.
//
// 2 * E2M1 is an integer of at most 12. Scales of a row that lie within 2^3 of one another are
// folded in as shifts, so a whole row is one exact integer sum; its common exponent goes into the
// weight (queries) or to the end (keys). Rows with wider spreads, and numbers so large or small
// that moving a power of two could round, take the sum block by block.

constexpr int kSteps = kDim / 32;
constexpr int kWordsPerLane = kDim / 32;  // of 8 codes
constexpr int kValueBytes = kDim / 2;
constexpr int kBlocks = kDim / 32;
constexpr int kScaleBytes = 4;
constexpr int kMaxShift = 3;
constexpr int kLowestExponent = 127 - 30;  // of what is folded
constexpr int kHighestExponent = 127 + 33;
constexpr float kSumFactor = 1.0f;  // of sums by blocks

__device__ __forceinline__ float power_of_two(int code) {
  return __uint_as_float(code == 0 ? 0x00400000u : static_cast<unsigned int>(code) << 23);
}

#if LIJIT_RELU
// A sum's bits, read as a float, are sum * 2^-149 (a subnormal) where it is positive, and NaN where
// it is negative; saturation leaves the former and makes the latter zero. So the relu is one
// addition and needs no conversion. Weights are 2^90 times as large meanwhile, which keeps all
// that happens to sums as it is.
constexpr int kWeightExponent = 90 - 2;  // a sum is four times too large, besides
constexpr int kSumExponent = 149 - 90;
__device__ __forceinline__ float head_of(unsigned int sum) {
  float head;
  asm("add.sat.f32 %0, %1, %2;" : "=f"(head) : "f"(__uint_as_float(sum)), "f"(-0.0f));
  return head;
}
#else
constexpr int kWeightExponent = -2;
constexpr int kSumExponent = 0;
__device__ __forceinline__ float head_of(unsigned int sum) {
  return head_value(__int2float_rn(static_cast<int>(sum)));
}
#endif

// Whether the weight can take the exponent `base` of its query's row.
__device__ __forceinline__ bool weight_folds(float weight, int base) {
  const int exponent = static_cast<int>(__float_as_uint(weight) >> 23 & 0xff);
  const int folded = exponent + base - 127;
  return weight == 0.0f ||
         (exponent - 1u < 254u && folded >= kLowestExponent && folded <= kHighestExponent);
}

__device__ __forceinline__ float fold_weight(float weight, int base) {
  const unsigned int steps = static_cast<unsigned int>(base - 127 + kWeightExponent);
  return weight == 0.0f ? weight : __uint_as_float(__float_as_uint(weight) + (steps << 23));
}

// What is left to multiply a sum with: the exponent `base` of the key's row, where it folds.
__device__ __forceinline__ float exponent_factor(int base) {
  return __uint_as_float(static_cast<unsigned int>(base + kSumExponent) << 23);
}

// The eight magnitudes as bytes, shifted, and their negatives.
struct Table {
  unsigned int low, high, negative_low, negative_high;
  __device__ __forceinline__ explicit Table(int shift)
      : low(0x03020100u << shift),
        high(0x0c080604u << shift),
        negative_low((0x80808080u - low) ^ 0x80808080u),
        negative_high((0x80808080u - high) ^ 0x80808080u) {}
  __device__ __forceinline__ explicit Table(const unsigned int (&words)[4])
      : low(words[0]), high(words[1]), negative_low(words[2]), negative_high(words[3]) {}
  __device__ __forceinline__ uint4 words() const {
    return make_uint4(low, high, negative_low, negative_high);
  }
};

// Eight codes to eight signed bytes, in order.
__device__ __forceinline__ void decode(unsigned int codes, const Table& table, unsigned int& first,
                                       unsigned int& second) {
  const unsigned int low = codes & 0x77777777u;
  const unsigned int high = low >> 16;
  // The sign bits of codes 1, 3, 5, 7 are those of the bytes, and of codes 0, 2, 4, 6 those of the
  // bytes of this; selectors from 8 on spread a byte's sign over a byte.
  const unsigned int even = codes * 16;
  const unsigned int first_signs = permute(even, codes, 0xd9c8u);
  const unsigned int second_signs = permute(even, codes, 0xfbeau);
  first = choose(first_signs, permute(table.negative_low, table.negative_high, low),
                 permute(table.low, table.high, low));
  second = choose(second_signs, permute(table.negative_low, table.negative_high, high),
                  permute(table.low, table.high, high));
}

// One lane's quarter of a row, and the scale of its block.
struct Quarter {
  unsigned int words[kWordsPerLane];
  int exponent;
};

__device__ __forceinline__ int lane_block(int l4) { return l4 * kBlocks / 4; }

// `values` and `scales` of the row.
__device__ __forceinline__ Quarter load_quarter(const unsigned char* values,
                                                const unsigned char* scales, int l4) {
  Quarter q;
  load_words(values + l4 * (kValueBytes / 4), q.words);
  q.exponent = scales[lane_block(l4)];
  return q;
}

__device__ __forceinline__ Quarter no_keys() {
  Quarter q = {};
  q.exponent = 127;
  return q;
}

// Registers of MMA operands: two a step.
__device__ __forceinline__ void decode_quarter(const Quarter& q, const Table& table,
                                               unsigned int (&to)[2 * kSteps]) {
#pragma unroll
  for (int s = 0; s < kSteps; ++s) decode(q.words[s], table, to[2 * s], to[2 * s + 1]);
}

// The exponent that a row's integers share, and whether there is one. All lanes of the quad take
// part; each knows of its own block alone whether it `folds`.
struct Folding {
  int base;
  bool folds;
  int shift;  // at most kMaxShift, and 0 at least where it folds
};

__device__ __forceinline__ Folding fold(int exponent) {
  int highest = max(exponent, __shfl_xor_sync(0xffffffffu, exponent, 1));
  highest = max(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
  Folding f;
  f.base = highest - kMaxShift;
  f.shift = exponent - f.base;
  f.folds = f.shift >= 0 && f.base >= kLowestExponent && f.base <= kHighestExponent;
  return f;
}

// Two rows at once, in the halves of a word.
struct FoldedPair {
  unsigned int highest;  // exponents
  unsigned int below;    // how far this lane's are below them, at most kMaxShift
  bool fold;             // both, as far as this lane's blocks go
};

__device__ __forceinline__ unsigned int max_of_halves(unsigned int a, unsigned int b) {
  unsigned int d;
  asm("max.u16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

__device__ __forceinline__ unsigned int min_of_halves(unsigned int a, unsigned int b) {
  unsigned int d;
  asm("min.u16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

__device__ __forceinline__ FoldedPair fold_pair(int first, int second) {
  constexpr unsigned int kHalves = 0x00010001u;
  constexpr unsigned int kLowest = kLowestExponent + kMaxShift;  // of the highest of a row
  static_assert(kHighestExponent == kLowestExponent + 63, "six bits hold what folds");
  const unsigned int both = static_cast<unsigned int>(first | second << 16);
  FoldedPair f;
  f.highest = max_of_halves(both, __shfl_xor_sync(0xffffffffu, both, 1));
  f.highest = max_of_halves(f.highest, __shfl_xor_sync(0xffffffffu, f.highest, 2));
  const unsigned int below = f.highest - both;
  const unsigned int outside = (f.highest - kLowest * kHalves) & ~(63 * kHalves);
  f.fold = (outside | (below & ~(kMaxShift * kHalves))) == 0;
  f.below = min_of_halves(below, kMaxShift * kHalves);
  return f;
}

// Whether it is true in all lanes of the quad.
__device__ __forceinline__ bool quad_all(bool value) {
  const unsigned int quad = 0xfu << (threadIdx.x % 32 & ~3u);
  return (__ballot_sync(0xffffffffu, value) & quad) == quad;
}

// Of one head of a query: it folds if all of its blocks do and its weight can take their exponent.
__device__ __forceinline__ Folding fold_head(int exponent, float weight) {
  Folding f = fold(exponent);
  f.folds = quad_all(f.folds && weight_folds(weight, f.base));
  if (!f.folds) f.shift = 0;
  return f;
}

// sum / 4 * 2^(q + k - 254), rounded once; code 255 is NaN (docs/numerics.md).
__device__ __forceinline__ float scale_block(float sum, int q, int k) {
  const int half = (q + k) >> 1;
  const float scaled = 0.25f * sum * power_of_two(half) * power_of_two(q + k - half);
  return max(q, k) == 255 ? __uint_as_float(0x7fc00000u) : scaled;
}

// Warp-level products of 16 keys and 8 heads.
struct Accumulator {
  unsigned int v[4] = {};
};

__device__ __forceinline__ void multiply(Accumulator& d, const unsigned int (&a)[4],
                                         unsigned int b0, unsigned int b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(d.v[0]), "+r"(d.v[1]), "+r"(d.v[2]), "+r"(d.v[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
