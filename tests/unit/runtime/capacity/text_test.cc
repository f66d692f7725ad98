// SPDX-License-Identifier: Apache-2.0
// Explanations, reports and plots.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

Transients TransientsOf(const Plan& plan) {
  Result<Transients> transients = MakeTransients(plan);
  EXPECT_TRUE(transients.ok());
  return transients ? *transients : Transients{};
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Text, ExplainShowsEveryIntermediate) {
  Request request = RequestFor("deepseek-v4-flash");
  request.max_model_len = 131'072;
  request.transient_budget = kGiB;
  const Plan plan = PlanOf(request, IndexerFormat::kFp8);
  const std::string text = Explain(plan, TransientsOf(plan));
  for (const std::string_view part :
       {"indexer: 256 tokens / 4 = 64 rows * 132 = 8,448 -> multiple of 576: 8,640",
        "21 layers * 8,640 (indexer)", "bytes 1,002,240; a request: ceil(131,072 / 256) = 512",
        "min(128 - 1 + 16,384, 131,072) = 16,511", "2 batches * 8,192 = 16,384",
        "8,589,934,592 bytes / 1,002,240 = 8,570 blocks", "tile of a budget of 1,073,741,824"}) {
    EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
  }
  EXPECT_TRUE(Has(text, Grouped(plan.tokens) + " tokens"));
}

TEST(Text, MarkdownHasBothFormatsAndTheComparison) {
  const Request request = RequestFor("deepseek-v4-flash");
  std::vector<Plan> plans;
  std::vector<Transients> transients;
  for (const IndexerFormat format : kIndexerFormats) {
    plans.push_back(PlanOf(request, format));
    transients.push_back(TransientsOf(plans.back()));
  }
  Observed observed;
  observed.block_bytes = 917'568;
  const Result<Reconciliation> reconciliation = Reconcile(plans[0], observed);
  ASSERT_TRUE(reconciliation.ok());
  const std::string text = MarkdownReport(plans, transients, &*reconciliation);
  for (const std::string_view part :
       {"# Capacity of deepseek-v4-flash", "| bytes of a block | 1,002,240 | 917,568 |",
        "| indexer | 21 | 256 | 64 | 8,640 | 4,608 |", "## Transients with indexer mxfp4",
        "| block bytes | 1,002,240 | 917,568 | **no** |", "Explained exactly by indexer format"}) {
    EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
  }
  // Every row of a table has as many cells as the one above it.
  std::ptrdiff_t bars = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const auto count = std::count(line.begin(), line.end(), '|');
    if (count > 0 && bars > 0) {
      EXPECT_EQ(count, bars) << line;
    }
    bars = count;
  }
}

TEST(Text, NamesCannotBreakAReport) {
  Request request = RequestFor("deepseek-v4-flash");
  request.model.name = "<script>&\n";
  request.model.caches[0].name = "a|b\nc";
  const Plan plan = PlanOf(request, IndexerFormat::kFp8);
  const std::string text = MarkdownReport({plan}, {TransientsOf(plan)}, nullptr);
  EXPECT_TRUE(Has(text, "| a\\|b c |"));
  const Result<std::string> svg = PlotSvg(request, kGiB);
  ASSERT_TRUE(svg.ok());
  EXPECT_TRUE(Has(*svg, "&lt;script>&amp; "));
  EXPECT_FALSE(Has(*svg, "<script"));
}

TEST(Text, PlotHasACurveForEachFormat) {
  Request request = RequestFor("deepseek-v4-flash");
  const Result<std::string> svg = PlotSvg(request, 24 * kGiB);
  ASSERT_TRUE(svg.ok()) << svg.error().message;
  EXPECT_TRUE(svg->starts_with("<svg ") && svg->ends_with("</svg>\n"));
  request.memory.cache_bytes = {24 * kGiB};
  for (const IndexerFormat format : kIndexerFormats) {
    EXPECT_TRUE(Has(*svg, std::string(IndexerFormatName(format)) +
                              " indexer: " + Grouped(PlanOf(request, format).tokens) + " tokens"));
  }
  EXPECT_TRUE(Has(*svg, "24.0 GiB"));
  EXPECT_EQ(*svg, *PlotSvg(request, 24 * kGiB)) << "the same request, the same text";
  EXPECT_TRUE(PlotSvg(request, 1).ok()) << "no tokens are a flat line";
  EXPECT_TRUE(PlotSvg(request, INT64_MAX / 16).ok());
  EXPECT_FALSE(PlotSvg(request, 0).ok());
}

}  // namespace
}  // namespace lijit::capacity
