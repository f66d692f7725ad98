// SPDX-License-Identifier: Apache-2.0
// A device holds memory, loads images and launches kernels. Two kinds implement this interface: a
// CUDA device (driver API, loaded at run time) and the emulated device, which executes PTX on the
// CPU under the same rules and checks every access. Nothing above asks which one it has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit {

enum class DeviceKind { kCuda, kEmulated };

// What a device loads: machine code for one target, or PTX.
enum class ImageKind { kCubin, kPtx };

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kEmulated;
  std::string name;            // as the driver gives it, or "emulated sm_86"
  std::string target;          // the exact target that kernels are compiled for: "sm_86", "sm_90a"
  int compute_capability = 0;  // 10 * major + minor: 86, 90, 100, 121
  int multiprocessors = 0;
  std::string driver;       // driver version as text, "" on the emulated device
  std::string pci_address;  // "00000000:3B:00.0", "" on the emulated device
};

// An address in the device's global memory.
using DeviceAddress = std::uint64_t;

// A loaded kernel. Valid while its device lives.
struct KernelHandle {
  std::uint64_t id = 0;
};

// A stream of the device: a CUstream as void*, null for the default stream. The emulated device
// runs every launch to its end, whatever the stream, unless it is one that Device::Record gave.
using Stream = void*;

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
};

// What the emulated device's checks found: one sentence naming kernel, PTX line, thread, address
// and allocation, and the kind: "out-of-bounds", "misaligned", "uninitialized", "race",
// "divergence", "async", "mbarrier", "proxy", "trap", "step-limit".
struct Finding {
  std::string kind;
  std::string message;
};

// Launches that were recorded once (Device::Record) and are replayed together, in their order and
// without the host between them. Valid while its device lives; for one thread at a time.
class Graph {
 public:
  virtual ~Graph() = default;

  // Starts one replay in the stream.
  virtual Status Launch(Stream stream = nullptr) = 0;

  // Replays it `replays` times (1 to kMaxTimedReplays), each right after the one before, in a
  // stream of its own, waits, and returns how many microseconds each took by the device's clock.
  // Unavailable: the device has no clock; the emulated one has none.
  virtual Result<std::vector<double>> Time(int replays) = 0;
};
inline constexpr int kMaxTimedReplays = 10000;

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  // `label` names the allocation in findings. Memory is uninitialized; alignment is at least 256.
  virtual Result<DeviceAddress> Allocate(std::uint64_t bytes, std::string_view label) = 0;
  virtual Status Free(DeviceAddress address) = 0;
  virtual Status CopyToDevice(DeviceAddress destination, const void* source,
                              std::uint64_t bytes) = 0;
  virtual Status CopyToHost(void* destination, DeviceAddress source, std::uint64_t bytes) = 0;
  // Sets bytes; counts as initialization.
  virtual Status Fill(DeviceAddress destination, std::uint8_t value, std::uint64_t bytes) = 0;

  // Which image this device loads: cubins on CUDA, PTX on the emulated device.
  virtual ImageKind image_kind() const = 0;
  virtual Result<KernelHandle> Load(std::span<const std::byte> image, std::string_view kernel) = 0;

  // `parameters` is the packed parameter block: each at its natural alignment, in order.
  virtual Status Launch(KernelHandle kernel, const LaunchShape& shape,
                        std::span<const std::byte> parameters, Stream stream) = 0;
  virtual Status Synchronize() = 0;

  // Records what `work` launches in the stream that it is given; nothing of that runs. Its kernels
  // must be loaded before: a thread that records loads nothing, and the error names the kernel. If
  // `work` fails, so does Record, with the same error.
  virtual Result<std::unique_ptr<Graph>> Record(const std::function<Status(Stream)>& work) = 0;

  // Thread-instructions executed so far; 0 on CUDA.
  virtual std::uint64_t instructions() const { return 0; }
  // All findings so far; empty on CUDA. A launch with findings also fails.
  virtual std::vector<Finding> findings() const { return {}; }
};

// `which`: "cuda" (the first CUDA device), "cuda:1", "emulated" or "auto" (CUDA if there is a
// driver and a device, else emulated). `target` is the emulated device's target ("sm_86"); on CUDA
// it must be empty or "native" or something that the device can run: sm_86 on an H200 means that
// kernels are compiled for compute_86 and assembled by the driver.
Result<std::shared_ptr<Device>> OpenDevice(std::string_view which, std::string_view target);

}  // namespace lijit
