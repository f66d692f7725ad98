// SPDX-License-Identifier: Apache-2.0
// Declarations of variables: `.shared .align 4 .b8 name[16] = {...};` and parameters.
#pragma once

#include <optional>
#include <vector>

#include "lijit/result.h"
#include "runtime/emulator/ptx_module.h"
#include "runtime/emulator/token_stream.h"

namespace lijit::emulator {

// The space that a directive (".shared") declares in, if it declares variables.
std::optional<Space> SpaceOfDirective(std::string_view directive);

// Parses what follows the space's directive, up to and without ';' or, for a parameter, ',' or ')'.
// A parameter list holds one variable, other declarations any number. Initial values may name
// variables of `module`.
Result<std::vector<Variable>> ParseVariables(TokenStream& tokens, Space space, bool is_external,
                                             const Module& module);
Result<Variable> ParseParameter(TokenStream& tokens);

}  // namespace lijit::emulator
