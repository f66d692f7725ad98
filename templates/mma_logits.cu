// SPDX-License-Identifier: Apache-2.0
// Scores by warp-level tensor cores (mma.sync), for logits.ragged and logits.paged.
//
// Keys are the rows of the A operand and heads the columns of B, so that a quad of lanes holds the
// four partial sums of docs/numerics.md. The order of k inside a dot product is free as long as
// both sides agree: each lane of a quad owns a quarter of a row, which is what it loads in one
// piece and, at head_dim 128, exactly one block of 32. Keys go from global memory to registers;
// queries of a few rows are decoded once into shared memory in the order of B fragments.
//
// What stands before this text: kHeads, kDim, kPage and the strides of the layout, kRows (query
// rows that share a pass over the keys), LIJIT_PAGED and LIJIT_S8, struct Parameters, and the
// functions made from the kernel's body: finish(sum, row_scale).

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kTiles = 2;  // tiles of 16 keys a warp holds at once
constexpr int kKeysPerPass = kWarps * kTiles * 16;
constexpr int kHeadTiles = kHeads / 8;

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }

__device__ __forceinline__ unsigned int permute(unsigned int a, unsigned int b, unsigned int s) {
  return __byte_perm(a, b, s);
}

#if LIJIT_S8
// ---- MXFP4 as integers -------------------------------------------------------------------------
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
constexpr int kHighestExponent = 127 + 30;
// As the first sum's start it makes the integer sum readable as a float: 1.5 * 2^23 + sum.
constexpr unsigned int kMagicBits = 0x4b400000u;
constexpr float kMagic = 12582912.0f;

struct Accumulator {
  unsigned int v[4] = {kMagicBits, kMagicBits, kMagicBits, kMagicBits};
  __device__ __forceinline__ float value(int i) const { return __uint_as_float(v[i]) - kMagic; }
};

