"""What was played, replayed: every stream's live knots must come out as they are recorded."""

from __future__ import annotations

import random
from collections.abc import Iterable

from weft.testing import Play


def unverified(run: Play, streams: Iterable[str], chance: random.Random) -> list[str]:
    """The streams of which a range of live knots, chosen by chance, does not come out as it is recorded."""
    wrong = []
    for stream in streams:
        live = [knot.number for knot in run.knots(stream)]
        if not live:
            continue
        first, last = sorted(chance.choices(range(len(live)), k=2))
        after = live[first - 1] if first else 0
        source = chance.choice((None, "orders")) if stream != "orders" else None
        asked = {"stream": stream, "after": after, "upto": live[last], "source": source}
        found = run.api.post("/replays", json={**asked, "wait_s": 300}).json()
        if not found.get("verified"):
            told = found.get("first") or found.get("detail") or found.get("error")
            wrong.append(f"replay of {asked}: {found.get('status')}, {told}")
    return wrong
