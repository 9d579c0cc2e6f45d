"""What a pipeline did from one reading to the next."""

from __future__ import annotations

from weft.runtime.load import Meters, between


def test_what_was_done_is_what_the_counts_have_grown_by() -> None:
    work = between(
        Meters(10.0, 100, 90, 3, 4.0, 2.0, 1.5), Meters(15.0, 160, 140, 5, 6.0, 3.0, 2.0)
    )
    assert (work.seconds, work.rows_in, work.rows_out, work.batches) == (5.0, 60, 50, 2)
    assert (work.batch_s, work.run_s, work.cpu_s) == (2.0, 1.0, 0.5)


def test_of_a_query_that_began_anew_all_counts_that_it_has() -> None:
    """Its tasks are still counted on, and it has run as many batches as before: but it has taken less time for them."""
    work = between(Meters(10.0, 5, 5, 1, 4.0, 2.0, 1.5), Meters(15.0, 5, 5, 1, 0.5, 2.5, 1.6))
    assert (work.seconds, work.rows_in, work.batches, work.batch_s) == (5.0, 5, 1, 0.5)
