// SPDX-License-Identifier: Apache-2.0
// A library libcuda.so.1 with one device of compute capability 9.0, whose linker is the test's own.
// It shows that the driver is found, asked and believed; it runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Makes a cubin of PTX for a CUjit_target; empty if it cannot.
using FakeCudaLinker = std::vector<std::byte> (*)(const char* ptx, std::uintptr_t target);

// FakeCudaSetLinker of the library.
using FakeCudaSetLinkerFunction = void (*)(FakeCudaLinker linker);
