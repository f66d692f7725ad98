// SPDX-License-Identifier: Apache-2.0
// Each wrong argument is a message that names it, and nothing is written. (What the ops themselves
// check is tested in tests/emulated/arguments_test.cc.)
#include <array>
#include <cstring>
#include <functional>

#include "lijit/lijit.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

constexpr std::int64_t kKeys = 3;
constexpr std::uint8_t kBefore = 0xa5;

// A tensor and its sizes.
struct Owned {
  std::array<std::int64_t, 5> shape{};
  std::array<std::int64_t, 5> strides{};
  lijit_tensor tensor{};
};

// Correct arguments of write_cache.
class CArguments : public IndexerTest {
 protected:
  void SetUp() override {
    IndexerTest::SetUp();
    if (IsSkipped()) return;
    const lijit_runtime_options options = {"emulated", "sm_86"};
    ASSERT_EQ(lijit_runtime_create(&options, &runtime_), LIJIT_OK) << lijit_last_error();
    lijit_indexer_config config = {};
    config.format = "mxfp4";
    config.input = "f32";
    ASSERT_EQ(lijit_indexer_create(runtime_, &config, &indexer_), LIJIT_OK) << lijit_last_error();
    ASSERT_EQ(lijit_indexer_page_bytes(indexer_, &page_bytes_), LIJIT_OK);
    Make(k_, {LIJIT_FLOAT, 32, 1}, {kKeys, 128}, 0);
    Make(slots_, {LIJIT_INT, 64, 1}, {kKeys}, 0);
    Make(pool_, {LIJIT_UINT, 8, 1}, {2, page_bytes_}, kBefore);
    arguments_.k = &k_.tensor;
    arguments_.slots = &slots_.tensor;
    arguments_.pool.pages = &pool_.tensor;
  }
  void TearDown() override {
    lijit_indexer_destroy(indexer_);
    lijit_runtime_destroy(runtime_);
    IndexerTest::TearDown();
  }

  void Make(Owned& to, lijit_data_type dtype, std::initializer_list<std::int64_t> shape,
            std::uint8_t fill) {
    std::uint64_t bytes = dtype.bits / 8;
    for (const std::int64_t size : shape) {
      to.shape[static_cast<std::size_t>(to.tensor.ndim++)] = size;
      bytes *= static_cast<std::uint64_t>(size);
    }
    to.tensor.dtype = dtype;
    to.tensor.shape = to.shape.data();
    to.tensor.device = lijit_runtime_device(runtime_);
    ASSERT_EQ(lijit_allocate(runtime_, bytes, nullptr, &to.tensor.data), LIJIT_OK);
    ASSERT_EQ(lijit_fill(runtime_, to.tensor.data, fill, bytes), LIJIT_OK);
  }

  bool PoolIsUntouched() {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(2 * page_bytes_));
    EXPECT_EQ(lijit_copy_to_host(runtime_, bytes.data(), pool_data_, bytes.size()), LIJIT_OK);
    for (const std::uint8_t byte : bytes) {
      if (byte != kBefore) return false;
    }
    return true;
  }

  // Calls with one change, which is taken back.
  void Refuses(const std::function<void()>& change, const std::string& message) {
    const auto before = std::tuple(k_, slots_, pool_, arguments_);
    pool_data_ = pool_.tensor.data;
    change();
    EXPECT_EQ(lijit_write_cache(indexer_, &arguments_, nullptr), LIJIT_INVALID_ARGUMENT) << message;
    EXPECT_NE(std::string(lijit_last_error()).find(message), std::string::npos)
        << lijit_last_error() << "\ndoes not say: " << message;
    std::tie(k_, slots_, pool_, arguments_) = before;
    EXPECT_TRUE(PoolIsUntouched()) << message;
  }

  void UseStrides(Owned& of, std::int64_t first, std::int64_t second) {
    of.strides = {first, second};
    of.tensor.strides = of.strides.data();
  }

  lijit_runtime* runtime_ = nullptr;
  lijit_indexer* indexer_ = nullptr;
  std::int64_t page_bytes_ = 0;
  Owned k_, slots_, pool_;
  void* pool_data_ = nullptr;
  lijit_write_cache_arguments arguments_{};
};