__device__ __forceinline__ void multiply(Accumulator& d, const unsigned int (&a)[4],
                                         unsigned int b0, unsigned int b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(d.v[0]), "+r"(d.v[1]), "+r"(d.v[2]), "+r"(d.v[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The eight magnitudes as bytes, shifted, and their negatives.
struct Table {
  unsigned int low, high, negative_low, negative_high;
  __device__ __forceinline__ explicit Table(int shift)
      : low(0x03020100u << shift),
        high(0x0c080604u << shift),
        negative_low((0x80808080u - low) ^ 0x80808080u),
        negative_high((0x80808080u - high) ^ 0x80808080u) {}
};

// Eight codes to eight signed bytes, in order.
__device__ __forceinline__ void decode(unsigned int codes, const Table& table, unsigned int& first,
                                       unsigned int& second) {
  const unsigned int magnitudes = codes & 0x77777777u;
  // Byte i of the result comes from the negated lookup where the sign bit of nibble i is set.
  const unsigned int pick = ((codes >> 1) & 0x44444444u) | 0x32103210u;
  first = permute(permute(table.low, table.high, magnitudes),
                  permute(table.negative_low, table.negative_high, magnitudes), pick);
  second = permute(permute(table.low, table.high, magnitudes >> 16),
                   permute(table.negative_low, table.negative_high, magnitudes >> 16), pick >> 16);
}

// One lane's quarter of a row, and the scale of its block.
struct Quarter {
  unsigned int words[kWordsPerLane];
  int exponent;
};

__device__ __forceinline__ int lane_block(int l4) { return l4 * kBlocks / 4; }

__device__ __forceinline__ Quarter load_quarter(const unsigned char* values,
                                                const unsigned char* scales, int l4) {
  Quarter q;
  const unsigned int* from = reinterpret_cast<const unsigned int*>(values + l4 * (kValueBytes / 4));
#pragma unroll
  for (int i = 0; i < kWordsPerLane; ++i) q.words[i] = from[i];
  q.exponent = scales[lane_block(l4)];
  return q;
}

// The exponent that a row's integers share, and whether there is one. All lanes of the quad take
// part.
struct Folding {
  int base;
  bool folds;
  int shift;
};

__device__ __forceinline__ Folding fold(int exponent) {
  int highest = max(exponent, __shfl_xor_sync(0xffffffffu, exponent, 1));
  highest = max(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
  int lowest = min(exponent, __shfl_xor_sync(0xffffffffu, exponent, 1));
  lowest = min(lowest, __shfl_xor_sync(0xffffffffu, lowest, 2));
  Folding f;
  f.base = highest - kMaxShift;
  f.folds =
      highest - lowest <= kMaxShift && f.base >= kLowestExponent && f.base <= kHighestExponent;
  f.shift = f.folds ? exponent - f.base : 0;
  return f;
}

__device__ __forceinline__ float power_of_two(int code) {
  return __uint_as_float(code == 0 ? 0x00400000u : static_cast<unsigned int>(code) << 23);
}

// sum / 4 * 2^(q + k - 254), rounded once; code 255 is NaN (docs/numerics.md).
__device__ __forceinline__ float scale_block(float sum, int q, int k) {
  const int half = (q + k) >> 1;
  const float scaled = 0.25f * sum * power_of_two(half) * power_of_two(q + k - half);
  return max(q, k) == 255 ? __uint_as_float(0x7fc00000u) : scaled;
}

struct KeyState {
  Folding folding[kTiles][2];
};

#else
// ---- FP8 as halves -----------------------------------------------------------------------------
// The bits of an E4M3 code, put where f16 has its exponent and mantissa, are the number times 2^-8,
// subnormals included. Both sides carry it, so sums are 2^16 too small until the end. NaN codes are
// looked for separately.
constexpr int kSteps = kDim / 16;
constexpr int kWordsPerLane = kDim / 16;  // of 4 codes
constexpr int kValueBytes = kDim;
constexpr int kScaleBytes = 4;
constexpr float kSumFactor = 65536.0f;

struct Accumulator {
  float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  __device__ __forceinline__ float value(int i) const { return v[i]; }
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

struct Quarter {
  unsigned int words[kWordsPerLane];
};

__device__ __forceinline__ Quarter load_quarter(const unsigned char* values, const unsigned char*,
                                                int l4) {
  Quarter q;
  const unsigned int* from = reinterpret_cast<const unsigned int*>(values + l4 * (kValueBytes / 4));
#pragma unroll
  for (int i = 0; i < kWordsPerLane; ++i) q.words[i] = from[i];
  return q;
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

struct KeyState {
  bool is_nan[kTiles][2];
};
#endif

// ---- Rows and keys -----------------------------------------------------------------------------

struct Shared {
  // B fragments: both registers of two steps in one 16-byte load a lane.
  uint4 query[kRows][kHeadTiles][kSteps / 2][32];
  float2 weight[kRows][kHeads / 2];  // what a sum is multiplied with
#if LIJIT_S8
  float2 plain_weight[kRows][kHeads / 2];          // the same without a folded exponent
  unsigned char exponent[kRows][kHeads][kBlocks];  // of each block of the query as it is held
  int folds[kRows];
#endif
};

struct Bounds {
  long long begin, end;
};

#if LIJIT_PAGED
__device__ __forceinline__ long long row_count(const Parameters& p) { return p.next_n; }
__device__ __forceinline__ Bounds row_bounds(const Parameters& p, long long request, long long j) {
  const int* lengths = reinterpret_cast<const int*>(p.lengths);
  const long long length = lengths[request * p.length_stride + j * p.length_row_stride];
  const long long causal = max(length - p.next_n + j + 1, 0ll) / p.ratio;
  return {0, min(p.length_per_row != 0 ? max(length, 0ll) : causal, p.width)};
}
#else
__device__ __forceinline__ long long row_count(const Parameters& p) { return p.rows; }
__device__ __forceinline__ Bounds row_bounds(const Parameters& p, long long, long long row) {
  const long long begin = max(reinterpret_cast<const int*>(p.starts)[row], 0);
  const long long end = reinterpret_cast<const int*>(p.ends)[row];
  return {begin, min(min(end, p.keys), p.width)};
}
#endif

// Where 16 keys lie that begin at a multiple of 16, and so in one page; nowhere if the page is none
// of the pool's.
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

// Decodes the query rows of this pass into shared memory.
__device__ __forceinline__ void share_queries(const Parameters& p, long long first_row, int rows,
                                              Shared& shared) {
  const int lane = threadIdx.x % 32;
  const int l4 = lane % 4;
  for (int i = threadIdx.x / 32; i < rows * kHeadTiles; i += kWarps) {
    const int r = i / kHeadTiles;
    const int tile = i % kHeadTiles;
    const int head = tile * 8 + lane / 4;
    const long long query = (first_row + r) * kHeads + head;
    const Quarter q =
        load_quarter(p.q_values + query * kValueBytes, p.q_scales + query * kScaleBytes, l4);
    float weight =
        reinterpret_cast<const float*>(p.weights)[(first_row + r) * p.weight_stride + head];
    unsigned int* fragment = reinterpret_cast<unsigned int*>(&shared.query[r][tile][0][lane]);
#if LIJIT_S8
    Folding f = fold(q.exponent);
    const int weight_exponent = static_cast<int>((__float_as_uint(weight) >> 23) & 0xff);
    const bool weight_folds = weight == 0.0f || (weight_exponent >= kLowestExponent &&
                                                 weight_exponent <= kHighestExponent);
    if (!f.folds || !weight_folds) {
      f.shift = 0;
      atomicAnd(&shared.folds[r], 0);
    }
    const Table table(f.shift);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      unsigned int first, second;
      decode(q.words[s], table, first, second);
      fragment[(s / 2) * 128 + (s % 2) * 2] = first;
      fragment[(s / 2) * 128 + (s % 2) * 2 + 1] = second;
    }
    if (l4 % (4 / kBlocks) == 0) {
      shared.exponent[r][head][lane_block(l4)] = static_cast<unsigned char>(q.exponent - f.shift);
    }
    if (l4 == 0) {
      reinterpret_cast<float*>(shared.plain_weight[r])[head] = weight;
      // A sum is four times too large, and short of the query's exponent.
      weight *= f.folds ? power_of_two(f.base - 2) : 1.0f;
    }
#else
    if (has_nan(q)) weight = __uint_as_float(0x7fc00000u);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      unsigned int first, second;
      decode(q.words[s], first, second);
      fragment[(s / 2) * 128 + (s % 2) * 2] = first;
      fragment[(s / 2) * 128 + (s % 2) * 2 + 1] = second;
    }
#endif
    if (l4 == 0) reinterpret_cast<float*>(shared.weight[r])[head] = weight;
  }
}

// The keys of one pass as A fragments.
struct Keys {
  unsigned int a[kTiles][kSteps][4];
  KeyState state;
};

__device__ __forceinline__ void decode_keys(const Quarter (&raw)[kTiles][2], Keys& keys) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Quarter& q = raw[m][half];
#if LIJIT_S8
      const Folding f = fold(q.exponent);
      keys.state.folding[m][half] = f;
      const Table table(f.shift);
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        decode(q.words[s], table, keys.a[m][s][half], keys.a[m][s][half + 2]);
      }
#else
      keys.state.is_nan[m][half] = has_nan(q);
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        decode(q.words[s], keys.a[m][s][half], keys.a[m][s][half + 2]);
      }
#endif
    }
  }
}

