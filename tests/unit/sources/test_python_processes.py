"""What Spark's Python processes load to read a source: each of them starts with it, and there are many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from weft.sources.segment import Segments

NO_PANDAS = """
import sys
from pyspark.sql.datasource import InputPartition
from weft.sources.spark.python import EventReader

reader = EventReader(%r, 100)
rows = [batch.num_rows for batch in reader.read(InputPartition(1))]
print(sum(rows), "pandas" in sys.modules)
"""


def test_reading_a_journal_does_not_import_pandas(tmp_path: Path) -> None:
    # It takes a second.
    Segments(tmp_path).append([(0, b"one"), (0, b"two")], number=1, stated={})
    done = subprocess.run(
        [sys.executable, "-c", NO_PANDAS % {"journal": str(tmp_path)}],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["2", "False"]
