// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "runtime/toolchain/environment.h"

namespace lijit::runtime {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }

  int number() const { return number_; }
  void Close() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

Error SystemError(std::string_view what, int error) {
  return Failed(fmt::format("{}: {}", what, std::strerror(error)));
}

// The file that this function was linked into: a shared liblijit, or the program.
fs::path OwnFile() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&FindWorker), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  const fs::path path = fs::canonical(info.dli_fname, ignored);
  // A program may have been started by a bare name.
  return path.empty() ? fs::read_symlink("/proc/self/exe", ignored) : path;
}

// Starts `path` with the descriptor as standard input and output, signals as in a new shell and
// nothing to print to.
Result<pid_t> Spawn(const std::string& path, int descriptor) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string name = path;
  std::array<char*, 2> arguments = {name.data(), nullptr};
  pid_t worker = -1;
  const int error =
      posix_spawn(&worker, path.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return SystemError(fmt::format("starting {}", path), error);
  return worker;
}

// A worker that ends early leaves the rest unread, which is no error here: its status tells.
void SendAll(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string ReceiveAll(int socket) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t received = recv(socket, buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(received));
  }
}

// How the worker ended; "" if well. A program that ignores SIGCHLD cannot be told.
std::string WaitFor(pid_t worker) {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(worker, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != worker) return "";
  if (WIFSIGNALED(status)) {
    return fmt::format("crashed with signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with code {}", WEXITSTATUS(status));
  return "";
}

Error NoResult(const CompileJob& job, const std::string& path, const std::string& end) {
  return Failed(fmt::format(
      "the compiler {} on kernel {} for {} ({}, in {}); this process is not harmed; "
      "{}, and a report to lijit with the output of `lijit emit` helps",
      end.empty() ? "ended without a result" : end, job.kernel, job.target, job.language, path,
      job.language == "cuda" ? "backend ptx uses another compiler"
                             : "backend cuda uses another compiler"));
}

}  // namespace

Result<std::string> FindWorker() {
  const Result<Environment>& environment = ProcessEnvironment();
  if (!environment.ok()) return environment.error();
  if (!environment->worker.empty()) return environment->worker;
  constexpr const char* kName = "lijit-worker";
  const fs::path folder = OwnFile().parent_path();
  std::string tried;
  for (const fs::path& place : {folder / kName, folder.parent_path() / "bin" / kName,
                                fs::path(LIJIT_INSTALLED_BIN) / kName}) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored)) return place.string();
    tried += fmt::format("\n  {}: no such file", place.string());
  }
  return Unavailable(fmt::format(
      "LIJIT_COMPILE=worker, and there is no {}; set LIJIT_WORKER to its path. Looked at:{}", kName,
      tried));
}

Result<Compilation> RunJobInWorker(const CompileJob& job, const std::string& worker) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SystemError("making a socket for the compile worker", errno);
  }
  FileDescriptor ours(sockets[0]);
  FileDescriptor theirs(sockets[1]);
  LIJIT_ASSIGN(const pid_t process, Spawn(worker, theirs.number()));
  theirs.Close();
  SendAll(ours.number(), JobText(job));
  shutdown(ours.number(), SHUT_WR);
  const std::string text = ReceiveAll(ours.number());
  const std::string end = WaitFor(process);
  if (!end.empty() || text.empty()) return NoResult(job, worker, end);
  return ParseResult(text);
}

}  // namespace lijit::runtime
