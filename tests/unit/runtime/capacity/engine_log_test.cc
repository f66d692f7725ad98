// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

TEST(EngineLog, LinesOfVllm) {
  const Result<Observed> observed = ParseEngineLog(
      "INFO 08-07 21:32:22 [gpu_worker.py:298] Available KV cache memory: 7.71 GiB\n"
      "(EngineCore pid=1) INFO [kv_cache_utils.py:1087] GPU KV cache size: 1,009,661 tokens\n"
      "INFO [kv_cache_utils.py:1091] Maximum concurrency for 912,128 tokens per request: 1.11x\r\n"
      "DEBUG num_gpu_blocks is: 7657\n");
  ASSERT_TRUE(observed.ok()) << observed.error().message;
  EXPECT_EQ(observed->tokens, 1'009'661);
  EXPECT_EQ(observed->max_model_len, 912'128);
  EXPECT_EQ(observed->concurrency_hundredths, 111);
  EXPECT_EQ(observed->blocks, 7'657);
  ASSERT_TRUE(observed->cache_bytes);
  EXPECT_EQ(observed->cache_bytes->low, *ParseBytes("7.705GiB"));
  EXPECT_EQ(observed->cache_bytes->high, *ParseBytes("7.715GiB"));
}

TEST(EngineLog, OneLineWithBoth) {
  const Result<Observed> observed = ParseEngineLog(
      "GPU KV cache size: 333,437 tokens, Maximum concurrency for 131,072 tokens per request: "
      "2.5x");
  ASSERT_TRUE(observed.ok());
  EXPECT_EQ(observed->tokens, 333'437);
  EXPECT_EQ(observed->concurrency_hundredths, 250);
}

TEST(EngineLog, OlderBlocksAndTheLastLineCounts) {
  const Result<Observed> observed =
      ParseEngineLog("# GPU blocks: 12, # CPU blocks: 0\nnoise\n# GPU blocks: 34");
  ASSERT_TRUE(observed.ok());
  EXPECT_EQ(observed->blocks, 34);
  EXPECT_FALSE(observed->tokens);
}

TEST(EngineLog, WhatIsNoNumberIsNotRead) {
  for (const char* text :
       {"", "\n\n", "GPU KV cache size: tokens", "GPU KV cache size: 1.5 tokens",
        "GPU KV cache size: 12345678901234567890 tokens", "GPU KV cache size: 12",
        "Maximum concurrency for 12 tokens per request: x", "# GPU blocks: -3",
        "Maximum concurrency for 1 tokens per request: 1.234x", "Available KV cache memory: 5 MiB",
        "Available KV cache memory: 999999999999999999 GiB", "GPU KV cache size: ,1 tokens"}) {
    const Result<Observed> observed = ParseEngineLog(text);
    ASSERT_FALSE(observed.ok()) << text;
    EXPECT_NE(observed.error().message.find("GPU KV cache size"), std::string::npos);
  }
}

TEST(EngineLog, EveryPrefixIsHarmless) {
  const std::string text =
      "Available KV cache memory: 0.00 GiB\nGPU KV cache size: 1,234,567 tokens\n"
      "Maximum concurrency for 131,072 tokens per request: 9.42x\n# GPU blocks: 1\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    (void)ParseEngineLog(text.substr(0, length));
    (void)ParseEngineLog(text.substr(length));
  }
}

}  // namespace
}  // namespace lijit::capacity
