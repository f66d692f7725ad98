// SPDX-License-Identifier: Apache-2.0
#include "tools/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "tools/npy_header.h"

namespace lijit::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";

template <typename T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
float ToFloat(const char* bytes) {
  return static_cast<float>(Load<T>(bytes));
}

float HalfToFloat(const char* bytes) {
  const auto bits = Load<std::uint16_t>(bytes);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000u | static_cast<std::uint32_t>(mantissa) << 13);
  }
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -24)
                              : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return sign != 0 ? -magnitude : magnitude;
}

struct ElementType {
  std::string_view descr;
  std::size_t bytes;
  float (*to_float)(const char*);
};
constexpr ElementType kElementTypes[] = {{"<f2", 2, HalfToFloat},
                                         {"<f4", 4, ToFloat<float>},
                                         {"<f8", 8, ToFloat<double>},
                                         {"<i4", 4, ToFloat<std::int32_t>},
                                         {"<i8", 8, ToFloat<std::int64_t>}};

const ElementType* FindElementType(std::string_view descr) {
  for (const ElementType& type : kElementTypes) {
    if (type.descr == descr) return &type;
  }
  return nullptr;
}

struct Parts {
  std::string_view header, data;
};

// Splits a file after its magic, version and header length.
Result<Parts> Split(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return InvalidArgument("it does not start as an .npy file does");
  if (bytes.size() < 8) return InvalidArgument("it ends inside its version");
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3) {
    return InvalidArgument(fmt::format("its version is {}; 1, 2 and 3 are accepted", major));
  }
  const std::size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) return InvalidArgument("it ends inside its header's length");
  const std::size_t length =
      major == 1 ? Load<std::uint16_t>(bytes.data() + 8) : Load<std::uint32_t>(bytes.data() + 8);
  if (length > bytes.size() - start) {
    return InvalidArgument(fmt::format("its header has {} bytes, of which {} are there", length,
                                       bytes.size() - start));
  }
  return Parts{bytes.substr(start, length), bytes.substr(start + length)};
}

// The shape's product, or nothing if no file could hold so many.
std::optional<std::size_t> Count(std::span<const std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(size), &count)) return std::nullopt;
  }
  return count;
}

Result<const ElementType*> CheckHeader(const NpyHeader& header) {
  const ElementType* const type = FindElementType(header.descr);
  if (type == nullptr) {
    return InvalidArgument(
        fmt::format("its dtype is '{}'; accepted are little-endian float16, float32, float64, "
                    "int32 and int64 (numpy: a.astype('<f4'))",
                    header.descr));
  }
  if (header.fortran_order) {
    return InvalidArgument(
        "it is in Fortran order; save it in C order (numpy: np.ascontiguousarray(a))");
  }
  return type;
}

Status CheckSize(const NpyHeader& header, const ElementType& type, std::string_view data) {
  const std::optional<std::size_t> count = Count(header.shape);
  std::size_t expected = 0;
  if (count && !__builtin_mul_overflow(*count, type.bytes, &expected) && expected == data.size()) {
    return {};
  }
  return InvalidArgument(
      fmt::format("shape ({}) of '{}' does not fit the {} bytes that follow the "
                  "header",
                  fmt::join(header.shape, ", "), type.descr, data.size()));
}

Result<HostArray> Parse(std::string_view bytes) {
  LIJIT_ASSIGN(const Parts parts, Split(bytes));
  LIJIT_ASSIGN(const NpyHeader header, ParseNpyHeader(parts.header));
  LIJIT_ASSIGN(const ElementType* const type, CheckHeader(header));
  LIJIT_TRY(CheckSize(header, *type, parts.data));
  HostArray array{header.shape, std::vector<float>(parts.data.size() / type->bytes)};
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    const char* const value = parts.data.data() + i * type->bytes;
    array.data[i] = type->to_float(value);
    const bool overflow =
        type->descr == "<f8" && std::isinf(array.data[i]) && !std::isinf(Load<double>(value));
    if (overflow) {
      return InvalidArgument(fmt::format("value {} (of index {}, flat) is too large for float32",
                                         Load<double>(value), i));
    }
  }
  return array;
}

template <typename T>
std::string Format(std::string_view descr, std::span<const std::int64_t> shape,
                   std::span<const T> values) {
  LIJIT_CHECK(Count(shape) == values.size());
  std::string header = FormatNpyHeader({std::string(descr), false, {shape.begin(), shape.end()}});
  // Magic, version, length and header end with a newline at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

}  // namespace

Result<HostArray> ParseNpy(std::string_view bytes, std::string_view name) {
  Result<HostArray> array = Parse(bytes);
  if (!array.ok()) return InvalidArgument(fmt::format("{}: {}", name, array.error().message));
  return array;
}

std::string FormatNpy(std::span<const std::int64_t> shape, std::span<const float> values) {
  return Format("<f4", shape, values);
}

std::string FormatNpy(std::span<const std::int64_t> shape, std::span<const std::int32_t> values) {
  return Format("<i4", shape, values);
}

}  // namespace lijit::tools
