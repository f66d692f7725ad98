// SPDX-License-Identifier: Apache-2.0
// Backend ptx where there is a driver and no nvJitLink: the whole program runs with a libcuda.so.1
// whose linker is nvJitLink, and with LIJIT_NVJITLINK naming a file that is none.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cache/get_or_compute.h"
#include "compiler/ir/printer.h"
#include "lijit/doctor.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"
#include "runtime/compile/llvm_backend.h"
#include "runtime/toolchain/driver.h"
#include "tests/unit/runtime/compile/fake_cuda.h"

namespace lijit::runtime {
namespace {

constexpr std::uintptr_t kJitTarget90a = 0x1005a;

// Opened before the environment hides it; null if it is not here.
std::shared_ptr<const NvJitLink>& RealLinker() {
  static std::shared_ptr<const NvJitLink> linker;
  return linker;
}

std::vector<std::byte> LinkReally(const char* ptx, std::uintptr_t target) {
  if (target != kJitTarget90a) return {};
  const auto made =
      RealLinker()->Assemble({.ptx = ptx, .name = "driver.ptx", .target = "sm_90a", .options = {}});
  return made.ok() ? made->image : std::vector<std::byte>();
}

KernelRequest Request(const std::string& target) {
  IndexerConfig config;
  config.format = "mxfp4";
  KernelRequest request;
  request.module =
      ir::Print(KernelModules::Create(config)->Extract(ir::KernelKind::kWriteCache).value());
  request.target_name = target;
  request.schedule = "simt";
  request.backend = "ptx";
  request.image = "cubin";
  request.compiler = CompilerVersion("ptx", ImageKind::kCubin).value();
  return request;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class DriverAssembly : public testing::Test {
 protected:
  void SetUp() override {
    if (!LlvmVersion().ok()) GTEST_SKIP() << LlvmVersion().error().message;
    ASSERT_TRUE(ProcessDriver().ok()) << ProcessDriver().error().message;
    ASSERT_FALSE(ProcessNvJitLink().ok());
  }
};

TEST_F(DriverAssembly, IsChosenWithItsReasonAndItsVersion) {
  const auto choice = ChooseBackend("ptx", ImageKind::kCubin);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_TRUE(Has(choice->reason, "the CUDA driver assembles")) << choice->reason;
  const std::string version = CompilerVersion("ptx", ImageKind::kCubin).value();
  EXPECT_TRUE(Has(version, ", ptx 9.0, driver ")) << version;
  EXPECT_TRUE(version.ends_with("CUDA 13.0")) << version;
  const DoctorReport report =
      Diagnose({.cache_dir = "", .library_directories = {}, .python_prefixes = {}});
  EXPECT_EQ(report.assembler, "driver");
}

TEST_F(DriverAssembly, TheImageIsCached) {
  if (RealLinker() == nullptr) GTEST_SKIP() << "no nvJitLink to stand behind the driver";
  std::string folder = testing::TempDir() + "lijit_driver_assembly_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  cache::CacheConfig config;
  config.dir = folder;
  cache::Store store(config);
  for (const bool hit : {false, true}) {
    const auto outcome =
        cache::GetOrCompute(store, Request("sm_90a"), ValidateEntry, CompileKernel);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->hit(), hit);
    EXPECT_EQ(outcome->entry->kind, ImageKind::kCubin);
    EXPECT_EQ(outcome->entry->target, "sm_90a");
    EXPECT_EQ(outcome->entry->kernels.size(), 1u);
    EXPECT_TRUE(ValidateEntry(*outcome->entry).ok());
  }
  std::filesystem::remove_all(folder);
}

TEST_F(DriverAssembly, IsRefusedForDevicesThatAreNotHere) {
  const auto entry = CompileKernel(Request("sm_86"));
  ASSERT_FALSE(entry.ok());
  EXPECT_EQ(entry.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(Has(entry.error().message, "8.6")) << entry.error().message;
}

// Before anything looks for libraries: one that is loaded is found by its name.
void PutDriverInPlace() {
  const auto linker = NvJitLink::Open({}, ReadEnvironment(std::getenv).value());
  if (linker.ok()) RealLinker() = *linker;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_cuda";
  const std::string library = (folder / "libcuda.so.1").string();
  void* const handle = dlopen(library.c_str(), RTLD_NOW);
  LIJIT_CHECK(handle != nullptr);
  const auto set = reinterpret_cast<FakeCudaSetLinkerFunction>(dlsym(handle, "FakeCudaSetLinker"));
  LIJIT_CHECK(set != nullptr);
  set(LinkReally);
  setenv("LIJIT_NVJITLINK", library.c_str(), 1);
}

}  // namespace
}  // namespace lijit::runtime

int main(int argc, char** argv) {
  lijit::runtime::PutDriverInPlace();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
