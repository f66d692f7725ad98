// SPDX-License-Identifier: Apache-2.0
// Rows, bounds and where keys lie: what every way of scoring shares.
//
// What stands before this text: kHeads, kDim, kPage and the strides of the layout, kRows (query
// rows that share a pass over the keys), LIJIT_PAGED, LIJIT_S8, LIJIT_RELU (the head is a relu and
// nothing else), struct Parameters, and the functions made from the kernel's body: head_value(x)
// and finish(sum, row_scale).

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }

// PRMT itself: __byte_perm masks its selectors first.
__device__ __forceinline__ unsigned int permute(unsigned int a, unsigned int b, unsigned int s) {
  unsigned int bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(s));
  return bytes;
}

// The bits of `a` where `mask` is set, those of `b` elsewhere.
__device__ __forceinline__ unsigned int choose(unsigned int mask, unsigned int a, unsigned int b) {
  return (a & mask) | (b & ~mask);
}

// Columns are below 2^31: starts, ends and lengths are int32.
struct Bounds {
  int begin, end;
};

__device__ __forceinline__ int clamp_column(long long column, long long width) {
  return static_cast<int>(min(max(column, 0ll), min(width, 0x7fffffffll)));
}

#if LIJIT_PAGED
__device__ __forceinline__ long long row_count(const Parameters& p) { return p.next_n; }
__device__ __forceinline__ Bounds row_bounds(const Parameters& p, long long request, long long j) {
  const int* lengths = reinterpret_cast<const int*>(p.lengths);
  const long long length = lengths[request * p.length_stride + j * p.length_row_stride];
  if (p.length_per_row != 0) return {0, clamp_column(length, p.width)};
  const unsigned int seen = static_cast<unsigned int>(max(length - p.next_n + j + 1, 0ll));
  return {0, clamp_column(seen / static_cast<unsigned int>(p.ratio), p.width)};
}
#else
__device__ __forceinline__ long long row_count(const Parameters& p) { return p.rows; }
__device__ __forceinline__ Bounds row_bounds(const Parameters& p, long long, long long row) {
  const int begin = max(reinterpret_cast<const int*>(p.starts)[row], 0);
  const int end = reinterpret_cast<const int*>(p.ends)[row];
  return {begin, clamp_column(min(static_cast<long long>(end), p.keys), p.width)};
}
#endif

// Where keys lie that follow one another in one page; nowhere if the page is none of the pool's.
struct KeyTile {
  const unsigned char* values;
  const unsigned char* scales;
  bool exists;
};

__device__ __forceinline__ KeyTile find_keys(const Parameters& p, long long request,
                                             long long column) {
#if LIJIT_PAGED
  const long long block = column / kPage;
  long long page = -1;
  if (block < p.table_width) {
    page = reinterpret_cast<const int*>(p.block_table)[request * p.table_stride + block];
  }
  if (page < 0 || page >= p.page_count) return {nullptr, nullptr, false};
  const unsigned char* base = p.pool + page * p.page_stride;
  const long long in_page = column % kPage;
  return {base + in_page * kValueStride, base + kScaleBase + in_page * kScaleStride, true};
#else
  return {p.k_values + column * kValueStride, p.k_scales + column * kScaleStride, true};
#endif
}

// The part of a row that one lane of a quad owns, by as wide loads as its size allows.
template <int kWords>
__device__ __forceinline__ void load_words(const unsigned char* from, unsigned int (&to)[kWords]) {
  if constexpr (kWords % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      const uint4 v = reinterpret_cast<const uint4*>(from)[i / 4];
      to[i] = v.x;
      to[i + 1] = v.y;
      to[i + 2] = v.z;
      to[i + 3] = v.w;
    }
  } else {
    static_assert(kWords == 2, "rows have 64 elements at least");
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    to[0] = v.x;
    to[1] = v.y;
  }
}

// ---- Sums in f32 -------------------------------------------------------------------------------

#if !LIJIT_S8
#if LIJIT_RELU
// Twice max(x, 0), NaN for NaN, on the pipe of the sums. Weights are halved for it.
constexpr float kWeightFactor = 0.5f;
__device__ __forceinline__ float head_of(float sum) { return __fadd_rn(sum, fabsf(sum)); }
#else
constexpr float kWeightFactor = 1.0f;
__device__ __forceinline__ float head_of(float sum) { return head_value(sum); }
#endif
#endif
