// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/cuda/emit_cuda.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "compiler/codegen/cuda/templates.h"
#include "compiler/codegen/cuda/wgmma_text.h"
#include "compiler/support/float_text.h"
#include "compiler/support/text_writer.h"

namespace lijit::codegen {
namespace {

using ir::AttributeKey;
using ir::Op;
using ir::OpCode;
using ir::ValueId;

// The types of operands that a row of cuda_ops.def is for.
enum class OperandType { kAny, kI32, kI64, kF32 };

struct CudaOp {
  OpCode code;
  OperandType type;
  std::string_view text;
};

constexpr CudaOp kCudaOps[] = {
#define CUDA_OP(op, type, text) {OpCode::op, OperandType::type, text},
#include "compiler/codegen/cuda/cuda_ops.def"
};

struct CudaHelper {
  std::string_view name;
  std::string_view definition;
};

constexpr CudaHelper kCudaHelpers[] = {
#define CUDA_HELPER(name, definition) {name, definition},
#include "compiler/codegen/cuda/cuda_helpers.def"
};

std::string_view TypeName(const ir::Type& type) {
  switch (type.scalar) {
    case ir::Scalar::kI1:
      return "bool";
    case ir::Scalar::kI64:
      return "unsigned long long";
    case ir::Scalar::kF32:
      return "float";
    default:
      return "unsigned int";
  }
}

std::string_view MemoryTypeName(ir::Memory memory) {
  switch (memory) {
    case ir::Memory::kU8:
      return "unsigned char";
    case ir::Memory::kU16:
      return "unsigned short";
    case ir::Memory::kI32:
      return "unsigned int";
    case ir::Memory::kI64:
      return "unsigned long long";
    case ir::Memory::kF32:
      break;
  }
  return "float";
}

std::string FloatLiteral(std::uint32_t bits) {
  const float value = FloatFromBits(bits);
  if (value != value || value - value != 0) return fmt::format("__uint_as_float({:#x}u)", bits);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

bool IsIdentifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

// The underscore keeps it apart from words of the language and from the printer's own names.
std::string ParameterName(std::string_view name, std::size_t index) {
  return IsIdentifier(name) ? fmt::format("{}_", name) : fmt::format("parameter{}", index);
}

bool Matches(OperandType wanted, const ir::Type& type) {
  switch (wanted) {
    case OperandType::kI32:
      return type.IsScalar(ir::Scalar::kI32);
    case OperandType::kI64:
      return type.IsScalar(ir::Scalar::kI64);
    case OperandType::kF32:
      return type.IsF32();
    case OperandType::kAny:
      break;
  }
  return true;
}

// Heads of several rows that one wgmma multiplies, at most: 32 accumulator registers a thread.
constexpr int kWgmmaColumns = 64;

class CudaPrinter {
 public:
  CudaPrinter(const ir::Module& module, const ir::Kernel& kernel)
      : module_(module),
        kernel_(kernel),
        names_(kernel.values.size()),
        is_written_(kernel.values.size()) {}

  Result<std::string> Print() {
    FindWritten(kernel_.body);
    if (!kernel_.body.ops.empty() && kernel_.body.ops[0].code == OpCode::kTileScores) {
      PrintTemplate(kernel_.body.ops[0]);
    }
    std::string parameters;
    for (std::size_t i = 0; i < kernel_.body.arguments.size(); ++i) {
      const ValueId id = kernel_.body.arguments[i];
      names_[Index(id)] = ParameterName(kernel_.values[Index(id)].name, i);
      if (i > 0) parameters += ",\n    ";
      parameters += ParameterText(id);
    }
    body_.Format("extern \"C\" __global__ void __launch_bounds__({}) {}(", kernel_.threads,
                 kernel_.name);
    body_.Format("    {}) {{", parameters);
    PrintSharedMemory();
    PrintBlock(kernel_.body, {});
    body_.Line("}");
    if (!unprintable_.empty()) return InvalidArgument(unprintable_);
    std::string source = Helpers();
    source += body_.text();
    return source;
  }

 private:
  static std::size_t Index(ValueId id) { return static_cast<std::size_t>(id); }
  const std::string& Name(ValueId id) const { return names_[Index(id)]; }

  // Pointers that a store goes through; the others are read-only for the whole launch.
  void FindWritten(const ir::Block& block) {
    for (const Op& op : block.ops) {
      if (op.code == OpCode::kStore) is_written_[Index(op.operands[0])] = true;
      for (const ir::Block& region : op.regions) FindWritten(region);
    }
  }

  std::string ParameterText(ValueId id) const {
    if (kernel_.TypeOf(id).IsScalar(ir::Scalar::kI64)) {
      return fmt::format("unsigned long long {}", Name(id));
    }
    return fmt::format("{}unsigned char* __restrict__ {}", is_written_[Index(id)] ? "" : "const ",
                       Name(id));
  }

  std::string Helpers() const {
    std::string text;
    for (const CudaHelper& helper : kCudaHelpers) {
      if (body_.text().find(fmt::format("{}(", helper.name)) == std::string::npos) continue;
      text += fmt::format("{}\n\n", helper.definition);
    }
    return text;
  }

  // A new variable for a value.
  const std::string& Define(ValueId id) {
    names_[Index(id)] = fmt::format("v{}", next_++);
    return names_[Index(id)];
  }

  // Prints a region. What it yields is assigned to `targets`.
  void PrintBlock(const ir::Block& block, const std::vector<std::string>& targets) {
    ScopedIndent indent(body_);
    for (const Op& op : block.ops) {
      op.code == OpCode::kYield ? PrintYield(op, targets) : PrintOp(op);
    }
  }

  // All at once: a carried value may be yielded into the place of another.
  void PrintYield(const Op& op, const std::vector<std::string>& targets) {
    if (targets.size() == 1) {
      body_.Format("{} = {};", targets[0], Name(op.operands[0]));
      return;
    }
    std::vector<std::string> next;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      next.push_back(fmt::format("n{}", next_++));
      body_.Format("const {} {} = {};", TypeName(kernel_.TypeOf(op.operands[i])), next.back(),
                   Name(op.operands[i]));
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      body_.Format("{} = {};", targets[i], next[i]);
    }
  }

  void PrintOp(const Op& op) {
    switch (op.code) {
      case OpCode::kConst:
        return NameConstant(op);
      case OpCode::kFor:
        return PrintFor(op);
      case OpCode::kIf:
        return PrintIf(op);
      case OpCode::kLoad:
        return PrintLoad(op, Name(op.operands[0]), Name(op.operands[1]), "const ");
      case OpCode::kLoadShared:
        return PrintLoad(op, "shared", Name(op.operands[0]), "");
      case OpCode::kStore:
        return PrintStore(op, Name(op.operands[0]), op.operands[1], op.operands[2]);
      case OpCode::kStoreShared:
        return PrintStore(op, "shared", op.operands[0], op.operands[1]);
      case OpCode::kAtomicAddShared:
        return body_.Format("atomicAdd(reinterpret_cast<unsigned int*>(shared + {}), {});",
                            Name(op.operands[0]), Name(op.operands[1]));
      case OpCode::kBarrier:
        return body_.Line("__syncthreads();");
      case OpCode::kTileScores:
        return PrintTileScores();
      case OpCode::kShuffleXor:
        return PrintResult(op, fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})",
                                           Name(op.operands[0]), op.Get(AttributeKey::kMask)));
      case OpCode::kCvtFromE4m3x2:
        return PrintUnpack(op, "cvt_from_e4m3x2");
      case OpCode::kCvtFromE2m1x2:
        return PrintUnpack(op, "cvt_from_e2m1x2");
      default:
        return PrintFromTable(op);
    }
  }

  // Matrices that wgmma reads begin at multiples of 1024 bytes.
  void PrintSharedMemory() {
    if (kernel_.shared_bytes > ir::kMaxStaticSharedBytes) {
      body_.Line("  extern __shared__ __align__(1024) unsigned char shared[];");
    } else if (kernel_.shared_bytes > 0) {
      const bool matrices = kernel_.body.ops[0].code == OpCode::kTileScores;
      body_.Format("  __shared__ __align__({}) unsigned char shared[{}];", matrices ? 1024 : 16,
                   kernel_.shared_bytes);
    }
  }

  // Constants stand where they are used.
  void NameConstant(const Op& op) {
    const ir::Type& type = kernel_.TypeOf(op.results[0]);
    std::string& name = names_[Index(op.results[0])];
    if (type.IsF32()) {
      name = FloatLiteral(static_cast<std::uint32_t>(op.constant));
    } else if (type.IsScalar(ir::Scalar::kI64)) {
      name = fmt::format("{}ull", op.constant);
    } else if (type.IsScalar(ir::Scalar::kI1)) {
      name = op.constant != 0 ? "true" : "false";
    } else {
      name = fmt::format("{}u", static_cast<std::uint32_t>(op.constant));
    }
  }

  void PrintResult(const Op& op, const std::string& expression) {
    const ValueId id = op.results[0];
    body_.Format("const {} {} = {};", TypeName(kernel_.TypeOf(id)), Define(id), expression);
  }

  void PrintFromTable(const Op& op) {
    for (const CudaOp& row : kCudaOps) {
      if (row.code != op.code) continue;
      if (row.type != OperandType::kAny && !Matches(row.type, kernel_.TypeOf(op.operands[0]))) {
        continue;
      }
      fmt::dynamic_format_arg_store<fmt::format_context> operands;
      for (const ValueId id : op.operands) operands.push_back(Name(id));
      return PrintResult(op, fmt::vformat(row.text, operands));
    }
    unprintable_ = fmt::format("{} has no CUDA text; the passes of lower turn it into ops that do",
                               ir::RowOf(op.code).mnemonic);
    for (const ValueId id : op.results) Define(id);
  }

  void PrintLoad(const Op& op, const std::string& pointer, const std::string& offset,
                 std::string_view qualifier) {
    const auto memory = static_cast<ir::Memory>(op.Get(AttributeKey::kMemory));
    PrintResult(op, fmt::format("*reinterpret_cast<{}{}*>({} + {})", qualifier,
                                MemoryTypeName(memory), pointer, offset));
  }

  void PrintStore(const Op& op, const std::string& pointer, ValueId offset, ValueId value) {
    const std::string_view type =
        MemoryTypeName(static_cast<ir::Memory>(op.Get(AttributeKey::kMemory)));
    body_.Format("*reinterpret_cast<{}*>({} + {}) = ({})({});", type, pointer, Name(offset), type,
                 Name(value));
  }

  void PrintUnpack(const Op& op, std::string_view function) {
    const std::string& low = Define(op.results[0]);
    const std::string& high = Define(op.results[1]);
    body_.Format("float {}, {};", low, high);
    body_.Format("{}({}, {}, {});", function, Name(op.operands[0]), low, high);
  }

  // What the templates read (templates/logits_common.cu, head), and they themselves.
  void PrintTemplate(const Op& op) {
    const ir::Format& format =
        module_.FormatOf(static_cast<ir::FormatId>(op.Get(AttributeKey::kFormat)));
    const auto dim = static_cast<int>(op.Get(AttributeKey::kDim));
    const bool paged = kernel_.layout >= 0;
    // Gathered rows lie like a page of one token.
    const ir::Layout layout =
        paged ? module_.layouts[static_cast<std::size_t>(kernel_.layout)] : ir::Layout{};
    body_.Format("#define LIJIT_PAGED {}", paged ? 1 : 0);
    const bool s8 = format.element.Bits() == 4;
    body_.Format("#define LIJIT_S8 {}", s8 ? 1 : 0);
    body_.Format("#define LIJIT_RELU {}", IsRelu(op.regions[0]) ? 1 : 0);
    body_.Format("constexpr int kHeads = {};", op.Get(AttributeKey::kHeads));
    body_.Format("constexpr int kDim = {};", dim);
    body_.Format("constexpr int kRows = {};", op.Get(AttributeKey::kRows));
    body_.Format("constexpr int kPage = {};", layout.tokens);
    body_.Format("constexpr int kValueStride = {};", layout.ValueStride(format, dim));
    body_.Format("constexpr int kScaleStride = {};", layout.ScaleStride(format, dim));
    body_.Format("constexpr int kScaleBase = {};", layout.ScaleBase(format, dim));
    body_.Line("struct Parameters {");
    for (const ValueId id : kernel_.body.arguments) {
      const std::string& name = kernel_.values[Index(id)].name;
      const bool pointer = kernel_.TypeOf(id).IsScalar(ir::Scalar::kPtr);
      const std::string_view type = !pointer        ? "long long"
                                    : name == "out" ? "unsigned char*"
                                                    : "const unsigned char*";
      is_written_[Index(id)] = name == "out";
      body_.Format("  {} {};", type, name);
    }
    body_.Line("};");
    PrintFunction("head_value", op.regions[0]);
    PrintFunction("finish", op.regions[1]);
    const bool wgmma =
        static_cast<ir::MatrixUnit>(op.Get(AttributeKey::kUnit)) == ir::MatrixUnit::kWgmma;
    PrintFile("logits_common.cu");
    PrintFile(s8 ? "operands_s8.cu" : wgmma ? "operands_e4m3.cu" : "operands_f16.cu");
    wgmma ? PrintWgmma(op, s8) : PrintFile("mma_logits.cu");
  }

  // head_value(x) = max(x, 0).
  static bool IsRelu(const ir::Block& head) {
    return head.ops.size() == 2 && head.ops[0].code == OpCode::kRelu &&
           head.ops[1].operands == head.ops[0].results;
  }

  void PrintWgmma(const Op& op, bool s8) {
    const auto heads = static_cast<int>(op.Get(AttributeKey::kHeads));
    const auto rows = static_cast<int>(op.Get(AttributeKey::kRows));
    // Requests may have one row each.
    const int together = kernel_.layout >= 0 ? 1 : std::clamp(kWgmmaColumns / heads, 1, rows);
    body_.Format("constexpr int kMmaRows = {};", together);
    body_.Format("constexpr int kStages = {};", op.Get(AttributeKey::kStages));
    body_.Format("constexpr int kSharedBytes = {};", kernel_.shared_bytes);
    PrintFile("wgmma_memory.cu");
    PrintFile("wgmma_work.cu");
    body_.Line(WgmmaText(s8 ? WgmmaType::kS8 : WgmmaType::kE4m3, together * heads));
    PrintFile("wgmma_logits.cu");
  }

  void PrintFile(std::string_view name) {
    const std::span<const EmbeddedFile> files = Templates();
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const EmbeddedFile& f) { return f.name == name; });
    LIJIT_CHECK(file != files.end());
    body_.Line();
    body_.Line(file->text);
  }

  // A region of f32 arguments and one f32 result as a function.
  void PrintFunction(std::string_view name, const ir::Block& region) {
    std::string arguments;
    for (const ValueId id : region.arguments) {
      if (!arguments.empty()) arguments += ", ";
      arguments += "float " + Define(id);
    }
    body_.Format("__device__ __forceinline__ float {}({}) {{", name, arguments);
    for (const Op& op : region.ops) {
      ScopedIndent indent(body_);
      if (op.code == OpCode::kYield) {
        body_.Format("return {};", Name(op.operands[0]));
      } else {
        PrintOp(op);
      }
    }
    body_.Line("}");
  }

  void PrintTileScores() {
    std::string members;
    for (const ValueId id : kernel_.body.arguments) {
      if (!members.empty()) members += ", ";
      const bool pointer = kernel_.TypeOf(id).IsScalar(ir::Scalar::kPtr);
      members += pointer ? Name(id) : fmt::format("(long long){}", Name(id));
    }
    body_.Format("const Parameters p = {{{}}};", members);
    body_.Line(kernel_.shared_bytes > 0 ? "score(p, shared);" : "score(p);");
  }

  void PrintFor(const Op& op) {
    const ir::Block& region = op.regions[0];
    std::vector<std::string> carried;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      // Result and carried value are one variable: after the loop it holds the last one.
      const std::string& name = Define(op.results[i]);
      names_[Index(region.arguments[i + 1])] = name;
      body_.Format("{} {} = {};", TypeName(kernel_.TypeOf(op.results[i])), name,
                   Name(op.operands[i + 3]));
      carried.push_back(name);
    }
    const std::int64_t unroll = op.Get(AttributeKey::kUnroll);
    if (unroll > 0) body_.Format("#pragma unroll {}", unroll);
    const ir::Type& type = kernel_.TypeOf(op.operands[0]);
    const std::string_view is_signed = type.IsScalar(ir::Scalar::kI64) ? "long long" : "int";
    const std::string& index = Define(region.arguments[0]);
    body_.Format("for ({0} {1} = {2}; ({3}){1} < ({3}){4}; {1} += {5}) {{", TypeName(type), index,
                 Name(op.operands[0]), is_signed, Name(op.operands[1]), Name(op.operands[2]));
    PrintBlock(region, carried);
    body_.Line("}");
  }

  void PrintIf(const Op& op) {
    std::vector<std::string> targets;
    for (const ValueId id : op.results) {
      targets.push_back(Define(id));
      body_.Format("{} {};", TypeName(kernel_.TypeOf(id)), targets.back());
    }
    body_.Format("if ({}) {{", Name(op.operands[0]));
    PrintBlock(op.regions[0], targets);
    const bool has_else = op.regions[1].ops.size() > 1 || !targets.empty();
    if (has_else) {
      body_.Line("} else {");
      PrintBlock(op.regions[1], targets);
    }
    body_.Line("}");
  }

  const ir::Module& module_;
  const ir::Kernel& kernel_;
  TextWriter body_;
  std::vector<std::string> names_;
  std::vector<bool> is_written_;
  std::string unprintable_;
  int next_ = 0;
};

}  // namespace

Result<std::string> EmitCuda(const ir::Module& module) {
  if (module.kernels.size() != 1 || !module.kernels[0].is_entry) {
    return InvalidArgument("CUDA is emitted for a module of one entry; lower one kernel first");
  }
  if (!IsIdentifier(module.kernels[0].name)) {
    return InvalidArgument(fmt::format(
        "@{} is no name for a CUDA kernel; letters, digits and _ are", module.kernels[0].name));
  }
  return CudaPrinter(module, module.kernels[0]).Print();
}

}  // namespace lijit::codegen
