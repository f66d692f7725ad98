// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "lijit/indexer.h"

namespace lijit {

Runtime::Runtime(std::shared_ptr<Device> device, std::shared_ptr<cache::Store> store)
    : device_(std::move(device)), store_(std::move(store)) {}

Result<std::shared_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  LIJIT_ASSIGN(std::shared_ptr<Device> device, OpenDevice(options.device, options.target));
  cache::CacheConfig config;
  if (options.cache) {
    config = *options.cache;
  } else {
    LIJIT_ASSIGN(config, cache::ConfigFromEnvironment());
  }
  return std::make_shared<Runtime>(std::move(device),
                                   std::make_shared<cache::Store>(std::move(config)));
}

}  // namespace lijit
