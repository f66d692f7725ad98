// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "runtime/toolchain/shared_library.h"

namespace lijit::runtime {
namespace {

struct KnownError {
  int code;
  std::string_view name;
  std::string_view advice;
};

constexpr KnownError kKnownErrors[] = {
#define LIJIT_DRIVER_ERROR(code, name, advice) {code, #name, advice},
#include "runtime/toolchain/driver_errors.def"
#undef LIJIT_DRIVER_ERROR
};

constexpr LibrarySymbol kSymbols[] = {
#define LIJIT_FUNCTION(member, symbol, required, parameters) {#symbol, required},
#include "runtime/toolchain/driver_functions.def"
#undef LIJIT_FUNCTION
};

const KnownError* Find(int result) {
  for (const KnownError& error : kKnownErrors) {
    if (error.code == result) return &error;
  }
  return nullptr;
}

std::string Advice(int result) {
  const KnownError* known = Find(result);
  return known == nullptr || known->advice.empty() ? "" : fmt::format("; {}", known->advice);
}

// "580.159.03": of the kernel module, or, where that does not say, at the end of the library's own
// name; "" where neither says.
std::string BuildVersion(const std::string& library) {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  if (!version.empty()) return version;
  constexpr std::string_view kStem = "libcuda.so.";
  std::error_code problem;
  const std::string name = std::filesystem::canonical(library, problem).filename().string();
  const bool has_build = name.starts_with(kStem) && name.find('.', kStem.size()) != name.npos;
  return has_build ? name.substr(kStem.size()) : "";
}

std::string VersionText(const Driver& driver) {
  int version = 0;
  if (driver.DriverGetVersion(&version) != kCuSuccess) return "unknown";
  const std::string cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  const std::string build = BuildVersion(driver.path);
  return build.empty() ? cuda : fmt::format("{}, {}", build, cuda);
}

Result<OpenedLibrary> OpenDriver() {
  const std::vector<std::string> names = {"libcuda.so.1"};
  const std::vector<LibraryPlace> places = {
      {"the loader's path", "", ""},
      {"containers", "/usr/local/nvidia/lib64", ""},
      {"WSL", "/usr/lib/wsl/lib", ""},
  };
  return OpenLibrary({.what = "The CUDA driver",
                      .names = names,
                      .places = places,
                      .symbols = kSymbols,
                      .advice = "Install NVIDIA's driver, or use the emulated device."});
}

Result<const Driver*> Load() {
  LIJIT_ASSIGN(const OpenedLibrary library, OpenDriver());
  static Driver driver;
  std::size_t i = 0;
#define LIJIT_FUNCTION(member, symbol, required, parameters) \
  driver.member = reinterpret_cast<int(*) parameters>(library.symbols[i++]);  // NOLINT
#include "runtime/toolchain/driver_functions.def"
#undef LIJIT_FUNCTION
  driver.path = library.path;
  driver.process = getpid();
  const int result = driver.Init(0);
  if (result == kCuErrorNoDevice) {
    return Unavailable(driver.Explain(result, "the CUDA driver found no device").message);
  }
  LIJIT_TRY(driver.Check(result, fmt::format("the CUDA driver ({}) does not start", driver.path)));
  driver.version = VersionText(driver);
  return static_cast<const Driver*>(&driver);
}

}  // namespace

Error Driver::Explain(int result, std::string_view what) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (GetErrorName(result, &name) != kCuSuccess || name == nullptr) name = "CUDA error";
  if (GetErrorString(result, &text) != kCuSuccess || text == nullptr) text = "unknown";
  return Failed(fmt::format("{}: {} ({}), {}{}", what, name, result, text, Advice(result)));
}

Status Driver::Check(int result, std::string_view what) const {
  if (result == kCuSuccess) return {};
  return Explain(result, what);
}

Status Driver::CheckProcess() const {
  const pid_t here = getpid();
  if (here == process) return {};
  return Failed(
      fmt::format("CUDA was initialized in process {} and cannot be used in {}, its child by fork; "
                  "open devices "
                  "only after fork, or start the child with exec or spawn",
                  process, here));
}

const Result<const Driver*>& ProcessDriver() {
  static const Result<const Driver*> driver = Load();
  return driver;
}

std::string DescribeDriverError(int result) {
  const KnownError* known = Find(result);
  return fmt::format("{} ({}){}", known == nullptr ? "CUDA error" : known->name, result,
                     Advice(result));
}

}  // namespace lijit::runtime
