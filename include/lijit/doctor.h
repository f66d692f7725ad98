// SPDX-License-Identifier: Apache-2.0
// What this machine has of what lijit can use, and what would be used. Nothing is printed.
#pragma once

#include <string>
#include <vector>

#include "lijit/device.h"

namespace lijit {

// A compiler library: its file and exact build, or why there is none.
struct ToolReport {
  std::string path;     // "" when it was not found
  std::string version;  // "13.0.88 CL-36424714"
  std::string problem;  // "" when it works
};

struct DoctorRequest {
  std::string cache_dir;                         // the folder that would be used
  std::vector<std::string> library_directories;  // folders to look into first
  std::vector<std::string> python_prefixes;      // Python's sys.prefix, to find wheels under it
};

struct DoctorReport {
  bool ok = false;                  // kernels can be compiled, and nothing is broken
  std::string driver;               // "580.159.03, CUDA 13.0"; "" without a driver
  std::vector<DeviceInfo> devices;  // an empty target: not supported, and a problem
  ToolReport nvrtc;
  ToolReport nvjitlink;        // needed by the ptx backend alone
  std::string llvm;            // version, or "not built"
  std::string assembler;       // of the ptx backend's cubins: "nvjitlink", "driver", "" if none
  std::string backend;         // what "auto" means on this machine; "" if nothing can compile
  std::string backend_reason;  // why, in a sentence
  std::string cache_dir;
  std::string device;                 // what OpenDevice("auto", "") opens: "cuda", "emulated" or ""
  std::string target;                 // and the target that kernels are compiled for there
  std::vector<std::string> notes;     // what is absent, and does not have to be there
  std::vector<std::string> problems;  // what is broken, a sentence each with its remedy
};

DoctorReport Diagnose(const DoctorRequest& request);

}  // namespace lijit
