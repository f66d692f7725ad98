// SPDX-License-Identifier: Apache-2.0
// Scores by warp-level tensor cores (mma.sync), for logits.ragged and logits.paged.
//
// Keys are the rows of the A operand and heads the columns of B, so that a quad of lanes holds the
// four partial sums of docs/numerics.md. The order of k inside a dot product is free as long as
// both sides agree: each lane of a quad owns a quarter of a row, which is what it loads in one
// piece and, at head_dim 128, exactly one block of 32. Keys go from global memory to registers;
// queries of a few rows are decoded once into shared memory in the order of B fragments.
//
// What stands before this text: logits_common.cu, and operands_s8.cu or operands_f16.cu.

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kTiles = 2;  // tiles of 16 keys a warp holds at once
constexpr int kKeysPerPass = kWarps * kTiles * 16;
constexpr int kHeadTiles = kHeads / 8;

struct KeyState {
#if LIJIT_S8
  Folding folding[kTiles][2];
#else
  bool is_nan[kTiles][2];
#endif
};

// ---- Rows and keys -----------------------------------------------------------------------------

struct Shared {
  // B fragments: both registers of two steps in one 16-byte load a lane.
  uint4 query[kRows][kHeadTiles][kSteps / 2][32];
  float2 weight[kRows][kHeads / 2];  // what a sum is multiplied with
  Bounds bounds[kRows];              // valid columns
#if LIJIT_S8
  float2 plain_weight[kRows][kHeads / 2];          // the same without a folded exponent
  unsigned char exponent[kRows][kHeads][kBlocks];  // of each block of the query as it is held
  int folds[kRows];
#endif
};

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
    unsigned int registers[2 * kSteps];
#if LIJIT_S8
    const Folding f = fold_head(q.exponent, weight);
    if (!f.folds) atomicAnd(&shared.folds[r], 0);
    decode_quarter(q, Table(f.shift), registers);
    if (l4 % (4 / kBlocks) == 0) {
      shared.exponent[r][head][lane_block(l4)] = static_cast<unsigned char>(q.exponent - f.shift);
    }
    if (l4 == 0) {
      reinterpret_cast<float*>(shared.plain_weight[r])[head] = weight;
      if (f.folds) weight = fold_weight(weight, f.base);
    }
#else
    weight = has_nan(q) ? __uint_as_float(0x7fc00000u) : weight * kWeightFactor;
    decode_quarter(q, registers);
#endif
#pragma unroll
    for (int s = 0; s < kSteps; s += 2) {
      shared.query[r][tile][s / 2][lane] = make_uint4(registers[2 * s], registers[2 * s + 1],
                                                      registers[2 * s + 2], registers[2 * s + 3]);
    }
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
      unsigned int registers[2 * kSteps];
#if LIJIT_S8
      const Folding f = fold(q.exponent);
      keys.state.folding[m][half] = f;
      decode_quarter(q, Table(max(f.shift, 0)), registers);
#else
      keys.state.is_nan[m][half] = has_nan(q);
      decode_quarter(q, registers);
#endif
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        keys.a[m][s][half] = registers[2 * s];
        keys.a[m][s][half + 2] = registers[2 * s + 1];
      }
    }
  }
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
        s = __fmaf_rn(w.x, head_of(d[m].v[2 * half]), s);
        s = __fmaf_rn(w.y, head_of(d[m].v[2 * half + 1]), s);
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
            const int d_b = static_cast<int>(d[m].v[2 * half + i]);
            const float term = scale_block(__int2float_rn(d_b), q, k);
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
  const float key_factor = exponent_factor(l4 < 2 ? low : high);
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
    const Bounds bounds = shared.bounds[r];
    const bool is_valid = tile.exists && column >= bounds.begin && column < bounds.end;
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

    __syncthreads();  // the previous item's rows are no longer read
    if (threadIdx.x < kRows) {
      const bool is_row = static_cast<int>(threadIdx.x) < rows;
      shared.bounds[threadIdx.x] = is_row ? row_bounds(p, request, j + threadIdx.x) : Bounds{0, 0};
#if LIJIT_S8
      shared.folds[threadIdx.x] = 1;
#endif
    }
    __syncthreads();
    long long begin = last_column;
    long long end = first_column;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Bounds bounds = shared.bounds[r];
      if (bounds.begin >= bounds.end) continue;
      begin = min(begin, static_cast<long long>(bounds.begin));
      end = max(end, min(static_cast<long long>(bounds.end), last_column));
    }
    if (begin < end) share_queries(p, first_row, rows, shared);
    __syncthreads();
    const long long from = first_column + warp * kTiles * 16;
    Quarter raw[kTiles][2];
    load_keys(p, request, from, end, raw);
    for (long long first = from; first < last_column; first += kKeysPerPass) {
      Quarter next[kTiles][2];
      load_keys(p, request, first + kKeysPerPass, end, next);
      if (first < end && first + kTiles * 16 > begin) {
        score_keys(p, shared, request, first_row, rows, first, end, raw);
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
