// SPDX-License-Identifier: Apache-2.0
// FP8 as it is, for tensor cores that take E4M3.

constexpr int kSteps = kDim / 32;
constexpr int kWordsPerLane = kDim / 16;  // of 4 codes
constexpr int kValueBytes = kDim;
constexpr int kScaleBytes = 4;
constexpr float kSumFactor = 1.0f;

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
  for (int i = 0; i < 2 * kSteps; ++i) to[i] = q.words[i];
}
