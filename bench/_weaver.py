"""The weaver by itself: how many pins a second it answers, and how fast a lineage query is among a million knots.

A real server process on RocksDB, and on a Cassandra node of this machine, asked over HTTP.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import orjson
import psutil

from bench._report import Figures, say
from tests.faults.cluster import Cluster
from tests.stack.stores import new_keyspace
from weft import codec
from weft.clock import SystemClock, iso
from weft.lineage.facts import DataFile, Facts, Output, StepRecord, StreamSchema
from weft.lineage.knot import Knot, Parent
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets
from weft.loading.load import load
from weft.servers.cassandra import Cassandra
from weft.weaver.catalog import Catalog
from weft.weaver.knots import Head, store_head, store_knot, uses_of
from weft.weaver.store.records import Records
from weft.weaver.store.rocks import RocksStore
from weft.windows.watermark import Partition, Watermarks

PIPELINES = 8
"""Pipelines that run at once, each waiting for its own answers."""
HASH = "5f" * 32
SCHEMA = {"id": "long", "total": "decimal(10,2)", "at": "timestamp"}


def pins(quick: bool) -> Figures:
    """Pins a second, and whole knots: pins that are each followed by their completion, as for a batch."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        return _rates(Path(scratch) / "storage", None, quick)


def shared_pins(quick: bool) -> Figures:
    """The same over a store in Cassandra, where every answer waits for a lightweight transaction."""
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cassandra(Path(scratch) / "cassandra") as cassandra,
    ):
        found = _rates(Path(scratch) / "storage", new_keyspace(cassandra), quick)
    return {f"cassandra_{name}": rate for name, rate in found.items()}


def _rates(storage: Path, store: str | None, quick: bool) -> Figures:
    seconds = 1.0 if quick else 5.0
    streams = {
        f"stream-{n}": {"source": {"mock": {}}, "schema": SCHEMA, "key": "id"}
        for n in range(PIPELINES)
    }
    project = {"app_name": "bench", "streams": streams}
    with Cluster(project, storage, lease_s=60, store=store) as cluster:
        body = {"host": "bench", "pid": 1, "master": "none", "started": iso(SystemClock().now())}
        held = cluster.api.post("/workers/bench/sync", json={**body, "wait": 0}).json()
        tokens = {name: given["token"] for name, given in held["pipelines"].items()}
        host, port = cluster.address.removeprefix("http://").split(":")
        ended: dict[str, Any] = {}
        asyncio.run(_pin_for(host, int(port), tokens, 1.0, ended, completes=True))
        rates: dict[str, list[float]] = {"pins": [], "knots": []}
        server = psutil.Process(cluster.weaver.pid)
        for what in ("pins", "knots") * 3:
            before = sum(server.cpu_times()[:2])
            count = asyncio.run(
                _pin_for(host, int(port), tokens, seconds, ended, completes=what == "knots")
            )
            cpu_ms = (sum(server.cpu_times()[:2]) - before) * 1000 / count
            rates[what].append(count / seconds)
            say(f"{what:10} {rates[what][-1]:,.0f} a second; {cpu_ms:.2f} ms CPU each")
    return {f"{what}_per_s": round(statistics.median(found)) for what, found in rates.items()}


async def _pin_for(
    host: str,
    port: int,
    tokens: dict[str, int],
    seconds: float,
    ended: dict[str, Any],
    *,
    completes: bool,
) -> int:
    """Pin for so long; `ended` is where the newest knot of each stream has ended, kept from round to round."""
    until = time.monotonic() + seconds
    epoch = time.monotonic_ns()  # batches of this round are new to the weaver
    each = [
        _tie(host, port, name, token, epoch, until, ended, completes=completes)
        for name, token in tokens.items()
    ]
    return sum(await asyncio.gather(*each))


async def _tie(
    host: str,
    port: int,
    stream: str,
    token: int,
    epoch: int,
    until: float,
    ended: dict[str, Any],
    *,
    completes: bool,
) -> int:
    reader, writer = await asyncio.open_connection(host, port)
    who = {"worker": "bench", "token": token}
    facts = _facts(stream)
    batch = 0
    while time.monotonic() < until:
        # A batch begins where the newest knot ended: one that is not completed moves nothing.
        start = ended.get(stream, [None, None])
        offsets = {"from": start, "to": [{"epoch": epoch, "record": batch + 1}, None]}
        pin = {"pipeline": stream, "stream": stream, **who, "epoch": epoch, "batch": batch}
        pin |= {"offsets": {**offsets, "inputs": {}}, "inputs": {}}
        answer = await _post(reader, writer, "/pins", pin)
        if completes:
            path = f"/pins/{stream}/{answer['knot']['number']}/complete"
            await _post(reader, writer, path, {**who, "facts": facts})
            ended[stream] = offsets["to"]
        batch += 1
    writer.close()
    await writer.wait_closed()
    return batch


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: Any
) -> Any:
    """One request on a connection that stays open: a client that costs the machine next to nothing."""
    content = orjson.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
    headers = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(headers.split(b"content-length: ")[1].split(b"\r\n")[0])
    answer = await reader.readexactly(length)
    if not headers.startswith(b"http/1.1 2"):
        raise RuntimeError(f"{path}: {answer.decode()}")
    return orjson.loads(answer)