__device__ __forceinline__ Quarter no_keys() {
  Quarter q = {};
#if LIJIT_S8
  q.exponent = 127;
#endif
  return q;
}

// This lane's four keys: column first + 16 * m + 8 * half + lane / 4.
__device__ __forceinline__ void load_keys(const Parameters& p, long long request, long long first,
                                          long long end, Quarter (&raw)[kTiles][2]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
    const long long column = first + 16 * m;
    KeyTile tile = {nullptr, nullptr, false};
    if (column < end) tile = find_keys(p, request, column);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = 8 * half + lane / 4;
      raw[m][half] = tile.exists && column + key < end
                         ? load_quarter(tile.values + key * kValueStride,
                                        tile.scales + key * kScaleStride, lane % 4)
                         : no_keys();
    }
  }
}

// Partial sums of one query row over all heads: sum[m][half] of this lane's two heads in every
// tile.
__device__ __forceinline__ void score_row(const Shared& shared, int r, const Keys& keys,
                                          float (&sum)[kTiles][2]) {
  const int lane = threadIdx.x % 32;
#pragma unroll 2
  for (int tile = 0; tile < kHeadTiles; ++tile) {
    Accumulator d[kTiles];
#pragma unroll
    for (int s = 0; s < kSteps; s += 2) {
      const uint4 b = shared.query[r][tile][s / 2][lane];
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        multiply(d[m], keys.a[m][s], b.x, b.y);
        multiply(d[m], keys.a[m][s + 1], b.z, b.w);
      }
    }
    const float2 w = shared.weight[r][tile * 4 + lane % 4];
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& s = sum[m][half];
        s = __fmaf_rn(w.x, head_value(d[m].value(2 * half)), s);
        s = __fmaf_rn(w.y, head_value(d[m].value(2 * half + 1)), s);
      }
    }
  }
}

