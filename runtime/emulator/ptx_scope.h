// SPDX-License-Identifier: Apache-2.0
// Names inside a function: braces open scopes, and inner names hide outer ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/emulator/ptx_module.h"

namespace lijit::emulator {

class Scopes {
 public:
  Scopes() { Open(); }

  static constexpr std::size_t kMaxDepth = 64;

  void Open();
  void Close() { open_.pop_back(); }
  std::size_t depth() const { return open_.size(); }
  std::uint32_t current() const { return open_.back(); }

  // Each returns false when this scope has the name already.
  bool DeclareRegister(std::string_view name, Type type);
  bool DeclareRegisters(std::string_view prefix, std::uint64_t count, Type type);
  bool DeclareVariable(std::string_view name, std::uint32_t index);
  bool DeclareLabel(std::string_view name, std::uint64_t statement);

  // The register's index in `function`, which gets the register on its first use.
  std::optional<std::uint32_t> FindRegister(std::string_view name, Function& function);
  std::optional<std::uint32_t> FindVariable(std::string_view name) const;
  // Labels may be used before they are declared: asked with the scope of the use, at the end.
  std::optional<std::uint64_t> FindLabel(std::string_view name, std::uint32_t scope) const;

 private:
  struct RegisterRange {
    Type type;
    std::uint64_t count;
  };
  struct Scope {
    std::uint32_t parent = 0;
    std::unordered_map<std::string_view, Type> declared;
    std::unordered_map<std::string_view, RegisterRange> ranges;
    std::unordered_map<std::string_view, std::uint32_t> used;
    std::unordered_map<std::string_view, std::uint32_t> variables;
    std::unordered_map<std::string_view, std::uint64_t> labels;
  };

  static std::optional<Type> TypeIn(const Scope& scope, std::string_view name);

  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> open_;
};

}  // namespace lijit::emulator
