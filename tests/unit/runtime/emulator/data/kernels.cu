// SPDX-License-Identifier: Apache-2.0
// Source of the .ptx files beside this: for each architecture XX
//   nvcc -ptx -arch=compute_XX kernels.cu -o kernels_XX.ptx        (CUDA 13.0)
// and the license line added on top.

// Rows of 128 bf16 to e4m3 with one scale a row, a warp a row: scale = max|x| / 448, at least
// 1e-4 / 448.
extern "C" __global__ void __launch_bounds__(128)
    quantize_fp8(const unsigned short* __restrict__ x, unsigned char* __restrict__ codes,
                 float* __restrict__ scales, int rows) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const uint2 packed = reinterpret_cast<const uint2*>(x)[static_cast<long long>(row) * 32 + lane];
  float v[4] = {__uint_as_float(packed.x << 16), __uint_as_float(packed.x & 0xffff0000u),
                __uint_as_float(packed.y << 16), __uint_as_float(packed.y & 0xffff0000u)};
  float amax = 1e-4f;
#pragma unroll
  for (int i = 0; i < 4; ++i) amax = fmaxf(amax, fabsf(v[i]));
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, offset));
  }
  const float scale = __fdiv_rn(amax, 448.0f);
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float scaled = __fdiv_rn(v[i], scale);
#if __CUDA_ARCH__ >= 890
    unsigned short code;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(code) : "f"(0.0f), "f"(scaled));
#else
    // Nearest even in bits: below 2^-6 the unit is 2^-9, which an addition rounds to.
    const unsigned bits = __float_as_uint(scaled);
    const unsigned magnitude = bits & 0x7fffffffu;
    const float absolute = __uint_as_float(magnitude);
    unsigned code;
    if (absolute < 0.015625f) {
      code = __float_as_uint(__fadd_rn(absolute, 16384.0f)) & 0xffu;
    } else {
      code = (magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - 0x3c000000u) >> 20;
      code = min(code, 0x7eu);
    }
    code |= bits >> 24 & 0x80u;
#endif
    word |= static_cast<unsigned>(code & 0xffu) << (8 * i);
  }
  reinterpret_cast<unsigned*>(codes)[static_cast<long long>(row) * 32 + lane] = word;
  if (lane == 0) scales[row] = scale;
}

// The k largest of a row of non-negative floats: a radix select by bytes with a shared histogram,
// then the winners in column order, ties to the lowest column.
extern "C" __global__ void __launch_bounds__(256)
    top_k(const float* __restrict__ scores, int* __restrict__ out, int columns, int k) {
  __shared__ unsigned histogram[256];
  __shared__ unsigned chosen, wanted;
  __shared__ unsigned warp_above[8], warp_equal[8];
  const int t = threadIdx.x;
  const float* row = scores + static_cast<long long>(blockIdx.x) * columns;
  unsigned prefix = 0;
  unsigned left = k;
  for (int shift = 24; shift >= 0; shift -= 8) {
    histogram[t] = 0;
    __syncthreads();
    for (int i = t; i < columns; i += 256) {
      const unsigned bits = __float_as_uint(row[i]);
      if (shift == 24 || bits >> (shift + 8) == prefix) {
        atomicAdd(&histogram[bits >> shift & 255u], 1u);
      }
    }
    __syncthreads();
    if (t == 0) {
      unsigned above = 0;
      int bin = 255;
      while (above + histogram[bin] < left) above += histogram[bin--];
      chosen = bin;
      wanted = left - above;
    }
    __syncthreads();
    prefix = prefix << 8 | chosen;
    left = wanted;
    __syncthreads();
  }
  unsigned place = 0;
  unsigned equal_seen = 0;
  for (int base = 0; base < columns; base += 256) {
    const int i = base + t;
    const unsigned bits = i < columns ? __float_as_uint(row[i]) : 0u;
    const bool is_above = i < columns && bits > prefix;
    const bool is_equal = i < columns && bits == prefix;
    const unsigned above = __ballot_sync(0xffffffffu, is_above);
    const unsigned equal = __ballot_sync(0xffffffffu, is_equal);
    if (t % 32 == 0) {
      warp_above[t / 32] = __popc(above);
      warp_equal[t / 32] = __popc(equal);
    }
    __syncthreads();
    const unsigned below = (1u << t % 32) - 1u;
    unsigned equal_before = equal_seen + __popc(equal & below);
    unsigned above_before = __popc(above & below);
    for (int w = 0; w < 8; ++w) {
      if (w < t / 32) {
        equal_before += warp_equal[w];
        above_before += warp_above[w];
      }
      equal_seen += warp_equal[w];
    }
    // Winners before this one: the ones above, and the equal ones that still fit.
    const unsigned before = place + above_before + min(equal_before, left);
    if (is_above || (is_equal && equal_before < left)) {
      out[static_cast<long long>(blockIdx.x) * k + before] = i;
    }
    for (int w = 0; w < 8; ++w) place += warp_above[w];
    __syncthreads();
  }
}

// Copies pages of 16 rows of 132 bytes, named by a block table, to a dense array; offsets need 64
// bits. A page id below zero leaves zeros.
extern "C" __global__ void __launch_bounds__(128)
    gather_pages(const unsigned char* __restrict__ cache, const int* __restrict__ table,
                 unsigned char* __restrict__ out, unsigned long long page_stride, int pages) {
  const int page = blockIdx.x;
  if (page >= pages) return;
  const int id = table[page];
  const unsigned* source =
      reinterpret_cast<const unsigned*>(cache + static_cast<unsigned long long>(id) * page_stride);
  unsigned* destination =
      reinterpret_cast<unsigned*>(out + static_cast<unsigned long long>(page) * (16 * 132));
  for (int i = threadIdx.x; i < 16 * 33; i += 128) {
    destination[i] = id < 0 ? 0u : __ldg(source + i);
  }
}

// sum_h w[h] * max(dot(q[h], k), 0) of s8 rows of 128, a warp a key: dp4a, then a butterfly.
extern "C" __global__ void __launch_bounds__(128)
    logits_dp4a(const int* __restrict__ q, const int* __restrict__ keys,
                const float* __restrict__ w, float* __restrict__ out, int heads, int count) {
  extern __shared__ int staged[];
  for (int i = threadIdx.x; i < heads * 32; i += 128) staged[i] = q[i];
  __syncthreads();
  const int key = blockIdx.x * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int word = key < count ? keys[static_cast<long long>(key) * 32 + lane] : 0;
  float sum = 0.0f;
  for (int h = 0; h < heads; ++h) {
    int dot = __dp4a(staged[h * 32 + lane], word, 0);
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
      dot += __shfl_xor_sync(0xffffffffu, dot, offset);
    }
    sum = __fmaf_rn(w[h], fmaxf(static_cast<float>(dot), 0.0f), sum);
  }
  if (lane == 0 && key < count) out[key] = sum;
}
