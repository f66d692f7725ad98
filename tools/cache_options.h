// SPDX-License-Identifier: Apache-2.0
// The cache that a command uses: the environment's, or another folder.
#pragma once

#include <string>

#include "lijit/cache.h"
#include "lijit/result.h"

namespace lijit::tools {

inline constexpr const char* kCacheDirHelp =
    "the cache's writable folder (default:\n$LIJIT_CACHE_DIR, $XDG_CACHE_HOME/lijit, "
    "~/.cache/lijit)";

// The environment's configuration, its bad values being errors, with `dir` as the writable folder
// unless that is empty.
Result<cache::CacheConfig> ConfigWithFolder(const std::string& dir);

}  // namespace lijit::tools