TEST_F(CArguments, AreAcceptedAsTheyAre) {
  pool_data_ = pool_.tensor.data;
  EXPECT_TRUE(PoolIsUntouched());
  EXPECT_EQ(lijit_write_cache(indexer_, &arguments_, nullptr), LIJIT_OK) << lijit_last_error();
  EXPECT_FALSE(PoolIsUntouched());
}

TEST_F(CArguments, OfDevicesAndTypes) {
  Refuses([&] { k_.tensor.device.device_type = LIJIT_DEVICE_CUDA; },
          "k is on cuda:0; accepted is cpu:0, the runtime's emulated device");
  Refuses([&] { slots_.tensor.device.device_id = 1; }, "slots is on cpu:1; accepted is cpu:0");
  Refuses([&] { pool_.tensor.device.device_type = 10; },
          "pool is on device 0 of type 10; accepted is cpu:0");
  Refuses([&] { k_.tensor.dtype.bits = 64; },
          "k has DLPack type code 2 with 64 bits and 1 lanes; accepted are u8, i32, i64, f32");
  Refuses([&] { k_.tensor.dtype.lanes = 4; }, "k has DLPack type code 2 with 32 bits and 4 lanes");
  Refuses(
      [&] {
        k_.tensor.dtype = {LIJIT_BFLOAT, 16, 1};
      },
      "k is bf16 [3, 128]; accepted is f32 [*, 128]");
  Refuses([&] { slots_.tensor.dtype.bits = 32; }, "slots is i32 [3]; accepted is i64 [3]");
}

TEST_F(CArguments, OfSizesAndAddresses) {
  Refuses([&] { k_.tensor.ndim = 0; }, "k has 0 dimensions; accepted are 1 to 4");
  Refuses([&] { k_.tensor.ndim = 5; }, "k has 5 dimensions; accepted are 1 to 4");
  Refuses([&] { k_.tensor.shape = nullptr; }, "shape of k is null");
  Refuses([&] { k_.shape[1] = 64, k_.tensor.shape = k_.shape.data(); },
          "k is f32 [3, 64]; accepted is f32 [*, 128]");
  Refuses([&] { UseStrides(k_, 128, 2); }, "k has stride 2 in dimension 1; accepted is 1");
  Refuses([&] { UseStrides(k_, -128, 1); }, "k has stride -128 in dimension 0");
  Refuses([&] { k_.tensor.data = nullptr; }, "k is f32 [3, 128] at the null address");
  Refuses([&] { k_.tensor.data = nullptr, k_.tensor.byte_offset = 64; },
          "k is f32 [3, 128] at the null address");
  Refuses([&] { k_.tensor.byte_offset = 2; }, "accepted are multiples of 4");
  Refuses([&] { k_.tensor.byte_offset = ~std::uint64_t{0}; }, "that is not an address");
  Refuses([&] { arguments_.k = nullptr; }, "k is no tensor; accepted is f32 [*, 128]");
  Refuses([&] { arguments_.positions = &slots_.tensor; }, "positions is i64 [3]; none is accepted");
}

