// SPDX-License-Identifier: Apache-2.0
// What a compiler is asked to do: to turn a text into an image. Plain data, so that it can be done
// in another process.
#pragma once

#include <string>
#include <string_view>

#include "lijit/result.h"
#include "runtime/toolchain/compilation.h"

namespace lijit::runtime {

struct CompileJob {
  std::string language;  // "cuda": C++, for NVRTC; "lir": a lowered module, for LLVM; "ptx", which
                         // is assembled
  std::string text;
  std::string kernel;       // the name of the text's kernel
  std::string target;       // "sm_90a"
  std::string image;        // "cubin" or "ptx"
  std::string ptx_version;  // of "lir": "9.0", what is read by what takes the PTX
  std::string assembler;    // of cubins that are assembled: "nvjitlink" or "driver"

  bool operator==(const CompileJob&) const = default;
};

// Does the job in this process. Failed: a compiler refused the text, with its log; InvalidArgument:
// there is no such language, target or image.
Result<Compilation> RunJob(const CompileJob& job);

// Does it as the environment says (LIJIT_COMPILE): in this process, or in a worker that may crash.
Result<Compilation> Compile(const CompileJob& job);

// Jobs and results as texts (grammar: cache/fields.h), for pipes. Damaged: the text is none.
std::string JobText(const CompileJob& job);
Result<CompileJob> ParseJob(std::string_view text);
std::string ResultText(const Result<Compilation>& result);
// The result that the text holds, a failed one too.
Result<Compilation> ParseResult(std::string_view text);

}  // namespace lijit::runtime
