// SPDX-License-Identifier: Apache-2.0
// FP8 as halves.
//
// The bits of an E4M3 code, put where f16 has its exponent and mantissa, are the number times 2^-8,
// subnormals included. Both sides carry it, so sums are 2^16 too small until the end. NaN codes are
// looked for separately.

constexpr int kSteps = kDim / 16;
constexpr int kWordsPerLane = kDim / 16;  // of 4 codes
constexpr int kValueBytes = kDim;
constexpr int kScaleBytes = 4;
constexpr float kSumFactor = 65536.0f;

struct Accumulator {
  float v[4] = {};
};

__device__ __forceinline__ void multiply(Accumulator& d, const unsigned int (&a)[4],
                                         unsigned int b0, unsigned int b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d.v[0]), "+f"(d.v[1]), "+f"(d.v[2]), "+f"(d.v[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four codes to four halves, in order.
__device__ __forceinline__ void decode(unsigned int codes, unsigned int& first,
                                       unsigned int& second) {
  const unsigned int low = permute(codes, 0, 0x1404u);  // byte 0 and 1, each above a zero byte
  const unsigned int high = permute(codes, 0, 0x3424u);
  first = (low & 0x80008000u) | ((low & 0x7f007f00u) >> 1);
  second = (high & 0x80008000u) | ((high & 0x7f007f00u) >> 1);
}

// One lane's quarter of a row.
struct Quarter {
  unsigned int words[kWordsPerLane];
};

__device__ __forceinline__ Quarter load_quarter(const unsigned char* values, const unsigned char*,
                                                int l4) {
  Quarter q;
  load_words(values + l4 * (kValueBytes / 4), q.words);
  return q;
}

__device__ __forceinline__ Quarter no_keys() { return {}; }

// Registers of MMA operands: two a step.
__device__ __forceinline__ void decode_quarter(const Quarter& q, unsigned int (&to)[2 * kSteps]) {
#pragma unroll
  for (int s = 0; s < kSteps; ++s) decode(q.words[s], to[2 * s], to[2 * s + 1]);
}

// Whether one of the row's codes is NaN. All lanes of the quad take part.
__device__ __forceinline__ bool has_nan(const Quarter& q) {
  unsigned int found = 0;
#pragma unroll
  for (int i = 0; i < kWordsPerLane; ++i) {
    found |= ((q.words[i] & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u;
  }
  found |= __shfl_xor_sync(0xffffffffu, found, 1);
  return (found | __shfl_xor_sync(0xffffffffu, found, 2)) != 0;
}
