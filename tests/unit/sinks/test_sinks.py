"""What single kinds of sink do beyond the contract of all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from rich.console import Console

from tests.contracts.event_sinks import Numbered
from tests.contracts.test_sinks import ONE, SCHEMA, TWO, make_rows, plain
from weft import sinks
from weft.sinks import Target
from weft.sinks.console import ConsoleOptions, ConsoleSink
from weft.sinks.files import FilesOptions, FilesSink
from weft.sinks.metrics import MetricsOptions, MetricsSink
from weft.sinks.options import SinkOptionError
from weft.sinks.sink import SinkError

ORDERS = Target(app="shop", pipeline="clean", stream="orders.big", columns=("id", "name"))


def test_the_console_shows_the_first_rows_and_how_many_more() -> None:
    page = io.StringIO()
    sink = ConsoleSink(ConsoleOptions(rows=2), ORDERS, console=Console(file=page, width=60))
    sink.deliver(7, make_rows(7, (1, "[red]"), (2, "b"), (3, "c")))
    sink.retract(range(7, 9), ONE)
    text = page.getvalue()
    assert "orders.big · knot 7 · 3 rows" in text
    assert "[red]" in text
    assert "1 row more" in text
    assert "knots 7 to 8 were rolled back (2 rows)" in text


def test_a_file_half_written_before_a_crash_is_never_seen(tmp_path: Path) -> None:
    left = tmp_path / ".orders.big-000000000001.jsonl.0a1b2c3d.building"
    left.write_text('{"id": 1, "na')
    sink = FilesSink(FilesOptions(path=str(tmp_path)), ORDERS)
    assert sink.delivered() is None
    assert not left.exists()
    sink.deliver(1, ONE)
    assert [path.name for path in tmp_path.iterdir()] == ["orders.big-000000000001.jsonl"]


def test_a_folder_that_cannot_be_written_is_said_with_its_name(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(SinkError) as caught:
        FilesSink(FilesOptions(path=str(blocked)), ORDERS)
    assert caught.value.code == "sinks.files"
    assert str(blocked) in caught.value.message


def test_two_streams_share_a_folder(tmp_path: Path) -> None:
    options = FilesOptions(path=str(tmp_path))
    sink = FilesSink(options, ORDERS)
    sink.deliver(5, ONE)
    other = FilesSink(options, Target(app="a", pipeline="p", stream="orders", columns=("id",)))
    assert other.delivered() is None


def test_metrics_are_summed_and_shown_by_label() -> None:
    registry = CollectorRegistry()
    options = MetricsOptions(counters=("id",), gauges=("id",), by=("name",))
    sink = MetricsSink(options, ORDERS, registry=registry)
    sink.deliver(1, make_rows(1, (1, "ann"), (2, "bob"), (5, "ann")))
    sink.deliver(1, make_rows(1, (1, "ann")))
    sink.retract(range(1, 2), TWO)

    def value(name: str, /, **labels: str) -> float | None:
        return registry.get_sample_value(f"weft_orders_big_{name}", labels)

    assert value("rows_total") == 3
    assert value("retracted_rows_total") == 1
    assert value("id_total", name="ann") == 6
    assert value("id_last", name="ann") == 5
    assert value("id_last", name="bob") == 2
    sink.close()
    assert list(registry.collect()) == []


def open_python(reference: str, **options: Any) -> sinks.Sink:
    return sinks.open(
        "python",
        {"class": reference, **options},
        app="shop",
        pipeline="clean",
        stream="orders",
        schema=SCHEMA,
    )


def test_a_sink_of_ones_own_gets_the_number_of_the_knot_and_hears_of_rollbacks() -> None:
    Numbered.calls.clear()
    sink = open_python("tests.contracts.event_sinks:Numbered")
    sink.deliver(4, ONE)
    sink.retract(range(4, 5), ONE)
    sink.close()
    assert Numbered.calls == [
        ("write", (4, plain(ONE))),
        ("retract", plain(ONE)),
        ("close", None),
    ]


@pytest.mark.parametrize(
    "reference", ["no.such.module:X", "tests.contracts.event_sinks:Missing", "pathlib:Path"]
)
def test_a_class_that_is_no_sink_is_refused(reference: str) -> None:
    with pytest.raises(SinkOptionError) as caught:
        open_python(reference)
    assert caught.value.code == "sinks.no-class"
    assert caught.value.ids["sink"] == reference
