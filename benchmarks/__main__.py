"""All benchmarks, or those named: ``python -m benchmarks select overlay``."""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path

from pubplan.problems import FAMILIES

ALL = ("startup", "workload", "pipeline", *FAMILIES)

with tempfile.TemporaryDirectory(prefix="pubplan-bench-") as directory:
    for name in sys.argv[1:] or ALL:
        import_module(f"benchmarks.{name}").run(Path(directory))
