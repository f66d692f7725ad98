// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <utility>

#include "lijit/cubin.h"
#include "runtime/device/recording.h"

namespace lijit::runtime {
namespace {

// Handles are unique in the process, so that one of another device is not taken for one's own.
std::uint64_t NextId() {
  static std::atomic<std::uint64_t> next = 1;
  return next++;
}

void* LaunchKey(std::uintptr_t key) { return reinterpret_cast<void*>(key); }  // NOLINT

// CUDA C++ Programming Guide, technical specifications: the same on every target.
constexpr std::array<std::uint32_t, 3> kMaxGrid = {2147483647, 65535, 65535};
constexpr std::array<std::uint32_t, 3> kMaxBlock = {1024, 1024, 64};

bool Within(const std::array<std::uint32_t, 3>& size, const std::array<std::uint32_t, 3>& most) {
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] == 0 || size[i] > most[i]) return false;
  }
  return true;
}

std::string Text(const std::array<std::uint32_t, 3>& size) {
  return fmt::format("({}, {}, {})", size[0], size[1], size[2]);
}

}  // namespace

CudaKernels::~CudaKernels() {
  if (!context_.usable()) return;
  const CudaContext::Scope scope(context_);
  if (!scope.status().ok()) return;
  for (const auto& [id, kernel] : kernels_) context_.driver().ModuleUnload(kernel->module);
}

// The driver trusts what it is given: a cubin that is cut short can crash the process, and one that
// is relabelled loads. PTX it parses and checks itself.
Status CudaKernels::CheckImage(std::span<const std::byte> image, const std::string& kernel) const {
  if (kind_ == ImageKind::kCubin) return cubin::Verify(image, target_, std::array{kernel});
  constexpr std::array kElf = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  const bool is_elf = image.size() >= 4 && std::equal(kElf.begin(), kElf.end(), image.begin());
  if (!is_elf && !image.empty()) return {};
  return InvalidArgument(
      fmt::format("loading kernel '{}': target {} is not this device's own, so it takes PTX, and "
                  "the image of {} "
                  "bytes is none",
                  kernel, target_, image.size()));
}

// The default stream tells of captures of other streams in this context that wait for it; for the
// rest, the driver refuses the loading itself.
Status CudaKernels::CheckNotCapturing(std::string_view kernel) const {
  int status = kCuStreamCaptureStatusNone;
  const int result = context_.driver().StreamIsCapturing(nullptr, &status);
  if (result == kCuSuccess && status == kCuStreamCaptureStatusNone) return {};
  if (result == kCuSuccess || result == kCuErrorStreamCaptureImplicit) {
    return Failed(fmt::format(
        "kernel '{}' was not loaded before a stream capture began, and loading is not possible "
        "inside one; call the operation once, or prepare it, before the capture",
        kernel));
  }
  return context_.driver().Explain(result, fmt::format("loading kernel '{}'", kernel));
}

Status CudaKernels::LoadModule(std::span<const std::byte> image, Kernel& kernel) const {
  std::string text;  // PTX ends with a zero
  if (kind_ == ImageKind::kPtx) {
    text.assign(reinterpret_cast<const char*>(image.data()), image.size());
  }
  std::array<char, 4096> log{};
  std::array<int, 2> options = {kCuJitErrorLogBuffer, kCuJitErrorLogBufferSizeBytes};
  std::array<void*, 2> values = {log.data(), LaunchKey(log.size() - 1)};
  const void* data = text.empty() ? static_cast<const void*>(image.data()) : text.c_str();
  const unsigned count = text.empty() ? 0 : options.size();
  const int result = context_.driver().ModuleLoadDataEx(&kernel.module, data, count, options.data(),
                                                        values.data());
  std::string what =
      fmt::format("loading kernel '{}' on CUDA device {}", kernel.name, context_.ordinal());
  if (log[0] != '\0') what += fmt::format(" ({})", log.data());
  if (result == kCuErrorStreamCaptureUnsupported) {
    what += ", which was not loaded before a stream capture began";
  }
  return context_.driver().Check(result, what);
}

