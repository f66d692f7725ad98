// SPDX-License-Identifier: Apache-2.0
#include "runtime/bench/predict.h"

#include <array>

namespace lijit::runtime {
namespace {

using sass::Pipe;

struct RatesRow {
  int capability;
  double instructions, fma, imad, alu, half, twice, xu, convert, lsu;
};
constexpr RatesRow kRates[] = {
#define PIPE_RATES(...) {__VA_ARGS__},
#include "runtime/bench/pipe_rates.def"
};

struct Column {
  Pipe pipe;
  double RatesRow::*rate;
};
constexpr Column kColumns[] = {{Pipe::kFma, &RatesRow::fma},         {Pipe::kImad, &RatesRow::imad},
                               {Pipe::kAlu, &RatesRow::alu},         {Pipe::kHalf, &RatesRow::half},
                               {Pipe::kDouble, &RatesRow::twice},    {Pipe::kXu, &RatesRow::xu},
                               {Pipe::kConvert, &RatesRow::convert}, {Pipe::kLsu, &RatesRow::lsu}};

const RatesRow* RatesOf(int capability) {
  for (const RatesRow& row : kRates) {
    if (row.capability == capability) return &row;
  }
  return nullptr;
}

// Multiplications a multiprocessor and clock; 0: not published here.
double TensorRate(const GpuLimits& gpu, sass::TensorKind kind) {
  const std::array<double, 4> tera = {gpu.int8_tops, gpu.fp8_tflops, gpu.f16_tflops, 0};
  return tera[static_cast<std::size_t>(kind)] * 1e6 / (2.0 * gpu.multiprocessors * gpu.mhz);
}

// imad takes lanes of fma, too.
double SlotsOf(const sass::Mix& mix, Pipe pipe) {
  const double slots = mix.slots[IndexOf(pipe)];
  return pipe == Pipe::kFma ? slots + mix.slots[IndexOf(Pipe::kImad)] : slots;
}

}  // namespace

std::optional<Prediction> Predict(const sass::Mix& mix, const GpuLimits& gpu, double bytes_a_pair) {
  const RatesRow* const rates = RatesOf(gpu.capability);
  if (rates == nullptr || mix.instructions <= 0 || bytes_a_pair <= 0) return {};
  Prediction prediction;
  const auto add = [&](std::string_view pipe, double rate, double work) {
    if (work > 0) prediction.pipes.push_back({pipe, rate, work / rate});
  };
  for (std::size_t kind = 0; kind < mix.macs.size(); ++kind) {
    const double rate = TensorRate(gpu, static_cast<sass::TensorKind>(kind));
    if (mix.macs[kind] > 0 && rate <= 0) return {};
    add(sass::kPipeNames[IndexOf(Pipe::kTensor)], rate, mix.macs[kind]);
  }
  add("instructions", rates->instructions, mix.instructions);
  for (const Column& column : kColumns) {
    add(sass::kPipeNames[IndexOf(column.pipe)], rates->*column.rate, SlotsOf(mix, column.pipe));
  }
  prediction.memory_gpairs = gpu.memory_gbps / bytes_a_pair;
  prediction.gpairs = prediction.memory_gpairs;
  prediction.bound = "memory";
  for (const PipeTime& pipe : prediction.pipes) {
    const double gpairs = gpu.multiprocessors * gpu.mhz / pipe.clocks / 1e3;
    if (gpairs >= prediction.gpairs) continue;
    prediction.gpairs = gpairs;
    prediction.bound = pipe.pipe;
  }
  return prediction;
}

}  // namespace lijit::runtime
