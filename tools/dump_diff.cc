// SPDX-License-Identifier: Apache-2.0
#include "tools/dump_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "tools/line_diff.h"
#include "tools/text_table.h"

namespace lijit::tools {
namespace {

using json = nlohmann::ordered_json;

struct Difference {
  std::string path;
  json a, b;
};

// What an element of a list is called: by its name, so that one more does not rename the others.
std::string NameOf(const json& element) {
  for (const char* key : {"name", "identifier", "label", "where", "target"}) {
    if (element.is_object() && element.contains(key) && element[key].is_string() &&
        element[key] != "") {
      return element[key];
    }
  }
  return "";
}

// A list of named elements as an object; the second of a name is "name[1]".
json ByName(const json& list) {
  json object = json::object();
  std::map<std::string, int> seen;
  for (const json& element : list) {
    const std::string name = NameOf(element);
    const int count = seen[name]++;
    object[count == 0 && !name.empty() ? name : fmt::format("{}[{}]", name, count)] = element;
  }
  return object;
}

// Where a section lies follows from the sizes of those before it.
bool IsConsequence(const std::string& key) { return key == "offset"; }

void Compare(const std::string& path, const json& a, const json& b, std::vector<Difference>& out) {
  if (a == b) return;
  if (a.is_array() && b.is_array()) return Compare(path, ByName(a), ByName(b), out);
  if (!a.is_object() || !b.is_object()) return out.push_back({path, a, b});
  const auto at = [](const json& object, const std::string& key) {
    return object.contains(key) ? object[key] : json();
  };
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "/" + key; };
  for (const auto& [key, value] : a.items()) {
    if (!IsConsequence(key)) Compare(below(key), value, at(b, key), out);
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key) && !IsConsequence(key)) out.push_back({below(key), json(), value});
  }
}

std::string Bytes(std::span<const std::byte> bytes, std::size_t from) {
  std::string text = fmt::format("at 0x{:x}:", from);
  for (const std::byte byte : bytes.subspan(from, std::min<std::size_t>(8, bytes.size() - from))) {
    text += fmt::format(" {:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::map<std::string, std::span<const std::byte>> Contents(const cubin::Dump& dump) {
  std::map<std::string, std::span<const std::byte>> contents;
  if (!dump.image) return contents;
  const std::span<const std::byte> all = dump.code;
  for (const cubin::Section& section : dump.image->sections) {
    if (section.offset > all.size() || section.bytes > all.size() - section.offset) continue;
    contents[section.name] = all.subspan(section.offset, section.bytes);
  }
  return contents;
}

void CompareContents(const cubin::Dump& a, const cubin::Dump& b, std::vector<Difference>& out) {
  const auto of_a = Contents(a), of_b = Contents(b);
  for (const auto& [name, bytes] : of_a) {
    const auto other = of_b.find(name);
    if (other == of_b.end() || other->second.size() != bytes.size()) continue;
    const auto first = std::mismatch(bytes.begin(), bytes.end(), other->second.begin()).first;
    if (first == bytes.end()) continue;
    const auto from = static_cast<std::size_t>(first - bytes.begin());
    out.push_back({fmt::format("sections/{}/contents", name), Bytes(bytes, from),
                   Bytes(other->second, from)});
  }
}

// A value on one line.
std::string Short(const json& value) {
  constexpr std::size_t kMost = 200;
  if (value.is_null()) return "(absent)";
  std::string text = value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

std::string DifferenceText(const Difference& difference) {
  const auto& [path, a, b] = difference;
  const auto is_text = [](const json& value) {
    return value.is_string() && value.get_ref<const std::string&>().find('\n') != std::string::npos;
  };
  if (is_text(a) && is_text(b)) {
    return fmt::format("{}\n{}", path, LineDiff(a.get<std::string>(), b.get<std::string>()));
  }
  return fmt::format("{}\n- {}\n+ {}\n", path, Short(a), Short(b));
}

}  // namespace

Report ReportDumpDiff(const DumpSide& a, const DumpSide& b) {
  std::vector<Difference> differences;
  Compare("", a.json, b.json, differences);
  CompareContents(*a.dump, *b.dump, differences);
  json list = json::array();
  std::string text = fmt::format("--- {}\n+++ {}\n", a.path, b.path);
  for (const Difference& difference : differences) {
    list.push_back({{"path", difference.path}, {"a", difference.a}, {"b", difference.b}});
    text += DifferenceText(difference);
  }
  const std::string sass = LineDiff(a.sass, b.sass);
  if (!sass.empty()) text += "SASS\n" + sass;
  const bool equal = differences.empty() && sass.empty();
  if (equal) text = "The files do not differ in anything that a dump tells.\n";
  return {.json = {{"ok", equal},
                   {"a", a.path},
                   {"b", b.path},
                   {"equal", equal},
                   {"differences", list},
                   {"sass_diff", sass}},
          .text = Printable(text),
          .ok = equal};
}

}  // namespace lijit::tools
