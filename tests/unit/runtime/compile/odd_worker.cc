// SPDX-License-Identifier: Apache-2.0
// A worker that does what the kernel's name in its input says: "garbage", "silence", "exit", "hang"
// (reads all, and never ends), "mute" (closes its output, and never ends), or any other: crashes.
// So it does what the language says that it is written in: "early" (ends without reading) and
// "deaf" (never reads, never ends).
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <iostream>
#include <iterator>
#include <string>

namespace {

[[noreturn]] void Hang() {
  while (true) pause();
}

}  // namespace

int main() {
  char first[64] = {};
  const ssize_t count = read(STDIN_FILENO, first, sizeof first - 1);
  const std::string start(first, count > 0 ? static_cast<std::size_t>(count) : 0);
  if (start.find("early") != std::string::npos) return 0;
  if (start.find("deaf") != std::string::npos) Hang();
  const std::string rest(std::istreambuf_iterator<char>(std::cin), {});
  const std::string input = start + rest;
  const auto has = [&](const char* word) { return input.find(word) != std::string::npos; };
  if (has("silence")) return 0;
  if (has("exit")) return 3;
  if (has("garbage")) return std::cout << "kind:5:cubin", 0;
  if (has("mute")) close(STDOUT_FILENO), close(STDIN_FILENO), Hang();
  if (has("hang")) Hang();
  raise(SIGSEGV);
}
