// SPDX-License-Identifier: Apache-2.0
// Source of the matrix_kernels_XX.ptx beside this: for each architecture XX
//   nvcc -ptx -arch=compute_XX matrix_kernels.cu -o matrix_kernels_XX.ptx        (CUDA 13.0)
// and the license line added on top.
//
// Each kernel multiplies 16 rows by 8 columns with one warp: both are brought to shared memory by
// cp.async in two stages that overlap with the products, and from there to registers by ldmatrix.

#define DEVICE static __device__ __forceinline__

DEVICE unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

DEVICE void copy16(void* to, const void* from, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(present ? 16 : 0)
               : "memory");
}

DEVICE void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kGroups>
DEVICE void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

DEVICE void load4(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

DEVICE void load2(unsigned (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(row))
               : "memory");
}

DEVICE void load2_transposed(unsigned (&r)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(row))
               : "memory");
}

#define MULTIPLY(suffixes, constraint)                                                         \
  asm("mma.sync.aligned." suffixes                                                             \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "                                   \
      "%1, %2, %3};"                                                                           \
      : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]), "+" constraint(c[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

struct S8 {
  using Sum = int;
  DEVICE void multiply(int (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    MULTIPLY("m16n8k32.row.col.s32.s8.s8.s32", "r");
  }
};

struct E4m3 {
  using Sum = float;
  DEVICE void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 890
    MULTIPLY("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f");
#endif
  }
};

struct Bf16 {
  using Sum = float;
  DEVICE void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    MULTIPLY("m16n8k16.row.col.f32.bf16.bf16.f32", "f");
  }
};

// Rows of `bytes` bytes of A (16) and of B by columns (8): c = A B. Steps of 32 bytes; rows of B
// from `columns` on count as zeros.
template <typename Form>
DEVICE void multiply_rows(const unsigned char* a_rows, const unsigned char* b_rows,
                          typename Form::Sum* out, int bytes, int columns) {
  __shared__ __align__(16) unsigned char stage[2][24][48];  // 48: no two rows in the same banks
  const int lane = threadIdx.x;
  const auto fill = [&](int step) {
#pragma unroll 1
    for (int i = lane; i < 48; i += 32) {
      const int row = i / 2;
      const int half = i % 2 * 16;
      const unsigned char* from = row < 16 ? a_rows + row * bytes : b_rows + (row - 16) * bytes;
      copy16(&stage[step % 2][row][half], from + step * 32 + half, row - 16 < columns);
    }
    commit();
  };
  typename Form::Sum c[4] = {};
  const int steps = bytes / 32;
  fill(0);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      fill(step + 1);
      wait<1>();
    } else {
      wait<0>();
    }
    __syncwarp();
    unsigned a[4];
    unsigned b[2];
    load4(a, &stage[step % 2][lane % 16][lane / 16 * 16]);
    load2(b, &stage[step % 2][16 + lane % 8][lane / 8 % 2 * 16]);
    Form::multiply(c, a, b);
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) out[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

extern "C" __global__ void multiply_s8(const unsigned char* a, const unsigned char* b, int* out,
                                       int bytes, int columns) {
  multiply_rows<S8>(a, b, out, bytes, columns);
}

extern "C" __global__ void multiply_bf16(const unsigned char* a, const unsigned char* b, float* out,
                                         int bytes, int columns) {
  multiply_rows<Bf16>(a, b, out, bytes, columns);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
extern "C" __global__ void multiply_e4m3(const unsigned char* a, const unsigned char* b, float* out,
                                         int bytes, int columns) {
  multiply_rows<E4m3>(a, b, out, bytes, columns);
}
#endif

// f16; B lies by rows of 8, so its fragments are transposed as they are loaded.
extern "C" __global__ void multiply_f16(const unsigned short* a_rows, const unsigned short* b_rows,
                                        float* out, int depth) {
  __shared__ __align__(16) unsigned short a_stage[16][24];
  __shared__ __align__(16) unsigned short b_stage[16][8];
  const int lane = threadIdx.x;
  float c[4] = {};
#pragma unroll 1
  for (int k = 0; k < depth; k += 16) {
    copy16(&a_stage[lane / 2][lane % 2 * 8], a_rows + lane / 2 * depth + k + lane % 2 * 8, true);
    if (lane < 16) copy16(&b_stage[lane][0], b_rows + (k + lane) * 8, true);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    unsigned a[4];
    unsigned b[2];
    load4(a, &a_stage[lane % 16][lane / 16 * 8]);
    load2_transposed(b, &b_stage[lane % 16][0]);
    MULTIPLY("m16n8k16.row.col.f32.f16.f16.f32", "f");
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) out[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1200
// Rows of 64 e2m1 (32 bytes), with two ue8m0 scales for each row of A and column of B.
extern "C" __global__ void multiply_mxf4(const unsigned* a_rows, const unsigned* b_rows,
                                         const unsigned short* a_scales,
                                         const unsigned short* b_scales, float* out) {
  const int lane = threadIdx.x;
  const int group = lane / 4;
  const int place = lane % 4;
  const unsigned a[4] = {a_rows[group * 8 + place], a_rows[(group + 8) * 8 + place],
                         a_rows[group * 8 + place + 4], a_rows[(group + 8) * 8 + place + 4]};
  const unsigned b[2] = {b_rows[group * 8 + place], b_rows[group * 8 + place + 4]};
  const unsigned a_scale = a_scales[group + lane % 2 * 8];
  const unsigned b_scale = static_cast<unsigned>(b_scales[group]) << 16;
  float c[4] = {};
  asm("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32."
      "ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, %12}, "
      "{%11}, {%13, %12};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(a_scale),
        "r"(b_scale), "h"(static_cast<unsigned short>(0)), "h"(static_cast<unsigned short>(2)));
  for (int i = 0; i < 4; ++i) out[(group + i / 2 * 8) * 8 + place * 2 + i % 2] = c[i];
}
#endif
