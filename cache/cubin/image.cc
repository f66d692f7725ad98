// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cache/cubin/target.h"

namespace lijit::cubin {
namespace {

constexpr std::uint8_t kOsAbiV7 = 0x33;
constexpr std::uint8_t kOsAbiV8 = 0x41;

// EI_ABIVERSION tells the generation; a newer one than v8 is read as v8.
void ReadGeneration(const Elf& elf, Image& image, Problems& problems) {
  const std::uint8_t os_abi = elf.header.ident[7];
  const std::uint8_t abi_version = elf.header.ident[8];
  image.generation = fmt::format("v{}", abi_version);
  if ((abi_version == 7 && os_abi != kOsAbiV7) || (abi_version == 8 && os_abi != kOsAbiV8))
    problems.Add(fmt::format("generation v{} with OSABI 0x{:02x}; expected 0x{:02x}", abi_version,
                             os_abi, abi_version == 7 ? kOsAbiV7 : kOsAbiV8));
  if (abi_version < 7)
    problems.Add(
        fmt::format("generation v{} is older than any that is read here (v7, v8)", abi_version));
}

std::string ToolkitText(std::uint32_t version) {
  return fmt::format("{}.{}", version / 10, version % 10);
}

void ReadToolkit(const Elf& elf, const Notes& notes, const KernelFacts& kernels, Image& image) {
  if (notes.cuda_info)
    image.toolkit = ToolkitText(notes.cuda_info->toolkit);
  else if (image.generation == "v7" && elf.header.version > 1)
    image.toolkit = ToolkitText(elf.header.version);
  else if (kernels.toolkit)
    image.toolkit = ToolkitText(*kernels.toolkit);
}

// v7 files have no second record of their SM, but the driver's area of constant bank 0 has a size
// that tells hardware generations apart.
void CheckParameterBase(const KernelFacts& kernels, const Image& image, Problems& problems) {
  struct Row {
    std::uint32_t first_sm, last_sm, base;
  };
  constexpr Row kRows[] = {{75, 89, 0x160}, {90, 90, 0x210}};
  if (image.generation != "v7" || !kernels.parameter_base) return;
  for (const Row& row : kRows) {
    if (image.sm >= row.first_sm && image.sm <= row.last_sm && *kernels.parameter_base != row.base)
      problems.Add(
          fmt::format("e_flags say sm_{}, but the kernels expect parameters at 0x{:x}, "
                      "where no sm_{} has them (0x{:x})",
                      image.sm, *kernels.parameter_base, image.sm, row.base));
  }
}

}  // namespace

Result<Image> ReadCubin(std::span<const std::byte> bytes) {
  Problems problems;
  Image image;
  LIJIT_ASSIGN(const Elf elf, ReadElf(bytes, problems));
  ReadGeneration(elf, image, problems);
  image.executable = elf.executable();
  for (const ElfSection& section : elf.sections)
    image.sections.push_back({std::string(section.name), section.header.type, section.header.flags,
                              section.header.offset, section.header.size});

  Notes notes = ReadNotes(elf, problems);
  std::vector<Record> compat;
  if (const ElfSection* section = elf.Find(".nv.compat")) {
    image.has_compat = true;
    compat = ReadRecords(section->contents, section->name, problems);
  }
  ReadTarget(elf, notes, compat, image, problems);
  KernelFacts kernels = ReadKernels(elf, image.sm, image.generation == "v7", problems);
  CheckParameterBase(kernels, image, problems);
  ReadToolkit(elf, notes, kernels, image);
  image.kernels = std::move(kernels.kernels);
  image.tool_notes = std::move(notes.tools);
  image.problems = std::move(problems).Take();
  return image;
}

}  // namespace lijit::cubin
