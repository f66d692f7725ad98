// SPDX-License-Identifier: Apache-2.0
// The C interface's indexer: its configuration and sizes.
#include "lijit/indexer.h"

#include <fmt/format.h>

#include <string>

#include "lijit/lijit.h"
#include "runtime/c_interface/handles.h"
#include "runtime/c_interface/status.h"

using lijit::DType;
using lijit::Status;
using lijit::c_interface::Call;
using lijit::c_interface::CheckGiven;

namespace {

// Null, or 0: the default stays.
void SetText(const char* given, std::string& value) {
  if (given != nullptr) value = given;
}
void SetNumber(std::int32_t given, int& value) {
  if (given != 0) value = given;
}

Status SetDType(std::string_view name, const char* given, DType& value) {
  if (given == nullptr) return {};
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kF16}) {
    if (lijit::DTypeName(dtype) == given) {
      value = dtype;
      return {};
    }
  }
  return lijit::InvalidArgument(
      fmt::format("{} is '{}'; accepted are f32, bf16 and f16", name, given));
}

lijit::Result<lijit::IndexerConfig> ReadConfig(const lijit_indexer_config& given) {
  lijit::IndexerConfig config;
  SetText(given.format, config.format);
  SetNumber(given.heads, config.heads);
  SetNumber(given.head_dim, config.head_dim);
  SetNumber(given.page, config.page);
  LIJIT_TRY(SetDType("input", given.input, config.input));
  LIJIT_TRY(SetDType("weight", given.weight, config.weight));
  SetText(given.schedule, config.schedule);
  SetText(given.backend, config.backend);
  if (given.rotation != nullptr) {
    lijit::Rotation& rotation = config.rotation.emplace();
    rotation.interleaved = given.rotation->interleaved != 0;
    rotation.last = given.rotation->last != 0;
    SetNumber(given.rotation->rope_dim, rotation.rope_dim);
  }
  SetText(given.module, config.module);
  SetText(given.module_name, config.module_name);
  return config;
}

}  // namespace

lijit_status lijit_indexer_create(lijit_runtime* runtime, const lijit_indexer_config* config,
                                  lijit_indexer** indexer) {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(indexer, "indexer"));
    *indexer = nullptr;
    LIJIT_TRY(CheckGiven(runtime, "runtime"));
    LIJIT_ASSIGN(const lijit::IndexerConfig wanted,
                 ReadConfig(config == nullptr ? lijit_indexer_config{} : *config));
    LIJIT_ASSIGN(auto created, lijit::Indexer::Create(runtime->runtime, wanted));
    std::string schedule = created->schedule();
    std::string backend = created->backend();
    *indexer = new lijit_indexer{std::move(created), runtime->device, std::move(schedule),
                                 std::move(backend)};
    return {};
  });
}

void lijit_indexer_destroy(lijit_indexer* indexer) { delete indexer; }

lijit_status lijit_indexer_prepare(lijit_indexer* indexer) {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(indexer, "indexer"));
    return indexer->indexer->Prepare();
  });
}

lijit_status lijit_indexer_row_bytes(const lijit_indexer* indexer, lijit_row_bytes* bytes) {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(indexer, "indexer"));
    LIJIT_TRY(CheckGiven(bytes, "bytes"));
    const lijit::Indexer::RowBytes row = indexer->indexer->row_bytes();
    *bytes = {row.values, row.query_scales, row.key_scales};
    return {};
  });
}

lijit_status lijit_indexer_page_bytes(const lijit_indexer* indexer, int64_t* bytes) {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(indexer, "indexer"));
    LIJIT_TRY(CheckGiven(bytes, "bytes"));
    *bytes = indexer->indexer->page_bytes();
    return {};
  });
}

const char* lijit_indexer_schedule(const lijit_indexer* indexer) {
  return indexer == nullptr ? "" : indexer->schedule.c_str();
}

const char* lijit_indexer_backend(const lijit_indexer* indexer) {
  return indexer == nullptr ? "" : indexer->backend.c_str();
}
