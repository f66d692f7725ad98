// SPDX-License-Identifier: Apache-2.0
// The few types and constants of cuda.h that are used, so that building needs no CUDA headers. A
// test compares them with cuda.h where it is installed.
#pragma once

#include <cstdint>

namespace lijit::runtime {

using CuDevice = int;
using CuContext = void*;
using CuModule = void*;
using CuFunction = void*;
using CuStream = void*;
using CuGraph = void*;
using CuLinkState = void*;
using CuGraphExec = void*;
using CuEvent = void*;

// CUresult
inline constexpr int kCuSuccess = 0;
inline constexpr int kCuErrorOutOfMemory = 2;
inline constexpr int kCuErrorNoDevice = 100;
inline constexpr int kCuErrorNotFound = 500;
inline constexpr int kCuErrorStreamCaptureUnsupported = 900;
inline constexpr int kCuErrorStreamCaptureImplicit = 906;

// CUdevice_attribute
inline constexpr int kCuDeviceMaxThreadsPerBlock = 1;
inline constexpr int kCuDeviceMultiprocessorCount = 16;
inline constexpr int kCuDeviceComputeCapabilityMajor = 75;
inline constexpr int kCuDeviceComputeCapabilityMinor = 76;
inline constexpr int kCuDeviceMaxSharedMemoryPerBlockOptin = 97;

// CUfunction_attribute
inline constexpr int kCuFuncMaxThreadsPerBlock = 0;
inline constexpr int kCuFuncSharedSizeBytes = 1;
inline constexpr int kCuFuncMaxDynamicSharedSizeBytes = 8;

// CUpointer_attribute
inline constexpr int kCuPointerDeviceOrdinal = 9;

// CUjit_option
inline constexpr int kCuJitInfoLogBuffer = 3;
inline constexpr int kCuJitInfoLogBufferSizeBytes = 4;
inline constexpr int kCuJitErrorLogBuffer = 5;
inline constexpr int kCuJitErrorLogBufferSizeBytes = 6;
inline constexpr int kCuJitTarget = 9;
inline constexpr int kCuJitLogVerbose = 12;

// CUjitInputType, and what is added to a compute capability in CUjit_target
inline constexpr int kCuJitInputPtx = 1;
inline constexpr int kCuComputeAcceleratedTargetBase = 0x10000;
inline constexpr int kCuComputeFamilyTargetBase = 0x20000;

// CUstream_flags, CUstreamCaptureMode, CUstreamCaptureStatus
inline constexpr unsigned kCuStreamDefault = 0;
inline constexpr unsigned kCuStreamNonBlocking = 1;
inline constexpr int kCuStreamCaptureModeGlobal = 0;
inline constexpr int kCuStreamCaptureModeThreadLocal = 1;
inline constexpr int kCuStreamCaptureStatusNone = 0;

// CUevent_flags
inline constexpr unsigned kCuEventDefault = 0;

// Keys in the last argument of cuLaunchKernel: pointers that are small numbers.
inline constexpr std::uintptr_t kCuLaunchParamEnd = 0;
inline constexpr std::uintptr_t kCuLaunchParamBufferPointer = 1;
inline constexpr std::uintptr_t kCuLaunchParamBufferSize = 2;

}  // namespace lijit::runtime
