// SPDX-License-Identifier: Apache-2.0
#include "lijit/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cache/entry.h"
#include "cache/file_io.h"
#include "cache/folder.h"
#include "cache/key.h"
#include "cache/tar.h"

namespace lijit::cache {
namespace {

constexpr std::string_view kManifestName = "SHA256SUMS";
constexpr std::string_view kMagic = "# lijit bundle ";
constexpr std::string_view kVersionLine = "# lijit bundle 1\n";
// Bundles are read whole. The kernels of every known model for every target take a tenth of it.
constexpr std::uint64_t kMaxBundleSize = std::uint64_t{4} << 30;

using Bytes = std::span<const std::byte>;

std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string NameOf(const Entry& entry) { return EntryName(Sha256Hex(entry.key)); }

std::string ManifestLines(const Entry& entry, Bytes encoded) {
  std::string lines = fmt::format("# {} {}", entry.target, KindName(entry.kind));
  for (const std::string& kernel : entry.kernels) lines += " " + kernel;
  return lines + fmt::format("\n{}  {}\n", Sha256Hex(AsText(encoded)), NameOf(entry));
}

// The entry of a member; a sentence in `problems` if it is none, or not the one that the name says.
void DecodeMember(const TarMember& member, Bundle& bundle, std::string& manifest) {
  Result<Entry> entry = DecodeEntry(member.bytes);
  if (!entry.ok()) {
    bundle.problems.push_back(fmt::format("{}: {}", member.name, entry.error().message));
  } else if (NameOf(*entry) != member.name) {
    bundle.problems.push_back(fmt::format("{} holds an entry of another key", member.name));
  } else {
    manifest += ManifestLines(*entry, member.bytes);
    bundle.entries.push_back(std::move(entry).value());
  }
}

Result<std::vector<std::byte>> ReadBundleFile(const std::string& path) {
  std::error_code ignored;  // ReadFile, which follows no link, says what is wrong
  const std::string real = std::filesystem::canonical(path, ignored).string();
  FileContents file = ReadFile(ignored ? path : real, kMaxBundleSize);
  if (file.error != 0) {
    return InvalidArgument(fmt::format("cannot read {}: {}", path, ErrnoText(file.error)));
  }
  if (file.too_large) {
    return InvalidArgument(fmt::format("{} has {} bytes; bundles have at most {}", path,
                                       file.info.st_size, kMaxBundleSize));
  }
  return std::move(file.bytes);
}

// Every key of the store once, from the first folder that has it whole.
Result<std::vector<Entry>> WholeEntries(const Store& store, const Validator& validator) {
  std::map<std::string, Result<Entry>> by_key;
  for (const EntryInfo& info : store.List()) {
    if (const auto it = by_key.find(info.key); it != by_key.end() && it->second.ok()) continue;
    by_key.insert_or_assign(info.key, store.Read(info, validator));
  }
  std::vector<Entry> entries;
  for (auto& [key, entry] : by_key) {
    if (!entry.ok() && entry.error().code == ErrorCode::kUnavailable) continue;  // evicted
    if (!entry.ok()) {
      return Damaged(entry.error().message +
                     "; `lijit warm` builds it anew, or `lijit cache gc` removes it");
    }
    entries.push_back(std::move(entry).value());
  }
  return entries;
}

Status KeepTargets(std::span<const std::string> targets, std::vector<Entry>& entries) {
  if (targets.empty()) return {};
  for (const std::string& target : targets) {
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.target == target; })) {
      return InvalidArgument(fmt::format(
          "the cache has no entry for {}; `lijit warm --target {}` makes them", target, target));
    }
  }
  std::erase_if(entries, [&](const Entry& entry) {
    return std::find(targets.begin(), targets.end(), entry.target) == targets.end();
  });
  return {};
}

// The file's entries, if all of them are whole and pass the caller's check.
Result<std::vector<Entry>> ReadWhole(const std::string& path, Bytes bytes,
                                     const Validator& validator) {
  Result<Bundle> bundle = DecodeBundle(bytes);
  if (!bundle.ok()) return InvalidArgument(fmt::format("{}: {}", path, bundle.error().message));
  for (const Entry& entry : bundle->entries) {
    const Status status = validator ? validator(entry) : Status();
    if (!status.ok()) bundle->problems.push_back(NameOf(entry) + ": " + status.error().message);
  }
  if (bundle->problems.empty()) return std::move(bundle->entries);
  std::string message = path + " is damaged, nothing was imported:";
  for (const std::string& problem : bundle->problems) message += "\n  " + problem;
  return Damaged(message);
}

}  // namespace

