// SPDX-License-Identifier: Apache-2.0
// docs/capacity.md says what the library computes. LIJIT_BLESS=1 rewrites its explanation.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "runtime/capacity/causes.h"
#include "tests/unit/runtime/capacity/requests.h"

namespace lijit::capacity {
namespace {

const std::string kPath = LIJIT_SOURCE_DIR "/docs/capacity.md";

std::string Page() {
  std::ifstream file(kPath, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text between two marks; fails if there is none.
std::string Part(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t first = text.find(begin);
  const std::size_t last = text.find(end, first);
  if (first == std::string::npos || last == std::string::npos) {
    ADD_FAILURE() << "docs/capacity.md lacks '" << begin << "'";
    return "";
  }
  return text.substr(first + begin.size(), last - first - begin.size());
}

// The case of the walk.
Request WalkRequest() {
  Request request = RequestFor("deepseek-v4-pro", *ParseBytes("26.09GiB"));
  request.max_model_len = 131'072;
  return request;
}

std::string ExplanationOf(const Request& request, IndexerFormat format) {
  const Plan plan = PlanOf(request, format);
  const Result<Transients> transients = MakeTransients(plan);
  EXPECT_TRUE(transients.ok());
  return transients ? Explain(plan, *transients) : "";
}

// "1,315,008", each once more than a comparison needs; years and counts below 1,000 are not.
void ExpectNumbersIn(const std::string& prose, const std::string& computed) {
  const std::regex number(R"(\d{1,3}(,\d{3})+)");
  int found = 0;
  for (std::sregex_iterator it(prose.begin(), prose.end(), number), end; it != end; ++it) {
    ++found;
    const std::regex whole("(^|[^0-9,])" + it->str() + "($|[^0-9,]|,[^0-9])");
    EXPECT_TRUE(std::regex_search(computed, whole)) << it->str() << " is computed nowhere";
  }
  EXPECT_GT(found, 15);
}

TEST(CapacityDocs, ExplanationIsWhatTheLibraryPrints) {
  const std::string begin = "<!-- explain begin -->\n", end = "<!-- explain end -->";
  const std::string wanted =
      "```text\n" + ExplanationOf(WalkRequest(), IndexerFormat::kMxfp4) + "```\n";
  std::string page = Page();
  const std::string part = Part(page, begin, end);
  if (std::getenv("LIJIT_BLESS") != nullptr) {
    page.replace(page.find(begin) + begin.size(), part.size(), wanted);
    std::ofstream(kPath, std::ios::binary) << page;
    return;
  }
  EXPECT_EQ(part, wanted);
}

TEST(CapacityDocs, NumbersOfTheWalkAreComputed) {
  const std::string walk = Part(Page(), "## One case", "<!-- explain begin -->");
  Request request = WalkRequest();
  std::string computed =
      ExplanationOf(request, IndexerFormat::kMxfp4) + ExplanationOf(request, IndexerFormat::kFp8);
  for (const char* rounded : {"26.085GiB", "26.095GiB"}) {
    request.memory.cache_bytes = {*ParseBytes(rounded)};
    computed += ExplanationOf(request, IndexerFormat::kMxfp4);
  }
  // vLLM's own.
  computed += " 21,306 blocks ";
  ExpectNumbersIn(walk, computed);
}

TEST(CapacityDocs, NumbersOfTheFourCardsAreComputed) {
  const std::string part = Part(Page(), "## Four 24-GiB cards", "## JSON");
  Request request = RequestFor("deepseek-v4-flash", kGiB);
  request.batched_tokens = 512;
  request.concurrent_batches = 1;
  std::string computed;
  for (const std::int64_t length : {175'000, 200'000}) {
    request.max_model_len = length;
    request.latent_format = "nvfp4";
    request.layout = LayoutOf("flashmla");
    computed += ExplanationOf(request, IndexerFormat::kMxfp4);
  }
  request.max_model_len = 175'000;
  const std::int64_t saved = MakeTransients(PlanOf(request, IndexerFormat::kFp8))->peak_bytes -
                             MakeTransients(PlanOf(request, IndexerFormat::kMxfp4))->peak_bytes;
  computed += " " + Grouped(saved) + " ";
  EXPECT_EQ(saved / 870'912, 130);
  // The first of the three kinds.
  request.layout = LayoutOf("flashinfer");
  for (Cache& cache : request.model.caches) {
    if (cache.role == Role::kState) cache.row_bytes /= 2;
  }
  const std::int64_t fp8 = PlanOf(request, IndexerFormat::kFp8).block_bytes;
  const std::int64_t mxfp4 = PlanOf(request, IndexerFormat::kMxfp4).block_bytes;
  for (const std::int64_t number :
       {fp8, mxfp4, std::max(934 * fp8, 1'061 * mxfp4), std::min(935 * fp8, 1'062 * mxfp4) - 1}) {
    computed += " " + Grouped(number) + " ";
  }
  // What was reported and searched; reported_3090_test.cc finds the blocks.
  computed += " 178,050 202,260 199,409 65,536 179,200 204,800 1,061 1,013 2,016 ";
  ExpectNumbersIn(part, computed);
}

TEST(CapacityDocs, EveryCauseIsNamed) {
  const std::string part = Part(Page(), "The causes that it tries", "## Totals");
  for (const Cause& cause : Causes()) {
    EXPECT_NE(part.find(cause.name), std::string::npos) << cause.name;
  }
}

}  // namespace
}  // namespace lijit::capacity
