// SPDX-License-Identifier: Apache-2.0
// Capacity: how many tokens a serving engine's cache holds, in exact integers, before it starts;
// and why the engine said otherwise, afterwards. docs/capacity.md walks one case from flags to
// bytes.
//
// Everything here is a pure function of plain data: integers only, overflow is an error that names
// the quantity, and the same input gives the same text. Units are bytes and tokens of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::capacity {

// --- What is stored -----------------------------------------------------------------------------

enum class IndexerFormat { kFp8, kMxfp4 };
inline constexpr IndexerFormat kIndexerFormats[] = {IndexerFormat::kFp8, IndexerFormat::kMxfp4};

// "fp8", "mxfp4"; also accepts the names of the kernels' formats ("fp8_e4m3").
std::string_view IndexerFormatName(IndexerFormat format);
Result<IndexerFormat> ParseIndexerFormat(std::string_view text);

// What a cache holds; decides its row's size and its page's alignment.
enum class Role {
  kLatent,   // the main attention's compressed keys and values
  kIndexer,  // the indexer's keys
  kWindow,   // latents of the last positions only
  kState,    // a compressor's unfinished rows
};
std::string_view RoleName(Role role);

// One kind of cache, which some of the layers have.
struct Cache {
  std::string name = {};
  Role role = Role::kLatent;
  std::vector<int> layers = {};   // which, ascending; the first layer is 0
  std::int64_t block_tokens = 0;  // tokens of text that a block covers
  std::int64_t ratio = 1;         // tokens of text that a stored row stands for
  std::int64_t row_bytes = 0;     // 0: by the latent or indexer format
  std::int64_t window = 0;        // positions that are kept; 0: the whole context
  bool in_draft_layers = false;   // a speculative (MTP) layer has one, too
};

// Which row of the table of latent formats a model's latents are.
enum class LatentFamily { kV32, kV4 };

struct Model {
  std::string name = {};
  std::string source = {};  // where its numbers come from
  int layers = 0;
  std::vector<Cache> caches = {};
  LatentFamily family = LatentFamily::kV32;
  std::string latent_format = {};       // default: a row of LatentFormats()
  std::string layout = {};              // default: a row of Layouts()
  std::int64_t max_model_len = 0;       // default, in tokens
  std::int64_t indexer_heads = 0;       // for query buffers
  std::int64_t indexer_head_dim = 128;  // for rows and query buffers
  std::int64_t top_k = 0;               // for index buffers
};

// The models of the table runtime/capacity/models.def.
const std::vector<Model>& Models();
// kInvalidArgument lists the names.
Result<Model> FindModel(std::string_view name);
// "0-2,6-77:4": numbers and ranges FIRST-LAST[:STEP], ascending, none twice. kInvalidArgument says
// which part is wrong.
Result<std::vector<int>> ParseLayers(std::string_view text);
// The model with an indexer in these layers only; the others share an earlier layer's selection.
Result<Model> WithIndexerLayers(Model model, const std::vector<int>& layers);

// Bytes of a row of a main cache; 0 where a family has no such format.
struct LatentFormat {
  std::string_view name;
  std::int64_t v32_row_bytes, v4_row_bytes;
  std::string_view source;
};
const std::vector<LatentFormat>& LatentFormats();

// Pages are padded to a multiple of these, by role.
struct Layout {
  std::string name = {};
  std::int64_t latent = 1, indexer = 1, window = 1, state = 1;
  std::string latent_format = {};  // that engines use it with; empty: the model's
  std::string source = {};
};
const std::vector<Layout>& Layouts();
Result<Layout> FindLayout(std::string_view name);

// How the pages of all layers share blocks.
enum class Pool {
  kOverlay,  // each group is dense from the block's first byte; a block is as long as the longest
  kBuckets,  // older: slots by page size, mxfp4 rows as long as fp8's
};
std::string_view PoolName(Pool pool);
Result<Pool> ParsePool(std::string_view text);

// --- The question -------------------------------------------------------------------------------

