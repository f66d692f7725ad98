// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_json.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

template <typename Items, typename Function>
json List(const Items& items, Function to_json) {
  json list = json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

json OfParameter(const cubin::Parameter& parameter) {
  return {{"offset", parameter.offset}, {"bytes", parameter.bytes}};
}

json OfAttribute(const cubin::Attribute& attribute) {
  return {{"name", attribute.name}, {"value", attribute.value}};
}

json OfKernel(const cubin::Kernel& kernel, const std::string& target) {
  return {{"name", kernel.name},
          {"target", target},
          {"registers", kernel.registers},
          {"shared_bytes", kernel.shared_bytes},
          {"local_bytes", kernel.local_bytes},
          {"constant_bytes", kernel.constant_bytes},
          {"param_bytes", kernel.param_bytes},
          {"parameters", List(kernel.parameters, OfParameter)},
          {"max_threads", kernel.max_threads},
          {"barriers", kernel.barriers},
          {"spills", kernel.spills ? json(*kernel.spills) : json()},
          {"code_bytes", kernel.code_bytes},
          {"attributes", List(kernel.attributes, OfAttribute)}};
}

json OfToolNote(const cubin::ToolNote& note) {
  return {{"object", note.object},
          {"tool", note.tool},
          {"version", note.version},
          {"build", note.build},
          {"command_line", note.command_line}};
}

json OfSection(const cubin::Section& section) {
  return {{"name", section.name},
          {"type", section.type},
          {"flags", section.flags},
          {"offset", section.offset},
          {"bytes", section.bytes}};
}

json OfTargetRecord(const cubin::TargetRecord& record) {
  return {{"where", record.where}, {"says", record.says}};
}

json OfMember(const cubin::Member& member) {
  const cubin::FatbinEntry& entry = member.entry;
  return {{"kind", entry.kind},
          {"target", entry.target},
          {"compression", entry.compression},
          {"offset", entry.offset},
          {"stored_bytes", entry.stored_bytes},
          {"bytes", entry.bytes},
          {"identifier", entry.identifier},
          {"ptx", member.ptx.empty() ? json() : json(member.ptx)},
          {"dump", member.dump.empty() ? json() : ToJson(member.dump.front())}};
}

void AddKernels(const cubin::Dump& dump, json& kernels) {
  if (dump.image)
    for (const cubin::Kernel& kernel : dump.image->kernels)
      kernels.push_back(OfKernel(kernel, dump.image->target));
  for (const cubin::Member& member : dump.members)
    for (const cubin::Dump& inner : member.dump) AddKernels(inner, kernels);
}

void AddImage(const cubin::Image& image, json& object) {
  object["generation"] = image.generation;
  object["executable"] = image.executable;
  object["target"] = image.target;
  object["accelerated"] = image.accelerated;
  object["family"] = image.family;
  object["target_records"] = List(image.target_records, OfTargetRecord);
  object["isa_class"] = image.isa_class ? json(*image.isa_class) : json();
  object["toolkit"] = image.toolkit.empty() ? json() : json(image.toolkit);
  object["tool_notes"] = List(image.tool_notes, OfToolNote);
  object["compat"] = List(image.compat, OfAttribute);
  object["sections"] = List(image.sections, OfSection);
}

}  // namespace

json ToJson(const cubin::Dump& dump) {
  json object = {{"kind", dump.kind},         {"bytes", dump.bytes},     {"generation", nullptr},
                 {"target", nullptr},         {"accelerated", nullptr},  {"toolkit", nullptr},
                 {"kernels", json::array()},  {"runs_on", dump.runs_on}, {"notes", dump.notes},
                 {"problems", dump.problems}, {"members", json::array()}};
  if (dump.image) AddImage(*dump.image, object);
  AddKernels(dump, object["kernels"]);
  object["members"] = List(dump.members, OfMember);
  return object;
}

}  // namespace lijit::tools
