// SPDX-License-Identifier: Apache-2.0
// A step written in C gives the bytes that the same step written in C++ gives.
#include "step.h"

#include <algorithm>
#include <cstring>

#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

std::unique_ptr<step_inputs> MakeInputs(const char* format) {
  auto in = std::make_unique<step_inputs>();
  in->format = format;
  std::ranges::copy(RandomRows(STEP_REQUESTS * STEP_HEADS, STEP_DIM, 1), in->q);
  std::ranges::copy(RandomRows(STEP_REQUESTS, STEP_HEADS, 2), in->w);
  std::ranges::copy(RandomRows(STEP_KEYS, STEP_DIM, 3), in->k);
  constexpr std::int32_t kTable[] = {2, 0, 1, 3};  // of the four pages behind the first
  std::ranges::copy(kTable, in->table);
  for (int i = 0; i < STEP_KEYS; ++i) {
    const bool other = i >= STEP_LENGTH;
    const int key = other ? i - STEP_LENGTH : i;
    in->slots[i] = kTable[(other ? 2 : 0) + key / STEP_PAGE_TOKENS] * STEP_PAGE_TOKENS +
                   key % STEP_PAGE_TOKENS;
  }
  in->lengths[0] = STEP_LENGTH;
  in->lengths[1] = STEP_OTHER;
  in->cu_seq_lens[1] = STEP_LENGTH;
  in->cu_seq_lens[2] = STEP_KEYS;
  return in;
}

template <typename T, std::size_t kSize>
std::vector<T> VectorOf(const T (&array)[kSize]) {
  return {array, array + kSize};
}

// The same in C++, as tensors on the device.
struct CppStep {
  explicit CppStep(TestIndexer& indexer) : x(indexer), memory(indexer.device()) {}

  void Run(const step_inputs& in) {
    const int heads = STEP_HEADS;
    const Tensor table = memory.Put(VectorOf(in.table), {STEP_REQUESTS, 2});
    const Tensor lengths = memory.Put(VectorOf(in.lengths), {STEP_REQUESTS});
    const std::int64_t stride = x->page_bytes() + STEP_PADDING;
    pool = memory.Poisoned(DType::kU8, {STEP_PAGES, stride});
    const CachePool pages = x->Pool(pool.data + Size(stride), stride, STEP_PAGES - 1);
    Expect(x->WriteCache({.k = memory.Put(VectorOf(in.k), {STEP_KEYS, STEP_DIM}),
                          .slots = memory.Put(VectorOf(in.slots), {STEP_KEYS}),
                          .pool = pages,
                          .rope = {}}));
    k_values = memory.Poisoned(DType::kU8, {STEP_KEYS, x.row().values});
    k_scales = memory.Poisoned(DType::kU8, {STEP_KEYS, x.row().key_scales});
    Expect(x->GatherCache({pages, table, memory.Put(VectorOf(in.cu_seq_lens), {STEP_REQUESTS + 1}),
                           k_values, k_scales}));
    const auto queries = [&](int bytes) {
      return bytes == 0 ? kNoTensor : memory.Poisoned(DType::kU8, {STEP_REQUESTS, heads, bytes});
    };
    values = queries(x.row().values);
    scales = queries(x.row().query_scales);
    weights = memory.Poisoned(DType::kF32, {STEP_REQUESTS, heads});
    Expect(x->QuantizeQuery({memory.Put(VectorOf(in.q), {STEP_REQUESTS, heads, STEP_DIM}),
                             memory.Put(VectorOf(in.w), {STEP_REQUESTS, heads}),
                             values,
                             scales,
                             weights,
                             {}}));
    Score(table, lengths, pages);
  }

