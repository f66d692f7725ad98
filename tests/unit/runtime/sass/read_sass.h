// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "runtime/sass/parse.h"

namespace lijit::sass {

inline Function ParseOne(const std::string& text) {
  const Result<std::vector<Function>> functions = ParseSass(text);
  EXPECT_TRUE(functions.ok()) << functions.error().message;
  EXPECT_EQ(functions->size(), 1u);
  return functions->at(0);
}

// Of tests/data/sass.
inline Function ReadSass(const std::string& name) {
  std::ifstream file(std::string(LIJIT_SOURCE_DIR "/tests/data/sass/") + name);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return ParseOne(text.str());
}

// A function of these lines: instructions without address and semicolon, and labels.
inline Function Assemble(std::initializer_list<std::string> lines) {
  std::string text = ".text.f:\n";
  int address = 0;
  for (const std::string& line : lines) {
    if (line.ends_with(':')) {
      text += line + "\n";
      continue;
    }
    char prefix[16];
    std::snprintf(prefix, sizeof(prefix), "/*%04x*/ ", address);
    text += prefix + line + " ;\n";
    address += 16;
  }
  return ParseOne(text);
}

}  // namespace lijit::sass
