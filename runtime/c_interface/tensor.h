// SPDX-License-Identifier: Apache-2.0
// From DLPack's tensors to lijit's. What a tensor is for is checked by the op; here only that it is
// one, of a type that there is, on the device.
#pragma once

#include <initializer_list>
#include <string_view>

#include "lijit/indexer.h"
#include "lijit/lijit.h"
#include "lijit/result.h"
#include "lijit/tensor.h"
#include "runtime/c_interface/handles.h"

namespace lijit::c_interface {

// An argument of an op and where it goes.
struct TensorArgument {
  std::string_view name;
  const lijit_tensor* from;  // null: not given
  Tensor* to;
};

// InvalidArgument names the argument, what it is and what is accepted.
Status ReadTensors(const lijit_device& device, std::initializer_list<TensorArgument> arguments);
Status ReadPool(const lijit_indexer& indexer, const lijit_pool& from, CachePool* to);

}  // namespace lijit::c_interface
