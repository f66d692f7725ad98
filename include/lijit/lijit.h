// SPDX-License-Identifier: Apache-2.0
// The C interface (C99; also valid C++): a runtime, indexers, and the ops on device memory that is
// the caller's. It does what lijit/indexer.h does, which says shapes and layouts in full.
//
// Errors. A function that can fail returns a lijit_status and leaves a message that says what was
// asked, why not and what would work: lijit_last_error. No C++ exception leaves a function, and a
// call that is refused for its arguments has launched and written nothing.
//
// Defaults. A member of an options or arguments struct that is 0 or null has the default that its
// comment names, so `{0}` and designated initializers are always complete.
//
// Versions. Semantic versioning; before 1.0 a minor version, which is part of the shared library's
// SOVERSION, may add members to structs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LIJIT_VERSION_MAJOR 0
#define LIJIT_VERSION_MINOR 1
#define LIJIT_VERSION_PATCH 0

#if defined(__GNUC__)
#define LIJIT_API __attribute__((visibility("default")))
#else
#define LIJIT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Of the library that is linked, which may be another than this header's.
LIJIT_API int lijit_version_major(void);
LIJIT_API int lijit_version_minor(void);
LIJIT_API int lijit_version_patch(void);
LIJIT_API const char* lijit_version_string(void);  // "0.1.0"

typedef enum lijit_status {
  LIJIT_OK = 0,
  LIJIT_INVALID_ARGUMENT = 1,  // the caller's input is wrong
  LIJIT_REFUSED = 2,           // not in the support table: format, op, target, schedule
  LIJIT_UNAVAILABLE = 3,       // the environment lacks something, which the message names
  LIJIT_DAMAGED = 4,           // bytes of a cache entry or cubin are not what they were
  LIJIT_FAILED = 5             // a compiler, the driver, a kernel or an allocation failed
} lijit_status;

// The message of this thread's last call that failed, "" if none did. It belongs to the library and
// stays as it is until another call of this thread fails, or the thread ends; calls that succeed
// leave it alone, so cleaning up does not lose it.
LIJIT_API const char* lijit_last_error(void);

// Tensors. The three structs have the members of DLPack 1.x's DLDevice, DLDataType and DLTensor in
// their order and sizes (the same since 0.6), so a DLTensor* may be cast to a lijit_tensor*. They
// are read during a call only.

enum { LIJIT_DEVICE_CPU = 1, LIJIT_DEVICE_CUDA = 2 };

typedef struct lijit_device {
  int32_t device_type;  // LIJIT_DEVICE_CUDA; LIJIT_DEVICE_CPU is the emulated device
  int32_t device_id;    // "cuda:1" is 1; the emulated device is 0
} lijit_device;

enum { LIJIT_INT = 0, LIJIT_UINT = 1, LIJIT_FLOAT = 2, LIJIT_BFLOAT = 4 };

// Accepted: u8, i32, i64, f32, f16, bf16; one lane.
typedef struct lijit_data_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} lijit_data_type;

typedef struct lijit_tensor {
  void* data;  // an address of the device
  lijit_device device;
  int32_t ndim;
  lijit_data_type dtype;
  int64_t* shape;
  int64_t* strides;      // in elements; null: contiguous, the last dimension fastest
  uint64_t byte_offset;  // of the first element from `data`
} lijit_tensor;

// A device and the kernel cache, which is configured by the environment (README.md).
typedef struct lijit_runtime lijit_runtime;

typedef struct lijit_runtime_options {
  const char* device;  // "cuda", "cuda:1", "emulated" or "auto" (default): CUDA if there is one
  const char* target;  // the emulated device's ("sm_86"); on CUDA one that it can run, or null
} lijit_runtime_options;

// `options` null: all defaults. On failure `*runtime` is null.
LIJIT_API lijit_status lijit_runtime_create(const lijit_runtime_options* options,
                                            lijit_runtime** runtime);
// Null is ignored. Indexers of the runtime go on working; they keep what they need.
LIJIT_API void lijit_runtime_destroy(lijit_runtime* runtime);

// What `device` of every tensor must be. {0, 0} for null.
LIJIT_API lijit_device lijit_runtime_device(const lijit_runtime* runtime);
// "sm_90a"; valid while the runtime lives. "" for null.
LIJIT_API const char* lijit_runtime_target(const lijit_runtime* runtime);

