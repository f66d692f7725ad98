// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error that says what was asked, why not, and what would work.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace lijit {

// The kinds of failure. The command line's exit codes are derived from them (docs: README.md).
enum class ErrorCode {
  kInvalidArgument,  // the caller's input is wrong: text, shapes, strides, options
  kRefused,          // the capability gate is closed for (format, op, target, schedule)
  kUnavailable,      // the environment lacks something, which the message names
  kDamaged,          // bytes that should be an entry, cubin or bundle are not
  kFailed,           // a compiler, the driver or a kernel failed while running
};

struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string message;
};

inline Error InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error Refused(std::string message) { return {ErrorCode::kRefused, std::move(message)}; }
inline Error Unavailable(std::string message) {
  return {ErrorCode::kUnavailable, std::move(message)};
}
inline Error Damaged(std::string message) { return {ErrorCode::kDamaged, std::move(message)}; }
inline Error Failed(std::string message) { return {ErrorCode::kFailed, std::move(message)}; }

// Aborts with the place. For broken invariants only, never for user input.
[[noreturn]] inline void AbortAt(const char* file, int line, const char* what) {
  std::fprintf(stderr, "lijit: internal error at %s:%d: %s\n", file, line, what);
  std::abort();
}
#define LIJIT_CHECK(condition)                                          \
  do {                                                                  \
    if (!(condition)) ::lijit::AbortAt(__FILE__, __LINE__, #condition); \
  } while (false)

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    LIJIT_CHECK(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    LIJIT_CHECK(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    LIJIT_CHECK(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    LIJIT_CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    LIJIT_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// Returns the error of a Status or Result to the caller.
#define LIJIT_TRY(expression)                                                        \
  do {                                                                               \
    if (auto try_status = (expression); !try_status.ok()) return try_status.error(); \
  } while (false)

#define LIJIT_CONCAT_INNER(a, b) a##b
#define LIJIT_CONCAT(a, b) LIJIT_CONCAT_INNER(a, b)
// LIJIT_ASSIGN(auto x, F()): x is F's value, or the function returns F's error.
#define LIJIT_ASSIGN(declaration, expression)                                \
  auto LIJIT_CONCAT(assign_result_, __LINE__) = (expression);                \
  if (!LIJIT_CONCAT(assign_result_, __LINE__).ok())                          \
    return LIJIT_CONCAT(assign_result_, __LINE__).error();                   \
  /* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none */ \
  declaration = std::move(LIJIT_CONCAT(assign_result_, __LINE__)).value()

}  // namespace lijit
