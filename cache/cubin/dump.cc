// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cache/cubin/target.h"

namespace lijit::cubin {
namespace {

// Remarks on an image that is as it should be.
std::vector<std::string> Notes(const Image& image) {
  std::vector<std::string> notes;
  if (!image.executable) notes.push_back("a relocatable object: no device loads it unlinked");
  if (!image.target_suffix_known)
    notes.push_back(
        fmt::format("no tool note says whether this is {} or {}f, and nothing else "
                    "records it",
                    image.target, image.target));
  if (image.generation != "v7" && image.generation != "v8")
    notes.push_back(
        fmt::format("generation {} is not known here; it was read as v8", image.generation));
  if (std::any_of(image.kernels.begin(), image.kernels.end(),
                  [](const Kernel& kernel) { return !kernel.spills; }))
    notes.push_back("the compiler did not record spills");
  return notes;
}

Result<Dump> DumpCubin(Bytes bytes) {
  Dump dump;
  dump.kind = "cubin";
  dump.bytes = bytes.size();
  dump.code.assign(bytes.begin(), bytes.end());
  Result<Image> image = ReadCubin(bytes);
  if (!image.ok()) {
    if (image.error().code != ErrorCode::kDamaged) return image.error();
    dump.problems.push_back(image.error().message);
    return dump;
  }
  dump.notes = Notes(*image);
  dump.runs_on = RunsOn(*image);
  dump.problems = image->problems;
  dump.image = std::move(image).value();
  return dump;
}

// What the fatbin's list says must be what the image says.
void CompareTargets(const FatbinEntry& entry, Dump& cubin) {
  if (!cubin.image || entry.target == cubin.image->target) return;
  const bool only_family_unknown =
      !cubin.image->target_suffix_known && entry.target == cubin.image->target + "f";
  if (!only_family_unknown)
    cubin.problems.push_back(fmt::format("the fatbin lists it as {}, but it is for {}",
                                         entry.target, cubin.image->target));
}

Member DumpMember(const FatbinEntry& entry, Bytes file) {
  Member member;
  member.entry = entry;
  const auto payload = SliceAt(file, entry.offset, entry.stored_bytes);
  if (entry.compression != "none" || !payload) return member;
  if (entry.kind == "ptx") {
    const std::string_view text = AsText(*payload);
    member.ptx = std::string(text.substr(0, text.find('\0')));
  } else if (entry.kind == "cubin") {
    Result<Dump> dump = DumpCubin(*payload);
    if (dump.ok()) {
      CompareTargets(entry, *dump);
      member.dump.push_back(std::move(dump).value());
    } else {
      Dump foreign;
      foreign.kind = "cubin";
      foreign.bytes = payload->size();
      foreign.problems.push_back(dump.error().message);
      member.dump.push_back(std::move(foreign));
    }
  }
  return member;
}

// A compressed cubin is known by its list entry alone.
std::vector<int> MemberRunsOn(const Member& member) {
  if (!member.dump.empty()) return member.dump.front().runs_on;
  const auto target = ParseTarget(member.entry.target);
  if (!target) return {};
  Image image;
  image.sm = target->sm;
  image.accelerated = target->suffix == 'a';
  return RunsOn(image);
}

Result<Dump> DumpFatbin(Bytes bytes) {
  LIJIT_ASSIGN(Fatbin fatbin, ReadFatbin(bytes));
  Dump dump;
  dump.kind = "fatbin";
  dump.bytes = bytes.size();
  dump.problems = std::move(fatbin.problems);
  for (std::size_t i = 0; i < fatbin.entries.size(); ++i) {
    Member member = DumpMember(fatbin.entries[i], bytes);
    for (const Dump& inner : member.dump)
      for (const std::string& problem : inner.problems)
        dump.problems.push_back(fmt::format("entry {} ({}): {}", i, member.entry.target, problem));
    const std::vector<int> runs_on = MemberRunsOn(member);
    dump.runs_on.insert(dump.runs_on.end(), runs_on.begin(), runs_on.end());
    dump.members.push_back(std::move(member));
  }
  std::sort(dump.runs_on.begin(), dump.runs_on.end());
  dump.runs_on.erase(std::unique(dump.runs_on.begin(), dump.runs_on.end()), dump.runs_on.end());
  return dump;
}

std::string FirstBytes(Bytes bytes) {
  if (bytes.empty()) return "the file is empty";
  std::string text;
  for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 8)))
    text += fmt::format(" {:02x}", std::to_integer<unsigned>(byte));
  return "the file begins with" + text;
}

}  // namespace

Result<Dump> DumpBytes(std::span<const std::byte> bytes) {
  const std::uint32_t magic = LoadAt<std::uint32_t>(bytes, 0).value_or(0);
  if (magic == 0x464c457f) return DumpCubin(bytes);
  if (magic == 0xba55ed50) return DumpFatbin(bytes);
  return InvalidArgument(fmt::format("neither a cubin (7f 45 4c 46) nor a fatbin (50 ed 55 ba): {}",
                                     FirstBytes(bytes)));
}

}  // namespace lijit::cubin
