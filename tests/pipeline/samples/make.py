"""Writes the samples of pandas, DuckDB and Spark with their defaults: python tests/pipeline/samples/make.py"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pandas as pd

from pubplan.engine import spark_session

HERE = Path(__file__).parent
EVENTS = pd.DataFrame(
    {
        "topic": ["Abba", "Earth, Wind & Fire", "Abba", '12" mix', "Abba"],
        "timestamp": pd.to_datetime(
            [
                "2026-03-01 10:00:00",
                "2026-03-01 10:00:01.5",
                "2026-03-01 10:00:02.123",
                "2026-03-01 10:00:03",
                "2026-03-01 10:00:04",
            ],
            format="ISO8601",
        ),
        "size": pd.array([100, None, 201, 50, 0], dtype="Int64"),
    }
)


def fresh(name: str) -> Path:
    shutil.rmtree(HERE / name, ignore_errors=True)
    (HERE / name).mkdir()
    return HERE / name


def main() -> None:
    pandas = fresh("pandas")
    loose = EVENTS.astype({"size": "float64"})  # what reading a CSV with gaps gives
    EVENTS.to_csv(pandas / "events.csv")
    loose.to_csv(pandas / "loose.csv")
    EVENTS.to_parquet(pandas / "events.parquet")
    loose.to_parquet(pandas / "loose.parquet")
    EVENTS.to_json(pandas / "lines.json", orient="records", lines=True)
    EVENTS.to_json(pandas / "records.json", orient="records")
    ducks = fresh("duckdb")
    with duckdb.connect() as connection:
        connection.register("events", EVENTS)
        for extension in ("csv", "parquet", "json"):
            connection.execute(f"copy events to '{ducks}/events.{extension}'")
    sparks = fresh("spark")
    with spark_session("local[1]") as spark:
        schema = "topic string, timestamp timestamp, size bigint"
        frame = spark.read.csv(str(ducks / "events.csv"), schema=schema, header=True, escape='"').coalesce(1)
        for extension in ("csv", "parquet", "json", "orc"):
            frame.write.format(extension).save(str(sparks / f"events.{extension}"))
    for checksum in sparks.rglob("*.crc"):
        checksum.unlink()


if __name__ == "__main__":
    main()