TEST_F(CArguments, OfPools) {
  Refuses([&] { arguments_.pool.pages = nullptr; },
          "pool is no tensor; accepted is u8 [pages, ...]");
  Refuses([&] { pool_.tensor.dtype = {LIJIT_FLOAT, 32, 1}; }, "pool is f32 [2, 4352]; accepted is");
  Refuses([&] { pool_.tensor.ndim = 1; }, "pool is u8 [2]; accepted is u8 [pages, ...]");
  Refuses([&] { pool_.shape[1] = 4351; }, "with pages of 4352 bytes or more");
  Refuses([&] { pool_.shape[1] = -4352; }, "with pages of 4352 bytes or more");
  Refuses([&] { UseStrides(pool_, 8704, 2); }, "contiguous but for the first dimension");
  Refuses([&] { UseStrides(pool_, 4096, 1); }, "pool has page_stride 4096");
  Refuses([&] { UseStrides(pool_, -4352, 1); }, "pool has page_stride -4352");
  Refuses([&] { pool_.shape[0] = -1; }, "pool has -1 pages");
  Refuses([&] { arguments_.pool.format = "fp8_e4m3"; }, "pool was written as 'fp8_e4m3'");
  Refuses([&] { pool_.tensor.byte_offset = 4; }, "accepted are multiples of 64");
}

TEST_F(CArguments, OfHandles) {
  EXPECT_EQ(lijit_write_cache(nullptr, &arguments_, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_STREQ(lijit_last_error(), "indexer is null; it has to be given");
  EXPECT_EQ(lijit_write_cache(indexer_, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_STREQ(lijit_last_error(), "arguments is null; it has to be given");
  EXPECT_EQ(lijit_top_k(nullptr, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_gather_cache(nullptr, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_logits_paged(nullptr, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_logits_ragged(nullptr, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_quantize_query(nullptr, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_indexer_prepare(nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_indexer_row_bytes(indexer_, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_indexer_page_bytes(nullptr, &page_bytes_), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_runtime_create(nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_allocate(nullptr, 1, nullptr, &pool_data_), LIJIT_INVALID_ARGUMENT);
  EXPECT_STREQ(lijit_last_error(), "runtime is null; it has to be given");
  EXPECT_EQ(lijit_allocate(runtime_, 1, nullptr, nullptr), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_copy_to_device(runtime_, pool_.tensor.data, nullptr, 1), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_copy_to_host(runtime_, nullptr, pool_.tensor.data, 1), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(lijit_free(runtime_, nullptr), LIJIT_OK);
  EXPECT_STREQ(lijit_runtime_target(nullptr), "");
  EXPECT_STREQ(lijit_indexer_backend(nullptr), "");
  EXPECT_STREQ(lijit_indexer_schedule(nullptr), "");
  EXPECT_EQ(lijit_runtime_device(nullptr).device_type, 0);
  lijit_runtime_destroy(nullptr);
  lijit_indexer_destroy(nullptr);
}

TEST_F(CArguments, OfConfigurations) {
  const auto refuses = [&](const std::function<void(lijit_indexer_config&)>& change,
                           const std::string& message) {
    lijit_indexer_config config = {};
    change(config);
    lijit_indexer* indexer = indexer_;
    EXPECT_EQ(lijit_indexer_create(runtime_, &config, &indexer), LIJIT_INVALID_ARGUMENT) << message;
    EXPECT_EQ(indexer, nullptr);
    EXPECT_NE(std::string(lijit_last_error()).find(message), std::string::npos)
        << lijit_last_error() << "\ndoes not say: " << message;
  };
  refuses([](auto& config) { config.input = "f64"; },
          "input is 'f64'; accepted are f32, bf16 and f16");
  refuses([](auto& config) { config.weight = "u8"; },
          "weight is 'u8'; accepted are f32, bf16 and f16");
  refuses([](auto& config) { config.format = "mxfp5"; }, "mxfp5");
  refuses([](auto& config) { config.heads = -1; }, "-1");
  const lijit_runtime_options options = {"tpu", nullptr};
  lijit_runtime* runtime = runtime_;
  EXPECT_EQ(lijit_runtime_create(&options, &runtime), LIJIT_INVALID_ARGUMENT);
  EXPECT_EQ(runtime, nullptr);
  EXPECT_STREQ(lijit_last_error(),
               "unknown device 'tpu'; accepted are auto, cuda, cuda:N and emulated");
}

}  // namespace
}  // namespace lijit::tests