Status CudaKernels::FindFunction(Kernel& kernel) const {
  const Driver& driver = context_.driver();
  const std::string what = fmt::format("finding kernel '{}' in its image on CUDA device {}",
                                       kernel.name, context_.ordinal());
  LIJIT_TRY(driver.Check(
      driver.ModuleGetFunction(&kernel.function, kernel.module, kernel.name.c_str()), what));
  // Asking for attributes also makes a lazily loading driver load the code now.
  int threads = 0;
  int shared = 0;
  LIJIT_TRY(driver.Check(
      driver.FuncGetAttribute(&threads, kCuFuncMaxThreadsPerBlock, kernel.function), what));
  LIJIT_TRY(driver.Check(driver.FuncGetAttribute(&shared, kCuFuncSharedSizeBytes, kernel.function),
                         what));
  const auto used = static_cast<std::uint32_t>(shared);
  kernel.max_threads = static_cast<std::uint32_t>(threads);
  kernel.max_dynamic_shared_bytes = max_shared_bytes_ - std::min(used, max_shared_bytes_);
  return driver.Check(driver.FuncSetAttribute(kernel.function, kCuFuncMaxDynamicSharedSizeBytes,
                                              static_cast<int>(kernel.max_dynamic_shared_bytes)),
                      what);
}

Result<KernelHandle> CudaKernels::Load(std::span<const std::byte> image, std::string_view name) {
  LIJIT_TRY(CheckNotRecording(name));
  Kernel kernel;
  kernel.name = name;
  LIJIT_TRY(CheckImage(image, kernel.name));
  const CudaContext::Scope scope(context_);
  LIJIT_TRY(scope.status());
  LIJIT_TRY(CheckNotCapturing(name));
  LIJIT_TRY(LoadModule(image, kernel));
  if (Status found = FindFunction(kernel); !found.ok()) {
    context_.driver().ModuleUnload(kernel.module);
    return found.error();
  }
  const KernelHandle handle{NextId()};
  const std::unique_lock lock(mutex_);
  kernels_[handle.id] = std::make_shared<const Kernel>(std::move(kernel));
  return handle;
}

Result<std::shared_ptr<const CudaKernels::Kernel>> CudaKernels::Find(KernelHandle handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = kernels_.find(handle.id);
  if (found != kernels_.end()) return found->second;
  return InvalidArgument(fmt::format("kernel handle {} was not loaded on CUDA device {}", handle.id,
                                     context_.ordinal()));
}

Status CudaKernels::CheckShape(const Kernel& kernel, const LaunchShape& shape) {
  const std::uint64_t threads =
      std::uint64_t{shape.block[0]} * shape.block[1] * std::uint64_t{shape.block[2]};
  if (!Within(shape.grid, kMaxGrid)) {
    return InvalidArgument(fmt::format("launching '{}': grid {} must lie between (1, 1, 1) and {}",
                                       kernel.name, Text(shape.grid), Text(kMaxGrid)));
  }
  if (!Within(shape.block, kMaxBlock) || threads > kernel.max_threads) {
    return InvalidArgument(
        fmt::format("launching '{}': block {} has {} threads, the kernel takes 1 "
                    "to {}",
                    kernel.name, Text(shape.block), threads, kernel.max_threads));
  }
  if (shape.dynamic_shared_bytes <= kernel.max_dynamic_shared_bytes) return {};
  return InvalidArgument(
      fmt::format("launching '{}': {} bytes of dynamic shared memory, the device has {} to give",
                  kernel.name, shape.dynamic_shared_bytes, kernel.max_dynamic_shared_bytes));
}

Status CudaKernels::Launch(KernelHandle handle, const LaunchShape& shape,
                           std::span<const std::byte> parameters, Stream stream) {
  LIJIT_ASSIGN(const std::shared_ptr<const Kernel> kernel, Find(handle));
  LIJIT_TRY(CheckShape(*kernel, shape));
  const CudaContext::Scope scope(context_);
  LIJIT_TRY(scope.status());
  std::size_t size = parameters.size();
  std::array<void*, 5> extra = {
      LaunchKey(kCuLaunchParamBufferPointer), const_cast<std::byte*>(parameters.data()),  // NOLINT
      LaunchKey(kCuLaunchParamBufferSize), &size, LaunchKey(kCuLaunchParamEnd)};
  const int result = context_.driver().LaunchKernel(
      kernel->function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
      shape.block[2], shape.dynamic_shared_bytes, stream, nullptr,
      size == 0 ? nullptr : extra.data());
  if (result != kCuSuccess) {
    const std::string before = last_launched();
    return context_.driver().Explain(
        result, fmt::format("launching '{}' on CUDA device {}{}", kernel->name, context_.ordinal(),
                            before.empty() ? "" : ", after '" + before + "'"));
  }
  last_launched_ = handle.id;
  return {};
}

std::string CudaKernels::last_launched() const {
  const Result<std::shared_ptr<const Kernel>> kernel = Find({last_launched_});
  return kernel.ok() ? (*kernel)->name : "";
}

}  // namespace lijit::runtime
