// SPDX-License-Identifier: Apache-2.0
// Parses the body of a function: declarations, labels, instructions and nested braces.
#pragma once

#include "lijit/result.h"
#include "runtime/emulator/ptx_module.h"
#include "runtime/emulator/ptx_scope.h"
#include "runtime/emulator/token_stream.h"

namespace lijit::emulator {

class BodyParser {
 public:
  // `function` already has its parameters; the body is added to it.
  BodyParser(TokenStream& tokens, const Module& module, Function& function);

  Status Parse();  // from '{' to '}'

 private:
  Status ParseItem();
  Status ParseDirective();
  Status ParseRegisters();
  Status ParseVariableDeclaration(Space space, bool is_external);
  Status ParseLabel(std::string_view name);
  Status ParseBranchTable(std::string_view name);
  Status ParseInstruction();
  Status ParseGuard(Statement& statement);
  Status ParseOperands(Statement& statement);
  Status ParsePair(Statement& statement);
  Result<Operand> ParseOperand(int nesting);
  Result<Operand> ParseList(Operand::Kind kind, char end, int nesting);
  Result<Operand> ParseAddress();
  Result<Operand> ParseNumber();
  Result<Operand> ParseName();
  Status ParseOffset(Operand& operand);
  Status ResolveLabels();
  Status ResolveLabel(Operand& operand, std::uint32_t scope, std::uint32_t line);

  TokenStream& tokens_;
  const Module& module_;
  Function& function_;
  Scopes scopes_;
};

}  // namespace lijit::emulator
