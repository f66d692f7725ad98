// SPDX-License-Identifier: Apache-2.0
// Messages about text that the user wrote: where, what, and the rule that was broken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lijit {

// A place in a text; line and column count from 1, line 0 means "no text" (built in C++).
struct SourceLocation {
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  SourceLocation location;
  std::string rule;  // the name of the broken rule: "syntax", "type-mismatch", ...
  std::string message;
};

// "name:3:7: error: message [rule]", the offending line and a caret below the column.
std::string RenderDiagnostic(const Diagnostic& diagnostic, std::string_view file_name,
                             std::string_view text);

// All of them, one after another.
std::string RenderDiagnostics(const std::vector<Diagnostic>& diagnostics,
                              std::string_view file_name, std::string_view text);

}  // namespace lijit
