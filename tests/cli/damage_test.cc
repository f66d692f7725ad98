// SPDX-License-Identifier: Apache-2.0
// Entries of the cache that are damaged in every way: they are named, described, and built anew.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "cache/entry.h"
#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;

Arguments Warm() { return {"warm", "--model", "glm-5", "--format", "mxfp4", "--target", "sm_86"}; }

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// The entry with another image, whole in itself.
std::string WithImage(const std::string& bytes, const std::string& image) {
  cache::Entry entry = cache::DecodeEntry(AsBytes(bytes)).value();
  entry.image.assign(AsBytes(image).begin(), AsBytes(image).end());
  const auto encoded = cache::EncodeEntry(entry).value();
  return {reinterpret_cast<const char*>(encoded.data()), encoded.size()};
}

struct DamageCase {
  const char* name;
  const char* reason;  // of cache verify
  int dump_code;       // 2: a file of another kind
  // The bytes that take the good entry's place; `cubin` is whole and for another architecture.
  std::string (*damage)(const std::string& good, const std::string& cubin);
};

std::string Flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  return bytes;
}

using Bytes = const std::string&;
constexpr DamageCase kCases[] = {
    {"empty", "short", 2, [](Bytes, Bytes) { return std::string(); }},
    {"half", "short", 1, [](Bytes good, Bytes) { return good.substr(0, good.size() / 2); }},
    {"cut", "short", 1, [](Bytes good, Bytes) { return good.substr(0, good.size() - 1); }},
    {"longer", "trailing", 1, [](Bytes good, Bytes) { return good + "x"; }},
    {"flipped", "bad_checksum", 1,
     [](Bytes good, Bytes) { return Flipped(good, good.size() / 2); }},
    {"other_grammar", "bad_version", 1, [](Bytes good, Bytes) { return Flipped(good, 8); }},
    {"foreign", "bad_magic", 2, [](Bytes, Bytes) { return std::string("a text, no entry"); }},
    {"bare_cubin", "bad_magic", 0, [](Bytes, Bytes cubin) { return cubin; }},
    {"wrong_architecture", "image_refused", 1, WithImage},
};

class EntryDamage : public CompilingCliTest, public testing::WithParamInterface<DamageCase> {
 protected:
  void SetUp() override {
    CompilingCliTest::SetUp();
    if (IsSkipped()) return;
    FillTemplate();
    UseOwnCache();
    std::filesystem::copy(template_ + "/cache", Path("cache"),
                          std::filesystem::copy_options::recursive);
    const json entry = LijitJson({"cache", "ls"}, 0)["entries"][0];
    key_ = entry["key"];
    path_ = entry["path"];
  }

  static void TearDownTestSuite() { std::filesystem::remove_all(template_); }

  // Compiles once for all cases, which work on copies.
  void FillTemplate() {
    if (!template_.empty()) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "lijit-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    template_ = pattern;
    environment_["LIJIT_CACHE_DIR"] = template_ + "/cache";
    kernels_ = LijitJson(Warm(), 0)["kernels"];
  }

  // Puts the damaged bytes in the entry's place.
  void Damage() const {
    const std::string good = Read(path_);
    const std::string bad =
        GetParam().damage(good, Read(SourcePath("tests/data/cubin/v8_sm_90a.cubin")));
    ASSERT_NE(bad, good);
    std::filesystem::remove(path_);
    std::ofstream(path_, std::ios::binary) << bad;
  }

  static inline std::string template_;
  static inline int kernels_ = 0;
  std::string key_, path_;
};

TEST_P(EntryDamage, IsNamedDescribedAndBuiltAnew) {
  const json whole = LijitJson({"dump", path_}, 0);
  EXPECT_EQ(whole["kind"], "entry");
  EXPECT_EQ(whole["target"], "sm_86");
  EXPECT_FALSE(whole["kernels"].empty());
  ASSERT_EQ(LijitJson({"cache", "verify"}, 0)["entries"], kernels_);
  Damage();

  const json verify = LijitJson({"cache", "verify"}, 1);
  EXPECT_EQ(verify["ok"], false);
  ASSERT_EQ(verify["damaged"].size(), 1u);
  EXPECT_EQ(verify["damaged"][0]["key"], key_);
  EXPECT_EQ(verify["damaged"][0]["reason"], GetParam().reason);
  EXPECT_THAT(Lijit({"cache", "verify"}).out, HasSubstr(path_));

  const Answer dump = Lijit({"dump", path_});
  EXPECT_EQ(dump.code, GetParam().dump_code) << dump.out << dump.err;
  if (dump.code == 1) {
    EXPECT_EQ(LijitJson({"dump", path_}, 1)["kind"], "entry");
    EXPECT_THAT(dump.out, HasSubstr("PROBLEM"));
  }
  const bool decodes = std::string_view(GetParam().reason) == "image_refused";
  EXPECT_EQ(Lijit({"cache", "show", key_}).code, decodes ? 0 : 1);

  const json again = LijitJson(Warm(), 0);
  EXPECT_EQ(again["compiled"], 1);
  EXPECT_EQ(again["hits"], kernels_ - 1);
  EXPECT_EQ(LijitJson({"cache", "verify"}, 0)["damaged"], json::array());
  EXPECT_EQ(LijitJson({"cache", "stats"}, 0)["counters"]["moved_aside"], 1);
}

std::string NameOf(const testing::TestParamInfo<DamageCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Every, EntryDamage, testing::ValuesIn(kCases), NameOf);

}  // namespace
}  // namespace lijit::cli
