// SPDX-License-Identifier: Apache-2.0
// Every number of heads, head dimension and page size (reported fault B52: wrong scores for some of
// them), and every input type.
#include <fmt/format.h>

#include "runtime/compile/kernel_module.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

class Shapes : public IndexerTest {};
class EveryShape : public Shapes, public ::testing::WithParamInterface<IndexerConfig> {};

std::vector<IndexerConfig> AllSizes() {
  std::vector<IndexerConfig> shapes;
  const int pages[] = {16, 32, 64, 128, 256};
  for (const char* format : {"fp8_e4m3", "mxfp4"}) {
    int i = 0;
    for (const int heads : {8, 16, 32, 64, 128}) {
      for (const int dim : {32, 64, 128, 256}) {
        shapes.push_back(Small(format, heads, dim, pages[i++ % 5]));
      }
    }
  }
  return shapes;
}

std::vector<IndexerConfig> AllInputs() {
  std::vector<IndexerConfig> inputs;
  for (const DType input : {DType::kBf16, DType::kF16, DType::kF32}) {
    for (const DType weight : {DType::kF32, DType::kBf16}) {
      for (const char* format : {"fp8_e4m3", "mxfp4"}) {
        inputs.push_back(Small(format));
        inputs.back().input = input;
        inputs.back().weight = weight;
      }
    }
  }
  return inputs;
}

TEST_P(EveryShape, EqualsTheEvaluator) {
  TestIndexer& indexer = TestIndexer::Of(GetParam());
  const std::int64_t page = GetParam().page;
  QueryCase(indexer).Check();
  WriteCase(indexer, {.slots = {0, page - 1, page, 3 * page + 7}}).Check();
  TestCache cache(indexer, {.lengths = {70, 5}});
  GatherCase(cache).Check();
  PagedCase(cache, {.next_n = 2}).Check();
  RaggedCase(indexer).Check();
}

std::string NameOf(const ::testing::TestParamInfo<IndexerConfig>& info) {
  const IndexerConfig& c = info.param;
  return fmt::format("{}_h{}_d{}_p{}_{}_{}", c.format, c.heads, c.head_dim, c.page,
                     DTypeName(c.input), DTypeName(c.weight));
}
INSTANTIATE_TEST_SUITE_P(Sizes, EveryShape, ::testing::ValuesIn(AllSizes()), NameOf);
INSTANTIATE_TEST_SUITE_P(Inputs, EveryShape, ::testing::ValuesIn(AllInputs()), NameOf);

// Another order of a page's bytes is another line of the kernels' text.
TEST_F(Shapes, InterleavedPages) {
  for (const char* format : {"fp8_e4m3", "mxfp4"}) {
    IndexerConfig config = Small(format, 16, 128, 32);
    config.module = runtime::ShippedText("indexer.lir");
    config.module_name = "interleaved.lir";
    const std::string_view planar = "order = planar";
    config.module.replace(config.module.find(planar), planar.size(), "order = interleaved");
    TestIndexer& indexer = TestIndexer::Of(config);
    WriteCase write(indexer, {.slots = {0, 33}});
    write.Check();
    // Token 1 of page 1 lies behind token 0's values and scales.
    const auto row = Size(indexer.row().total());
    const std::vector<std::uint8_t> unwritten(row, kPoison);
    EXPECT_TRUE(SameBytes(write.Page(1).first(row), unwritten));
    EXPECT_FALSE(SameBytes(write.Page(1).subspan(row, row), unwritten));
    TestCache cache(indexer, {.lengths = {70, 33}});
    GatherCase(cache).Check();
    PagedCase(cache).Check();
  }
}

}  // namespace
}  // namespace lijit::tests
