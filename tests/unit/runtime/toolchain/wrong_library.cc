// SPDX-License-Identifier: Apache-2.0
extern "C" __attribute__((visibility("default"))) int nvrtcVersion(int* major, int* minor) {
  *major = 99;
  *minor = 0;
  return 0;
}
