"""What is damaged in a store is passed over where the rest of it is to be saved."""

from __future__ import annotations

from pathlib import Path

from weft.weaver.knots import Batch
from weft.weaver.store.intact import IntactStore
from weft.weaver.store.records import Records, put
from weft.weaver.store.rocks import RocksStore
from weft.weaver.store.store import Write, key


def test_damaged_records_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    store = RocksStore(tmp_path)
    store.apply([put("line", "batch", number, value=Batch(number)) for number in range(5)])
    store.apply([Write(key("line", "batch", 2), b"something else altogether")])
    store.close()
    intact = IntactStore(tmp_path)
    try:
        records = Records(intact)
        assert [batch.knot for batch in records.scan(Batch, "line", "batch")] == [0, 1, 3, 4]
        assert [one.knot for one in records.scan(Batch, "line", "batch", limit=3)] == [0, 1, 3]
        assert records.find(Batch, "line", "batch", 2) is None
        assert records.find(Batch, "line", "batch", 3) == Batch(3)
    finally:
        intact.close()
