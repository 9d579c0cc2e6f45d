"""What workers measure, made whole over several reports."""

from __future__ import annotations

from weft.scaling.measured import Carried, PipelineWork


def test_records_that_came_are_those_taken_in_and_those_that_wait_longer() -> None:
    carried = Carried()
    first = carried.settle(PipelineWork(5.0, rows_in=100), 20.0)
    assert (first.arrived, first.came) == (None, 100)
    assert carried.settle(PipelineWork(5.0, rows_in=100), 70.0).came == 150
    assert carried.settle(PipelineWork(5.0, rows_in=100), 0.0).came == 30
    assert carried.settle(PipelineWork(5.0, rows_in=10), 900.0).came == 910
    assert carried.settle(PipelineWork(5.0), 0.0).came == 0


def test_what_a_source_tells_counts_and_what_nobody_knows_is_what_was_taken_in() -> None:
    carried = Carried()
    assert carried.settle(PipelineWork(5.0, rows_in=10, arrived=40), 5.0).came == 40
    assert carried.settle(PipelineWork(5.0, rows_in=10), None).came == 10
    assert carried.settle(PipelineWork(5.0, rows_in=10), 500.0).came == 10


def test_the_work_for_a_long_batch_belongs_to_its_records() -> None:
    carried = Carried()
    assert carried.settle(PipelineWork(5.0, run_s=4.0), 0.0).rows_in == 0
    assert carried.settle(PipelineWork(5.0, run_s=5.0), 0.0).rows_in == 0
    assert carried.settle(PipelineWork(5.0, rows_in=100, run_s=1.0), 0.0).run_s == 10.0
    assert carried.settle(PipelineWork(5.0, rows_in=100, run_s=1.0), 0.0).run_s == 1.0
