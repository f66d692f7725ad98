// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvml.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "runtime/toolchain/shared_library.h"

namespace lijit::runtime {
namespace {

// nvmlClockType_t, nvmlTemperatureSensors_t
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kSensorGpu = 0;

struct Api {
#define LIJIT_FUNCTION(member, symbol, parameters) int(*member) parameters = nullptr;  // NOLINT
#include "runtime/toolchain/nvml_functions.def"
#undef LIJIT_FUNCTION
};

constexpr LibrarySymbol kSymbols[] = {
#define LIJIT_FUNCTION(member, symbol, parameters) {#symbol},
#include "runtime/toolchain/nvml_functions.def"
#undef LIJIT_FUNCTION
};

Result<Api> Load() {
  const std::vector<std::string> names = {"libnvidia-ml.so.1"};
  const std::vector<LibraryPlace> places = {
      {"the loader's path", "", ""},
      {"containers", "/usr/local/nvidia/lib64", ""},
      {"WSL", "/usr/lib/wsl/lib", ""},
  };
  LIJIT_ASSIGN(const OpenedLibrary library,
               OpenLibrary({.what = "NVIDIA's management library",
                            .names = names,
                            .places = places,
                            .symbols = kSymbols,
                            .advice = "It comes with NVIDIA's driver."}));
  Api api;
  std::size_t i = 0;
#define LIJIT_FUNCTION(member, symbol, parameters) \
  api.member = reinterpret_cast<int(*) parameters>(library.symbols[i++]);  // NOLINT
#include "runtime/toolchain/nvml_functions.def"
#undef LIJIT_FUNCTION
  if (const int result = api.Init(); result != 0) {
    return Unavailable(fmt::format("{} does not start: error {}", library.path, result));
  }
  return api;
}

std::optional<unsigned> Value(int result, unsigned value) {
  return result == 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> Watts(int result, unsigned milliwatts) {
  return result == 0 ? std::optional(milliwatts / 1000.0) : std::nullopt;
}

}  // namespace

Result<DeviceState> ReadDeviceState(const std::string& pci_address) {
  static const Result<Api> loaded = Load();
  LIJIT_ASSIGN(const Api api, Result<Api>(loaded));
  void* device = nullptr;
  if (const int result = api.DeviceByPciAddress(pci_address.c_str(), &device); result != 0) {
    return Unavailable(
        fmt::format("NVIDIA's management library has no device at PCI address '{}': error {}",
                    pci_address, result));
  }
  DeviceState state;
  unsigned value = 0;
  int result = api.ClockInfo(device, kClockSm, &value);
  state.sm_mhz = Value(result, value);
  result = api.MaxClockInfo(device, kClockSm, &value);
  state.max_sm_mhz = Value(result, value);
  result = api.ClockInfo(device, kClockMemory, &value);
  state.memory_mhz = Value(result, value);
  result = api.Temperature(device, kSensorGpu, &value);
  state.celsius = Value(result, value);
  result = api.PowerUsage(device, &value);
  state.watts = Watts(result, value);
  result = api.PowerLimit(device, &value);
  state.limit_watts = Watts(result, value);
  return state;
}

}  // namespace lijit::runtime
