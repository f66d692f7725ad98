// SPDX-License-Identifier: Apache-2.0
// What the opaque handles of the C interface are.
#pragma once

#include <memory>
#include <string>

#include "lijit/indexer.h"
#include "lijit/lijit.h"

struct lijit_runtime {
  std::shared_ptr<lijit::Runtime> runtime;
  lijit_device device;  // what tensors must be on
};

struct lijit_indexer {
  std::unique_ptr<lijit::Indexer> indexer;
  lijit_device device;
  std::string schedule;
  std::string backend;
};
