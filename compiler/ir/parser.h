// SPDX-License-Identifier: Apache-2.0
// Reads .lir text (grammar: docs/ir.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/module.h"
#include "lijit/result.h"

namespace lijit::ir {

// A value for a `param` declaration, as it would be written: {"heads", "32"}, {"cache", "@mxfp4"}.
struct ParameterOverride {
  std::string name;
  std::string value;
  bool is_optional = false;  // whether the text may lack the parameter
};

// Appends the text's declarations to `module`, whose formats and layouts the text may use. The
// first error ends it: InvalidArgument with file, line, column and a caret; `module` is then as far
// as it got. An override that names no `param` of the text is an error. Does not verify.
Status ParseInto(Module& module, std::string_view text, std::string_view file_name,
                 const std::vector<ParameterOverride>& overrides = {});

// Parses and verifies one text.
Result<Module> ParseAndVerify(std::string_view text, std::string_view file_name,
                              const std::vector<ParameterOverride>& overrides = {});

}  // namespace lijit::ir
