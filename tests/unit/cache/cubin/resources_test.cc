// SPDX-License-Identifier: Apache-2.0
// Resource numbers against what ptxas -v and cuobjdump -res-usage printed of the same cubins.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "tests/unit/cache/cubin/test_files.h"

namespace lijit::cubin {
namespace {

std::uint64_t Number(const std::string& line, const std::string& pattern, std::uint64_t otherwise) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(pattern)) ? std::stoull(match[1]) : otherwise;
}

// Calls `visit` with file, kernel and the line that tells the kernel's resources.
template <typename Visit>
int ForEachKernel(const std::string& text_file, const std::string& kernel_pattern,
                  const std::string& line_marker, Visit visit) {
  std::istringstream text(TestText(text_file));
  std::string line, file, kernel, spill_line;
  std::smatch match;
  int visited = 0;
  while (std::getline(text, line)) {
    if (line.starts_with("== ")) file = line.substr(3);
    if (line.find("spill stores") != std::string::npos) spill_line = line;
    if (std::regex_search(line, match, std::regex(kernel_pattern))) kernel = match[1];
    if (line.find(line_marker) == std::string::npos) continue;
    SCOPED_TRACE(file + " " + kernel);
    const Image image = TestImage(file);
    const Kernel* found = FindKernel(image, kernel);
    EXPECT_NE(found, nullptr);
    if (found != nullptr) visit(image, *found, line, spill_line);
    ++visited;
  }
  return visited;
}

TEST(ResourcesTest, AsPtxasPrintsThem) {
  const int kernels = ForEachKernel(
      "ptxas_v.txt", "Function properties for (\\w+)", "Used ",
      [](const Image& image, const Kernel& kernel, const std::string& line,
         const std::string& spill_line) {
        EXPECT_EQ(kernel.registers, Number(line, "Used (\\d+) registers", 999));
        EXPECT_EQ(kernel.shared_bytes, Number(line, "(\\d+) bytes smem", 0));
        EXPECT_EQ(kernel.local_bytes, Number(line, "(\\d+) bytes cumulative stack", 0));
        // 12.5 does not print barriers, and no compiler prints constants from sm_90 on.
        EXPECT_EQ(kernel.barriers, Number(line, "used (\\d+) barriers", kernel.barriers));
        EXPECT_EQ(kernel.constant_bytes,
                  Number(line, "(\\d+) bytes cmem\\[0\\]", kernel.constant_bytes));
        const bool spilled = Number(spill_line, "(\\d+) bytes spill stores", 0) != 0;
        EXPECT_EQ(kernel.spills.has_value(), image.generation == "v8");
        if (kernel.spills) {
          EXPECT_EQ(*kernel.spills != 0, spilled);
        }
      });
  EXPECT_EQ(kernels, 18);
}

TEST(ResourcesTest, AsCuobjdumpPrintsThem) {
  const int kernels = ForEachKernel(
      "res_usage.txt", "Function (\\w+):", "REG:",
      [](const Image& image, const Kernel& kernel, const std::string& line, const std::string&) {
        // cuobjdump counts the reserved kilobyte, and no stack in objects, which are not linked.
        const std::uint64_t reserved = image.sm >= 90 && kernel.shared_bytes != 0 ? 1024 : 0;
        EXPECT_EQ(kernel.registers, Number(line, "REG:(\\d+)", 999));
        EXPECT_EQ(kernel.shared_bytes + reserved, Number(line, "SHARED:(\\d+)", 999));
        EXPECT_EQ(kernel.constant_bytes, Number(line, "CONSTANT\\[0\\]:(\\d+)", 999));
        if (image.executable) {
          EXPECT_EQ(kernel.local_bytes, Number(line, "STACK:(\\d+)", 999));
        }
      });
  EXPECT_EQ(kernels, 21);
}

TEST(ResourcesTest, BoundsBarriersAndSpills) {
  for (const char* name : kCubinFiles) {
    SCOPED_TRACE(name);
    const Image image = TestImage(name);
    ASSERT_EQ(image.kernels.size(), 3u);
    EXPECT_EQ(FindKernel(image, "tiny_scale")->max_threads, 128u);
    EXPECT_EQ(FindKernel(image, "tiny_spill")->max_threads, 512u);
    EXPECT_EQ(FindKernel(image, "tiny_local")->max_threads, 1024u);
    EXPECT_EQ(FindKernel(image, "tiny_scale")->barriers, 1u);
    EXPECT_EQ(FindKernel(image, "tiny_local")->barriers, 0u);
    // 40 bytes spilled and refilled by 32-bit instructions.
    if (image.generation == "v8") {
      EXPECT_EQ(FindKernel(image, "tiny_spill")->spills, 20u);
    }
  }
}

}  // namespace
}  // namespace lijit::cubin
