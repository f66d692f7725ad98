// SPDX-License-Identifier: Apache-2.0
#include "lijit/bundle.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/tar.h"
#include "tests/unit/cache/scratch.h"

namespace lijit::cache {
namespace {

std::vector<Entry> Entries() {
  Entry ptx = EntryOf(KeyOf("second"), "some ptx");
  ptx.kind = ImageKind::kPtx;
  ptx.target = "sm_86";
  return {EntryOf(KeyOf("first")), ptx, EntryOf(KeyOf("third"), std::string(2000, 'x'))};
}

std::string AsString(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string BundleText(std::vector<Entry> entries = Entries()) {
  return AsString(EncodeBundle(std::move(entries)).value());
}

// A folder with the entries.
void Fill(const std::string& dir, const std::vector<Entry>& entries = Entries()) {
  Store store(ConfigAt(dir));
  for (const Entry& entry : entries) ASSERT_TRUE(store.Publish(entry).ok());
}

const std::vector<std::string> kAllTargets = {};

TEST(Bundle, ComesBackAsItWasInTheOrderOfTheKeys) {
  const Result<Bundle> bundle = DecodeBundle(EncodeBundle(Entries()).value());
  ASSERT_TRUE(bundle.ok());
  EXPECT_TRUE(bundle->problems.empty());
  ASSERT_EQ(bundle->entries.size(), 3u);
  std::string previous;
  for (const Entry& entry : bundle->entries) {
    const std::string digest = Sha256Hex(entry.key);
    EXPECT_LT(previous, digest);
    previous = digest;
    const auto all = Entries();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](Entry original) {
      original.created = 0;
      return original == entry;
    }));
  }
}

TEST(Bundle, TheSameEntriesGiveTheSameBytesWheneverAndInWhicheverOrder) {
  std::vector<Entry> entries = Entries();
  const std::string bytes = BundleText();
  std::swap(entries[0], entries[2]);
  for (Entry& entry : entries) entry.created += 1000;
  EXPECT_EQ(BundleText(entries), bytes);
}

