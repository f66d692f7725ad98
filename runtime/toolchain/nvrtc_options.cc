// SPDX-License-Identifier: Apache-2.0
#include "runtime/toolchain/nvrtc_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace lijit::runtime {
namespace {

enum class Value { kNone, kBool, kNumber, kWord, kPtxas };

struct Allowed {
  std::string_view long_form;
  std::string_view short_form;
  Value value;
};
struct Forbidden {
  std::string_view long_form;
  std::string_view short_form;
  std::string_view reason;
};

constexpr Allowed kAllowed[] = {
#define LIJIT_OPTION_ALLOWED(long_form, short_form, value) {long_form, short_form, Value::value},
#define LIJIT_OPTION_REFUSED(long_form, short_form, reason)
#include "runtime/toolchain/nvrtc_options.def"
#undef LIJIT_OPTION_ALLOWED
#undef LIJIT_OPTION_REFUSED
};
constexpr Forbidden kForbidden[] = {
#define LIJIT_OPTION_ALLOWED(long_form, short_form, value)
#define LIJIT_OPTION_REFUSED(long_form, short_form, reason) {long_form, short_form, reason},
#include "runtime/toolchain/nvrtc_options.def"
#undef LIJIT_OPTION_ALLOWED
#undef LIJIT_OPTION_REFUSED
};

// Neither list holds the rest of ptxas's options: many name files.
constexpr std::string_view kPtxasOptions[] = {
    "-v",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-dlcm=ca",
    "-dlcm=cg",
    "-dlcm=cv",
    "-dscm=wb",
    "-dscm=cg",
    "-dscm=cs",
    "-dscm=wt",
    "--warn-on-spills",
    "--warn-on-local-memory-usage",
};

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsWord(std::string_view text) {
  return !text.empty() && text.find_first_of("\n\r\\\"") == std::string_view::npos;
}

// "-DNAME", "-INAME": the two short forms whose value follows without '='.
std::string_view NameOf(std::string_view option) {
  for (std::string_view joined : {"-D", "-U", "-I"}) {
    if (option.starts_with(joined)) return joined;
  }
  return option.substr(0, option.find('='));
}

std::string_view ValueOf(std::string_view option, std::string_view name) {
  option.remove_prefix(name.size());
  if (name.size() > 2 && option.starts_with('=')) option.remove_prefix(1);
  return option;
}

bool HasForm(const Allowed& row, std::string_view option, std::string_view name) {
  const std::string_view value = ValueOf(option, name);
  switch (row.value) {
    case Value::kNone:
      return option == name;
    case Value::kBool:
      return value == "true" || value == "false";
    case Value::kNumber:
      return IsNumber(value);
    case Value::kWord:
      return IsWord(value);
    case Value::kPtxas:
      return CheckPtxasOption(value).ok();
  }
  return false;
}

std::string_view Describe(Value value) {
  constexpr std::string_view kDescriptions[] = {"no value", "=true or =false", "=NUMBER", "a value",
                                                "=OPTION, an option of ptxas that is allowed"};
  return kDescriptions[static_cast<std::size_t>(value)];
}

Status CheckOne(std::string_view option) {
  const std::string_view name = NameOf(option);
  const auto is_named = [name](const auto& row) {
    return row.long_form == name || row.short_form == name;
  };
  const auto forbidden = std::ranges::find_if(kForbidden, is_named);
  if (forbidden != std::end(kForbidden)) {
    return InvalidArgument(fmt::format("compile option '{}': {} {}; leave it out", option,
                                       forbidden->long_form, forbidden->reason));
  }
  const auto allowed = std::ranges::find_if(kAllowed, is_named);
  if (allowed == std::end(kAllowed)) {
    std::string known;
    for (const Allowed& row : kAllowed) known += fmt::format(" {}", row.long_form);
    return InvalidArgument(fmt::format(
        "compile option '{}' is not known to be harmless; accepted are{}", option, known));
  }
  if (HasForm(*allowed, option, name)) return {};
  return InvalidArgument(fmt::format("compile option '{}': {} takes {}", option, allowed->long_form,
                                     Describe(allowed->value)));
}

}  // namespace

Status CheckPtxasOption(std::string_view option) {
  if (std::ranges::find(kPtxasOptions, option) != std::end(kPtxasOptions)) return {};
  std::string known;
  for (std::string_view name : kPtxasOptions) known += fmt::format(" {}", name);
  return InvalidArgument(
      fmt::format("ptxas option '{}' is not known to be harmless; accepted are{}", option, known));
}

Status CheckNvrtcOptions(std::span<const std::string> options) {
  for (const std::string& option : options) LIJIT_TRY(CheckOne(option));
  return {};
}

}  // namespace lijit::runtime
