// SPDX-License-Identifier: Apache-2.0
// Texts that `lijit plan` reads: an engine's log, sizes, fractions, ranges of layers. What is read
// of a log is compared with a plan, too.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lijit/capacity.h"

namespace {

using namespace lijit::capacity;  // NOLINT: this file is the program

const Plan& SomePlan() {
  static const Plan plan = [] {
    Request request;
    request.model = *FindModel("deepseek-v4-flash");
    request.memory.cache_bytes = {std::int64_t{1} << 33};
    return *MakePlan(request, IndexerFormat::kFp8);
  }();
  return plan;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseBytes(text);
  (void)ParseFraction(text);
  (void)ParseLayers(text);
  if (const auto observed = ParseEngineLog(text)) (void)Reconcile(SomePlan(), *observed);
  return 0;
}
