// SPDX-License-Identifier: Apache-2.0
#include "runtime/indexer/launcher.h"

#include <algorithm>

#include "cache/get_or_compute.h"

namespace lijit::runtime {
namespace {

// Kernels walk over tiles with a stride of the grid, so any grid is right; this one is legal on
// every device.
constexpr std::int64_t kMaxGrid = (std::int64_t{1} << 31) - 1;

// Enough that those which happen to run longer do not decide the time.
constexpr std::int64_t kBlocksAMultiprocessor = 12;

std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

Launcher::Launcher(std::shared_ptr<Runtime> runtime, KernelModules modules, Ways ways)
    : runtime_(std::move(runtime)), modules_(std::move(modules)), ways_(std::move(ways)) {}

Result<KernelRequest> Launcher::Request(ir::KernelKind kind) const {
  LIJIT_ASSIGN(const ir::Module module, modules_.Extract(kind));
  const Device& device = runtime_->device();
  return RequestFor(module, WayOf(kind), device.info().target, device.image_kind());
}

Result<Launcher::Loaded> Launcher::Load(ir::KernelKind kind) {
  LIJIT_ASSIGN(const KernelRequest request, Request(kind));
  LIJIT_ASSIGN(const cache::Outcome outcome,
               cache::GetOrCompute(runtime_->store(), request, ValidateEntry, CompileKernel));
  LIJIT_ASSIGN(const LaunchInfo launch, LaunchInfo::FromText(outcome.entry->resources));
  LIJIT_ASSIGN(const KernelHandle handle,
               runtime_->device().Load(outcome.entry->image, outcome.entry->kernels[0]));
  events_.push_back(outcome.event);
  return Loaded{handle, launch};
}

Status Launcher::Prepare(ir::KernelKind kind) {
  const std::lock_guard lock(mutex_);
  std::optional<Loaded>& slot = loaded_[static_cast<std::size_t>(kind)];
  if (slot) return {};
  LIJIT_ASSIGN(slot, Load(kind));
  return {};
}

Result<std::int64_t> Launcher::BlockColumns(ir::KernelKind kind, std::int64_t rows,
                                            std::int64_t columns) {
  LIJIT_TRY(Prepare(kind));
  const LaunchInfo& launch = loaded_[static_cast<std::size_t>(kind)]->launch;
  const std::int64_t tile = launch.tile_columns;
  const std::int64_t most = WayOf(kind).schedule.max_columns;
  if (most == 0) return tile;
  const std::int64_t blocks =
      kBlocksAMultiprocessor * std::max(runtime_->device().info().multiprocessors, 1);
  const std::int64_t tiles = CeilDiv(rows, launch.tile_rows) * CeilDiv(columns, tile);
  return std::clamp(tiles / blocks * tile, tile, most);
}

Status Launcher::LaunchBlock(ir::KernelKind kind, std::int64_t rows, std::int64_t columns,
                             std::int64_t block_columns, std::span<const std::byte> parameters,
                             Stream stream) {
  LIJIT_TRY(Prepare(kind));
  // Written once, before Prepare returned for the first time.
  const Loaded& loaded = *loaded_[static_cast<std::size_t>(kind)];
  const std::int64_t row_tiles = CeilDiv(rows, loaded.launch.tile_rows);
  const std::int64_t column_tiles =
      CeilDiv(columns, block_columns > 0 ? block_columns : loaded.launch.tile_columns);
  if (row_tiles == 0 || column_tiles == 0) return {};
  // The product may be beyond 64 bits; the grid is not.
  const std::int64_t tiles =
      row_tiles > kMaxGrid / column_tiles ? kMaxGrid : row_tiles * column_tiles;
  const std::int64_t resident = std::int64_t{WayOf(kind).schedule.resident_blocks} *
                                std::max(runtime_->device().info().multiprocessors, 1);
  LaunchShape shape;
  shape.grid[0] = static_cast<std::uint32_t>(std::min(tiles, resident > 0 ? resident : kMaxGrid));
  shape.block[0] = static_cast<std::uint32_t>(loaded.launch.threads);
  shape.dynamic_shared_bytes = static_cast<std::uint32_t>(loaded.launch.dynamic_shared_bytes);
  return runtime_->device().Launch(loaded.handle, shape, parameters, stream);
}

std::vector<cache::Event> Launcher::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

}  // namespace lijit::runtime
