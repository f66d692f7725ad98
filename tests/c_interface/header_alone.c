// SPDX-License-Identifier: Apache-2.0
// The header needs no other one, as C99 and, through header_alone.cc, as C++20.
#include <lijit/lijit.h>
