// SPDX-License-Identifier: Apache-2.0
// The only way to compile through the cache. What a miss compiles can depend on nothing but the
// request: the compile function must be a plain function, or a lambda that captures nothing, so
// that forgetting a member in the key is the only mistake left (and a test of the request's).
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include "cache/key.h"
#include "lijit/cache.h"

namespace lijit::cache {

// Everything that a compilation depends on.
template <class Request>
concept Cacheable = requires(const Request& request) {
  { request.key() } -> std::same_as<Key>;
  { request.target() } -> std::convertible_to<std::string>;
};

// The request's entry: from memory, from disk, or from `compile`, which runs at most once at a time
// for a key. `compile` fills Entry's members except `key`; `validator` may be null. Fails only as
// `compile` fails, or if its image is empty, for another target or refused by `validator`; then
// nothing is stored and the next request compiles again. `compile` must not ask for its own key.
template <class Request, class Compile>
Result<Outcome> GetOrCompute(Store& store, const Request& request, const Validator& validator,
                             Compile compile) {
  static_assert(Cacheable<Request>,
                "a request has `Key key() const`, `std::string target() const`");
  using Function = Result<Entry> (*)(const Request&);
  static_assert(std::is_convertible_v<Compile, Function>,
                "the compile function must capture nothing: all that it reads is in the request");
  const Function function = compile;
  return store.Compute(request.key(), request.target(), validator,
                       [&request, function] { return function(request); });
}

}  // namespace lijit::cache
