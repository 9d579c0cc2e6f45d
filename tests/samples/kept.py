"""What sources and sinks keep in forms of their own, from which `tools/record_samples.py` records samples."""

from __future__ import annotations

from weft.sinks.position import Position, SlotPosition
from weft.sources.admission import Admitted, Entry, Remark
from weft.sources.lines import Place
from weft.sources.offset import Offset, Tail

ADMITTED: tuple[Entry, ...] = (
    Admitted("/in/a.json", 120, 1_767_225_600_000_000_000),
    Admitted("/in/größe.csv", 900, 1_767_225_600_000_000_001, 1, 77, "ab12", "cd34", 512, True),
    Remark("closed", 0, 12, 120, "ef56", 80),
    Remark("changed", 1, 3, 40, "0a1b", 900, 78),
    Admitted("/in/a.json", 60, 1_767_225_700_000_000_000, 2, 79, "ab13", "cd35", 60),
)
OFFSET = Offset(3, Place(7, 410), {0: Tail(Place(12, 120), "ef56"), 2: Tail(Place(1, 9), "aa")})
HISTORY = "8a3d0000-0000-4000-8000-00000000000b"
POSITION = Position(
    HISTORY,
    "5f0c1e0e9d2b4b6c8f3a7d1e2c4b6a80",
    (SlotPosition(12, 0b1101, 5), SlotPosition(11)),
    ((3, 5), (8, 8)),
)
STATED = {"watermark": 1_767_225_600_000, "position": {"page": 3}}
RECORDS = ((0, b'{"id":1}'), (3, "größe;2".encode()), (0, b""))
