"""Random numbers inside loops: a generator of 32-bit numbers whose state is the caller's.

Marsaglia's xorshift with shifts 13, 17, 5, masked to 32 bits in 64-bit integers: the same whether compiled or not.
"""

from __future__ import annotations

from pubplan.kernels import kernel
from pubplan.workload import Int64Array

_MASK = 0xFFFFFFFF


@kernel
def draw_below(generator: Int64Array, stop: int) -> int:
    """A number from 0 to before ``stop``, which is at most 2^31.

    Args:
        generator: its state, one number from 1 to 2^32 - 1; is advanced.
    """
    bits = generator[0]
    bits ^= (bits << 13) & _MASK
    bits ^= bits >> 17
    bits ^= (bits << 5) & _MASK
    generator[0] = bits
    return int((bits * stop) >> 32)
