// SPDX-License-Identifier: Apache-2.0
// The C interface's ops: arguments read into lijit/indexer.h's, which checks what they are for.
#include "lijit/indexer.h"
#include "lijit/lijit.h"
#include "runtime/c_interface/handles.h"
#include "runtime/c_interface/status.h"
#include "runtime/c_interface/tensor.h"

using lijit::Status;
using lijit::Tail;
using lijit::c_interface::Call;
using lijit::c_interface::CheckGiven;
using lijit::c_interface::ReadPool;
using lijit::c_interface::ReadTensors;

namespace {

// `body`, once there are an indexer and arguments.
template <typename Arguments, typename Body>
lijit_status CallOp(lijit_indexer* indexer, const Arguments* arguments, const Body& body) noexcept {
  return Call([&]() -> Status {
    LIJIT_TRY(CheckGiven(indexer, "indexer"));
    LIJIT_TRY(CheckGiven(arguments, "arguments"));
    return body(*indexer, *arguments);
  });
}

int OneIfZero(std::int32_t number) { return number == 0 ? 1 : number; }
Tail TailOf(std::int32_t keep) { return keep != 0 ? Tail::kKeep : Tail::kMinusInfinity; }

}  // namespace

lijit_status lijit_quantize_query(lijit_indexer* indexer,
                                  const lijit_quantize_query_arguments* arguments, void* stream) {
  return CallOp(indexer, arguments, [stream](lijit_indexer& x, const auto& a) -> Status {
    lijit::QuantizeQueryArguments to;
    LIJIT_TRY(ReadTensors(x.device, {{"q", a.q, &to.q},
                                     {"w", a.w, &to.w},
                                     {"values", a.values, &to.values},
                                     {"scales", a.scales, &to.scales},
                                     {"weights", a.weights, &to.weights},
                                     {"positions", a.positions, &to.rope.positions},
                                     {"table", a.table, &to.rope.table}}));
    return x.indexer->QuantizeQuery(to, stream);
  });
}

lijit_status lijit_write_cache(lijit_indexer* indexer, const lijit_write_cache_arguments* arguments,
                               void* stream) {
  return CallOp(indexer, arguments, [stream](lijit_indexer& x, const auto& a) -> Status {
    lijit::WriteCacheArguments to;
    LIJIT_TRY(ReadTensors(x.device, {{"k", a.k, &to.k},
                                     {"slots", a.slots, &to.slots},
                                     {"positions", a.positions, &to.rope.positions},
                                     {"table", a.table, &to.rope.table}}));
    LIJIT_TRY(ReadPool(x, a.pool, &to.pool));
    return x.indexer->WriteCache(to, stream);
  });
}

lijit_status lijit_gather_cache(lijit_indexer* indexer,
                                const lijit_gather_cache_arguments* arguments, void* stream) {
  return CallOp(indexer, arguments, [stream](lijit_indexer& x, const auto& a) -> Status {
    lijit::GatherCacheArguments to;
    LIJIT_TRY(ReadPool(x, a.pool, &to.pool));
    LIJIT_TRY(ReadTensors(x.device, {{"block_table", a.block_table, &to.block_table},
                                     {"cu_seq_lens", a.cu_seq_lens, &to.cu_seq_lens},
                                     {"values", a.values, &to.values},
                                     {"scales", a.scales, &to.scales}}));
    return x.indexer->GatherCache(to, stream);
  });
}

lijit_status lijit_logits_ragged(lijit_indexer* indexer,
                                 const lijit_logits_ragged_arguments* arguments, void* stream) {
  return CallOp(indexer, arguments, [stream](lijit_indexer& x, const auto& a) -> Status {
    lijit::LogitsRaggedArguments to;
    LIJIT_TRY(ReadTensors(x.device, {{"q_values", a.q_values, &to.q_values},
                                     {"q_scales", a.q_scales, &to.q_scales},
                                     {"k_values", a.k_values, &to.k_values},
                                     {"k_scales", a.k_scales, &to.k_scales},
                                     {"weights", a.weights, &to.weights},
                                     {"starts", a.starts, &to.starts},
                                     {"ends", a.ends, &to.ends},
                                     {"out", a.out, &to.out}}));
    to.tail = TailOf(a.keep_tail);
    return x.indexer->LogitsRagged(to, stream);
  });
}

lijit_status lijit_logits_paged(lijit_indexer* indexer,
                                const lijit_logits_paged_arguments* arguments, void* stream) {
  return CallOp(indexer, arguments, [stream](lijit_indexer& x, const auto& a) -> Status {
    lijit::LogitsPagedArguments to;
    LIJIT_TRY(ReadTensors(x.device, {{"q_values", a.q_values, &to.q_values},
                                     {"q_scales", a.q_scales, &to.q_scales},
                                     {"block_table", a.block_table, &to.block_table},
                                     {"context_lens", a.context_lens, &to.context_lens},
                                     {"weights", a.weights, &to.weights},
                                     {"out", a.out, &to.out}}));
    LIJIT_TRY(ReadPool(x, a.pool, &to.pool));
    to.ratio = OneIfZero(a.ratio);
    to.tail = TailOf(a.keep_tail);
    return x.indexer->LogitsPaged(to, stream);
  });
}

lijit_status lijit_top_k(lijit_indexer* indexer, const lijit_top_k_arguments* arguments,
                         void* stream) {
  return CallOp(indexer, arguments, [stream](lijit_indexer& x, const auto& a) -> Status {
    lijit::TopKArguments to;
    LIJIT_TRY(ReadTensors(x.device, {{"logits", a.logits, &to.logits},
                                     {"starts", a.starts, &to.starts},
                                     {"ends", a.ends, &to.ends},
                                     {"indices", a.indices, &to.indices}}));
    to.k = a.k;
    to.next_n = OneIfZero(a.next_n);
    to.ratio = OneIfZero(a.ratio);
    return x.indexer->TopK(to, stream);
  });
}
