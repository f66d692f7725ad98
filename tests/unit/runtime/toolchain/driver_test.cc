// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/driver.h"

#include <gtest/gtest.h>

#ifdef LIJIT_HAS_CUDA_H
#include <cuda.h>
#endif

#include "tests/unit/runtime/toolchain/toolchain_fixture.h"

namespace lijit::runtime {
namespace {

TEST(DriverTest, ErrorsCarryNameNumberAndAdvice) {
  EXPECT_EQ(DescribeDriverError(209),
            "CUDA_ERROR_NO_BINARY_FOR_GPU (209); the image is for another architecture; compile it "
            "for this device's target");
  EXPECT_EQ(DescribeDriverError(500), "CUDA_ERROR_NOT_FOUND (500)");
  EXPECT_EQ(DescribeDriverError(4711), "CUDA error (4711)");
}

TEST(DriverTest, AbsenceIsUnavailableAndSaysWhereItWasLookedFor) {
  const Result<const Driver*>& driver = ProcessDriver();
  if (driver.ok()) {
    EXPECT_FALSE((*driver)->version.empty());
    EXPECT_TRUE((*driver)->CheckProcess().ok());
    GTEST_SKIP() << "there is a driver: " << (*driver)->version;
  }
  EXPECT_EQ(driver.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(Contains(driver.error().message, "CUDA")) << driver.error().message;
}

#ifdef LIJIT_HAS_CUDA_H
#define LIJIT_DRIVER_ERROR(code, name, advice) static_assert((code) == (name));
#include "runtime/toolchain/driver_errors.def"
#undef LIJIT_DRIVER_ERROR

static_assert(kCuSuccess == CUDA_SUCCESS);
static_assert(kCuErrorOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kCuErrorNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kCuErrorNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(kCuErrorStreamCaptureUnsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
static_assert(kCuErrorStreamCaptureImplicit == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
static_assert(kCuDeviceMaxThreadsPerBlock == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(kCuDeviceMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kCuDeviceComputeCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kCuDeviceComputeCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kCuDeviceMaxSharedMemoryPerBlockOptin ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kCuFuncMaxThreadsPerBlock == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(kCuFuncSharedSizeBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kCuFuncMaxDynamicSharedSizeBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kCuPointerDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(kCuJitInfoLogBuffer == CU_JIT_INFO_LOG_BUFFER);
static_assert(kCuJitInfoLogBufferSizeBytes == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
static_assert(kCuJitTarget == CU_JIT_TARGET);
static_assert(kCuJitLogVerbose == CU_JIT_LOG_VERBOSE);
static_assert(kCuJitInputPtx == CU_JIT_INPUT_PTX);
#ifdef CU_COMPUTE_FAMILY_TARGET_BASE  // CUDA 12.9
static_assert(kCuComputeAcceleratedTargetBase == CU_COMPUTE_ACCELERATED_TARGET_BASE);
static_assert(kCuComputeFamilyTargetBase == CU_COMPUTE_FAMILY_TARGET_BASE);
#endif
static_assert(kCuJitErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(kCuJitErrorLogBufferSizeBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(kCuStreamDefault == CU_STREAM_DEFAULT);
static_assert(kCuStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kCuStreamCaptureModeGlobal == CU_STREAM_CAPTURE_MODE_GLOBAL);
static_assert(kCuStreamCaptureModeThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(kCuEventDefault == CU_EVENT_DEFAULT);
static_assert(kCuStreamCaptureStatusNone == CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(kCuLaunchParamEnd == CU_LAUNCH_PARAM_END_AS_INT);
static_assert(kCuLaunchParamBufferPointer == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
static_assert(kCuLaunchParamBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
static_assert(sizeof(CUdeviceptr) == sizeof(std::uint64_t));
static_assert(sizeof(CUdevice) == sizeof(CuDevice));
#endif

}  // namespace
}  // namespace lijit::runtime
