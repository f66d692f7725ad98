// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_entry.h"

#include <algorithm>
#include <utility>

#include "lijit/bundle.h"

namespace lijit::tools {
namespace {

// The entry's image as a part of a file.
cubin::Member MemberOf(const cache::Entry& entry) {
  cubin::Member member;
  member.entry.kind = entry.kind == ImageKind::kPtx ? "ptx" : "cubin";
  member.entry.target = entry.target;
  member.entry.compression = "none";
  member.entry.stored_bytes = member.entry.bytes = entry.image.size();
  if (entry.kind == ImageKind::kPtx) {
    member.ptx.assign(reinterpret_cast<const char*>(entry.image.data()), entry.image.size());
  }
  return member;
}

// An image that is whole may still not be what the header says.
cubin::Dump DumpImage(const cache::Entry& entry) {
  Result<cubin::Dump> image = cubin::DumpBytes(entry.image);
  cubin::Dump dump = image.ok() ? *std::move(image) : cubin::Dump{};
  const Status status = cubin::Verify(entry.image, entry.target, entry.kernels);
  if (!status.ok() && dump.problems.empty()) dump.problems.push_back(status.error().message);
  return dump;
}

void AddBundled(const cache::Entry& entry, cubin::Dump& bundle) {
  cubin::Member member = MemberOf(entry);
  member.entry.identifier = cache::KeyDigest(entry.key);
  if (entry.kind == ImageKind::kCubin) {
    cubin::Dump image = DumpImage(entry);
    for (const std::string& problem : image.problems) {
      bundle.problems.push_back(member.entry.identifier + ": " + problem);
    }
    bundle.runs_on.insert(bundle.runs_on.end(), image.runs_on.begin(), image.runs_on.end());
    member.dump.push_back(std::move(image));
  }
  bundle.members.push_back(std::move(member));
}

}  // namespace

std::optional<EntryDump> DumpEntry(std::span<const std::byte> bytes) {
  cache::Counter reason = cache::Counter::kBadMagic;
  Result<cache::Entry> entry = cache::DecodeEntry(bytes, &reason);
  EntryDump result;
  if (entry.ok()) {
    if (entry->kind == ImageKind::kPtx) result.dump.members.push_back(MemberOf(*entry));
    if (entry->kind == ImageKind::kCubin) result.dump = DumpImage(*entry);
    result.entry = *std::move(entry);
  } else {
    if (reason == cache::Counter::kBadMagic || bytes.empty()) return std::nullopt;
    result.dump.problems.push_back(entry.error().message);
  }
  result.dump.kind = "entry";
  result.dump.bytes = bytes.size();
  return result;
}

std::optional<cubin::Dump> DumpBundle(std::span<const std::byte> bytes) {
  const Result<cache::Bundle> bundle = cache::DecodeBundle(bytes);
  if (!bundle.ok()) return std::nullopt;
  cubin::Dump dump;
  dump.kind = "bundle";
  dump.bytes = bytes.size();
  dump.problems = bundle->problems;
  for (const cache::Entry& entry : bundle->entries) AddBundled(entry, dump);
  std::sort(dump.runs_on.begin(), dump.runs_on.end());
  dump.runs_on.erase(std::unique(dump.runs_on.begin(), dump.runs_on.end()), dump.runs_on.end());
  return dump;
}

}  // namespace lijit::tools
