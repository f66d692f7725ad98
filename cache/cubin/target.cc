// SPDX-License-Identifier: Apache-2.0
#include "cache/cubin/target.h"

#include <fmt/format.h>

#include <charconv>

namespace lijit::cubin {
namespace {

// How a generation codes the target in e_flags. v7 has 8 bits for the SM and the virtual SM, and a
// bit for accelerated targets. v8 has 16 bits for the SM; its accelerated bit is documented, but
// CUDA 13.0 leaves it clear and writes .nv.compat instead.
struct FlagsTarget {
  std::uint32_t sm;
  bool accelerated;
  std::optional<std::uint32_t> virtual_sm;
};

FlagsTarget DecodeFlags(std::uint32_t flags, bool v7) {
  constexpr std::uint32_t kFirstAccelerated = 90;  // below, v7's bit 11 means something else
  if (!v7) return {(flags >> 8) & 0xffff, (flags & 0x8) != 0, std::nullopt};
  const std::uint32_t sm = flags & 0xff;
  return {sm, sm >= kFirstAccelerated && (flags & 0x800) != 0, (flags >> 16) & 0xff};
}

std::string TargetText(std::uint32_t sm, char suffix) {
  return fmt::format("sm_{}{}", sm, suffix == 0 ? std::string() : std::string(1, suffix));
}

void CheckToolTarget(const NamedTarget& tool, const Image& image, Problems& problems) {
  if (tool.sm != image.sm)
    problems.Add(fmt::format("e_flags say sm_{}, .note.nv.tkinfo says {}", image.sm,
                             TargetText(tool.sm, tool.suffix)));
  else if ((tool.suffix == 'a') != image.accelerated)
    problems.Add(fmt::format("{}, but .note.nv.tkinfo says {}",
                             image.accelerated ? "the image is marked as accelerated (\"a\")"
                                               : "the image is not marked as accelerated (\"a\")",
                             TargetText(tool.sm, tool.suffix)));
}

void CheckVirtual(std::uint32_t virtual_sm, std::string_view where, const Image& image,
                  Problems& problems) {
  if (virtual_sm > image.sm)
    problems.Add(fmt::format("{} says that the code comes from compute_{}, which sm_{} cannot run",
                             where, virtual_sm, image.sm));
}

// .nv.compat beside e_flags; returns whether .nv.compat marks the image as accelerated.
std::optional<bool> ReadCompat(std::span<const Record> compat, Image& image) {
  std::optional<bool> accelerated;
  for (const Record& record : compat) {
    image.compat.push_back(DescribeCompat(record));
    if (record.code == static_cast<std::uint8_t>(CompatCode::kAcceleratorTarget))
      accelerated = record.value == 1;
    if (record.code == static_cast<std::uint8_t>(CompatCode::kIsaClass))
      image.isa_class = record.value;
  }
  return accelerated;
}

void SetSuffix(const std::optional<NamedTarget>& tool, Image& image) {
  image.family = !image.accelerated && tool && tool->sm == image.sm && tool->suffix == 'f';
  image.target_suffix_known = image.accelerated || tool || image.sm < 100;
  image.target = TargetText(image.sm, image.accelerated ? 'a' : image.family ? 'f' : 0);
}

}  // namespace

std::optional<NamedTarget> ParseTarget(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  NamedTarget target;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + kPrefix.size(), end, target.sm);
  if (error != std::errc()) return std::nullopt;
  if (rest == end) return target;
  if (rest + 1 != end || (*rest != 'a' && *rest != 'f')) return std::nullopt;
  target.suffix = *rest;
  return target;
}

std::optional<NamedTarget> ToolTarget(const std::vector<ToolNote>& tools) {
  constexpr std::string_view kOption = "-arch";
  std::optional<NamedTarget> target;
  for (const ToolNote& tool : tools) {
    const std::string_view line = tool.command_line;
    const std::size_t option = line.find(kOption);
    if (option == std::string_view::npos) continue;
    const std::size_t start = line.find_first_not_of(" =", option + kOption.size());
    if (start == std::string_view::npos) continue;
    const std::size_t end = line.find(' ', start);
    if (const auto named = ParseTarget(line.substr(start, end - start))) target = named;
  }
  return target;
}

void ReadTarget(const Elf& elf, const Notes& notes, std::span<const Record> compat, Image& image,
                Problems& problems) {
  const FlagsTarget flags = DecodeFlags(elf.header.flags, image.generation == "v7");
  image.sm = flags.sm;
  if (flags.sm == 0) problems.Add("e_flags record no SM");
  image.target_records.push_back({fmt::format("e_flags 0x{:08x}", elf.header.flags),
                                  TargetText(flags.sm, flags.accelerated ? 'a' : 0)});
  if (flags.virtual_sm) {
    image.target_records.back().says += fmt::format(", from compute_{}", *flags.virtual_sm);
    CheckVirtual(*flags.virtual_sm, "e_flags", image, problems);
  }

  const std::optional<NamedTarget> tool = ToolTarget(notes.tools);
  const std::optional<bool> marked = ReadCompat(compat, image);
  image.accelerated = flags.accelerated || marked.value_or(tool && tool->suffix == 'a');
  if (marked) {
    image.target_records.push_back({".nv.compat", *marked ? "accelerated" : "not accelerated"});
    if (flags.accelerated && !*marked)
      problems.Add("e_flags mark the image as accelerated (\"a\"), .nv.compat does not");
  }
  if (notes.cuda_info) {
    image.target_records.push_back(
        {".note.nv.cuinfo", fmt::format("from compute_{}", notes.cuda_info->virtual_sm)});
    CheckVirtual(notes.cuda_info->virtual_sm, ".note.nv.cuinfo", image, problems);
  }
  if (tool) {
    image.target_records.push_back({".note.nv.tkinfo", TargetText(tool->sm, tool->suffix)});
    CheckToolTarget(*tool, image, problems);
  }
  SetSuffix(tool, image);
}

}  // namespace lijit::cubin
