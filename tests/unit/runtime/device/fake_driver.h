// SPDX-License-Identifier: Apache-2.0
// A CUDA driver of the same interface, made of host memory: what the device layer asks of the
// driver and makes of its answers is tested on machines without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/toolchain/driver.h"

namespace lijit::runtime {

// What the fake saw and what it shall answer. One test at a time.
struct FakeDriverState {
  std::map<std::string, int> results;   // by function: "MemAlloc" -> 2; success if absent
  std::map<std::uint64_t, int> owners;  // address -> device ordinal
  int contexts = 0;                     // retained, less released
  int depth = 0;                        // pushed, less popped
  int modules = 0;                      // loaded, less unloaded
  int static_shared_bytes = 0;
  int max_dynamic_shared_bytes = 0;  // as set
  std::string loaded_text;
  std::string log;                // what the assembler says
  std::vector<std::byte> linked;  // what the linker makes
  int links = 0;                  // made, less destroyed
  std::uintptr_t link_target = 0;
  int compute_capability = 90;
  std::vector<unsigned> launch;
  std::vector<std::byte> parameters;
  bool capturing = false;
  int live = 0;  // streams, graphs, executables and events, less those destroyed
  int graph_launches = 0;
  std::vector<int> event_times;  // of each event: graphs launched before it was recorded
};

FakeDriverState& FakeState();
// Resets the state.
const Driver& FakeDriver();

}  // namespace lijit::runtime
