# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Part of ./dev: the demo searches a real text with both cache formats.

demo_formats=(fp8_e4m3 mxfp4)

# Prints the folder of the demo's vectors: made here, or the small pair of the checkout.
demo_vectors() {
  if private_pip --no-deps -r tools/demo/requirements.txt &&
    .private/venv/bin/python tools/demo/make_vectors.py build/demo/vectors; then
    say "vectors: made by tools/demo/make_vectors.py"
    echo build/demo/vectors
  else
    say "vectors: the small pair in tests/data/demo (to make the full ones, pip must be able to" \
      "install tools/demo/requirements.txt)"
    echo tests/data/demo
  fi
}

# "native" where a CUDA device is, else the target that the emulated device stands for.
demo_target() {
  if [[ -n $(command -v nvidia-smi) ]] && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    echo native
  else
    echo sm_86
  fi
}

# lijit's exit code 1 means that it ran and a check failed: that is shown, too.
demo_run() {
  local format=$1 vectors=$2 target=$3 code=0
  build/release/tools/lijit run --device auto --target "$target" --format "$format" --op ragged \
    --q "$vectors/q.npy" --k "$vectors/k.npy" --w "$vectors/w.npy" --top-k 64 \
    --topk-out "build/demo/$format.topk.npy" --json >"build/demo/$format.json" || code=$?
  ((code <= 1)) || die "lijit run --format $format ended with exit code $code"
  return "$code"
}

verb_demo() {
  verb_setup
  configure_and_build release
  mkdir -p build/demo
  local vectors target format failed=0
  vectors=$(demo_vectors)
  target=$(demo_target)
  for format in "${demo_formats[@]}"; do
    say "lijit run --format $format --target $target"
    demo_run "$format" "$vectors" "$target" || failed=1
  done
  python3 tools/demo/show.py "$vectors" build/demo "${demo_formats[@]}"
  return "$failed"
}
