// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <string.h>

#define TRY(call)                                  \
  do {                                             \
    const lijit_status try_status = (call);        \
    if (try_status != LIJIT_OK) return try_status; \
  } while (0)

enum { MAX_BUFFERS = 20 };

// A tensor and where its sizes are.
typedef struct buffer {
  lijit_tensor tensor;
  int64_t shape[4];
  int64_t strides[4];
  uint64_t bytes;
} buffer;

typedef struct step {
  lijit_runtime* runtime;
  lijit_indexer* indexer;
  void* allocated[MAX_BUFFERS];
  int count;
  buffer q, w, k, slots, table, lengths, cu_seq_lens, starts, ends;  // inputs
  buffer values, scales, weights, pool, k_values, k_scales, ragged, paged, indices;
} step;

static const lijit_data_type kU8 = {LIJIT_UINT, 8, 1};
static const lijit_data_type kI32 = {LIJIT_INT, 32, 1};
static const lijit_data_type kI64 = {LIJIT_INT, 64, 1};
static const lijit_data_type kF32 = {LIJIT_FLOAT, 32, 1};

// A contiguous tensor of up to four dimensions; sizes of 0 end them.
static lijit_status allocate(step* s, buffer* b, const char* label, lijit_data_type dtype,
                             int64_t d0, int64_t d1, int64_t d2, int64_t d3) {
  const int64_t sizes[4] = {d0, d1, d2, d3};
  memset(b, 0, sizeof *b);
  b->bytes = dtype.bits / 8u;
  while (b->tensor.ndim < 4 && sizes[b->tensor.ndim] > 0) {
    b->shape[b->tensor.ndim] = sizes[b->tensor.ndim];
    b->bytes *= (uint64_t)sizes[b->tensor.ndim++];
  }
  b->tensor.device = lijit_runtime_device(s->runtime);
  b->tensor.dtype = dtype;
  b->tensor.shape = b->shape;
  TRY(lijit_allocate(s->runtime, b->bytes, label, &b->tensor.data));
  s->allocated[s->count++] = b->tensor.data;
  return lijit_fill(s->runtime, b->tensor.data, STEP_FILL, b->bytes);
}

static lijit_status put(step* s, const buffer* b, const void* data) {
  return lijit_copy_to_device(s->runtime, b->tensor.data, data, b->bytes);
}

static lijit_status get(step* s, const buffer* b, void* data) {
  return lijit_copy_to_host(s->runtime, data, b->tensor.data, b->bytes);
}

static lijit_status make_inputs(step* s, const step_inputs* in) {
  const int32_t starts[STEP_REQUESTS] = {0, STEP_LENGTH};
  const int32_t ends[STEP_REQUESTS] = {STEP_LENGTH, STEP_KEYS};
  TRY(allocate(s, &s->q, "q", kF32, STEP_REQUESTS, STEP_HEADS, STEP_DIM, 0));
  TRY(allocate(s, &s->w, "w", kF32, STEP_REQUESTS, STEP_HEADS, 0, 0));
  TRY(allocate(s, &s->k, "k", kF32, STEP_KEYS, STEP_DIM, 0, 0));
  TRY(allocate(s, &s->slots, "slots", kI64, STEP_KEYS, 0, 0, 0));
  TRY(allocate(s, &s->table, "table", kI32, STEP_REQUESTS, 2, 0, 0));
  TRY(allocate(s, &s->lengths, "lengths", kI32, STEP_REQUESTS, 0, 0, 0));
  TRY(allocate(s, &s->cu_seq_lens, "cu_seq_lens", kI32, STEP_REQUESTS + 1, 0, 0, 0));
  TRY(allocate(s, &s->starts, "starts", kI32, STEP_REQUESTS, 0, 0, 0));
  TRY(allocate(s, &s->ends, "ends", kI32, STEP_REQUESTS, 0, 0, 0));
  TRY(put(s, &s->q, in->q));
  TRY(put(s, &s->w, in->w));
  TRY(put(s, &s->k, in->k));
  TRY(put(s, &s->slots, in->slots));
  TRY(put(s, &s->table, in->table));
  TRY(put(s, &s->lengths, in->lengths));
  TRY(put(s, &s->cu_seq_lens, in->cu_seq_lens));
  TRY(put(s, &s->starts, starts));
  return put(s, &s->ends, ends);
}

static lijit_status make_outputs(step* s, const step_outputs* out) {
  const lijit_row_bytes row = out->row;
  const int64_t page_stride = out->page_bytes + STEP_PADDING;
  TRY(allocate(s, &s->values, "values", kU8, STEP_REQUESTS, 1, STEP_HEADS, row.values));
  if (row.query_scales > 0) {
    TRY(allocate(s, &s->scales, "scales", kU8, STEP_REQUESTS, 1, STEP_HEADS, row.query_scales));
  }
  TRY(allocate(s, &s->weights, "weights", kF32, STEP_REQUESTS, STEP_HEADS, 0, 0));
  TRY(allocate(s, &s->pool, "pool", kU8, STEP_PAGES, page_stride, 0, 0));
  TRY(allocate(s, &s->k_values, "k_values", kU8, STEP_KEYS, row.values, 0, 0));
  TRY(allocate(s, &s->k_scales, "k_scales", kU8, STEP_KEYS, row.key_scales, 0, 0));
  TRY(allocate(s, &s->ragged, "ragged", kF32, STEP_REQUESTS, STEP_KEYS, 0, 0));
  TRY(allocate(s, &s->paged, "paged", kF32, STEP_REQUESTS, STEP_LENGTH, 0, 0));
  return allocate(s, &s->indices, "indices", kI32, STEP_REQUESTS, STEP_TOP_K, 0, 0);
}

