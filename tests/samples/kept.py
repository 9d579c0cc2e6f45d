"""What sources and sinks keep in forms of their own, from which `tools/record_samples.py` records samples."""

from __future__ import annotations

from weft.sinks.kafka import Position
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
POSITION = Position("8a3d0000-0000-4000-8000-00000000000b", 12, ((3, 5), (8, 8)))
STATED = {"watermark": 1_767_225_600_000, "position": {"page": 3}}
RECORDS = ((0, b'{"id":1}'), (3, "größe;2".encode()), (0, b""))
