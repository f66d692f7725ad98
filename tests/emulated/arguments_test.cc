// SPDX-License-Identifier: Apache-2.0
// Every check of an op's arguments: the message names the argument, its value and what is accepted,
// and nothing is launched.
#include <functional>

#include "lijit/targets.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class Arguments : public IndexerTest {
 protected:
  static TestIndexer& Fp8() { return TestIndexer::Of(Small("fp8_e4m3")); }
  static TestIndexer& Fp4() { return TestIndexer::Of(Small("mxfp4")); }

  // `call` with arguments that `change` has spoilt.
  template <typename A, typename Call>
  static void Refuses(const A& good, Call call, const std::function<void(A&)>& change,
                      const std::string& message) {
    A bad = good;
    change(bad);
    const std::uint64_t before = Fp8().device().instructions();
    const Status status = call(bad);
    EXPECT_EQ(Fp8().device().instructions(), before) << message;
    ASSERT_FALSE(status.ok()) << "accepted, against: " << message;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(status.error().message.find(message), std::string::npos)
        << status.error().message << "\ndoes not say: " << message;
  }
};

void SetAddress(Tensor& tensor, DeviceAddress data) { tensor.data = data; }

TEST_F(Arguments, OfTensorsInGeneral) {
  const QueryCase c(Fp8());
  const auto refuses = [&](const std::function<void(QuantizeQueryArguments&)>& change,
                           const std::string& message) {
    Refuses<QuantizeQueryArguments>(
        c.arguments, [](const auto& a) { return Fp8()->QuantizeQuery(a); }, change, message);
  };
  using A = QuantizeQueryArguments&;
  refuses([](A a) { a.q.dtype = DType::kF32; },
          "q is f32 [3, 8, 128]; accepted is bf16 [*, 8, 128]");
  refuses([](A a) { a.q.rank = 2; }, "q is bf16 [3, 8]; accepted is bf16 [*, 8, 128]");
  refuses([](A a) { a.q = kNoTensor; }, "q is no tensor; accepted is bf16 [*, 8, 128]");
  refuses([](A a) { a.q.shape[1] = 16; }, "q is bf16 [3, 16, 128]; accepted is bf16 [*, 8, 128]");
  refuses([](A a) { a.q.shape[0] = -1; }, "q is bf16 [-1, 8, 128]; accepted is bf16 [*, 8, 128]");
  refuses([](A a) { a.q.shape[0] = (std::int64_t{1} << 40) + 1; },
          "q is bf16 [1099511627777, 8, 128]; accepted are sizes up to 2^40");
  refuses([](A a) { a.q.shape[0] = std::int64_t{1} << 62; }, "accepted are sizes up to 2^40");
  refuses([](A a) { a.q.stride[2] = 2; },
          "q has stride 2 in dimension 2; accepted is 1 (the last 1 dimensions are contiguous)");
  refuses([](A a) { a.q.stride[0] = -1024; },
          "q has stride -1024 in dimension 0; accepted is any from 0");
  refuses([](A a) { a.q.stride[0] = std::int64_t{1} << 62; }, "it does not fit an address space");
  refuses([](A a) { a.q.stride[1] = std::int64_t{1} << 58; }, "it does not fit an address space");
  refuses([](A a) { SetAddress(a.q, 0); }, "q is bf16 [3, 8, 128] at the null address");
  refuses([](A a) { SetAddress(a.q, 0x1001); },
          "q is at address 0x1001; accepted are multiples of 2");
  refuses([](A a) { SetAddress(a.weights, 0x1002); },
          "weights is at address 0x1002; accepted are multiples of 4");
  refuses([](A a) { SetAddress(a.values, 0x1002); },
          "values is at address 0x1002; accepted are multiples of 4");
}

