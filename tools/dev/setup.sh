# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Part of ./dev: what the checkout needs from the system, and where it comes from.

# package | why
package_table() {
  cat <<'TABLE'
g++                    the compiler of every preset but fuzz
cmake                  configures
ninja-build            builds
pkg-config             finds zstd and xxhash
libfmt-dev             formatting of text
libxxhash-dev          cache keys and checksums
libzstd-dev            compressed cache entries and bundles
libssl-dev             SHA-256 of keys and entries
libcli11-dev           command line of lijit
nlohmann-json3-dev     JSON output of the tools, and tests that read it
libgtest-dev           tests
libgmock-dev           matchers of tests
libbenchmark-dev       benchmarks
clang                  the fuzz preset
libclang-rt-14-dev     libFuzzer and the sanitizers of clang
clang-format           ./dev format, and the test that checks it
python3                demo
python3-venv           NVRTC, nvJitLink and nvdisasm from pip where no CUDA is installed; demo's vectors
TABLE
}

# What the checkout builds and tests without; installed where apt has it.
optional_package_table() {
  cat <<'TABLE'
llvm-22-dev            the backend ptx
TABLE
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing_packages() {
  local package
  while read -r package _; do
    is_installed "$package" || echo "$package"
  done < <(package_table)
}

# Never an error: without these, what they are for is not built.
install_optional_packages() {
  [[ -n $(command -v apt-get) && $(id -u) == 0 ]] || return 0
  local package why
  while read -r package why; do
    is_installed "$package" && continue
    if [[ -z $(apt-cache madison "$package" 2>/dev/null) ]]; then
      say "$package is not in apt: going on without $why"
      continue
    fi
    say "installing $package"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -q "$package" >&2 ||
      say "$package could not be installed: going on without $why"
  done < <(optional_package_table)
}

install_packages() {
  if [[ -z $(command -v apt-get) ]]; then
    say "no apt-get here: going on with what is installed; the Debian 12 packages needed are:"
    package_table >&2
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  say "installing ${missing[*]}"
  local command=(apt-get install -y --no-install-recommends "${missing[@]}")
  [[ $(id -u) == 0 ]] || die "these packages are missing and only root can install them; run:
  sudo ${command[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && "${command[@]}" -q; } >&2 || die "apt-get failed (see above). With a network, or
a mirror that has Debian 12's packages, this works: ${command[*]}"
}

# The Python environment of this checkout. Nothing outside .private/ is touched.
private_pip() {
  [[ -x .private/venv/bin/pip ]] || python3 -m venv .private/venv || return 1
  .private/venv/bin/pip install --quiet --disable-pip-version-check "$@" >&2
}

# find_library NAME: the first of an installed CUDA 13 and the wheels in .private/.
find_library() {
  local file
  for file in "${CUDA_HOME:-/usr/local/cuda}"/lib64/"$1".so.13 /usr/local/cuda*/lib64/"$1".so.13 \
    "$PWD"/.private/venv/lib/python3*/site-packages/nvidia/cu13/lib/"$1".so.13; do
    [[ -e $file ]] && echo "$file" && return
  done
  return 1
}

# provide_library VARIABLE NAME WHEEL: exports VARIABLE as the path of library NAME.
provide_library() {
  local variable=$1 name=$2 wheel=$3
  if [[ -z ${!variable:-} ]]; then
    if [[ -z $(find_library "$name") ]]; then
      say "no CUDA 13 under CUDA_HOME or /usr/local/cuda*: installing $wheel into .private/"
      private_pip "$wheel==13.0.*" || die "$name is missing: pip could not install $wheel.
Install CUDA 13 and set CUDA_HOME, or set $variable to a $name.so.13."
    fi
    printf -v "$variable" '%s' "$(find_library "$name")"
  fi
  [[ -e ${!variable} ]] || die "$variable names ${!variable}, which does not exist"
  export "${variable?}"
}

# NVRTCs of older CUDAs, whose cubins tests read: folder | wheel
old_nvrtc_table() {
  cat <<'TABLE'
11.8 nvidia-cuda-nvrtc-cu11==11.8.*
12.5 nvidia-cuda-nvrtc-cu12==12.5.*
12.9 nvidia-cuda-nvrtc-cu12==12.9.*
TABLE
}

# Never an error: a test that lacks them says so.
provide_old_nvrtcs() {
  local version wheel
  while read -r version wheel; do
    [[ -d .private/nvrtc/$version ]] && continue
    private_pip --no-deps --target ".private/nvrtc/$version" "$wheel" ||
      say "no NVRTC of CUDA $version: going on without its cubins"
  done < <(old_nvrtc_table)
}

find_nvdisasm() {
  command -v nvdisasm && return
  local file
  for file in "${CUDA_HOME:-/usr/local/cuda}"/bin/nvdisasm /usr/local/cuda*/bin/nvdisasm \
    "$PWD"/.private/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm; do
    [[ -x $file ]] && echo "$file" && return
  done
  return 1
}

# Never an error: without it lijit dump --sass and lijit bench --analyze say what is missing.
provide_nvdisasm() {
  local file
  if ! file=$(find_nvdisasm); then
    say "no nvdisasm in PATH or CUDA: installing nvidia-cuda-nvdisasm into .private/"
    private_pip "nvidia-cuda-nvdisasm==13.*" && file=$(find_nvdisasm) ||
      { say "nvidia-cuda-nvdisasm could not be installed: going on without SASS" && return 0; }
  fi
  export PATH="$PATH:${file%/*}"
  say "nvdisasm: $file"
}

provide_toolchain() {
  provide_library LIJIT_NVRTC libnvrtc nvidia-cuda-nvrtc
  provide_library LIJIT_NVJITLINK libnvJitLink nvidia-nvjitlink
}
