// SPDX-License-Identifier: Apache-2.0
// Compiles, loads and launches an indexer's kernels: each at its first use, once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "compiler/lower/parameters.h"
#include "lijit/indexer.h"
#include "runtime/compile/choose_way.h"
#include "runtime/compile/kernel_module.h"
#include "runtime/compile/kernel_request.h"

namespace lijit::runtime {

inline constexpr std::size_t kKernelKinds = 6;

class Launcher {
 public:
  // How each kind of kernel is made.
  using Ways = std::array<Way, kKernelKinds>;

  Launcher(std::shared_ptr<Runtime> runtime, KernelModules modules, Ways ways);

  // Compiles and loads the kernel unless that was done. Thread-safe; a failure is tried again.
  Status Prepare(ir::KernelKind kind);

  // Columns that a block should do at a time: one tile, or as many as leave several blocks for each
  // multiprocessor, if the schedule takes them. Prepares the kernel.
  Result<std::int64_t> BlockColumns(ir::KernelKind kind, std::int64_t rows, std::int64_t columns);

  // Launches on rows x columns of output, with the struct of the kind from parameters.h.
  template <typename Parameters>
  Status Launch(ir::KernelKind kind, std::int64_t rows, std::int64_t columns,
                const Parameters& parameters, Stream stream) {
    static_assert(sizeof(Parameters) % sizeof(std::uint64_t) == 0);
    std::int64_t block_columns = 0;
    if constexpr (requires { parameters.block_columns; }) {
      block_columns = static_cast<std::int64_t>(parameters.block_columns);
    }
    return LaunchBlock(kind, rows, columns, block_columns, std::as_bytes(std::span(&parameters, 1)),
                       stream);
  }

  // Of rows of codes in memory, as the kind's schedule reads them.
  int code_alignment(ir::KernelKind kind) const { return WayOf(kind).schedule.code_alignment; }

  std::vector<cache::Event> events() const;
  const KernelModules& modules() const { return modules_; }
  // Those of the scores, which the other kernels need not share.
  std::string_view schedule() const { return WayOf(ir::KernelKind::kLogitsPaged).schedule.name; }
  std::string_view backend() const { return WayOf(ir::KernelKind::kLogitsPaged).backend; }

 private:
  struct Loaded {
    KernelHandle handle;
    LaunchInfo launch;
  };

  // `block_columns` 0: one tile.
  Status LaunchBlock(ir::KernelKind kind, std::int64_t rows, std::int64_t columns,
                     std::int64_t block_columns, std::span<const std::byte> parameters,
                     Stream stream);
  const Way& WayOf(ir::KernelKind kind) const { return ways_[static_cast<std::size_t>(kind)]; }
  Result<Loaded> Load(ir::KernelKind kind);
  Result<KernelRequest> Request(ir::KernelKind kind) const;

  std::shared_ptr<Runtime> runtime_;
  KernelModules modules_;
  Ways ways_;
  mutable std::mutex mutex_;
  std::array<std::optional<Loaded>, kKernelKinds> loaded_;
  std::vector<cache::Event> events_;
};

}  // namespace lijit::runtime
