// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/device/fake_driver.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace lijit::runtime {
namespace {

int Answer(const char* function) {
  const auto found = FakeState().results.find(function);
  return found == FakeState().results.end() ? kCuSuccess : found->second;
}

// The members that only answer; the rest are set below.
template <typename... Parameters>
void Plain(int (*&member)(Parameters...)) {
  member = [](Parameters...) { return kCuSuccess; };
}

void SetMemory(Driver& driver) {
  driver.MemAlloc = [](std::uint64_t* address, std::size_t bytes) {
    if (Answer("MemAlloc") != kCuSuccess) return Answer("MemAlloc");
    *address = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
    FakeState().owners[*address] = 0;
    return kCuSuccess;
  };
  driver.MemFree = [](std::uint64_t address) {
    std::free(reinterpret_cast<void*>(address));
    FakeState().owners.erase(address);
    return kCuSuccess;
  };
  driver.MemGetInfo = [](std::size_t* free, std::size_t* total) {
    *free = 10;
    *total = 20;
    return kCuSuccess;
  };
  driver.PointerGetAttribute = [](void* value, int attribute, std::uint64_t address) {
    const auto found = FakeState().owners.find(address);
    if (attribute != kCuPointerDeviceOrdinal || found == FakeState().owners.end()) return 1;
    *static_cast<int*>(value) = found->second;
    return kCuSuccess;
  };
}

void SetModules(Driver& driver) {
  driver.ModuleLoadDataEx = [](CuModule* module, const void* image, unsigned count, int*,
                               void** values) {
    if (count > 0) FakeState().loaded_text = static_cast<const char*>(image);
    if (count > 0) std::strcpy(static_cast<char*>(values[0]), FakeState().log.c_str());
    if (Answer("ModuleLoadDataEx") != kCuSuccess) return Answer("ModuleLoadDataEx");
    *module = &FakeState();
    ++FakeState().modules;
    return kCuSuccess;
  };
  driver.ModuleUnload = [](CuModule) {
    --FakeState().modules;
    return kCuSuccess;
  };
  driver.ModuleGetFunction = [](CuFunction* function, CuModule, const char*) {
    *function = &FakeState();
    return Answer("ModuleGetFunction");
  };
  driver.FuncGetAttribute = [](int* value, int attribute, CuFunction) {
    *value = attribute == kCuFuncMaxThreadsPerBlock ? 256 : FakeState().static_shared_bytes;
    return kCuSuccess;
  };
  driver.FuncSetAttribute = [](CuFunction, int, int value) {
    FakeState().max_dynamic_shared_bytes = value;
    return kCuSuccess;
  };
  driver.LaunchKernel = [](CuFunction, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, CuStream, void**,
                           void** extra) {
    FakeState().launch = {gx, gy, gz, bx, by, bz, shared};
    FakeState().parameters.clear();
    if (extra != nullptr) {
      const auto* bytes = static_cast<const std::byte*>(extra[1]);
      FakeState().parameters.assign(bytes, bytes + *static_cast<std::size_t*>(extra[3]));
    }
    return Answer("LaunchKernel");
  };
}

// The option's value, null if it was not given.
void* OptionOf(unsigned count, const int* options, void* const* values, int option) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == option) return values[i];
  }
  return nullptr;
}

void SetLinks(Driver& driver) {
  driver.LinkCreate = [](unsigned count, int* options, void** values, CuLinkState* state) {
    if (Answer("LinkCreate") != kCuSuccess) return Answer("LinkCreate");
    const auto value = [&](int option) { return OptionOf(count, options, values, option); };
    FakeState().link_target = reinterpret_cast<std::uintptr_t>(value(kCuJitTarget));
    std::strcpy(static_cast<char*>(value(kCuJitErrorLogBuffer)), FakeState().log.c_str());
    ++FakeState().links;
    *state = &FakeState();
    return kCuSuccess;
  };
  driver.LinkAddData = [](CuLinkState, int, const void* data, std::size_t size, const char*,
                          unsigned, int*, void**) {
    FakeState().loaded_text.assign(static_cast<const char*>(data), size);
    return Answer("LinkAddData");
  };
  driver.LinkComplete = [](CuLinkState, void** image, std::size_t* size) {
    *image = FakeState().linked.data();
    *size = FakeState().linked.size();
    return Answer("LinkComplete");
  };
  driver.LinkDestroy = [](CuLinkState) {
    --FakeState().links;
    return kCuSuccess;
  };
}

