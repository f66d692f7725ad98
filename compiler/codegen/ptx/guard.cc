// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/ptx/guard.h"

#include <fmt/format.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>

#include <mutex>
#include <string>

namespace lijit::codegen {
namespace {

thread_local std::string last_words;

// Leaves RunSafely; without it LLVM would print the reason and end the process.
void OnFatalError(void*, const char* reason, bool) {
  last_words = reason;
  if (auto* const context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(1);
}

// Handlers belong to the whole process, so they are there only while somebody compiles.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard lock(mutex_);
    if (users_++ > 0) return;
    llvm::install_fatal_error_handler(OnFatalError);
    llvm::CrashRecoveryContext::Enable();
  }
  ~Handlers() {
    const std::lock_guard lock(mutex_);
    if (--users_ > 0) return;
    llvm::CrashRecoveryContext::Disable();
    llvm::remove_fatal_error_handler();
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
};

}  // namespace

Status RunGuarded(std::string_view what, const std::function<void()>& work) {
  const Handlers handlers;
  llvm::CrashRecoveryContext context;
  last_words.clear();
  if (context.RunSafely([&] { work(); })) return {};
  if (!last_words.empty()) return Failed(fmt::format("LLVM gave up {}: {}", what, last_words));
  return Failed(
      fmt::format("LLVM crashed {} (code {}); LIJIT_COMPILE=worker keeps compilers out of "
                  "this process, and backend cuda does without LLVM",
                  what, context.RetCode));
}

}  // namespace lijit::codegen
