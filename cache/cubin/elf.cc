// SPDX-License-Identifier: Apache-2.0
#include "cache/cubin/elf.h"

#include <fmt/format.h>

#include <algorithm>

namespace lijit::cubin {
namespace {

constexpr std::uint32_t kSectionNull = 0;
constexpr std::uint32_t kSectionSymbols = 2;
// Types whose sections take no room in the file. Beside the standard one, relocatable objects mark
// uninitialized global, local, shared and reserved shared memory by types of their own.
constexpr std::uint32_t kSectionsWithoutBytes[] = {8, 0x70000007, 0x70000009, 0x7000000a,
                                                   0x70000015};
constexpr std::uint32_t kSegmentLoad = 1;

bool HasBytes(const ElfSectionHeader& section) {
  return section.type != kSectionNull &&
         std::find(std::begin(kSectionsWithoutBytes), std::end(kSectionsWithoutBytes),
                   section.type) == std::end(kSectionsWithoutBytes);
}

Result<ElfHeader> ReadHeader(Bytes file) {
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  if (AsText(file.first(std::min(file.size(), kMagic.size()))) != kMagic)
    return InvalidArgument("not a cubin: the file does not begin with the magic of ELF");
  const std::optional<ElfHeader> header = LoadAt<ElfHeader>(file, 0);
  if (!header)
    return Damaged(fmt::format("the file ends inside the ELF header: {} bytes of {}", file.size(),
                               sizeof(ElfHeader)));
  if (header->ident[4] != 2 || header->ident[5] != 1)
    return InvalidArgument("not a cubin: cubins are 64-bit little-endian ELF files");
  if (header->machine != kElfMachineCuda)
    return InvalidArgument(fmt::format("not a cubin: the ELF file is for machine {}, cubins for {}",
                                       header->machine, kElfMachineCuda));
  return *header;
}

// The end of a table of `count` entries, or nothing if it does not fit into 64 bits.
std::optional<std::uint64_t> TableEnd(std::uint64_t offset, std::uint64_t count,
                                      std::uint64_t entry_size) {
  const std::uint64_t bytes = count * entry_size;  // both below 2^16
  if (offset > UINT64_MAX - bytes) return std::nullopt;
  return offset + bytes;
}

// The last table of a cubin ends the file, which finds every truncation: the program headers of an
// executable, the section headers of a relocatable object.
void CheckLength(const ElfHeader& header, std::uint64_t file_size, Problems& problems) {
  const bool executable = header.type == kElfExecutable;
  if (!executable && header.type != kElfRelocatable) {
    problems.Add(
        fmt::format("ELF type {}: neither an executable (2) nor an object (1)", header.type));
    return;
  }
  const std::uint64_t count = executable ? header.phnum : header.shnum;
  const std::uint64_t entry = executable ? header.phentsize : header.shentsize;
  const auto end = TableEnd(executable ? header.phoff : header.shoff, count, entry);
  if (end != file_size || count == 0)
    problems.Add(fmt::format("the file has {} bytes, but by its {} headers it ends at {}",
                             file_size, executable ? "program" : "section",
                             end ? fmt::to_string(*end) : "no 64-bit offset"));
}

void CheckSegments(const ElfHeader& header, Bytes file, Problems& problems) {
  if (header.phnum == 0) return;
  const auto sections_end = TableEnd(header.shoff, header.shnum, header.shentsize);
  if (header.shoff <= header.phoff && (!sections_end || *sections_end > header.phoff))
    problems.Add("the section headers overlap the program headers");
  if (header.phentsize != sizeof(ElfProgramHeader)) {
    problems.Add(fmt::format("program headers of {} bytes instead of {}", header.phentsize,
                             sizeof(ElfProgramHeader)));
    return;
  }
  const auto table = SliceAt(file, header.phoff, header.phnum * sizeof(ElfProgramHeader));
  if (!table) {
    problems.Add(fmt::format("the {} program headers at offset {} lie outside the file",
                             header.phnum, header.phoff));
    return;
  }
  for (std::uint64_t i = 0; i < header.phnum; ++i) {
    const auto segment = *LoadAt<ElfProgramHeader>(*table, i * sizeof(ElfProgramHeader));
    if (segment.type == kSegmentLoad && !SliceAt(file, segment.offset, segment.file_size))
      problems.Add(fmt::format("segment {}: {} bytes at offset {} lie outside the file", i,
                               segment.file_size, segment.offset));
  }
}

void ReadSectionContents(Bytes file, std::size_t index, ElfSection& section, Problems& problems) {
  if (!HasBytes(section.header)) return;
  const auto contents = SliceAt(file, section.header.offset, section.header.size);
  if (contents)
    section.contents = *contents;
  else
    problems.Add(fmt::format("section {}: {} bytes at offset {} lie outside the file", index,
                             section.header.size, section.header.offset));
}

void ReadSections(Bytes file, Elf& elf, Problems& problems) {
  const ElfHeader& header = elf.header;
  if (header.shnum == 0 || header.shentsize != sizeof(ElfSectionHeader)) {
    problems.Add(fmt::format("{} section headers of {} bytes; expected some, of {} bytes",
                             header.shnum, header.shentsize, sizeof(ElfSectionHeader)));
    return;
  }
  const auto table = SliceAt(file, header.shoff, header.shnum * sizeof(ElfSectionHeader));
  if (!table) {
    problems.Add(fmt::format("the {} section headers at offset {} lie outside the file",
                             header.shnum, header.shoff));
    return;
  }
  for (std::size_t i = 0; i < header.shnum; ++i) {
    ElfSection section{{}, *LoadAt<ElfSectionHeader>(*table, i * sizeof(ElfSectionHeader)), {}};
    ReadSectionContents(file, i, section, problems);
    elf.sections.push_back(section);
  }
}

// Names may share bytes. Copies of them are bounded by this budget, so that a crafted file cannot
// make its reader use memory without bounds.
class NameBudget {
 public:
  explicit NameBudget(std::uint64_t file_size) : left_(4 * file_size) {}
  bool Spend(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::uint64_t left_;
};

void NameSections(Elf& elf, NameBudget& budget, Problems& problems) {
  if (elf.sections.empty()) return;
  if (elf.header.shstrndx >= elf.sections.size()) {
    problems.Add(fmt::format("section names are said to be in section {} of {}",
                             elf.header.shstrndx, elf.sections.size()));
    return;
  }
  const Bytes names = elf.sections[elf.header.shstrndx].contents;
  for (std::size_t i = 0; i < elf.sections.size(); ++i) {
    const auto name = StringAt(names, elf.sections[i].header.name);
    if (!name || !budget.Spend(name->size())) {
      problems.Add(fmt::format("section {} has no readable name", i));
      continue;
    }
    elf.sections[i].name = *name;
    elf.section_by_name.emplace(*name, i);
  }
}

void ReadSymbols(Elf& elf, NameBudget& budget, Problems& problems) {
  const ElfSection* table = elf.Find(".symtab");
  if (table == nullptr || table->header.type != kSectionSymbols ||
      table->header.entry_size != sizeof(ElfSymbolEntry) ||
      table->contents.size() % sizeof(ElfSymbolEntry) != 0 ||
      table->header.link >= elf.sections.size()) {
    if (!elf.sections.empty()) problems.Add("there is no readable symbol table");
    return;
  }
  const Bytes names = elf.sections[table->header.link].contents;
  for (std::uint64_t at = 0; at < table->contents.size(); at += sizeof(ElfSymbolEntry)) {
    ElfSymbol symbol{{}, *LoadAt<ElfSymbolEntry>(table->contents, at)};
    const auto name = StringAt(names, symbol.entry.name);
    if (name && budget.Spend(name->size()))
      symbol.name = *name;
    else
      problems.Add(fmt::format("symbol {} has no readable name", at / sizeof(ElfSymbolEntry)));
    elf.symbols.push_back(symbol);
  }
}

}  // namespace

const ElfSection* Elf::Find(std::string_view name) const {
  const auto found = section_by_name.find(name);
  return found == section_by_name.end() ? nullptr : &sections[found->second];
}

Result<Elf> ReadElf(Bytes file, Problems& problems) {
  Elf elf;
  LIJIT_ASSIGN(elf.header, ReadHeader(file));
  CheckLength(elf.header, file.size(), problems);
  CheckSegments(elf.header, file, problems);
  ReadSections(file, elf, problems);
  NameBudget budget(file.size());
  NameSections(elf, budget, problems);
  ReadSymbols(elf, budget, problems);
  return elf;
}

}  // namespace lijit::cubin