  void Score(const Tensor& table, const Tensor& lengths, const CachePool& pages) {
    ragged = memory.Poisoned(DType::kF32, {STEP_REQUESTS, STEP_KEYS});
    const std::vector<std::int32_t> starts = {0, STEP_LENGTH}, ends = {STEP_LENGTH, STEP_KEYS};
    Expect(x->LogitsRagged({values, scales, k_values, k_scales, weights,
                            memory.Put(starts, {STEP_REQUESTS}), memory.Put(ends, {STEP_REQUESTS}),
                            ragged, Tail::kMinusInfinity}));
    const auto paged_queries = [](const Tensor& t) {
      return IsGiven(t)
                 ? Tensor::Contiguous(t.data, t.dtype, {t.shape[0], 1, t.shape[1], t.shape[2]})
                 : kNoTensor;
    };
    paged = memory.Poisoned(DType::kF32, {STEP_REQUESTS, STEP_LENGTH});
    Expect(x->LogitsPaged({paged_queries(values), paged_queries(scales), pages, table, lengths, 1,
                           weights, paged, Tail::kKeep}));
    indices = memory.Poisoned(DType::kI32, {STEP_REQUESTS, STEP_TOP_K});
    Expect(x->TopK({.logits = paged,
                    .starts = kNoTensor,
                    .ends = lengths,
                    .k = STEP_TOP_K,
                    .indices = indices}));
  }

  static void Expect(const Status& status) { ASSERT_TRUE(status.ok()) << status.error().message; }

  TestIndexer& x;
  TestMemory memory;
  Tensor pool, k_values, k_scales, values, scales, weights, ragged, paged, indices;
};

class CStep : public IndexerTest, public ::testing::WithParamInterface<const char*> {};

// Whether the C step's array begins with the C++ step's tensor.
template <typename T>
void ExpectSame(CppStep& cpp, const Tensor& tensor, const T* got, std::size_t size) {
  if (!IsGiven(tensor)) return;  // the format stores no such scales
  const std::vector<T> wanted = cpp.memory.Read<T>(tensor);
  ASSERT_LE(wanted.size(), size);
  const auto bytes = [](const T* data, std::size_t count) {
    return std::span(reinterpret_cast<const std::uint8_t*>(data), count * sizeof(T));
  };
  EXPECT_TRUE(SameBytes(bytes(got, wanted.size()), bytes(wanted.data(), wanted.size())));
}

TEST_P(CStep, GivesTheBytesOfCpp) {
  static_assert(STEP_FILL == kPoison);
  const auto in = MakeInputs(GetParam());
  const auto out = std::make_unique<step_outputs>();
  const lijit_runtime_options options = {"emulated", "sm_86"};
  lijit_runtime* runtime = nullptr;
  ASSERT_EQ(lijit_runtime_create(&options, &runtime), LIJIT_OK) << lijit_last_error();
  EXPECT_EQ(run_step(runtime, in.get(), out.get()), LIJIT_OK) << lijit_last_error();
  lijit_runtime_destroy(runtime);

  IndexerConfig config = Small(GetParam(), STEP_HEADS, STEP_DIM, STEP_PAGE_TOKENS);
  config.input = DType::kF32;
  config.schedule = "auto";
  CppStep cpp(TestIndexer::Of(config));
  cpp.Run(*in);
  ExpectSame(cpp, cpp.values, out->values, std::size(out->values));
  ExpectSame(cpp, cpp.scales, out->scales, std::size(out->scales));
  ExpectSame(cpp, cpp.weights, out->weights, std::size(out->weights));
  ExpectSame(cpp, cpp.pool, out->pool, std::size(out->pool));
  ExpectSame(cpp, cpp.k_values, out->k_values, std::size(out->k_values));
  ExpectSame(cpp, cpp.k_scales, out->k_scales, std::size(out->k_scales));
  ExpectSame(cpp, cpp.ragged, out->ragged, std::size(out->ragged));
  ExpectSame(cpp, cpp.paged, out->paged, std::size(out->paged));
  ExpectSame(cpp, cpp.indices, out->indices, std::size(out->indices));
  EXPECT_GE(out->indices[STEP_TOP_K - 1], STEP_TOP_K - 1);  // all of the row are keys
  EXPECT_NE(out->paged[0], out->paged[1]);
}

INSTANTIATE_TEST_SUITE_P(Formats, CStep, ::testing::Values("fp8_e4m3", "mxfp4"));

}  // namespace
}  // namespace lijit::tests
