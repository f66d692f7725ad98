// SPDX-License-Identifier: Apache-2.0
// Every row of the instruction table has a sample here that decodes through it.
#include "runtime/emulator/instruction_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

// Registers: p, q predicates; h, i 16 bits; r, s, t, u 32; d, e, f 64; x 128.
constexpr std::string_view kRegisters =
    ".reg .pred p, q; .reg .b16 h, i; .reg .b32 r, s, t, u; .reg .b64 d, e, f; .reg .b128 x;\n"
    ".shared .b32 tile; l: m: .branchtargets l;\n";

constexpr std::string_view kSamples[] = {
    "add.s32 r, s, t",
    "add.f32 r, s, t",
    "add.f16 h, i, h",
    "sub.u64 d, e, f",
    "sub.f64 d, e, f",
    "sub.bf16x2 r, s, t",
    "addc.u32 r, s, t",
    "subc.s64 d, e, f",
    "mul.lo.u16 h, i, h",
    "mul.f32 r, s, t",
    "mul.f16x2 r, s, t",
    "mad.wide.u16 r, h, i, s",
    "mad.rn.f64 d, e, f, d",
    "madc.lo.u32 r, s, t, u",
    "mul24.lo.u32 r, s, t",
    "mad24.hi.s32 r, s, t, u",
    "sad.u16 h, i, h, i",
    "div.u32 r, s, t",
    "div.approx.ftz.f32 r, s, t",
    "rem.s64 d, e, f",
    "abs.s32 r, s",
    "abs.ftz.f32 r, s",
    "abs.bf16x2 r, s",
    "neg.s64 d, e",
    "neg.f64 d, e",
    "neg.f16 h, i",
    "min.s32 r, s, t",
    "min.NaN.f32 r, s, t",
    "min.ftz.f16x2 r, s, t",
    "max.u64 d, e, f",
    "max.f64 d, e, f",
    "max.bf16 h, i, h",
    "dp4a.u32.s32 r, s, t, u",
    "dp2a.lo.s32.s32 r, s, t, u",
    "popc.b64 r, d",
    "clz.b32 r, s",
    "bfind.shiftamt.u64 r, d",
    "brev.b64 d, e",
    "bfe.s32 r, s, 3, t",
    "bfi.b64 d, e, f, 3, t",
    "bmsk.wrap.b32 r, s, t",
    "szext.clamp.u32 r, s, t",
    "and.pred p, q, !p",
    "or.b16 h, i, 1",
    "xor.b64 d, e, f",
    "not.b32 r, s",
    "cnot.b16 h, i",
    "lop3.b32 r, s, t, u, 0x96",
    "shf.l.wrap.b32 r, s, t, u",
    "shl.b64 d, e, 3",
    "shr.s16 h, i, r",
    "prmt.b32.f4e r, s, t, u",
    "setp.lt.or.s32 p|q, r, s, !q",
    "set.eq.u32.f32 r, s, t",
    "selp.f64 d, e, f, p",
    "slct.f32.s32 r, s, t, u",
    "fma.rn.f32x2 d, e, f, d",
    "fma.rn.relu.bf16 h, i, h, i",
    "rcp.rn.f64 d, e",
    "sqrt.approx.f32 r, s",
    "rsqrt.approx.ftz.f32 r, s",
    "ex2.approx.f32 r, s",
    "ex2.approx.f16x2 r, s",
    "lg2.approx.f32 r, s",
    "sin.approx.f32 r, s",
    "cos.approx.f32 r, s",
    "tanh.approx.f32 r, s",
    "tanh.approx.bf16 h, i",
    "copysign.f64 d, e, f",
    "testp.finite.f32 p, r",
    "mov.b128 x, {d, e}",
    "cvt.rzi.s32.f32 r, s",
    "cvta.to.global.u64 d, e",
    "isspacep.shared p, d",
    "ld.global.ca.L2::128B.v2.u32 {r, s}, [d+8]",
    "ldu.global.u32 r, [d]",
    "st.shared.u8 [r], s",
    "prefetch.global.L1 [d]",
    "prefetchu.L1 [d]",
    "bra.uni l",
    "brx.idx r, m",
    "ret.uni",
    "exit",
    "trap",
    "brkpt",
    "nanosleep.u32 20",
    "bar.red.popc.u32 r, 0, p",
    "barrier.cta.arrive.aligned 1, 64",
    "membar.cta",
    "fence.sc.cluster",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [tile], r",
    "atom.acq_rel.sys.global.cas.b64 d, [e], d, f",
    "red.shared::cta.max.u32 [tile], r",
    "shfl.sync.idx.b32 r|p, s, t, 31, -1",
    "vote.sync.uni.pred p, !q, r",
    "match.any.sync.b64 r, d, s",
    "redux.sync.xor.b32 r, s, t",
    "elect.sync _|p, -1",
    "activemask.b32 r",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
    "{r, s, t, u}, {r, s, t, u}, {r, s}, {r, s, t, u}",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale."
    "scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {r, s, t, u}, "
    "{r, s, t, u}, {r, s}, {r, s, t, u}, r, {0, 1}, {s}, "
    "{2, 3}",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {r, s, t, u}, d, e, p",
    "setmaxnreg.inc.sync.aligned.u32 232",
    "griddepcontrol.launch_dependents",
    "createpolicy.fractional.L2::evict_first.b64 d, 1.0",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {r, s}, [t]",
    "stmatrix.sync.aligned.m8n8.x1.b16 [d], {r}",
    "cp.async.cg.shared.global.L2::128B [r], [d], 16, s",
    "movmatrix.sync.aligned.m8n8.trans.b16 r, s"};

