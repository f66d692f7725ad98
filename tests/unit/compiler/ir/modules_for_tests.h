// SPDX-License-Identifier: Apache-2.0
// Modules that the tests of this folder use.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/parser.h"
#include "compiler/ir/shipped_modules.h"

namespace lijit::ir {

inline std::string_view ShippedText(std::string_view name) {
  for (const EmbeddedFile& file : ShippedModules()) {
    if (file.name == name) return file.text;
  }
  ADD_FAILURE() << "no shipped module " << name;
  return {};
}

inline std::string TextOfFile(const std::string& path) {
  std::ifstream file(std::string(LIJIT_SOURCE_DIR "/") + path);
  EXPECT_TRUE(file.is_open()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The texts, one after another, as one verified module.
inline Module ModuleOf(const std::string& text,
                       const std::vector<ParameterOverride>& parameters = {}) {
  auto module = ParseAndVerify(text, "test.lir", parameters);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message);
  return module.ok() ? *std::move(module) : Module{};
}

// The shipped formats and those of tests/formats.
inline std::string AllFormatsText() {
  return std::string(ShippedText("formats.lir")) + TextOfFile("tests/formats/nvfp4.lir") +
         TextOfFile("tests/formats/mxfp8.lir") + TextOfFile("tests/formats/odd.lir");
}

inline const Module& AllFormats() {
  static const Module module = ModuleOf(AllFormatsText());
  return module;
}

inline const Format& FormatNamed(std::string_view name) {
  const FormatId id = AllFormats().FindFormat(name);
  EXPECT_GE(id, 0) << name;
  return AllFormats().FormatOf(id);
}

// The shipped indexer for a format.
inline Module IndexerOf(std::string_view format, std::vector<ParameterOverride> parameters = {}) {
  parameters.push_back({"format", "@" + std::string(format)});
  return ModuleOf(AllFormatsText() + std::string(ShippedText("indexer.lir")), parameters);
}

}  // namespace lijit::ir
