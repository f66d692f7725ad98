// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: recorded by capturing a stream, timed by events.
#pragma once

#include <functional>
#include <memory>

#include "lijit/device.h"
#include "lijit/result.h"
#include "runtime/device/cuda_context.h"

namespace lijit::runtime {

// See Device::Record. `context` must outlive the graph.
Result<std::unique_ptr<Graph>> RecordCudaGraph(const CudaContext& context,
                                               const std::function<Status(Stream)>& work);

}  // namespace lijit::runtime
