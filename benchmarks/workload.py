"""Generating and reading workloads of Spotify and Twitter shape: speed, memory, growth."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import command, growth, measured, table

SCALES = {"spotify": (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1), "twitter": (1 / 64, 1 / 16, 1 / 4, 1)}


def run(directory: Path) -> None:
    import pubplan

    pubplan.build_workload(directory / "tiny", {"a": 1}, {"x": ["a"]}).csr()  # kernels are compiled now
    for shape, scales in SCALES.items():
        command("generate", shape, "--scale", 0.001, "--out", directory / f"{shape}-tiny")  # these too
        _grow(directory, shape, scales)


def _grow(directory: Path, shape: str, scales: tuple[float, ...]) -> None:
    import pubplan
    from pubplan.workload.topic.csr import csr_bytes

    rows, seconds = [], {"generate": [], "csr": []}
    for scale in scales:
        out = directory / f"{shape}-{scale}"
        wall, peak = command("generate", shape, "--scale", scale, "--out", out)
        workload = pubplan.read_workload(out)
        _, idle = measured(lambda: None)
        read, read_peak = measured(workload.csr)
        arrays = csr_bytes(workload.counts)
        seconds["generate"].append(wall)
        seconds["csr"].append(read)
        rows.append(
            [
                *(f"{scale:g}", f"{workload.counts.pairs:,}", f"{wall:.1f}", f"{peak / 1e6:.0f}"),
                *(f"{read:.2f}", f"{arrays / 1e6:.0f}", f"{(read_peak - idle) / arrays:.2f}"),
            ]
        )
    header = ["scale", "pairs", "generate s", "peak MB", "csr() s", "arrays MB", "csr() peak / arrays"]
    table(f"Workload, {shape.capitalize()} shape; from 128 blocks on with Spark, its start included", header, rows)
    exponents = {name: growth(scales, values) for name, values in seconds.items()}
    print("  growth exponent: " + ", ".join(f"{name} {value:.2f}" for name, value in exponents.items()))