void SetDevices(Driver& driver) {
  driver.DeviceGetCount = [](int* count) {
    *count = 1;
    return kCuSuccess;
  };
  driver.DeviceGetAttribute = [](int* value, int attribute, CuDevice) {
    const int capability = FakeState().compute_capability;
    *value = attribute == kCuDeviceComputeCapabilityMajor ? capability / 10 : capability % 10;
    return kCuSuccess;
  };
}

void SetContexts(Driver& driver) {
  driver.DevicePrimaryCtxRetain = [](CuContext* context, CuDevice) {
    *context = &FakeState();
    ++FakeState().contexts;
    return kCuSuccess;
  };
  driver.DevicePrimaryCtxRelease = [](CuDevice) {
    --FakeState().contexts;
    return kCuSuccess;
  };
  driver.CtxPushCurrent = [](CuContext) {
    ++FakeState().depth;
    return kCuSuccess;
  };
  driver.CtxPopCurrent = [](CuContext*) {
    --FakeState().depth;
    return kCuSuccess;
  };
  driver.StreamIsCapturing = [](CuStream, int* status) {
    *status = kCuStreamCaptureStatusNone;
    return Answer("StreamIsCapturing");
  };
}

int Create(const char* function, void** handle) {
  if (Answer(function) != kCuSuccess) return Answer(function);
  ++FakeState().live;
  *handle = &FakeState();
  return kCuSuccess;
}

int Destroy(void*) {
  --FakeState().live;
  return kCuSuccess;
}

// A graph takes one millisecond.
void SetGraphs(Driver& driver) {
  driver.StreamCreate = [](CuStream* stream, unsigned) { return Create("StreamCreate", stream); };
  driver.GraphInstantiate = [](CuGraphExec* executable, CuGraph, unsigned long long) {
    return Create("GraphInstantiate", executable);
  };
  driver.StreamDestroy = Destroy;
  driver.GraphDestroy = Destroy;
  driver.GraphExecDestroy = Destroy;
  driver.EventDestroy = Destroy;
  driver.StreamBeginCapture = [](CuStream, int) {
    FakeState().capturing = true;
    return Answer("StreamBeginCapture");
  };
  driver.StreamEndCapture = [](CuStream, CuGraph* graph) {
    FakeState().capturing = false;
    return Create("StreamEndCapture", graph);
  };
  driver.GraphLaunch = [](CuGraphExec, CuStream) {
    ++FakeState().graph_launches;
    return Answer("GraphLaunch");
  };
  driver.EventCreate = [](CuEvent* event, unsigned) {
    const int result = Create("EventCreate", event);
    FakeState().event_times.push_back(-1);
    *event = reinterpret_cast<CuEvent>(FakeState().event_times.size());  // NOLINT: a number
    return result;
  };
  driver.EventRecord = [](CuEvent event, CuStream) {
    FakeState().event_times.at(reinterpret_cast<std::size_t>(event) - 1) =
        FakeState().graph_launches;
    return Answer("EventRecord");
  };
  driver.EventElapsedTime = [](float* milliseconds, CuEvent begin, CuEvent end) {
    const auto time = [](CuEvent event) {
      return FakeState().event_times.at(reinterpret_cast<std::size_t>(event) - 1);
    };
    *milliseconds = static_cast<float>(time(end) - time(begin));
    return Answer("EventElapsedTime");
  };
}

}  // namespace

FakeDriverState& FakeState() {
  static FakeDriverState state;
  return state;
}

const Driver& FakeDriver() {
  static Driver driver;
  FakeState() = {};
#define LIJIT_FUNCTION(member, symbol, required, parameters) Plain(driver.member);
#include "runtime/toolchain/driver_functions.def"
#undef LIJIT_FUNCTION
  driver.GetErrorName = [](int, const char** name) {
    *name = "CUDA_ERROR";
    return kCuSuccess;
  };
  driver.process = getpid();
  SetMemory(driver);
  SetModules(driver);
  SetContexts(driver);
  SetLinks(driver);
  SetDevices(driver);
  SetGraphs(driver);
  return driver;
}

}  // namespace lijit::runtime
