// SPDX-License-Identifier: Apache-2.0
// Scores by warpgroup tensor cores (wgmma), for logits.ragged and logits.paged on sm_90a.
//
// A block stays on its multiprocessor and does an equal share of all tiles: 64 keys of a group of
// query rows that share them. Four warps bring tiles into a ring of stages by bulk copies, each for
// one warpgroup, which decodes the keys into registers (the A operand, 64 rows) and multiplies them
// with the group's queries, which lie decoded in shared memory (B, K-major). Inside a dot product
// the order of k is free as long as both sides agree: each lane of a quad owns a quarter of a row,
// as in mma_logits.cu, so that a quad holds the partial sums of docs/numerics.md.
//
// What stands before this text: logits_common.cu, operands_s8.cu or operands_e4m3.cu,
// wgmma_memory.cu, wgmma_work.cu, and what is made for its numbers of keys and heads: struct Tile
// (the accumulator of 64 keys by kMmaRows * kHeads), multiply_step, and fence, which keeps its
// registers where they are.

// ---- Queries -----------------------------------------------------------------------------------

// Rows of kDim bytes with the swizzle that wgmma reads: 16-byte chunks xored with the row's number
// among the rows that share 1024 bytes (or 512, 256).
__device__ __forceinline__ unsigned int swizzled(int row, int byte) {
  constexpr int kRowsAPattern = 128 / (kDim < 128 ? kDim : 128);
  constexpr int kMask = (kDim < 128 ? kDim : 128) / 16 - 1;
  return row * kDim + (byte ^ ((row / kRowsAPattern & kMask) << 4));
}

// The descriptor of K-major rows that begin at `p`, a multiple of eight rows: its lower half. The
// upper one is the same for all, kDescriptorHigh.
__device__ __forceinline__ unsigned int describe(const unsigned char* p) {
  return (shared_address(p) & 0x3ffffu) >> 4 | 1u << 16;
}

__device__ __forceinline__ float* weight_of(Queries& q, int r, int head) {
  return &q.weight[r][head / 2 % 4][head / 8 * 2 + head % 2];
}

// One lane's quarter of a head, decoded, with its place among the K of the steps.
__device__ __forceinline__ void store_quarter(unsigned char* query, int head, int l4,
                                              const unsigned int (&bytes)[2 * kSteps]) {
#pragma unroll
  for (int i = 0; i < 2 * kSteps; ++i) {
    *reinterpret_cast<unsigned int*>(query + swizzled(head, i * 16 + l4 * 4)) = bytes[i];
  }
}

__device__ __forceinline__ void share_query(const Parameters& p, long long row, int r, int head,
                                            int l4, unsigned char* query, Queries& q) {
  const long long at = row * kHeads + head;
  const Quarter raw =
      load_quarter(p.q_values + at * kValueBytes, p.q_scales + at * kScaleBytes, l4);
  float weight = reinterpret_cast<const float*>(p.weights)[row * p.weight_stride + head];
  unsigned int bytes[2 * kSteps];
#if LIJIT_S8
  const Folding f = fold_head(raw.exponent, weight);
  if (!f.folds) {
    atomicAnd(&q.folds[r], 0);
    atomicAnd(&q.all_fold, 0);
  }
  decode_quarter(raw, Table(f.shift), bytes);
  if (l4 % (4 / kBlocks) == 0) {
    q.exponent[r][head][lane_block(l4)] = static_cast<unsigned char>(raw.exponent - f.shift);
  }
  if (l4 == 0) q.plain_weight[r][head] = weight;
  if (f.folds) weight = fold_weight(weight, f.base);
#else
  decode_quarter(raw, bytes);
  weight *= kWeightFactor;
#endif
  store_quarter(query, head, l4, bytes);
  if (l4 == 0) *weight_of(q, r, head) = weight;
}

// Rows up to a multiple of kMmaRows exist; those without a query are zeros.
__device__ __forceinline__ void share_queries(const Parameters& p, const Group& g, int slot,
                                              Shared& shared) {
  Queries& q = shared.queries[slot];
  const int held = min((g.rows + kMmaRows - 1) / kMmaRows * kMmaRows, kRows);
  if (threadIdx.x < kRows && static_cast<int>(threadIdx.x) < g.rows) {
    q.bounds[threadIdx.x] = row_bounds(p, g.request, g.first_of_request + threadIdx.x);
  }
#if LIJIT_S8
  if (threadIdx.x < kRows) q.folds[threadIdx.x] = 1;
  if (threadIdx.x == 0) q.all_fold = 1;
  synchronize_math();
#endif
  constexpr int kQuarters = kHeads * 4;
  for (int i = threadIdx.x; i < held * kQuarters; i += kMathThreads) {
    const int r = i / kQuarters;
    const int head = i / 4 % kHeads;
    if (r < g.rows) {
      share_query(p, g.first_row + r, r, head, i % 4, shared.query[slot][r], q);
    } else {
      const unsigned int nothing[2 * kSteps] = {};
      store_quarter(shared.query[slot][r], head, i % 4, nothing);
      if (i % 4 == 0) *weight_of(q, r, head) = 0.0f;
    }
  }
  fence_async_proxy();
  synchronize_math();
}

