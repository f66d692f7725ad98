// SPDX-License-Identifier: Apache-2.0
// The indexer's operations on device memory. An Indexer is made for one configuration; its kernels
// are compiled at their first use (or all at once by Prepare) and cached. Every argument is checked
// on the host before anything is launched; an error names the argument, its value and what is
// accepted. Calls are asynchronous on a CUDA device.
//
// Shapes: T tokens, H heads, D head_dim, B requests, N gathered keys, P tokens a page. `VB` is the
// format's bytes of values a row (D for fp8_e4m3, D/2 for mxfp4), `SB` its bytes of block scales
// (0 and 4), `KB` its bytes of all scales of a stored key (4 and 4); see Indexer::row_bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/cache.h"
#include "lijit/device.h"
#include "lijit/result.h"
#include "lijit/tensor.h"

namespace lijit {

// Rotation before quantization, as the models' references have it: rope, rounding to bf16, Hadamard
// transform times D^-0.5, rounding to bf16. A cache written with it is read with it.
struct Rotation {
  bool interleaved = false;  // pairs (2i, 2i + 1); otherwise (i, i + rope_dim / 2)
  bool last = false;         // the last rope_dim dims; otherwise the first
  int rope_dim = 64;
};

struct IndexerConfig {
  // A shipped format ("fp8_e4m3", "mxfp4", ...) or one that `module` declares. The name is the tag
  // of every cache written with it.
  std::string format = "fp8_e4m3";
  int heads = 64;
  int head_dim = 128;
  int page = 64;               // tokens a page
  DType input = DType::kBf16;  // of queries and keys: bf16, f16 or f32
  DType weight = DType::kF32;  // of the heads' weights: f32 or bf16
  std::string schedule = "auto";
  std::string backend = "auto";
  std::optional<Rotation> rotation;
  // .lir text with formats and, if wanted, kernels that replace the shipped ones of their kind; and
  // its name in messages.
  std::string module;
  std::string module_name;
};

// What the runtime needs besides a device.
struct RuntimeOptions {
  std::string device = "auto";  // as for OpenDevice
  std::string target;           // likewise
  // Unset: from the environment (lijit/cache.h).
  std::optional<cache::CacheConfig> cache;
};

// A device and a cache, shared by indexers.
class Runtime {
 public:
  static Result<std::shared_ptr<Runtime>> Create(const RuntimeOptions& options);
  Runtime(std::shared_ptr<Device> device, std::shared_ptr<cache::Store> store);

