// SPDX-License-Identifier: Apache-2.0
// The counters of all processes that use a folder: lines "name value". Best effort: a process that
// is killed, or finds the file locked for long, does not count; unknown lines are kept out.
#pragma once

#include "cache/folder.h"

namespace lijit::cache {

Counts ReadStatsFile(const Folder& folder);

// Adds to the file's counters; false if it could not.
bool AddToStatsFile(const Folder& folder, const Counts& counts);

}  // namespace lijit::cache
