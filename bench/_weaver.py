"""The weaver by itself: how many pins a second it answers, and how fast a lineage query is among a million knots.

A real server process on RocksDB, asked over HTTP.
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
from weft.clock import SystemClock, iso
from weft.lineage.knot import Knot, Output, Parent, StepRecord
from weft.lineage.ledger import Ledger
from weft.project.load import load
from weft.weaver.catalog import Catalog
from weft.weaver.knots import Head
from weft.weaver.store.records import Records, put
from weft.weaver.store.rocks import RocksStore

PIPELINES = 8
"""Pipelines that run at once, each waiting for its own answers."""
HASH = "5f" * 32
SCHEMA = {"id": "long", "total": "decimal(10,2)", "at": "timestamp"}


def pins(quick: bool) -> Figures:
    """Pins a second, and whole knots: pins that are each followed by their completion, as for a batch."""
    seconds = 1.0 if quick else 5.0
    streams = {
        f"stream-{n}": {"source": {"mock": {}}, "schema": SCHEMA, "key": "id"}
        for n in range(PIPELINES)
    }
    project = {"app_name": "bench", "streams": streams}
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cluster(project, Path(scratch) / "storage", lease_s=60) as cluster,
    ):
        body = {"host": "bench", "pid": 1, "master": "none", "started": iso(SystemClock().now())}
        held = cluster.api.post("/workers/bench/sync", json={**body, "wait": 0}).json()
        tokens = {name: given["token"] for name, given in held["pipelines"].items()}
        host, port = cluster.address.removeprefix("http://").split(":")
        asyncio.run(_pin_for(host, int(port), tokens, 1.0, completes=True))
        rates: dict[str, list[float]] = {"pins": [], "knots": []}
        server = psutil.Process(cluster.weaver.pid)
        for what in ("pins", "knots") * 3:
            before = sum(server.cpu_times()[:2])
            count = asyncio.run(
                _pin_for(host, int(port), tokens, seconds, completes=what == "knots")
            )
            cpu_ms = (sum(server.cpu_times()[:2]) - before) * 1000 / count
            rates[what].append(count / seconds)
            say(f"{what:10} {rates[what][-1]:,.0f} a second; {cpu_ms:.2f} ms CPU each")
    return {f"{what}_per_s": round(statistics.median(found)) for what, found in rates.items()}


async def _pin_for(
    host: str, port: int, tokens: dict[str, int], seconds: float, *, completes: bool
) -> int:
    until = time.monotonic() + seconds
    epoch = time.monotonic_ns()  # batches of this round are new to the weaver
    each = [
        _tie(host, port, name, token, epoch, until, completes=completes)
        for name, token in tokens.items()
    ]
    return sum(await asyncio.gather(*each))


async def _tie(
    host: str, port: int, stream: str, token: int, epoch: int, until: float, *, completes: bool
) -> int:
    reader, writer = await asyncio.open_connection(host, port)
    who = {"worker": "bench", "token": token}
    batch = 0
    while time.monotonic() < until:
        offsets = {"from": [{"record": batch}, None], "to": [{"record": batch + 1}, None]}
        pin = {"pipeline": stream, "stream": stream, **who, "epoch": epoch, "batch": batch}
        pin |= {"offsets": {**offsets, "inputs": {}}, "inputs": {}}
        answer = await _post(reader, writer, "/pins", pin)
        if completes:
            path = f"/pins/{stream}/{answer['knot']['number']}/complete"
            await _post(reader, writer, path, {**who, "facts": _facts(stream)})
        batch += 1
    writer.close()
    await writer.wait_closed()
    return batch


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: Any
) -> Any:
    """One request on a connection that stays open: a client that costs the machine next to nothing."""
    content = orjson.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nhost: weaver\r\ncontent-type: application/json\r\n"
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
    file = {"path": f"0000000001-{stream}.parquet", "bytes": 2048, "rows": 100, "sha256": HASH}
    step = {"function": stream, "version": HASH, "parameters": {}, "input_hash": None}
    step |= {"output_hash": HASH, "rows_in": 100, "rows_out": 100, "started": now, "ended": now}
    partition = {"watermark": 1, "seen": now, "idle": False}
    schema = {"type": "struct", "fields": []}
    return {
        "outputs": {
            stream: {"rows": 100, "bytes": 2048, "hash": HASH, "files": [file], "version": 1}
        },
        "schema": HASH,
        "schemas": {stream: {"fingerprint": HASH, "kind": "main", "schema": schema}},
        "ledger": Ledger(rows_in=100, out=100).to_dict(),
        "watermark": 1,
        "watermarks": {"partitions": {"0": partition, "1": partition}, "held_by": ["0"]},
        "state": None,
        "duration_ms": 20,
        "steps": [{**step, "where": "bench"}],
    }


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
                writes.append(put("knot", stream, number, record=knot.to_dict()))
                if above:
                    use = {"first": number, "knot": number}
                    writes.append(put("use", above, stream, number, number, record=use))
                if number % 1000 == 0:
                    store.apply(writes)
                    writes = []
            store.apply([*writes, put("head", stream, record=Head(each, each).to_dict())])
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
        offsets={"from": [number - 1], "to": [number], "inputs": {above: number} if above else {}},
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