#if LIJIT_S8
// The same block by block, for rows that do not fold. The lanes that own other blocks than the one
// at hand give zeros.
__device__ __forceinline__ void score_row_by_blocks(const Parameters& p, const Shared& shared,
                                                    long long request, long long first,
                                                    long long end, int r, float (&sum)[kTiles][2]) {
  const int lane = threadIdx.x % 32;
  const int l4 = lane % 4;
  const Table table(0);
  // Loaded again, so that the common path need not keep them.
  Quarter raw[kTiles][2];
  load_keys(p, request, first, end, raw);
#pragma unroll 1
  for (int tile = 0; tile < kHeadTiles; ++tile) {
    float x[kTiles][4];
#pragma unroll 1
    for (int block = 0; block < kBlocks; ++block) {
      Accumulator d[kTiles];
      for (int s = 0; s < kSteps; s += 2) {
        const uint4 b = shared.query[r][tile][s / 2][lane];
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
          unsigned int a[2][4];
#pragma unroll
          for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int step = 0; step < 2; ++step) {
              const unsigned int codes = lane_block(l4) == block ? raw[m][half].words[s + step] : 0;
              decode(codes, table, a[step][half], a[step][half + 2]);
            }
          }
          multiply(d[m], a[0], b.x, b.y);
          multiply(d[m], a[1], b.z, b.w);
        }
      }
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int k =
              __shfl_sync(0xffffffffu, raw[m][half].exponent, (lane & ~3) + block * (4 / kBlocks));
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const int q = shared.exponent[r][tile * 8 + l4 * 2 + i][block];
            const float term = scale_block(d[m].value(2 * half + i), q, k);
            float& total = x[m][2 * half + i];
            total = block == 0 ? term : __fadd_rn(total, term);
          }
        }
      }
    }
    const float2 w = shared.plain_weight[r][tile * 4 + l4];
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& s = sum[m][half];
        s = __fmaf_rn(w.x, head_value(x[m][2 * half]), s);
        s = __fmaf_rn(w.y, head_value(x[m][2 * half + 1]), s);
      }
    }
  }
}
#endif

// (s0 + s1) + (s2 + s3) over the quad, of four keys at once: each lane ends with the key
// m = l4 / 2, half = l4 % 2.
__device__ __forceinline__ float reduce_quad(const float (&sum)[kTiles][2], int l4) {
  float pair[kTiles];
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
    const float keep = l4 % 2 == 0 ? sum[m][0] : sum[m][1];
    const float give = l4 % 2 == 0 ? sum[m][1] : sum[m][0];
    pair[m] = __fadd_rn(keep, __shfl_xor_sync(0xffffffffu, give, 1));
  }
  const float keep = l4 < 2 ? pair[0] : pair[1];
  const float give = l4 < 2 ? pair[1] : pair[0];
  return __fadd_rn(keep, __shfl_xor_sync(0xffffffffu, give, 2));
}

