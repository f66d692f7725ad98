// SPDX-License-Identifier: Apache-2.0
#include "tools/parameter_option.h"

#include <fmt/format.h>

namespace lijit::tools {

void AddParameterOption(CLI::App& app, std::vector<std::string>& parameters) {
  app.add_option("--param", parameters, "NAME=VALUE for a `param` of the text (again: another)")
      ->take_all()
      ->allow_extra_args(false);
}

Result<std::vector<ParameterValue>> ParseParameters(const std::vector<std::string>& parameters) {
  std::vector<ParameterValue> values;
  for (const std::string& parameter : parameters) {
    const std::size_t equals = parameter.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgument(fmt::format(
          "--param {}: expected NAME=VALUE, for example heads=32 or format=@mxfp4", parameter));
    }
    values.push_back({parameter.substr(0, equals), parameter.substr(equals + 1)});
  }
  return values;
}

}  // namespace lijit::tools
