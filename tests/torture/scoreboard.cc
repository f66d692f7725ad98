// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/scoreboard.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <new>

#include "lijit/result.h"

namespace lijit::torture {

std::string Scoreboard::ToText() const {
  std::string text;
#define LIJIT_LINE(member, name) text += fmt::format("{:>10}  {}\n", member.load(), name);
  LIJIT_TORTURE_SCORES(LIJIT_LINE)
#undef LIJIT_LINE
  return text;
}

Scoreboard& SharedScoreboard() {
  void* const memory =
      mmap(nullptr, sizeof(Scoreboard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  LIJIT_CHECK(memory != MAP_FAILED);
  return *new (memory) Scoreboard;
}

}  // namespace lijit::torture
