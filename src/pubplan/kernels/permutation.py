"""A random permutation that is computed, not stored."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pubplan.kernels.decorator import kernel


@kernel
def permute(first: int, keys: npt.NDArray[np.uint64], images: npt.NDArray[np.int64], size: int, half_bits: int) -> None:
    """Write the images of ``first``, ``first + 1``, … under a keyed permutation of 0 … ``size - 1``.

    A Feistel network over ``2 * half_bits`` bits, one round per key; an image outside the range walks on along its
    cycle until it comes back inside, which keeps the map one to one. ``4 ** half_bits`` must be at least ``size``.
    """
    for index in range(len(images)):
        images[index] = image_of(first + index, keys, size, half_bits)


@kernel
def image_of(number: int, keys: npt.NDArray[np.uint64], size: int, half_bits: int) -> int:
    """The image of one number under the same permutation."""
    half_mask = np.uint64((1 << half_bits) - 1)
    shift = np.uint64(half_bits)
    limit = np.uint64(size)
    value = np.uint64(number)
    while True:
        left = value >> shift
        right = value & half_mask
        for key in keys:
            mixed = (right ^ key) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
            mixed *= np.uint64(0xD6E8FEB86659FD93)
            mixed ^= mixed >> np.uint64(29)
            left, right = right, left ^ (mixed & half_mask)
        value = (left << shift) | right
        if value < limit:
            return np.int64(value)  # type: ignore[return-value]
