// SPDX-License-Identifier: Apache-2.0
// Compiling in a worker: the same results as without, and crashes that only it does not survive.
// The whole program runs with LIJIT_COMPILE=worker.
#include "runtime/compile/worker.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "lijit/run.h"
#include "runtime/compile/compilers.h"
#include "runtime/compile/llvm_backend.h"
#include "tests/support/test_indexer.h"

namespace lijit::runtime {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

std::string Beside(const char* name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

std::string TestWorker() { return Beside(LIJIT_TOOLS_FROM_TEST "/lijit-worker"); }
std::string OddWorker() { return Beside("odd_worker"); }

Result<Compilation> InWorker(const CompileJob& job) {
  return RunJobInWorker(job, TestWorker(), 600s);
}

CompileJob Job(std::string language, std::string text, std::string target, std::string image) {
  return {.language = std::move(language),
          .text = std::move(text),
          .kernel = "k",
          .target = std::move(target),
          .image = std::move(image),
          .ptx_version = "9.0",
          .assembler = "nvjitlink"};
}

const char* const kCuda = "extern \"C\" __global__ void k(int* p) { *p = 1; }";
const char* const kLir =
    "entry @k : top_k threads 32 tile 1, 1 shared 0 (%p: ptr, %n: i64) {\n"
    "  %v = const 1 : i32\n"
    "  store %p, %n, %v { memory = i32 }\n"
    "  yield\n}\n";
const char* const kPtx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) {\n  ret;\n}\n";

// mbarrier.test_wait on a barrier that nobody arrives at: ptxas of CUDA 12.5 and 13.0 ends with a
// segmentation fault on it, for sm_80.
const char* const kCrashingPtx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u64 m, .param .u64 t) {\n"
    "  .reg .b64 a, s, b; .reg .b32 v; .reg .pred q;\n"
    "  ld.param.u64 a, [p];\n  ld.param.u64 b, [m];\n  ld.param.u64 s, [t];\n"
    "  mbarrier.test_wait.shared.b64 q, [b], s;\n"
    "  selp.b32 v, 1, 0, q;\n  st.global.u32 [a], v;\n  ret;\n}\n";
const char* const kCrashingCuda =
    "extern \"C\" __global__ void k(int* p, unsigned long long m, unsigned long long s) {\n"
    "  int ok;\n"
    "  asm volatile(\"{ .reg .pred q; mbarrier.test_wait.shared.b64 q, [%1], %2;\"\n"
    "               \" selp.b32 %0, 1, 0, q; }\" : \"=r\"(ok) : \"l\"(m), \"l\"(s));\n"
    "  *p = ok;\n}";

void ExpectSame(const CompileJob& job) {
  const auto here = RunJob(job);
  const auto there = InWorker(job);
  ASSERT_TRUE(here.ok()) << here.error().message;
  ASSERT_TRUE(there.ok()) << there.error().message;
  EXPECT_EQ(there->kind, here->kind);
  EXPECT_EQ(there->image, here->image);
  EXPECT_EQ(there->kernels, here->kernels);
  // nvJitLink's log has had two forms on one machine, of which one says nothing of spills.
  if (job.language != "cuda") return;
  EXPECT_EQ(there->resources, here->resources);
  EXPECT_EQ(there->log, here->log);
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Worker, GivesWhatThisProcessGives) {
  if (ProcessNvrtc().ok()) {
    ExpectSame(Job("cuda", kCuda, "sm_86", "cubin"));
    ExpectSame(Job("cuda", kCuda, "sm_86", "ptx"));
  }
  if (ProcessNvJitLink().ok()) ExpectSame(Job("ptx", kPtx, "sm_86", "cubin"));
  if (LlvmVersion().ok()) ExpectSame(Job("lir", kLir, "sm_90a", "ptx"));
  if (LlvmVersion().ok() && ProcessNvJitLink().ok()) {
    ExpectSame(Job("lir", kLir, "sm_90a", "cubin"));
  }
}

TEST(Worker, GivesErrorsToo) {
  const CompileJob job = Job("cuda", "no C++", "sm_86", "cubin");
  const auto here = RunJob(job);
  const auto there = InWorker(job);
  ASSERT_FALSE(there.ok());
  EXPECT_EQ(there.error().code, here.error().code);
  EXPECT_EQ(there.error().message, here.error().message);
}

// How a process ends in which the job is done; "" if well. Whether a build of a compiler crashes is
// its own affair, and sanitizers turn signals into exit codes.
std::string EndHere(const CompileJob& job) {
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(RunJob(job));
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) return "crashed with signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "ended with code " + std::to_string(WEXITSTATUS(status));
}

