"""How many random instances a test tries."""

from __future__ import annotations

import os

from hypothesis import settings

MANY = settings(max_examples=1000 if os.environ.get("PUBPLAN_EXAMPLES") == "soak" else 100)
"""For twins that must agree on every instance."""