// Scores the keys from `first` on for all rows of the pass and writes their logits.
__device__ __forceinline__ void score_keys(const Parameters& p, const Shared& shared,
                                           long long request, long long first_row, int rows,
                                           long long first, long long end,
                                           const Bounds (&bounds)[kRows],
                                           const Quarter (&raw)[kTiles][2]) {
  const int lane = threadIdx.x % 32;
  const int l4 = lane % 4;
  Keys keys;
  decode_keys(raw, keys);
  const long long tile_column = first + 16 * (l4 / 2);
  const long long column = tile_column + 8 * (l4 % 2) + lane / 4;
  const KeyTile tile =
      tile_column < p.width ? find_keys(p, request, tile_column) : KeyTile{nullptr, nullptr, false};
#if LIJIT_S8
  const Folding(&f)[kTiles][2] = keys.state.folding;
  const bool all_fold = f[0][0].folds && f[0][1].folds && f[1][0].folds && f[1][1].folds;
  const bool keys_fold = __all_sync(0xffffffffu, all_fold);
  const int low = l4 % 2 == 0 ? f[0][0].base : f[0][1].base;
  const int high = l4 % 2 == 0 ? f[1][0].base : f[1][1].base;
  const float key_factor = power_of_two(max(l4 < 2 ? low : high, 0));
#else
  const bool(&n)[kTiles][2] = keys.state.is_nan;
  const bool low = l4 % 2 == 0 ? n[0][0] : n[0][1];
  const bool high = l4 % 2 == 0 ? n[1][0] : n[1][1];
  const bool is_nan = l4 < 2 ? low : high;
#endif
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    float sum[kTiles][2] = {};
    float factor = 1.0f;
    float row_scale = 1.0f;
    const bool is_valid = tile.exists && column >= bounds[r].begin && column < bounds[r].end;
#if LIJIT_S8
    if (keys_fold && shared.folds[r] != 0) {
      score_row(shared, r, keys, sum);
      factor = key_factor;
    } else {
      score_row_by_blocks(p, shared, request, first, end, r, sum);
    }
#else
    score_row(shared, r, keys, sum);
    factor = is_nan ? __uint_as_float(0x7fc00000u) : kSumFactor;
    if (is_valid) {
      row_scale =
          *reinterpret_cast<const float*>(tile.scales + (column - tile_column) * kScaleStride);
    }
#endif
    const float logit = finish(__fmul_rn(reduce_quad(sum, l4), factor), row_scale);
    if (column < p.width && (is_valid || p.keep_tail == 0)) {
      reinterpret_cast<float*>(p.out)[(first_row + r) * p.out_stride + column] =
          is_valid ? logit : minus_infinity();
    }
  }
}

// A work item is a group of rows that share keys and a range of columns.
__device__ __forceinline__ void score(const Parameters& p) {
  __shared__ Shared shared;
  const int warp = threadIdx.x / 32;
  const long long groups_a_request = (row_count(p) + kRows - 1) / kRows;
#if LIJIT_PAGED
  const long long groups = p.batch * groups_a_request;
#else
  const long long groups = groups_a_request;
#endif
  const long long ranges = (p.width + p.block_columns - 1) / p.block_columns;
  for (long long item = blockIdx.x; item < groups * ranges; item += gridDim.x) {
    const long long group = item / ranges;
    const long long first_column = item % ranges * p.block_columns;
    const long long last_column = min(first_column + p.block_columns, p.width);
    const long long request = group / groups_a_request;
    const long long j = group % groups_a_request * kRows;
    const int rows = static_cast<int>(min(row_count(p) - j, static_cast<long long>(kRows)));
    const long long first_row = request * row_count(p) + j;

    Bounds bounds[kRows];
    long long begin = last_column;
    long long end = first_column;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      bounds[r] = r < rows ? row_bounds(p, request, j + r) : Bounds{0, 0};
      if (bounds[r].begin < bounds[r].end) {
        begin = min(begin, bounds[r].begin);
        end = max(end, min(bounds[r].end, last_column));
      }
    }

    if (begin < end) {
      __syncthreads();  // the previous item's queries are no longer read
#if LIJIT_S8
      if (threadIdx.x < kRows) shared.folds[threadIdx.x] = 1;
      __syncthreads();
#endif
      share_queries(p, first_row, rows, shared);
      __syncthreads();
    }
    const long long from = first_column + warp * kTiles * 16;
    Quarter raw[kTiles][2];
    load_keys(p, request, from, end, raw);
    for (long long first = from; first < last_column; first += kKeysPerPass) {
      Quarter next[kTiles][2];
      load_keys(p, request, first + kKeysPerPass, end, next);
      if (first < end && first + kTiles * 16 > begin) {
        score_keys(p, shared, request, first_row, rows, first, end, bounds, raw);
      } else if (p.keep_tail == 0) {
        const long long column = first + threadIdx.x % 32;
        for (int r = 0; r < rows; ++r) {
          if (column < p.width) {
            reinterpret_cast<float*>(p.out)[(first_row + r) * p.out_stride + column] =
                minus_infinity();
          }
        }
      }
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        raw[m][0] = next[m][0];
        raw[m][1] = next[m][1];
      }
    }
  }
}
