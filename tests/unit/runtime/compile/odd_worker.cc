// SPDX-License-Identifier: Apache-2.0
// A worker that does what the kernel's name in its input says: "garbage", "silence", "exit",
// "early" (ends without reading), or any other: crashes.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <string>

int main() {
  char first[64] = {};
  const ssize_t count = read(STDIN_FILENO, first, sizeof first - 1);
  if (count > 0 && std::string(first).find("early") != std::string::npos) return 0;
  const std::string rest(std::istreambuf_iterator<char>(std::cin), {});
  const std::string input = first + rest;
  const auto has = [&](const char* word) { return input.find(word) != std::string::npos; };
  if (has("silence")) return 0;
  if (has("exit")) return 3;
  if (has("garbage")) return std::cout << "kind:5:cubin", 0;
  raise(SIGSEGV);
}
