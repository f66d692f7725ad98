// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/compile/fake_cuda.h"

#include <cstring>

#include "runtime/toolchain/driver_types.h"

#define FAKE_CUDA extern "C" __attribute__((visibility("default")))

using namespace lijit::runtime;  // NOLINT: a library of C functions

namespace {

FakeCudaLinker linker = nullptr;
std::uintptr_t link_target = 0;
std::vector<std::byte> linked;
int context = 0;

}  // namespace

FAKE_CUDA void FakeCudaSetLinker(FakeCudaLinker to) { linker = to; }

FAKE_CUDA int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kCuSuccess;
}

FAKE_CUDA int cuDeviceGetCount(int* count) {
  *count = 1;
  return kCuSuccess;
}

FAKE_CUDA int cuDeviceGetName(char* name, int, CuDevice) {
  std::strcpy(name, "fake");
  return kCuSuccess;
}

FAKE_CUDA int cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  *value = attribute == kCuDeviceComputeCapabilityMajor ? 9 : 0;
  return kCuSuccess;
}

FAKE_CUDA int cuDevicePrimaryCtxRetain(CuContext* retained, CuDevice) {
  *retained = &context;
  return kCuSuccess;
}

FAKE_CUDA int cuLinkCreate_v2(unsigned count, int* options, void** values, CuLinkState* state) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kCuJitTarget) link_target = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  *state = &linked;
  return kCuSuccess;
}

FAKE_CUDA int cuLinkAddData_v2(CuLinkState, int, const void* data, std::size_t, const char*,
                               unsigned, int*, void**) {
  linked = linker(static_cast<const char*>(data), link_target);
  return linked.empty() ? 218 : kCuSuccess;
}

FAKE_CUDA int cuLinkComplete(CuLinkState, void** image, std::size_t* size) {
  *image = linked.data();
  *size = linked.size();
  return kCuSuccess;
}
