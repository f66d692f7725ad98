// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace lijit::runtime {
namespace {

constexpr GpuLimits kGpus[] = {
#define GPU(...) {__VA_ARGS__},
#include "runtime/bench/gpus.def"
};

}  // namespace

std::span<const GpuLimits> AllGpus() { return kGpus; }

std::optional<GpuLimits> LimitsOf(std::string_view device_name) {
  for (const GpuLimits& gpu : kGpus) {
    if (device_name.find(gpu.name) != std::string_view::npos) return gpu;
  }
  return std::nullopt;
}

double TensorTflops(const GpuLimits& gpu, double bits_an_element) {
  if (bits_an_element <= 4) return std::max({gpu.int8_tops, gpu.fp8_tflops, gpu.f16_tflops});
  if (bits_an_element <= 8) return std::max(gpu.fp8_tflops, gpu.f16_tflops);
  return gpu.f16_tflops;
}

std::string DescribeLimits(const GpuLimits& gpu) {
  return fmt::format("{:.0f} GB/s{}, {:.0f} TOPS INT8, {:.0f} TFLOP/s FP8, {:.0f} TFLOP/s FP16; {}",
                     gpu.usable_gbps(), gpu.copy_gbps > 0 ? " measured by copying" : "",
                     gpu.int8_tops, gpu.fp8_tflops, gpu.f16_tflops, gpu.source);
}

LeastTime LeastTimeFor(const GpuLimits& gpu, double bytes, double flops, double bits_an_element) {
  const double memory_us = bytes / (gpu.usable_gbps() * 1e3);
  const double tensor_us = flops / (TensorTflops(gpu, bits_an_element) * 1e6);
  return memory_us >= tensor_us ? LeastTime{memory_us, "memory"} : LeastTime{tensor_us, "tensor"};
}

}  // namespace lijit::runtime
