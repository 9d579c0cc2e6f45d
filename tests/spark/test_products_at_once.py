"""Products while everything else happens: their tables load, are truncated and read anew, rules come and go, tables and
products are rolled back and changed, the worker dies."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.products.storm import Storm
from tests.products.world import make_world
from weft.testing import play


@pytest.mark.parametrize("seed", [2, 5])
def test_documents_are_those_of_the_final_tables_after_a_storm(tmp_path: Path, seed: int) -> None:
    """`bench.products` does hundreds."""
    storm = Storm(make_world(seed, transactions=20), Random(seed))
    with play(storm.project(), storage=tmp_path) as run:
        storm.play(run)
        assert storm.found(run) == storm.wanted(run), storm.done
