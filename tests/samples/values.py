"""A typical and a rich value of every kind that is stored, from which `tools/record_samples.py` records samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.samples.kept import ADMITTED
from weft.anomalies.detector import Detector
from weft.lineage.facts import (
    ColumnSummary,
    DataFile,
    Facts,
    FilledPart,
    Output,
    Recording,
    StepRecord,
    StreamSchema,
)
from weft.lineage.identity import Mark
from weft.lineage.knot import Knot, Parent, RuleRef, Status
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets
from weft.operations import step as steps
from weft.operations.cut import Cut, Span
from weft.operations.operation import Hold, Operation, OperationStatus
from weft.project.definition import PipelineSpec, Project, SinkSpec, SourceSpec, StreamSpec
from weft.project.provenance import ProvenanceSpec
from weft.project.secret import definition_of
from weft.project.settings import HistorySpec, Keyframes, Processing, ScalingSpec, WatermarkSpec
from weft.replays.leg import KeptState, Leg, Phase
from weft.replays.recording import FedKnot, KnotExport, RecordedKnot
from weft.runtime.layout import Layout
from weft.scaling.history import MEASURES
from weft.schema.schema import Schema
from weft.sources.admission import Admitted, Remark
from weft.sources.postgres.changes import LogPosition
from weft.sources.postgres.slot import SlotRecord
from weft.steps.function import FunctionVersion
from weft.steps.step import steps_from
from weft.streams.floor import LogFloor
from weft.streams.note import Definitions, Note
from weft.streams.storage import Owner
from weft.weaver.alerts import Alert
from weft.weaver.catalog import Deployed, KnownSchema, Pipeline, Stream
from weft.weaver.compacting import CompactedRows
from weft.weaver.decisions import Judged, ScalingDecision
from weft.weaver.events import Event
from weft.weaver.expiring import ExpiredRows
from weft.weaver.functions import DeployRecord
from weft.weaver.identity import StoreRecord
from weft.weaver.knots import Batch, Head, KnotFloor, Use
from weft.weaver.leases import Lease
from weft.weaver.loads import LoadPage
from weft.weaver.watching import AnomalyRecord
from weft.weaving.rule import Deed, Rule, RuleStatus
from weft.weaving.trail import Transformation
from weft.windows.watermark import Partition, Watermarks

MOMENT, LATER = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:01.250000Z"
KNOT_ID, OTHER_ID = "6f1c2f0e-0000-4000-8000-000000000001", "6f1c2f0e-0000-4000-8000-000000000002"
HISTORY, LIFE = "8a3d0000-0000-4000-8000-00000000000a", "8a3d0000-0000-4000-8000-00000000000b"
GENERATIONS = ("8a3d0000-0000-4000-8000-0000000000c1", "8a3d0000-0000-4000-8000-0000000000c2")

ORDERS = Schema.of({"id": "long", "email": "string", "total": "decimal(10,2)", "at": "timestamp"})
NESTED = Schema.of({"größe": "double", "tags": "array<string>", "by": "map<string,struct<n:int>>"})

FUNCTION = FunctionVersion(
    "shop:mask", "12" * 32, "row", {"shop": "def mask(record):\n    return record\n"}
)
RICH_FUNCTION = FunctionVersion(
    ref="shop.rules:Score",
    version="34" * 32,
    form="batch",
    modules={
        "shop": "",
        "shop.rules": "import shop\n\ndef Score(batch, keep):\n    return batch\n",
    },
    parameters={"keep": 2, "words": ["a", "ü"]},
    returns=NESTED,
    adds=Schema.of({"score": "double"}),
    needs=("numpy>=2",),
    python="3.11",
    spark="4.2.0",
    kernel="78" * 32,
    installed={"numpy": "2.1.3"},
)

FILE = DataFile("0000000007-00000.parquet", rows=8, bytes=900, sha256="ab" * 32)
OUTPUT = Output(rows=8, bytes=900, hash="cd" * 32, version=7, files=(FILE,))
ROOTED = replace(OUTPUT, files=(replace(FILE, root="ef" * 32),), schema=ORDERS.fingerprint)
STEP_RECORD = StepRecord(
    function="clean",
    version="12" * 32,
    parameters={"rate": 0.5},
    input_hash="34" * 32,
    output_hash="cd" * 32,
    rows_in=12,
    rows_out=8,
    started=MOMENT,
    ended=LATER,
    where="host/worker-1",
)
WATERMARKS = Watermarks(
    value_ms=1_767_225_600_000,
    stated_ms=1_767_225_500_000,
    partitions={
        "0": Partition(1_767_225_602_000, 1_767_225_603_000, "active", 1_767_225_600_000),
        "1": Partition(None, 1_767_225_603_000, "waiting", None, ahead=3),
    },
    ahead=1,
    inputs={"orders": 1_767_225_600_000, "visits": None},
    windows=4,
)
FACTS = Facts(
    outputs={"orders": replace(OUTPUT, version=None)},
    schema=ORDERS.fingerprint,
    schemas={"orders": StreamSchema(ORDERS.fingerprint, "main", ORDERS.to_json())},
    ledger=Ledger(rows_in=8, out=8),
    steps=(replace(STEP_RECORD, function="orders", input_hash=None),),
    completed=LATER,
)
RICH_FACTS = Facts(
    outputs={"revenue": replace(ROOTED, version=None), "revenue.late": ROOTED, "large": OUTPUT},
    schema=NESTED.fingerprint,
    schemas={
        "revenue": StreamSchema(NESTED.fingerprint, "main", NESTED.to_json()),
        "revenue.late": StreamSchema(ORDERS.fingerprint, "late", ORDERS.to_json()),
    },
    ledger=Ledger(
        rows_in=20,
        out=0,
        filtered={"step:0": 1, "rule:big": 2},
        late=8,
        dead=1,
        absorbed=8,
        copied={"large": 8},
        results=Ledger(rows_in=9, out=8, filtered={"rule:few": 1}),
    ),
    steps=(STEP_RECORD,),
    completed=LATER,
    watermark=1_767_225_600_000,
    watermarks=WATERMARKS,
    state=6,
    duration_ms=1250,
    provenance=Recording("sampled", 0.01, (Transformation("rule:few", "56" * 32),)),
    columns={"total": ColumnSummary(2, 19.5, 4.25), "at": ColumnSummary(0)},
)
PINNED = Knot(
    id=KNOT_ID,
    flagged=True,
    stream="orders",
    pipeline="orders",
    number=1,
    epoch=0,
    batch=0,
    parents=(),
    offsets=Offsets((None,), ({"0": 8},)),
    rules=(),
    now=MOMENT,
    seed=1,
    previous=None,
    previous_hash=None,
)
RICH_PINNED = Knot(
    id=OTHER_ID,
    stream="revenue",
    pipeline="revenue",
    number=7,
    epoch=2,
    batch=6,
    parents=(Parent("orders", 3, 5), Parent("visits", 2, 2)),
    offsets=Offsets(
        ({"knot": 2}, None), ({"knot": 5}, 17), {"orders": 5, "visits": 2}, ("visits", "orders")
    ),
    rules=(RuleRef("big", "56" * 32, 12.5),),
    now=MOMENT,
    seed=2**32 - 1,
    previous=5,
    previous_hash="78" * 32,
    replaces=6,
)

PROJECT = Project(
    name="shop",
    streams={
        "orders": StreamSpec("orders", ORDERS, SourceSpec("mock"), ("id",), "at"),
        "clean-orders": StreamSpec("clean-orders", ORDERS, key=("id",), writer="clean"),
    },
    pipelines={
        "clean": PipelineSpec(
            "clean", ("orders",), "clean-orders", steps_from([{"filter": "total > 0"}])
        )
    },
)
RICH_PROJECT = Project(
    name="Ein Laden, ganz groß",
    streams={
        "orders": StreamSpec(
            name="orders",
            schema=ORDERS,
            source=SourceSpec("kafka", {"topic": "orders", "client": {"sasl.password": "x"}}),
            key=("id",),
            event_time="at",
            watermarks=WatermarkSpec(2.0, 10.0, 60.0, "dead"),
            sinks=(SinkSpec("console", {"rows": 3}),),
            history=HistorySpec(30.0, 10_240),
        ),
        "revenue": StreamSpec(
            "revenue", NESTED, key=("größe",), event_time="_weft.event_time", writer="revenue"
        ),
        "joined": StreamSpec(
            "joined",
            ORDERS,
            writer="joined",
            clock="own",
            provenance=ProvenanceSpec("sampled", 0.01),
        ),
    },
    pipelines={
        "revenue": PipelineSpec(
            name="revenue",
            inputs=("orders",),
            to="revenue",
            steps=steps_from(
                [
                    {"set": [{"email": "lower(email)"}, {"big": "total > 10"}]},
                    {"drop": ["email"]},
                    {"select": [{"a": "id"}, {"b": "total"}]},
                    {"rename": {"a": "id"}},
                    {"function": {"ref": "shop.rules:Score", "params": {"keep": 2}}},
                ]
            ),
            window={"type": "sliding", "size_ms": 60_000, "slide_ms": 10_000},
            by=("id",),
            aggregate={"total": "sum(total)", "n": "count(*)"},
            dedupe={"by": ["id"], "within_seconds": 60},
            reducer="shop:mask",
            sinks=(SinkSpec("kafka", {"topic": "revenue", "key": ["id"]}),),
        ),
        "joined": PipelineSpec(
            "joined", ("orders", "revenue"), "joined", join={"type": "inner", "on": [["id", "id"]]}
        ),
    },
    processing=Processing(
        *(4, 500, 0.5, "memory", Keyframes(10, 64), 30.0),
        scaling=ScalingSpec(calendar={"sale": ("2026-11-27/2026-11-30",)}),
    ),
    debug=True,
    functions={"shop.rules:Score": RICH_FUNCTION, "shop:mask": FUNCTION},
)

RULE = Rule("big", "orders", steps_from([{"filter": "total > 10"}]), since=3, order=1)
RICH_RULE = Rule(
    id="discount",
    stream="clean-orders",
    steps=steps_from([{"set": {"total": "total * 0.9"}}, {"drop": ["email"]}]),
    output="discounted",
    percent=12.5,
    since=9,
    filled_after=4,
    order=2,
    author="ada",
    note="ein Versuch",
    guards=("dead_share < 0.01", "batch_ms < 2x"),
    on_breach="rollback",
    status=RuleStatus.RETIRED,
    attached=MOMENT,
    retired=LATER,
    retired_because="rollback-0a1b2c3d",
    until=12,
    history=(Deed(MOMENT, "attached", 9), Deed(LATER, "retired by rollback-0a1b2c3d", 12)),
)

CUT = Cut("clean", "clean-orders", ("clean-orders",), 0, 9, 1, 0, None, 0)
RICH_CUT = Cut(
    pipeline="revenue",
    stream="revenue",
    streams=("revenue", "revenue.late"),
    keep=7,
    last=12,
    epoch=3,
    keep_epoch=1,
    keep_batch=6,
    cut_after=4,
    revive=(Span(4, 7),),
    offsets=RICH_PINNED.offsets,
)
OPERATION = Operation(
    id="rollback-0a1b2c3d",
    kind="rollback",
    request={"stream": "clean-orders", "to": 0, "attach": None, "patience_s": 30.0},
    pipelines=("clean",),
    steps=(steps.Stop(("clean",)), steps.Plan(), steps.LetGo(("clean",))),
    asked=MOMENT,
)
RICH_OPERATION = Operation(
    id="recompute-4e5f6a7b",
    kind="recompute",
    request={"project": "9a" * 32, "pipelines": ["clean", "revenue"]},
    pipelines=("clean", "revenue"),
    steps=(
        steps.Stop(("clean", "revenue")),
        steps.Plan(),
        steps.CutCheckpoint(CUT),
        steps.Retract(
            "revenue", "revenue", Span(4, 12), ("Kafka topic revenue",), ("the console",)
        ),
        steps.CutTables(RICH_CUT),
        steps.Restore("revenue", "revenue", (Span(4, 7),), ("Kafka topic revenue",)),
        steps.Install("9a" * 32),
        steps.Settle((CUT, RICH_CUT), "clean-orders", 0, ("big",), ("discount",), RICH_RULE),
        steps.CatchUp("discount", "clean-orders", "discounted"),
        steps.Pause("clean"),
        steps.JoinLive("discount", "clean-orders", "discounted"),
        steps.Unfill("discount", "discounted"),
        steps.Divide("revenue", 4, 6, 2, 3),
        steps.Switch({"revenue": 3}, adopt=False),
        steps.Copy("2026-01-01T000000Z"),
        steps.Rerun(
            Leg(
                pipeline="revenue",
                stream="revenue",
                begin=2,
                after=3,
                upto=9,
                phases=(Phase("p" * 64, "v" * 64, 2, 9),),
                streams=("revenue", "revenue.dead"),
                recorded=("clean-orders",),
                state=KeptState(2, 1, 7),
                stateful=True,
                edits=False,
                unlike=("shop.rules:mask: Spark 4.1.0 then, 4.2.0 here",),
                knots=7,
                rows=70,
                bytes=7000,
                speed=2.5,
            )
        ),
        steps.CompareRows("revenue", 3, 9),
        steps.Clear(),
        steps.Expire("orders", 3, 9, 70, 7000),
        steps.Compact("orders", 9),
        steps.Forget("orders", 5),
        steps.LetGo(("clean", "revenue")),
    ),
    asked=MOMENT,
    by="ada",
    because="another window",
    status=OperationStatus.FAILED,
    done=3,
    attempts=2,
    error={"code": "sinks.failed", "message": "No.", "ids": {"stream": "revenue"}},
    result={"files": 3},
    finishes=True,
    finished=LATER,
)

NOTE = Note(
    knot=1,
    id=KNOT_ID,
    stream="orders.dead",
    origin="orders",
    history=HISTORY,
    generation=GENERATIONS[0],
    life=HISTORY,
    rows=8,
    hash="cd" * 32,
)
RICH_NOTE = Note(
    knot=7,
    id=OTHER_ID,
    stream="revenue",
    origin="revenue",
    history=HISTORY,
    generation=GENERATIONS[1],
    life=LIFE,
    rows=8,
    hash="cd" * 32,
    watermark=1_767_225_600_000,
    fill="discount",
    first=5,
    pinned=RICH_PINNED.to_dict(),
    facts=RICH_FACTS,
    definitions=Definitions(
        definition_of(RICH_PROJECT, "revenue", "12" * 32), (RICH_RULE.to_dict(),)
    ),
)

VALUES: Mapping[type, tuple[Any, ...]] = {
    Admitted: tuple(entry for entry in ADMITTED if isinstance(entry, Admitted)),
    Remark: tuple(entry for entry in ADMITTED if isinstance(entry, Remark)),
    Detector: (
        Detector(),
        Detector(
            seen=120,
            mean=50.0,
            variance=2.5,
            lowest=40.0,
            highest=61.5,
            season_mean=[50.0] * 48,
            season_variance=[1.5] * 48,
            season_seen=[3] * 48,
            recent=[49.0, 51.0],
            long_seen=110,
            long_mean=50.5,
            long_variance=2.25,
            season_record=4.5,
            shift_record=3.5,
            held=0.25,
            accepted={"shift": 7.5},
        ),
    ),
    AnomalyRecord: (
        AnomalyRecord(
            *(0.75, "season", 900.0, 90.0, 110.0, 8.0),
            id="orders/7.rate",
            stream="orders",
            knot=7,
            measure="rate",
            at=MOMENT,
            text="rate of orders: 900, where 90 to 110 is expected at this time of day",
            accepted=True,
        ),
    ),
    Batch: (Batch(7),),
    Deployed: (Deployed("9a" * 32),),
    DeployRecord: (
        DeployRecord(1, "9a" * 32, MOMENT),
        DeployRecord(12, "9a" * 32, LATER, {"orders": 0, "clean-orders": 7}),
    ),
    Event: (
        Event(1, "project.deployed", MOMENT),
        Event(12, "knot.tied", LATER, {"stream": "orders", "knot": 3, "rows": {"orders": 8}}),
    ),
    CompactedRows: (
        CompactedRows(7, MOMENT, "compact-0a1b2c3d"),
        CompactedRows(9, LATER, "compact-0a1b2c3d", vacuumed=12),
    ),
    KnotFloor: (
        KnotFloor(5, None, MOMENT, "expire-0a1b2c3d"),
        KnotFloor(9, "cd" * 32, LATER, "expire-0a1b2c3d"),
    ),
    LogFloor: (
        LogFloor(4, 5, 3),
        LogFloor(
            *(8, 9, 7, {"schemaString": "{}"}),
            definitions=Definitions(pipeline={"name": "orders"}, rules=({"id": "big"},)),
        ).summed(),
    ),
    ExpiredRows: (ExpiredRows(7, MOMENT, "expire-0a1b2c3d"),),
    FilledPart: (
        FilledPart("large", "big", 1, 5, 0, 0, "00" * 32, 1, (), "", {}),
        FilledPart(
            *("discounted", "discount", 6, 9, 8, 900, "cd" * 32, 2, (FILE,)),
            schema=ORDERS.fingerprint,
            columns=ORDERS.to_json(),
        ),
    ),
    FunctionVersion: (FUNCTION, RICH_FUNCTION),
    Head: (Head(), Head(7, 9, 8)),
    Hold: (Hold("clean", OPERATION.id), Hold("revenue", RICH_OPERATION.id, "stopped", 0.0)),
    Knot: (
        PINNED,
        PINNED.tied(FACTS),
        RICH_PINNED.becoming(Status.FAILED, reason="it ran for longer than 600 s"),
        RICH_PINNED.tied(RICH_FACTS).becoming(Status.ROLLED_BACK),
    ),
    KnownSchema: (KnownSchema(ORDERS), KnownSchema(NESTED)),
    Layout: (Layout(2, 8, 2),),
    Lease: (Lease("clean", "worker-1", 1), Lease("revenue", None, 42)),
    LogPosition: (
        LogPosition(in_snapshot=True),
        LogPosition(in_snapshot=False, commit=24_248_984, serial=5, safe=24_249_000),
    ),
    Alert: (
        Alert(
            *("alert-1a2b3c4d", "https://example.org/hook", ("anomaly.found",), "ab" * 16),
            created=MOMENT,
            told=12,
        ),
        Alert(
            *("alert-1a2b3c4d", "https://example.org/hook", ("anomaly.found", "knot.failed")),
            *("ab" * 16, MOMENT, 12, "it answered 500"),
        ),
    ),
    LoadPage: (LoadPage("clean", 60, 1_767_225_600, MEASURES, "gEsAAA=="),),
    ScalingDecision: (
        ScalingDecision(
            1, "host-1-ab", MOMENT, 1, 1, "these keep the objective", "ds2", False, 0.0
        ),
        ScalingDecision(
            *(2, "host-1-ab", MOMENT, 1, 4, "the forecast would break the objective", "even"),
            acted=True,
            backlog_s=12.5,
            expected=3.1,
            model="boosted",
            judged=Judged("broken", 3.4, 71.0),
        ),
    ),
    Mark: (
        Mark("clean", 0, HISTORY, GENERATIONS[0]),
        Mark("revenue", 3, HISTORY, GENERATIONS[1], 7, OTHER_ID),
    ),
    Note: (NOTE, replace(NOTE, stream="orders", pinned=PINNED.to_dict(), facts=FACTS), RICH_NOTE),
    Operation: (OPERATION, RICH_OPERATION),
    Owner: (Owner(HISTORY),),
    Pipeline: (
        Pipeline("orders", "orders", (), "12" * 32, "9a" * 32),
        Pipeline(
            *("revenue", "revenue", ("orders", "visits"), "34" * 32, "9a" * 32, "stopped"),
            epoch=2,
            last_epoch=3,
            removed=True,
            redeliver=True,
        ),
    ),
    Project: (PROJECT, RICH_PROJECT),
    KnotExport: (
        KnotExport("clean-orders", "clean", False, (RecordedKnot(3, (FedKnot("orders", 3),), 8),)),
        KnotExport(
            *("revenue", "revenue", True),
            knots=(
                RecordedKnot(
                    *(1, (FedKnot("clean-orders", 1, 1_767_225_600_000),), 0),
                    rules=(RuleRef(RULE.id, RULE.version, 40.0),),
                ),
            ),
            rules=(RULE,),
        ),
    ),
    Rule: (RULE, RICH_RULE),
    SlotRecord: (
        SlotRecord("0c9a6a1f2b3d", "weft_users", "7708746969739095788", 16_384),
        SlotRecord("0c9a6a1f2b3d", "weft_users", "7708746969739095788", 16_384, told=24_249_000),
    ),
    StoreRecord: (
        StoreRecord(HISTORY, GENERATIONS[:1], MOMENT, HISTORY),
        StoreRecord(HISTORY, GENERATIONS, MOMENT, LIFE),
    ),
    Stream: (
        Stream("orders", "orders", "orders"),
        Stream("large", "clean", "clean-orders", "side", ORDERS.fingerprint, dropped=True),
    ),
    Use: (Use(3, 7),),
}