TEST_F(Arguments, OfQuantizeQuery) {
  const QueryCase c(Fp4());
  const auto refuses = [&](const std::function<void(QuantizeQueryArguments&)>& change,
                           const std::string& message) {
    Refuses<QuantizeQueryArguments>(
        c.arguments, [](const auto& a) { return Fp4()->QuantizeQuery(a); }, change, message);
  };
  using A = QuantizeQueryArguments&;
  refuses([](A a) { a.w.shape[0] = 2; }, "w is f32 [2, 8]; accepted is f32 [3, 8]");
  refuses([](A a) { a.w.dtype = DType::kBf16; }, "w is bf16 [3, 8]; accepted is f32 [3, 8]");
  refuses([](A a) { a.values.shape[2] = 128; },
          "values is u8 [3, 8, 128]; accepted is u8 [3, 8, 64]");
  refuses([](A a) { a.values.stride[0] = 1024; },
          "values has stride 1024 in dimension 0; accepted is 512 (the last 3 dimensions");
  refuses([](A a) { a.scales = kNoTensor; }, "scales is no tensor; accepted is u8 [3, 8, 4]");
  refuses([](A a) { a.scales.dtype = DType::kI32; },
          "scales is i32 [3, 8, 4]; accepted is u8 [3, 8, 4]");
  refuses([](A a) { a.weights.stride[0] = 9; }, "weights has stride 9 in dimension 0");
  refuses([](A a) { a.rope.positions = a.w; },
          "positions is f32 [3, 8]; none is accepted: the indexer has no rotation");
  refuses([](A a) { a.rope.table = a.w; },
          "table is f32 [3, 8]; none is accepted: the indexer has no rotation");
}

TEST_F(Arguments, OfFormatsWithoutBlockScales) {
  QueryCase c(Fp8());
  c.arguments.scales = c.arguments.values;
  EXPECT_EQ(Fp8()->QuantizeQuery(c.arguments).error().message,
            "scales is u8 [3, 8, 128]; none is accepted: fp8_e4m3 stores no scales there");
}

TEST_F(Arguments, OfRotations) {
  IndexerConfig config = Small("fp8_e4m3");
  config.rotation = Rotation{};
  TestIndexer& indexer = TestIndexer::Of(config);
  const QueryCase c(indexer);
  const auto refuses = [&](const std::function<void(QuantizeQueryArguments&)>& change,
                           const std::string& message) {
    Refuses<QuantizeQueryArguments>(
        c.arguments, [&](const auto& a) { return indexer->QuantizeQuery(a); }, change, message);
  };
  using A = QuantizeQueryArguments&;
  refuses([](A a) { a.rope = {}; }, "positions is no tensor; accepted is i64 [3]");
  refuses([](A a) { a.rope.positions.dtype = DType::kI32; },
          "positions is i32 [3]; accepted is i64 [3]");
  refuses([](A a) { a.rope.table.shape[1] = 32; },
          "table is f32 [64, 32]; accepted is f32 [*, 64]");
}

TEST_F(Arguments, OfWriteCacheAndPools) {
  const WriteCase c(Fp8(), {.slots = {0, 1}});
  const auto refuses = [&](const std::function<void(WriteCacheArguments&)>& change,
                           const std::string& message) {
    Refuses<WriteCacheArguments>(
        c.arguments, [](const auto& a) { return Fp8()->WriteCache(a); }, change, message);
  };
  using A = WriteCacheArguments&;
  refuses([](A a) { a.k.shape[1] = 64; }, "k is bf16 [2, 64]; accepted is bf16 [*, 128]");
  refuses([](A a) { a.slots.dtype = DType::kI32; }, "slots is i32 [2]; accepted is i64 [2]");
  refuses([](A a) { a.slots.stride[0] = 2; }, "slots has stride 2 in dimension 0; accepted is 1");
  refuses([](A a) { a.pool.format = "mxfp4"; },
          "pool was written as 'mxfp4'; this indexer reads and writes 'fp8_e4m3'");
  refuses([](A a) { a.pool.format = {}; }, "pool was written as ''");
  refuses([](A a) { a.pool.page_count = -1; }, "pool has -1 pages; accepted are 0 or more");
  refuses([](A a) { a.pool.page_stride = 8447; },
          "pool has page_stride 8447; accepted are multiples of 4 from 8448 bytes");
  refuses([](A a) { a.pool.page_stride = 8450; }, "pool has page_stride 8450");
  refuses([](A a) { a.pool.page_stride = -8448; }, "pool has page_stride -8448");
  refuses([](A a) { a.pool.page_stride = std::int64_t{1} << 61; },
          "pool of 4 pages of 2305843009213693952 bytes does not fit an address space");
  refuses([](A a) { a.pool.data = 0; }, "pool is at address 0x0; accepted are multiples of 64");
  refuses([](A a) { a.pool.data += 4; }, "accepted are multiples of 64");
}

