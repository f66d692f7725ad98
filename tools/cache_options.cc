// SPDX-License-Identifier: Apache-2.0
#include "tools/cache_options.h"

#include <filesystem>

namespace lijit::tools {

Result<cache::CacheConfig> ConfigWithFolder(const std::string& dir) {
  LIJIT_ASSIGN(cache::CacheConfig config, cache::ConfigFromEnvironment());
  if (dir.empty()) return config;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(dir, error);
  config.dir = error ? dir : absolute.lexically_normal().string();
  config.note.clear();
  return config;
}

}  // namespace lijit::tools
