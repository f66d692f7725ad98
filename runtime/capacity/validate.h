// SPDX-License-Identifier: Apache-2.0
// The border: a request is checked here once and trusted inside.
#pragma once

#include "lijit/capacity.h"

namespace lijit::capacity {

// The request with its defaults filled in. kInvalidArgument names the member that is wrong, its
// value, and what is accepted.
Result<Request> Resolve(Request request);

// Bytes of a stored row of the main cache. The request is resolved.
std::int64_t LatentRowBytes(const Request& request);

// Layers including the speculative ones.
inline int AllLayers(const Request& request) { return request.model.layers + request.draft_layers; }

}  // namespace lijit::capacity