// Device memory. On a CUDA device any other allocator's will do; on the emulated device all memory
// comes from here, since it checks each access. `label` (null: "") names it in the messages of
// these checks. Freeing null does nothing. Copies are finished when they return.
LIJIT_API lijit_status lijit_allocate(lijit_runtime* runtime, uint64_t bytes, const char* label,
                                      void** address);
LIJIT_API lijit_status lijit_free(lijit_runtime* runtime, void* address);
LIJIT_API lijit_status lijit_copy_to_device(lijit_runtime* runtime, void* destination,
                                            const void* source, uint64_t bytes);
LIJIT_API lijit_status lijit_copy_to_host(lijit_runtime* runtime, void* destination,
                                          const void* source, uint64_t bytes);
LIJIT_API lijit_status lijit_fill(lijit_runtime* runtime, void* destination, uint8_t value,
                                  uint64_t bytes);
LIJIT_API lijit_status lijit_synchronize(lijit_runtime* runtime);

// LIJIT_OK if the combination is in the support table, LIJIT_REFUSED with the reason if not. `op`
// is "quantize_query", "write_cache", "gather_cache", "logits.ragged", "logits.paged" or "top_k".
LIJIT_API lijit_status lijit_check_support(const char* target, const char* format, const char* op,
                                           const char* schedule, const char* backend);

// The ops of one configuration.
typedef struct lijit_indexer lijit_indexer;

typedef struct lijit_rotation {
  int32_t interleaved;  // not 0: pairs (2i, 2i + 1); else (i, i + rope_dim / 2)
  int32_t last;         // not 0: the last rope_dim dims; else the first
  int32_t rope_dim;     // default 64
} lijit_rotation;

typedef struct lijit_indexer_config {
  const char* format;              // default "fp8_e4m3"
  int32_t heads;                   // default 64
  int32_t head_dim;                // default 128
  int32_t page;                    // tokens a page; default 64
  const char* input;               // of q and k: "bf16" (default), "f16" or "f32"
  const char* weight;              // of w: "f32" (default) or "bf16"
  const char* schedule;            // default "auto"
  const char* backend;             // default "auto"
  const lijit_rotation* rotation;  // null: none
  const char* module;              // .lir text with a format of the caller's, or null
  const char* module_name;         // its name in messages
} lijit_indexer_config;

// `config` null: all defaults. On failure `*indexer` is null.
LIJIT_API lijit_status lijit_indexer_create(lijit_runtime* runtime,
                                            const lijit_indexer_config* config,
                                            lijit_indexer** indexer);
// Null is ignored.
LIJIT_API void lijit_indexer_destroy(lijit_indexer* indexer);

// Compiles and loads all kernels now: no later call does.
LIJIT_API lijit_status lijit_indexer_prepare(lijit_indexer* indexer);

// Bytes of a row of head_dim numbers: VB, SB and KB below.
typedef struct lijit_row_bytes {
  int32_t values;        // VB
  int32_t query_scales;  // SB
  int32_t key_scales;    // KB
} lijit_row_bytes;
LIJIT_API lijit_status lijit_indexer_row_bytes(const lijit_indexer* indexer,
                                               lijit_row_bytes* bytes);
LIJIT_API lijit_status lijit_indexer_page_bytes(const lijit_indexer* indexer, int64_t* bytes);

// What scores are computed by; valid while the indexer lives. "" for null.
LIJIT_API const char* lijit_indexer_schedule(const lijit_indexer* indexer);
LIJIT_API const char* lijit_indexer_backend(const lijit_indexer* indexer);

// Ops. T tokens, H heads, D head_dim, B requests, N gathered keys, P tokens a page. `stream` is a
// CUstream or null, the default stream; calls are asynchronous on a CUDA device. A tensor that is
// not used is null.

// Pages of a key cache.
typedef struct lijit_pool {
  const lijit_tensor* pages;  // u8 [pages, ...], a page's dimensions contiguous and together at
                              // least lijit_indexer_page_bytes; the first stride is the page stride
  const char* format;         // that the pages were written with; another one than the indexer's is
                              // refused. Default: the indexer's
} lijit_pool;