// ---- Scores ------------------------------------------------------------------------------------

// What a math thread is, among the 128 of its warpgroup: it decodes its quarters of rows `row` and
// `row` + 8 of each tile, and of these it writes the logit of row `own` if `writes`.
struct Lane {
  int row, quarter, own;
  bool writes, odd;
  // Of what it reads of a stage, from the stage's first byte.
  unsigned int values, scales;
};

__device__ __forceinline__ Lane find_lane() {
  const int lane = threadIdx.x % 32;
  const int l4 = lane % 4;
  Lane l;
  l.row = threadIdx.x / 32 % 4 * 16 + lane / 4;
  l.quarter = l4;
  l.odd = l4 % 2 != 0;
  l.own = l.row + 8 * (l4 % 2);
  l.writes = l4 < 2;
  l.values = keep(l.row * kValueBytes + l4 * (kValueBytes / 4));
#if LIJIT_S8
  l.scales = keep(kTileKeys * kValueBytes + l.row * kScaleBytes + lane_block(l4));
#else
  l.scales = keep(kTileKeys * kValueBytes + l.own * kScaleBytes);
#endif
  return l;
}

// A tile of keys in registers, and what is known of them.
struct Keys {
  unsigned int a[kSteps][4];
  float factor;     // of the logit that this lane writes
  float row_scale;  // likewise
  bool fold;        // those of the whole warp do
};

// `tables`: where they are in shared memory.
__device__ __forceinline__ void decode_keys(unsigned int tables, const Quarter (&raw)[2],
                                            const Lane& lane, Keys& keys) {
  unsigned int bytes[2][2 * kSteps];
#if LIJIT_S8
  const FoldedPair f = fold_pair(raw[0].exponent, raw[1].exponent);
  unsigned int words[2][4];
  load_shared(tables + (f.below & 0xffff) * 16, words[0]);
  load_shared(tables + (f.below >> 16) * 16, words[1]);
  decode_quarter(raw[0], Table(words[0]), bytes[0]);
  decode_quarter(raw[1], Table(words[1]), bytes[1]);
  keys.fold = __all_sync(kAll, f.fold);
  const unsigned int highest = permute(f.highest, 0, lane.odd ? 0x4432 : 0x4410);
  keys.factor = exponent_factor(static_cast<int>(highest) - kMaxShift);
#else
  decode_quarter(raw[0], bytes[0]);
  decode_quarter(raw[1], bytes[1]);
  keys.fold = true;
  keys.factor = kSumFactor;
#endif
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      keys.a[s][half] = bytes[half][2 * s];
      keys.a[s][half + 2] = bytes[half][2 * s + 1];
    }
  }
}

// What a math thread knows of the group that it scores. Addresses are in shared memory.
struct Scoring {
  int rows;
  unsigned int weights;      // of this lane's heads in row 0
  unsigned int description;  // of row 0's matrix
  unsigned int folds;        // whether all rows do
  float* out;                // of row 0, at this lane's key of a tile at column 0
  int slot;
};

// Adds the heads of one row, of which this lane has two in every eight: the accumulators from
// `first` on.
__device__ __forceinline__ void add_heads(unsigned int weights, const Tile& tile, int first,
                                          float (&sum)[2]) {
  unsigned int w[kLaneHeads];
  load_shared(weights, w);
#pragma unroll
  for (int i = 0; i < kLaneHeads; ++i) {
    const int at = first + 2 * (i / 2 * 2) + i % 2;
    sum[0] = __fmaf_rn(__uint_as_float(w[i]), head_of(tile.v[at]), sum[0]);
    sum[1] = __fmaf_rn(__uint_as_float(w[i]), head_of(tile.v[at + 2]), sum[1]);
  }
}

// (s0 + s1) + (s2 + s3) over the quad: lane 0 ends with the first of its two keys, lane 1 with the
// second.
__device__ __forceinline__ float reduce_quad(const float (&sum)[2], const Lane& lane) {
  const float keep = lane.odd ? sum[1] : sum[0];
  const float give = lane.odd ? sum[0] : sum[1];
  const float pair = __fadd_rn(keep, __shfl_xor_sync(kAll, give, 1));
  return __fadd_rn(pair, __shfl_xor_sync(kAll, pair, 2));
}

