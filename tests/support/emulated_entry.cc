// SPDX-License-Identifier: Apache-2.0
#include "tests/support/emulated_entry.h"

#include "compiler/codegen/cuda/emit_cuda.h"
#ifdef LIJIT_HAS_LLVM
#include "compiler/codegen/ptx/emit_llvm.h"
#endif
#include "runtime/device/emulated_device.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit::tests {
namespace {

const Result<std::shared_ptr<const runtime::Nvrtc>>& InstalledNvrtc() {
  static const auto nvrtc = runtime::Nvrtc::Open({}, runtime::ProcessEnvironment().value());
  return nvrtc;
}

// What a launch passes, and what has to be copied back and freed.
struct DeviceArguments {
  std::vector<std::uint64_t> block;
  std::vector<std::pair<DeviceAddress, std::vector<std::byte>*>> buffers;
};

Result<DeviceArguments> CopyIn(Device& device, std::span<const EntryArgument> arguments) {
  DeviceArguments copied;
  for (const EntryArgument& argument : arguments) {
    if (const auto* number = std::get_if<std::uint64_t>(&argument)) {
      copied.block.push_back(*number);
      continue;
    }
    auto* bytes = std::get<std::vector<std::byte>*>(argument);
    LIJIT_ASSIGN(const DeviceAddress address, device.Allocate(bytes->size(), "argument"));
    LIJIT_TRY(device.CopyToDevice(address, bytes->data(), bytes->size()));
    copied.block.push_back(address);
    copied.buffers.emplace_back(address, bytes);
  }
  return copied;
}

}  // namespace

const std::vector<std::string>& Backends() {
  static const std::vector<std::string> backends = [] {
    std::vector<std::string> found;
    if (InstalledNvrtc().ok()) found.emplace_back("cuda");
#ifdef LIJIT_HAS_LLVM
    found.emplace_back("ptx");
#endif
    return found;
  }();
  return backends;
}

Result<std::vector<std::byte>> CompileEntry(const ir::Module& lowered, const target::Target& target,
                                            std::string_view backend) {
#ifdef LIJIT_HAS_LLVM
  if (backend == "ptx") {
    LIJIT_ASSIGN(const std::string ptx, codegen::EmitPtx(lowered, target, 90));
    return runtime::ToBytes(ptx);
  }
#endif
  LIJIT_CHECK(backend == "cuda");
  LIJIT_TRY(InstalledNvrtc());
  LIJIT_ASSIGN(std::string source, codegen::EmitCuda(lowered));
  const std::string& name = lowered.kernels[0].name;
  LIJIT_ASSIGN(
      runtime::Compilation compilation,
      InstalledNvrtc().value()->Compile({.source = std::move(source),
                                         .name = name + ".cu",
                                         .architecture = std::string(target.ptx_architecture),
                                         .options = {},
                                         .kernels = {name}}));
  return std::move(compilation.image);
}

Status RunEntry(Device& device, std::span<const std::byte> image, const ir::Kernel& entry,
                std::uint32_t blocks, std::span<const EntryArgument> arguments) {
  LIJIT_ASSIGN(const KernelHandle kernel, device.Load(image, entry.name));
  LIJIT_ASSIGN(const DeviceArguments copied, CopyIn(device, arguments));
  LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = static_cast<std::uint32_t>(entry.threads);
  LIJIT_TRY(device.Launch(kernel, shape, std::as_bytes(std::span(copied.block)), nullptr));
  LIJIT_TRY(device.Synchronize());
  for (const auto& [address, bytes] : copied.buffers) {
    LIJIT_TRY(device.CopyToHost(bytes->data(), address, bytes->size()));
    LIJIT_TRY(device.Free(address));
  }
  return {};
}

Status RunEmulated(const ir::Module& lowered, std::string_view target, std::string_view backend,
                   std::uint32_t blocks, std::span<const EntryArgument> arguments) {
  LIJIT_ASSIGN(const target::Target row, target::ParseTarget(target));
  LIJIT_ASSIGN(const std::vector<std::byte> image, CompileEntry(lowered, row, backend));
  LIJIT_ASSIGN(const std::shared_ptr<Device> device, runtime::OpenEmulatedDevice(target));
  return RunEntry(*device, image, lowered.kernels[0], blocks, arguments);
}

}  // namespace lijit::tests
