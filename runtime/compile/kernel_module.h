// SPDX-License-Identifier: Apache-2.0
// From an indexer's configuration to the module of one of its kernels.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/module.h"
#include "compiler/ir/parser.h"
#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit::runtime {

// The shipped formats.
Result<ir::Module> ShippedFormats();

// The shipped kernels for a configuration, and the user's own: each kind of kernel once. A kernel
// of the user's text takes the place of the shipped one of its kind. InvalidArgument: unknown
// format, dimensions that no kernel has, or errors of the text.
class KernelModules {
 public:
  static Result<KernelModules> Create(const IndexerConfig& config);

  // The kernel of this kind alone, with what it mentions.
  Result<ir::Module> Extract(ir::KernelKind kind) const;
  const ir::Format& format() const { return module_.FormatOf(format_); }
  // Whether the format is a shipped one.
  bool is_shipped_format() const { return is_shipped_format_; }
  const ir::Layout& layout() const { return layout_; }

 private:
  ir::Module module_;  // formats and kernels of the user's text, if any
  ir::Module shipped_;
  ir::FormatId format_ = -1;
  ir::Layout layout_;
  bool is_shipped_format_ = true;
};

// The text of a shipped file: "indexer.lir".
std::string_view ShippedText(std::string_view name);

// `param` values for a configuration.
std::vector<ir::ParameterOverride> ParametersOf(const IndexerConfig& config,
                                                const std::string& format);

}  // namespace lijit::runtime
