// SPDX-License-Identifier: Apache-2.0
#include "lijit/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "runtime/compile/compilers.h"
#include "runtime/compile/llvm_backend.h"
#include "runtime/device/cuda_device.h"
#include "runtime/toolchain/driver.h"
#include "runtime/toolchain/environment.h"
#include "runtime/toolchain/nvjitlink.h"
#include "runtime/toolchain/nvrtc.h"

namespace lijit {
namespace {

namespace fs = std::filesystem;

template <typename Tool>
ToolReport DescribeTool(const Result<std::shared_ptr<const Tool>>& tool) {
  ToolReport report;
  if (!tool.ok()) {
    report.problem = tool.error().message;
    return report;
  }
  report.path = (*tool)->path();
  const Result<std::string>& version = (*tool)->Version();
  if (version.ok()) report.version = *version;
  if (!version.ok()) report.problem = version.error().message;
  return report;
}

// Named by the user and not usable is broken. Nowhere is fine as long as a backend can compile.
void Judge(const ToolReport& tool, const std::string& named, DoctorReport& report) {
  if (tool.problem.empty()) return;
  (named.empty() ? report.notes : report.problems).push_back(tool.problem);
}

void DiagnoseTools(const DoctorRequest& request, const runtime::Environment& environment,
                   DoctorReport& report) {
  const runtime::SearchPaths paths{.file = "",
                                   .directories = request.library_directories,
                                   .python_prefixes = request.python_prefixes};
  report.nvrtc = DescribeTool(runtime::Nvrtc::Open(paths, environment));
  report.nvjitlink = DescribeTool(runtime::NvJitLink::Open(paths, environment));
  const Result<std::string> llvm = runtime::LlvmVersion();
  report.llvm = llvm.ok() ? *llvm : "not built";
  const Result<runtime::Assembler> assembler = runtime::ProcessAssembler();
  if (assembler.ok()) report.assembler = assembler->name;
  Judge(report.nvrtc, environment.nvrtc, report);
  Judge(report.nvjitlink, environment.nvjitlink, report);
}

// For what the device in use loads.
void DiagnoseBackend(DoctorReport& report) {
  const ImageKind image = report.device == "emulated" ? ImageKind::kPtx : ImageKind::kCubin;
  const Result<runtime::BackendChoice> choice = runtime::ChooseBackend("auto", image);
  if (!choice.ok()) {
    report.problems.push_back(choice.error().message);
    return;
  }
  report.backend = choice->name;
  report.backend_reason = choice->reason;
}

void DiagnoseDevices(DoctorReport& report) {
  const Result<const runtime::Driver*>& driver = runtime::ProcessDriver();
  if (!driver.ok()) {
    const bool absent = driver.error().code == ErrorCode::kUnavailable;
    (absent ? report.notes : report.problems).push_back(driver.error().message);
    if (absent) report.device = "emulated";
    return;
  }
  report.driver = (*driver)->version;
  Result<std::vector<DeviceInfo>> devices = runtime::ListCudaDevices();
  if (!devices.ok()) {
    report.problems.push_back(devices.error().message);
    return;
  }
  report.devices = *std::move(devices);
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    const DeviceInfo& device = report.devices[i];
    if (!device.target.empty()) continue;
    report.problems.push_back(
        fmt::format("CUDA device {}, {}, has compute capability {}.{}, which is not supported", i,
                    device.name, device.compute_capability / 10, device.compute_capability % 10));
  }
  report.device = "cuda";
}

// The target that OpenDevice would choose. Opening a CUDA device would make a context, which costs
// memory; listing does not.
void ChooseTarget(DoctorReport& report) {
  if (report.device == "cuda" && !report.devices.empty()) report.target = report.devices[0].target;
  if (report.device != "emulated") return;
  const Result<std::shared_ptr<Device>> device = OpenDevice("emulated", "");
  if (device.ok()) {
    report.target = (*device)->info().target;
  } else {
    report.problems.push_back(device.error().message);
  }
}

// The cache's folder is made at the first store, so its nearest existing ancestor is asked.
void DiagnoseCache(DoctorReport& report) {
  if (report.cache_dir.empty()) {
    report.notes.emplace_back("there is no cache folder; kernels are compiled in every process");
    return;
  }
  fs::path folder = report.cache_dir;
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  const std::string asked = folder.empty() ? "." : folder.string();
  if (!fs::is_directory(asked, ignored)) {
    report.problems.push_back(fmt::format("cache folder {}: {} is no folder; set LIJIT_CACHE_DIR",
                                          report.cache_dir, asked));
  } else if (access(asked.c_str(), W_OK | X_OK) != 0) {
    report.problems.push_back(
        fmt::format("cache folder {}: {} cannot be written ({}); kernels are compiled in every "
                    "process; set LIJIT_CACHE_DIR",
                    report.cache_dir, asked, std::strerror(errno)));
  }
}

}  // namespace

DoctorReport Diagnose(const DoctorRequest& request) {
  DoctorReport report;
  report.cache_dir = request.cache_dir;
  const Result<runtime::Environment>& environment = runtime::ProcessEnvironment();
  if (!environment.ok()) report.problems.push_back(environment.error().message);
  const runtime::Environment known = environment.ok() ? *environment : runtime::Environment{};
  DiagnoseTools(request, known, report);
  DiagnoseDevices(report);
  ChooseTarget(report);
  if (environment.ok()) DiagnoseBackend(report);
  DiagnoseCache(report);
  report.ok = report.problems.empty();
  return report;
}

}  // namespace lijit