// wgmma exists on sm_90a only; the rest is decoded for the target of KernelText.
std::string SampleText(std::string_view sample) {
  std::string text = KernelText(fmt::format("{}{};", kRegisters, sample));
  if (sample.starts_with("wgmma")) text.replace(text.find("sm_120f"), 7, "sm_90a");
  return text;
}

TEST(InstructionTableTest, SamplesDecode) {
  for (const std::string_view sample : kSamples) {
    EXPECT_EQ(LoadError(SampleText(sample)), "") << sample;
  }
}

// The row that a sample is decoded by: the first of its name that has its last type.
const InstructionRow* RowOf(std::string_view sample) {
  const std::string_view name = sample.substr(0, sample.find(' '));
  const std::size_t dot = name.find('.');
  const auto modifiers = Modifiers::Parse(dot == name.npos ? "" : name.substr(dot + 1));
  if (!modifiers.ok()) return nullptr;
  for (const InstructionRow& row : AllInstructions()) {
    if (row.name != name.substr(0, dot)) continue;
    const unsigned types = modifiers->type_count();
    if (row.types == 0 || (types > 0 && Contains(row.types, modifiers->type(types - 1))))
      return &row;
  }
  return nullptr;
}

TEST(InstructionTableTest, EveryRowHasASample) {
  std::set<const InstructionRow*> seen;
  for (const std::string_view sample : kSamples) {
    const InstructionRow* row = RowOf(sample);
    ASSERT_NE(row, nullptr) << sample;
    seen.insert(row);
  }
  for (const InstructionRow& row : AllInstructions()) {
    EXPECT_EQ(seen.count(&row), 1u) << row.name << " with types " << row.types;
  }
}

TEST(InstructionTableTest, TypesAndModifiersHaveUniqueNames) {
  std::set<std::string_view> suffixes;
#define LIJIT_PTX_TYPE(id, suffix, bits, type_class)     \
  EXPECT_TRUE(suffixes.insert(suffix).second) << suffix; \
  EXPECT_EQ(TypeBySuffix(suffix), Type::id);
#include "runtime/emulator/types.def"
#undef LIJIT_PTX_TYPE
#define LIJIT_PTX_MODIFIER(id, suffix, category)         \
  EXPECT_TRUE(suffixes.insert(suffix).second) << suffix; \
  EXPECT_EQ(Modifiers::Parse(suffix)->Of(Category::category), Modifier::id) << suffix;
#include "runtime/emulator/modifiers.def"
#undef LIJIT_PTX_MODIFIER
}

}  // namespace
}  // namespace lijit::emulator
