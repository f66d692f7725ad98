// SPDX-License-Identifier: Apache-2.0
#include "cache/cubin/notes.h"

#include <fmt/format.h>

#include <array>

namespace lijit::cubin {
namespace {

constexpr std::uint32_t kCudaInfoType = 1000;
constexpr std::uint32_t kToolInfoType = 2000;

struct Note {
  std::uint32_t type;
  Bytes description;
};

std::uint64_t Aligned(std::uint64_t bytes) { return (bytes + 3) & ~std::uint64_t{3}; }

// Sections hold a list: what nvJitLink makes has one note of its own and one of ptxas.
std::vector<Note> ReadNoteList(const Elf& elf, std::string_view name, Problems& problems) {
  std::vector<Note> notes;
  const ElfSection* section = elf.Find(name);
  if (section == nullptr) return notes;
  const Bytes bytes = section->contents;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto head = LoadAt<std::array<std::uint32_t, 3>>(bytes, at);
    const std::uint64_t start = at + 12 + (head ? Aligned((*head)[0]) : 0);
    const auto description = head ? SliceAt(bytes, start, (*head)[1]) : std::nullopt;
    if (!description) {
      problems.Add(fmt::format("{}: the note at offset {} is longer than the section", name, at));
      break;
    }
    notes.push_back({(*head)[2], *description});
    at = start + Aligned((*head)[1]);
  }
  return notes;
}

// u32 version, five offsets of strings from the start of the strings, then the strings.
std::optional<ToolNote> ReadToolNote(Bytes description) {
  constexpr std::uint64_t kHead = 6 * sizeof(std::uint32_t);
  const auto head = LoadAt<std::array<std::uint32_t, 6>>(description, 0);
  if (!head) return std::nullopt;
  const Bytes strings = description.subspan(kHead);
  std::array<std::string, 5> texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto text = StringAt(strings, (*head)[i + 1]);
    if (!text) return std::nullopt;
    texts[i] = std::string(text->substr(0, text->find_last_not_of(' ') + 1));
  }
  return ToolNote{texts[0], texts[1], texts[2], texts[3], texts[4]};
}

}  // namespace

Notes ReadNotes(const Elf& elf, Problems& problems) {
  Notes notes;
  for (const Note& note : ReadNoteList(elf, ".note.nv.cuinfo", problems)) {
    const auto virtual_sm = LoadAt<std::uint16_t>(note.description, 2);
    const auto toolkit = LoadAt<std::uint32_t>(note.description, 4);
    if (note.type == kCudaInfoType && virtual_sm && toolkit)
      notes.cuda_info = CudaInfo{*virtual_sm, *toolkit};
    else
      problems.Add(fmt::format(".note.nv.cuinfo: a note of type {} with {} bytes cannot be read",
                               note.type, note.description.size()));
  }
  for (const Note& note : ReadNoteList(elf, ".note.nv.tkinfo", problems)) {
    const auto tool = note.type == kToolInfoType ? ReadToolNote(note.description) : std::nullopt;
    if (tool)
      notes.tools.push_back(*tool);
    else
      problems.Add(fmt::format(".note.nv.tkinfo: a note of type {} with {} bytes cannot be read",
                               note.type, note.description.size()));
  }
  return notes;
}

}  // namespace lijit::cubin
