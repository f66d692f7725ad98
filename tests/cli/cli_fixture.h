// SPDX-License-Identifier: Apache-2.0
// A test with a folder of its own that runs `lijit` and `cubin-dump`.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/program.h"

namespace lijit::cli {

using nlohmann::json;
using Arguments = std::vector<std::string>;

class CliTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A path in the test's folder.
  std::string Path(std::string_view name) const;
  std::string Write(std::string_view name, std::string_view bytes) const;
  static std::string Read(const std::string& path);

  // Runs `lijit` with the cache that all tests share, unless `environment` says otherwise.
  Answer Lijit(const Arguments& arguments) const;
  // The same with --json: one object, whatever the exit code, which must be `code`.
  json LijitJson(Arguments arguments, int code) const;
  // Runs with its own cache in the test's folder.
  void UseOwnCache();

  std::map<std::string, std::string> environment_;
  std::string input_;

 private:
  std::string folder_;
};

// The same where NVRTC is; skipped elsewhere.
class CompilingCliTest : public CliTest {
 protected:
  void SetUp() override;
};

// A small run: four kernels, less than a second without a cache.
Arguments SmallRun(const Arguments& more = {});

// "tests/data/cubin/v8_sm_86.cubin" as a path of this checkout.
std::string SourcePath(std::string_view path);

}  // namespace lijit::cli