// A job that would end this process is an error in a worker, and the next one is done.
void ExpectSurvives(const CompileJob& crashing, const CompileJob& next) {
  const std::string end = EndHere(crashing);
  if (end.empty()) GTEST_SKIP() << "this build of the compiler does not crash";
  const auto result = InWorker(crashing);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
  EXPECT_TRUE(Has(result.error().message, end)) << result.error().message;
  EXPECT_TRUE(Has(result.error().message, "kernel k for sm_80")) << result.error().message;
  ExpectSame(next);
}

// Real compilers, really crashing.
TEST(Worker, SurvivesACrashOfNvJitLink) {
  const auto linker = ProcessNvJitLink();
  if (!linker.ok()) GTEST_SKIP() << linker.error().message;
  ExpectSurvives(Job("ptx", kCrashingPtx, "sm_80", "cubin"), Job("ptx", kPtx, "sm_80", "cubin"));
}

TEST(Worker, SurvivesACrashOfNvrtc) {
  const auto nvrtc = ProcessNvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  ExpectSurvives(Job("cuda", kCrashingCuda, "sm_80", "cubin"),
                 Job("cuda", kCuda, "sm_80", "cubin"));
}

Error OddEnd(CompileJob job, std::chrono::milliseconds limit) {
  const auto result = RunJobInWorker(job, OddWorker(), limit);
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error{} : result.error();
}

CompileJob OddJob(const char* kernel) {
  CompileJob job = Job("cuda", "", "sm_86", "cubin");
  job.kernel = kernel;
  return job;
}

// More than a pipe holds.
CompileJob LargeJob(const char* language) {
  return Job(language, std::string(std::size_t{1} << 22, 'x'), "sm_86", "cubin");
}

TEST(Worker, EveryOddEndIsAnError) {
  EXPECT_TRUE(Has(OddEnd(OddJob("crash"), 60s).message, "crashed with signal 11"));
  EXPECT_TRUE(Has(OddEnd(OddJob("exit"), 60s).message, "ended with code 3"));
  EXPECT_TRUE(Has(OddEnd(OddJob("silence"), 60s).message, "ended without a result"));
  EXPECT_EQ(OddEnd(OddJob("garbage"), 60s).code, ErrorCode::kDamaged);
  EXPECT_TRUE(Has(OddEnd(LargeJob("early"), 60s).message, "ended without a result"));
  EXPECT_FALSE(RunJobInWorker(OddJob("any"), "/no/such/worker", 60s).ok());
}

TEST(Worker, OneThatHangsIsKilled) {
  for (const CompileJob& job : {OddJob("hang"), OddJob("mute"), LargeJob("deaf")}) {
    const auto begin = std::chrono::steady_clock::now();
    const Error error = OddEnd(job, 300ms);
    EXPECT_EQ(error.code, ErrorCode::kFailed);
    EXPECT_TRUE(Has(error.message, "did not end within 0.3 s and was killed")) << error.message;
    EXPECT_TRUE(Has(error.message, job.kernel + " for sm_86")) << error.message;
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
  }
}

TEST(Worker, ManyAtOnce) {
  if (!LlvmVersion().ok()) GTEST_SKIP() << "no LLVM";
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      const bool crash = i % 2 == 0;
      const auto result = RunJobInWorker(Job("lir", kLir, "sm_86", "ptx"),
                                         crash ? OddWorker() : TestWorker(), 600s);
      EXPECT_EQ(result.ok(), !crash);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// From the indexer's call to the worker and back.
TEST(Worker, CompilesWhatRunNeeds) {
  ASSERT_EQ(ProcessEnvironment().value().compile, CompileMode::kWorker);
  for (const char* backend : {"cuda", "ptx"}) {
    if (!ChooseBackend(backend, ImageKind::kPtx).ok()) continue;
    RunRequest request;
    request.runtime = {"emulated", "sm_86", cache::CacheConfig{}};
    request.indexer = tests::Small("mxfp4");
    request.indexer.backend = backend;
    request.context = 70;
    request.top_k = 9;
    const Result<RunReport> report = lijit::Run(request);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->ok);
    EXPECT_EQ(report->backend, backend);
  }
}

}  // namespace
}  // namespace lijit::runtime

// Before the environment is read for the first time.
int main(int argc, char** argv) {
  setenv("LIJIT_COMPILE", "worker", 1);
  setenv("LIJIT_WORKER", lijit::runtime::TestWorker().c_str(), 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
