// SPDX-License-Identifier: Apache-2.0
// Reads and writes of emulated memory. Several host threads run CTAs at once, so every access is
// atomic, if relaxed; a pointer is aligned to its type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lijit::emulator {

// Memory holds no objects of one type: a word may be written and its bytes read.
template <typename T>
struct AliasedOf {
  using Type __attribute__((may_alias)) = T;
};

template <typename T>
T LoadRelaxed(const std::byte* place) {
  return __atomic_load_n(reinterpret_cast<const typename AliasedOf<T>::Type*>(place),
                         __ATOMIC_RELAXED);
}

template <typename T>
void StoreRelaxed(std::byte* place, T value) {
  __atomic_store_n(reinterpret_cast<typename AliasedOf<T>::Type*>(place), value, __ATOMIC_RELAXED);
}

// Replaces the value by f(value) atomically and returns the old one.
template <typename T, typename F>
T UpdateAtomically(std::byte* place, F f) {
  auto* typed = reinterpret_cast<typename AliasedOf<T>::Type*>(place);
  T old = __atomic_load_n(typed, __ATOMIC_RELAXED);
  T updated = f(old);
  while (!__atomic_compare_exchange_n(typed, &old, updated, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {
    updated = f(old);
  }
  return old;
}

}  // namespace lijit::emulator
