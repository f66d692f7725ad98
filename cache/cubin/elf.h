// SPDX-License-Identifier: Apache-2.0
// The ELF64 tables of a cubin, bounds-checked. Names and contents point into the file's bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/cubin/bytes.h"
#include "lijit/result.h"

namespace lijit::cubin {

struct ElfHeader {
  std::uint8_t ident[16];
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint64_t entry;
  std::uint64_t phoff;
  std::uint64_t shoff;
  std::uint32_t flags;
  std::uint16_t ehsize;
  std::uint16_t phentsize;
  std::uint16_t phnum;
  std::uint16_t shentsize;
  std::uint16_t shnum;
  std::uint16_t shstrndx;
};
static_assert(sizeof(ElfHeader) == 64);

struct ElfSectionHeader {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t alignment;
  std::uint64_t entry_size;
};
static_assert(sizeof(ElfSectionHeader) == 64);

struct ElfProgramHeader {
  std::uint32_t type;
  std::uint32_t flags;
  std::uint64_t offset;
  std::uint64_t virtual_address;
  std::uint64_t physical_address;
  std::uint64_t file_size;
  std::uint64_t memory_size;
  std::uint64_t alignment;
};
static_assert(sizeof(ElfProgramHeader) == 56);

struct ElfSymbolEntry {
  std::uint32_t name;
  std::uint8_t info;
  std::uint8_t other;
  std::uint16_t section;
  std::uint64_t value;
  std::uint64_t size;
};
static_assert(sizeof(ElfSymbolEntry) == 24);

inline constexpr std::uint16_t kElfRelocatable = 1;
inline constexpr std::uint16_t kElfExecutable = 2;
inline constexpr std::uint16_t kElfMachineCuda = 190;

struct ElfSection {
  std::string_view name;
  ElfSectionHeader header;
  Bytes contents;  // empty if the section has none in the file, or lies outside of it
};

struct ElfSymbol {
  std::string_view name;
  ElfSymbolEntry entry;
};

struct Elf {
  ElfHeader header;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;  // of .symtab
  std::unordered_map<std::string_view, std::size_t> section_by_name;

  bool executable() const { return header.type == kElfExecutable; }
  // Null if there is no such section.
  const ElfSection* Find(std::string_view name) const;
};

// Errors: kInvalidArgument if these bytes are no cubin, kDamaged if the header is cut short.
Result<Elf> ReadElf(Bytes file, Problems& problems);

}  // namespace lijit::cubin