// Starts the products of kMmaRows rows, whose matrix is `b`.
__device__ __forceinline__ void start_rows(unsigned int b, const Keys& keys, Tile& tile) {
  fence(tile);
  begin_multiply();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    multiply_step(tile, keys.a[s], b + 2 * s, kDescriptorHigh, s > 0);
  }
  end_multiply();
}

// The logits of all rows with a tile of keys: write(row, where it is in the output, logit).
template <typename Write>
__device__ __forceinline__ void score_rows(const Parameters& p, const Scoring& g, const Lane& lane,
                                           const Keys& keys, float* out, Write&& write) {
  unsigned int b = g.description;
  unsigned int weights = g.weights;
  int r = 0;
#pragma unroll 1
  do {
    Tile tile;
    start_rows(b, keys, tile);
    wait_for_products();
    fence(tile);
#pragma unroll
    for (int i = 0; i < kMmaRows; ++i) {
      float sum[2] = {};
      add_heads(weights + i * (16 * kLaneStride), tile, i * kHeads / 2, sum);
      const float logit = finish(__fmul_rn(reduce_quad(sum, lane), keys.factor), keys.row_scale);
      if (kMmaRows == 1 || r + i < g.rows) write(r + i, out, logit);
      out += p.out_stride;
    }
    b += kMmaRows * (kQueryBytes / 16);
    weights += kMmaRows * (16 * kLaneStride);
    r += kMmaRows;
  } while (r < g.rows);
}

__device__ __forceinline__ bool holds(const Contents& c, int row) {
  return row < c.count && (c.pieces >> (row / kPieceKeys) & 1) != 0;
}

// This lane's quarters of an edge tile.
__device__ __forceinline__ void load_keys(const Stage& stage, const Contents& contents,
                                          const Lane& lane, Quarter (&raw)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane.row + 8 * half;
    raw[half] = no_keys();
    if (holds(contents, row)) {
      raw[half] = load_quarter(stage.values + row * kValueBytes, stage.scales + row * kScaleBytes,
                               lane.quarter);
    }
  }
}

// Of an edge tile some keys are missing, or not valid in some row.
__device__ __forceinline__ void write_edge(const Parameters& p, const Bounds& bounds,
                                           const Lane& lane, int column, bool exists, float* out,
                                           float logit) {
  const int own = column + lane.own;
  const bool valid = exists && own >= bounds.begin && own < bounds.end;
  if (lane.writes && own < p.width && (valid || p.keep_tail == 0)) {
    *out = valid ? logit : minus_infinity();
  }
}

#if LIJIT_S8
// The sum of row `r` block by block: warp-level products in which the lanes that own other blocks
// than the one at hand give zeros.
__device__ __forceinline__ void add_heads_by_blocks(const Queries& q, const unsigned char* query,
                                                    int r, const Quarter (&raw)[2], const Lane& own,
                                                    float (&sum)[2]) {
  const int lane = threadIdx.x % 32;
  const int l4 = own.quarter;
  const Table table(0);
  unsigned int bytes[2][2 * kSteps];
  decode_quarter(raw[0], table, bytes[0]);
  decode_quarter(raw[1], table, bytes[1]);
#pragma unroll 1
  for (int first = 0; first < kHeads; first += 8) {
    float x[4] = {};
#pragma unroll 1
    for (int block = 0; block < kBlocks; ++block) {
      const unsigned int mask = lane_block(l4) == block ? kAll : 0;
      Accumulator d;
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        const int head = first + lane / 4;
        const unsigned int a[4] = {bytes[0][2 * s] & mask, bytes[1][2 * s] & mask,
                                   bytes[0][2 * s + 1] & mask, bytes[1][2 * s + 1] & mask};
        const unsigned int b0 =
            *reinterpret_cast<const unsigned int*>(query + swizzled(head, s * 32 + l4 * 4));
        const unsigned int b1 =
            *reinterpret_cast<const unsigned int*>(query + swizzled(head, s * 32 + 16 + l4 * 4));
        multiply(d, a, b0, b1);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int k = __shfl_sync(kAll, raw[half].exponent, (lane & ~3) + block * (4 / kBlocks));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int e = q.exponent[r][first + l4 * 2 + i][block];
          const int d_b = static_cast<int>(d.v[2 * half + i]);
          const float term = scale_block(__int2float_rn(d_b), e, k);
          float& total = x[2 * half + i];
          total = block == 0 ? term : __fadd_rn(total, term);
        }
      }
    }
    const float* weight = &q.plain_weight[r][first + l4 * 2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[half] = __fmaf_rn(weight[0], head_value(x[2 * half]), sum[half]);
      sum[half] = __fmaf_rn(weight[1], head_value(x[2 * half + 1]), sum[half]);
    }
  }
}

