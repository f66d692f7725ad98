// SPDX-License-Identifier: Apache-2.0
#include "lijit/result.h"

#include <cstdio>

int main() {
  const lijit::Result<int> answer = lijit::Unavailable("no device was asked for");
  std::puts(answer.error().message.c_str());
  return answer.ok() ? 1 : 0;
}
