// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conversions.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "compiler/ir/builder.h"
#include "compiler/ir/evaluate_codes.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/support/float_text.h"

namespace lijit::tests {
namespace {

using ir::AttributeKey;
using ir::Builder;
using ir::Memory;
using ir::OpCode;
using ir::ValueId;

constexpr int kThreads = 256;
constexpr ir::Type kI32 = ir::ScalarType(ir::Scalar::kI32);
constexpr ir::Type kF32 = ir::ScalarType(ir::Scalar::kF32);
constexpr ir::Type kPtr = ir::ScalarType(ir::Scalar::kPtr);
constexpr ir::Type kI64 = ir::ScalarType(ir::Scalar::kI64);
constexpr ir::Attribute kFormat{AttributeKey::kFormat, 0};

// The entry's parameters, each an array but the last.
struct Parameters {
  ValueId numbers, codes, quotients, scale_codes;
  ValueId encoded, decoded, made_scale_codes, scale_numbers;
  ValueId count;
};

void ConvertElements(Builder& b, const Parameters& p, ValueId at) {
  const ValueId pair_at = b.ShlConst(at, 1);
  const ValueId next_at = b.AddConst(pair_at, 4);
  const ValueId x = b.Load(Memory::kF32, p.numbers, pair_at);
  const ValueId y = b.Load(Memory::kF32, p.numbers, next_at);
  b.Store(Memory::kI32, p.encoded, at, b.Emit1(OpCode::kEncodePair, {x, y}, kI32, {kFormat}));
  const ValueId codes = b.Load(Memory::kI32, p.codes, at);
  const auto pair = b.Emit(OpCode::kDecodePair, {codes}, {kF32, kF32}, {kFormat});
  b.Store(Memory::kF32, p.decoded, pair_at, pair[0]);
  b.Store(Memory::kF32, p.decoded, next_at, pair[1]);
}

void ConvertScales(Builder& b, const Parameters& p, ValueId at) {
  const ValueId quotient = b.Load(Memory::kF32, p.quotients, at);
  b.Store(Memory::kI32, p.made_scale_codes, at,
          b.Emit1(OpCode::kEncodeScale, {quotient}, kI32, {kFormat}));
  const ValueId code = b.Load(Memory::kI32, p.scale_codes, at);
  b.Store(Memory::kF32, p.scale_numbers, at,
          b.Emit1(OpCode::kDecodeScale, {code}, kF32, {kFormat}));
}

// What encode_scale is given for a block whose largest magnitude is `a`.
float Quotient(const ir::Format& format, float a) {
  const ir::ScaleRule rule = format.block_scale->rule;
  const bool divides = rule == ir::ScaleRule::kExact || rule == ir::ScaleRule::kPow2Ceil;
  return divides ? a / format.element.Max() : a;
}

template <typename T>
std::vector<std::byte> BytesOf(const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> FromBytes(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

bool Same(std::uint32_t a, std::uint32_t b) { return a == b; }
bool Same(float a, float b) {
  return BitsOfFloat(a) == BitsOfFloat(b) || (std::isnan(a) && std::isnan(b));
}

std::string Text(std::uint32_t x) { return fmt::format("{:#x}", x); }
std::string Text(float x) { return fmt::format("{} ({:#x})", x, BitsOfFloat(x)); }

template <typename T, typename Input>
std::string Compare(std::string_view what, const std::vector<T>& expected,
                    const std::vector<T>& actual, const Input& input) {
  if (expected.size() != actual.size()) return fmt::format("{}: another number of them", what);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (Same(expected[i], actual[i])) continue;
    return fmt::format("{} {}: {} instead of {}", what, input(i), Text(actual[i]),
                       Text(expected[i]));
  }
  return {};
}

}  // namespace

ir::Module ConversionModule(const ir::Format& format) {
  ir::Module module;
  module.formats = {format};
  ir::Kernel entry;
  entry.name = "convert";
  entry.kind = ir::KernelKind::kTopK;
  entry.is_entry = true;
  entry.threads = kThreads;
  entry.tile_rows = entry.tile_columns = 1;
  Builder b(entry);
  const auto array = [&](const char* name) { return b.Parameter(name, kPtr); };
  const Parameters p{array("numbers"),          array("codes"),         array("quotients"),
                     array("scale_codes"),      array("encoded"),       array("decoded"),
                     array("made_scale_codes"), array("scale_numbers"), b.Parameter("count", kI64)};
  const ValueId index = b.WidenU(b.Add(b.MulConst(b.BlockId(), kThreads), b.ThreadId()));
  b.If(b.Compare(OpCode::kLt, index, p.count), [&] {
    const ValueId at = b.ShlConst(index, 2);
    ConvertElements(b, p, at);
    if (format.block_scale) ConvertScales(b, p, at);
  });
  b.Yield({});
  b.Finish();
  module.kernels.push_back(std::move(entry));
  LIJIT_CHECK(ir::Verify(module).empty());
  return module;
}

ir::Module LoweredConversions(const ir::Format& format, const target::Target& target) {
  ir::Module module = ConversionModule(format);
  for (const char* pass : {"native_conversions", "expand_conversions", "simplify"}) {
    LIJIT_CHECK(lower::RunPass(module, target, pass).ok());
  }
  return module;
}

ConversionOutputs ExpectedConversions(const ir::Format& format, const ConversionInputs& inputs) {
  const ir::ElementCodes elements(format.element);
  ir::Format without_floor = format;  // encode_scale is given what is not below it
  if (without_floor.block_scale) without_floor.block_scale->floor = 0;
  const ir::FormatCodes scales(without_floor);
  const int bits = format.element.Bits();
  const std::uint32_t mask = (1u << bits) - 1;
  ConversionOutputs out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    out.encoded.push_back(elements.Encode(inputs.numbers[2 * i]) |
                          elements.Encode(inputs.numbers[2 * i + 1]) << bits);
    out.decoded.push_back(elements.Decode(inputs.codes[i] & mask));
    out.decoded.push_back(elements.Decode(inputs.codes[i] >> bits & mask));
  }
  for (const float a : inputs.magnitudes) {
    out.scale_codes.push_back(static_cast<std::uint32_t>(scales.BlockScaleCodeOf({&a, 1}, 1)));
  }
  for (const std::uint32_t code : inputs.scale_codes) {
    out.scale_numbers.push_back(scales.ScaleNumber(static_cast<int>(code)));
  }
  return out;
}

Result<ConversionOutputs> RunConversions(const ir::Kernel& entry, const ir::Format& format,
                                         const ConversionInputs& inputs, const Execute& execute) {
  std::vector<float> quotients;
  for (const float a : inputs.magnitudes) quotients.push_back(Quotient(format, a));
  const std::size_t count = inputs.size();
  const std::size_t scales = inputs.magnitudes.size();
  // Memory of no bytes is no memory: formats without scales get one number that nobody reads.
  std::vector<std::vector<std::byte>> memory = {BytesOf(inputs.numbers), BytesOf(inputs.codes),
                                                BytesOf(quotients), BytesOf(inputs.scale_codes)};
  for (const std::size_t numbers : {count, 2 * count, scales, scales}) {
    memory.emplace_back(4 * numbers);
  }
  std::vector<EntryArgument> arguments;
  for (std::vector<std::byte>& bytes : memory) {
    if (bytes.empty()) {
      arguments.emplace_back(std::uint64_t{0});
    } else {
      arguments.emplace_back(&bytes);
    }
  }
  arguments.emplace_back(std::uint64_t{count});
  const std::size_t blocks = (count + kThreads - 1) / static_cast<std::size_t>(entry.threads);
  LIJIT_TRY(execute(static_cast<std::uint32_t>(blocks), arguments));
  return ConversionOutputs{FromBytes<std::uint32_t>(memory[4]), FromBytes<float>(memory[5]),
                           FromBytes<std::uint32_t>(memory[6]), FromBytes<float>(memory[7])};
}

std::string Difference(const ConversionInputs& inputs, const ConversionOutputs& expected,
                       const ConversionOutputs& actual) {
  const std::string problems[] = {
      Compare("encode_pair", expected.encoded, actual.encoded,
              [&](std::size_t i) {
                return Text(inputs.numbers[2 * i]) + ", " + Text(inputs.numbers[2 * i + 1]);
              }),
      Compare("decode_pair", expected.decoded, actual.decoded,
              [&](std::size_t i) { return fmt::format("{:#x}[{}]", inputs.codes[i / 2], i % 2); }),
      Compare("encode_scale", expected.scale_codes, actual.scale_codes,
              [&](std::size_t i) { return Text(inputs.magnitudes[i]); }),
      Compare("decode_scale", expected.scale_numbers, actual.scale_numbers,
              [&](std::size_t i) { return Text(inputs.scale_codes[i]); })};
  for (const std::string& problem : problems) {
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace lijit::tests