TEST_F(Arguments, OfGatherCache) {
  TestCache cache(Fp4(), {.lengths = {65, 3}});
  const GatherCase c(cache);
  const auto refuses = [&](const std::function<void(GatherCacheArguments&)>& change,
                           const std::string& message) {
    Refuses<GatherCacheArguments>(
        c.arguments, [](const auto& a) { return Fp4()->GatherCache(a); }, change, message);
  };
  using A = GatherCacheArguments&;
  refuses([](A a) { a.pool.format = "mxfp4_deepgemm"; },
          "pool was written as 'mxfp4_deepgemm'; this indexer reads and writes 'mxfp4'");
  refuses([](A a) { a.block_table.dtype = DType::kI64; },
          "block_table is i64 [2, 2]; accepted is i32 [*, *]");
  refuses([](A a) { a.block_table.stride[1] = 2; }, "block_table has stride 2 in dimension 1");
  refuses([](A a) { a.cu_seq_lens.shape[0] = 2; }, "cu_seq_lens is i32 [2]; accepted is i32 [3]");
  refuses([](A a) { a.values.shape[1] = 68; }, "values is u8 [68, 68]; accepted is u8 [*, 64]");
  refuses([](A a) { a.scales.shape[0] = 67; }, "scales is u8 [67, 4]; accepted is u8 [68, 4]");
  refuses([](A a) { a.scales = kNoTensor; }, "scales is no tensor; accepted is u8 [68, 4]");
}

TEST_F(Arguments, OfLogitsRagged) {
  const RaggedCase c(Fp4());
  const auto refuses = [&](const std::function<void(LogitsRaggedArguments&)>& change,
                           const std::string& message) {
    Refuses<LogitsRaggedArguments>(
        c.arguments, [](const auto& a) { return Fp4()->LogitsRagged(a); }, change, message);
  };
  using A = LogitsRaggedArguments&;
  refuses([](A a) { a.q_values.shape[1] = 64; },
          "q_values is u8 [2, 64, 64]; accepted is u8 [*, 8, 64]");
  refuses([](A a) { a.q_scales.shape[0] = 1; },
          "q_scales is u8 [1, 8, 4]; accepted is u8 [2, 8, 4]");
  refuses([](A a) { a.k_values.shape[1] = 132; },
          "k_values is u8 [65, 132]; accepted is u8 [*, 64]");
  refuses([](A a) { a.k_scales = kNoTensor; }, "k_scales is no tensor; accepted is u8 [65, 4]");
  refuses([](A a) { a.weights.shape[0] = 3; }, "weights is f32 [3, 8]; accepted is f32 [2, 8]");
  refuses([](A a) { a.starts.shape[0] = 3; }, "starts is i32 [3]; accepted is i32 [2]");
  refuses([](A a) { a.ends.dtype = DType::kF32; }, "ends is f32 [2]; accepted is i32 [2]");
  refuses([](A a) { a.out.shape[0] = 4; }, "out is f32 [4, 65]; accepted is f32 [2, *]");
  refuses([](A a) { a.out.shape[1] = 64; }, "width of out is 64; accepted are 65 to");
  refuses([](A a) { a.out.stride[0] = 64; },
          "out has stride 64 in dimension 0, so its rows overlap; accepted is any from 65");
}

