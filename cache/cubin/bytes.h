// SPDX-License-Identifier: Apache-2.0
// Bounds-checked access to the bytes of a file. Nothing here trusts an offset or a length, and no
// sum of two of them is formed before it is known to fit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lijit::cubin {

static_assert(std::endian::native == std::endian::little, "cubins are little-endian");

using Bytes = std::span<const std::byte>;

// `count` bytes at `offset`, if the file has them.
inline std::optional<Bytes> SliceAt(Bytes bytes, std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes.size() || count > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, count);
}

// The little-endian value or plain struct at `offset`, which need not be aligned.
template <typename T>
std::optional<T> LoadAt(Bytes bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::optional<Bytes> slice = SliceAt(bytes, offset, sizeof(T));
  if (!slice) return std::nullopt;
  T value;
  std::memcpy(&value, slice->data(), sizeof(T));
  return value;
}

inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The string at `offset` of a string table, if a NUL ends it inside the table.
inline std::optional<std::string_view> StringAt(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::string_view rest = AsText(table.subspan(offset));
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

// Collects what is wrong with a file. A file can be wrong in as many ways as it has bytes, so only
// the first are kept.
class Problems {
 public:
  void Add(std::string problem) {
    if (++count_ <= kKept) list_.push_back(std::move(problem));
  }
  std::vector<std::string> Take() && {
    if (count_ > kKept) list_.push_back(std::to_string(count_ - kKept) + " more problems");
    return std::move(list_);
  }

 private:
  static constexpr std::size_t kKept = 50;
  std::vector<std::string> list_;
  std::size_t count_ = 0;
};

}  // namespace lijit::cubin
