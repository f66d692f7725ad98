// SPDX-License-Identifier: Apache-2.0
#include "tools/render_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

double Rounded(double value, double places = 1000) { return std::round(value * places) / places; }

json LoopsJson(const AnalyzedKernel& kernel) {
  json loops = json::array();
  for (const AnalyzedLoop& loop : kernel.loops) {
    loops.push_back({{"address", loop.address},
                     {"depth", loop.depth},
                     {"over", loop.over},
                     {"instructions", loop.instructions},
                     {"pairs", loop.pairs},
                     {"iterations", loop.iterations}});
  }
  return loops;
}

json PredictionJson(const GpuPrediction& prediction) {
  json pipes = json::object();
  for (const PipeClocks& pipe : prediction.pipes) {
    pipes[pipe.pipe] = {{"rate", Rounded(pipe.rate)}, {"clocks", Rounded(pipe.clocks)}};
  }
  return {{"gpu", prediction.gpu},
          {"gpairs", Rounded(prediction.gpairs)},
          {"bound", prediction.bound},
          {"memory_gpairs", Rounded(prediction.memory_gpairs)},
          {"ratio", prediction.ratio ? json(Rounded(*prediction.ratio)) : json()},
          {"pipes", std::move(pipes)}};
}

json KernelJson(const AnalyzedKernel& kernel) {
  json pipes = json::object();
  for (const AnalyzedPipe& pipe : kernel.pipes) pipes[pipe.name] = Rounded(pipe.lanes);
  json predictions = json::array();
  for (const GpuPrediction& prediction : kernel.predictions) {
    predictions.push_back(PredictionJson(prediction));
  }
  return {{"target", kernel.target},
          {"op", kernel.op},
          {"format", kernel.format},
          {"schedule", kernel.schedule},
          {"backend", kernel.backend},
          {"registers", kernel.registers},
          {"spills", kernel.spills ? json(*kernel.spills) : json()},
          {"local_bytes", kernel.local_bytes},
          {"shared_bytes", kernel.shared_bytes},
          {"threads", kernel.threads},
          {"rows", kernel.rows},
          {"bytes_a_pair", kernel.bytes_a_pair},
          {"loops", LoopsJson(kernel)},
          {"lanes_a_pair", std::move(pipes)},
          {"predictions", std::move(predictions)},
          {"unknown", kernel.unknown},
          {"notes", kernel.notes},
          {"problems", kernel.problems}};
}

std::string SpillsText(const AnalyzedKernel& kernel) {
  return kernel.spills ? fmt::format("{}", *kernel.spills) : "not recorded";
}

// The kernels of one target and op.
using Group = std::vector<const AnalyzedKernel*>;

std::vector<Group> Groups(const AnalyzeReport& report) {
  std::vector<Group> groups;
  for (const AnalyzedKernel& kernel : report.kernels) {
    const auto fits = [&](const Group& group) {
      return group[0]->target == kernel.target && group[0]->op == kernel.op;
    };
    const auto found = std::find_if(groups.begin(), groups.end(), fits);
    found != groups.end() ? found->push_back(&kernel) : groups.push_back({&kernel});
  }
  return groups;
}

std::string KernelsTable(const Group& group) {
  std::vector<TextRow> rows;
  for (const AnalyzedKernel* const kernel : group) {
    rows.push_back({kernel->format, kernel->schedule, kernel->backend,
                    fmt::format("{}", kernel->threads), fmt::format("{}", kernel->registers),
                    SpillsText(*kernel), fmt::format("{}", kernel->local_bytes),
                    fmt::format("{}", kernel->shared_bytes), fmt::format("{}", kernel->rows),
                    fmt::format("{:.1f}", kernel->bytes_a_pair)});
  }
  return TextTable({"format", "schedule", "backend", ">threads", ">registers", ">spills", ">stack",
                    ">shared", ">query rows", ">bytes a pair"},
                   rows);
}

std::string LoopsTable(const Group& group) {
  std::vector<TextRow> rows;
  for (const AnalyzedKernel* const kernel : group) {
    for (const AnalyzedLoop& loop : kernel->loops) {
      rows.push_back({kernel->format, fmt::format("{:#x}", loop.address), loop.over,
                      fmt::format("{}", loop.depth), fmt::format("{}", loop.instructions),
                      fmt::format("{:g}", loop.pairs), fmt::format("{:.4g}", loop.iterations),
                      fmt::format("{:.1f}", 32 * loop.iterations * loop.instructions)});
    }
  }
  return TextTable({"format", "loop at", "over", ">depth", ">instructions", ">pairs an iteration",
                    ">iterations a pair", ">lanes a pair"},
                   rows);
}

// The pipes that any kernel of the group uses, in the order in which they come.
std::vector<std::string> PipesOf(const Group& group) {
  std::vector<std::string> names;
  for (const AnalyzedKernel* const kernel : group) {
    for (const AnalyzedPipe& pipe : kernel->pipes) {
      if (std::find(names.begin(), names.end(), pipe.name) == names.end()) {
        names.push_back(pipe.name);
      }
    }
  }
  return names;
}

std::string LanesText(const AnalyzedKernel& kernel, const std::string& name) {
  for (const AnalyzedPipe& pipe : kernel.pipes) {
    if (pipe.name == name) return fmt::format("{:.1f}", pipe.lanes);
  }
  return "-";
}

