// SPDX-License-Identifier: Apache-2.0
// Compiling in a process of its own (LIJIT_COMPILE=worker): compilers can crash on valid input, and
// then only the worker ends. It costs some 20 to 30 ms a kernel.
#pragma once

#include <chrono>
#include <string>

#include "lijit/result.h"
#include "runtime/compile/compile_job.h"

namespace lijit::runtime {

// The program lijit-worker: LIJIT_WORKER, or beside the library or program that this code is in, or
// in `bin` beside the library's folder, or where it was installed. Unavailable names the places.
Result<std::string> FindWorker();

// Starts the program `worker`, which does the job and ends. Failed also if it ended without a
// result, or not within `limit`, and was killed: the message has the signal or the time.
Result<Compilation> RunJobInWorker(const CompileJob& job, const std::string& worker,
                                   std::chrono::milliseconds limit);

}  // namespace lijit::runtime
