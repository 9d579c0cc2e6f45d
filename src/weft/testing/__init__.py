"""The test kit: a real weaver and a real worker in this process, fed and looked at by a test.

with play(project, storage=tmp_path) as run:
    run.feed("orders", [{"id": 1, "total": "9.50"}])
    assert run.rows("clean-orders") == [...]

assert recorded("tests/orders-of-march").differences("weft.yaml", storage=tmp_path) == []

`playing` has the first, `recording` the second.
"""

from weft.testing.playing import NotIdleError, Play, Record, play, shared_session
from weft.testing.recording import RecordedRange, recorded

__all__ = [
    "NotIdleError",
    "Play",
    "Record",
    "RecordedRange",
    "play",
    "recorded",
    "shared_session",
]
