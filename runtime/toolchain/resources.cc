// SPDX-License-Identifier: Apache-2.0
// The lines, of ptxas 12 and 13 (the third begins "ptxas         .     0 bytes" in NVRTC's log):
//   ptxas info    : Compiling entry function 'k' for 'sm_86'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 10 registers, used 1 barriers, 256 bytes smem, 360 bytes cmem[0]
// and a short form, which nvJitLink writes besides or alone and which says nothing of spills:
//   info    : Function properties for 'k':
//   info    : used 4 registers, used 0 barriers, 0 stack, 0 bytes smem, 360 bytes cmem[0], 0 bytes
//   lmem
#include "runtime/toolchain/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace lijit::runtime {
namespace {

struct Quantity {
  std::string_view before;  // what stands before the number
  std::string_view after;   // what stands after it
  std::uint32_t KernelResources::*member;
};

constexpr Quantity kFrameQuantities[] = {
    {"", " bytes stack frame", &KernelResources::stack_bytes},
    {"", " bytes spill stores", &KernelResources::spill_store_bytes},
    {"", " bytes spill loads", &KernelResources::spill_load_bytes},
};
constexpr Quantity kUsedQuantities[] = {
    {"", " registers", &KernelResources::registers},
    {"used ", " barriers", &KernelResources::barriers},
    {"", " stack", &KernelResources::stack_bytes},
    {"", " bytes smem", &KernelResources::shared_bytes},
    {"", " bytes cmem[", &KernelResources::constant_bytes},
};

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view TakeUntil(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return taken;
}

// "'k' for ..." -> "k".
std::optional<std::string_view> Quoted(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + marker.size());
  const std::size_t end = text.find('\'');
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(0, end);
}

// Adds the quantity that `item` states, if it is this one. False when its number does not fit.
bool Add(std::string_view item, const Quantity& quantity, KernelResources& resources) {
  if (!item.starts_with(quantity.before)) return true;
  item.remove_prefix(quantity.before.size());
  const std::size_t digits = std::min(item.find_first_not_of("0123456789"), item.size());
  if (digits == 0 || !item.substr(digits).starts_with(quantity.after)) return true;
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(item.data(), item.data() + digits, value);
  std::uint32_t& total = resources.*quantity.member;
  return parsed.ec == std::errc() && !__builtin_add_overflow(total, value, &total);
}

template <std::size_t n>
Status AddAll(std::string_view line, const Quantity (&quantities)[n], KernelResources& resources) {
  while (!line.empty()) {
    const std::string_view item = Trim(TakeUntil(line, ','));
    for (const Quantity& quantity : quantities) {
      if (Add(item, quantity, resources)) continue;
      return Damaged(fmt::format("ptxas reports '{}', which does not fit into 32 bits", item));
    }
  }
  return {};
}

constexpr std::string_view kProperties = "Function properties for ";
constexpr std::string_view kQuotedProperties = "info    : Function properties for '";
constexpr std::string_view kUsed = "Used ";
constexpr std::string_view kShortUsed = "info    : used ";

class Parser {
 public:
  Status Line(std::string_view line) {
    if (const auto kernel = Quoted(line, "Compiling entry function '")) {
      LIJIT_TRY(Finish());
      current_ = KernelResources{.kernel = std::string(*kernel),
                                 .target = std::string(Quoted(line, " for '").value_or(""))};
      used_ = in_kernel_ = false;
    } else if (const auto name = Quoted(line, kQuotedProperties); name && line[0] == 'i') {
      LIJIT_TRY(Finish());
      current_ = KernelResources{.kernel = std::string(*name), .target = {}};
      used_ = in_kernel_ = false;
    } else if (current_ && line.starts_with(kShortUsed)) {
      used_ = true;
      return AddAll(line.substr(kShortUsed.size()), kUsedQuantities, *current_);
    } else if (const std::size_t at = line.find(kProperties); at != std::string_view::npos) {
      // Device functions that were not inlined have properties of their own.
      in_kernel_ = current_ && Trim(line.substr(at + kProperties.size())) == current_->kernel;
    } else if (current_ && line.find(" bytes stack frame") != std::string_view::npos) {
      if (in_kernel_) return AddAll(Frame(line), kFrameQuantities, *current_);
    } else if (const std::size_t use = line.find(kUsed);
               current_ && use != std::string_view::npos) {
      used_ = true;
      return AddAll(line.substr(use + kUsed.size()), kUsedQuantities, *current_);
    }
    return {};
  }

  Result<std::vector<KernelResources>> End() {
    LIJIT_TRY(Finish());
    return std::move(done_);
  }

 private:
  // Without the "ptxas         ." of NVRTC's log.
  static std::string_view Frame(std::string_view line) {
    const std::size_t dot = line.find('.');
    return dot == std::string_view::npos ? line : line.substr(dot + 1);
  }

  Status Finish() {
    if (!current_) return {};
    if (!used_) {
      return Damaged(fmt::format("the log of ptxas lacks the resources of '{}'", current_->kernel));
    }
    // A kernel may stand there in both forms; only the long one names its target.
    const auto same = std::find_if(done_.begin(), done_.end(), [&](const KernelResources& k) {
      return k.kernel == current_->kernel && (k.target.empty() || current_->target.empty());
    });
    if (same == done_.end()) {
      done_.push_back(*std::move(current_));
    } else if (same->target.empty()) {
      *same = *std::move(current_);
    }
    current_.reset();
    return {};
  }

  std::vector<KernelResources> done_;
  std::optional<KernelResources> current_;
  bool used_ = false;
  bool in_kernel_ = false;
};

}  // namespace

Result<std::vector<KernelResources>> ParseResources(std::string_view log) {
  Parser parser;
  while (!log.empty()) LIJIT_TRY(parser.Line(TakeUntil(log, '\n')));
  return parser.End();
}

}  // namespace lijit::runtime
