// SPDX-License-Identifier: Apache-2.0
// The work of a block of wgmma_logits.cu: which tiles are its share, and how they come into shared
// memory.
//
// What stands before this text: wgmma_memory.cu.

// ---- Work --------------------------------------------------------------------------------------

// Rows that share keys, and the tiles that hold a valid column of one of them. There are fewer than
// 2^31 groups: their queries fit memory.
struct Group {
  int request, first_of_request;  // row of the request
  long long first_row;            // row of the output
  int rows;
  int begin, end;              // of the columns that are valid in some row
  int inner_begin, inner_end;  // of those that are valid in all rows
  __device__ __forceinline__ int first_tile() const { return begin / kTileKeys; }
  __device__ __forceinline__ int tiles() const {
    return begin < end ? (end + kTileKeys - 1) / kTileKeys - first_tile() : 0;
  }
};

__device__ __forceinline__ int groups_a_request(const Parameters& p) {
  return static_cast<int>((row_count(p) + kRows - 1) / kRows);
}

__device__ __forceinline__ int group_count(const Parameters& p) {
#if LIJIT_PAGED
  return static_cast<int>(p.batch) * groups_a_request(p);
#else
  return groups_a_request(p);
#endif
}

// Without its columns.
__device__ __forceinline__ Group find_rows(const Parameters& p, int index) {
  const int per_request = groups_a_request(p);
  Group g;
  g.request = LIJIT_PAGED ? index / per_request : 0;
  g.first_of_request = (index - g.request * per_request) * kRows;
  g.rows = static_cast<int>(min(row_count(p) - g.first_of_request, static_cast<long long>(kRows)));
  g.first_row = g.request * row_count(p) + g.first_of_request;
  g.begin = 0x7fffffff;
  g.end = 0;
  g.inner_begin = 0;
  g.inner_end = 0x7fffffff;
  return g;
}

__device__ __forceinline__ void add_columns(Group& g, const Bounds& b) {
  g.inner_begin = max(g.inner_begin, b.begin);
  g.inner_end = min(g.inner_end, b.end);
  if (b.begin >= b.end) return;
  g.begin = min(g.begin, b.begin);
  g.end = max(g.end, b.end);
}

// By one thread.
__device__ __forceinline__ Group find_group_alone(const Parameters& p, int index) {
  Group g = find_rows(p, index);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    // Rows past the end repeat the last one.
    add_columns(g, row_bounds(p, g.request, g.first_of_request + min(r, g.rows - 1)));
  }
  return g;
}

// By all lanes of a warp.
__device__ __forceinline__ Group find_group(const Parameters& p, int index) {
  Group g = find_rows(p, index);
  const int r = min(static_cast<int>(threadIdx.x % 32), g.rows - 1);
  add_columns(g, row_bounds(p, g.request, g.first_of_request + r));
  g.begin = __reduce_min_sync(kAll, g.begin);
  g.end = __reduce_max_sync(kAll, g.end);
  g.inner_begin = __reduce_max_sync(kAll, g.inner_begin);
  g.inner_end = __reduce_min_sync(kAll, g.inner_end);
  return g;
}

// This block's share: `tiles` from tile `tile` of group `group` on.
struct Share {
  int group, tile;
  long long tiles;
  bool has_outside;  // whether some row has columns that no tile covers
};

// All threads take part; each counts the tiles of some groups that follow one another.
__device__ __forceinline__ Share find_share(const Parameters& p, Shared& shared) {
  const int lane = threadIdx.x % 32;
  const int groups = group_count(p);
  const int each = (groups + kThreads - 1) / kThreads;
  const int from = min(each * static_cast<int>(threadIdx.x), groups);
  const int to = min(from + each, groups);
  long long count = 0;
  bool outside = false;
#pragma unroll 1
  for (int i = from; i < to; ++i) {
    const Group g = find_group_alone(p, i);
    const int tiles = g.tiles();
    count += tiles;
    outside |= tiles == 0 || g.begin >= kTileKeys ||
               (g.first_tile() + static_cast<long long>(tiles)) * kTileKeys < p.width;
  }
  long long before = count;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const long long other = __shfl_up_sync(kAll, before, step);
    if (lane >= step) before += other;
  }
  if (lane == 31) shared.totals[threadIdx.x / 32] = before;
  before -= count;
  Share share;
  share.has_outside = __syncthreads_or(outside ? 1 : 0) != 0;
  long long total = 0;
#pragma unroll 1
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < threadIdx.x / 32) before += shared.totals[w];
    total += shared.totals[w];
  }
  // Shares differ by one tile at most.
  const long long part = total / gridDim.x;
  const long long more = total % gridDim.x;
  const long long block = blockIdx.x;
  const long long first = part * block + min(block, more);
  share.tiles = part + (block < more ? 1 : 0);
  if (before <= first && first < before + count) {
    int tile = static_cast<int>(first - before);
    int i = from;
#pragma unroll 1
    for (; i < to; ++i) {
      const int tiles = find_group_alone(p, i).tiles();
      if (tile < tiles) break;
      tile -= tiles;
    }
    shared.start_group = i;
    shared.start_tile = tile;
  }
  __syncthreads();
  share.group = shared.start_group;
  share.tile = shared.start_tile;
  return share;
}

// Walks over the groups that a share touches. All lanes of a warp take part.
struct Walk {
  int index, tile;  // the next group, and its first tile of the share
  long long left;   // tiles of the share from there on
};

// The next group with its tiles [first, first + count), or count 0 at the end.
struct Part {
  Group group;
  int first, count;
};

