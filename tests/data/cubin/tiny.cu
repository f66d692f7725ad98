// SPDX-License-Identifier: Apache-2.0
// The source of the cubins in this folder (README.md says how they are made). Three small kernels
// that together have what a cubin records: parameters of several sizes, static shared memory, a
// barrier, launch bounds, a constant table, local memory, and spilled registers.

__constant__ float scale_table[16];

extern "C" __global__ void __launch_bounds__(128)
    tiny_scale(const float* in, float* out, int n, unsigned char mode) {
  __shared__ float tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = tile[127 - threadIdx.x] * scale_table[mode & 15];
}

extern "C" __global__ void tiny_local(int* out, int n) {
  int local[64];
  for (int i = 0; i < n; ++i) local[i & 63] = out[i];
  out[threadIdx.x] = local[threadIdx.x & 63];
}

extern "C" __global__ void __launch_bounds__(512, 3) tiny_spill(float* data) {
  float v[44];
#pragma unroll
  for (int i = 0; i < 44; ++i) v[i] = data[i * 512 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 44; ++i) data[i * 512 + threadIdx.x] = v[i] * v[(i * 7 + 5) % 44];
}
