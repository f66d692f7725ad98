// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/system_calls.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lijit/result.h"

namespace lijit::cache {
namespace {

#if defined(__x86_64__)
constexpr bool kKnownRegisters = true;
long NumberOf(const user_regs_struct& registers) { return static_cast<long>(registers.orig_rax); }
void SetNumber(user_regs_struct& registers, long number) {
  registers.orig_rax = static_cast<unsigned long long>(number);
}
void SetResult(user_regs_struct& registers, long result) {
  registers.rax = static_cast<unsigned long long>(result);
}
// A failure of any other call (memory, exit) is no accident of a disk.
constexpr long kFileCalls[] = {
    SYS_access,  SYS_chmod,      SYS_close,      SYS_fchmod,    SYS_fcntl,     SYS_flock,
    SYS_fstat,   SYS_fsync,      SYS_getdents64, SYS_getrandom, SYS_lstat,     SYS_mkdir,
    SYS_mkdirat, SYS_newfstatat, SYS_open,       SYS_openat,    SYS_read,      SYS_readlink,
    SYS_rename,  SYS_stat,       SYS_unlink,     SYS_unlinkat,  SYS_utimensat, SYS_write,
};
#else
constexpr bool kKnownRegisters = false;
constexpr long kFileCalls[] = {-1};
long NumberOf(const user_regs_struct&) { return -1; }
void SetNumber(user_regs_struct&, long) {}
void SetResult(user_regs_struct&, long) {}
#endif

// One traced child, stopped between two calls of Resume.
class Child {
 public:
  explicit Child(const std::function<bool()>& function) : pid_(fork()) {
    LIJIT_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(126);
      raise(SIGSTOP);
      _exit(function() ? 0 : 1);
    }
    waitpid(pid_, &status_, 0);
    // Stops at system calls are then told from those at signals.
    if (stopped()) ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD);
  }
  bool stopped() const { return WIFSTOPPED(status_); }
  int exit_code() const {
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }
  // Goes on to the next begin or end of a system call; signals on the way are passed on.
  bool Resume() {
    long signal = 0;
    do {
      ptrace(PTRACE_SYSCALL, pid_, nullptr, signal);
      waitpid(pid_, &status_, 0);
      signal = stopped() ? WSTOPSIG(status_) : 0;
    } while (stopped() && signal != (SIGTRAP | 0x80));
    return stopped();
  }
  void Kill() {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  user_regs_struct registers() const {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    return registers;
  }
  void set_registers(user_regs_struct registers) const {
    ptrace(PTRACE_SETREGS, pid_, nullptr, &registers);
  }

 private:
  pid_t pid_;
  int status_ = 0;
};

template <typename Numbers>
bool Contains(const Numbers& numbers, long number) {
  return std::find(std::begin(numbers), std::end(numbers), number) != std::end(numbers);
}

// At the begin of a call: leaves it out and returns `error` from it.
void Fail(Child& child, int error) {
  user_regs_struct registers = child.registers();
  SetNumber(registers, -1);
  child.set_registers(registers);
  if (!child.Resume()) return;
  registers = child.registers();
  SetResult(registers, -error);
  child.set_registers(registers);
}

}  // namespace

std::string WhyNoTracing() {
  if (!kKnownRegisters) return "system calls are meddled with on x86-64 only";
  const Child child([] { return true; });
  Child copy = child;
  while (copy.stopped() && copy.Resume()) {
  }
  if (copy.exit_code() == 0) return "";
  return fmt::format("ptrace is not allowed here (the child ended with {})", copy.exit_code());
}

Traced RunTraced(const std::function<bool()>& function, const Meddling& meddling) {
  Child child(function);
  Traced traced;
  while (child.Resume()) {
    const long number = NumberOf(child.registers());
    if (meddling.kill_before == traced.calls) {
      child.Kill();
      traced.killed = true;
      return traced;
    }
    const bool about_files = Contains(kFileCalls, number);
    const bool fails = (about_files && meddling.fail_file_call == traced.file_calls) ||
                       Contains(meddling.fail_numbers, number);
    traced.failed = traced.failed || fails;
    traced.file_calls += about_files ? 1 : 0;
    ++traced.calls;
    if (fails) {
      Fail(child, meddling.error);
    } else if (!child.Resume()) {
      break;
    }
  }
  traced.exit_code = child.exit_code();
  return traced;
}

}  // namespace lijit::cache
