"""A broker that says that asking again may help is asked again; any other refusal is an error at once."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from weft import sinks
from weft.schema.schema import Schema
from weft.sinks import SinkError, kafka


class Broker:
    """Answers, after so many refusals of what a client asks it first."""

    def __init__(self, refusals: int, reason: KafkaError) -> None:
        self.refusals = refusals
        self.asked = 0
        self._refusal = KafkaException(reason)

    def _answer(self) -> None:
        self.asked += 1
        if self.asked <= self.refusals:
            raise self._refusal

    def init_transactions(self, timeout: float) -> None:
        self._answer()

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        self._answer()
        return places

    def list_topics(self, timeout: float) -> Any:
        return type("Known", (), {"topics": {"t": None}})

    def consumer_group_metadata(self) -> None:
        return None

    def close(self) -> None:
        return None


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Broker:
    made = Broker(*request.param)
    monkeypatch.setattr(kafka, "AGAIN_S", 0.0)
    for name in ("Producer", "Consumer", "AdminClient"):
        monkeypatch.setattr(kafka, name, lambda *_, **__: made)
    return made


def open_sink() -> sinks.Sink:
    columns = Schema.of({"id": "long"})
    return sinks.open("kafka", {"topic": "t"}, app="a", pipeline="p", stream="s", schema=columns)


STARTS = KafkaError(KafkaError.NOT_COORDINATOR, "not here")
RETRIABLE = KafkaError(KafkaError._TIMED_OUT, "not now", False, True)
REFUSES = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, "not here")


@pytest.mark.parametrize("broker", [(2, STARTS), (2, RETRIABLE)], indirect=True)
def test_a_broker_that_starts_is_asked_again(broker: Broker) -> None:
    assert open_sink().delivered() is None
    assert broker.asked == 4


@pytest.mark.parametrize("broker", [(1, REFUSES)], indirect=True)
def test_a_refusal_for_good_is_an_error_at_once(broker: Broker) -> None:
    with pytest.raises(SinkError, match="not here"):
        open_sink()
    assert broker.asked == 1