TEST_F(Arguments, OfLogitsPaged) {
  TestCache cache(Fp8(), {.lengths = {65, 3}});
  const PagedCase c(cache, {.next_n = 2});
  const auto refuses = [&](const std::function<void(LogitsPagedArguments&)>& change,
                           const std::string& message) {
    Refuses<LogitsPagedArguments>(
        c.arguments, [](const auto& a) { return Fp8()->LogitsPaged(a); }, change, message);
  };
  using A = LogitsPagedArguments&;
  refuses([](A a) { a.q_values.rank = 3; },
          "q_values is u8 [2, 2, 8]; accepted is u8 [*, *, 8, 128]");
  refuses([](A a) { a.q_values.shape[1] = 0; }, "next_n is 0; accepted are 1 to 8");
  refuses(
      [](A a) {
        a.q_values = ViewOf(a.q_values.data, DType::kU8, {2, 9, 8, 128});
      },
      "next_n is 9; accepted are 1 to 8");
  refuses([](A a) { a.q_scales = a.weights; },
          "q_scales is f32 [4, 8]; none is accepted: fp8_e4m3 stores no scales there");
  refuses([](A a) { a.pool.page_stride = 8192; }, "pool has page_stride 8192");
  refuses([](A a) { a.block_table.shape[0] = 4; },
          "block_table is i32 [4, 2]; accepted is i32 [2, *]");
  refuses([](A a) { a.context_lens.shape[0] = 4; }, "context_lens is i32 [4]; accepted is i32 [2]");
  refuses([](A a) { a.context_lens.dtype = DType::kI64; },
          "context_lens is i64 [2]; accepted is i32 [2]");
  refuses(
      [](A a) {
        a.context_lens.rank = 2;
        a.context_lens.shape = {2, 1};
      },
      "context_lens is i32 [2, 1]; accepted is i32 [2, 2]");
  refuses([](A a) { a.ratio = 0; }, "ratio is 0; accepted are 1 to 1048576");
  refuses([](A a) { a.weights.shape[0] = 2; }, "weights is f32 [2, 8]; accepted is f32 [4, 8]");
  refuses([](A a) { a.out.shape[0] = 2; }, "out is f32 [2, 65]; accepted is f32 [4, *]");
  refuses([](A a) { a.out.stride[0] = 0; }, "out has stride 0 in dimension 0, so its rows overlap");
}

TEST_F(Arguments, OfTopK) {
  const TopKCase c(Fp8(), {.logits = RandomRows(4, 10, 1), .columns = 10, .k = 3});
  const auto refuses = [&](const std::function<void(TopKArguments&)>& change,
                           const std::string& message) {
    Refuses<TopKArguments>(
        c.arguments, [](const auto& a) { return Fp8()->TopK(a); }, change, message);
  };
  using A = TopKArguments&;
  refuses([](A a) { a.logits.dtype = DType::kBf16; },
          "logits is bf16 [4, 10]; accepted is f32 [*, *]");
  refuses([](A a) { a.k = 0; }, "k is 0; accepted are 1 to 4096");
  refuses([](A a) { a.k = 4097; }, "k is 4097; accepted are 1 to 4096");
  refuses([](A a) { a.next_n = 9; }, "next_n is 9; accepted are 1 to 8");
  refuses([](A a) { a.next_n = 3; },
          "logits has 4 rows; accepted are multiples of next_n, which is 3");
  refuses([](A a) { a.next_n = 2; }, "ends is i32 [4]; accepted is i32 [2]");
  refuses([](A a) { a.ratio = -1; }, "ratio is -1; accepted are 1 to 1048576");
  refuses([](A a) { a.ends = kNoTensor; }, "ends is no tensor; accepted is i32 [4]");
  refuses([](A a) { a.starts = a.logits; }, "starts is f32 [4, 10]; accepted is i32 [4]");
  refuses([](A a) { a.indices.shape[1] = 2; }, "indices is i32 [4, 2]; accepted is i32 [4, 3]");
  refuses([](A a) { a.indices.stride[0] = 2; },
          "indices has stride 2 in dimension 0, so its rows overlap; accepted is any from 3");
}

