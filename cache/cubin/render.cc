// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lijit/cubin.h"

namespace lijit::cubin {
namespace {

constexpr int kLabelWidth = 12;

void Line(std::string& out, std::string_view label, std::string_view text) {
  out += fmt::format("{:<{}}{}\n", label, kLabelWidth, text);
}

std::string Capabilities(const std::vector<int>& capabilities) {
  std::string text;
  for (const int capability : capabilities)
    text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", capability / 10, capability % 10);
  return text.empty() ? "no known device" : text;
}

void RenderTarget(const Image& image, std::string& out) {
  Line(out, "target", image.target);
  for (const TargetRecord& record : image.target_records)
    Line(out, "", fmt::format("{:<20} {}", record.where, record.says));
}

void RenderTools(const Image& image, std::string& out) {
  Line(out, "toolkit", image.toolkit.empty() ? "not recorded" : image.toolkit);
  for (const ToolNote& note : image.tool_notes)
    Line(out, "", fmt::format("{}: {}; {}", note.tool, note.version, note.command_line));
}

std::size_t NameWidth(const std::vector<Kernel>& kernels) {
  std::size_t width = 6;
  for (const Kernel& kernel : kernels) width = std::max(width, kernel.name.size());
  return std::min<std::size_t>(width, 40);
}

std::string Parameters(const Kernel& kernel) {
  std::string text;
  for (const Parameter& parameter : kernel.parameters)
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", parameter.bytes, parameter.offset);
  return text.empty() ? "none" : text;
}

void RenderKernels(const std::vector<Kernel>& kernels, std::string& out) {
  if (kernels.empty()) return Line(out, "kernels", "none");
  const std::size_t width = NameWidth(kernels);
  out += fmt::format("\n{:<{}} {:>4} {:>7} {:>6} {:>6} {:>6} {:>7} {:>8} {:>6} {:>7}\n", "kernel",
                     width, "regs", "shared", "local", "const", "params", "threads", "barriers",
                     "spills", "code");
  for (const Kernel& kernel : kernels)
    out +=
        fmt::format("{:<{}} {:>4} {:>7} {:>6} {:>6} {:>6} {:>7} {:>8} {:>6} {:>7}\n", kernel.name,
                    width, kernel.registers, kernel.shared_bytes, kernel.local_bytes,
                    kernel.constant_bytes, kernel.param_bytes, kernel.max_threads, kernel.barriers,
                    kernel.spills ? fmt::to_string(*kernel.spills) : "-", kernel.code_bytes);
  out += "\nparameters, in bytes\n";
  for (const Kernel& kernel : kernels)
    out += fmt::format("  {}: {}\n", kernel.name, Parameters(kernel));
}

void RenderAttributes(std::string_view owner, const std::vector<Attribute>& attributes,
                      std::string& out) {
  if (attributes.empty()) return;
  out += fmt::format("\nattributes of {}\n", owner);
  for (const Attribute& attribute : attributes)
    out += fmt::format("  {:<32}{}{}\n", attribute.name, attribute.value.empty() ? "" : " ",
                       attribute.value);
}

void RenderSections(const Image& image, std::string& out) {
  out += "\n    offset      bytes  type        section\n";
  for (const Section& section : image.sections)
    if (section.type != 0)
      out += fmt::format("{:>10} {:>10}  0x{:<8x}  {}\n", section.offset, section.bytes,
                         section.type, section.name);
}

void RenderImage(const Dump& dump, std::string& out) {
  const Image& image = *dump.image;
  RenderTarget(image, out);
  Line(out, "runs on", Capabilities(dump.runs_on));
  RenderTools(image, out);
}

void RenderDetails(const Image& image, std::string& out) {
  RenderKernels(image.kernels, out);
  RenderAttributes(".nv.compat", image.compat, out);
  for (const Kernel& kernel : image.kernels) RenderAttributes(kernel.name, kernel.attributes, out);
  RenderSections(image, out);
}

void RenderMember(std::size_t index, const Member& member, std::string& out) {
  const FatbinEntry& entry = member.entry;
  out += fmt::format("\nentry {}: {} for {}, {} bytes", index, entry.kind, entry.target,
                     entry.stored_bytes);
  if (entry.offset != 0) out += fmt::format(" at offset {}", entry.offset);
  if (entry.compression != "none")
    out += fmt::format(", compressed ({}) from {} bytes: not read", entry.compression, entry.bytes);
  if (!entry.identifier.empty()) out += ", of " + entry.identifier;
  out += "\n";
  if (!member.ptx.empty()) out += "\n" + member.ptx + "\n";
  for (const Dump& dump : member.dump) {
    if (!dump.image) continue;
    RenderImage(dump, out);
    RenderDetails(*dump.image, out);
  }
}

// Names in a damaged file must not steer the terminal.
std::string WithoutControls(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = '?';
  return text;
}

}  // namespace

std::string Render(const Dump& dump) {
  std::string out;
  std::string_view generation = dump.image ? std::string_view(dump.image->generation) : "";
  Line(out, dump.kind,
       fmt::format("{}{}{} bytes", generation, generation.empty() ? "" : ", ", dump.bytes));
  if (dump.image)
    RenderImage(dump, out);
  else
    Line(out, "runs on", Capabilities(dump.runs_on));
  for (const std::string& note : dump.notes) Line(out, "note", note);
  for (const std::string& problem : dump.problems) Line(out, "PROBLEM", problem);
  if (dump.problems.empty()) Line(out, "problems", "none");
  if (dump.image) RenderDetails(*dump.image, out);
  for (std::size_t i = 0; i < dump.members.size(); ++i) RenderMember(i, dump.members[i], out);
  return WithoutControls(std::move(out));
}

}  // namespace lijit::cubin