def _facts(stream: str) -> dict[str, Any]:
    """What a small batch reports of itself."""
    now = iso(SystemClock().now())
    file = DataFile(f"0000000001-{stream}.parquet", rows=100, bytes=2048, sha256=HASH)
    partition = Partition(highest_ms=1, seen_at_ms=1, state="active", watermark_ms=1)
    facts = Facts(
        outputs={stream: Output(100, 2048, HASH, 1, (file,))},
        schema=HASH,
        schemas={stream: StreamSchema(HASH, "main", {"type": "struct", "fields": []})},
        ledger=Ledger(rows_in=100, out=100),
        steps=(StepRecord(stream, HASH, {}, None, HASH, 100, 100, now, now, "bench"),),
        completed=now,
        watermark=1,
        watermarks=Watermarks(value_ms=1, partitions={"0": partition, "1": partition}),
        duration_ms=20,
    )
    return codec.to_form(facts)


def lineage(quick: bool) -> Figures:
    """Milliseconds of a lineage query over a chain of four streams, a million knots in all."""
    each, asked = (2_000, 50) if quick else (250_000, 300)
    names = ("orders", "clean", "priced", "totals")
    pipelines = {
        after: {"from": before, "steps": [{"filter": "id > 0"}], "to": after}
        for before, after in pairwise(names)
    }
    source = {"source": {"mock": {}}, "schema": SCHEMA, "key": "id"}
    project = {"app_name": "bench", "streams": {names[0]: source}, "pipelines": pipelines}
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        storage = Path(scratch) / "storage"
        _fill(storage / "weaver", project, names, each)
        with (
            Cluster(project, storage) as cluster,
            closing(httpx.Client(base_url=cluster.address, trust_env=False)) as client,
        ):
            taken = []
            for number in random.Random(1).choices(range(1, each + 1), k=asked):
                params: dict[str, str | int] = {"stream": "priced", "knot": number}
                began = time.perf_counter()
                answer = client.get("/lineage", params=params).raise_for_status()
                taken.append((time.perf_counter() - began) * 1000)
                assert len({node["stream"] for node in answer.json()["nodes"]}) == len(names)
    say(f"lineage    {statistics.median(taken):.1f} ms, worst {max(taken):.1f} ms")
    return {"lineage_ms": round(statistics.median(taken), 2)}


def _fill(folder: Path, project: dict[str, Any], names: tuple[str, ...], each: int) -> None:
    """Write the store as a weaver would have, a thousand knots at a time."""
    with closing(RocksStore(folder)) as store:
        writes, _ = Catalog(Records(store)).deploy(load(project))
        store.apply(writes)
        for position, stream in enumerate(names):
            above = names[position - 1] if position else None
            previous: Knot | None = None
            writes = []
            for number in range(1, each + 1):
                knot = previous = _knot(stream, above, number, previous)
                writes += [store_knot(knot), *uses_of(knot)]
                if number % 1000 == 0:
                    store.apply(writes)
                    writes = []
            store.apply([*writes, store_head(stream, Head(each, each))])
            say(f"lineage    {each:,} knots of {stream} are stored")


def _knot(stream: str, above: str | None, number: int, previous: Knot | None) -> Knot:
    now = "2026-01-01T00:00:00.000000Z"
    return Knot(
        id=f"{stream}-{number}",
        stream=stream,
        pipeline=stream,
        number=number,
        epoch=0,
        batch=number - 1,
        parents=(Parent(above, number, number),) if above else (),
        offsets=Offsets((number - 1,), (number,), {above: number} if above else {}),
        rules=(),
        now=now,
        seed=number,
        previous=previous.number if previous else None,
        previous_hash=previous.hash if previous else None,
        outputs={stream: Output(100, 2048, HASH, number)},
        ledger=Ledger(rows_in=100, out=100),
        steps=(StepRecord(stream, HASH, {}, HASH, HASH, 100, 100, now, now, "bench"),),
        completed=now,
    ).sealed()