struct Memory {
  // Bytes for the cache, one number a pipeline rank or one for all. Empty: from the rest.
  std::vector<std::int64_t> cache_bytes = {};
  std::int64_t total_bytes = 0;  // of a device
  std::int64_t fraction_millionths = 1'000'000;
  std::int64_t weights_bytes = 0;
  std::int64_t reserved_bytes = 0;  // activations, graphs, libraries
};

struct Request {
  Model model = {};
  std::string latent_format = {};     // empty: the layout's, or the model's
  std::int64_t latent_row_bytes = 0;  // not 0: in place of the format's
  std::optional<Layout> layout = {};  // none: the model's
  Pool pool = Pool::kOverlay;
  int draft_layers = 0;    // speculative (MTP) layers that are loaded
  int tensor_ranks = 1;    // each holds the whole cache: there is one key head
  int pipeline_ranks = 1;  // each holds its layers' caches
  Memory memory = {};
  std::int64_t max_model_len = 0;       // tokens; 0: the model's
  std::int64_t batched_tokens = 8192;   // of a scheduler step
  std::int64_t concurrent_batches = 0;  // in flight; 0: 2, or one more than pipeline ranks
  std::int64_t concurrency = 1;         // requests that decode at once
  std::int64_t next_n = 1;              // query rows of each in a decode step
  std::int64_t gather_contexts = 40;    // longest contexts that prefill may gather at once
  std::int64_t transient_budget = 0;    // for choosing a tile; 0: none
};

// --- The answer, with every intermediate --------------------------------------------------------

struct Page {
  std::size_t cache = 0;  // in Model::caches
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
  std::int64_t natural_bytes = 0;  // rows * row_bytes
  std::int64_t alignment = 1;
  std::int64_t bytes = 0;  // padded
};

// Layers that share block ids: a block belongs to one group at a time.
struct Group {
  std::string name = {};
  std::int64_t block_tokens = 0;
  std::int64_t window = 0;
  struct Member {
    std::size_t cache = 0;
    std::vector<int> layers = {};
  };
  std::vector<Member> members = {};
  std::int64_t page_bytes = 0;      // of all members in all layers
  std::int64_t charged_tokens = 0;  // that a request of max_model_len may hold at once
  std::int64_t request_blocks = 0;  // for them
  std::int64_t steady_blocks = 0;   // the same with nothing in flight
};

struct Rank {
  int first_layer = 0;
  int layers = 0;
  std::vector<std::int64_t> group_bytes = {};  // of this rank's layers, by group
  std::int64_t block_bytes = 0;
  std::int64_t cache_bytes = 0;  // given to it
  std::int64_t blocks = 0;       // that fit
  std::int64_t spare_bytes = 0;  // left over when all ranks use Plan::blocks
};

struct Plan {
  IndexerFormat indexer = IndexerFormat::kFp8;
  Request request = {};            // with defaults filled in
  std::vector<Page> pages = {};    // one a cache
  std::int64_t repeats = 0;        // layers of a kind that a group may have
  std::vector<Group> groups = {};  // the whole context's first
  std::vector<Rank> ranks = {};
  std::int64_t in_flight_tokens = 0;
  std::size_t tightest = 0;  // the rank that holds fewest blocks; of several the longest block's
  std::int64_t block_bytes = 0;     // of that rank
  std::int64_t blocks = 0;          // of every rank
  std::int64_t request_blocks = 0;  // of one request of max_model_len
  std::int64_t steady_blocks = 0;
  std::int64_t tokens = 0;           // floor(blocks * max_model_len / request_blocks), as vLLM logs
  std::int64_t full_requests = 0;    // of max_model_len at once; a null block is set aside
  std::int64_t longest_context = 0;  // that one request may have; a null block is set aside
  bool starts = false;               // max_model_len fits once
  bool fits = false;                 // max_model_len fits `concurrency` times
  // Cost of a token of text in all layers: bytes / tokens, padding included.
  std::int64_t full_group_bytes = 0, indexer_bytes = 0, span_tokens = 1;
  std::int64_t indexer_unpadded_bytes = 0;  // per span_tokens
};

