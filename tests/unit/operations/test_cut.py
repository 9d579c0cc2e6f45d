"""Which knots go when a stream goes back, which come back, and what follows downstream."""

from __future__ import annotations

from typing import Any

import pytest

from weft.lineage.knot import Knot, Status
from weft.lineage.offsets import Offsets
from weft.operations.cut import Affected, Reach, Span, StateGoneError, plan_cuts


class Knots:
    """Knots by stream and number."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, int], Knot] = {}

    def add(
        self, stream: str, number: int, *, previous: int | None, consumed: int = 0, epoch: int = 0
    ) -> None:
        self.known[stream, number] = Knot(
            id=f"{stream}-{number}",
            stream=stream,
            pipeline=stream,
            number=number,
            epoch=epoch,
            batch=number - 1,
            parents=(),
            offsets=Offsets(inputs={"a": consumed} if consumed else {}),
            rules=(),
            now="2026-01-01T00:00:00.000000Z",
            seed=0,
            previous=previous,
            previous_hash=None,
            status=Status.COMPLETE,
        )

    def find(self, stream: str, number: int) -> Knot | None:
        return self.known.get((stream, number))


def chain(stream: str, count: int, **more: Any) -> Knots:
    knots = Knots()
    for number in range(1, count + 1):
        knots.add(stream, number, previous=number - 1 or None, **more)
    return knots


def affected(
    stream: str, *, head: int, last: int, inputs: tuple[str, ...] = (), epoch: int = 0
) -> Affected:
    return Affected(stream, stream, (stream,), inputs, epoch + 1, epoch, head, last)


def test_knots_after_the_target_are_cut() -> None:
    [cut] = plan_cuts(chain("a", 5), [affected("a", head=5, last=5)], targets={"a": 2}, reach={})
    assert (cut.keep, cut.cut_after, cut.last, cut.keep_batch, cut.epoch) == (2, 2, 5, 1, 1)
    assert cut.revive == ()


def test_downstream_goes_back_to_its_last_knot_that_consumed_nothing_cut() -> None:
    knots = chain("a", 6)
    for number, consumed in ((1, 2), (2, 3), (3, 6)):
        knots.add("b", number, previous=number - 1 or None, consumed=consumed)
    _, cut = plan_cuts(
        knots,
        [affected("a", head=6, last=6), affected("b", head=3, last=3, inputs=("a",))],
        targets={"a": 3},
        reach={},
    )
    assert (cut.pipeline, cut.keep) == ("b", 2)


def test_going_back_to_a_knot_that_was_rolled_back_revives_its_line() -> None:
    knots = chain("a", 4)
    knots.add("a", 5, previous=2, epoch=1)
    [cut] = plan_cuts(knots, [affected("a", head=5, last=5, epoch=1)], targets={"a": 4}, reach={})
    assert (cut.cut_after, cut.keep, cut.keep_epoch) == (2, 4, 0)
    assert cut.revive == (Span(2, 4),)


def test_before_the_first_knot_is_nothing_at_all() -> None:
    [cut] = plan_cuts(chain("a", 3), [affected("a", head=3, last=3)], targets={"a": 0}, reach={})
    assert (cut.keep, cut.keep_batch, cut.cut_after) == (0, None, 0)


def test_state_that_is_gone_is_refused_with_the_first_knot_that_can_be_had() -> None:
    reach = {"a": Reach(frozenset({2}), {0: 3})}
    plan_cuts(chain("a", 6), [affected("a", head=6, last=6)], targets={"a": 2}, reach=reach)
    with pytest.raises(StateGoneError) as refused:
        plan_cuts(chain("a", 6), [affected("a", head=6, last=6)], targets={"a": 3}, reach=reach)
    assert refused.value.code == "rollback.state-gone" and refused.value.ids["knot"] == 4


def test_two_pipelines_that_are_made_again_take_what_reads_either_with_them() -> None:
    knots = chain("a", 2)
    knots.add("b", 1, previous=None)
    knots.add("c", 1, previous=None, consumed=1)
    knots.add("c", 2, previous=1, consumed=2)
    pipelines = [
        affected("a", head=2, last=2),
        affected("b", head=1, last=1),
        affected("c", head=2, last=2, inputs=("a", "b")),
    ]
    cuts = plan_cuts(knots, pipelines, targets={"a": 1, "b": 0}, reach={})
    assert [(cut.pipeline, cut.keep) for cut in cuts] == [("a", 1), ("b", 0), ("c", 1)]