  Device& device() { return *device_; }
  cache::Store& store() { return *store_; }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<cache::Store> store_;
};

// Pages of a key cache: `page_count` pages, `page_stride` bytes from one to the next (64-bit, not
// below the bytes of a page), the first at `data`. `format` is the tag that the pages were written
// with; another one than the indexer's is refused.
struct CachePool {
  DeviceAddress data = 0;
  std::int64_t page_stride = 0;
  std::int64_t page_count = 0;
  std::string_view format;
};

// Positions of rows in a rope table, of indexers with a rotation: `positions` int64 [T], `table`
// f32 [rows, rope_dim], each row [cos | sin]. A row whose position is not in the table is not
// written.
struct RopeArguments {
  Tensor positions;
  Tensor table;
};

struct QuantizeQueryArguments {
  Tensor q;        // [T, H, D] of the input type, last dimension contiguous
  Tensor w;        // [T, H] of the weight type, last dimension contiguous
  Tensor values;   // out: u8 [T, H, VB], contiguous
  Tensor scales;   // out: u8 [T, H, SB], contiguous; not given if SB is 0
  Tensor weights;  // out: f32 [T, H], contiguous
  RopeArguments rope;
};

struct WriteCacheArguments {
  Tensor k;      // [T, D] of the input type, last dimension contiguous
  Tensor slots;  // int64 [T]: page * P + token; one that is not in the pool is skipped
  CachePool pool;
  RopeArguments rope;
};

struct GatherCacheArguments {
  CachePool pool;
  Tensor block_table;  // int32 [B, *], last dimension contiguous
  Tensor cu_seq_lens;  // int32 [B + 1]
  Tensor values;       // out: u8 [N, VB], contiguous; rows beyond N are not written
  Tensor scales;       // out: u8 [N, KB], contiguous; not given if KB is 0
};

// What logits hold outside of a row's valid columns.
enum class Tail : std::uint8_t { kMinusInfinity, kKeep };

struct LogitsRaggedArguments {
  Tensor q_values;  // u8 [T, H, VB], contiguous
  Tensor q_scales;  // u8 [T, H, SB], contiguous; not given if SB is 0
  Tensor k_values;  // u8 [N, VB], contiguous
  Tensor k_scales;  // u8 [N, KB], contiguous; not given if KB is 0
  Tensor weights;   // f32 [T, H], last dimension contiguous
  Tensor starts;    // int32 [T]
  Tensor ends;      // int32 [T]: valid columns are starts <= n < ends, n < N
  Tensor out;       // out: f32 [T, width >= N], last dimension contiguous
  Tail tail = Tail::kMinusInfinity;
};

struct LogitsPagedArguments {
  Tensor q_values;  // u8 [B, next_n, H, VB], contiguous
  Tensor q_scales;  // u8 [B, next_n, H, SB], contiguous; not given if SB is 0
  CachePool pool;
  Tensor block_table;   // int32 [B, *], last dimension contiguous
  Tensor context_lens;  // int32 [B]: row j sees max(0, length - next_n + j + 1) / ratio keys;
                        // or int32 [B, next_n], any strides: each row sees as many as it says
  int ratio = 1;        // tokens a cache entry (4 in V4), with one length a request
  Tensor weights;       // f32 [B * next_n, H], last dimension contiguous
  Tensor out;           // out: f32 [B * next_n, width], last dimension contiguous
  Tail tail = Tail::kMinusInfinity;
};

struct TopKArguments {
  Tensor logits;   // f32 [rows, columns], last dimension contiguous
  Tensor starts;   // int32 [rows], or not given: 0
  Tensor ends;     // int32 [rows]; or context_lens as of logits.paged with rows = B * next_n
  int next_n = 1;  // rows a request, where `ends` holds one length a request
  int ratio = 1;
  int k = 0;       // 1 to 4096
  Tensor indices;  // out: int32 [rows, k], last dimension contiguous: ascending, relative to the
                   // row's start, then -1
};

class Indexer {
 public:
  // InvalidArgument: the configuration or its module; Refused: the gate (lijit/targets.h).
  static Result<std::unique_ptr<Indexer>> Create(std::shared_ptr<Runtime> runtime,
                                                 const IndexerConfig& config);
  ~Indexer();

  const IndexerConfig& config() const;

  // Bytes of a row of this format and head_dim.
  struct RowBytes {
    int values = 0;        // VB
    int query_scales = 0;  // SB
    int key_scales = 0;    // KB
    int total() const { return values + key_scales; }
  };
  RowBytes row_bytes() const;
  // Bytes of a page: the smallest page_stride.
  std::int64_t page_bytes() const;
  // A pool of this indexer's format.
  CachePool Pool(DeviceAddress data, std::int64_t page_stride, std::int64_t page_count) const;

  // Compiles and loads all kernels now: no later call compiles.
  Status Prepare();
  // What the cache said about each kernel so far.
  std::vector<cache::Event> events() const;
  // The schedule and backend in use.
  std::string schedule() const;
  std::string backend() const;

  Status QuantizeQuery(const QuantizeQueryArguments& arguments, Stream stream = nullptr);
  Status WriteCache(const WriteCacheArguments& arguments, Stream stream = nullptr);
  Status GatherCache(const GatherCacheArguments& arguments, Stream stream = nullptr);
  Status LogitsRagged(const LogitsRaggedArguments& arguments, Stream stream = nullptr);
  Status LogitsPaged(const LogitsPagedArguments& arguments, Stream stream = nullptr);
  Status TopK(const TopKArguments& arguments, Stream stream = nullptr);

 private:
  struct Impl;
  explicit Indexer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lijit
