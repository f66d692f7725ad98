// SPDX-License-Identifier: Apache-2.0
// LLVM ends the process on what it cannot do. Here it is kept from it. Inside of codegen/ptx only.
#pragma once

#include <functional>
#include <string_view>

#include "lijit/result.h"

namespace lijit::codegen {

// Runs `work`. Failed, with LLVM's message, if LLVM gives up or crashes in it; what it held is then
// leaked. `what` stands in the message: "generating code for sm_90a". Many threads may be in here;
// while one is, crash signals are handled and other threads' crashes go to the handlers before.
Status RunGuarded(std::string_view what, const std::function<void()>& work);

}  // namespace lijit::codegen
