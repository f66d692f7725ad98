// SPDX-License-Identifier: Apache-2.0
// What the cache's tests share: a folder of their own, an entry, a request.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/get_or_compute.h"
#include "cache/key.h"
#include "lijit/cache.h"

namespace lijit::cache {

// A new empty folder that goes away with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "lijit-cache-XXXXXX").string();
    LIJIT_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }

 private:
  std::string path_;
};

inline std::vector<std::byte> ToBytes(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline CacheConfig ConfigAt(const std::string& dir) {
  CacheConfig config;
  config.dir = dir;
  return config;
}

inline Key KeyOf(std::string_view module) {
  Key key;
  key.Add("schema", "1").Add("backend", "test 1.0").Add("target", "sm_90a").Add("module", module);
  return key;
}

inline Entry EntryOf(const Key& key, std::string_view image = "the image") {
  Entry entry;
  entry.key = key.text();
  entry.target = "sm_90a";
  entry.kernels = {"score", "select"};
  entry.resources = "score: 40 registers";
  entry.log = "ptxas info";
  entry.tools = {"test 1.0"};
  entry.created = 1700000000;
  entry.image = ToBytes(image);
  return entry;
}

// What is compiled in tests. `compiles` and `gate` are not in the key: they watch, and say when.
struct TestRequest {
  std::string module = "module";
  std::string image = "the image";
  std::atomic<int>* compiles = nullptr;
  const std::function<Status()>* gate = nullptr;  // called while compiling

  Key key() const { return KeyOf(module); }
  std::string target() const { return "sm_90a"; }
};

inline Result<Entry> CompileTest(const TestRequest& request) {
  if (request.compiles != nullptr) ++*request.compiles;
  if (request.gate != nullptr) LIJIT_TRY((*request.gate)());
  return EntryOf(request.key(), request.image);
}

inline Result<Outcome> Get(Store& store, const TestRequest& request,
                           const Validator& validator = nullptr) {
  return GetOrCompute(store, request, validator, CompileTest);
}

inline std::uint64_t CountOf(const Store& store, Counter counter) {
  return store.Stats().process[static_cast<std::size_t>(counter)];
}

// The only entry's path in a folder.
inline std::string OnlyEntry(const Store& store) {
  const std::vector<EntryInfo> entries = store.List();
  EXPECT_EQ(entries.size(), 1u);
  return entries.empty() ? "" : entries[0].path;
}

}  // namespace lijit::cache
