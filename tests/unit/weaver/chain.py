"""A weaver in memory with knots that a test ties and cuts by itself."""

from __future__ import annotations

from weft.clock import Clock
from weft.lineage.facts import Facts, Output
from weft.lineage.knot import Knot, RuleRef, Status
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets
from weft.loading.load import load
from weft.weaver.knots import Head, PinRequest, store_head, store_knot
from weft.weaver.store.memory import MemoryStore
from weft.weaver.weaver import Weaver

PROJECT = {
    "app_name": "plans",
    "streams": {
        "orders": {"source": {"mock": {}}, "schema": {"id": "long"}, "key": "id"},
    },
    "pipelines": {"clean": {"from": "orders", "steps": [{"filter": "id > 0"}], "to": "clean"}},
}


def make_weaver(clock: Clock | None = None) -> Weaver:
    """A weaver that runs PROJECT and has no knots yet."""
    weaver = Weaver(MemoryStore(), clock=clock)
    writes, _ = weaver.catalog.deploy(load(PROJECT))
    weaver.store.apply(writes)
    return weaver


def pin(
    weaver: Weaver, stream: str, *, consumed: dict[str, int] | None = None, rule: str | None = None
) -> Knot:
    """The next knot of a stream, which begins where the newest one ended, and may meet a rule."""
    newest = weaver.knots.newest(stream)
    last = weaver.knots.head(stream).last
    start = newest.offsets.end if newest else (None,)
    offsets = Offsets(start, ({"at": last + 1},), consumed or {})
    request = PinRequest(stream, stream, 0, last, offsets, {})
    met = (RuleRef(rule, "ef" * 32, 100.0),) if rule else ()
    return weaver.knots.pin(request, lambda _: met)[0]


def tie(
    weaver: Weaver, stream: str, *, consumed: dict[str, int] | None = None, rule: str | None = None
) -> int:
    """One more knot of a stream."""
    knot = pin(weaver, stream, consumed=consumed, rule=rule)
    return weaver.knots.complete(knot, made(stream), lambda _: []).number


def made(stream: str) -> Facts:
    """What a batch of one record has written."""
    return Facts(
        outputs={stream: Output(1, 10, "ab" * 32)},
        schema="cd" * 32,
        schemas={},
        ledger=Ledger(rows_in=1, out=1),
        steps=(),
        completed="2026-01-01T00:00:00Z",
    )


def cut(weaver: Weaver, stream: str, *, keep: int) -> None:
    """What a rollback leaves behind: knots that are rolled back, and a head that has gone back."""
    gone = [k.becoming(Status.ROLLED_BACK) for k in weaver.knots.after(stream, keep)]
    head = Head(keep or None, weaver.knots.head(stream).last)
    weaver.store.apply([*map(store_knot, gone), store_head(stream, head)])
