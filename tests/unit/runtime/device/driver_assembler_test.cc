// SPDX-License-Identifier: Apache-2.0
// What the assembler asks of the driver and makes of its answers. That it makes cubins is shown
// with an assembler behind it (tests/unit/runtime/compile/driver_assembly_test) and on devices.
#include "runtime/device/driver_assembler.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/unit/runtime/device/fake_driver.h"

namespace lijit::runtime {
namespace {

AssembleRequest Request(std::string target) {
  return {.ptx = "first\nsecond\n", .name = "k.ptx", .target = std::move(target), .options = {}};
}

// What is wrong with an assembly for the target.
Error Fails(const Driver& driver, const AssembleRequest& request) {
  const auto made = AssembleByDriver(driver, request);
  EXPECT_FALSE(made.ok());
  EXPECT_EQ(FakeState().links, 0);
  EXPECT_EQ(FakeState().contexts, 0);
  EXPECT_EQ(FakeState().depth, 0);
  return made.ok() ? Error{} : made.error();
}

void ExpectHas(const Error& error, std::string_view part) {
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

TEST(DriverAssembler, AsksForTheExactTarget) {
  struct Row {
    const char* target;
    int capability;
    std::uintptr_t jit_target;
  };
  for (const Row& row : {Row{"sm_86", 86, 86}, Row{"sm_90", 90, 90}, Row{"sm_90a", 90, 0x1005a},
                         Row{"sm_100f", 100, 0x20064}}) {
    const Driver& driver = FakeDriver();
    FakeState().compute_capability = row.capability;
    // An image that is no cubin ends it after the driver did all.
    EXPECT_EQ(Fails(driver, Request(row.target)).code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(FakeState().link_target, row.jit_target) << row.target;
    // PTX goes with the zero at its end.
    EXPECT_EQ(FakeState().loaded_text, std::string_view("first\nsecond\n", 14));
  }
}

TEST(DriverAssembler, NeedsADeviceOfTheTarget) {
  const Driver& driver = FakeDriver();
  const Error error = Fails(driver, Request("sm_86"));
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  ExpectHas(error, "none has compute capability 8.6, for sm_86; install nvJitLink");
}

TEST(DriverAssembler, EveryFailingStepIsAnErrorWithTheLogAndItsLine) {
  for (const char* step : {"LinkCreate", "LinkAddData", "LinkComplete"}) {
    const Driver& driver = FakeDriver();
    FakeState().log = "ptxas application ptx input, line 2; error : odd";
    FakeState().results = {{step, 218}};
    const Error error = Fails(driver, Request("sm_90a"));
    EXPECT_EQ(error.code, ErrorCode::kFailed);
    ExpectHas(error, "did not assemble k.ptx for sm_90a: CUDA_ERROR (218)");
    if (std::string_view(step) == "LinkCreate") continue;
    ExpectHas(error, "line 2; error : odd");
    ExpectHas(error, "second");
  }
}

TEST(DriverAssembler, TakesNoOptions) {
  const Driver& driver = FakeDriver();
  AssembleRequest request = Request("sm_90a");
  request.options = {"-O1"};
  EXPECT_EQ(Fails(driver, request).code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace lijit::runtime