Result<std::vector<std::byte>> EncodeBundle(std::vector<Entry> entries) {
  std::map<std::string, std::vector<std::byte>> files;  // by name, which is by key
  std::map<std::string, std::string> lines;
  for (Entry& entry : entries) {
    entry.created = 0;
    LIJIT_ASSIGN(std::vector<std::byte> bytes, EncodeEntry(entry));
    const std::string name = NameOf(entry);
    lines[name] = ManifestLines(entry, bytes);
    if (!files.emplace(name, std::move(bytes)).second) {
      return InvalidArgument("two entries have the key of " + name);
    }
  }
  std::string manifest(kVersionLine);
  for (const auto& [name, text] : lines) manifest += text;
  std::vector<TarMember> members = {{kManifestName, std::as_bytes(std::span(manifest))}};
  for (const auto& [name, bytes] : files) members.push_back({name, bytes});
  return WriteTar(members);
}

Result<Bundle> DecodeBundle(std::span<const std::byte> bytes) {
  TarContents contents = ReadTar(bytes);
  if (contents.members.empty() || contents.members[0].name != kManifestName ||
      !AsText(contents.members[0].bytes).starts_with(kMagic)) {
    return InvalidArgument("this is no bundle of lijit's cache");
  }
  Bundle bundle;
  if (!contents.problem.empty()) bundle.problems.push_back(contents.problem);
  const std::string_view manifest = AsText(contents.members[0].bytes);
  if (!manifest.starts_with(kVersionLine)) {
    bundle.problems.push_back(fmt::format("it has another version of the grammar: '{}', not '{}'",
                                          manifest.substr(0, manifest.find('\n')),
                                          kVersionLine.substr(0, kVersionLine.size() - 1)));
    return bundle;
  }
  std::string expected(kVersionLine);
  for (std::size_t i = 1; i < contents.members.size(); ++i) {
    if (i > 1 && contents.members[i].name <= contents.members[i - 1].name) {
      bundle.problems.push_back(fmt::format("{} is out of order", contents.members[i].name));
    }
    DecodeMember(contents.members[i], bundle, expected);
  }
  if (bundle.problems.empty() && manifest != expected) {
    bundle.problems.push_back("its SHA256SUMS are not those of its entries");
  }
  return bundle;
}

Result<BundleReport> Export(const Store& store, const std::string& path,
                            std::span<const std::string> targets, const Validator& validator) {
  LIJIT_ASSIGN(std::vector<Entry> entries, WholeEntries(store, validator));
  LIJIT_TRY(KeepTargets(targets, entries));
  BundleReport report;
  report.entries = entries.size();
  LIJIT_ASSIGN(const std::vector<std::byte> bytes, EncodeBundle(std::move(entries)));
  report.bytes = bytes.size();
  report.sha256 = Sha256Hex(AsText(bytes));
  if (const int error = WriteFile(path, bytes, 0666, Durability::kSynced, Permissions::kUmask);
      error != 0) {
    return Unavailable(fmt::format("cannot write {}: {}", path, ErrnoText(error)));
  }
  return report;
}

Result<BundleReport> Import(Store& store, const std::string& path, const Validator& validator) {
  LIJIT_ASSIGN(const std::vector<std::byte> bytes, ReadBundleFile(path));
  LIJIT_ASSIGN(const std::vector<Entry> entries, ReadWhole(path, bytes, validator));
  if (const std::uint64_t limit = store.config().max_size; limit != 0 && bytes.size() > limit) {
    return InvalidArgument(
        fmt::format("{} has {} bytes and the cache's limit is {}: entries would be evicted again; "
                    "set LIJIT_CACHE_MAX_SIZE to more",
                    path, bytes.size(), limit));
  }
  std::set<std::string> there;
  for (const EntryInfo& info : store.List()) {
    if (!info.readonly && store.Read(info, validator).ok()) there.insert(info.key);
  }
  BundleReport report{entries.size(), bytes.size(), Sha256Hex(AsText(bytes)), 0};
  for (const Entry& entry : entries) {
    if (there.contains(Sha256Hex(entry.key))) continue;
    LIJIT_TRY(store.Publish(entry));
    ++report.stored;
  }
  return report;
}

}  // namespace lijit::cache
