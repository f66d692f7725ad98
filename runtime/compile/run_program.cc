// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace lijit::runtime {
namespace {

using Clock = std::chrono::steady_clock;

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

// With the descriptor as standard input and output, signals as in a new shell and nothing to print
// to.
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
  pid_t process = -1;
  const int error =
      posix_spawn(&process, path.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return SystemError(fmt::format("starting {}", path), error);
  return process;
}

int MillisecondsTo(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

// Sends what the socket takes now. False: nothing is left, or nobody reads the rest, which is no
// error here: how the program ended tells.
bool SendSome(int socket, std::string_view& text) {
  const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  text.remove_prefix(static_cast<std::size_t>(sent));
  return !text.empty();
}

// Appends what has come. False at its end.
bool ReceiveSome(int socket, std::string& text) {
  std::array<char, 1 << 16> buffer;  // NOLINT: written before it is read
  const ssize_t received = recv(socket, buffer.data(), buffer.size(), 0);
  if (received < 0) return errno == EAGAIN || errno == EINTR;
  text.append(buffer.data(), static_cast<std::size_t>(received));
  return received > 0;
}

// Sends all, receives all. Nothing: it took too long.
std::optional<std::string> Exchange(int socket, std::string_view input,
                                    Clock::time_point deadline) {
  std::string output;
  bool sending = true;
  while (true) {
    pollfd wait{socket, static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0};
    const int ready = poll(&wait, 1, MillisecondsTo(deadline));
    if (ready <= 0 && MillisecondsTo(deadline) == 0) return std::nullopt;
    if (ready <= 0) continue;  // a signal
    if (sending && (wait.revents & POLLOUT) != 0 && !SendSome(socket, input)) {
      sending = false;
      shutdown(socket, SHUT_WR);
    }
    if ((wait.revents & ~POLLOUT) != 0 && !ReceiveSome(socket, output)) return output;
  }
}

// Whether the process ended in time; its status is then in `status`. The status of a process of a
// program that ignores SIGCHLD is not known, and stays.
bool WaitUntil(pid_t process, Clock::time_point deadline, int& status) {
  while (true) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return true;
    if (MillisecondsTo(deadline) == 0) return false;
    poll(nullptr, 0, 1);
  }
}

std::string Describe(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("crashed with signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

Result<ProgramEnd> RunProgram(const std::string& path, std::string_view input,
                              std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SystemError(fmt::format("making a socket for {}", path), errno);
  }
  const FileDescriptor ours(sockets[0]);
  FileDescriptor theirs(sockets[1]);
  LIJIT_ASSIGN(const pid_t process, Spawn(path, theirs.number()));
  theirs.Close();
  fcntl(ours.number(), F_SETFL, O_NONBLOCK);
  std::optional<std::string> output = Exchange(ours.number(), input, deadline);
  int status = 0;
  if (output && WaitUntil(process, deadline, status)) {
    return ProgramEnd{*std::move(output), Describe(status)};
  }
  kill(process, SIGKILL);
  WaitUntil(process, Clock::time_point::max(), status);
  return ProgramEnd{"", fmt::format("did not end within {} s and was killed",
                                    static_cast<double>(limit.count()) / 1000)};
}

}  // namespace lijit::runtime
