// SPDX-License-Identifier: Apache-2.0
// What `lijit cache` answers, as reports. Field names are documented in README.md.
#pragma once

#include <vector>

#include "lijit/bundle.h"
#include "lijit/cache.h"
#include "tools/report.h"

namespace lijit::tools {

Report ReportList(const cache::CacheConfig& config, const std::vector<cache::EntryInfo>& entries);
Report ReportEntry(const std::string& key, const cache::Entry& entry);
Report ReportVerify(const cache::VerifyReport& verified);
Report ReportStats(const cache::CacheConfig& config, const cache::StoreStats& stats);
Report ReportExport(const std::string& path, const cache::BundleReport& bundle);
Report ReportImport(const std::string& path, const cache::BundleReport& bundle);
Report ReportGc(const cache::GcReport& gc);

// An entry's fields besides its image, as JSON and as text; also what `lijit dump` shows.
nlohmann::ordered_json EntryFieldsJson(const cache::Entry& entry);
std::string EntryFieldsText(const cache::Entry& entry);

}  // namespace lijit::tools
