// SPDX-License-Identifier: Apache-2.0
// Which options a user may add to a compilation.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lijit/result.h"

namespace lijit::runtime {

// InvalidArgument names the first option that reads or writes files, has side effects, is the
// library's to choose, is unknown or has a value of the wrong kind. Values are joined by '=', also
// in short forms ("-ftz=true"; "-DNAME=1").
Status CheckNvrtcOptions(std::span<const std::string> options);

// One option of ptxas, as in --ptxas-options=OPTION: "-O1", "-dlcm=cg", "--warn-on-spills".
Status CheckPtxasOption(std::string_view option);

}  // namespace lijit::runtime