// Writes the logits anew of rows whose scales, or the keys', do not fold. `out`: row 0.
__device__ __forceinline__ void score_by_blocks(const Parameters& p, const Shared& shared,
                                                const Scoring& g, const Lane& lane, int index,
                                                int column, bool keys_fold, float* out) {
  const Queries& q = shared.queries[g.slot];
  const Contents contents = shared.contents[index];
  Quarter raw[2];
  load_keys(shared.stages[index], contents, lane, raw);
#pragma unroll 1
  for (int r = 0; r < g.rows; ++r) {
    if (keys_fold && q.folds[r] != 0) continue;
    float sum[2] = {};
    add_heads_by_blocks(q, shared.query[g.slot][r], r, raw, lane, sum);
    const float logit = finish(__fmul_rn(reduce_quad(sum, lane), kSumFactor), 1.0f);
    write_edge(p, q.bounds[r], lane, column, holds(contents, lane.own), out + r * p.out_stride,
               logit);
  }
}
#endif

// The warp has what it needs of the stage.
__device__ __forceinline__ void give_back(unsigned int empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(empty);
}

// Where a warpgroup is in its tiles; addresses of what belongs to stage 0.
struct Place {
  Ring<kStages> ring;
  int next;  // tile, counted from the part's first
  unsigned int stages, full, empty, contents, tables;
};

__device__ __forceinline__ Place find_place(Shared& shared, int warpgroup) {
  Place place = {{warpgroup, 0}, warpgroup};
  place.stages = keep(shared_address(shared.stages));
  place.full = keep(shared_address(shared.full));
  place.empty = place.full + kStages * 8;
  place.contents = place.empty + kStages * 8;
#if LIJIT_S8
  place.tables = place.contents + kStages * 4;
#endif
  return place;
}

// A tile whose keys are all there and valid in all rows: what nearly all are.
__device__ __forceinline__ void score_inner(const Parameters& p, const Shared& shared,
                                            const Scoring& g, const Lane& lane, const Place& place,
                                            int column) {
  const unsigned int stage = place.stages + place.ring.index * static_cast<int>(sizeof(Stage));
  const unsigned int empty = place.empty + place.ring.index * 8;
  float* out = g.out + column;
  Quarter raw[2];
  Keys keys;
  load_shared(stage + lane.values, raw[0].words);
  load_shared(stage + lane.values + 8 * kValueBytes, raw[1].words);
#if LIJIT_S8
  raw[0].exponent = load_shared_byte(stage + lane.scales);
  raw[1].exponent = load_shared_byte(stage + lane.scales + 8 * kScaleBytes);
  keys.row_scale = 1.0f;
#else
  keys.row_scale = __uint_as_float(load_shared_word(stage + lane.scales));
#endif
  decode_keys(place.tables, raw, lane, keys);
#if LIJIT_S8
  const bool folds = keys.fold && load_shared_word(g.folds) != 0;
#else
  const bool folds = true;
#endif
  if (folds) give_back(empty);
  score_rows(p, g, lane, keys, out, [&](int, float* to, float logit) {
    if (lane.writes) *to = logit;
  });
#if LIJIT_S8
  if (!folds) {
    score_by_blocks(p, shared, g, lane, place.ring.index, column, keys.fold, out);
    give_back(empty);
  }
#endif
}

__device__ __forceinline__ void score_edge(const Parameters& p, const Shared& shared,
                                           const Scoring& g, const Lane& lane, const Place& place,
                                           int column) {
  const Stage& stage = shared.stages[place.ring.index];
  const Contents contents = shared.contents[place.ring.index];
  const Queries& q = shared.queries[g.slot];
  const bool exists = holds(contents, lane.own);
  float* out = g.out + column;
  Quarter raw[2];
  Keys keys;
  load_keys(stage, contents, lane, raw);
  keys.row_scale = 1.0f;
#if !LIJIT_S8
  if (exists) keys.row_scale = reinterpret_cast<const float*>(stage.scales)[lane.own];
#endif
  decode_keys(place.tables, raw, lane, keys);
  score_rows(p, g, lane, keys, out, [&](int r, float* to, float logit) {
    write_edge(p, q.bounds[r], lane, column, exists, to, logit);
  });
#if LIJIT_S8
  if (!keys.fold || q.all_fold == 0) {
    score_by_blocks(p, shared, g, lane, place.ring.index, column, keys.fold, out);
  }
#endif
  give_back(place.empty + place.ring.index * 8);
}