typedef struct lijit_quantize_query_arguments {
  const lijit_tensor* q;          // [T, H, D] of the input type
  const lijit_tensor* w;          // [T, H] of the weight type
  const lijit_tensor* values;     // out: u8 [T, H, VB], contiguous
  const lijit_tensor* scales;     // out: u8 [T, H, SB], contiguous; null if SB is 0
  const lijit_tensor* weights;    // out: f32 [T, H], contiguous
  const lijit_tensor* positions;  // i64 [T]; null without a rotation
  const lijit_tensor* table;      // f32 [rows, rope_dim], a row cos, then sin; likewise
} lijit_quantize_query_arguments;
LIJIT_API lijit_status lijit_quantize_query(lijit_indexer* indexer,
                                            const lijit_quantize_query_arguments* arguments,
                                            void* stream);

typedef struct lijit_write_cache_arguments {
  const lijit_tensor* k;      // [T, D] of the input type
  const lijit_tensor* slots;  // i64 [T]: page * P + token; one that is not in the pool is skipped
  lijit_pool pool;
  const lijit_tensor* positions;  // as above
  const lijit_tensor* table;
} lijit_write_cache_arguments;
LIJIT_API lijit_status lijit_write_cache(lijit_indexer* indexer,
                                         const lijit_write_cache_arguments* arguments,
                                         void* stream);

typedef struct lijit_gather_cache_arguments {
  lijit_pool pool;
  const lijit_tensor* block_table;  // i32 [B, *]
  const lijit_tensor* cu_seq_lens;  // i32 [B + 1]
  const lijit_tensor* values;       // out: u8 [N, VB], contiguous
  const lijit_tensor* scales;       // out: u8 [N, KB], contiguous; null if KB is 0
} lijit_gather_cache_arguments;
LIJIT_API lijit_status lijit_gather_cache(lijit_indexer* indexer,
                                          const lijit_gather_cache_arguments* arguments,
                                          void* stream);

typedef struct lijit_logits_ragged_arguments {
  const lijit_tensor* q_values;  // u8 [T, H, VB], contiguous
  const lijit_tensor* q_scales;  // u8 [T, H, SB], contiguous; null if SB is 0
  const lijit_tensor* k_values;  // u8 [N, VB], contiguous
  const lijit_tensor* k_scales;  // u8 [N, KB], contiguous; null if KB is 0
  const lijit_tensor* weights;   // f32 [T, H]
  const lijit_tensor* starts;    // i32 [T]
  const lijit_tensor* ends;      // i32 [T]: valid columns are starts <= n < ends
  const lijit_tensor* out;       // out: f32 [T, width >= N]
  int32_t keep_tail;             // not 0: other columns are left untouched; else they become -inf
} lijit_logits_ragged_arguments;
LIJIT_API lijit_status lijit_logits_ragged(lijit_indexer* indexer,
                                           const lijit_logits_ragged_arguments* arguments,
                                           void* stream);

typedef struct lijit_logits_paged_arguments {
  const lijit_tensor* q_values;  // u8 [B, next_n, H, VB], contiguous
  const lijit_tensor* q_scales;  // u8 [B, next_n, H, SB], contiguous; null if SB is 0
  lijit_pool pool;
  const lijit_tensor* block_table;   // i32 [B, *]
  const lijit_tensor* context_lens;  // i32 [B]: row j sees max(0, length - next_n + j + 1) / ratio
                                     // keys; or i32 [B, next_n]: as many as it says
  const lijit_tensor* weights;       // f32 [B * next_n, H]
  const lijit_tensor* out;           // out: f32 [B * next_n, width]
  int32_t ratio;                     // tokens a cache entry; default 1
  int32_t keep_tail;                 // as above
} lijit_logits_paged_arguments;
LIJIT_API lijit_status lijit_logits_paged(lijit_indexer* indexer,
                                          const lijit_logits_paged_arguments* arguments,
                                          void* stream);

typedef struct lijit_top_k_arguments {
  const lijit_tensor* logits;   // f32 [rows, columns]
  const lijit_tensor* starts;   // i32 [rows]; null: 0
  const lijit_tensor* ends;     // i32 [rows], or lengths as context_lens with rows = B * next_n
  const lijit_tensor* indices;  // out: i32 [rows, k]: ascending, from the row's start, then -1
  int32_t k;                    // 1 to 4096
  int32_t next_n;               // rows a request where `ends` has one length each; default 1
  int32_t ratio;                // default 1
} lijit_top_k_arguments;
LIJIT_API lijit_status lijit_top_k(lijit_indexer* indexer, const lijit_top_k_arguments* arguments,
                                   void* stream);

#ifdef __cplusplus
}
#endif
