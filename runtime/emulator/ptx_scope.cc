// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/ptx_scope.h"

#include <charconv>

namespace lijit::emulator {

void Scopes::Open() {
  Scope scope;
  scope.parent = open_.empty() ? 0 : open_.back();
  open_.push_back(static_cast<std::uint32_t>(scopes_.size()));
  scopes_.push_back(std::move(scope));
}

bool Scopes::DeclareRegister(std::string_view name, Type type) {
  return scopes_[current()].declared.emplace(name, type).second;
}

bool Scopes::DeclareRegisters(std::string_view prefix, std::uint64_t count, Type type) {
  return scopes_[current()].ranges.emplace(prefix, RegisterRange{type, count}).second;
}

bool Scopes::DeclareVariable(std::string_view name, std::uint32_t index) {
  return scopes_[current()].variables.emplace(name, index).second;
}

bool Scopes::DeclareLabel(std::string_view name, std::uint64_t statement) {
  return scopes_[current()].labels.emplace(name, statement).second;
}

std::optional<Type> Scopes::TypeIn(const Scope& scope, std::string_view name) {
  if (const auto found = scope.declared.find(name); found != scope.declared.end()) {
    return found->second;
  }
  // %r12 may be of a range %r<13>, or of a range %r1<3>.
  constexpr std::size_t kMaxDigits = 9;
  for (std::size_t digits = 1; digits <= kMaxDigits && digits < name.size(); ++digits) {
    const std::string_view number = name.substr(name.size() - digits);
    if (number.front() < '0' || number.front() > '9') break;
    if (number.front() == '0' && digits > 1) continue;
    const auto found = scope.ranges.find(name.substr(0, name.size() - digits));
    if (found == scope.ranges.end()) continue;
    std::uint64_t index = 0;
    std::from_chars(number.data(), number.data() + number.size(), index);
    if (index < found->second.count) return found->second.type;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Scopes::FindRegister(std::string_view name, Function& function) {
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    Scope& scope = scopes_[*open];
    if (const auto found = scope.used.find(name); found != scope.used.end()) return found->second;
    if (const std::optional<Type> type = TypeIn(scope, name)) {
      const auto index = static_cast<std::uint32_t>(function.registers.size());
      function.registers.push_back(*type);
      function.register_names.push_back(name);
      scope.used.emplace(name, index);
      return index;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Scopes::FindVariable(std::string_view name) const {
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    const auto& variables = scopes_[*open].variables;
    if (const auto found = variables.find(name); found != variables.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Scopes::FindLabel(std::string_view name, std::uint32_t scope) const {
  while (true) {
    const auto& labels = scopes_[scope].labels;
    if (const auto found = labels.find(name); found != labels.end()) return found->second;
    if (scope == 0) return std::nullopt;
    scope = scopes_[scope].parent;
  }
}

}  // namespace lijit::emulator
