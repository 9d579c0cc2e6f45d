"""Two writers of one table, each with a log of its own, that try to commit every version at once.

Run by a test as `python -m tests.stack.racing STORAGE VERSIONS`; its last line says who won which, as JSON.
"""

from __future__ import annotations

import json
import sys
import threading

from tests.spark.streams import note
from weft.runtime import session
from weft.streams.table import Table, TableConflictError

SCHEMA = {
    "type": "struct",
    "fields": [{"name": "n", "type": "long", "nullable": True, "metadata": {}}],
}


def main() -> None:
    """Race, and say who won what."""
    storage, versions = sys.argv[1], int(sys.argv[2])
    spark = session.create("local[1]", app="weft-racing", storage=storage)
    path = f"{storage}/streams/raced"
    Table(spark, path).create(SCHEMA)
    won: dict[int, list[str]] = {knot: [] for knot in range(1, versions + 1)}
    together = threading.Barrier(2)

    def write(writer: str) -> None:
        table = Table(spark, path)
        for knot, winners in won.items():
            expected = table.version()
            together.wait()
            try:
                table.commit(expected, note(knot, id=writer), [])
                winners.append(writer)
            except TableConflictError:
                pass
            together.wait()

    writers = [threading.Thread(target=write, args=(name,)) for name in ("one", "other")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    kept = {knot.note.knot: [knot.note.id] for knot in Table(spark, path).knots()}
    session.stop(spark)
    sys.stdout.write(json.dumps({"won": won, "kept": kept}) + "\n")


if __name__ == "__main__":
    main()
