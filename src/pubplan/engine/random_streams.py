"""Random numbers that depend on what they are for, never on who draws them."""

from __future__ import annotations

import hashlib

import numpy as np


def random_stream(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """The stream of (seed, purpose, block): the same on every core, executor and machine."""
    key = hashlib.sha256(f"{seed}/{purpose}/{block}".encode()).digest()[:16]
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
