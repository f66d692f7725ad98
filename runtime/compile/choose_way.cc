// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/choose_way.h"

#include <optional>
#include <vector>

#include "compiler/ir/printer.h"
#include "lijit/targets.h"
#include "runtime/compile/compilers.h"

namespace lijit::runtime {
namespace {

// The wanted backend; for "auto" the preferred one, then the other if it is here.
Result<std::vector<std::string>> Backends(const WayRequest& request) {
  LIJIT_ASSIGN(BackendChoice choice, ChooseBackend(request.backend, request.image));
  std::vector<std::string> names = {std::move(choice.name)};
  if (request.backend != "auto") return names;
  const std::string_view other = names[0] == "ptx" ? "cuda" : "ptx";
  if (auto also = ChooseBackend(other, request.image); also.ok()) {
    names.push_back(std::move(also->name));
  }
  return names;
}

}  // namespace

Result<Way> ChooseWay(const WayRequest& request, const ir::Module& module,
                      const target::Target& target) {
  LIJIT_ASSIGN(const std::vector<std::string> backends, Backends(request));
  const std::string_view op = ir::KernelKindName(module.kernels[0].kind);
  std::optional<Error> refusal;
  for (const lower::ScheduleRow& row : lower::AllSchedules()) {
    if (request.schedule != "auto" && request.schedule != row.name) continue;
    const Result<lower::ScheduleRow> fitting = lower::ScheduleFor(row.name, module, target);
    if (!fitting.ok()) {
      refusal = fitting.error();
      continue;
    }
    for (const std::string& backend : backends) {
      const Status status = CheckSupport(target.name, request.format, op, fitting->name, backend,
                                         request.is_shipped_format);
      if (status.ok()) return Way{*fitting, backend};
      refusal = status.error();
    }
  }
  if (refusal) return *refusal;
  return lower::FindSchedule(request.schedule).error();
}

Result<KernelRequest> RequestFor(const ir::Module& module, const Way& way, std::string target,
                                 ImageKind image) {
  KernelRequest request;
  LIJIT_ASSIGN(request.compiler, CompilerVersion(way.backend, image));
  request.module = ir::Print(module);
  request.target_name = std::move(target);
  request.schedule = way.schedule.name;
  request.backend = way.backend;
  request.image = image == ImageKind::kPtx ? "ptx" : "cubin";
  return request;
}

}  // namespace lijit::runtime
