// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/cubin/synthetic_cubin.h"

#include "cache/cubin/elf.h"

namespace lijit::cubin {
namespace {

class Buffer {
 public:
  template <typename T>
  void Put(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void PutText(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.push_back(std::byte{0});
  }
  void PutWords(const std::vector<std::uint32_t>& words) {
    for (const std::uint32_t word : words) Put(word);
  }
  void Append(const std::vector<std::byte>& other) {
    bytes_.insert(bytes_.end(), other.begin(), other.end());
  }
  void Align(std::size_t to) {
    while (bytes_.size() % to != 0) bytes_.push_back(std::byte{0});
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct PlannedSection {
  std::string name;
  std::uint32_t type;
  std::vector<std::byte> contents;
  std::uint64_t size = 0;  // of sections without contents
  std::uint64_t flags = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
};

std::vector<std::byte> Words(const std::vector<std::uint32_t>& words) {
  Buffer buffer;
  buffer.PutWords(words);
  return buffer.bytes();
}

constexpr std::uint32_t Sized(std::uint32_t code, std::uint32_t bytes) {
  return 4 | code << 8 | bytes << 16;
}
constexpr std::uint32_t Half(std::uint32_t code, std::uint32_t value) {
  return 3 | code << 8 | value << 16;
}

std::vector<std::byte> KernelInfo(const SyntheticCubin& cubin) {
  Buffer info;
  info.PutWords({Sized(0x37, 4), cubin.toolkit});
  info.PutWords({Sized(0x0a, 8), 2, cubin.param_base | std::uint32_t{cubin.param_bytes} << 16});
  info.PutWords({Half(0x19, cubin.param_bytes)});
  info.PutWords({Sized(0x17, 12), 0, 1 | 8 << 16, 4u << 18});
  info.PutWords({Sized(0x17, 12), 0, 0 | 0 << 16, 8u << 18});
  info.PutWords({Sized(0x05, 12), 32, 4, 2});
  info.PutWords(cubin.extra_records);
  return info.bytes();
}

std::vector<std::byte> Note(std::uint32_t type, const std::vector<std::byte>& description) {
  Buffer note;
  note.PutWords({12, static_cast<std::uint32_t>(description.size()), type});
  note.PutText("NVIDIA Corp");
  note.Append(description);
  note.Align(4);
  return note.bytes();
}

std::vector<std::byte> ToolDescription(const std::string& command_line) {
  Buffer description;
  description.PutWords({2, 0, 1, 7, 15, 21});
  description.PutText("");
  description.PutText("ptxas");
  description.PutText("release");
  description.PutText("build");
  description.PutText(command_line);
  return description.bytes();
}

std::vector<std::byte> SymbolTable() {
  Buffer table;
  table.Put(ElfSymbolEntry{});
  table.Put(ElfSymbolEntry{1, 0x12, 0x10, 6, 0, 128});
  return table.bytes();
}

void AddNotes(const SyntheticCubin& cubin, std::uint32_t virtual_sm,
              std::vector<PlannedSection>& sections) {
  if (cubin.cuda_info)
    sections.push_back(
        {".note.nv.cuinfo", 7, Note(1000, Words({2 | virtual_sm << 16, cubin.toolkit}))});
  if (cubin.tool_command_lines.empty()) return;
  Buffer notes;
  for (const std::string& line : cubin.tool_command_lines)
    notes.Append(Note(2000, ToolDescription(line)));
  sections.push_back({".note.nv.tkinfo", 7, notes.bytes()});
}

std::vector<PlannedSection> PlanSections(const SyntheticCubin& cubin, std::uint32_t virtual_sm) {
  Buffer strings;
  strings.PutText("");
  strings.PutText(cubin.kernel);
  std::vector<PlannedSection> sections = {
      {"", 0, {}},
      {".shstrtab", 3, {}},  // filled once all names are known
      {".strtab", 3, strings.bytes()},
      {".symtab", 2, SymbolTable(), 0, 0, 2, 1, sizeof(ElfSymbolEntry)},
      {".nv.info", 0x70000000,
       Words({Sized(0x2f, 8), 1, cubin.registers, Sized(0x11, 8), 1, 24, Sized(0x12, 8), 1, 40})},
      {".nv.info." + cubin.kernel, 0x70000000, KernelInfo(cubin), 0, 0x40, 3, 6},
      {".text." + cubin.kernel, 1, std::vector<std::byte>(128), 0,
       6 | std::uint64_t{cubin.barriers} << 20, 3, 1 | cubin.registers << 24},
      {".nv.shared." + cubin.kernel, 8, {}, cubin.shared_section_bytes, 3, 0, 6},
      {".nv.constant0." + cubin.kernel, 1,
       std::vector<std::byte>(cubin.param_base + cubin.param_bytes), 0, 2, 0, 6},
  };
  if (cubin.compat) sections.push_back({".nv.compat", 0x70000086, Words(*cubin.compat)});
  AddNotes(cubin, virtual_sm, sections);
  Buffer names;
  for (const PlannedSection& section : sections) names.PutText(section.name);
  sections[1].contents = names.bytes();
  return sections;
}

std::uint32_t Flags(const SyntheticCubin& cubin, std::uint32_t virtual_sm) {
  if (cubin.generation == 7)
    return virtual_sm << 16 | 0x500 | (cubin.accelerated_flag ? 0x800u : 0u) | cubin.sm;
  return 0x06000000 | cubin.sm << 8 | 0x4 | (cubin.accelerated_flag ? 0x8u : 0u);
}

ElfHeader Header(const SyntheticCubin& cubin, std::uint32_t virtual_sm, std::size_t sections) {
  const bool v7 = cubin.generation == 7;
  ElfHeader header{};
  const std::uint8_t ident[] = {0x7f,
                                'E',
                                'L',
                                'F',
                                2,
                                1,
                                1,
                                v7 ? std::uint8_t{0x33} : std::uint8_t{0x41},
                                static_cast<std::uint8_t>(cubin.generation)};
  std::copy(std::begin(ident), std::end(ident), header.ident);
  header.type = cubin.executable ? kElfExecutable : kElfRelocatable;
  header.machine = kElfMachineCuda;
  header.version = v7 ? cubin.toolkit : 1;
  header.flags = Flags(cubin, virtual_sm);
  header.ehsize = sizeof(ElfHeader);
  header.phentsize = cubin.executable ? sizeof(ElfProgramHeader) : 0;
  header.phnum = cubin.executable ? 2 : 0;
  header.shentsize = sizeof(ElfSectionHeader);
  header.shnum = static_cast<std::uint16_t>(sections);
  header.shstrndx = 1;
  return header;
}

}  // namespace

std::vector<std::byte> Build(const SyntheticCubin& cubin) {
  const std::uint32_t virtual_sm = cubin.virtual_sm == 0 ? cubin.sm : cubin.virtual_sm;
  const std::vector<PlannedSection> sections = PlanSections(cubin, virtual_sm);
  ElfHeader header = Header(cubin, virtual_sm, sections.size());
  Buffer file;
  file.Put(header);
  Buffer table;
  std::uint32_t name = 0;
  for (const PlannedSection& section : sections) {
    file.Align(8);
    table.Put(ElfSectionHeader{name, section.type, section.flags, 0, file.size(),
                               section.contents.empty() ? section.size : section.contents.size(),
                               section.link, section.info, 8, section.entry_size});
    file.Append(section.contents);
    name += static_cast<std::uint32_t>(section.name.size()) + 1;
  }
  file.Align(8);
  header.shoff = file.size();
  file.Append(table.bytes());
  header.phoff = cubin.executable ? file.size() : 0;
  for (std::uint16_t i = 0; i < header.phnum; ++i)
    file.Put(ElfProgramHeader{i == 0 ? 6u : 1u, 5, header.phoff, 0, 0,
                              header.phnum * sizeof(ElfProgramHeader), 0, 8});
  std::memcpy(file.bytes().data(), &header, sizeof(header));
  return file.bytes();
}

}  // namespace lijit::cubin
