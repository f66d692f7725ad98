// SPDX-License-Identifier: Apache-2.0
// `lijit doctor`: what this machine has.
#include "lijit/doctor.h"

#include <fmt/format.h>

#include <memory>

#include "tools/cache_options.h"
#include "tools/commands.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

json ToolJson(const ToolReport& tool) {
  return {{"path", tool.path}, {"version", tool.version}, {"problem", tool.problem}};
}

json DeviceJson(const DeviceInfo& device) {
  return {{"name", device.name},
          {"target", device.target},
          {"compute_capability", device.compute_capability},
          {"multiprocessors", device.multiprocessors}};
}

json DoctorJson(const DoctorReport& report) {
  json devices = json::array();
  for (const DeviceInfo& device : report.devices) devices.push_back(DeviceJson(device));
  return {{"ok", report.ok},
          {"driver", report.driver.empty() ? json() : json(report.driver)},
          {"devices", devices},
          {"nvrtc", ToolJson(report.nvrtc)},
          {"nvjitlink", ToolJson(report.nvjitlink)},
          {"llvm", report.llvm},
          {"assembler", report.assembler},
          {"backend", report.backend},
          {"backend_reason", report.backend_reason},
          {"cache_dir", report.cache_dir},
          {"device", report.device},
          {"target", report.target},
          {"notes", report.notes},
          {"problems", report.problems}};
}

std::string ToolText(const ToolReport& tool) {
  if (tool.path.empty()) return "not found";
  return fmt::format("{}, {}", tool.version.empty() ? "version unknown" : tool.version, tool.path);
}

std::string DevicesText(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> lines;
  for (const DeviceInfo& device : devices) {
    lines.push_back(fmt::format("{}, {}, {} multiprocessors", device.name,
                                device.target.empty() ? "not supported" : device.target,
                                device.multiprocessors));
  }
  return lines.empty() ? "none" : Join(lines, "\n");
}

std::string BackendText(const DoctorReport& report) {
  if (report.backend.empty()) return "none";
  return fmt::format("{}: {}", report.backend, report.backend_reason);
}

// Of the backend ptx.
std::string AssemblerText(const std::string& name) {
  if (name == "driver") return "the CUDA driver, for its own devices";
  return name == "nvjitlink" ? "nvJitLink" : "none";
}

std::string DoctorText(const DoctorReport& report) {
  std::string text =
      TextFields({{"driver", report.driver.empty() ? "none" : report.driver},
                  {"devices", DevicesText(report.devices)},
                  {"NVRTC", ToolText(report.nvrtc)},
                  {"nvJitLink", ToolText(report.nvjitlink)},
                  {"LLVM", report.llvm},
                  {"assembler", AssemblerText(report.assembler)},
                  {"backend", BackendText(report)},
                  {"cache", report.cache_dir.empty() ? "none" : report.cache_dir},
                  {"in use", fmt::format("device {}, target {}",
                                         report.device.empty() ? "none" : report.device,
                                         report.target.empty() ? "none" : report.target)}});
  for (const std::string& note : report.notes) text += "\nnote: " + note + "\n";
  for (const std::string& problem : report.problems) text += "\nproblem: " + problem + "\n";
  return text + (report.ok ? "\nAll is well.\n" : "");
}

// Even a bad environment is described, not refused.
Result<Report> DoDoctor(const std::string& cache_dir) {
  const Result<cache::CacheConfig> config = ConfigWithFolder(cache_dir);
  DoctorRequest request;
  if (config.ok()) request.cache_dir = config->dir;
  DoctorReport report = Diagnose(request);
  if (!config.ok()) report.problems.push_back(config.error().message);
  report.ok = report.ok && config.ok();
  return Report{.json = DoctorJson(report), .text = DoctorText(report), .ok = report.ok};
}

}  // namespace

Action AddDoctor(CLI::App& app) {
  const auto cache_dir = std::make_shared<std::string>();
  app.add_option("--cache-dir", *cache_dir, kCacheDirHelp);
  app.footer(
      "Exit code 1: something is broken; what is merely absent is a note.\n"
      "Example:\n"
      "  lijit doctor --json");
  return [cache_dir](Progress&) { return DoDoctor(*cache_dir); };
}

}  // namespace lijit::tools