TEST(Bundle, TwoEntriesOfOneKeyAreRefused) {
  EXPECT_EQ(EncodeBundle({EntryOf(KeyOf("a")), EntryOf(KeyOf("a"))}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(Bundle, NoEntriesAreABundleToo) {
  const auto bundle = DecodeBundle(EncodeBundle({}).value());
  ASSERT_TRUE(bundle.ok());
  EXPECT_TRUE(bundle->entries.empty() && bundle->problems.empty());
}

bool IsRefused(std::string_view text) {
  const Result<Bundle> bundle = DecodeBundle(ToBytes(text));
  return !bundle.ok() || !bundle->problems.empty();
}

TEST(Bundle, EveryFlippedBitIsFound) {
  std::string text = BundleText({EntryOf(KeyOf("first")), EntryOf(KeyOf("second"))});
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(IsRefused(text)) << "bit " << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(Bundle, EveryTruncationAndEveryAdditionIsFound) {
  const std::string text = BundleText({EntryOf(KeyOf("first"))});
  for (std::size_t size = 0; size < text.size(); ++size) {
    ASSERT_TRUE(IsRefused(std::string_view(text).substr(0, size))) << size;
  }
  EXPECT_TRUE(IsRefused(text + '\0'));
  EXPECT_TRUE(IsRefused(text + std::string(512, '\0')));
}

TEST(Bundle, AMissingAnAddedOrARenamedMemberIsFound) {
  const auto bytes = EncodeBundle(Entries()).value();
  const std::vector<TarMember> members = ReadTar(bytes).members;
  ASSERT_EQ(members.size(), 4u);
  const auto rewritten = [](const std::vector<TarMember>& changed) {
    return IsRefused(AsString(WriteTar(changed)));
  };
  EXPECT_FALSE(rewritten(members));
  EXPECT_TRUE(rewritten({members[0], members[1], members[2]}));
  EXPECT_TRUE(rewritten({members[0], members[2], members[1], members[3]}));
  EXPECT_TRUE(rewritten({members[0], members[1], members[2], members[3], members[3]}));
  EXPECT_TRUE(rewritten({members[1], members[2], members[3]}));
  auto renamed = members;
  renamed[3].name = "ff/x.entry";
  EXPECT_TRUE(rewritten(renamed));
  renamed[3].name = "../../escape";
  EXPECT_TRUE(rewritten(renamed));
}

TEST(Bundle, OtherVersionsAndOtherFilesAreNamed) {
  const std::string manifest = "# lijit bundle 2\n";
  const std::vector<TarMember> members = {{"SHA256SUMS", std::as_bytes(std::span(manifest))}};
  const auto newer = DecodeBundle(WriteTar(members));
  ASSERT_TRUE(newer.ok());
  EXPECT_NE(newer->problems.at(0).find("'# lijit bundle 2'"), std::string::npos);
  EXPECT_EQ(DecodeBundle(ToBytes("text")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(DecodeBundle({}).error().code, ErrorCode::kInvalidArgument);
}

// What other programs make of it: tar lists and unpacks it, sha256sum finds it whole, and the
// unpacked folder is a layer of a cache.
TEST(Bundle, IsAnArchiveWhoseFolderIsALayer) {
  const Scratch scratch;
  Fill(scratch.path("filled"));
  ASSERT_TRUE(
      Export(Store(ConfigAt(scratch.path("filled"))), scratch.path("b.tar"), kAllTargets, nullptr)
          .ok());
  const std::string command = "mkdir " + scratch.path("image") + " && cd " + scratch.path("image") +
                              " && tar xf ../b.tar && sha256sum --quiet --strict -c SHA256SUMS";
  ASSERT_EQ(std::system(command.c_str()), 0);
  CacheConfig config = ConfigAt(scratch.path("own"));
  config.readonly_dirs = {scratch.path("image")};
  Store store(config);
  EXPECT_TRUE(store.Verify(nullptr).damaged.empty());
  EXPECT_EQ(Get(store, {.module = "first"})->event.outcome, Counter::kHitReadonly);
}

TEST(Import, WhatWasWarmedHereIsHitThereWhateverThePath) {
  const Scratch here, there;
  Fill(here.path("a/deep/folder"));
  const auto exported =
      Export(Store(ConfigAt(here.path("a/deep/folder"))), here.path("b.tar"), kAllTargets, nullptr);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->entries, 3u);
  EXPECT_EQ(exported->bytes, std::filesystem::file_size(here.path("b.tar")));
  EXPECT_EQ(exported->sha256, Sha256Hex(ReadText(here.path("b.tar"))));
  std::filesystem::rename(here.path("b.tar"), there.path("moved"));
  std::filesystem::create_symlink(there.path("moved"), there.path("link"));

  Store store(ConfigAt(there.path("cache")));
  const auto imported = Import(store, there.path("link"), nullptr);
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->entries, 3u);
  EXPECT_EQ(imported->stored, 3u);
  EXPECT_EQ(imported->sha256, exported->sha256);
  EXPECT_EQ(Import(store, there.path("moved"), nullptr)->stored, 0u);
  Store next(ConfigAt(there.path("cache")));
  EXPECT_EQ(Get(next, {.module = "first"})->event.outcome, Counter::kHitDisk);
  EXPECT_EQ(next.Stats().process[static_cast<std::size_t>(Counter::kCompiled)], 0u);
}

TEST(Import, ReplacesWhatIsDamagedThere) {
  const Scratch scratch;
  Fill(scratch.path("cache"));
  Store store(ConfigAt(scratch.path("cache")));
  ASSERT_TRUE(Export(store, scratch.path("b.tar"), kAllTargets, nullptr).ok());
  WriteText(store.List().at(1).path, "damaged");
  EXPECT_EQ(Import(store, scratch.path("b.tar"), nullptr)->stored, 1u);
  EXPECT_TRUE(store.Verify(nullptr).damaged.empty());
}

TEST(Import, StoresNothingOfADamagedOrRefusedBundle) {
  const Scratch scratch;
  std::string text = BundleText();
  WriteText(scratch.path("good"), text);
  text[text.size() / 2] ^= 1;
  WriteText(scratch.path("damaged"), text);
  Store store(ConfigAt(scratch.path("cache")));
  const auto damaged = Import(store, scratch.path("damaged"), nullptr);
  EXPECT_EQ(damaged.error().code, ErrorCode::kDamaged);
  EXPECT_NE(damaged.error().message.find(".entry: "), std::string::npos);
  const Validator refuse = [](const Entry& entry) {
    return entry.target == "sm_86" ? Status(Damaged("the image is odd")) : Status();
  };
  const auto refused = Import(store, scratch.path("good"), refuse);
  EXPECT_EQ(refused.error().code, ErrorCode::kDamaged);
  EXPECT_NE(refused.error().message.find("the image is odd"), std::string::npos);
  EXPECT_EQ(Import(store, scratch.path("absent"), nullptr).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(store.List().empty());
}

TEST(Import, SaysThatTheFolderIsTooSmallOrCannotBeWritten) {
  const Scratch scratch;
  WriteText(scratch.path("b.tar"), BundleText());
  CacheConfig config = ConfigAt(scratch.path("cache"));
  config.max_size = 1000;
  Store small(config);
  const auto refused = Import(small, scratch.path("b.tar"), nullptr);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("LIJIT_CACHE_MAX_SIZE"), std::string::npos);
  Store nowhere(CacheConfig{});
  EXPECT_EQ(Import(nowhere, scratch.path("b.tar"), nullptr).error().code, ErrorCode::kUnavailable);
}

TEST(Export, TakesTargetsAndSaysIfThereAreNone) {
  const Scratch scratch;
  Fill(scratch.path("cache"));
  const Store store(ConfigAt(scratch.path("cache")));
  EXPECT_EQ(Export(store, scratch.path("b"), std::vector<std::string>{"sm_86"}, nullptr)->entries,
            1u);
  EXPECT_EQ(Export(store, scratch.path("b"), std::vector<std::string>{"sm_86", "sm_90a"}, nullptr)
                ->entries,
            3u);
  const auto none = Export(store, scratch.path("c"), std::vector<std::string>{"sm_99"}, nullptr);
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(none.error().message.find("lijit warm --target sm_99"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("c")));
}

TEST(Export, TakesTheWholeCopyAndFailsIfThereIsNone) {
  const Scratch scratch;
  Fill(scratch.path("shipped"), {EntryOf(KeyOf("first"))});
  WriteText(OnlyEntry(Store(ConfigAt(scratch.path("shipped")))), "damaged");
  Fill(scratch.path("own"), {EntryOf(KeyOf("first"))});
  CacheConfig config = ConfigAt(scratch.path("own"));
  config.readonly_dirs = {scratch.path("shipped")};
  EXPECT_EQ(Export(Store(config), scratch.path("b"), kAllTargets, nullptr)->entries, 1u);
  const auto damaged =
      Export(Store(ConfigAt(scratch.path("shipped"))), scratch.path("c"), kAllTargets, nullptr);
  EXPECT_EQ(damaged.error().code, ErrorCode::kDamaged);
  EXPECT_FALSE(std::filesystem::exists(scratch.path("c")));
  const auto unwritable = Export(Store(config), scratch.path("no/b"), kAllTargets, nullptr);
  EXPECT_EQ(unwritable.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace lijit::cache
