// SPDX-License-Identifier: Apache-2.0
#include <lijit/lijit.h>
#include <stdio.h>

#define TRY(call) \
  if ((call) != LIJIT_OK) return puts(lijit_last_error()), 1

// Writes a key into an FP8 cache, from C.
int main(void) {
  const lijit_indexer_config config = {.format = "fp8_e4m3", .input = "f32"};
  const float key[128] = {1.0f, -2.0f};
  lijit_runtime* runtime;
  lijit_indexer* indexer;
  lijit_tensor k = {.ndim = 2, .dtype = {LIJIT_FLOAT, 32, 1}, .shape = (int64_t[]){1, 128}};
  lijit_tensor slots = {.ndim = 1, .dtype = {LIJIT_INT, 64, 1}, .shape = (int64_t[]){1}};
  lijit_tensor pages = {.ndim = 2, .dtype = {LIJIT_UINT, 8, 1}, .shape = (int64_t[]){1, 0}};
  TRY(lijit_runtime_create(NULL, &runtime));
  TRY(lijit_indexer_create(runtime, &config, &indexer));
  TRY(lijit_indexer_page_bytes(indexer, &pages.shape[1]));
  k.device = slots.device = pages.device = lijit_runtime_device(runtime);
  TRY(lijit_allocate(runtime, sizeof key, "k", &k.data));
  TRY(lijit_allocate(runtime, 8, "slots", &slots.data));
  TRY(lijit_allocate(runtime, (uint64_t)pages.shape[1], "pages", &pages.data));
  TRY(lijit_copy_to_device(runtime, k.data, key, sizeof key));
  TRY(lijit_fill(runtime, slots.data, 0, 8));
  const lijit_write_cache_arguments arguments = {.k = &k, .slots = &slots, .pool = {&pages, NULL}};
  TRY(lijit_write_cache(indexer, &arguments, NULL));
  TRY(lijit_synchronize(runtime));
  lijit_indexer_destroy(indexer);
  lijit_runtime_destroy(runtime);
  return puts("a key written") < 0;
}