const PipeClocks* ClocksOf(const GpuPrediction& prediction, const std::string& name) {
  for (const PipeClocks& pipe : prediction.pipes) {
    if (pipe.pipe == name) return &pipe;
  }
  return nullptr;
}

std::string ClocksText(const GpuPrediction& prediction, const std::string& name) {
  const PipeClocks* const pipe = ClocksOf(prediction, name);
  return pipe == nullptr ? "-" : fmt::format("{:.2f}", pipe->clocks);
}

// Rates differ by GPU for tensor cores alone.
std::string RateText(const Group& group, const std::string& name) {
  for (const AnalyzedKernel* const kernel : group) {
    for (const GpuPrediction& prediction : kernel->predictions) {
      const PipeClocks* const pipe = ClocksOf(prediction, name);
      if (pipe != nullptr && name != "tensor") return fmt::format("{:.0f}", pipe->rate);
    }
  }
  return "-";
}

std::string MixTable(const Group& group) {
  TextRow headers = {"lanes a pair"};
  for (const AnalyzedKernel* const kernel : group) headers.push_back(">" + kernel->format);
  headers.push_back(">lanes a clock");
  std::vector<TextRow> rows;
  for (const std::string& name : PipesOf(group)) {
    TextRow row = {name};
    for (const AnalyzedKernel* const kernel : group) row.push_back(LanesText(*kernel, name));
    row.push_back(RateText(group, name));
    rows.push_back(std::move(row));
  }
  return TextTable(headers, rows);
}

std::string RatioText(const GpuPrediction& prediction) {
  return prediction.ratio ? fmt::format("{:.2f}x", *prediction.ratio) : "-";
}

constexpr const char* kClockPipes[] = {"tensor", "instructions", "fma", "imad", "alu", "lsu"};

// By GPU, formats below one another.
template <typename Visit>
void ForEachPrediction(const Group& group, Visit visit) {
  for (std::size_t i = 0; i < group[0]->predictions.size(); ++i) {
    for (const AnalyzedKernel* const kernel : group) {
      for (const GpuPrediction& prediction : kernel->predictions) {
        if (prediction.gpu == group[0]->predictions[i].gpu) visit(*kernel, prediction);
      }
    }
  }
}

TextRow PredictionRow(const AnalyzedKernel& kernel, const GpuPrediction& prediction) {
  TextRow row = {prediction.gpu, kernel.format};
  for (const char* const pipe : kClockPipes) row.push_back(ClocksText(prediction, pipe));
  row.push_back(fmt::format("{:.1f}", prediction.memory_gpairs));
  row.push_back(fmt::format("{:.2f}", prediction.gpairs));
  row.push_back(prediction.bound);
  row.push_back(RatioText(prediction));
  return row;
}

std::string PredictionsTable(const Group& group) {
  TextRow headers = {"clocks a pair", "format"};
  for (const char* const pipe : kClockPipes) headers.push_back(fmt::format(">{}", pipe));
  for (const char* const more : {">memory Gpairs/s", ">Gpairs/s", "bound by", ">ratio"}) {
    headers.emplace_back(more);
  }
  std::vector<TextRow> rows;
  ForEachPrediction(group, [&](const AnalyzedKernel& kernel, const GpuPrediction& prediction) {
    rows.push_back(PredictionRow(kernel, prediction));
  });
  return TextTable(headers, rows);
}

std::string Lines(const AnalyzedKernel& kernel) {
  std::string text;
  for (const std::string& note : kernel.notes) {
    text += fmt::format("note: {}: {}\n", kernel.format, note);
  }
  for (const std::string& problem : kernel.problems) {
    text += fmt::format("problem: {}: {}\n", kernel.format, problem);
  }
  return text;
}

}  // namespace

json AnalysisJson(const AnalyzeReport& report) {
  json kernels = json::array();
  for (const AnalyzedKernel& kernel : report.kernels) kernels.push_back(KernelJson(kernel));
  return {{"ok", report.ok}, {"kernels", std::move(kernels)}};
}

std::string AnalysisText(const AnalyzeReport& report) {
  std::string text;
  for (const Group& group : Groups(report)) {
    text += fmt::format("{}{} {}\n\n", text.empty() ? "" : "\n", group[0]->target, group[0]->op);
    text += KernelsTable(group) + "\n" + LoopsTable(group) + "\n" + MixTable(group) + "\n";
    text += PredictionsTable(group) + "\n";
    for (const AnalyzedKernel* const kernel : group) text += Lines(*kernel);
  }
  return text + "Predictions are upper bounds: all pipes overlap and nothing waits.\n";
}

std::string AnalysisMarkdown(const AnalyzeReport& report) {
  std::string text =
      "| op | GPU | format | schedule | registers, spills | tensor | issue | FMA | IMAD | ALU | "
      "LSU "
      "| memory | Gpairs/s at most | ahead by |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Group& group : Groups(report)) {
    ForEachPrediction(group, [&](const AnalyzedKernel& kernel, const GpuPrediction& prediction) {
      text += fmt::format("| {} | {} | `{}` | `{}` | {}, {} |", kernel.op, prediction.gpu,
                          kernel.format, kernel.schedule, kernel.registers, SpillsText(kernel));
      for (const char* const pipe : kClockPipes) {
        text += fmt::format(" {} |", ClocksText(prediction, pipe));
      }
      text += fmt::format(" {:.1f} | {:.2f}, {} | {} |\n", prediction.memory_gpairs,
                          prediction.gpairs, prediction.bound, RatioText(prediction));
    });
  }
  return text;
}

}  // namespace lijit::tools
