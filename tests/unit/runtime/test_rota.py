"""What is made of changing streams, and what these are written by, take turns; others go on as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from weft.runtime import rota
from weft.runtime.rota import Rota, Turn

LONG_S = 60.0
ROUNDS = 200
RELATED = (
    {"table-0", "query"},
    {"table-1", "query"},
    {"query", "one"},
    {"table-2", "one"},
    {"table-1", "two"},
    {"table-2", "two"},
)


def joined(
    among: Rota,
    stream: str,
    *inputs: str,
    is_current: bool = False,
    is_loading: Callable[[], bool] = bool,
) -> Turn:
    spec = SimpleNamespace(is_current=is_current) if inputs else None
    run: Any = SimpleNamespace(stream=SimpleNamespace(name=stream), inputs=inputs, spec=spec)
    return among.join(run, is_loading)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rota, "PATIENCE_S", LONG_S)


def work(among: Rota, turn: Turn, seen: list[str], begun: threading.Event | None = None) -> None:
    if begun is not None:
        begun.set()
    among.wait(turn)
    with among.batch(turn):
        seen.append(turn.stream)


def test_a_product_waits_for_the_batch_of_a_table_and_the_table_then_for_the_product() -> None:
    among = Rota()
    table = joined(among, "table")
    product = joined(among, "product", "table", is_current=True)
    seen: list[str] = []
    with among.batch(table):
        begun = threading.Event()
        waiting = threading.Thread(target=work, args=(among, product, seen, begun))
        waiting.start()
        begun.wait()
        while not product.waits:
            pass
        seen.append("table")
    work(among, table, seen)  # the product came first
    waiting.join()
    assert seen == ["table", "product", "table"]


def test_a_product_waits_for_no_stream_of_others() -> None:
    among = Rota()
    other = joined(among, "other")
    product = joined(among, "product", "table", is_current=True)
    with among.batch(other):
        assert not among.wait(product)


def test_a_relay_and_its_stream_wait_for_nobody() -> None:
    among = Rota()
    stream, relay = joined(among, "stream"), joined(among, "relay", "stream")
    with among.batch(relay):
        assert not among.wait(stream)
    with among.batch(stream):
        assert not among.wait(relay)


def test_who_is_not_there_any_longer_holds_nobody_back() -> None:
    among = Rota()
    table = joined(among, "table")
    product = joined(among, "product", "table", is_current=True)
    seen: list[str] = []
    with among.batch(table):
        waiting = threading.Thread(target=work, args=(among, product, seen))
        waiting.start()
        while not product.waits:
            pass
        among.leave(table)
        waiting.join()
        assert seen == ["product"]


def test_a_turn_that_does_not_come_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rota, "PATIENCE_S", 0.01)
    among = Rota()
    table = joined(among, "table")
    product = joined(among, "product", "table", is_current=True)
    with among.batch(table):
        assert among.wait(product)


def test_what_has_made_nothing_yet_lets_its_inputs_be_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rota, "LOOK_S", 0.001)
    among = Rota()
    left = [False, True, True]
    joined(among, "other", is_loading=lambda: True)
    joined(among, "table", is_loading=left.pop)
    product = joined(among, "product", "table", is_current=True)
    assert among.wait_for_inputs(product, threading.Event())
    assert left == []


def test_it_waits_for_no_input_that_is_loaded_and_for_none_when_it_is_stopped() -> None:
    among = Rota()
    table = joined(among, "table")
    product = joined(among, "product", "table", is_current=True)
    assert not among.wait_for_inputs(product, threading.Event())
    table.is_loading = lambda: True
    stopped = threading.Event()
    stopped.set()
    among.wait_for_inputs(product, stopped)


def test_an_input_that_is_always_behind_is_waited_for_so_long_and_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rota, "LOOK_S", 0.001)
    monkeypatch.setattr(rota, "LOADING_S", 0.01)
    among = Rota()
    joined(among, "table", is_loading=lambda: True)
    product = joined(among, "product", "table", is_current=True)
    assert among.wait_for_inputs(product, threading.Event())


def test_many_pipelines_take_turns_without_end() -> None:
    """Tables under two products and a query of which one is made: nobody waits for one who waits for him."""
    among = Rota()
    tables = [joined(among, f"table-{number}") for number in range(3)]
    query = joined(among, "query", "table-0", "table-1", is_current=True)
    products = [
        joined(among, "one", "query", "table-2", is_current=True),
        joined(among, "two", "table-1", "table-2", is_current=True),
    ]
    everyone = [*tables, query, *products]
    at_once: list[tuple[str, str]] = []

    def run(turn: Turn) -> None:
        beside = [one for one in everyone if {turn.stream, one.stream} in RELATED]
        for _ in range(ROUNDS):
            among.wait(turn)
            with among.batch(turn):
                at_once.extend((turn.stream, one.stream) for one in beside if one.runs)

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in everyone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S / 2)
    assert [one.ended for one in everyone] == [ROUNDS] * len(everyone)
    assert at_once == []
