// SPDX-License-Identifier: Apache-2.0
// The C interface's runtime, device memory and support table.
#include <charconv>
#include <string>

#include "lijit/lijit.h"
#include "lijit/targets.h"
#include "runtime/c_interface/handles.h"
#include "runtime/c_interface/status.h"

#define LIJIT_TEXT_INNER(number) #number
#define LIJIT_TEXT(number) LIJIT_TEXT_INNER(number)

using lijit::DeviceAddress;
using lijit::Status;
using lijit::c_interface::Call;
using lijit::c_interface::CheckGiven;
using lijit::c_interface::TextOf;

namespace {

// DLPack's name of the device that `which` opened ("cuda:1", "auto").
lijit_device DeviceOf(lijit::DeviceKind kind, std::string_view which) {
  if (kind == lijit::DeviceKind::kEmulated) return {LIJIT_DEVICE_CPU, 0};
  lijit_device device = {LIJIT_DEVICE_CUDA, 0};
  if (const std::size_t colon = which.find(':'); colon != std::string_view::npos) {
    std::from_chars(which.data() + colon + 1, which.data() + which.size(), device.device_id);
  }
  return device;
}

DeviceAddress AddressOf(const void* pointer) { return reinterpret_cast<DeviceAddress>(pointer); }

// `body` with the runtime's device.
template <typename Body>
lijit_status CallDevice(lijit_runtime* runtime, const Body& body) noexcept {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(runtime, "runtime"));
    return body(runtime->runtime->device());
  });
}

}  // namespace

int lijit_version_major(void) { return LIJIT_VERSION_MAJOR; }
int lijit_version_minor(void) { return LIJIT_VERSION_MINOR; }
int lijit_version_patch(void) { return LIJIT_VERSION_PATCH; }
const char* lijit_version_string(void) {
  return LIJIT_TEXT(LIJIT_VERSION_MAJOR) "." LIJIT_TEXT(LIJIT_VERSION_MINOR) "." LIJIT_TEXT(
      LIJIT_VERSION_PATCH);
}

lijit_status lijit_runtime_create(const lijit_runtime_options* options, lijit_runtime** runtime) {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(runtime, "runtime"));
    *runtime = nullptr;
    lijit::RuntimeOptions wanted;
    if (options != nullptr && options->device != nullptr) wanted.device = options->device;
    if (options != nullptr) wanted.target = TextOf(options->target);
    LIJIT_ASSIGN(auto opened, lijit::Runtime::Create(wanted));
    const lijit_device device = DeviceOf(opened->device().info().kind, wanted.device);
    *runtime = new lijit_runtime{std::move(opened), device};
    return {};
  });
}

void lijit_runtime_destroy(lijit_runtime* runtime) { delete runtime; }

lijit_device lijit_runtime_device(const lijit_runtime* runtime) {
  return runtime == nullptr ? lijit_device{0, 0} : runtime->device;
}

const char* lijit_runtime_target(const lijit_runtime* runtime) {
  return runtime == nullptr ? "" : runtime->runtime->device().info().target.c_str();
}

lijit_status lijit_allocate(lijit_runtime* runtime, uint64_t bytes, const char* label,
                            void** address) {
  return CallDevice(runtime, [&](lijit::Device& device) -> Status {
    LIJIT_TRY(CheckGiven(address, "address"));
    *address = nullptr;
    LIJIT_ASSIGN(const DeviceAddress allocated, device.Allocate(bytes, TextOf(label)));
    *address = reinterpret_cast<void*>(allocated);
    return {};
  });
}

lijit_status lijit_free(lijit_runtime* runtime, void* address) {
  return CallDevice(runtime, [&](lijit::Device& device) -> Status {
    if (address == nullptr) return {};
    return device.Free(AddressOf(address));
  });
}

lijit_status lijit_copy_to_device(lijit_runtime* runtime, void* destination, const void* source,
                                  uint64_t bytes) {
  return CallDevice(runtime, [&](lijit::Device& device) -> Status {
    if (bytes > 0) LIJIT_TRY(CheckGiven(source, "source"));
    return device.CopyToDevice(AddressOf(destination), source, bytes);
  });
}

lijit_status lijit_copy_to_host(lijit_runtime* runtime, void* destination, const void* source,
                                uint64_t bytes) {
  return CallDevice(runtime, [&](lijit::Device& device) -> Status {
    if (bytes > 0) LIJIT_TRY(CheckGiven(destination, "destination"));
    return device.CopyToHost(destination, AddressOf(source), bytes);
  });
}

lijit_status lijit_fill(lijit_runtime* runtime, void* destination, uint8_t value, uint64_t bytes) {
  return CallDevice(runtime, [&](lijit::Device& device) {
    return device.Fill(AddressOf(destination), value, bytes);
  });
}

lijit_status lijit_synchronize(lijit_runtime* runtime) {
  return CallDevice(runtime, [](lijit::Device& device) { return device.Synchronize(); });
}

lijit_status lijit_check_support(const char* target, const char* format, const char* op,
                                 const char* schedule, const char* backend) {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(target, "target"));
    LIJIT_TRY(CheckGiven(format, "format"));
    LIJIT_TRY(CheckGiven(op, "op"));
    LIJIT_TRY(CheckGiven(schedule, "schedule"));
    LIJIT_TRY(CheckGiven(backend, "backend"));
    return lijit::CheckSupport(target, format, op, schedule, backend);
  });
}
