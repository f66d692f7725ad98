// SPDX-License-Identifier: Apache-2.0
// Jobs and their results as fields.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "cache/fields.h"
#include "runtime/compile/compile_job.h"

namespace lijit::runtime {
namespace {

struct JobField {
  std::string_view label;
  std::string CompileJob::*member;
};

constexpr JobField kJobFields[] = {
    {"language", &CompileJob::language},   {"text", &CompileJob::text},
    {"kernel", &CompileJob::kernel},       {"target", &CompileJob::target},
    {"image", &CompileJob::image},         {"ptx-version", &CompileJob::ptx_version},
    {"assembler", &CompileJob::assembler},
};
// A member that is not sent would be empty in the worker.
static_assert(sizeof(CompileJob) == std::size(kJobFields) * sizeof(std::string));

struct ErrorName {
  std::string_view name;
  ErrorCode code;
};

constexpr ErrorName kErrorNames[] = {
    {"invalid-argument", ErrorCode::kInvalidArgument},
    {"refused", ErrorCode::kRefused},
    {"unavailable", ErrorCode::kUnavailable},
    {"damaged", ErrorCode::kDamaged},
    {"failed", ErrorCode::kFailed},
};

Result<Compilation> ParseError(const std::vector<cache::Field>& fields) {
  for (const ErrorName& row : kErrorNames) {
    if (fields.size() == 2 && fields[0].bytes == row.name && fields[1].label == "message") {
      return Error{row.code, std::string(fields[1].bytes)};
    }
  }
  return Damaged("a result with an error of no known kind");
}

}  // namespace

std::string JobText(const CompileJob& job) {
  std::string text;
  for (const JobField& field : kJobFields) cache::AppendField(text, field.label, job.*field.member);
  return text;
}

Result<CompileJob> ParseJob(std::string_view text) {
  LIJIT_ASSIGN(const std::vector<cache::Field> fields, cache::ParseFields(text));
  CompileJob job;
  const bool matches =
      std::equal(fields.begin(), fields.end(), std::begin(kJobFields), std::end(kJobFields),
                 [](const cache::Field& a, const JobField& b) { return a.label == b.label; });
  if (!matches) return Damaged("a compile job has other fields");
  for (std::size_t i = 0; i < fields.size(); ++i) job.*kJobFields[i].member = fields[i].bytes;
  return job;
}

std::string ResultText(const Result<Compilation>& result) {
  std::string text;
  if (!result.ok()) {
    for (const ErrorName& row : kErrorNames) {
      if (row.code == result.error().code) cache::AppendField(text, "error", row.name);
    }
    cache::AppendField(text, "message", result.error().message);
    return text;
  }
  cache::AppendField(text, "kind", result->kind == ImageKind::kCubin ? "cubin" : "ptx");
  cache::AppendField(text, "image", ToText(result->image));
  cache::AppendField(text, "log", result->log);
  for (const std::string& kernel : result->kernels) cache::AppendField(text, "kernel", kernel);
  return text;
}

// The resources stand in the log.
Result<Compilation> ParseResult(std::string_view text) {
  LIJIT_ASSIGN(const std::vector<cache::Field> fields, cache::ParseFields(text));
  if (!fields.empty() && fields[0].label == "error") return ParseError(fields);
  const bool is_result = fields.size() >= 3 && fields[0].label == "kind" &&
                         fields[1].label == "image" && fields[2].label == "log" &&
                         (fields[0].bytes == "cubin" || fields[0].bytes == "ptx");
  if (!is_result) return Damaged("a compile result has other fields");
  Compilation compilation;
  compilation.kind = fields[0].bytes == "cubin" ? ImageKind::kCubin : ImageKind::kPtx;
  compilation.image = ToBytes(fields[1].bytes);
  compilation.log = fields[2].bytes;
  for (std::size_t i = 3; i < fields.size(); ++i) {
    if (fields[i].label != "kernel") return Damaged("a compile result has other fields");
    compilation.kernels.emplace_back(fields[i].bytes);
  }
  if (compilation.kind == ImageKind::kCubin) {
    LIJIT_ASSIGN(compilation.resources, ParseResources(compilation.log));
  }
  return compilation;
}

}  // namespace lijit::runtime