__device__ __forceinline__ Scoring find_scoring(const Parameters& p, const Group& g, int slot,
                                                Shared& shared, const Lane& lane) {
  Queries& q = shared.queries[slot];
  Scoring s;
  s.rows = g.rows;
  s.slot = slot;
  s.weights = keep(shared_address(q.weight[0][lane.quarter]));
  s.description = keep(describe(shared.query[slot][0]));
#if LIJIT_S8
  s.folds = keep(shared_address(&q.all_fold));
#endif
  s.out = reinterpret_cast<float*>(p.out) + g.first_row * p.out_stride + lane.own;
  return s;
}

__device__ __forceinline__ void consume(const Parameters& p, const Share& share, Shared& shared) {
  constexpr unsigned int kInner = kTileKeys | ((1u << kPieces) - 1) << 16 | 1u << 24;
  const Lane lane = find_lane();
  Place place = find_place(shared, threadIdx.x / 128);
  int slot = 0;
  Walk walk = {share.group, share.tile, share.tiles};
#pragma unroll 1
  for (Part part = next_part(p, walk); part.count > 0; part = next_part(p, walk)) {
    share_queries(p, part.group, slot, shared);
    const Scoring scoring = find_scoring(p, part.group, slot, shared, lane);
#pragma unroll 1
    for (; place.next < part.count; place.next += kWarpgroups) {
      const int column = (part.first + place.next) * kTileKeys;
      wait(place.full + place.ring.index * 8, place.ring.parity);
      if (load_shared_word(place.contents + place.ring.index * 4) == kInner) {
        score_inner(p, shared, scoring, lane, place, column);
      } else {
        score_edge(p, shared, scoring, lane, place, column);
      }
      place.ring.advance(kWarpgroups);
    }
    place.next -= part.count;
    slot ^= 1;
  }
}

// Columns that no tile of their row's group covers, some at a time.
__device__ __forceinline__ void fill_outside(const Parameters& p) {
  constexpr long long kColumns = 4096;
  const int lane = threadIdx.x % 32;
  const long long chunks = (p.width + kColumns - 1) / kColumns;
  const long long items = group_count(p) * chunks;
  const long long warps = static_cast<long long>(gridDim.x) * (kMathThreads / 32);
#pragma unroll 1
  for (long long i = blockIdx.x * (kMathThreads / 32) + threadIdx.x / 32; i < items; i += warps) {
    const int group = static_cast<int>(i / chunks);
    const Group g = find_group(p, group);
    const long long from = (i - group * chunks) * kColumns;
    const long long to = min(from + kColumns, p.width);
    const int tiles = g.tiles();
    const long long begin = tiles > 0 ? static_cast<long long>(g.first_tile()) * kTileKeys : to;
    const long long end = begin + static_cast<long long>(tiles) * kTileKeys;
    if (begin <= from && to <= end) continue;
#pragma unroll 1
    for (int r = 0; r < g.rows; ++r) {
      float* out = reinterpret_cast<float*>(p.out) + (g.first_row + r) * p.out_stride;
#pragma unroll 1
      for (long long c = from + lane; c < to; c += 32) {
        if (c < begin || c >= end) out[c] = minus_infinity();
      }
    }
  }
}

__device__ __forceinline__ void score(const Parameters& p, unsigned char* shared_bytes) {
  Shared& shared = *reinterpret_cast<Shared*>(shared_bytes);
  if (threadIdx.x == 0) {
    // Of a block without a share nobody says where that begins.
    shared.start_group = 0;
    shared.start_tile = 0;
    for (int i = 0; i < kStages; ++i) {
      init_barrier(shared.full[i], 1);
      init_barrier(shared.empty[i], 4);  // one arrival of each warp of a warpgroup
    }
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
#if LIJIT_S8
  if (threadIdx.x <= kMaxShift) {
    shared.tables[threadIdx.x] = Table(kMaxShift - static_cast<int>(threadIdx.x)).words();
  }
#endif
  const Share share = find_share(p, shared);  // synchronizes
  if (threadIdx.x >= kMathThreads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(kProducerRegisters));
    if (threadIdx.x < kMathThreads + kWarpgroups * 32) produce(p, share, shared);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(kMathRegisters));
    consume(p, share, shared);
    if (share.has_outside && p.keep_tail == 0) fill_outside(p);
  }
}
