#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what `lijit run` answered for the demo's vectors. Needs nothing but Python.

show.py VECTORS RESULTS FORMAT...: VECTORS holds passages.json, RESULTS holds FORMAT.json (the JSON
of `lijit run`) and FORMAT.topk.npy (int32 [T,k], best first, -1 where a row has fewer keys).
"""
import array
import ast
import json
import pathlib
import sys

HITS = 2  # passages printed for each question
COLUMNS = ["format", "bytes_per_token", "recall", "bitwise_equal", "findings", "device", "target",
           "cache"]


def read_int32_npy(path):
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise SystemExit(f"{path} is not an .npy file")
    length_bytes = 2 if data[6] == 1 else 4
    start = 8 + length_bytes + int.from_bytes(data[8:8 + length_bytes], "little")
    header = ast.literal_eval(data[8 + length_bytes:start].decode("latin-1"))
    if header["descr"] != "<i4" or header["fortran_order"] or len(header["shape"]) != 2:
        raise SystemExit(f"{path}: expected a C-ordered int32 matrix, found {header}")
    rows, columns = header["shape"]
    values = array.array("i", data[start:start + 4 * rows * columns])
    return [values[row * columns:(row + 1) * columns] for row in range(rows)]


def cell(result, column):
    value = result[column]
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, list):
        return str(len(value))
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def print_table(results):
    rows = [COLUMNS] + [[cell(result, column) for column in COLUMNS] for result in results]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def best_passages(ranked):
    """The first HITS that do not repeat words of one another: windows overlap their neighbours."""
    shown = []
    for index in ranked:
        if index >= 0 and all(abs(index - other) > 6 for other in shown):
            shown.append(index)
        if len(shown) == HITS:
            break
    return shown


def print_answers(question, passages, formats, tops):
    """`tops` holds each format's ranking for this question."""
    print(f"\n{question}")
    for index in best_passages(tops[0]):
        ranks = [f"{name} #{list(top).index(index) + 1 if index in top else '-'}"
                 for name, top in zip(formats, tops)]
        print(f"  {', '.join(ranks)}\n      ... {passages[index]} ...")


def main():
    vectors, results_folder = map(pathlib.Path, sys.argv[1:3])
    formats = sys.argv[3:]
    texts = json.loads((vectors / "passages.json").read_text())
    results = [json.loads((results_folder / f"{name}.json").read_text()) for name in formats]
    tops = [read_int32_npy(results_folder / f"{name}.topk.npy") for name in formats]
    print(f"\n{len(texts['questions'])} questions, {len(texts['passages'])} passages of "
          f"{texts['source']}\n")
    print_table(results)
    print("\nrecall: the share of the unquantized top k that was found; bitwise_equal: every score"
          "\nhas the bits of the reference evaluator; findings: what the emulator's checks saw."
          "\nPassages that overlap a better one are left out.")
    for row, question in enumerate(texts["questions"]):
        print_answers(question, texts["passages"], formats, [top[row] for top in tops])


if __name__ == "__main__":
    main()