// kInvalidArgument names the member of the request that is wrong, or the quantity that overflows.
Result<Plan> MakePlan(const Request& request, IndexerFormat indexer);

// --- Transients: memory that a step needs besides the cache --------------------------------------

struct Buffer {
  std::string name = {};
  std::string formula = {};  // "8192 rows * 40960 columns * 4"
  std::int64_t bytes = 0;
  std::int64_t fused_bytes = 0;  // when selection is fused with scoring
};

struct Phase {
  std::string name = {};  // "prefill", "decode"
  std::vector<Buffer> buffers = {};
  std::int64_t bytes = 0, fused_bytes = 0;
};

// Rows of queries that are scored at once, so that all fits a budget; the answer stays the same.
struct Tile {
  std::int64_t budget = 0;
  std::int64_t fixed_bytes = 0;  // whatever the tile is
  std::int64_t row_bytes = 0;    // for each row of the tile
  std::int64_t rows = 0;         // 0: not even one fits
  std::int64_t tiles = 0;
};

struct Transients {
  std::vector<Phase> phases = {};
  std::int64_t peak_bytes = 0, fused_peak_bytes = 0;
  std::string peak_phase = {};
  std::optional<Tile> tile = {};  // of prefill, if there is a budget
};
Result<Transients> MakeTransients(const Plan& plan);

// --- Reconciliation -----------------------------------------------------------------------------

// What an engine reported. A range where its text is rounded.
struct ObservedRange {
  std::int64_t low = 0, high = 0;  // both included
};
struct Observed {
  std::optional<std::int64_t> tokens = {};
  std::optional<std::int64_t> blocks = {};
  std::optional<std::int64_t> block_bytes = {};
  std::optional<ObservedRange> cache_bytes = {};
  std::optional<std::int64_t> max_model_len = {};
  std::optional<std::int64_t> concurrency_hundredths = {};  // rounded
  std::vector<std::int64_t> group_bytes = {};               // pages of a block, one number a group
};

// Reads an engine's log: vLLM's "GPU KV cache size: 1,234,567 tokens", "Maximum concurrency for
// 131,072 tokens per request: 1.23x", "# GPU blocks: 1234", "num_gpu_blocks is: 1234", "Available
// KV cache memory: 7.71 GiB". The last line of a kind counts. kInvalidArgument if there is none.
Result<Observed> ParseEngineLog(std::string_view text);

struct Comparison {
  std::string quantity = {};
  std::string ours = {}, theirs = {};
  bool agrees = false;
};

struct Explanation {
  std::string cause = {};  // short name: "page padding", "null block", ...
  std::string detail = {};
};

struct Reconciliation {
  std::vector<Comparison> comparisons = {};
  bool agrees = false;  // all of them
  // Each of these alone makes all numbers agree exactly.
  std::vector<Explanation> explanations = {};
  std::int64_t unexplained_bytes = 0;  // ours minus theirs; 0 if explained or in agreement
};

// Compares and, where something differs, tries each cause of the table runtime/capacity/causes.def.
Result<Reconciliation> Reconcile(const Plan& plan, const Observed& observed);

// --- Text ---------------------------------------------------------------------------------------

// "24GiB", "1.5GB", "4096": bytes, rounded down. kInvalidArgument says what is accepted.
Result<std::int64_t> ParseBytes(std::string_view text);
// "0.92": millionths, exactly; at most 1.
Result<std::int64_t> ParseFraction(std::string_view text);
// 1234567 as "1,234,567".
std::string Grouped(std::int64_t number);

// Every intermediate of the plan, one a line, with its formula.
std::string Explain(const Plan& plan, const Transients& transients);
// A report in Markdown: both formats side by side, pages, groups, transients, reconciliation.
std::string MarkdownReport(const std::vector<Plan>& plans,
                           const std::vector<Transients>& transients,
                           const Reconciliation* reconciliation);
// Tokens against memory, both formats, as a self-contained SVG. Memory goes from 0 to `high` bytes.
Result<std::string> PlotSvg(const Request& request, std::int64_t high);

}  // namespace lijit::capacity