// The same tensor with three dimensions, [T, H, *] instead of [B, 1, H, *], whose sizes are put
// into `shape`.
static lijit_tensor flat(const buffer* b, int64_t shape[3]) {
  lijit_tensor tensor = b->tensor;
  shape[0] = b->shape[0];
  shape[1] = b->shape[2];
  shape[2] = b->shape[3];
  tensor.ndim = 3;
  tensor.shape = shape;
  return tensor;
}

// Pages as an engine has them that pads each: the first page left out by byte_offset, the others
// given by strides.
static lijit_pool pool_of(step* s, int64_t page_bytes) {
  const int64_t page_stride = page_bytes + STEP_PADDING;
  s->pool.shape[0] = STEP_PAGES - 1;
  s->pool.shape[1] = page_bytes;
  s->pool.strides[0] = page_stride;
  s->pool.strides[1] = 1;
  s->pool.tensor.strides = s->pool.strides;
  s->pool.tensor.byte_offset = (uint64_t)page_stride;
  lijit_pool pool = {&s->pool.tensor, NULL};
  return pool;
}

static lijit_status call_ops(step* s, const step_outputs* out) {
  const int has_scales = out->row.query_scales > 0;
  const lijit_pool pool = pool_of(s, out->page_bytes);
  int64_t values_shape[3], scales_shape[3];
  const lijit_tensor values = flat(&s->values, values_shape);
  const lijit_tensor scales = flat(&s->scales, scales_shape);

  const lijit_write_cache_arguments write = {
      .k = &s->k.tensor, .slots = &s->slots.tensor, .pool = pool};
  TRY(lijit_write_cache(s->indexer, &write, NULL));
  const lijit_gather_cache_arguments gather = {.pool = pool,
                                               .block_table = &s->table.tensor,
                                               .cu_seq_lens = &s->cu_seq_lens.tensor,
                                               .values = &s->k_values.tensor,
                                               .scales = &s->k_scales.tensor};
  TRY(lijit_gather_cache(s->indexer, &gather, NULL));
  const lijit_quantize_query_arguments quantize = {.q = &s->q.tensor,
                                                   .w = &s->w.tensor,
                                                   .values = &values,
                                                   .scales = has_scales ? &scales : NULL,
                                                   .weights = &s->weights.tensor};
  TRY(lijit_quantize_query(s->indexer, &quantize, NULL));
  const lijit_logits_ragged_arguments ragged = {.q_values = &values,
                                                .q_scales = has_scales ? &scales : NULL,
                                                .k_values = &s->k_values.tensor,
                                                .k_scales = &s->k_scales.tensor,
                                                .weights = &s->weights.tensor,
                                                .starts = &s->starts.tensor,
                                                .ends = &s->ends.tensor,
                                                .out = &s->ragged.tensor};
  TRY(lijit_logits_ragged(s->indexer, &ragged, NULL));
  const lijit_logits_paged_arguments paged = {.q_values = &s->values.tensor,
                                              .q_scales = has_scales ? &s->scales.tensor : NULL,
                                              .pool = pool,
                                              .block_table = &s->table.tensor,
                                              .context_lens = &s->lengths.tensor,
                                              .weights = &s->weights.tensor,
                                              .out = &s->paged.tensor,
                                              .keep_tail = 1};
  TRY(lijit_logits_paged(s->indexer, &paged, NULL));
  const lijit_top_k_arguments top_k = {.logits = &s->paged.tensor,
                                       .ends = &s->lengths.tensor,
                                       .indices = &s->indices.tensor,
                                       .k = STEP_TOP_K};
  return lijit_top_k(s->indexer, &top_k, NULL);
}

static lijit_status read_outputs(step* s, step_outputs* out) {
  TRY(lijit_synchronize(s->runtime));
  TRY(get(s, &s->values, out->values));
  if (out->row.query_scales > 0) TRY(get(s, &s->scales, out->scales));
  TRY(get(s, &s->weights, out->weights));
  TRY(get(s, &s->pool, out->pool));
  TRY(get(s, &s->k_values, out->k_values));
  TRY(get(s, &s->k_scales, out->k_scales));
  TRY(get(s, &s->ragged, out->ragged));
  TRY(get(s, &s->paged, out->paged));
  return get(s, &s->indices, out->indices);
}

static lijit_status run(step* s, const step_inputs* in, step_outputs* out) {
  const lijit_indexer_config config = {.format = in->format, .heads = STEP_HEADS, .input = "f32"};
  TRY(lijit_indexer_create(s->runtime, &config, &s->indexer));
  TRY(lijit_indexer_prepare(s->indexer));
  TRY(lijit_indexer_row_bytes(s->indexer, &out->row));
  TRY(lijit_indexer_page_bytes(s->indexer, &out->page_bytes));
  TRY(make_inputs(s, in));
  TRY(make_outputs(s, out));
  TRY(call_ops(s, out));
  return read_outputs(s, out);
}

lijit_status run_step(lijit_runtime* runtime, const step_inputs* in, step_outputs* out) {
  step s;
  memset(&s, 0, sizeof s);
  s.runtime = runtime;
  lijit_status status = run(&s, in, out);
  while (s.count > 0) {
    const lijit_status freed = lijit_free(runtime, s.allocated[--s.count]);
    if (status == LIJIT_OK) status = freed;
  }
  lijit_indexer_destroy(s.indexer);
  return status;
}
