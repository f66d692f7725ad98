#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the demo's tensors from a real text: what an indexer sees, without a language model.

Keys are overlapping windows of the text, queries are plain questions. Both are means of the static
word vectors that the wheel `wordllama` carries (first 128 dimensions), centred on the mean of all
keys, so that unrelated passages score about zero, and scaled to norm sqrt(128), which is what the
LayerNorm before a real indexer's keys gives them.

Heads. One vector a question becomes H = 64 query heads: head 0 is the vector q itself, head h > 0
is R_h q. R_h rotates each of the 64 planes spanned by the pairs of a random orthonormal basis by
+0.25 or -0.25 rad. So every head has the norm of q and <q, R_h q> = cos(0.25) |q|^2 exactly: heads
differ, and still agree about which passages matter. Weights are positive, between 0.5 and 1.5
times H^-0.5 * D^-0.5. All randomness has a fixed seed.

Writes q.npy [T,64,128], k.npy [N,128], w.npy [T,64] (float32) and passages.json
({"source": text, "questions": [T], "passages": [N]}) into a folder.
"""
import argparse
import importlib.util
import json
import pathlib

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS, DIM, ANGLE, SEED = 64, 128, 0.25, 20250929
WINDOW = 24  # words a passage
LICENSES = pathlib.Path("/usr/share/common-licenses")
# From Debian's base-files, one of each family: GPL-1 to GPL-3 say much the same.
FULL_TEXTS = ["GPL-3", "LGPL-3", "GFDL-1.3", "MPL-2.0", "Apache-2.0", "Artistic", "CC0-1.0"]
QUESTIONS = [
    "What happens if somebody sues over a patent?",
    "Is there any warranty, and who pays for damages?",
    "Must I state that I changed the files?",
    "May I use the name or the trademarks of the authors?",
]


def windows(text, stride):
    words = text.split()
    return [" ".join(words[i:i + WINDOW]) for i in range(0, len(words) - WINDOW + 1, stride)]


def passages(small):
    if small:
        text = pathlib.Path(__file__).resolve().parents[2] / "LICENSE"
        return "the Apache License 2.0", windows(text.read_text(), stride=4)
    found = [LICENSES / name for name in FULL_TEXTS if (LICENSES / name).is_file()]
    if not found:
        raise SystemExit(f"no licence texts in {LICENSES} (Debian's base-files brings them)")
    source = f"{len(found)} licence texts in {LICENSES}"
    return source, [w for path in found for w in windows(path.read_text(), stride=5)]


class WordVectors:
    """Mean of static word vectors. Reads the wheel's two files; needs no network."""

    def __init__(self):
        package = pathlib.Path(importlib.util.find_spec("wordllama").origin).parent
        weights = load_file(package / "weights" / "l2_supercat_256.safetensors")
        self.vectors = weights["embedding.weight"][:, :DIM].astype(np.float32)
        self.tokenizer = Tokenizer.from_file(
            str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))

    def embed(self, text):
        ids = self.tokenizer.encode(text.lower(), add_special_tokens=False).ids
        return self.vectors[ids].mean(axis=0)


def scaled(vectors):
    return vectors * (np.sqrt(DIM) / np.linalg.norm(vectors, axis=-1, keepdims=True))


def head_rotation(rng):
    basis, _ = np.linalg.qr(rng.standard_normal((DIM, DIM)))
    angles = ANGLE * rng.choice([-1.0, 1.0], size=DIM // 2)
    planes = np.zeros((DIM, DIM))
    even, odd = np.arange(0, DIM, 2), np.arange(1, DIM, 2)
    planes[even, even] = planes[odd, odd] = np.cos(angles)
    planes[even, odd], planes[odd, even] = -np.sin(angles), np.sin(angles)
    return basis @ planes @ basis.T


def make(small):
    source, texts = passages(small)
    vectors = WordVectors()
    keys = np.stack([vectors.embed(text) for text in texts])
    centre = keys.mean(axis=0)
    questions = scaled(np.stack([vectors.embed(text) for text in QUESTIONS]) - centre)
    rng = np.random.default_rng(SEED)
    rotations = np.stack([np.eye(DIM)] + [head_rotation(rng) for _ in range(HEADS - 1)])
    queries = np.einsum("hij,tj->thi", rotations, questions)
    weights = rng.uniform(0.5, 1.5, size=(len(QUESTIONS), HEADS)) * (HEADS * DIM) ** -0.5
    tensors = {"q": queries, "k": scaled(keys - centre), "w": weights}
    return tensors, {"source": source, "questions": QUESTIONS, "passages": texts}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true",
                        help="the pair in tests/data/demo: windows of this checkout's LICENSE")
    arguments = parser.parse_args()
    tensors, texts = make(arguments.small)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, tensor in tensors.items():
        np.save(arguments.folder / f"{name}.npy", np.ascontiguousarray(tensor, dtype=np.float32))
    (arguments.folder / "passages.json").write_text(json.dumps(texts, indent=0) + "\n")


if __name__ == "__main__":
    main()
