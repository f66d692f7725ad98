// SPDX-License-Identifier: Apache-2.0
// `lijit warm` is complete: after it, serving a model compiles nothing, whatever the batch, the
// lengths and the op. Serving is done by the indexers themselves, on a device that loads kernels
// and executes none.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "lijit/compiler.h"
#include "runtime/compile/compilers.h"
#include "tests/support/some_blocks_device.h"
#include "tests/support/test_indexer.h"

namespace lijit::tests {
namespace {

constexpr DeviceAddress kSomewhere = 1 << 20;
constexpr int kBatches = 512;

struct ServingCase {
  std::string target, format;
};

void PrintTo(const ServingCase& c, std::ostream* out) { *out << c.target << " " << c.format; }

Tensor Of(DType type, std::initializer_list<std::int64_t> shape) {
  return Tensor::Contiguous(kSomewhere, type, shape);
}

// One step of a server: every op, with the sizes of this batch. Addresses are never used.
class Step {
 public:
  Step(Indexer& indexer, const ModelInfo& model, std::int64_t batch, std::mt19937_64& random)
      : indexer_(indexer),
        model_(model),
        row_(indexer.row_bytes()),
        batch_(batch),
        next_n_(1 + static_cast<std::int64_t>(random() % 4)),
        keys_(1 + static_cast<std::int64_t>(random() % 100'000)),
        rows_(batch * next_n_) {}

  Status Run() {
    LIJIT_TRY(Write());
    LIJIT_TRY(Score());
    LIJIT_TRY(ScorePrefill());
    return indexer_.TopK({.logits = Of(DType::kF32, {rows_, keys_}),
                          .starts = {},
                          .ends = Of(DType::kI32, {batch_}),
                          .next_n = static_cast<int>(next_n_),
                          .ratio = model_.ratio,
                          .k = model_.top_k,
                          .indices = Of(DType::kI32, {rows_, model_.top_k})});
  }

 private:
  // A tensor of scales, or none where the format has none.
  static Tensor Scales(std::int64_t rows, std::int64_t heads, int bytes) {
    return bytes == 0 ? Tensor{} : Of(DType::kU8, {rows, heads, bytes});
  }
  RopeArguments Rope(std::int64_t tokens) const {
    if (!indexer_.config().rotation) return {};
    return {Of(DType::kI64, {tokens}),
            Of(DType::kF32, {1 << 20, indexer_.config().rotation->rope_dim})};
  }
  CachePool Pool() const { return indexer_.Pool(kSomewhere, indexer_.page_bytes(), 1 << 16); }
  std::int64_t heads() const { return model_.heads; }
  Tensor Table() const { return Of(DType::kI32, {batch_, (keys_ + 63) / 64}); }

  Status Write() {
    LIJIT_TRY(indexer_.QuantizeQuery({.q = Of(DType::kBf16, {rows_, heads(), model_.head_dim}),
                                      .w = Of(DType::kF32, {rows_, heads()}),
                                      .values = Of(DType::kU8, {rows_, heads(), row_.values}),
                                      .scales = Scales(rows_, heads(), row_.query_scales),
                                      .weights = Of(DType::kF32, {rows_, heads()}),
                                      .rope = Rope(rows_)}));
    return indexer_.WriteCache({.k = Of(DType::kBf16, {rows_, model_.head_dim}),
                                .slots = Of(DType::kI64, {rows_}),
                                .pool = Pool(),
                                .rope = Rope(rows_)});
  }
  Status Score() {
    const int bytes = row_.query_scales;
    return indexer_.LogitsPaged(
        {.q_values = Of(DType::kU8, {batch_, next_n_, heads(), row_.values}),
         .q_scales = bytes == 0 ? Tensor{} : Of(DType::kU8, {batch_, next_n_, heads(), bytes}),
         .pool = Pool(),
         .block_table = Table(),
         .context_lens = Of(DType::kI32, {batch_}),
         .ratio = model_.ratio,
         .weights = Of(DType::kF32, {rows_, heads()}),
         .out = Of(DType::kF32, {rows_, keys_})});
  }
  Status ScorePrefill() {
    const int bytes = row_.key_scales;
    const Tensor scales = bytes == 0 ? Tensor{} : Of(DType::kU8, {keys_, bytes});
    LIJIT_TRY(indexer_.GatherCache({.pool = Pool(),
                                    .block_table = Table(),
                                    .cu_seq_lens = Of(DType::kI32, {batch_ + 1}),
                                    .values = Of(DType::kU8, {keys_, row_.values}),
                                    .scales = scales}));
    return indexer_.LogitsRagged({.q_values = Of(DType::kU8, {rows_, heads(), row_.values}),
                                  .q_scales = Scales(rows_, heads(), row_.query_scales),
                                  .k_values = Of(DType::kU8, {keys_, row_.values}),
                                  .k_scales = scales,
                                  .weights = Of(DType::kF32, {rows_, heads()}),
                                  .starts = Of(DType::kI32, {rows_}),
                                  .ends = Of(DType::kI32, {rows_}),
                                  .out = Of(DType::kF32, {rows_, keys_})});
  }

  Indexer& indexer_;
  const ModelInfo& model_;
  Indexer::RowBytes row_;
  std::int64_t batch_, next_n_, keys_, rows_;
};

class Warmed : public ::testing::TestWithParam<ServingCase> {
 protected:
  void SetUp() override {
    const auto backend = runtime::ChooseBackend("auto", ImageKind::kPtx);
    if (!backend.ok()) GTEST_SKIP() << backend.error().message;
    std::string name = (std::filesystem::temp_directory_path() / "lijit-warm-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    cache::CacheConfig config;
    config.dir = folder_;
    cache::Store store(config);
    const auto warm = Warm(store, {.targets = {GetParam().target},
                                   .models = {"all"},
                                   .formats = {GetParam().format},
                                   .backend = "auto",
                                   .kind = ImageKind::kPtx,
                                   .jobs = 0,
                                   .progress = nullptr});
    ASSERT_TRUE(warm.ok()) << warm.error().message;
    ASSERT_EQ(warm->failed, 0);
    ASSERT_GE(warm->kernels, 12);
  }

  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // A server's process that finds what was warmed and nothing else. It could compile, and what it
  // compiles is counted and not stored for the next.
  std::shared_ptr<Runtime> Server() const {
    auto device = std::make_shared<SomeBlocksDevice>(GetParam().target);
    device->RunLast(0);
    cache::CacheConfig config;
    config.readonly_dirs = {folder_};
    return std::make_shared<Runtime>(device, std::make_shared<cache::Store>(config));
  }

 private:
  std::string folder_;
};

TEST_P(Warmed, ServingCompilesNothing) {
  for (const ModelInfo& model : Models()) {
    for (const bool rotates : {false, true}) {
      SCOPED_TRACE(testing::Message() << model.name << (rotates ? ", rotating" : ""));
      const std::shared_ptr<Runtime> server = Server();
      IndexerConfig config;
      config.format = GetParam().format;
      config.heads = model.heads;
      config.head_dim = model.head_dim;
      config.page = model.page;
      if (rotates) config.rotation = model.rotation;
      const auto indexer = Indexer::Create(server, config);
      ASSERT_TRUE(indexer.ok()) << indexer.error().message;
      std::mt19937_64 random(7);
      for (int batch = 1; batch <= kBatches; ++batch) {
        const Status status = Step(**indexer, model, batch, random).Run();
        ASSERT_TRUE(status.ok()) << "batch " << batch << ": " << status.error().message;
      }
      const cache::Counts counts = server->store().Stats().process;
      EXPECT_EQ(counts[static_cast<std::size_t>(cache::Counter::kCompiled)], 0u);
      EXPECT_EQ(counts[static_cast<std::size_t>(cache::Counter::kHitReadonly)], 6u);
      EXPECT_EQ((*indexer)->events().size(), 6u) << "each kernel is asked for once, for any batch";
    }
  }
}

// Killed after a few kernels and started again: those are hits.
TEST(Warm, GoesOnWhereItWasKilled) {
  if (const auto backend = runtime::ChooseBackend("auto", ImageKind::kPtx); !backend.ok()) {
    GTEST_SKIP() << backend.error().message;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "lijit-warm-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  cache::CacheConfig config;
  config.dir = folder;
  WarmRequest request;
  request.targets = {"sm_86"};
  request.models = {"glm-5"};
  request.formats = {"mxfp4"};
  request.kind = ImageKind::kPtx;
  request.jobs = 1;
  const pid_t child = fork();
  LIJIT_CHECK(child >= 0);
  if (child == 0) {
    cache::Store store(config);
    request.progress = [](int done, int) {
      if (done == 3) raise(SIGKILL);
    };
    (void)Warm(store, request).ok();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  cache::Store store(config);
  const auto warm = Warm(store, request);
  ASSERT_TRUE(warm.ok()) << warm.error().message;
  EXPECT_EQ(warm->hits, 3);
  EXPECT_EQ(warm->compiled, warm->kernels - 3);
  EXPECT_EQ(warm->failed, 0);
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Emulated, Warmed,
                         ::testing::Values(ServingCase{"sm_86", "mxfp4"},
                                           ServingCase{"sm_90a", "fp8_e4m3"},
                                           ServingCase{"sm_100f", "mxfp4"}));

}  // namespace
}  // namespace lijit::tests
