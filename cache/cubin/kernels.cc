// SPDX-License-Identifier: Apache-2.0
#include "cache/cubin/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "cache/cubin/attributes.h"

namespace lijit::cubin {
namespace {

constexpr std::uint8_t kSymbolFunction = 2;       // low nibble of st_info
constexpr std::uint8_t kSymbolEntryPoint = 0x10;  // of st_other
constexpr std::uint64_t kReservedShared = 0x400;  // counted in .nv.shared of executables
constexpr std::uint32_t kFirstSmReservingShared = 90;
constexpr std::uint32_t kLastSmWithRegisterByte = 89;
constexpr std::uint32_t kSpillAnnotation = 1;
constexpr std::uint32_t kFirstToolkitAnnotatingSpills = 129;

// The records of .nv.info, which name their function by its symbol's index.
struct SymbolFacts {
  std::optional<std::uint32_t> registers;
  std::uint32_t frame_bytes = 0;
  std::uint32_t stack_bytes = 0;  // with called functions; 0 for recursive ones
};

std::unordered_map<std::uint32_t, SymbolFacts> ReadModuleInfo(const Elf& elf, Problems& problems) {
  std::unordered_map<std::uint32_t, SymbolFacts> facts;
  const ElfSection* section = elf.Find(".nv.info");
  if (section == nullptr) return facts;
  for (const Record& record : ReadRecords(section->contents, section->name, problems)) {
    if (record.payload.size() < 8) continue;
    SymbolFacts& symbol = facts[record.Word(0)];
    switch (static_cast<InfoCode>(record.code)) {
      case InfoCode::REGCOUNT:
        symbol.registers = record.Word(1);
        break;
      case InfoCode::FRAME_SIZE:
        symbol.frame_bytes = record.Word(1);
        break;
      case InfoCode::MIN_STACK_SIZE:
        symbol.stack_bytes = record.Word(1);
        break;
      default:
        break;
    }
  }
  return facts;
}

// Index, offset and size of a parameter; two codings, the second for blocks above 4 KiB.
void AddParameter(const Record& record, Kernel& kernel, Problems& problems) {
  constexpr std::uint32_t kMaxParameters = 32764;  // bytes that a launch can pass
  const std::uint32_t ordinal = record.Word(1) & 0xffff;
  const bool wide = static_cast<InfoCode>(record.code) == InfoCode::KPARAM_INFO_V2;
  const std::uint32_t bytes = wide ? record.Word(2) & 0xffff : record.Word(2) >> 18;
  if (record.payload.size() < 12 || ordinal >= kMaxParameters) {
    problems.Add(fmt::format("kernel {}: a parameter record cannot be read", kernel.name));
    return;
  }
  if (kernel.parameters.size() <= ordinal) kernel.parameters.resize(ordinal + 1);
  kernel.parameters[ordinal] = {record.Word(1) >> 16, bytes};
}

std::uint64_t Product(const Record& dims) {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t factor = std::max<std::uint32_t>(1, dims.Word(i));
    product = product > UINT64_MAX / factor ? UINT64_MAX : product * factor;
  }
  return product;
}

std::uint32_t CountSpills(const Record& annotations) {
  std::uint32_t spills = 0;
  for (std::size_t i = 0; i + 1 < annotations.payload.size() / 4; i += 2)
    spills += annotations.Word(i) == kSpillAnnotation;
  return spills;
}

// What the records of one kernel say beyond its own fields.
struct InfoFacts {
  bool has_barriers = false;
  std::uint32_t spills = 0;
  std::optional<std::uint32_t> toolkit;
  std::optional<std::uint32_t> parameter_base;
};

void ApplyRecord(const Record& record, Kernel& kernel, InfoFacts& facts, Problems& problems) {
  switch (static_cast<InfoCode>(record.code)) {
    case InfoCode::KPARAM_INFO:
    case InfoCode::KPARAM_INFO_V2:
      return AddParameter(record, kernel, problems);
    case InfoCode::CBANK_PARAM_SIZE:
      kernel.param_bytes = record.value;
      return;
    case InfoCode::PARAM_CBANK:
      facts.parameter_base = record.Word(1) & 0xffff;
      return;
    case InfoCode::MAX_THREADS:
    case InfoCode::REQNTID:
      kernel.max_threads = Product(record);
      return;
    case InfoCode::NUM_BARRIERS:
      kernel.barriers = record.value;
      facts.has_barriers = true;
      return;
    case InfoCode::ANNOTATIONS:
      facts.spills += CountSpills(record);
      return;
    case InfoCode::CUDA_API_VERSION:
      facts.toolkit = record.Word(0);
      return;
    default:
      return;
  }
}

InfoFacts ReadKernelInfo(const Elf& elf, Kernel& kernel, Problems& problems) {
  InfoFacts facts;
  const ElfSection* section = elf.Find(".nv.info." + kernel.name);
  if (section == nullptr) {
    problems.Add(fmt::format("kernel {}: there is no .nv.info section of it", kernel.name));
    return facts;
  }
  for (const Record& record : ReadRecords(section->contents, section->name, problems)) {
    ApplyRecord(record, kernel, facts, problems);
    kernel.attributes.push_back(DescribeInfo(record));
  }
  // Before spills were annotated their absence says nothing.
  if (facts.spills > 0 || facts.toolkit.value_or(0) >= kFirstToolkitAnnotatingSpills)
    kernel.spills = facts.spills;
  return facts;
}

std::uint64_t SectionSize(const Elf& elf, const std::string& name) {
  const ElfSection* section = elf.Find(name);
  return section == nullptr ? 0 : section->header.size;
}

// Objects do not have the reserved bytes yet: the linker adds them.
std::uint64_t StaticShared(const Elf& elf, const std::string& kernel, std::uint32_t sm) {
  const std::uint64_t bytes = SectionSize(elf, ".nv.shared." + kernel);
  if (sm < kFirstSmReservingShared || !elf.executable()) return bytes;
  return bytes - std::min(bytes, kReservedShared);
}

Kernel ReadKernel(const Elf& elf, const ElfSymbol& symbol, const SymbolFacts& symbol_facts,
                  std::uint32_t sm, bool v7, KernelFacts& all, Problems& problems) {
  Kernel kernel;
  kernel.name = std::string(symbol.name);
  const InfoFacts info = ReadKernelInfo(elf, kernel, problems);
  if (!all.toolkit) all.toolkit = info.toolkit;
  if (!all.parameter_base) all.parameter_base = info.parameter_base;

  const ElfSection& text = elf.sections[symbol.entry.section];
  kernel.code_bytes = text.header.size;
  kernel.registers =
      symbol_facts.registers.value_or(sm <= kLastSmWithRegisterByte ? text.header.info >> 24 : 0);
  if (v7 && !info.has_barriers) kernel.barriers = (text.header.flags >> 20) & 0x7f;
  kernel.shared_bytes = StaticShared(elf, kernel.name, sm);
  kernel.local_bytes = std::max<std::uint64_t>({symbol_facts.frame_bytes, symbol_facts.stack_bytes,
                                                SectionSize(elf, ".nv.local." + kernel.name)});
  kernel.constant_bytes = SectionSize(elf, ".nv.constant0." + kernel.name);
  return kernel;
}

bool IsKernel(const ElfSymbol& symbol) {
  return (symbol.entry.info & 0xf) == kSymbolFunction &&
         (symbol.entry.other & kSymbolEntryPoint) != 0;
}

void CheckParameters(const Kernel& kernel, Problems& problems) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (parameter.offset + parameter.bytes > kernel.param_bytes || parameter.bytes == 0)
      problems.Add(fmt::format(
          "kernel {}: parameter {} ({} bytes at {}) lies outside the {} bytes of parameters",
          kernel.name, i, parameter.bytes, parameter.offset, kernel.param_bytes));
  }
}

}  // namespace

KernelFacts ReadKernels(const Elf& elf, std::uint32_t sm, bool v7, Problems& problems) {
  KernelFacts all;
  const auto module = ReadModuleInfo(elf, problems);
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < elf.symbols.size(); ++i) {
    const ElfSymbol& symbol = elf.symbols[i];
    if (!IsKernel(symbol) || symbol.entry.section == 0) continue;  // 0: declared elsewhere
    const std::size_t section = symbol.entry.section;
    if (section >= elf.sections.size() ||
        elf.sections[section].name != ".text." + std::string(symbol.name)) {
      problems.Add(fmt::format("kernel {}: its symbol does not lead to its code", symbol.name));
      continue;
    }
    if (!names.insert(symbol.name).second) {
      problems.Add(fmt::format("kernel {}: there are two of this name", symbol.name));
      continue;
    }
    const auto facts = module.find(static_cast<std::uint32_t>(i));
    all.kernels.push_back(ReadKernel(
        elf, symbol, facts == module.end() ? SymbolFacts{} : facts->second, sm, v7, all, problems));
    CheckParameters(all.kernels.back(), problems);
  }
  return all;
}

}  // namespace lijit::cubin