__device__ __forceinline__ Part next_part(const Parameters& p, Walk& walk) {
  Part part;
  part.count = 0;
  while (walk.left > 0 && part.count == 0) {
    part.group = find_group(p, walk.index++);
    part.first = part.group.first_tile() + walk.tile;
    part.count =
        static_cast<int>(min(static_cast<long long>(part.group.tiles() - walk.tile), walk.left));
    walk.tile = 0;
    walk.left -= part.count;
  }
  return part;
}

// ---- Producers ---------------------------------------------------------------------------------

__device__ __forceinline__ bool is_whole(const Contents& c) {
  return c.count == kTileKeys && c.pieces == (1u << kPieces) - 1;
}

struct Pieces {
  const unsigned char* values[kPieces];
  const unsigned char* scales[kPieces];
  Contents contents;
};

__device__ __forceinline__ Pieces find_pieces(const Parameters& p, const Group& g, int column) {
  Pieces t;
  const int count = min(g.end - column, kTileKeys);
  unsigned int pieces = 0;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    t.values[i] = nullptr;
    t.scales[i] = nullptr;
    if (i * kPieceKeys >= count) continue;
    const KeyTile keys = find_keys(p, g.request, column + i * kPieceKeys);
    t.values[i] = keys.values;
    t.scales[i] = keys.scales;
    if (keys.exists) pieces |= 1u << i;
  }
  t.contents.count = static_cast<unsigned short>(count);
  t.contents.pieces = static_cast<unsigned char>(pieces);
  t.contents.inner =
      is_whole(t.contents) && column >= g.inner_begin && column + kTileKeys <= g.inner_end;
  return t;
}

// One lane copies its tile, of 64 keys. Where they are all of a page one copy does.
__device__ __forceinline__ void copy_whole(const Pieces& t, Stage& to,
                                           unsigned long long& barrier) {
  arrive_and_expect(barrier, sizeof(Stage));
  if constexpr (LIJIT_PAGED && kPage == kTileKeys && kScaleBase == kTileKeys * kValueBytes) {
    copy_bulk(&to, t.values[0], sizeof(Stage), barrier);
  } else {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      copy_bulk(to.values + i * kPieceKeys * kValueBytes, t.values[i], kPieceKeys * kValueBytes,
                barrier);
      copy_bulk(to.scales + i * kPieceKeys * kScaleBytes, t.scales[i], kPieceKeys * kScaleBytes,
                barrier);
    }
  }
}

// The warp copies a tile that is not whole, the one of lane `owner`: scales word by word, since
// their bytes need not be a multiple of 16.
__device__ __forceinline__ void copy_some(const Pieces& mine, int owner, Stage& to,
                                          unsigned long long& barrier) {
  const int lane = threadIdx.x % 32;
  const int count = __shfl_sync(kAll, mine.contents.count, owner);
  const unsigned int pieces = __shfl_sync(kAll, mine.contents.pieces, owner);
  int bytes = 0;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const unsigned long long from =
        __shfl_sync(kAll, reinterpret_cast<unsigned long long>(mine.scales[i]), owner);
    if ((pieces >> i & 1) == 0) continue;
    const int keys = min(count - i * kPieceKeys, kPieceKeys);
    bytes += keys * kValueBytes;
    for (int k = lane; k < keys; k += 32) {
      reinterpret_cast<unsigned int*>(to.scales)[i * kPieceKeys + k] =
          reinterpret_cast<const unsigned int*>(from)[k];
    }
  }
  fence_async_proxy();  // a later bulk copy may write here
  __syncwarp();
  if (lane != owner) return;
  arrive_and_expect(barrier, bytes);
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    if ((pieces >> i & 1) == 0) continue;
    const int keys = min(count - i * kPieceKeys, kPieceKeys);
    copy_bulk(to.values + i * kPieceKeys * kValueBytes, mine.values[i], keys * kValueBytes,
              barrier);
  }
}

// A warp brings the tiles of one warpgroup.
__device__ __forceinline__ void produce(const Parameters& p, const Share& share, Shared& shared) {
  const int lane = threadIdx.x % 32;
  const int warpgroup = (threadIdx.x - kMathThreads) / 32;
  Ring<kStages> ring = {warpgroup, 1};  // fresh stages count as given back
  int next = warpgroup;
  Walk walk = {share.group, share.tile, share.tiles};
#pragma unroll 1
  for (Part part = next_part(p, walk); part.count > 0; part = next_part(p, walk)) {
#pragma unroll 1
    while (next < part.count) {
      // A lane looks up where one tile lies, so that the loads overlap.
      Pieces mine = {};
      const int own = next + lane * kWarpgroups;
      if (own < part.count) mine = find_pieces(p, part.group, (part.first + own) * kTileKeys);
      const unsigned int whole = __ballot_sync(kAll, is_whole(mine.contents));
#pragma unroll 1
      for (int j = 0; j < 32 && next < part.count; ++j, next += kWarpgroups) {
        Stage& stage = shared.stages[ring.index];
        unsigned long long& full = shared.full[ring.index];
        wait(shared_address(&shared.empty[ring.index]), ring.parity);
        if (lane == j) shared.contents[ring.index] = mine.contents;
        if ((whole >> j & 1) == 0) {
          copy_some(mine, j, stage, full);
        } else if (lane == j) {
          copy_whole(mine, stage, full);
        }
        ring.advance(kWarpgroups);
      }
    }
    next -= part.count;
  }
}
