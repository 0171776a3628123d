"""The loops of ``provision``: covers of subscribers, packing of topics on VMs, placing of pairs.

Subscribers come as the rows of a CSR structure: ``topics[offsets[row] : offsets[row + 1]]``.
"""
