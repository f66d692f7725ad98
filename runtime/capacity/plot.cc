// SPDX-License-Identifier: Apache-2.0
// Tokens against memory as SVG text. Coordinates are integers in tenths of a pixel.
#include <fmt/format.h>

#include <algorithm>

#include "lijit/capacity.h"
#include "runtime/capacity/checked.h"

namespace lijit::capacity {
namespace {

constexpr std::int64_t kWidth = 7200, kHeight = 4200;
constexpr std::int64_t kLeft = 1100, kRight = 200, kTop = 500, kBottom = 600;
constexpr std::int64_t kPlotWidth = kWidth - kLeft - kRight;
constexpr std::int64_t kPlotHeight = kHeight - kTop - kBottom;
constexpr std::int64_t kPoints = 120;
constexpr std::int64_t kTicks = 5;

std::string_view ColorOf(IndexerFormat format) {
  return format == IndexerFormat::kFp8 ? "#6b7280" : "#0f766e";
}

std::string Tenths(std::int64_t value) { return fmt::format("{}.{}", value / 10, value % 10); }

// floor(whole * part / parts) of part <= parts.
std::int64_t Share(std::int64_t whole, std::int64_t part, std::int64_t parts) {
  const Result<std::int64_t> share = MultiplyDivide(whole, part, parts, "share");
  LIJIT_CHECK(share.ok());
  return *share;
}

struct Point {
  std::int64_t bytes = 0, tokens = 0;
};

Result<std::vector<Point>> Curve(Request request, IndexerFormat format, std::int64_t high) {
  std::vector<Point> points;
  for (std::int64_t i = 0; i <= kPoints; ++i) {
    const std::int64_t bytes = Share(high, i, kPoints);
    request.memory = {.cache_bytes = {bytes}};
    LIJIT_ASSIGN(const Plan plan, MakePlan(request, format));
    points.push_back({bytes, plan.tokens});
  }
  return points;
}

std::int64_t X(std::int64_t bytes, std::int64_t high) {
  return kLeft + Share(kPlotWidth, bytes, high);
}

std::int64_t Y(std::int64_t tokens, std::int64_t most) {
  return kTop + kPlotHeight - Share(kPlotHeight, tokens, most);
}

void AddText(std::string& svg, std::int64_t x, std::int64_t y, std::string_view anchor,
             std::string_view text) {
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", Tenths(x), Tenths(y),
                     anchor, text);
}

// The text with XML's marks escaped; a model's name may come from a file.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c >= 0 && c < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

// "12.3 GiB".
std::string GiB(std::int64_t bytes) {
  const Result<std::int64_t> tenths = MultiplyDivide(bytes, 10, std::int64_t{1} << 30, "");
  LIJIT_CHECK(tenths.ok());
  return fmt::format("{}.{} GiB", *tenths / 10, *tenths % 10);
}

void AddAxes(std::string& svg, std::int64_t high, std::int64_t most) {
  for (std::int64_t i = 0; i <= kTicks; ++i) {
    const std::int64_t bytes = Share(high, i, kTicks), tokens = Share(most, i, kTicks);
    const std::int64_t x = X(bytes, high), y = Y(tokens, most);
    svg += fmt::format("<path d=\"M{} {}V{}M{} {}H{}\" stroke=\"#e5e7eb\"/>\n", Tenths(x),
                       Tenths(kTop), Tenths(kTop + kPlotHeight), Tenths(kLeft), Tenths(y),
                       Tenths(kLeft + kPlotWidth));
    AddText(svg, x, kTop + kPlotHeight + 200, "middle", GiB(bytes));
    AddText(svg, kLeft - 80, y + 40, "end", Grouped(tokens));
  }
  AddText(svg, kLeft + kPlotWidth / 2, kHeight - 120, "middle", "memory for the cache, per rank");
}

void AddCurve(std::string& svg, const std::vector<Point>& points, IndexerFormat format,
              std::int64_t high, std::int64_t most) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", Tenths(X(point.bytes, high)),
                        Tenths(Y(point.tokens, most)));
  }
  svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                     ColorOf(format));
  const std::int64_t y = kTop + 180 * (1 + static_cast<std::int64_t>(format));
  svg += fmt::format("<path d=\"M{} {}h24\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     Tenths(kLeft + 120), Tenths(y - 40), ColorOf(format));
  AddText(svg, kLeft + 420, y, "start",
          fmt::format("{} indexer: {} tokens", IndexerFormatName(format),
                      Grouped(points.back().tokens)));
}

}  // namespace

Result<std::string> PlotSvg(const Request& request, std::int64_t high) {
  if (high < 1) return InvalidArgument("a plot needs memory above 0 bytes");
  std::vector<std::vector<Point>> curves;
  std::int64_t most = 1;
  for (const IndexerFormat format : kIndexerFormats) {
    LIJIT_ASSIGN(curves.emplace_back(), Curve(request, format, high));
    most = std::max(most, curves.back().back().tokens);
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"white\"/>\n",
      kWidth / 10, kHeight / 10);
  AddText(svg, kLeft, 300, "start",
          Escaped(fmt::format("{}: tokens against memory", request.model.name)));
  AddAxes(svg, high, most);
  for (const IndexerFormat format : kIndexerFormats) {
    AddCurve(svg, curves[static_cast<std::size_t>(format)], format, high, most);
  }
  return svg + "</svg>\n";
}

}  // namespace lijit::capacity
