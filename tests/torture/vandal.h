// SPDX-License-Identifier: Apache-2.0
// Does to a cache's folder what disks, administrators and other programs do.
#pragma once

#include <random>
#include <string>

#include "tests/torture/scoreboard.h"

namespace lijit::torture {

// One piece of damage to a random file of the folder, or to none if there is none.
void Damage(const std::string& folder, std::mt19937_64& random, Scoreboard& score);

}  // namespace lijit::torture
