// SPDX-License-Identifier: Apache-2.0
// A step of an engine, written in C against the C interface alone: write keys, gather them,
// quantize queries, score both ways, select.
#pragma once

#include <lijit/lijit.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  STEP_HEADS = 8,
  STEP_DIM = 128,
  STEP_REQUESTS = 2,
  STEP_LENGTH = 70,  // keys of the first request
  STEP_OTHER = 65,   // and of the other one
  STEP_KEYS = STEP_LENGTH + STEP_OTHER,
  STEP_PAGES = 5,
  STEP_PAGE_TOKENS = 64,
  STEP_PADDING = 64,  // bytes behind each page
  STEP_TOP_K = 16,
  STEP_FILL = 0xcd  // of outputs before they are written
};

typedef struct step_inputs {
  const char* format;
  float q[STEP_REQUESTS * STEP_HEADS * STEP_DIM];
  float w[STEP_REQUESTS * STEP_HEADS];
  float k[STEP_KEYS * STEP_DIM];
  int64_t slots[STEP_KEYS];
  int32_t table[STEP_REQUESTS * 2];
  int32_t lengths[STEP_REQUESTS];
  int32_t cu_seq_lens[STEP_REQUESTS + 1];
} step_inputs;

// All bytes of the outputs; rows are at most as long as their arrays say.
typedef struct step_outputs {
  lijit_row_bytes row;
  int64_t page_bytes;
  uint8_t values[STEP_REQUESTS * STEP_HEADS * STEP_DIM];
  uint8_t scales[STEP_REQUESTS * STEP_HEADS * 8];
  float weights[STEP_REQUESTS * STEP_HEADS];
  uint8_t pool[STEP_PAGES * STEP_PAGE_TOKENS * (STEP_DIM + 8)];
  uint8_t k_values[STEP_KEYS * STEP_DIM];
  uint8_t k_scales[STEP_KEYS * 8];
  float ragged[STEP_REQUESTS * STEP_KEYS];
  float paged[STEP_REQUESTS * STEP_LENGTH];
  int32_t indices[STEP_REQUESTS * STEP_TOP_K];
} step_outputs;

// What the thread's last error is of, if it fails.
lijit_status run_step(lijit_runtime* runtime, const step_inputs* in, step_outputs* out);

#ifdef __cplusplus
}
#endif
