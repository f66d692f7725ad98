// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_entry.h"

#include <utility>

namespace lijit::tools {
namespace {

void DumpPtx(const cache::Entry& entry, cubin::Dump& dump) {
  cubin::Member member;
  member.entry.kind = "ptx";
  member.entry.target = entry.target;
  member.entry.compression = "none";
  member.entry.stored_bytes = member.entry.bytes = entry.image.size();
  member.ptx.assign(reinterpret_cast<const char*>(entry.image.data()), entry.image.size());
  dump.members.push_back(std::move(member));
}

// An image that is whole may still not be what the header says.
void DumpCubin(const cache::Entry& entry, cubin::Dump& dump) {
  Result<cubin::Dump> image = cubin::DumpBytes(entry.image);
  if (image.ok()) dump = *std::move(image);
  const Status status = cubin::Verify(entry.image, entry.target, entry.kernels);
  if (!status.ok() && dump.problems.empty()) dump.problems.push_back(status.error().message);
}

}  // namespace

std::optional<EntryDump> DumpEntry(std::span<const std::byte> bytes) {
  cache::Counter reason = cache::Counter::kBadMagic;
  Result<cache::Entry> entry = cache::DecodeEntry(bytes, &reason);
  EntryDump result;
  if (entry.ok()) {
    if (entry->kind == ImageKind::kPtx) DumpPtx(*entry, result.dump);
    if (entry->kind == ImageKind::kCubin) DumpCubin(*entry, result.dump);
    result.entry = *std::move(entry);
  } else {
    if (reason == cache::Counter::kBadMagic || bytes.empty()) return std::nullopt;
    result.dump.problems.push_back(entry.error().message);
  }
  result.dump.kind = "entry";
  result.dump.bytes = bytes.size();
  return result;
}

}  // namespace lijit::tools
