#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the .npy files of this folder, which are as NumPy makes them. Needs NumPy (2.4 was used).

Every array of numbers is [[-2, -1, 0], [1, 2, 3]] divided by two (integers: not divided).
"""
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent
HALVES = np.array([[-2, -1, 0], [1, 2, 3]]) / 2


def write(name, array, version=None):
    with open(FOLDER / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


for dtype in "<f2", "<f4", "<f8":
    write(dtype[1:], HALVES.astype(dtype))
for dtype in "<i4", "<i8":
    write(dtype[1:], (HALVES * 2).astype(dtype))
write("version2", HALVES.astype("<f4"), (2, 0))
write("version3", HALVES.astype("<f4"), (3, 0))
write("vector", np.array([0.5, -0.5], "<f4"))
write("scalar", np.array(0.5, "<f4"))
write("empty", np.zeros((0, 3), "<f4"))
write("fortran", np.asfortranarray(HALVES.astype("<f4")))
write("big_endian", HALVES.astype(">f4"))
write("bytes", np.zeros((2, 3), "u1"))
write("records", np.zeros(2, [("x", "<f4"), ("y", "<f4")]))
write("special_f2", np.array([0x0001, 0x03FF, 0x7BFF, 0x8000, 0x7C00, 0xFC00, 0x7E00], "<u2").view("<f2"))
write("large_f8", np.array([1.0, 1e300], "<f8"))
