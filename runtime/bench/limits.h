// SPDX-License-Identifier: Apache-2.0
// The least time that a GPU can take for some bytes and some multiplications.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lijit::runtime {

// A row of gpus.def.
struct GpuLimits {
  std::string_view name;
  int capability = 0;  // 86
  int multiprocessors = 0;
  int mhz = 0;
  double memory_gbps = 0;
  double copy_gbps = 0;
  double int8_tops = 0, fp8_tflops = 0, f16_tflops = 0;
  std::string_view source;

  // Measured where somebody measured it.
  double usable_gbps() const { return copy_gbps > 0 ? copy_gbps : memory_gbps; }
};

// By the driver's name for the device: "NVIDIA H200".
std::optional<GpuLimits> LimitsOf(std::string_view device_name);

// All rows.
std::span<const GpuLimits> AllGpus();

// Dense TFLOP/s of the fastest unit that takes elements of so many bits.
double TensorTflops(const GpuLimits& gpu, double bits_an_element);

// "4300 GB/s, 1979 TFLOP/s ...", for people.
std::string DescribeLimits(const GpuLimits& gpu);

struct LeastTime {
  double us = 0;
  std::string_view by;  // "memory" or "tensor"
};
LeastTime LeastTimeFor(const GpuLimits& gpu, double bytes, double flops, double bits_an_element);

}  // namespace lijit::runtime
