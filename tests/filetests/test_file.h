// SPDX-License-Identifier: Apache-2.0
// A .lir file that is a test. Comments at its head say what is done with it and what comes of it:
//
//   // test <command> [arguments]    what is done: a row of commands.cc
//   // use formats.lir               a shipped module that is read before the text
//   ...  // error: message [rule]    on a line: the output has this error of this line; the message
//                                    needs to be a part of the real one only
//   // expect:                       what follows it to the end of the file, as comments, is the
//                                    output
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::filetests {

struct TestFile {
  std::string name;  // relative to tests/filetests
  std::string text;  // all of it
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::string> uses;
};

// Fails if the file has no command, or one that it should not have.
Result<TestFile> ReadTestFile(const std::string& name, std::string text);

// The text behind `// expect:`, without the comment signs.
std::string ExpectedOutput(std::string_view text);
// The text with its expectation replaced.
std::string WithExpectedOutput(std::string_view text, std::string_view output);

// What is wrong with diagnostics ("name:3:7: error: message [rule]" and two lines to show it) that
// `text`'s `// error:` comments should describe; one line for each unexpected or missing one, empty
// if none.
std::string CompareErrors(std::string_view text, std::string_view diagnostics);

}  // namespace lijit::filetests