// A configuration's mistakes are found when the indexer is made.
TEST_F(Arguments, OfConfigurations) {
  const auto refuses = [&](const std::function<void(IndexerConfig&)>& change, ErrorCode code,
                           const std::string& message) {
    IndexerConfig config = Small("fp8_e4m3");
    change(config);
    const auto made = Indexer::Create(EmulatedRuntime("sm_86"), config);
    ASSERT_FALSE(made.ok()) << "accepted, against: " << message;
    EXPECT_EQ(made.error().code, code) << made.error().message;
    EXPECT_NE(made.error().message.find(message), std::string::npos) << made.error().message;
  };
  using C = IndexerConfig&;
  constexpr ErrorCode kBad = ErrorCode::kInvalidArgument;
  refuses([](C c) { c.format = "fp9"; }, kBad, "there is no format 'fp9'; there are fp8_e4m3");
  refuses([](C c) { c.format = "mxfp4 }"; }, kBad, "there is no format 'mxfp4 }'");
  refuses([](C c) { c.heads = 12; }, kBad, "heads");
  refuses([](C c) { c.heads = -8; }, kBad, "heads");
  refuses([](C c) { c.head_dim = 96; }, kBad, "head_dim");
  refuses([](C c) { c.page = 48; }, kBad, "a page holds 16, 32, 64, 128 or 256 tokens, not 48");
  refuses([](C c) { c.page = 1; }, kBad, "a page holds 16, 32, 64, 128 or 256 tokens, not 1");
  refuses([](C c) { c.input = DType::kI32; }, kBad, "input i32 and weight f32");
  refuses([](C c) { c.weight = DType::kU8; }, kBad, "input bf16 and weight u8");
  refuses([](C c) { c.schedule = "fast"; }, kBad, "there is no schedule 'fast'");
  refuses([](C c) { c.backend = "opencl"; }, kBad, "opencl");
  refuses([](C c) { c.module = "format @x {"; }, kBad, "");
}

// What a rotation cannot be is known before a kernel is compiled.
TEST_F(Arguments, OfRotationsThatNoKernelHas) {
  for (const int rope_dim : {0, -64, 1, 63, 48, 256}) {
    IndexerConfig config = Small("fp8_e4m3");
    config.rotation = Rotation{.rope_dim = rope_dim};
    const auto made = Indexer::Create(EmulatedRuntime("sm_86"), config);
    ASSERT_FALSE(made.ok()) << rope_dim;
    EXPECT_NE(made.error().message.find("rope"), std::string::npos) << made.error().message;
  }
}

TEST_F(Arguments, TargetsThatAreNone) {
  for (const char* target : {"sm_75", "sm_70", "sm_99", "gfx942", "", "sm_86 "}) {
    RuntimeOptions options;
    options.device = "emulated";
    options.target = target;
    options.cache = TestCacheConfig();
    const auto runtime = Runtime::Create(options);
    if (std::string_view(target).empty()) continue;  // the default
    ASSERT_FALSE(runtime.ok()) << target;
    EXPECT_NE(runtime.error().message.find(target), std::string::npos) << runtime.error().message;
  }
}

// What nobody has shown to be right does not run: the message says what would.
TEST_F(Arguments, TheGate) {
  const auto refused = [](const Status& status, const std::string& message) {
    ASSERT_FALSE(status.ok()) << message;
    EXPECT_EQ(status.error().code, ErrorCode::kRefused) << status.error().message;
    EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().message;
  };
  EXPECT_TRUE(CheckSupport("sm_86", "mxfp4", "logits.paged", "simt", "cuda").ok());
  EXPECT_TRUE(CheckSupport("sm_86", "mine", "logits.paged", "simt", "cuda", false).ok());
  refused(CheckSupport("sm_86", "mxfp4", "logits.paged", "warp", "cuda"),
          "logits.paged of mxfp4 on sm_86 by schedule warp and backend cuda");
  refused(CheckSupport("sm_86", "mine", "top_k", "warp", "cuda", false), "top_k of mine on sm_86");
  refused(CheckSupport("sm_86", "mxfp5", "top_k", "simt", "cuda"), "top_k of mxfp5 on sm_86");
  refused(CheckSupport("sm_86", "mxfp4", "top_j", "simt", "cuda"), "top_j of mxfp4 on sm_86");
  refused(CheckSupport("sm_75", "mxfp4", "top_k", "simt", "cuda"), "sm_75");
  EXPECT_FALSE(CheckSupport("sm_99", "mxfp4", "top_k", "simt", "cuda").ok());
}

}  // namespace
}  // namespace lijit::tests
